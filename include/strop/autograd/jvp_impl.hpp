// SPDX-License-Identifier: Apache-2.0
/// \file
/// Forward mode through two backward passes.
#pragma once
#include <strop/autograd/jvp.hpp>
#include <strop/core/config.hpp>

namespace strop::inline v0::detail {

STROP_IMPL void check_tangents(std::string_view what, std::span<const NDArray> x, std::span<const NDArray> tangents,
                               std::uint64_t none) {
  if (x.size() != tangents.size())
    fail("jvp: ", what, " has ", x.size(), " inputs, ", tangents.size(), " tangents were given");
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!in_mask(none, i) && (!x[i].defined() || !tangents[i].defined() || x[i].shape() != tangents[i].shape()))
      fail("jvp: the tangent of input ", i, " of ", what, " has shape ",
           tangents[i].defined() ? to_text(tangents[i].shape()) : std::string("()"), ", expected ",
           x[i].defined() ? to_text(x[i].shape()) : std::string("()"));
}

STROP_IMPL std::pair<NDArray, NDArray> push_forward(NDArray (*call)(const void* f, std::span<const NDArray> x),
                                                    const void* f, std::span<const NDArray> x,
                                                    std::span<const NDArray> tangents) {
  std::vector<NDArray> points, gradients, along;
  for (const NDArray& a : x) {
    points.push_back(a.detach());
    points.back().attach_grad();
  }
  NDArray y, u;
  {
    const ModeScope recorded(&tape, call_mode.training);
    y = call(f, points);
    if (!y.defined()) fail("jvp: the function returned a handle without an array");
    u = ones(y.shape(), y.dtype(), y.device());
    u.attach_grad();
    if (is_tracked(y)) {
      const GradOptions options{.head_gradients = {u}, .create_graph = true};
      const std::vector<NDArray> all = collect_gradients(y, points, options);
      for (std::size_t i = 0; i < all.size(); ++i)
        if (is_tracked(all[i])) {
          gradients.push_back(all[i]);
          along.push_back(tangents[i]);
        }
    }
  }
  if (!gradients.empty()) strop::backward(gradients, along);
  return {y.detach(), u.grad()};
}

}  // namespace strop::inline v0::detail
