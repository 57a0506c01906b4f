// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tags for the arguments of `grad`: which tensor of the forward call each one is.
#pragma once
#include <strop/core/config.hpp>

#include <cstddef>
#include <string_view>

namespace strop::inline v0 {
namespace detail {
/// A name as a template argument.
template <std::size_t N>
struct Name {
  char text[N]{};
  consteval Name(const char (&name)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = name[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};
enum class Role { head, in, out, grad };
}  // namespace detail

/// The head gradient of the output called N. `V` is the view that the argument would be without a tag.
template <detail::Name N, class V>
struct Head : V {
  static constexpr auto role = detail::Role::head;
  static constexpr std::string_view name = N.view();
  using Plain = V;
};
/// The input called N, as it was in the forward call.
template <detail::Name N, class V>
struct In : V {
  static constexpr auto role = detail::Role::in;
  static constexpr std::string_view name = N.view();
  using Plain = V;
};
/// The output called N, as forward left it.
template <detail::Name N, class V>
struct Out : V {
  static constexpr auto role = detail::Role::out;
  static constexpr std::string_view name = N.view();
  using Plain = V;
};
/// The gradient of the input called N: what `grad` writes. Without memory when nobody asks for it.
template <detail::Name N, class V>
struct Grad : V {
  static constexpr auto role = detail::Role::grad;
  static constexpr std::string_view name = N.view();
  using Plain = V;
};

}  // namespace strop::inline v0
