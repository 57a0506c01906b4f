// SPDX-License-Identifier: Apache-2.0
/// \file
/// Looking operators up by name, and calling them with parameters as text.
#pragma once
#include <strop/op/dispatch.hpp>
#include <strop/op/param_box.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// Parameters as text: `{{"a", "1"}, {"axis", "(0, 1)"}}`.
using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;
using AttributeSpan = std::span<const std::pair<std::string_view, std::string_view>>;

namespace detail {

/// The operator of that name, or null. `strop.tanh` is the library's tanh also where the program has one of its own. An
/// operator of the library is found where the program calls it, includes ops/all.hpp or has the library of all
/// operators. Throws Error when two types of the program have the name.
const Entry* look_up(std::string_view name);
/// Every operator of the program once, sorted by its name.
std::vector<const Entry*> all_operators();
/// Says that an operator of the library is called where the library of all operators is not linked, or not set up yet.
[[noreturn, gnu::cold]] void refuse_unlinked(std::string_view name);
/// The five names nearest to this one, for the end of a sentence.
std::string nearest_operators(std::string_view name);
/// The operator of that name. Throws Error with the nearest names when there is none.
const Entry& find_operator(std::string_view name);

/// An object with the parameters that the text says. Throws Error for unknown, malformed or missing ones.
Ref<ParamBox> parse_params(const Entry& entry, AttributeSpan attributes);
/// How many outputs a call makes and how many of them are seen.
std::pair<int, int> count_outputs(const Entry& entry, const void* op, int inputs);
std::vector<NDArray> invoke_entry(const Entry& entry, std::span<const NDArray> in, AttributeSpan attributes, Site site);

}  // namespace detail

/// Runs the operator called `name` and returns all its visible outputs.
inline std::vector<NDArray> invoke_all(std::string_view name, std::initializer_list<NDArray> in, Attributes params = {},
                                       detail::Site site = detail::Site::current()) {
  return detail::invoke_entry(detail::find_operator(name), {in.begin(), in.size()}, {params.begin(), params.size()},
                              site);
}
inline std::vector<NDArray> invoke_all(std::string_view name, std::span<const NDArray> in, AttributeSpan params = {},
                                       detail::Site site = detail::Site::current()) {
  return detail::invoke_entry(detail::find_operator(name), in, params, site);
}

/// A list of inputs with parameters that are written out.
inline std::vector<NDArray> invoke_all(std::string_view name, std::span<const NDArray> in, Attributes params,
                                       detail::Site site = detail::Site::current()) {
  return invoke_all(name, in, AttributeSpan(params.begin(), params.size()), site);
}

/// Runs the operator called `name`, its parameters as text, and returns its first visible output. Throws Error for an
/// unknown operator or parameter, naming the nearest ones.
inline NDArray invoke(std::string_view name, std::initializer_list<NDArray> in, Attributes params = {},
                      detail::Site site = detail::Site::current()) {
  return invoke_all(name, in, params, site).front();
}
inline NDArray invoke(std::string_view name, std::span<const NDArray> in, AttributeSpan params = {},
                      detail::Site site = detail::Site::current()) {
  return invoke_all(name, in, params, site).front();
}
inline NDArray invoke(std::string_view name, std::span<const NDArray> in, Attributes params,
                      detail::Site site = detail::Site::current()) {
  return invoke_all(name, in, params, site).front();
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/op/registry_impl.hpp>
#endif
