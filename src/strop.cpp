// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compiled library: all code of the headers that is no template. Programs that link it define STROP_COMPILED and
/// compile a fraction of what header-only ones do.
#define STROP_BUILD
#include <strop/strop.hpp>
