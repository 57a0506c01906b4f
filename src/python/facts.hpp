// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the results of operators know of what their inputs know: of comparisons that they are truths, of single numbers
/// that they are none of NumPy's arrays of one element.
#pragma once
#include "python.hpp"

#include <strop/op/registry.hpp>

#include <cstdint>
#include <span>

namespace strop::python {

/// How facts pass through an operator.
struct Flow {
  enum class Truth : std::uint8_t {
    lost,
    made,     // a comparison
    kept,     // elements are moved, or are those of one of several arrays: where all of these are truths
    assigned  // written into an array, which stays what it was; a new one is what the inputs named below are
  };
  Truth truth = Truth::lost;
  std::uint64_t whose = 0;   // the inputs whose elements are in the result, a bit each
  bool elementwise = false;  // of numbers alone it makes a number
  bool reduces = false;      // a number unless axes are left
  bool chooses = false;      // its parameters say whether it makes a mask
  bool makes = false;        // also of inputs of which nothing is known

  static constexpr std::uint64_t all = ~std::uint64_t{0};
  /// Whether the result has elements of input i.
  bool moves(std::size_t i) const { return i < 64 ? (whose >> i & 1U) != 0 : whose == all; }
};
Flow flow_of(const Entry& entry);

/// Whether the parameters say that the result is a mask.
bool gives_mask(const Entry& entry, const void* op);
/// Whether the results are truths, of `inputs` inputs of which `is_truth` says it.
template <class F>
bool makes_truths(const Flow& flow, const Entry& entry, const void* op, std::size_t inputs, F&& is_truth) {
  if (flow.truth == Flow::Truth::made || (flow.chooses && gives_mask(entry, op))) return true;
  bool any = false;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (!flow.moves(i)) continue;
    if (!is_truth(i)) return false;
    any = true;
  }
  return any;
}

/// The facts of the results of a call, of which `result` is the first.
unsigned facts_after(const Flow& flow, const Entry& entry, const void* op, bool by_default,
                     std::span<PyObject* const> inputs, const NDArray& result);

}  // namespace strop::python
