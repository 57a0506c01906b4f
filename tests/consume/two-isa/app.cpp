// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls the operator in every part, and counts its places in the registry, which has an entry that runs here.
// expect: true true true
// expect: 1 true
// expect: true true true
// expect: 1 true
// expect: two bodies for two sets of one level
// expect: true true true
// expect: 1 true
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
  bool runs = true;
  for (auto* slot = strop::detail::registry_head.load(); slot != nullptr; slot = slot->next.load()) {
    if (slot->entry.load()->snake != "shared") continue;
    ++slots;
    runs = runs && strop::detail::runs_here(slot->entry.load()->isa);
  }
  fmt::print("{} {}\n", slots, runs);
}
