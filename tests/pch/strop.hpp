// SPDX-License-Identifier: Apache-2.0
/// \file
/// What every test of operators and gradients reads, precompiled once for each program.
#include <doctest/doctest.h>

#include <strop/strop.hpp>
#include <strop/verify.hpp>
