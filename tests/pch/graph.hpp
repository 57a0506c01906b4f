// SPDX-License-Identifier: Apache-2.0
/// \file
/// What every test of graphs reads, precompiled once.
#include <doctest/doctest.h>

#include "../unit/graph/operators.hpp"
