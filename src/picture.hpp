// SPDX-License-Identifier: Apache-2.0
/// \file
/// Curves over epochs as an SVG file.
#pragma once
#include <string>
#include <vector>

namespace strop::command {

struct Curve {
  std::string name;
  std::vector<double> values;
};

/// Each curve has a panel with a scale of its own. Written beside the target and renamed.
void draw_curves(const std::string& path, const std::string& title, const std::vector<Curve>& curves);

}  // namespace strop::command
