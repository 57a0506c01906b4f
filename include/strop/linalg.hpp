// SPDX-License-Identifier: Apache-2.0
/// \file
/// For header-only programs that call an operator of linear algebra: brings the functions that Eigen 3.4 or 5 computes,
/// for one file of the program or for more. With the compiled runtime, which has them, there is nothing to bring.
///
/// As for any code that uses Eigen, all files of a program that read it are to be built for one instruction set, as
/// Eigen's functions have the same names for all of them. Programs that need more link the runtime. With -fopenmp a
/// program whose own products of Eigen are to use threads includes Eigen before this.
#pragma once
#if !defined(STROP_COMPILED)
#include <strop/core/push_macros.def>

#include <strop/ops/linalg/eigen_solvers.hpp>
#include <strop/ops/linalg/solvers.hpp>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {
[[maybe_unused]] inline const bool linear_algebra_enrolled = (enrol(own_linear_algebra), true);
}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail

#include <strop/core/pop_macros.def>
#endif
