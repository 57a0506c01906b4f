// SPDX-License-Identifier: Apache-2.0
/// \file
/// What of linear algebra Eigen computes: a table of functions, so that no file that calls an operator reads Eigen.
///
/// The compiled runtime has a table from the start, and that of a level which src/levels links beside it where that is
/// better, as for loops over elements. A header-only program has one where it includes strop/linalg.hpp.
#pragma once
#include <strop/core/isa.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace strop::inline v0::detail {

/// Functions on one row-major matrix of elements E, which may have no rows. None starts threads, and none throws but
/// where memory is wanting.
template <class E>
struct Solvers {
  /// The lower triangle of a symmetric n × n matrix, whose rows are `step` apart, becomes its Cholesky factor; what is
  /// above is kept or overwritten. False where the matrix is not positive definite. For extents up to some 128.
  bool (*potrf)(E* a, std::int64_t step, std::int64_t n);
  /// a = l · q for a of rows × cols with cols ≥ rows, which becomes q; l is square.
  void (*gelqf)(E* a, std::int64_t rows, std::int64_t cols, E* l);
  /// The symmetric n × n matrix of which a is the lower triangle, as uᵀ · diag(values) · u: values ascending, in each
  /// row of u the largest element positive; in double. False, and nothing written, where a has an infinity or NaN.
  bool (*syevd)(const E* a, std::int64_t n, E* u, E* values);
};

/// The same of one instruction set.
struct LinearAlgebra {
  Isa isa;
  Solvers<float> of_floats;
  Solvers<double> of_doubles;
};

/// The table that is taken. Throws Error, in the name of `op`, where the program has none.
const LinearAlgebra& linear_algebra(std::string_view op);
/// Has this one taken where the machine runs it and it is the best so far, by the rule of entries.
void enrol(const LinearAlgebra& own);

template <class E>
const Solvers<E>& solvers(std::string_view op) {
  if constexpr (std::is_same_v<E, float>)
    return linear_algebra(op).of_floats;
  else
    return linear_algebra(op).of_doubles;
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/ops/linalg/solvers_impl.hpp>
#endif
