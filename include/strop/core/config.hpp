// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the compiler has to be told, and where code that is no template lives. The files *_impl.hpp define it:
/// header-only programs have it inline, by the headers that declare it; with STROP_COMPILED it stands in one file of
/// the program, by strop/source.hpp. Every header of strop comes to this one first.
#pragma once

// A header that is not there ends the compilation: of what follows a compiler would say thousands of lines.
#if __cplusplus < 202002L
#error "strop: this is C++20, and the compiler reads an older language: compile with -std=c++20"
#include <strop/see-the-error-above>
#endif
#if defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 16
#error "strop: this clang is older than 16: compile with clang++ 16 or newer, or g++ 12 or newer"
#include <strop/see-the-error-above>
#endif
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "strop: this g++ is older than 12: compile with g++ 12 or newer, or clang++ 16 or newer"
#include <strop/see-the-error-above>
#endif
#if !defined(__cpp_exceptions)
#error "strop: a call that is refused throws strop::Error: compile without -fno-exceptions"
#include <strop/see-the-error-above>
#endif
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "strop: -ffast-math, -fassociative-math and -ffinite-math-only make exp, sin and softmax wrong: compile without"
#include <strop/see-the-error-above>
#endif

#if defined(STROP_COMPILED)
#define STROP_IMPL
#else
#define STROP_IMPL inline
#endif
