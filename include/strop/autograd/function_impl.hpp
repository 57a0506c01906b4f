// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a function of the program's own is called and recorded.
#pragma once
#include <strop/autograd/function.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/core/config.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace strop::inline v0 {

STROP_IMPL void Function::save_for_backward(std::span<const NDArray> arrays) {
  saved_.clear();
  for (const NDArray& a : arrays) saved_.push_back({a.detach(), detail::version_of(a)});
}
STROP_IMPL NDArray Function::saved(int i) const {
  const auto at = static_cast<std::size_t>(i);
  if (i < 0 || at >= saved_.size())
    fail("saved: ", i, " is not a place of the ", saved_.size(), " arrays that save_for_backward was given");
  const NDArray& array = saved_[at].array;
  if (detail::version_of(array) != saved_[at].version)
    fail("backward: array ", i, " that save_for_backward keeps (shape ", array.shape(), ") was overwritten since");
  return array;
}

}  // namespace strop::inline v0

namespace strop::inline v0::detail {

STROP_IMPL std::vector<NDArray> apply_function(const Ref<Function>& function, std::span<const NDArray> in) {
  leave_trace("a Function", "its forward and backward are written on arrays; run it outside");
  std::vector<NDArray> out;
  {
    const ModeScope unrecorded(nullptr, call_mode.training);
    out = function->forward(in);
  }
  List<const NDArray*> inputs;
  for (const NDArray& a : in) inputs.push_back(&a);
  if (call_mode.recorder == nullptr || !any_tracked(inputs.span())) return out;
  for (NDArray& y : out)
    for (const NDArray& a : in)
      if (y.is(a)) y = a.detach();  // an input that is handed through gets a history of its own
  record_step(function, inputs.span(), out);
  return out;
}

}  // namespace strop::inline v0::detail
