// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the compiler has to be told, and where code that is no template lives. The files *_impl.hpp define it:
/// header-only programs include them; with STROP_COMPILED they do not, and take it from the compiled library
/// (src/strop.cpp), which is built with STROP_BUILD. Every header of strop comes to this one first.
#pragma once

#if __cplusplus < 202002L
#error "strop: this is C++20, and the compiler reads an older language: compile with -std=c++20"
#endif
#if !defined(__cpp_exceptions)
#error "strop: a call that is refused throws strop::Error: compile without -fno-exceptions"
#endif

#if defined(STROP_BUILD)
#define STROP_IMPL
#else
#define STROP_IMPL inline
#endif
