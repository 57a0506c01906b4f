// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements and blocks by the coordinates of several axes: gather_nd, scatter_nd, _scatter_set_nd, ravel and unravel.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/index/kernels.hpp>
#include <strop/ops/list.hpp>

#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// indices[m, …] is the coordinate along axis m: the shape of what is gathered from an array of shape `of`.
template <int = 0>
constexpr Shape gathered_shape(const Shape& of, const Shape& indices, std::string_view op) {
  if (indices.ndim() == 0 || indices[0] < 1 || indices[0] > of.ndim())
    fail(op, ": input 'indices' has shape ", indices, ", expected a first extent from 1 to ", of.ndim(),
         ", the coordinates of an array of shape ", of);
  Shape out;
  for (int i = 1; i < indices.ndim(); ++i) out.push_back(indices[i]);
  for (int i = static_cast<int>(indices[0]); i < of.ndim(); ++i) out.push_back(of[i]);
  if (out.ndim() == 0) out.push_back(1);
  return out;
}

}  // namespace detail

/// gather_nd: indices[m, …] is the coordinate along axis m of `data`: y[…] = data[indices[0, …], indices[1, …], …].
///
/// Shape: that of `indices` without its first axis, then the axes of `data` that no coordinate names. All types;
/// coordinates of floating types truncate, negative ones count from the end. The gradient adds up where elements came
/// from. Error: a coordinate outside. Example: `gather_nd(array({{0, 1}, {2, 3}}), array({{1, 0}, {0, 1}}))` is [2, 1].
struct GatherNd {
  static constexpr std::string_view name = "gather_nd", aliases[] = {"_npi_gather_nd", "_npx_gather_nd"},
                                    inputs[] = {"data", "indices"};
  static constexpr const char* doc =
      "y[...] = data[indices[0, ...], indices[1, ...], ...]; coordinates outside are refused.";
  static constexpr std::string_view gradient_reads[] = {"indices"};
  constexpr void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank() && s.in(1).has_rank() && (s.in(1).ndim() == 0 || s.in(1)[0] >= 0))
      s.set_out(0, detail::gathered_shape(s.in(0), s.in(1), s.op()));
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  void forward(Cpu&, const NDArray& x, const NDArray& indices, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x, const auto& indices) const;
};

/// Internal.
struct GatherNdGradient {
  static constexpr std::string_view name = "_backward_gather_nd", inputs[] = {"data", "indices", "like"};
  static constexpr const char* doc = "data added up in zeros of the shape of like, where gather_nd found it.";
  static constexpr std::string_view gradient_reads[] = {"indices"};
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(2));
    detail::expect_made_by(GatherNd{}, s, 0, {2, 1});
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  template <detail::Addable E>
  void forward(Cpu&, const NDArray& dy, const NDArray& indices, const NDArray&, NDArray& dx) const;
  auto gradient(const auto& ddx, const auto& dy, const auto& indices, const auto& like) const;
};

/// scatter_nd: `data` put at coordinates `indices` of an array of zeros of `shape`; the last of equal coordinates
/// stays. `data` has the shape that gather_nd would give. All types. The gradient is gather_nd of the head gradient.
/// Error: a coordinate outside, more coordinates than axes. `scatter_nd(array({5, 6}), array({{1, 0}}), {.shape =
/// {3}})` is [6, 5, 0].
struct ScatterNd {
  Required<Shape> shape = {};
  static constexpr std::string_view name = "scatter_nd", inputs[] = {"data", "indices"};
  static constexpr const char* doc =
      "data put at the coordinates indices of an array of zeros of the given shape; the last of equal coordinates "
      "stays.";
  static constexpr Note notes[] = {{"shape", "the shape of the result"}};
  static constexpr std::string_view gradient_reads[] = {"indices"};
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, *shape);
    if (s.in(1).known() && (*shape).known()) s.set_in(0, detail::gathered_shape(*shape, s.in(1), s.op()));
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  void forward(Cpu&, const NDArray& x, const NDArray& indices, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x, const auto& indices) const;
};

/// _scatter_set_nd: `lhs` with `rhs` put at coordinates `indices`. Without a gradient. Error: a coordinate outside,
/// shapes that do not agree.
struct ScatterSetNd {
  Required<Shape> shape = {};
  static constexpr std::string_view name = "_scatter_set_nd", aliases[] = {"scatter_set_nd", "_npi_scatter_set_nd"},
                                    inputs[] = {"lhs", "rhs", "indices"};
  static constexpr const char* doc = "lhs with rhs put at the coordinates indices; shape is that of lhs.";
  static constexpr Note notes[] = {{"shape", "the shape of lhs and of the result"}};
  static constexpr Share inplace[] = {{0, 0}};
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_in(0, *shape);
    s.set_out(0, *shape);
    if (s.in(2).known() && (*shape).known()) s.set_in(1, detail::gathered_shape(*shape, s.in(2), s.op()));
  }
  constexpr void infer_type(Types& t) const {
    detail::type_of_first(t);
    t.set_in(1, t.in(0));
  }
  void forward(Cpu&, const NDArray& lhs, const NDArray& rhs, const NDArray& indices, NDArray& y) const;
};

/// _ravel_multi_index: coordinates data[m, …] in an array of `shape` as positions in row-major order. The first extent
/// of `shape` takes no part, so that it may be −1.
/// Shape: that of `data` without its first axis. Error: another number of coordinates than `shape` has axes, a position
/// that 64 bits, or the type of data, do not hold exactly.
struct RavelMultiIndex {
  Shape shape = {};
  static constexpr std::string_view name = "_ravel_multi_index", aliases[] = {"ravel_multi_index"};
  static constexpr const char* doc =
      "Coordinates data[m, ...] in an array of the given shape as positions in row-major order.";
  static constexpr Note notes[] = {
      {"shape", "the shape of the array that the coordinates are of; the first extent takes no part"}};
  static constexpr bool zero_gradient = true;
  static constexpr DtypeSet dtypes = floating | integral;  // a bool holds no position but 0 and 1
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (!s.in(0).has_rank()) return;
    if (s.in(0).ndim() == 0 || (s.in(0)[0] >= 0 && s.in(0)[0] != shape.ndim()))
      s.fail(s.name_in(0), " has shape ", s.in(0), ", expected a first extent of ", shape.ndim(),
             ", one per axis of shape = ", shape);
    Shape out = s.in(0);
    out.erase(0);
    if (out.ndim() == 0) out.push_back(1);
    s.set_out(0, out);
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
};

/// _unravel_index: positions in row-major order in an array of `shape` as coordinates y[m, …].
/// Shape: an axis of as many coordinates before those of `data`. Error: `shape` has no position.
struct UnravelIndex {
  Shape shape = {};
  static constexpr std::string_view name = "_unravel_index", aliases[] = {"unravel_index"};
  static constexpr const char* doc =
      "Positions in row-major order in an array of the given shape as coordinates y[m, ...].";
  static constexpr Note notes[] = {
      {"shape", "the shape of the array that the positions are of; the first extent takes no part"}};
  static constexpr bool zero_gradient = true;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    for (int m = 1; m < shape.ndim(); ++m)
      if (shape[m] < 1) s.fail("shape = ", detail::print_shape(shape), " has no positions");
    if (!s.in(0).has_rank()) return;
    Shape out = s.in(0);
    out.insert(0, shape.ndim());
    s.set_out(0, out);
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
};

inline constexpr Op<GatherNd, OnUse> gather_nd;
inline constexpr Op<GatherNdGradient, OnUse> gather_nd_gradient;
inline constexpr Op<ScatterNd, OnUse> scatter_nd;
inline constexpr Op<ScatterSetNd, OnUse> scatter_set_nd;
inline constexpr Op<RavelMultiIndex, OnUse> ravel_multi_index;
inline constexpr Op<UnravelIndex, OnUse> unravel_index;

// Coordinates and inputs that only lend their shape get no gradient.
auto GatherNd::gradient(const auto& dy, const auto& x, const auto& indices) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{gather_nd_gradient(dy, indices, x)};
}
auto GatherNdGradient::gradient(const auto& ddx, const auto&, const auto& indices, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(ddx)>>{gather_nd(ddx, indices)};
}
auto ScatterNd::gradient(const auto& dy, const auto&, const auto& indices) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{gather_nd(dy, indices)};
}

using GatherOps = OpList<GatherNd, GatherNdGradient, ScatterNd, ScatterSetNd, RavelMultiIndex, UnravelIndex>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/index/gather_body.hpp>
#endif
