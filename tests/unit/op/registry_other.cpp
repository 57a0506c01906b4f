// SPDX-License-Identifier: Apache-2.0
/// \file
/// A type of the name and namespace of one in registry.cpp, which is another type and another operator.
#include <strop/strop.hpp>

namespace {

struct RegistryTwice {
  static constexpr std::string_view aliases[] = {"registry_twice_of_another_file"};
  constexpr auto forward(auto x) const { return x + 20; }
};
[[maybe_unused]] constexpr strop::Op<RegistryTwice> twice;

}  // namespace
