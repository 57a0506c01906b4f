// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of the operators of linear algebra.
#include "library.hpp"

namespace strop::inline v0::verify {

void add_linalg_rows(std::vector<Row>& rows) {
  const Parts parts{.same_shape = false, .loose = 8};
  const Sample square{{2, 3, 3}}, wide{{2, 3, 4}}, one{{3, 3}};
  const auto add = [&](const std::string& op, const std::string& params, std::vector<Sample> in) {
    rows.push_back({"_linalg_" + op, params, std::move(in), parts});
  };
  for (const std::string offset : {"offset=0", "offset=1", "offset=-2"}) {
    add("extractdiag", offset, {square});
    add("makediag", offset, {wide});
    for (const std::string lower : {"", "; lower=False"}) {
      add("extracttrian", offset + lower, {square});
      add("maketrian", offset + lower, {{{2, 6}}});
    }
  }
  for (const std::string params : {"", "transpose_a=True; transpose_b=True; alpha=2"}) {
    add("gemm2", params, {square, square});
    add("gemm", params, {square, square, square});
  }
  add("gemm2", "transpose_b=True", {wide, {{2, 2, 4}}});
  add("gemm2", "axis=1; transpose_b=True", {{{2, 3, 2, 4}}, {{2, 5, 2, 4}}});
  add("gemm", "alpha=2; beta=-3; axis=0; transpose_a=True", {{{3, 2, 4}}, {{3, 2, 5}}, {{4, 2, 5}}});
  for (const std::string params : {"", "transpose=True; alpha=2"}) add("syrk", params, {wide});
  for (const std::string op : {"trmm", "trsm"})
    for (const std::string params :
         {"alpha=2", "lower=False", "alpha=2; transpose=True", "lower=False; transpose=True"}) {
      add(op, params, {square, wide});
      add(op, params + "; rightside=True", {square, {{2, 4, 3}}});
    }
  const Sample regular = listed({2, 2, 2}, {4, 1, 2, 3, 1, -2, 3, 4}),
               definite = listed({2, 2, 2}, {4, 1, 1, 3, 5, -2, -2, 4});
  // Gradients of symmetric changes, which differences of single elements are not.
  const auto add_symmetric = [&](const std::string& op, const std::string& params) {
    const Parts without_gradient{.gradient = false, .same_shape = false, .loose = 8};
    rows.push_back({op, params, {definite}, without_gradient, false, gradient_elsewhere});
  };
  for (const std::string lower : {"", "lower=False"}) {
    add("potri", lower, {regular});
    add_symmetric("_linalg_potrf", lower);
  }
  add_symmetric("_linalg_syevd", "");
  add("gelqf", "", {wide});
  for (const std::string op : {"inverse", "det", "slogdet"}) add(op, "", {regular});
  for (const std::string op : {"sumlogdiag", "det", "slogdet"}) add(op, "", {one});
}

}  // namespace strop::inline v0::verify
