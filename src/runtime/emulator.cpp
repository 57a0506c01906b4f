// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compiled library: the emulator of GPU kernels.
#include <strop/source/emulator.hpp>
