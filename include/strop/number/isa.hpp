// SPDX-License-Identifier: Apache-2.0
/// \file
/// The instruction set that this translation unit is compiled for: the name STROP_ISA, and the width of its registers.
#pragma once
#include <strop/core/config.hpp>

// STROP_ISA names the inline namespace that holds whatever is compiled differently for different instruction sets: the
// lanes, the kernels and their entries. Two objects of one program that were built for different sets then have two
// names for two things, and the linker keeps both. It is written as
//   namespace strop::inline v0 { inline namespace STROP_ISA { … } }
// STROP_LANE_BYTES is the number of bytes of a register of lanes. The macros stay defined on purpose.
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
#define STROP_LANE_BYTES 0
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__FMA__)
#define STROP_ISA STROP_ISA_NAME(isa_avx512)
#define STROP_LANE_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define STROP_ISA STROP_ISA_NAME(isa_avx2)
#define STROP_LANE_BYTES 32
#elif defined(__AVX__)  // the encoding of the instructions differs from SSE's, the width does not
#define STROP_ISA STROP_ISA_NAME(isa_avx)
#define STROP_LANE_BYTES 16
#elif defined(__SSE4_2__)
#define STROP_ISA STROP_ISA_NAME(isa_sse4)
#define STROP_LANE_BYTES 16
#elif defined(__SSE2__)
#define STROP_ISA STROP_ISA_NAME(isa_sse2)
#define STROP_LANE_BYTES 16
#else  // the compiler makes what it can of vectors of 16 bytes
#define STROP_ISA STROP_ISA_NAME(isa_generic)
#define STROP_LANE_BYTES 16
#endif

namespace strop::inline v0::number {
inline namespace STROP_ISA {

/// Bytes of a register of lanes; 0 where a register is one number (STROP_NO_LANES).
inline constexpr int lane_bytes = STROP_LANE_BYTES;

}  // namespace STROP_ISA
}  // namespace strop::inline v0::number
