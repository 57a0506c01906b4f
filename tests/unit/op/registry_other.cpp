// SPDX-License-Identifier: Apache-2.0
/// \file
/// A type of the name and namespace of one in registry.cpp, which is another type and another operator.
#include <strop/strop.hpp>

namespace registry_test {
struct Faced {
  static constexpr std::string_view aliases[] = {"faced_everywhere", "faced_there"};
  int a = 1, b = 2;
  constexpr auto forward(auto x) const { return a * x + b; }
};
inline constexpr strop::Op<Faced> faced;
}  // namespace registry_test

namespace {

struct RegistryTwice {
  static constexpr std::string_view aliases[] = {"registry_twice_of_another_file"};
  constexpr auto forward(auto x) const { return x + 20; }
};
[[maybe_unused]] constexpr strop::Op<RegistryTwice> twice;

}  // namespace
