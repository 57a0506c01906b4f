// SPDX-License-Identifier: Apache-2.0
/// \file
/// The instruction set that this translation unit is compiled for: the name STROP_ISA, and the width of its registers.
#pragma once

/// STROP_ISA names the inline namespace that holds whatever is compiled differently for different instruction sets: the
/// lanes, the kernels and their entries. Two objects of one program that were built for different sets then have two
/// names for two things, and the linker keeps both.
///
/// This macro stays defined on purpose: `namespace strop::inline v0 { inline namespace STROP_ISA { … } }`.
/// A program that defines STROP_NO_LANES gets no vector types: a register is then one number.
#if defined(STROP_NO_LANES)
#define STROP_ISA isa_scalar
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__FMA__)
#define STROP_ISA isa_avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define STROP_ISA isa_avx2
#elif defined(__AVX__)
#define STROP_ISA isa_avx  // the encoding of the instructions differs from SSE's, the width does not
#elif defined(__SSE4_2__)
#define STROP_ISA isa_sse4
#elif defined(__SSE2__)
#define STROP_ISA isa_sse2
#else
#define STROP_ISA isa_generic  // the compiler makes what it can of vectors of 16 bytes
#endif

namespace strop::inline v0::number::inline STROP_ISA {

/// Bytes of a register of lanes; 0 where a register is one number (STROP_NO_LANES).
#if defined(STROP_NO_LANES)
inline constexpr int lane_bytes = 0;
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__FMA__)
inline constexpr int lane_bytes = 64;
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr int lane_bytes = 32;
#else
inline constexpr int lane_bytes = 16;
#endif

}  // namespace strop::inline v0::number::inline STROP_ISA
