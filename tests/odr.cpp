// SPDX-License-Identifier: Apache-2.0
/// \file
/// Linked into every test program: a function that a header forgets to mark inline is then defined twice.
#include <strop/strop.hpp>
