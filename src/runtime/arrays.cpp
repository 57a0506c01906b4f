// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compiled library: arrays, memory and engine. Its parts are compiled side by side; a program without a build
/// system compiles strop/source.hpp, which is all of them.
#include <strop/source/arrays.hpp>

#if defined(STROP_LEVELS)
// The runtime's loops for other instruction sets stand beside this object, and choose.cpp's initialisers take them.
[[gnu::visibility("hidden")]] extern const bool strop_levels_are_there[];
namespace {
[[gnu::used]] const bool* const levels = strop_levels_are_there;
}  // namespace
#endif
