// SPDX-License-Identifier: Apache-2.0
/// \file
/// The part of the runtime that runs GPU kernels on the CPU, for tests. It takes <ucontext.h>, which not every C
/// library of Linux has. strop/source.hpp includes every part.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/cuda/emulator_impl.hpp>
#include <strop/cuda/fibers_impl.hpp>

#include <strop/core/pop_macros.def>
