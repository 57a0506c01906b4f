// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where code that is no template lives. The files *_impl.hpp define it: header-only programs have it inline, by the
/// headers that declare it; with STROP_COMPILED it stands in one file of the program, by strop/source.hpp.
#pragma once

#if defined(STROP_COMPILED)
#define STROP_IMPL
#else
#define STROP_IMPL inline
#endif
