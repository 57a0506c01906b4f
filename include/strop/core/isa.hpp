// SPDX-License-Identifier: Apache-2.0
/// \file
/// The instruction set that this translation unit is compiled for, and whether the machine at hand has it: the one
/// definition that lanes, kernels and the registry go by.
#pragma once
#include <strop/core/config.hpp>

#include <cstdint>
#include <string_view>

// STROP_ISA names the inline namespace that holds whatever is compiled differently for different instruction sets: the
// lanes, the kernels and their entries. Two objects of one program that were built for different sets then have two
// names for two things, and the linker keeps both. It is written as
//   namespace strop::inline v0 { inline namespace STROP_ISA { … } }
// STROP_LANE_BYTES is the number of bytes of a register of lanes, STROP_LEVEL the rank of the set: of the entries that
// the machine can run the highest is taken. The macros stay defined on purpose.
//
// Sets of one level have one name: of a program's objects that need more than the level does (-march=sapphirerapids is
// x86-64-v4 and more), all should need the same.
//
// What nvcc compiles has names of its own as well: its enrollers bring kernels, and some functions come from elsewhere.
//
// A program that defines STROP_NO_LANES gets no vector types: a register is then one number.
#if defined(__CUDACC__)
#define STROP_ISA_NAME(isa) isa##_nvcc
#else
#define STROP_ISA_NAME(isa) isa
#endif
#if defined(STROP_NO_LANES)
#define STROP_ISA STROP_ISA_NAME(isa_scalar)
#define STROP_LEVEL 0
#define STROP_LANE_BYTES 0
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__FMA__)
#define STROP_ISA STROP_ISA_NAME(isa_v4)
#define STROP_LEVEL 4
#define STROP_LANE_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define STROP_ISA STROP_ISA_NAME(isa_v3)
#define STROP_LEVEL 3
#define STROP_LANE_BYTES 32
#elif defined(__AVX__)  // the encoding of the instructions differs from SSE's, the width does not
#define STROP_ISA STROP_ISA_NAME(isa_avx)
#define STROP_LEVEL 2
#define STROP_LANE_BYTES 16
#elif defined(__SSE4_2__)
#define STROP_ISA STROP_ISA_NAME(isa_v2)
#define STROP_LEVEL 2
#define STROP_LANE_BYTES 16
#elif defined(__SSE2__)
#define STROP_ISA STROP_ISA_NAME(isa_baseline)
#define STROP_LEVEL 1
#define STROP_LANE_BYTES 16
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define STROP_ISA STROP_ISA_NAME(isa_neon)
#define STROP_LEVEL 1
#define STROP_LANE_BYTES 16
#else  // the compiler makes what it can of vectors of 16 bytes
#define STROP_ISA STROP_ISA_NAME(isa_generic)
#define STROP_LEVEL 1
#define STROP_LANE_BYTES 16
#endif

namespace strop::inline v0 {
namespace detail {

/// What the code of one translation unit asks of the machine that runs it.
struct Isa {
  std::string_view name;    // as STROP_ISA=… says it
  int level = 0;            // STROP_LEVEL
  std::uint64_t needs = 0;  // a bit for each line of core/extensions.def
};

/// Whether the machine at hand runs code that was built so.
bool runs_here(const Isa& isa);
/// Whether a is taken rather than b of two that run here: the higher one, up to the level that STROP_ISA in the
/// environment names (for tests: x86-64, x86-64-v2, x86-64-v3, x86-64-v4, scalar); above that the lower one.
bool preferred(const Isa& a, const Isa& b);
/// Throws the sentence of an operator of which the machine runs no build.
[[noreturn, gnu::cold]] void refuse_isa(std::string_view op, const Isa& isa);

inline namespace STROP_ISA {

/// What this translation unit is compiled for.
inline constexpr Isa this_isa = [] {
  Isa isa{"generic", STROP_LEVEL};
#if STROP_LEVEL == 0
  isa.name = "scalar";
#elif defined(__aarch64__)
  isa.name = "neon";
#elif defined(__x86_64__)
  isa.name = STROP_LEVEL == 4   ? "x86-64-v4"
             : STROP_LEVEL == 3 ? "x86-64-v3"
             : STROP_LEVEL == 2 ? "x86-64-v2"
                                : "x86-64";
#endif
#if defined(__x86_64__)
  std::uint64_t bit = 1;
// A macro that is defined as 1 is written as "1" in a string, one that is not by its name.
#define STROP_TEXT(macro) #macro
#define STROP_EXTENSION(macro, leaf, subleaf, word, place, keeps) \
  isa.needs |= STROP_TEXT(macro)[0] == '1' ? bit : 0;             \
  bit <<= 1;
#include <strop/core/extensions.def>
#undef STROP_EXTENSION
#undef STROP_TEXT
#endif
  return isa;
}();

}  // namespace STROP_ISA
}  // namespace detail

namespace number {
inline namespace STROP_ISA {

/// Bytes of a register of lanes; 0 where a register is one number (STROP_NO_LANES).
inline constexpr int lane_bytes = STROP_LANE_BYTES;

}  // namespace STROP_ISA
}  // namespace number
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/core/isa_impl.hpp>
#endif
