// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arithmetic of an array and a number s, the parameter `scalar`. On integer arrays s is truncated to an integer first;
/// with is_int = false their elements are taken as float64 instead, and the result is float64.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/elementwise/bodies.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct PlusScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_plus_scalar";
  static constexpr std::string_view aliases[] = {"_PlusScalar", "plus_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "x + s. Floating and integer types. Integers wrap. A sparse input keeps its storage where s is 0, else the "
      "result is dense. Example: plus_scalar(array({1, 4}), {.scalar = 2}) is [3, 6].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr bool infer_storage(Storages& s) const { return scalar == 0 || s.set_out(0, dense); }
  constexpr auto forward(auto x) const { return x + detail::like(x, scalar); }
  constexpr auto grad_use_none(auto dy) const { return dy; }
};

struct MinusScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_minus_scalar";
  static constexpr std::string_view aliases[] = {"_MinusScalar", "minus_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "x − s. Floating and integer types. Integers wrap. A sparse input keeps its storage where s is 0, else the "
      "result is dense. Example: minus_scalar(array({1, 4}), {.scalar = 2}) is [-1, 2].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr bool infer_storage(Storages& s) const { return scalar == 0 || s.set_out(0, dense); }
  constexpr auto forward(auto x) const { return x - detail::like(x, scalar); }
  constexpr auto grad_use_none(auto dy) const { return dy; }
};

struct RMinusScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_rminus_scalar";
  static constexpr std::string_view aliases[] = {"_RMinusScalar", "rminus_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "s − x. Floating and integer types. Integers wrap. A sparse input keeps its storage where the value at 0 is "
      "0. Example: rminus_scalar(array({1, 4}), {.scalar = 2}) is [1, -2].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const { return detail::like(x, scalar) - x; }
  constexpr auto grad_use_none(auto dy) const { return -dy; }
};

struct MulScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_mul_scalar";
  static constexpr std::string_view aliases[] = {"_MulScalar", "mul_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "x · s. Floating and integer types. Integers wrap. A sparse input gives a result of its storage. Example: "
      "mul_scalar(array({1, 4}), {.scalar = 2}) is [2, 8].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const { return x * detail::like(x, scalar); }
  constexpr auto grad_use_none(auto dy) const { return dy * scalar.real; }
};

struct DivScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_div_scalar";
  static constexpr std::string_view aliases[] = {"_DivScalar", "div_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "x / s. Floating and integer types. Integers truncate; an integer over 0 is 0. A sparse input gives a result "
      "of its storage. Example: div_scalar(array({1, 4}), {.scalar = 2}) is [0.5, 2].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const { return x / detail::like(x, scalar); }
  constexpr auto grad_use_none(auto dy) const { return dy / scalar.real; }
};

struct RDivScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_rdiv_scalar";
  static constexpr std::string_view aliases[] = {"_RDivScalar", "rdiv_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "s / x. Floating and integer types. Integers truncate; an integer over 0 is 0. A sparse input is computed "
      "densely. Example: rdiv_scalar(array({1, 4}), {.scalar = 2}) is [2, 0.5].";
  static constexpr DtypeSet dtypes = floating | integral;
  friend constexpr bool leaves_type(const RDivScalar& op, Dtype type) { return !op.scalar.fits(type); }
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const { return detail::like(x, scalar) / x; }
  constexpr auto grad_use_in(auto dy, auto x) const {
    return scalar == 0 ? decltype(dy)(0) : -dy * (scalar.real / x) / x;  // x² may overflow
  }
};

struct ModScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_mod_scalar";
  static constexpr std::string_view aliases[] = {"_ModScalar", "mod_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "The remainder of x / s with the sign of s; 0 where s is 0. Floating and integer types. A sparse input gives "
      "a result of its storage. Example: mod_scalar(array({5, -5}), {.scalar = 3}) is [2, 1].";
  static constexpr DtypeSet dtypes = floating | integral;
  friend constexpr bool leaves_type(const ModScalar& op, Dtype type) { return !op.scalar.fits(type); }
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const { return detail::modulo(x, detail::like(x, scalar)); }
  constexpr auto grad_use_none(auto dy) const { return scalar != 0 ? dy : decltype(dy)(0); }
};

struct RModScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_rmod_scalar";
  static constexpr std::string_view aliases[] = {"_RModScalar", "rmod_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "The remainder of s / x with the sign of x; 0 where x is 0. Floating and integer types. A sparse input keeps "
      "its storage where the value at 0 is 0. Example: rmod_scalar(array({3, -3}), {.scalar = 5}) is [2, -1].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const { return detail::modulo(detail::like(x, scalar), x); }
  constexpr auto grad_use_in(auto dy, auto x) const {
    const auto s = detail::like(x, scalar);
    return where(x != 0, -dy * detail::floored_quotient(s, x, detail::modulo(s, x)), 0);
  }
};

struct PowerScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_power_scalar";
  static constexpr std::string_view aliases[] = {"_PowerScalar", "power_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "x to the power s. Floating and integer types. On integers the result is truncated. A sparse input keeps its "
      "storage where the value at 0 is 0. Example: power_scalar(array({3, -2}), {.scalar = 2}) is [9, 4].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const {
    if (scalar == 2) {  // of an integer that would wrap the nearest one, as of other powers
      const auto real = detail::as_real(x);
      return real * real;
    }
    return detail::as_real(pow(x, detail::like(x, scalar)));
  }
  constexpr auto grad_use_in(auto dy, auto x) const {
    if (scalar == 0) return decltype(dy)(0);  // not 0 · ∞ at 0
    return scalar == 2 ? 2 * dy * x : dy * (scalar.real * pow(x, detail::like(x, scalar.real - 1)));
  }
};

struct RPowerScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_rpower_scalar";
  static constexpr std::string_view aliases[] = {"_RPowerScalar", "rpower_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "s to the power x. Floating and integer types. On integers the result is truncated. A sparse input keeps its "
      "storage where the value at 0 is 0. Example: rpower_scalar(array({3, -1}), {.scalar = 2}) is [8, 0.5].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const { return pow(detail::like(x, scalar), x); }
  constexpr auto grad_use_out(auto dy, auto y) const {
    const auto slope = dy * y * log(detail::like(y, scalar));
    return scalar == 0 ? where(y > 1, slope, decltype(dy)(0)) : slope;  // 0ˣ is 0 above 0, infinite below
  }
};

struct MaximumScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_maximum_scalar";
  static constexpr std::string_view aliases[] = {"_MaximumScalar", "_npi_maximum_scalar", "maximum_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "The larger of x and s; NaN where x is. Floating and integer types. A sparse input keeps its storage where "
      "the value at 0 is 0. Example: maximum_scalar(array({1, 4}), {.scalar = 2}) is [2, 4].";
  static constexpr DtypeSet dtypes = floating | integral;
  friend constexpr bool leaves_type(const MaximumScalar& op, Dtype type) { return !op.scalar.fits(type); }
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const { return max(x, detail::like(x, scalar)); }
  constexpr auto grad_use_in(auto dy, auto x) const { return where(x >= detail::like(x, scalar), dy, 0); }
};

struct MinimumScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_minimum_scalar";
  static constexpr std::string_view aliases[] = {"_MinimumScalar", "_npi_minimum_scalar", "minimum_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "The smaller of x and s; NaN where x is. Floating and integer types. A sparse input keeps its storage where "
      "the value at 0 is 0. Example: minimum_scalar(array({1, 4}), {.scalar = 2}) is [1, 2].";
  static constexpr DtypeSet dtypes = floating | integral;
  friend constexpr bool leaves_type(const MinimumScalar& op, Dtype type) { return !op.scalar.fits(type); }
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const { return min(x, detail::like(x, scalar)); }
  constexpr auto grad_use_in(auto dy, auto x) const { return where(x <= detail::like(x, scalar), dy, 0); }
};

struct HypotScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_hypot_scalar";
  static constexpr std::string_view aliases[] = {"_npi_hypot_scalar", "_HypotScalar", "hypot_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "√(x² + s²), without overflow. Floating and integer types. On integers the result is truncated. A sparse "
      "input keeps its storage where the value at 0 is 0. Example: hypot_scalar(array({4, 0}), {.scalar = 3}) is "
      "[5, 3].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr bool integers_as_double() const { return !is_int; }
  constexpr auto forward(auto x) const { return hypot(x, detail::like(x, scalar)); }
};

inline constexpr Op<PlusScalar, OnUse> plus_scalar;
inline constexpr Op<MinusScalar, OnUse> minus_scalar;
inline constexpr Op<RMinusScalar, OnUse> rminus_scalar;
inline constexpr Op<MulScalar, OnUse> mul_scalar;
inline constexpr Op<DivScalar, OnUse> div_scalar;
inline constexpr Op<RDivScalar, OnUse> rdiv_scalar;
inline constexpr Op<ModScalar, OnUse> mod_scalar;
inline constexpr Op<RModScalar, OnUse> rmod_scalar;
inline constexpr Op<PowerScalar, OnUse> power_scalar;
inline constexpr Op<RPowerScalar, OnUse> rpower_scalar;
inline constexpr Op<MaximumScalar, OnUse> maximum_scalar;
inline constexpr Op<MinimumScalar, OnUse> minimum_scalar;
inline constexpr Op<HypotScalar, OnUse> hypot_scalar;

using ScalarOps = OpList<PlusScalar, MinusScalar, RMinusScalar, MulScalar, DivScalar, RDivScalar, ModScalar, RModScalar,
                         PowerScalar, RPowerScalar, MaximumScalar, MinimumScalar, HypotScalar>;

}  // namespace strop::inline v0
