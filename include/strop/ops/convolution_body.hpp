// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/convolution.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/convolution.hpp>
#include <strop/ops/convolution_routes.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// db = Σ dy over the images and the places of each filter's channel, or db += that; summed in double.
template <class E>
void bias_gradient(View<const E> dy, View<E, 1> db, bool add) {
  constexpr std::int64_t chains = 4;  // of sums, since one addition waits for the one before it
  const std::int64_t images = dy.shape()[0], filters = db.size();
  const std::int64_t places = dy.size() / std::max<std::int64_t>(1, images * filters);
  for (std::int64_t f = 0; f < filters; ++f) {
    double sums[chains] = {add ? static_cast<double>(db[f]) : 0};
    for (std::int64_t image = 0; image < images; ++image) {
      const E* const from = dy.data() + (image * filters + f) * places;
      std::int64_t i = 0;
      for (; i + chains <= places; i += chains)
        for (std::int64_t c = 0; c < chains; ++c) sums[c] += static_cast<double>(from[i + c]);
      for (; i < places; ++i) sums[0] += static_cast<double>(from[i]);
    }
    db[f] = static_cast<E>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}

}  // namespace STROP_ISA

}  // namespace detail

inline double Convolution::operations(std::span<const Shape> in) const {
  double windows = 1;
  for (int i = 2; i < in[0].ndim(); ++i) {
    const double covers = static_cast<double>(detail::step_of(dilate, i - 2, 1) * ((*kernel)[i - 2] - 1) + 1);
    windows *= (static_cast<double>(in[0][i] + 2 * detail::step_of(pad, i - 2, 0)) - covers) /
                   static_cast<double>(detail::step_of(stride, i - 2, 1)) +
               1;
  }
  return static_cast<double>(in[0][0]) * windows *
         (2 * static_cast<double>(in[1].size()) + (no_bias ? 0 : *num_filter));
}

inline double Convolution::gradient_operations(std::span<const Shape> takes) const {
  Convolution product = *this;
  product.no_bias = true;
  return 2 * product.operations(takes.subspan(1)) + (no_bias ? 0 : static_cast<double>(takes[0].size()));
}

template <Real E>
inline void Convolution::forward(Cpu& ctx, View<const E> x, View<const E> weight, View<const E, 1> bias,
                                 View<E> y) const {
  if (y.size() == 0) return;
  convolver<E>(x.shape(), y.shape())
      .result(x.data(), weight.data(), bias.data(), y.data(), ctx.request() == Request::add);
}

template <Real E>
inline void Convolution::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                              In<"weight", View<const E>> weight, Grad<"data", View<E>> dx, Grad<"weight", View<E>> dw,
                              Grad<"bias", View<E, 1>> db) const {
  const detail::Convolver<E> convolver = this->convolver<E>(x.shape(), dy.shape());
  const auto adds = [&](int i) { return ctx.request(i) == Request::add; };
  if (dx) convolver.data_gradient(dy.data(), weight.data(), dx.data(), adds(0));
  if (dw) convolver.weight_gradient(dy.data(), x.data(), dw.data(), adds(1));
  if (db) detail::bias_gradient<E>(dy, db, adds(2));
}

template <class E>
inline detail::Convolver<E> Convolution::convolver(std::span<const std::int64_t> x,
                                                   std::span<const std::int64_t> y) const {
  return {.windows = {x.subspan(2), y.subspan(2), *kernel, stride, dilate, pad},
          .images = x[0],
          .groups = num_group,
          .channels = x[1] / num_group,
          .filters = y[1] / num_group};
}

inline double ConvolutionGradient::operations(std::span<const Shape> in) const {
  return detail::convolution_of(*this, false).gradient_operations(in);
}

template <Real E>
inline void ConvolutionGradient::forward(Cpu& ctx, View<const E> dy, View<const E> x, View<const E> w, View<E> dx,
                                         View<E> dw, View<E, 1> db) const {
  detail::convolution_of(*this, false).grad<E>(ctx, {dy}, {x}, {w}, {dx}, {dw}, {db});
}

inline double ConvolutionSum::operations(std::span<const Shape> in) const {
  return detail::convolution_of(*this, no_bias).operations(in) + detail::convolution_of(*this, true).operations(in);
}

template <Real E>
inline void ConvolutionSum::forward(Cpu& ctx, View<const E> a, View<const E> b, View<const E> c, View<const E> d,
                                    View<const E, 1> bias, View<E> y) const {
  if (y.size() == 0) return;
  detail::convolution_of(*this, no_bias).forward<E>(ctx, a, b, bias, y);
  detail::convolution_of(*this, true)
      .convolver<E>(c.shape(), y.shape())
      .result(c.data(), d.data(), nullptr, y.data(), true);
}

template <class Node>
inline std::vector<Node> ConvolutionGradient::gradient(std::span<const Node> heads, const Node& dy, const Node& data,
                                                       const Node& weight) const {
  const auto parts = convolution_gradient(dy, heads[0], heads[1], *this);
  const bool bias = heads.size() > 2;
  const ConvolutionSum params{kernel, stride, dilate, pad, num_filter, num_group, !bias};
  std::vector<Node> in{heads[0], weight, data, heads[1]};
  if (bias) in.push_back(heads[2]);
  return {convolution_sum(std::span<const Node>(in), params), parts[0], parts[1]};
}

template <class Node>
inline std::vector<Node> Convolution::gradient_again(std::span<const Node> heads, std::span<const Node> in) const {
  return ConvolutionGradient{kernel, stride, dilate, pad, num_filter, num_group}.gradient<Node>(heads, in[0], in[1],
                                                                                                in[2]);
}

}  // namespace strop::inline v0
