// SPDX-License-Identifier: Apache-2.0
/// \file
/// A command of a program's own operators: ops, describe, run, check, bench, trace and info, as `strop` has them.
///
/// It is a library beside the headers, `strop_command`: `dependency('strop-command')` in Meson, `pkg-config --libs
/// strop-command`, `strop::command` in CMake. A program that is nothing but its operators needs no line more: the
/// library has a main.
#pragma once
#include <strop/core/push_macros.def>

namespace strop::inline v0 {

/// Runs the command line on all operators of the program; gives the exit code. Throws nothing that main should know.
int command(int argc, char** argv);

}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
