// SPDX-License-Identifier: Apache-2.0
/// \file
/// When emulated kernels run.
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>

/// The program runs once more for every level and asynchronously, which is nothing to a GPU's kernels.
inline const auto once =
    doctest::skip(std::getenv("STROP_ISA") != nullptr || std::getenv("STROP_TEST_ASYNCHRONOUS") != nullptr);
