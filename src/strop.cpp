// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compiled library. Programs that link it define STROP_COMPILED and compile a fraction of what header-only ones
/// do.
#include <strop/source.hpp>
