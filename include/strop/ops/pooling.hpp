// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pooling of images of one, two or three spatial axes: the maximum, mean, sum or norm of each window.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/windows.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// What a window is cut to: its elements inside the data, from low to high along each axis, and how many it counts.
struct CutWindow {
  std::int64_t low[Windows::axes], high[Windows::axes];
  double counted;  // the padding may be of any size
};

/// Calls f(window) for each window in its order. `with_padding`: what is counted includes padding.
template <class F>
void each_window(const Windows& w, bool with_padding, F f) {
  CutWindow cut{};
  double counted[Windows::axes] = {};
  const auto place = [&](int axis, std::int64_t at) {
    const std::int64_t begin = at * w.stride[axis] - w.pad[axis],
                       end = std::min(begin + w.kernel[axis], w.in[axis] + w.pad[axis]);
    cut.low[axis] = std::max<std::int64_t>(begin, 0);
    cut.high[axis] = std::max(cut.low[axis], std::min(end, w.in[axis]));
    counted[axis] =
        static_cast<double>(with_padding ? std::max<std::int64_t>(0, end - begin) : cut.high[axis] - cut.low[axis]);
  };
  for (std::int64_t a = 0; a < w.out[0]; ++a) {
    place(0, a);
    for (std::int64_t b = 0; b < w.out[1]; ++b) {
      place(1, b);
      for (std::int64_t c = 0; c < w.out[2]; ++c) {
        place(2, c);
        cut.counted = counted[0] * counted[1] * counted[2];
        f(cut);
      }
    }
  }
}

/// Calls f(position) for each element of a window.
template <class F>
[[gnu::always_inline]] inline void each_element(const Windows& w, const CutWindow& cut, F f) {
  for (std::int64_t a = cut.low[0]; a < cut.high[0]; ++a)
    for (std::int64_t b = cut.low[1]; b < cut.high[1]; ++b) {
      const std::int64_t row = (a * w.in[1] + b) * w.in[2];
      for (std::int64_t c = cut.low[2]; c < cut.high[2]; ++c) f(row + c);
    }
}

inline namespace STROP_ISA {

/// Images of `inner` channels that lie element by element beside each other: 1 where a channel lies by itself.
struct Pooler {
  Windows windows;
  std::int64_t images, inner;
  bool with_padding;

  /// y = f(the elements of a window, the window), or y += that.
  template <class E, class F>
  void result(const E* x, E* y, bool add, F f) const {
    const std::int64_t in = windows.in_size() * inner, out = windows.out_size() * inner;
    parallel_for(images, grain(), [&](std::int64_t low, std::int64_t high) {
      for (std::int64_t image = low; image < high; ++image)
        for (std::int64_t channel = 0; channel < inner; ++channel) {
          const E* const from = x + image * in + channel;
          E* to = y + image * out + channel;
          each_window(windows, with_padding, [&](const CutWindow& cut) {
            const E value = f(from, cut);
            *to = add ? *to + value : value;
            to += inner;
          });
        }
    });
  }
  /// f(head gradient, elements of a window, their gradients, the window) adds to the gradients.
  template <class E, class F>
  void gradient(const E* dy, const E* x, E* dx, bool add, F f) const {
    const std::int64_t in = windows.in_size() * inner, out = windows.out_size() * inner;
    parallel_for(images, grain(), [&](std::int64_t low, std::int64_t high) {
      if (!add) std::fill(dx + low * in, dx + high * in, E(0));
      for (std::int64_t image = low; image < high; ++image)
        for (std::int64_t channel = 0; channel < inner; ++channel) {
          const E* head = dy + image * out + channel;
          const E* const from = x + image * in + channel;
          E* const to = dx + image * in + channel;
          each_window(windows, with_padding, [&](const CutWindow& cut) {
            f(*head, from, to, cut);
            head += inner;
          });
        }
    });
  }

 private:
  std::int64_t grain() const {
    return std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, windows.in_size() * inner));
  }
};

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
      s.fail("layout is ", detail::Text<Layout>::print(*layout), ", and ", s.name_in(0), " has shape ", s.in(0));
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
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    const detail::Pooler pooler = this->pooler(x.shape(), y.shape());
    const detail::Windows& w = pooler.windows;
    const std::int64_t step = pooler.inner;
    const bool add = ctx.request() == Request::add;
    if (pool_type == max)
      return pooler.result(x.data(), y.data(), add, [&](const E* in, const detail::CutWindow& cut) {
        E most = -std::numeric_limits<E>::infinity();
        detail::each_element(w, cut, [&](std::int64_t at) { most = in[at * step] > most ? in[at * step] : most; });
        return most;
      });
    const int p = power();
    pooler.result(x.data(), y.data(), add, [&](const E* in, const detail::CutWindow& cut) {
      const double total = sum_of(w, cut, in, step, p);
      return static_cast<E>(pool_type == avg ? (cut.counted == 0 ? 0.0 : total / cut.counted) : root(total, p));
    });
  }

  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x, Grad<"data", View<E>> dx) const {
    if (!dx) return;
    const detail::Pooler pooler = this->pooler(x.shape(), dy.shape());
    const detail::Windows& w = pooler.windows;
    const std::int64_t step = pooler.inner;
    const bool add = ctx.request() == Request::add;
    const int p = power();
    pooler.gradient(
        dy.data(), x.data(), dx.data(), add, [&](E head, const E* in, E* out, const detail::CutWindow& cut) {
          if (pool_type == max) {
            E most = -std::numeric_limits<E>::infinity();
            std::int64_t first = -1;
            detail::each_element(w, cut, [&](std::int64_t at) {
              if (in[at * step] > most) most = in[at * step], first = at;
            });
            if (first >= 0) out[first * step] += head;
          } else if (p == 1) {
            const E part = pool_type == avg && cut.counted != 0 ? head / static_cast<E>(cut.counted) : head;
            detail::each_element(w, cut, [&](std::int64_t at) { out[at * step] += part; });
          } else {  // the gradient of a norm of 0 counts as 0
            const double length = root(sum_of(w, cut, in, step, p), p), inverse = length == 0 ? 0 : 1 / length;
            detail::each_element(w, cut, [&](std::int64_t at) {
              const double ratio = static_cast<double>(in[at * step]) * inverse;
              out[at * step] += static_cast<E>(static_cast<double>(head) * (p == 2 ? ratio : ratio * ratio));
            });
          }
        });
  }

  /// Head of the gradient of data; head gradient, data.
  template <class Node>
  std::vector<Node> gradient_again(std::span<const Node> heads, std::span<const Node> in) const;

 private:
  friend struct PoolingTangent;
  constexpr bool channels_last() const { return layout && *layout >= NWC; }
  constexpr int first_axis() const { return channels_last() ? 1 : 2; }
  /// The exponent, 1 of a plain sum.
  int power() const { return pool_type == lp ? *p_value : 1; }
  static double root(double total, int p) { return p == 1 ? total : p == 2 ? std::sqrt(total) : std::cbrt(total); }

  template <class E>
  static double sum_of(const detail::Windows& w, const detail::CutWindow& cut, const E* in, std::int64_t step, int p) {
    double total = 0;
    detail::each_element(w, cut, [&](std::int64_t at) {
      const double x = static_cast<double>(in[at * step]);
      total += p == 1 ? x : p == 2 ? x * x : x * x * x;
    });
    return total;
  }

  constexpr void check(const Shapes& s, int rank) const {
    detail::check_kernel(s, kernel);
    detail::check_steps(s, "stride", stride, rank, 1);
    if (pooling_convention != same) return detail::check_steps(s, "pad", pad, rank, 0);
    for (std::int64_t places : pad)
      if (places != 0) s.fail("pad = ", pad, ", and pooling_convention same takes none");
  }
  /// How many windows there are along an axis, which is axis i of the kernel.
  constexpr std::int64_t windows(const Shapes& s, int axis, int i) const {
    const std::int64_t extent = s.in(0)[axis], step = detail::step_of(stride, i, 1);
    if (pooling_convention == same) return extent / step + (extent % step != 0 ? 1 : 0);
    const std::int64_t room = detail::window_room(s, axis, extent, detail::step_of(pad, i, 0), kernel[i]);
    return room / step + (pooling_convention == full && room % step != 0 ? 1 : 0) + 1;
  }
  detail::Pooler pooler(std::span<const std::int64_t> x, std::span<const std::int64_t> y) const {
    const std::size_t rank = x.size() - 2, first = static_cast<std::size_t>(first_axis());
    const auto from = x.subspan(first, rank), to = y.subspan(first, rank);
    const Shape all(from), none;
    const bool apart = !channels_last(), padless = global_pool || pooling_convention == same;
    return {.windows = {from, to, global_pool ? all : kernel, global_pool ? none : stride, none, padless ? none : pad},
            .images = apart ? x[0] * x[1] : x[0],
            .inner = apart ? 1 : x.back(),
            .with_padding = count_include_pad.value_or(true)};
  }
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

  constexpr void infer_shape(Shapes& s) const {
    if (pool_type == Pooling::lp) s.fail("pool_type is lp, expected max, avg or sum");
    s.set_in(0, s.in(1));
    of().infer_shape(s);
    s.set_in(1, s.in(0));
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> tangent, View<const E> x, View<E> y) const {
    const detail::Pooler pooler = of().pooler(x.shape(), y.shape());
    const std::int64_t step = pooler.inner;
    pooler.result(x.data(), y.data(), ctx.request() == Request::add, [&](const E* in, const detail::CutWindow& cut) {
      const E* const change = tangent.data() + (in - x.data());
      E most = -std::numeric_limits<E>::infinity(), of_most = 0;
      double total = 0;
      detail::each_element(pooler.windows, cut, [&](std::int64_t at) {
        if (in[at * step] > most) most = in[at * step], of_most = change[at * step];
        total += static_cast<double>(change[at * step]);
      });
      if (pool_type == Pooling::max) return of_most;
      return static_cast<E>(pool_type == Pooling::avg && cut.counted != 0 ? total / cut.counted : total);
    });
  }
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

  constexpr void infer_shape(Shapes& s) const {
    if (pool_type == Pooling::lp) s.fail("pool_type is lp, expected max, avg or sum");
    s.set_out(0, s.in(1));
    s.set_in(1, s.out(0));
    detail::expect_made_by(tangent().of(), s, 0, {1});
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> dy, View<const E> x, View<E> dx) const {
    tangent().of().grad<E>(ctx, {dy}, {x}, {dx});
  }
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
template <class Node>
std::vector<Node> Pooling::gradient_again(std::span<const Node> heads, std::span<const Node> in) const {
  if (power() != 1) fail("pooling: the gradient of pool_type lp with p_value ", power(), " has no gradient");
  PoolingTangent params = detail::pooling_as<PoolingTangent>(*this);
  if (pool_type == lp) params.pool_type = sum;
  return {pooling_tangent(heads[0], in[1], params)};
}

using PoolingOps = OpList<Pooling, PoolingTangent, PoolingGradient>;

}  // namespace strop::inline v0
