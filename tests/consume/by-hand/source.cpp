// SPDX-License-Identifier: Apache-2.0
/// \file
/// The runtime of the program, once.
#include <strop/source.hpp>
