// SPDX-License-Identifier: Apache-2.0
/// \file
/// How matrix products and convolutions are computed, asked of the kernels that the program takes: those of one of its
/// levels.
#pragma once
#include <strop/core/isa.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// A convolution of square images of two axes.
struct ConvolutionShape {
  std::int64_t images, channels, filters, groups, kernel, stride, dilate, pad, extent;
};
enum class ConvolutionPart { result, data_gradient, weight_gradient };

/// The kernels of float32 products of one instruction set.
struct ProductKernels {
  Isa isa;
  int rows = 0;  // of the largest tile
  std::int64_t cols = 0;
  /// In words, of m x k by k x n.
  std::string_view (*route)(std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed,
                            bool b_transposed) = nullptr;
  std::string_view (*convolution)(const ConvolutionShape& shape, ConvolutionPart part) = nullptr;
};

/// Those that are taken.
inline constinit std::atomic<const ProductKernels*> product_kernels{nullptr};

/// Called by the objects of every level, before main.
inline bool enrol(const ProductKernels& own) {
  if (!runs_here(own.isa)) return false;
  const ProductKernels* before = product_kernels.load();
  while ((before == nullptr || preferred(own.isa, before->isa)) &&
         !product_kernels.compare_exchange_weak(before, &own)) {
  }
  return true;
}

}  // namespace strop::inline v0::detail
