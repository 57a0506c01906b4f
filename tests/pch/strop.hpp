// SPDX-License-Identifier: Apache-2.0
/// \file
/// What every test of operators reads, precompiled once.
#include <doctest/doctest.h>

#include <strop/strop.hpp>
#include <strop/verify.hpp>
