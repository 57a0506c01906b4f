// SPDX-License-Identifier: Apache-2.0
/// \file
/// SVG without a library: axes, grid, a line and its points.
#include "picture.hpp"

#include <strop/tensor/format/file.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace strop::command {
namespace {

std::string panel(const Curve& curve, double left, const char* colour) {
  constexpr double width = 380, height = 240, top = 60;
  if (curve.values.empty()) return {};
  double low = *std::min_element(curve.values.begin(), curve.values.end()),
         high = *std::max_element(curve.values.begin(), curve.values.end());
  if (high - low < 1e-9) low -= 0.5, high += 0.5;
  const double margin = (high - low) * 0.08;
  low -= margin;
  high += margin;
  const auto x = [&](std::size_t i) {
    return left + (curve.values.size() == 1
                       ? width / 2
                       : width * static_cast<double>(i) / static_cast<double>(curve.values.size() - 1));
  };
  const auto y = [&](double v) { return top + height * (high - v) / (high - low); };
  std::string out = fmt::format("<text x='{}' y='{}' font-size='14'>{}</text>\n", left, top - 12, curve.name);
  for (int k = 0; k <= 4; ++k) {
    const double value = low + (high - low) * k / 4;
    out += fmt::format(
        "<line x1='{0}' y1='{1:.1f}' x2='{2}' y2='{1:.1f}' stroke='#ddd'/><text x='{3}' y='{4:.1f}' font-size='11' "
        "text-anchor='end' fill='#555'>{5:.3f}</text>\n",
        left, y(value), left + width, left - 6, y(value) + 4, value);
  }
  std::string points;
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    points += fmt::format("{:.1f},{:.1f} ", x(i), y(curve.values[i]));
    out += fmt::format(
        "<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'/><text x='{:.1f}' y='{}' font-size='11' text-anchor='middle' "
        "fill='#555'>{}</text>\n",
        x(i), y(curve.values[i]), colour, x(i), top + height + 18, i + 1);
  }
  out += fmt::format(
      "<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/>\n<text x='{}' y='{}' font-size='11' "
      "text-anchor='middle' fill='#555'>epoch</text>\n",
      points, colour, left + width / 2, top + height + 36);
  return out;
}

}  // namespace

void draw_curves(const std::string& path, const std::string& title, const std::vector<Curve>& curves) {
  constexpr const char* colours[] = {"#c0392b", "#2166ac", "#1b7837", "#762a83"};
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='350' font-family='sans-serif'>\n<rect width='100%' "
      "height='100%' fill='white'/>\n<text x='20' y='26' font-size='16'>{}</text>\n",
      60 + 460 * curves.size(), title);
  for (std::size_t i = 0; i < curves.size(); ++i)
    svg += panel(curves[i], 70 + 460 * static_cast<double>(i), colours[i % 4]);
  svg += "</svg>\n";
  detail::Output out(path);
  out.write(svg);
  out.commit();
}

}  // namespace strop::command
