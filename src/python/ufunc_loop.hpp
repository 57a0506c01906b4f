// SPDX-License-Identifier: Apache-2.0
/// \file
/// A map as an inner loop of a NumPy ufunc: elements that lie apart, in any type that the map serves.
#pragma once
#include <strop/op/entry.hpp>

#include <cstddef>
#include <cstdint>

namespace strop::python {

/// What NumPy gives an inner loop: the operands' addresses, how many elements, the distance of two of them in bytes.
using UfuncFunction = void (*)(char** args, const std::ptrdiff_t* count, const std::ptrdiff_t* steps, void* data);

/// The operator on one type of elements.
struct UfuncLoop {
  static constexpr int most = 24;  // tensors of a map

  const Entry* entry = nullptr;
  const void* op = nullptr;
  detail::MapLoop run = nullptr;
  int inputs = 0, outputs = 0, visible = 0;
  Dtype computed = f32, result = f32;  // what the map's loop reads and writes
  bool nearest = false;                // whole numbers outside the results' type become its nearest; else they wrap
  bool reorders = false;               // of two operands and one result: a reduction may take elements in any order
  Dtype types[most] = {};              // of the inputs, then of the outputs, in memory

  /// The loop for inputs of these types, which the operator serves.
  UfuncLoop(const Entry& entry, const void* op, const Dtype* in, const Dtype* out);
  int operands() const { return inputs + visible; }
};

/// The inner loop; `data` is a UfuncLoop. It needs no lock of Python, computes long runs on the library's threads, and
/// raises the processor's flags of what its results show: invalid for a NaN that no operand has, divide by zero and
/// overflow for an infinity of finite operands.
void run_ufunc(char** args, const std::ptrdiff_t* count, const std::ptrdiff_t* steps, void* data);

}  // namespace strop::python
