// SPDX-License-Identifier: Apache-2.0
/// \file
/// Function: a differentiable step whose forward and backward are written by hand on arrays.
#pragma once
#include <strop/autograd/tape.hpp>

#include <concepts>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// Derive, write forward and backward, and call it with `apply<MyFunction>({x…}, arguments of the constructor…)`.
/// What backward needs, forward keeps in members. Errors thrown in either reach the caller.
class Function {
 public:
  virtual ~Function() = default;
  virtual std::vector<NDArray> forward(std::span<const NDArray> in) = 0;
  /// Gradients of the inputs from those of the outputs; an empty handle is a zero gradient.
  virtual std::vector<NDArray> backward(std::span<const NDArray> head_gradients) = 0;
};

namespace detail {
inline std::vector<NDArray> apply_function(std::shared_ptr<Function> function, std::span<const NDArray> in) {
  std::vector<NDArray> out;
  {
    const ModeScope unrecorded(nullptr, call_mode.training);
    out = function->forward(in);
  }
  bool tracked = false;
  for (const NDArray& a : in) tracked = tracked || is_tracked(a);
  if (call_mode.recorder == nullptr || !tracked) return out;
  auto* node = new TapeNode;
  const Ref<Lineage> owner(node);
  node->function = std::move(function);
  node->inputs.resize(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) fill_input(node->inputs[i], in[i], false);
  node->outputs.resize(out.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    for (const NDArray& a : in)
      if (out[k].is(a)) out[k] = a.detach();  // an input that is handed through gets a history of its own
    link_output(*node, owner, k, out[k], false);
  }
  return out;
}
}  // namespace detail

/// Runs a new F(arguments…) on the arrays and records it as one step.
template <std::derived_from<Function> F, class... Arguments>
std::vector<NDArray> apply(std::initializer_list<NDArray> in, Arguments&&... arguments) {
  return detail::apply_function(std::make_shared<F>(std::forward<Arguments>(arguments)...), {in.begin(), in.size()});
}

}  // namespace strop::inline v0
