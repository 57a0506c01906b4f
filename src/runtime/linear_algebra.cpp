// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compiled library: linear algebra.
#include <strop/source/linear_algebra.hpp>
