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
// The name is of the level and of all that the object needs, as hexadecimal digits of the lines of core/extensions.def
// or extensions_aarch64.def: of two objects of one level one may run where the other does not (x86-64-v4 and
// sapphirerapids).
//
// STROP_LANE_BYTES is the number of bytes of a register of lanes, STROP_LEVEL the rank of the set: of the entries that
// the machine can run the highest is taken. STROP_X86_BYTES is the width for which x86's own instructions serve lanes;
// 0 where lanes are as wide as -DSTROP_LANE_BYTES=64 says, for tests, and the compiler makes them of what there is. The
// macros stay defined on purpose.
//
// What nvcc compiles has names of its own as well: its enrollers bring kernels, and some functions come from elsewhere.
//
// A program that defines STROP_NO_LANES gets no vector types: a register is then one number.
#if defined(STROP_NO_LANES)
#undef STROP_LANE_BYTES
#define STROP_LEVEL 0
#define STROP_ISA_BYTES 0
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__FMA__) && (defined(__EVEX512__) || !(defined(__EVEX256__) || defined(__AVX10_1_256__)))
#define STROP_LEVEL 4
#define STROP_ISA_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)  // with AVX-512 of 256 bits as well (-mavx10.1-256, -mno-evex512)
#define STROP_LEVEL 3
#define STROP_ISA_BYTES 32
#elif defined(__SSE4_2__)  // with AVX as well: the encoding of the instructions differs, the width does not
#define STROP_LEVEL 2
#define STROP_ISA_BYTES 16
#elif defined(__SSE2__)
#define STROP_LEVEL 1
#define STROP_ISA_BYTES 16
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define STROP_LEVEL 1
#define STROP_ISA_BYTES 16
#else  // the compiler makes what it can of vectors of 16 bytes
#define STROP_LEVEL 1
#define STROP_ISA_BYTES 16
#endif

#if !defined(STROP_LANE_BYTES)
#define STROP_LANE_BYTES STROP_ISA_BYTES
#endif
#if defined(__x86_64__) && STROP_LANE_BYTES == STROP_ISA_BYTES
#define STROP_X86_BYTES STROP_LANE_BYTES
#else
#define STROP_X86_BYTES 0
#endif

// A macro that is defined as a number gives the digit 1, one that is not the digit 0; four of them a hexadecimal digit.
#define STROP_ISA_YES_1 ~, 1
#define STROP_ISA_YES_2 ~, 1
#define STROP_ISA_YES_3 ~, 1
#define STROP_ISA_SECOND(first, second, ...) second
#define STROP_ISA_PICK(a, b, c) STROP_ISA_SECOND(a, b, c)
#define STROP_ISA_BIT(value) STROP_ISA_PICK(STROP_ISA_YES_##value, 0, ~)
#define STROP_ISA_HEX_0000 0
#define STROP_ISA_HEX_0001 1
#define STROP_ISA_HEX_0010 2
#define STROP_ISA_HEX_0011 3
#define STROP_ISA_HEX_0100 4
#define STROP_ISA_HEX_0101 5
#define STROP_ISA_HEX_0110 6
#define STROP_ISA_HEX_0111 7
#define STROP_ISA_HEX_1000 8
#define STROP_ISA_HEX_1001 9
#define STROP_ISA_HEX_1010 a
#define STROP_ISA_HEX_1011 b
#define STROP_ISA_HEX_1100 c
#define STROP_ISA_HEX_1101 d
#define STROP_ISA_HEX_1110 e
#define STROP_ISA_HEX_1111 f
#define STROP_ISA_HEX_OF(a, b, c, d) STROP_ISA_HEX_##a##b##c##d
#define STROP_ISA_HEX(a, b, c, d) STROP_ISA_HEX_OF(a, b, c, d)
#define STROP_ISA_DIGIT(a, b, c, d) \
  STROP_ISA_HEX(STROP_ISA_BIT(d), STROP_ISA_BIT(c), STROP_ISA_BIT(b), STROP_ISA_BIT(a))
#define STROP_ISA_PASTE(to, a, b, c, d, e, f, g, h, i, j) to##j##i##h##g##f##e##d##c##b##a
#define STROP_ISA_JOIN(...) STROP_ISA_PASTE(__VA_ARGS__)
// `to`, and the digits; isa_impl.hpp checks that the lines are those of the files.
#if defined(__x86_64__)
#define STROP_ISA_NEEDS(to)                                                                         \
  STROP_ISA_JOIN(to, STROP_ISA_DIGIT(__SSE3__, __SSSE3__, __FMA__, __SSE4_1__),                     \
                 STROP_ISA_DIGIT(__SSE4_2__, __MOVBE__, __POPCNT__, __AVX__),                       \
                 STROP_ISA_DIGIT(__F16C__, __LZCNT__, __BMI__, __AVX2__),                           \
                 STROP_ISA_DIGIT(__BMI2__, __AVX512F__, __AVX512DQ__, __AVX512IFMA__),              \
                 STROP_ISA_DIGIT(__AVX512CD__, __AVX512BW__, __AVX512VL__, __AVX512VBMI__),         \
                 STROP_ISA_DIGIT(__AVX512VBMI2__, __GFNI__, __AVX512VNNI__, __AVX512BITALG__),      \
                 STROP_ISA_DIGIT(__AVX512VPOPCNTDQ__, __AVX512FP16__, __AVXVNNI__, __AVX512BF16__), \
                 STROP_ISA_DIGIT(__AVXIFMA__, __AVXVNNIINT8__, __AVXNECONVERT__, __CMPCCXADD__),    \
                 STROP_ISA_DIGIT(__AVXVNNIINT16__, __APX_F__, __SSE4A__, __XOP__),                  \
                 STROP_ISA_DIGIT(__FMA4__, __TBM__, __AVX10_2__, ))
#elif defined(__aarch64__)
#define STROP_ISA_NEEDS(to)                                                                                  \
  STROP_ISA_JOIN(                                                                                            \
      to,                                                                                                    \
      STROP_ISA_DIGIT(__ARM_FEATURE_CRC32, __ARM_FEATURE_ATOMICS, __ARM_FEATURE_FP16_SCALAR_ARITHMETIC,      \
                      __ARM_FEATURE_FP16_VECTOR_ARITHMETIC),                                                 \
      STROP_ISA_DIGIT(__ARM_FEATURE_QRDMX, __ARM_FEATURE_JCVT, __ARM_FEATURE_COMPLEX, __ARM_FEATURE_RCPC),   \
      STROP_ISA_DIGIT(__ARM_FEATURE_SHA3, __ARM_FEATURE_DOTPROD, __ARM_FEATURE_SVE, __ARM_FEATURE_FP16_FML), \
      STROP_ISA_DIGIT(__ARM_FEATURE_SVE2, __ARM_FEATURE_FRINT, __ARM_FEATURE_MATMUL_INT8,                    \
                      __ARM_FEATURE_BF16_VECTOR_ARITHMETIC),                                                 \
      STROP_ISA_DIGIT(__ARM_FEATURE_MOPS, __ARM_FEATURE_SVE2p1, __ARM_FEATURE_CSSC, ), 0, 0, 0, 0, 0)
#else
#define STROP_ISA_NEEDS(to) to
#endif
#if defined(__CUDACC__)
#define STROP_ISA_OF(level, bytes) STROP_ISA_NEEDS(isa##level##_nvcc_)
#elif STROP_LANE_BYTES != STROP_ISA_BYTES
#define STROP_ISA_OF(level, bytes) STROP_ISA_NEEDS(isa##level##_bytes##bytes##_)
#else
#define STROP_ISA_OF(level, bytes) STROP_ISA_NEEDS(isa##level##_)
#endif
#define STROP_ISA_NAMED(level, bytes) STROP_ISA_OF(level, bytes)
#define STROP_ISA STROP_ISA_NAMED(STROP_LEVEL, STROP_LANE_BYTES)

namespace strop::inline v0 {
namespace detail {

/// What the code of one translation unit asks of the machine that runs it.
struct Isa {
  std::string_view name;    // as STROP_ISA=… says it
  int level = 0;            // STROP_LEVEL
  std::uint64_t needs = 0;  // a bit for each line of core/extensions.def, or of extensions_aarch64.def
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
#if defined(__x86_64__) || defined(__aarch64__)
  isa.needs = STROP_ISA_NEEDS(0x);
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
