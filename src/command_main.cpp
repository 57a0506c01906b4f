// SPDX-License-Identifier: Apache-2.0
/// \file
/// The main of a program that links strop_command and has none of its own.
#include <strop/command.hpp>

int main(int argc, char** argv) { return strop::command(argc, argv); }
