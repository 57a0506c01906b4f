// SPDX-License-Identifier: Apache-2.0
/// \file
/// The GPU kernels of half of the maps: two files compile side by side.
#include "smooth.hpp"
