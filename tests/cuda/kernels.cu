// SPDX-License-Identifier: Apache-2.0
/// \file
/// The GPU kernels of the operators: naming them in a .cu file is all.
#include "operators.hpp"
