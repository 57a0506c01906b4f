// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compiled library: how operators are called.
#include <strop/source/operators.hpp>
