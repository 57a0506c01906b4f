// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of the element-wise operators.
#include "library.hpp"

namespace strop::inline v0::verify {
namespace {

const Shape many{7, 9};  // more than a register of lanes, and a tail

void add(std::vector<Row>& rows, std::initializer_list<std::string> names, const std::vector<Sample>& in,
         const std::string& params = {}, Parts parts = {}) {
  for (const std::string& name : names) rows.push_back({name, params, in, parts});
}

}  // namespace

void add_map_rows(std::vector<Row>& rows) {
  const Sample part{many}, around{many, -3, 3.1}, signs{many, -0.9, 0.9}, above{many, 1.2, 3};
  const Sample row{{1, 9}}, column{{7, 1}}, none{{0, 9}};
  const Parts whole{.same_shape = false};

  add(rows, {"exp", "expm1", "log", "log10", "log2", "log1p"}, {part});
  add(rows, {"sin", "cos", "tan", "arcsin", "arccos", "arctan", "degrees", "radians"}, {signs});
  add(rows, {"sinh", "cosh", "tanh", "arcsinh", "arctanh"}, {signs});
  add(rows, {"arccosh"}, {above});
  add(rows, {"reciprocal", "sqrt", "rsqrt", "cbrt", "rcbrt", "gamma", "gammaln"}, {part}, {}, {.loose = 4});
  add(rows, {"square", "erf", "sigmoid", "softsign", "hard_sigmoid"}, {around});
  add(rows, {"erfinv"}, {signs}, {}, {.loose = 4});
  add(rows, {"negative", "abs", "sign", "round", "rint", "ceil", "floor", "trunc", "fix"}, {around});
  add(rows, {"relu", "_copy", "logical_not"}, {around});
  add(rows, {"smooth_l1"}, {around}, "scalar=2");
  add(rows, {"_contrib_quadratic"}, {around}, "a=1; b=2; c=3");
  add(rows, {"_contrib_quadratic"}, {around}, "a=1; b=-2");
  for (const std::string act :
       {"act_type=relu", "act_type=sigmoid", "act_type=tanh", "act_type=softrelu", "act_type=softsign"})
    add(rows, {"Activation"}, {around}, act, {.loose = 4});
  add(rows, {"clip"}, {around}, "a_min=-1; a_max=2");
  add(rows, {"clip"}, {part}, "a_min=0.3; a_max=0.6", {.dtypes = false});

  // Gradients that are stated to be another function's.
  for (const std::string name : {"_contrib_round_ste", "_contrib_sign_ste", "BlockGrad"})
    rows.push_back({name, {}, {around}, {.gradient = false}, false, gradient_elsewhere});
  rows.push_back({"_contrib_gradientmultiplier", "scalar=3", {around}, {.gradient = false}, false, gradient_elsewhere});
  add(rows, {"_contrib_div_sqrt_dim"}, {part}, {}, whole);

  // Two inputs of one shape, and two that broadcast.
  const Sample other{many, 1.1, 1.9};
  add(rows, {"elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div", "_maximum", "_minimum", "_hypot"},
      {part, other});
  add(rows, {"_power"}, {part, other}, {}, {.loose = 4});
  add(rows, {"_mod"}, {{many, 2.1, 2.9}, other});
  add(rows,
      {"_equal", "_not_equal", "_greater", "_greater_equal", "_lesser", "_lesser_equal", "_logical_and", "_logical_or",
       "_logical_xor"},
      {part, part});
  for (const Sample& rhs : {other, Sample{{1, 9}, 1.1, 1.9}, Sample{{7, 1}, 1.1, 1.9}}) {
    add(rows, {"broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div", "broadcast_hypot"}, {part, rhs}, {},
        whole);
    add(rows, {"broadcast_maximum", "broadcast_minimum"}, {{many, 0.5, 2.5}, rhs}, {}, whole);
    add(rows, {"broadcast_power"}, {part, rhs}, {}, {.same_shape = false, .loose = 4});
    add(rows, {"broadcast_mod"}, {{many, 2.1, 2.9}, rhs}, {}, whole);
  }
  for (const auto& shapes : {std::vector<Sample>{part, part}, {part, row}, {column, row}, {none, row}}) {
    add(rows,
        {"broadcast_equal", "broadcast_not_equal", "broadcast_greater", "broadcast_greater_equal", "broadcast_lesser",
         "broadcast_lesser_equal", "broadcast_logical_and", "broadcast_logical_or", "broadcast_logical_xor"},
        shapes, {}, whole);
  }

  // A number that is a parameter.
  add(rows,
      {"_plus_scalar", "_minus_scalar", "_rminus_scalar", "_mul_scalar", "_div_scalar", "_rdiv_scalar",
       "_maximum_scalar", "_minimum_scalar", "_hypot_scalar", "_power_scalar"},
      {part}, "scalar=2", {.loose = 4});
  add(rows, {"_rpower_scalar"}, {{many, 0.1, 0.9}}, "scalar=2", {.loose = 4});
  add(rows, {"_plus_scalar", "_mul_scalar", "_equal_scalar"}, {part}, "scalar=2.5; is_int=False");
  add(rows, {"_mod_scalar"}, {{many, 2.1, 2.9}}, "scalar=2");
  add(rows, {"_rmod_scalar"}, {{many, 1.1, 1.9}}, "scalar=5");
  add(rows,
      {"_equal_scalar", "_not_equal_scalar", "_greater_scalar", "_greater_equal_scalar", "_lesser_scalar",
       "_lesser_equal_scalar", "_logical_and_scalar", "_logical_or_scalar", "_logical_xor_scalar"},
      {around}, "scalar=1");

  // Sums, choices, and what works on stored values.
  rows.push_back({"add_n", {}, {part, part, part}});
  rows.push_back({"add_n", "num_args=1", {part}});
  add(rows, {"where"}, {listed(many, {1, 0, 0, 1, 1}), part, other});
  add(rows, {"where"}, {listed({7}, {1, 0, 0, 1, 1}), part, other}, {}, whole);
  rows.push_back({"_scatter_plus_scalar", "scalar=2", {part}, {.sparse = false}, false, sparse_elsewhere});
  rows.push_back({"_scatter_minus_scalar", "scalar=2", {part}, {.sparse = false}, false, sparse_elsewhere});
  rows.push_back({"_scatter_elemwise_div", {}, {part, other}, {.sparse = false}, false, sparse_elsewhere});
  rows.push_back({"amp_cast", "dtype=float32", {part}, {.gradient = false, .dtypes = false}});
  rows.push_back({"amp_cast", "dtype=float64", {part}, {.dtypes = false}});
  rows.push_back({"amp_multicast", "num_outputs=2", {part, row}, {.same_shape = false}});
  add(rows, {"_backward_amp_multicast"}, {part, part});
}

}  // namespace strop::inline v0::verify
