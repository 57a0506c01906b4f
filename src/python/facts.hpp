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
    assigned  // written into an array, which stays what it was
  };
  Truth truth = Truth::lost;
  std::uint8_t first = 0, end = UINT8_MAX;  // the inputs whose elements are in the result
  bool elementwise = false;                 // of numbers alone it makes a number
  bool reduces = false;                     // a number unless axes are left
  bool makes = false;                       // also of inputs of which nothing is known
};
Flow flow_of(const Entry& entry);

/// The facts of the results of a call, of which `result` is the first.
unsigned facts_after(const Flow& flow, const Entry& entry, const void* op, bool by_default,
                     std::span<PyObject* const> inputs, const NDArray& result);

}  // namespace strop::python
