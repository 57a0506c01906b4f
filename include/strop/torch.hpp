// SPDX-License-Identifier: Apache-2.0
/// \file
/// For an extension of PyTorch: one line makes every operator that the program names an operator of PyTorch.
///
///     #include <strop/op.hpp>
///     #include <strop/torch.hpp>
///
///     struct Squash {
///       float beta = 1;
///       constexpr auto forward(auto x) const { return x / (1 + beta * abs(x)); }
///     };
///     inline constexpr strop::Op<Squash> squash;
///
///     STROP_TORCH_LIBRARY(mylib)
///
/// After `torch.ops.load_library("mylib.so")`, `torch.ops.mylib.squash(x, beta=2)` takes tensors of the CPU: any
/// strides, 0-dimensional and empty ones, of float16, bfloat16, float32, float64, uint8, int8, int32, int64 and bool as
/// the operator does. Results are made by PyTorch's allocator. It is differentiated twice, compiled by torch.compile
/// and checked by torch.library.opcheck; docs/pytorch.md says what else. A refused call is a RuntimeError of one
/// sentence.
///
/// The line stands in one file of the library, behind the operators; those of files that are linked behind it are not
/// seen. The Python package is not needed.
#pragma once
#if __has_include(<torch/library.h>)
#include <torch/library.h>

#include <strop/core/push_macros.def>

#include <strop/host/torch/registration.hpp>

/// Makes the operators that this library names torch.ops.NAME.<operator>.
#define STROP_TORCH_LIBRARY(NAME)                                                  \
  TORCH_LIBRARY(NAME, strop_library) {                                             \
    static const char strop_anchor = 0;                                            \
    strop::host::pytorch::register_operators(strop_library, #NAME, &strop_anchor); \
  }                                                                                \
  static_assert(true)

#include <strop/core/pop_macros.def>
#else
#define STROP_TORCH_LIBRARY(NAME) \
  static_assert(sizeof(#NAME) == 0, "strop: <torch/library.h> is not found; name PyTorch's headers with -I")
#endif
