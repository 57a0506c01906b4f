// SPDX-License-Identifier: Apache-2.0
/// \file
/// OpList: the operators of a family as a list of types, and their registration all together.
#pragma once
#include <strop/op/op.hpp>

namespace strop::inline v0 {

namespace detail {

/// How many outputs a parameter asks for. Outputs are made before shapes are compared: what no axis has is refused
/// here.
constexpr int checked_outputs(std::int64_t count, std::string_view op, std::string_view parameter) {
  if (count > most_tensors)
    fail(op, ": ", parameter, " is ", count, ", and a call has at most ", most_tensors, " outputs");
  if (count < 0) fail(op, ": ", parameter, " is ", count, ", expected 0 or more");
  return static_cast<int>(count);
}

/// Refuses another number of inputs than a parameter says.
constexpr void check_count_of(auto& of, std::string_view parameter, int count) {
  if (count != of.inputs())
    of.fail(parameter, " is ", count, ", ", of.inputs(), of.inputs() == 1 ? " input was given" : " inputs were given");
}
/// The same of num_args, where 0 says none.
constexpr void check_count(auto& of, int num_args) {
  if (num_args != 0) check_count_of(of, "num_args", num_args);
}

}  // namespace detail

/// Names operators by their types; ops/all.hpp registers what the families' lists name.
template <class... T>
struct OpList {
  /// Puts every operator of the list into the registry when the program starts, used or not.
  static const void* enrol() {
    (detail::LibraryEnroller<T>::run(), ...);
    return nullptr;
  }
  /// Calls f.template operator()<T>() for every operator T of the list.
  template <class F>
  static constexpr void each(F f) {
    (f.template operator()<T>(), ...);
  }
};

}  // namespace strop::inline v0
