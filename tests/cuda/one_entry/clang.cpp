// SPDX-License-Identifier: Apache-2.0
/// \file
/// The object of clang.
#include "operator.hpp"

const strop::Entry& entry_of_clang() { return bent.entry(); }
