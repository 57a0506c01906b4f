// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where code that is no template lives. The files *_impl.hpp define it: header-only programs include them; with
/// STROP_COMPILED they do not, and take it from the compiled library (src/strop.cpp), which is built with STROP_BUILD.
#pragma once

#if defined(STROP_BUILD)
#define STROP_IMPL
#else
#define STROP_IMPL inline
#endif
