// SPDX-License-Identifier: Apache-2.0
/// \file
/// Comparisons and logic, element by element: of two arrays of one shape, of two whose shapes broadcast, and of an
/// array and a number s, the parameter `scalar`. On integer arrays s is truncated to an integer first, of 64 bits
/// whatever the arrays' type; with is_int = false their elements are taken as float64 instead, and the result is
/// float64.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/elementwise/bodies.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

// A relation as three operators. `with_number` asks it of an element and s; the other words are those of the documents.
#define STROP_OPERATORS(Type, snake, Older, condition, with_number, stored, before, between, after, of_arrays,         \
                        of_number, left, right, number, answers)                                                       \
  struct Elemwise##Type {                                                                                              \
    static constexpr std::string_view name = "_" #snake;                                                               \
    static constexpr std::string_view aliases[] = {"_" #Older, "elemwise_" #snake};                                    \
    static constexpr const char* doc = "1 where " before "lhs" between "rhs" after ", else 0" of_arrays                \
                                       ". Both have one shape. Every type, bool included. " STROP_STORED_##stored      \
        " The gradient is 0. Example: elemwise_" #snake "(" left ", " right ") is " answers ".";                       \
    static constexpr DtypeSet dtypes = any_dtype;                                                                      \
    static constexpr bool same_shape = true;                                                                           \
    static constexpr bool zero_gradient = true;                                                                        \
    constexpr auto forward(auto a, auto b) const { return condition; }                                                 \
  };                                                                                                                   \
  struct Broadcast##Type {                                                                                             \
    static constexpr std::string_view name = "broadcast_" #snake;                                                      \
    static constexpr const char* doc = "1 where " before "lhs" between "rhs" after ", else 0" of_arrays                \
                                       ". Shapes broadcast. Every type, bool included. " STROP_STORED_##stored         \
        " The gradient is 0. Example: broadcast_" #snake "(" left ", " right ") is " answers ".";                      \
    static constexpr DtypeSet dtypes = any_dtype;                                                                      \
    static constexpr bool zero_gradient = true;                                                                        \
    constexpr auto forward(auto a, auto b) const { return condition; }                                                 \
  };                                                                                                                   \
  struct Type##Scalar {                                                                                                \
    Scalar scalar = 1;                                                                                                 \
    bool is_int = true;                                                                                                \
    static constexpr std::string_view name = "_" #snake "_scalar";                                                     \
    static constexpr std::string_view aliases[] = {"_" #Type "Scalar", #snake "_scalar"};                              \
    static constexpr Note notes[] = {{"scalar", "the number s"},                                                       \
                                     {"is_int", "whether s was an integer; else integers are taken as float64"}};      \
    static constexpr const char* doc =                                                                                 \
        "1 where " before "x" between "s" after ", else 0" of_number                                                   \
        ". Every type, bool included. A sparse input keeps its storage where the value at 0 is 0. The gradient is 0. " \
        "Example: " #snake "_scalar(" left ", {.scalar = " number "}) is " answers ".";                                \
    static constexpr DtypeSet dtypes = any_dtype;                                                                      \
    constexpr bool integers_as_double() const { return !is_int; }                                                      \
    static constexpr bool zero_gradient = true;                                                                        \
    constexpr auto forward(auto x) const {                                                                             \
      return with_number(x, scalar, [](auto a, auto b) { return condition; });                                         \
    }                                                                                                                  \
  };                                                                                                                   \
  inline constexpr Op<Elemwise##Type, OnUse> elemwise_##snake;                                                         \
  inline constexpr Op<Broadcast##Type, OnUse> broadcast_##snake;                                                       \
  inline constexpr Op<Type##Scalar, OnUse> snake##_scalar;

#define STROP_STORED_none "A sparse input is computed densely."
#define STROP_STORED_both "Sparse where both are of one storage, else dense."
#define STROP_STORED_either "Sparse where either is."
#define STROP_COMPARISON(Type, snake, Older, token, text, turned, stored, answers)              \
  STROP_OPERATORS(Type, snake, Older, a token b, detail::compare, stored, "", " " text " ", "", \
                  ", in the type of the inputs", ", in the type of x", "array({1, 2})", "array({2, 2})", "2", answers)
#define STROP_LOGIC(Type, snake, Older, condition, which, verb, stored, answers)                                       \
  STROP_OPERATORS(Type, snake, Older, condition, detail::relate, stored, which " of ", " and ", " " verb " not 0", "", \
                  "", "array({0, 2})", "array({1, 3})", "1", answers)
#include <strop/ops/elementwise/relations.def>
#undef STROP_STORED_either
#undef STROP_STORED_both
#undef STROP_STORED_none
#undef STROP_OPERATORS

struct LogicalNot {
  static constexpr std::string_view name = "logical_not";
  static constexpr const char* doc =
      "1 where x is 0, else 0. Every type, bool included. A sparse input is computed densely. The gradient is 0. "
      "Example: logical_not(array({0, 2})) is [1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return x == 0; }
};
inline constexpr Op<LogicalNot, OnUse> logical_not;

using CompareOps = OpList<
#define STROP_RELATION(Type, snake) Elemwise##Type, Broadcast##Type, Type##Scalar,
#include <strop/ops/elementwise/relations.def>  // NOLINT(readability-duplicate-include): the list, once more
    LogicalNot>;

}  // namespace strop::inline v0
