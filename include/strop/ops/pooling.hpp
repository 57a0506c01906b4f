// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pooling of images of one, two or three spatial axes: the maximum, mean, sum or norm of each window.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/windows.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

namespace detail {

struct CutWindow;

inline namespace STROP_ISA {

struct Pooler;

}  // namespace STROP_ISA
}  // namespace detail

/// Pooling: of each window of an image max: the maximum; avg: the mean; sum: the sum; lp: (Σ xᵖ)^(1/p), p being
/// `p_value`, 1 to 3.
///
/// data (batch, channels, …), or with the channels last as `layout` says; output likewise. An axis of extent x has
/// (x + 2 · pad − kernel) / stride + 1 windows, rounded down (valid) or up (full), or x / stride, rounded up (same,
/// without pad); with `global_pool` one window covers all. Padding is left out, but avg counts it unless
/// `count_include_pad` is False; a window that has nothing else is −∞ (max) or 0. Of equal maxima the first gets the
/// gradient; an element that is not a number is no maximum. The gradient needs data, and has gradients of every order
/// but where it is that of lp with p_value 2 or 3, which has none. Floating types; sparse arrays by the dense fallback.
/// Error: a list has not one number per axis, a window covers more than the padded data, lp without p_value.
///
/// Example: `pooling(array({{{1, 3, 2, 5}}}), {.kernel = {2}, .stride = {2}})` is [[[3, 5]]].
struct Pooling {
  enum Type : int { max, avg, sum, lp };
  enum Convention : int { full, valid, same };
  enum Layout : int { NCW, NCHW, NCDHW, NWC, NHWC, NDHWC };
  Shape kernel = {};
  Type pool_type = max;
  bool global_pool = false, cudnn_off = false;
  Convention pooling_convention = valid;
  Shape stride = {}, pad = {};
  std::optional<int> p_value = {};
  std::optional<bool> count_include_pad = {};
  std::optional<Layout> layout = {};

  static constexpr std::string_view aliases[] = {"_npx_pooling"};
  static constexpr const char* doc =
      "The maximum (max), mean (avg), sum or norm (lp) of the elements in each window of an image with one to three "
      "spatial axes.";
  static constexpr Note notes[] = {{"kernel", "extents of a window, one per spatial axis"},
                                   {"pool_type", "what is made of a window"},
                                   {"global_pool", "one window covers all; kernel, stride and pad have no effect"},
                                   {"cudnn_off", "has no effect"},
                                   {"pooling_convention", "which windows at the end of an axis there are"},
                                   {"stride", "from window to window; 1 without it"},
                                   {"pad", "places before and after each axis; 0 without it"},
                                   {"p_value", "the exponent of lp"},
                                   {"count_include_pad", "avg divides by the places of the padding as well"},
                                   {"layout", "order of the axes: batch, channels and the spatial ones"}};
  static constexpr Range range[] = {{"p_value", 1, 3}};
  static constexpr bool accumulates = true, gradient_accumulates = true;

  template <int = 0>  // built where it is called: it writes words of an enumeration
  constexpr void infer_shape(Shapes& s) const {
    if (pool_type == lp && !p_value) s.fail("pool_type lp needs parameter 'p_value', 1 to 3");
    const int rank = global_pool ? s.in(0).ndim() - 2 : kernel.ndim();
    if (!global_pool) check(s, rank);
    if (!s.in(0).has_rank()) return;
    if (global_pool && (rank < 1 || rank > 3))
      s.fail(s.name_in(0), " has shape ", s.in(0), ", expected 3 to 5 dimensions");
    s.expect_rank(0, rank + 2);
    if (layout && *layout % 3 != rank - 1)
      s.fail("layout is ", detail::word_of(*layout), ", and ", s.name_in(0), " has shape ", s.in(0));
    Shape data = s.in(0), out = data;
    for (int i = 0; i < rank; ++i) {
      const int axis = first_axis() + i;
      out[axis] = global_pool ? 1 : data[axis] < 0 ? data[axis] : windows(s, axis, i);
    }
    s.set_out(0, out);
    data[0] = s.out(0)[0];
    const int channels = channels_last() ? rank + 1 : 1;
    data[channels] = s.out(0)[channels];
    s.set_in(0, data);
  }

  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const;

  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x, Grad<"data", View<E>> dx) const;

  /// Head of the gradient of data; head gradient, data.
  template <class Node>
  std::vector<Node> gradient_again(std::span<const Node> heads, std::span<const Node> in) const;

 private:
  friend struct PoolingTangent;
  constexpr bool channels_last() const { return layout && *layout >= NWC; }
  constexpr int first_axis() const { return channels_last() ? 1 : 2; }
  /// The exponent, 1 of a plain sum.
  int power() const;
  static double root(double total, int p);

  template <class E>
  static double sum_of(const detail::Windows& w, const detail::CutWindow& cut, const E* in, std::int64_t step, int p);

  template <int = 0>
  constexpr void check(const Shapes& s, int rank) const {
    detail::check_kernel(s, kernel);
    detail::check_steps(s, "stride", stride, rank, 1);
    if (pooling_convention != same) return detail::check_steps(s, "pad", pad, rank, 0);
    for (std::int64_t places : pad)
      if (places != 0) s.fail("pad = ", pad, ", and pooling_convention same takes none");
  }
  /// How many windows there are along an axis, which is axis i of the kernel.
  template <int = 0>
  constexpr std::int64_t windows(const Shapes& s, int axis, int i) const {
    const std::int64_t extent = s.in(0)[axis], step = detail::step_of(stride, i, 1);
    if (pooling_convention == same) return extent / step + (extent % step != 0 ? 1 : 0);
    const std::int64_t room = detail::window_room(s, axis, extent, detail::step_of(pad, i, 0), kernel[i]);
    return room / step + (pooling_convention == full && room % step != 0 ? 1 : 0) + 1;
  }
  detail::Pooler pooler(std::span<const std::int64_t> x, std::span<const std::int64_t> y) const;
};
inline constexpr Op<Pooling, OnUse> pooling;

namespace detail {
/// The parameters that Pooling and the operators of its gradients share, as those of another of them.
template <class To, class From>
constexpr To pooling_as(const From& from) {
  return {.kernel = from.kernel,
          .pool_type = from.pool_type,
          .global_pool = from.global_pool,
          .pooling_convention = from.pooling_convention,
          .stride = from.stride,
          .pad = from.pad,
          .count_include_pad = from.count_include_pad,
          .layout = from.layout};
}
}  // namespace detail

/// What Pooling makes of a small change of data: of each window the change of the largest element, or the mean or sum
/// of the changes. Internal.
struct PoolingTangent {
  Shape kernel = {};
  Pooling::Type pool_type = Pooling::max;
  bool global_pool = false;
  Pooling::Convention pooling_convention = Pooling::valid;
  Shape stride = {}, pad = {};
  std::optional<bool> count_include_pad = {};
  std::optional<Pooling::Layout> layout = {};
  static constexpr std::string_view name = "_backward_Pooling_tangent", inputs[] = {"tangent", "data"};
  static constexpr const char* doc = "How the result of Pooling changes with its data.";

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (pool_type == Pooling::lp) s.fail("pool_type is lp, expected max, avg or sum");
    s.set_in(0, s.in(1));
    of().infer_shape(s);
    s.set_in(1, s.in(0));
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> tangent, View<const E> x, View<E> y) const;
  auto gradient(const auto& dy, const auto& tangent, const auto& data) const;

 private:
  friend struct PoolingGradient;
  constexpr Pooling of() const { return detail::pooling_as<Pooling>(*this); }
};
inline constexpr Op<PoolingTangent, OnUse> pooling_tangent;

/// The gradient of data of Pooling as an operator: linear in the head gradient, and constant in data but where another
/// element becomes the largest. Internal.
struct PoolingGradient {
  Shape kernel = {};
  Pooling::Type pool_type = Pooling::max;
  bool global_pool = false;
  Pooling::Convention pooling_convention = Pooling::valid;
  Shape stride = {}, pad = {};
  std::optional<bool> count_include_pad = {};
  std::optional<Pooling::Layout> layout = {};
  static constexpr std::string_view name = "_backward_Pooling_again", inputs[] = {"head", "data"};
  static constexpr const char* doc = "The gradient of data of Pooling.";

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (pool_type == Pooling::lp) s.fail("pool_type is lp, expected max, avg or sum");
    s.set_out(0, s.in(1));
    s.set_in(1, s.out(0));
    detail::expect_made_by(tangent().of(), s, 0, {1});
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> dy, View<const E> x, View<E> dx) const;
  auto gradient(const auto& head, const auto&, const auto& data) const {
    return std::vector<std::remove_cvref_t<decltype(head)>>{pooling_tangent(head, data, tangent())};
  }

 private:
  constexpr PoolingTangent tangent() const { return detail::pooling_as<PoolingTangent>(*this); }
};
inline constexpr Op<PoolingGradient, OnUse> pooling_gradient;

auto PoolingTangent::gradient(const auto& dy, const auto&, const auto& data) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{
      pooling_gradient(dy, data, detail::pooling_as<PoolingGradient>(*this))};
}

using PoolingOps = OpList<Pooling, PoolingTangent, PoolingGradient>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/pooling_body.hpp>
#endif
