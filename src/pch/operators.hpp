// SPDX-License-Identifier: Apache-2.0
/// \file
/// What every file of operators reads, precompiled once per instruction set.
#include <strop/graph/symbol.hpp>
