// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compiled library: all cold code of the headers. Programs that link it define STROP_COMPILED and build faster.
#define STROP_BUILD
#include <strop/strop.hpp>
