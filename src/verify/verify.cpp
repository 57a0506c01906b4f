// SPDX-License-Identifier: Apache-2.0
/// \file
/// The suite of strop/verify.hpp, compiled once for `strop check` and the tests of operators.
#include <strop/verify/source.hpp>
