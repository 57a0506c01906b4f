// SPDX-License-Identifier: Apache-2.0
/// \file
/// A command of these operators: nothing else is written for it.
#include "operators.hpp"
