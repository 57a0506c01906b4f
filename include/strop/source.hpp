// SPDX-License-Identifier: Apache-2.0
/// \file
/// The runtime, once per program: all code of the headers that is no template. One file of a program whose others are
/// compiled with -DSTROP_COMPILED includes this; the library that the wrap and `meson install` build is nothing else.
#pragma once
#if !defined(STROP_COMPILED)
#if defined(STROP_IMPL)
#error \
    "strop: a file that includes <strop/source.hpp> has it first, or is compiled with -DSTROP_COMPILED like the others"
#endif
#define STROP_COMPILED
#endif
#include <strop/source/arrays.hpp>
#if defined(__GLIBC__)
#include <strop/source/emulator.hpp>
#endif
#include <strop/source/graphs.hpp>
#include <strop/source/linear_algebra.hpp>
#include <strop/source/operators.hpp>
