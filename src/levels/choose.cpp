// SPDX-License-Identifier: Apache-2.0
/// \file
/// Has the operators of every level that the machine runs join the registry, which takes the highest. STROP_LEVELS
/// lists the levels of the program: X(v3) X(v4).
#include <strop/core/isa.hpp>

// join.py has moved the initialisers of each level's objects out of the sight of the system's start-up, which would run
// them everywhere, to a section of a name of its own; the linker says where it begins and ends.
using Initialiser = void (*)();
#define X(name)                                             \
  extern const strop::detail::Isa strop_isa_##name;         \
  extern "C" const Initialiser __start_strop_init_##name[]; \
  extern "C" const Initialiser __stop_strop_init_##name[];
STROP_LEVELS
#undef X

namespace {
bool initialise(const strop::detail::Isa& isa, const Initialiser* first, const Initialiser* last) {
  if (!strop::detail::runs_here(isa)) return false;
  for (; first != last; ++first) (*first)();
  return true;
}
}  // namespace

// Named for runtime/arrays.cpp: of an archive the linker takes what somebody asks for.
#define X(name) initialise(strop_isa_##name, __start_strop_init_##name, __stop_strop_init_##name),
[[gnu::visibility("hidden")]] extern const bool strop_levels_are_there[];
const bool strop_levels_are_there[] = {STROP_LEVELS};
#undef X
