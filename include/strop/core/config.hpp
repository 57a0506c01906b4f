// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the compiler has to be told, and where code that is no template lives. The files *_impl.hpp define it:
/// header-only programs have it inline, by the headers that declare it; with STROP_COMPILED it stands in one file of
/// the program, by strop/source.hpp. Every header of strop comes to this one first.
#pragma once

#if __cplusplus < 202002L
#error "strop: this is C++20, and the compiler reads an older language: compile with -std=c++20"
#endif
#if !defined(__cpp_exceptions)
#error "strop: a call that is refused throws strop::Error: compile without -fno-exceptions"
#endif
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "strop: -ffast-math, -fassociative-math and -ffinite-math-only make exp, sin and softmax wrong: compile without"
#endif

#if defined(STROP_COMPILED)
#define STROP_IMPL
#else
#define STROP_IMPL inline
#endif
