// SPDX-License-Identifier: Apache-2.0
/// \file
/// What `strop info --products` and `--convolutions` say of the kernels that this file is compiled beside.
#include <strop/ops/convolution_routes.hpp>
#include <strop/ops/gemm.hpp>

#include "../products.hpp"

namespace {

using Gemm = strop::detail::Gemm<float>;

std::string_view route(std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed, bool b_transposed) {
  using strop::detail::GemmRoute;
  const auto a = strop::detail::Strided<float>::of(nullptr, a_transposed ? m : k, a_transposed),
             b = strop::detail::Strided<float>::of(nullptr, b_transposed ? k : n, b_transposed);
  GemmRoute way = Gemm::route(m, n, k, a, b);
  const bool row = way == GemmRoute::vector;
  if (row) way = Gemm::route(1, m, k, b.transpose(), a.transpose());
  switch (way) {
    case GemmRoute::vector:
    case GemmRoute::combine:
      return row ? "as a row: a sum of rows of B" : "a sum of rows of B";
    case GemmRoute::dots:
      return row ? "as a row: dot products" : "dot products";
    case GemmRoute::outer:
      return row ? "as a row: multiples of the row of B" : "multiples of the row of B";
    case GemmRoute::direct:
      return row ? "as a row: tiles, B in place" : "tiles, B in place";
    default:
      return row ? "as a row: tiles, B copied" : "tiles, B copied";
  }
}

std::string_view convolution(const strop::detail::ConvolutionShape& s, strop::detail::ConvolutionPart part) {
  using strop::detail::ConvolutionPart, strop::detail::ConvolutionRoute;
  const strop::Shape kernel{s.kernel, s.kernel}, stride{s.stride, s.stride}, dilate{s.dilate, s.dilate},
      pad{s.pad, s.pad};
  const std::int64_t made = (s.extent + 2 * s.pad - s.dilate * (s.kernel - 1) - 1) / s.stride + 1,
                     from[] = {s.extent, s.extent}, to[] = {made, made};
  const strop::detail::Convolver<float> c{.windows = {from, to, kernel, stride, dilate, pad},
                                          .images = s.images,
                                          .groups = s.groups,
                                          .channels = s.channels / s.groups,
                                          .filters = s.filters / s.groups};
  const bool weight = part == ConvolutionPart::weight_gradient;
  switch (weight                                   ? c.weight_gradient_route()
          : part == ConvolutionPart::data_gradient ? c.data_gradient_route()
                                                   : c.result_route()) {
    case ConvolutionRoute::sums:
      return weight ? "dot products over planes" : "sums over planes";
    case ConvolutionRoute::tiles:
      return "tiles over planes";
    case ConvolutionRoute::image:
      return "product with the image";
    case ConvolutionRoute::together:
      return "product, several images";
    default:
      return "product with windows";
  }
}

constexpr strop::detail::ProductKernels own{strop::detail::this_isa, Gemm::rows, Gemm::cols, route, convolution};
[[maybe_unused]] const bool enrolled = strop::detail::enrol(own);

}  // namespace
