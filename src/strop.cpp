// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compiled library. Programs that link it define STROP_COMPILED and compile a fraction of what header-only ones
/// do.
#include <strop/source.hpp>

#if defined(STROP_LEVELS)
// The runtime's loops for other instruction sets stand beside this object, and choose.cpp's initialisers take them.
[[gnu::visibility("hidden")]] extern const bool strop_levels_are_there[];
namespace {
[[gnu::used]] const bool* const levels = strop_levels_are_there;
}  // namespace
#endif
