// SPDX-License-Identifier: Apache-2.0
/// \file
/// A memory plan as text and as a picture, and what is asked of it.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/printable.hpp>
#include <strop/graph/placement.hpp>
#include <strop/graph/plan.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// 1234567 as "1,234,567".
STROP_IMPL std::string grouped_digits(std::int64_t n) {
  std::string text = cat(n);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

/// Lines of columns that are as wide as their widest text; numbers stand to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : width_(head.size()) { add(std::move(head)); }
  void add(std::vector<std::string> row) {
    for (std::size_t i = 0; i < row.size(); ++i) width_[i] = std::max(width_[i], row[i].size());
    rows_.push_back(std::move(row));
  }
  std::string text(std::string_view right) const {
    std::string out;
    for (const std::vector<std::string>& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string blanks(width_[i] - row[i].size(), ' ');
        line += right[i] == 'r' ? blanks + row[i] : row[i] + blanks;
        line += "  ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
    return out;
  }

 private:
  std::vector<std::size_t> width_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace detail

STROP_IMPL std::string to_text(const MemoryPlan& plan) {
  static constexpr std::string_view places[] = {"", "output", "gradient", "sparse"};
  std::string out =
      cat("arena ", detail::grouped_digits(plan.bytes()), " bytes; alive at once ",
          detail::grouped_digits(plan.bound()), ", unshared ", detail::grouped_digits(plan.unshared()), "; ",
          plan.forward_steps(), " steps forward, ", plan.steps() - plan.forward_steps(), " backward\n");
  if (plan.bodies() > 0)
    out += cat("bodies of loops and branches ", detail::grouped_digits(plan.bodies()), " bytes beside it\n");
  if (plan.values().empty()) return out;
  detail::TextTable table({"node", "output", "bytes", "offset", "steps", "in place of"});
  for (const MemoryPlan::Value& v : plan.values()) {
    const std::string_view place = places[static_cast<std::size_t>(v.place)];
    table.add({detail::printable(v.node), detail::printable(v.output), detail::grouped_digits(v.bytes),
               place.empty() ? detail::grouped_digits(v.offset) : std::string(place), cat(v.first, "..", v.last),
               v.in_place_of < 0 ? "" : detail::printable(detail::element(plan.values(), v.in_place_of).output)});
  }
  return out + table.text("llrrll");
}

STROP_IMPL MemoryPlan::MemoryPlan(const detail::Placement& placement, int forward_steps, int steps,
                                  std::vector<Value> values, std::int64_t bodies)
    : bytes_(placement.bytes),
      bound_(placement.bound),
      unshared_(placement.unshared),
      steps_(steps),
      forward_steps_(forward_steps),
      values_(std::move(values)),
      strategy_(placement.strategy),
      bodies_(bodies) {}

STROP_IMPL void MemoryPlan::check() const {
  const auto name = [](const Value& v) { return cat(v.output, " (steps ", v.first, " to ", v.last, ")"); };
  // In place of one another: one block from its first value to its last.
  struct Block {
    const Value* value;
    std::int64_t at, end;
    int first, last;
  };
  std::vector<Block> blocks;
  std::vector<int> block_of(values_.size(), -1);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& v = values_[i];
    if (v.offset < 0) continue;
    if (v.offset % 64 != 0 || v.bytes <= 0 || v.offset > bytes_ - v.bytes || v.last < v.first)
      fail("plan: ", name(v), " lies at ", v.offset, " with ", v.bytes, " bytes, in an arena of ", bytes_);
    if (v.in_place_of < 0) {
      block_of[i] = static_cast<int>(blocks.size());
      blocks.push_back({&v, v.offset, v.offset + v.bytes, v.first, v.last});
      continue;
    }
    const Value& before = values_[static_cast<std::size_t>(v.in_place_of)];
    if (before.offset != v.offset || before.bytes != v.bytes || before.last != v.first)
      fail("plan: ", name(v), " is computed in place of ", name(before), ", which lies elsewhere or is still needed");
    block_of[i] = block_of[static_cast<std::size_t>(v.in_place_of)];
    Block& block = blocks[static_cast<std::size_t>(block_of[i])];
    if (block.last != v.first) fail("plan: two values are computed in place of ", name(before));
    block.last = v.last;
  }
  // In the order of steps; those that are alive lie in the order of their offsets.
  std::vector<const Block*> by_first, by_last, alive;
  for (const Block& block : blocks) by_first.push_back(&block);
  by_last = by_first;
  std::sort(by_first.begin(), by_first.end(),
            [](auto* a, auto* b) { return a->first != b->first ? a->first < b->first : a->at < b->at; });
  std::sort(by_last.begin(), by_last.end(), [](auto* a, auto* b) { return a->last < b->last; });
  const auto place = [&](const Block* block) {
    return std::lower_bound(alive.begin(), alive.end(), block, [](auto* a, auto* b) { return a->at < b->at; });
  };
  std::size_t ended = 0;
  for (const Block* block : by_first) {
    for (; by_last[ended]->last < block->first; ++ended) alive.erase(place(by_last[ended]));
    const auto at = place(block);
    const Block* const other = at != alive.end() && (*at)->at < block->end           ? *at
                               : at != alive.begin() && (*(at - 1))->end > block->at ? *(at - 1)
                                                                                     : nullptr;
    if (other != nullptr)
      fail("plan: ", name(*block->value), " and ", name(*other->value), " overlap at byte ",
           std::max(block->at, other->at));
    alive.insert(at, block);
  }
}

STROP_IMPL std::string MemoryPlan::to_svg() const {
  constexpr int width = 1000, height = 600, left = 90, top = 40, below = 40;
  const auto text = [](std::string_view plain) {
    std::string out;
    for (const char c : detail::printable(plain)) {
      if (c == '<')
        out += "&lt;";
      else if (c == '&')
        out += "&amp;";
      else if (c == '"')
        out += "&quot;";
      else
        out += c;
    }
    return out;
  };
  const int columns = std::max(1, steps_ + 1);
  const auto x = [&](int step) { return left + static_cast<double>(step) * width / columns; };
  const auto y = [&](std::int64_t byte) {
    return top + height - static_cast<double>(byte) * height / static_cast<double>(std::max<std::int64_t>(bytes_, 1));
  };
  std::string out = cat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", left + width + 20, ' ',
                        top + height + below, "\" font-family=\"sans-serif\" font-size=\"12\">\n",
                        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"", left, "\" y=\"20\">arena ",
                        detail::grouped_digits(bytes_), " bytes; alive at once ", detail::grouped_digits(bound_),
                        ", unshared ", detail::grouped_digits(unshared_), "</text>\n");
  std::vector<int> colour(values_.size());
  int blocks = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& v = values_[i];
    if (v.offset < 0) continue;
    colour[i] = v.in_place_of < 0 ? blocks++ : colour[static_cast<std::size_t>(v.in_place_of)];
    const int last = std::min(v.last, steps_);
    // A value in place of another begins where that one ends.
    const double from = x(v.in_place_of < 0 ? v.first : v.first + 1), to = x(last + 1);
    out += cat("<rect x=\"", from, "\" y=\"", y(v.offset + v.bytes), "\" width=\"", std::max(0.0, to - from),
               "\" height=\"", y(v.offset) - y(v.offset + v.bytes), "\" fill=\"hsl(", colour[i] * 137 % 360,
               ",60%,70%)\" stroke=\"white\" stroke-width=\"0.5\"><title>", text(v.output), ": ",
               detail::grouped_digits(v.bytes), " bytes at ", detail::grouped_digits(v.offset), ", steps ", v.first,
               " to ", v.last);
    if (v.in_place_of >= 0) out += cat(", in place of ", text(values_[static_cast<std::size_t>(v.in_place_of)].output));
    out += "</title></rect>\n";
  }
  const auto line = [&](double x1, double y1, double x2, double y2, std::string_view more) {
    out += cat("<line x1=\"", x1, "\" y1=\"", y1, "\" x2=\"", x2, "\" y2=\"", y2, "\" stroke=\"#444\"", more, "/>\n");
  };
  line(left, top, left, top + height, "");
  line(left, top + height, left + width, top + height, "");
  line(left, y(bound_), left + width, y(bound_), " stroke-dasharray=\"4 4\"");
  for (int part = 0; part <= 4; ++part)
    out += cat("<text x=\"", left - 6, "\" y=\"", y(bytes_ * part / 4) + 4, "\" text-anchor=\"end\">",
               detail::grouped_digits(bytes_ * part / 4), "</text>\n");
  if (forward_steps_ < steps_)
    line(x(forward_steps_), top, x(forward_steps_), top + height, " stroke-dasharray=\"2 3\"");
  out += cat("<text x=\"", left, "\" y=\"", top + height + 20, "\">forward",
             forward_steps_ < steps_ ? ", then backward" : "", ": ", steps_, " steps</text>\n</svg>\n");
  return out;
}

}  // namespace strop::inline v0
