// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where cold code lives. Header-only programs compile it with themselves; with STROP_COMPILED it is only declared and
/// comes from the compiled library (src/strop.cpp), which is built with STROP_BUILD.
#pragma once

#if defined(STROP_BUILD)
#define STROP_COLD
#else
#define STROP_COLD inline
#endif
