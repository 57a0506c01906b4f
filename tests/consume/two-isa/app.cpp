// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls the operator in every part, and counts its places in the registry.
// expect: true true true
// expect: 1
// expect: true true true
// expect: 1
#include <fmt/format.h>

#include "operator.hpp"

strop::Array narrow(const strop::Array& x);
strop::Array wide(const strop::Array& x);
strop::Array shared(const strop::Array& x);

int main() {
  auto x = strop::random::uniform({1000});
  auto y = shared_by_all(x);
  fmt::print("{} {} {}\n", strop::allclose(narrow(x), y), strop::allclose(wide(x), y), strop::allclose(shared(x), y));
  int slots = 0;
  for (auto* slot = strop::detail::registry_head.load(); slot != nullptr; slot = slot->next.load())
    slots += slot->entry.load()->snake == "shared" ? 1 : 0;
  fmt::print("{}\n", slots);
}
