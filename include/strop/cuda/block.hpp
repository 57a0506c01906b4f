// SPDX-License-Identifier: Apache-2.0
/// \file
/// The words that kernels are written in: a block of threads, memory that it shares, arrays of the device. nvcc makes
/// intrinsics of them (block_device.hpp); for other compilers the same kernel runs on an emulator (emulate.hpp).
///
/// A kernel is a trivially copyable struct:
///
///     struct RowSums {
///       strop::cuda::Global<const float> x;
///       strop::cuda::Global<float> y;
///       static constexpr int threads = 256;                    // of a block: a multiple of 32, at most 1024
///       struct Memory { strop::cuda::Shared<float, 8> parts; };  // what a block shares
///       std::int64_t blocks() const { return y.size(); }       // of the grid, at most 2³¹ − 1
///       constexpr void operator()(auto& block, auto& memory) const { … }  // what one thread does
///     };
///
/// `block` is a Block, `memory` a Memory; functions that the kernel calls take `auto& block` as well, and are
/// constexpr. An element of Shared is read as a number of its type: write `float v = memory.parts[i]`, not `auto`.
#pragma once
#include <strop/core/push_macros.def>

#if defined(__CUDACC__)
#include <strop/cuda/block_device.hpp>
#else
#include <strop/cuda/block_emulated.hpp>
#endif

#include <strop/core/pop_macros.def>
