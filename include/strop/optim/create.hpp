// SPDX-License-Identifier: Apache-2.0
/// \file
/// Optimizers of the library by their names, with parameters as text: for front ends.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/text.hpp>
#include <strop/op/registry.hpp>
#include <strop/optim/adagrad.hpp>
#include <strop/optim/adam.hpp>
#include <strop/optim/lars.hpp>
#include <strop/optim/sgd.hpp>

#include <cstddef>
#include <string_view>

namespace strop::inline v0 {
namespace detail {

template <class T>
optim::Optimizer make_default() {
  return T{};
}

template <class... T>
optim::Optimizer create_one_of(std::string_view name, Attributes parameters) {
  constexpr std::string_view names[] = {T::name...};
  constexpr optim::Optimizer (*makers[])() = {&make_default<T>...};
  for (std::size_t i = 0; i < sizeof...(T); ++i) {
    if (names[i] != name) continue;
    optim::Optimizer made = makers[i]();
    for (const auto& [parameter, text] : parameters) made.set(parameter, text);
    return made;
  }
  fail("strop: optim::create(): there is no optimizer '", name, "', but ", list_nearest(name, {T::name...}));
}

}  // namespace detail

namespace optim {

/// An optimizer by the name that MXNet's registry has for it: `create("sgd", {{"momentum", "0.9"}})`. It builds
/// all of them into the program. Error: no such optimizer or parameter, or the text is no value of it.
template <int = 0>
Optimizer create(std::string_view name, Attributes parameters = {}) {
  return detail::create_one_of<Sgd, Nag, Signum, Adam, Adamax, AdaGrad, AdaDelta, RMSProp, Ftrl, Ftml, Lamb, Lars>(
      name, parameters);
}

}  // namespace optim
}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
