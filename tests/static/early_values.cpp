// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values and gradients of tensor operators that the compiler computes: of made-up ones in every form of a member, and
/// of those of the library whose kernels it can run. Compiling is passing.
#include <strop/op/check_tensors.hpp>
#include <strop/ops/elementwise/contrib.hpp>
#include <strop/ops/elementwise/exponential.hpp>
#include <strop/ops/index/index_copy.hpp>
#include <strop/ops/linalg/diagonals.hpp>
#include <strop/ops/vision/images.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace {

using strop::Cpu, strop::DenseResult, strop::Grad, strop::Head, strop::In, strop::Out, strop::Real, strop::Shapes,
    strop::View;
using strop::check::close, strop::check::differentiates, strop::check::gradient, strop::check::heads,
    strop::check::tensor, strop::check::value;

// --- made-up ones ----------------------------------------------------------------------------------------------------

/// Temporary space, a parallel loop, a function, the output kept.
struct RowSoftmax {
  float temperature = 1;
  template <Real E>
  constexpr void forward(Cpu& ctx, View<const E, 2> x, View<E, 2> y) const {
    const std::int64_t n = x.shape()[1];
    strop::parallel_for(x.shape()[0], 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto e = ctx.temp<E>(n);
        E sum = 0;
        for (std::int64_t j = 0; j < n; ++j) sum += e[j] = strop::exp(x(i, j) / E(temperature));
        for (std::int64_t j = 0; j < n; ++j) y(i, j) = e[j] / sum;
      }
    });
  }
  template <Real E>
  constexpr void grad_use_out(Cpu&, View<const E, 2> dy, View<const E, 2> y, View<E, 2> dx) const {
    for (std::int64_t i = 0; i < y.shape()[0]; ++i) {
      E sum = 0;
      for (std::int64_t j = 0; j < y.shape()[1]; ++j) sum += dy(i, j) * y(i, j);
      for (std::int64_t j = 0; j < y.shape()[1]; ++j) dx(i, j) = y(i, j) * (dy(i, j) - sum) / E(temperature);
    }
  }
};
static_assert(close(value(RowSoftmax{}, tensor({{0, 0}, {3, 3}})), tensor({{0.5, 0.5}, {0.5, 0.5}})));
static_assert(!close(value(RowSoftmax{}, tensor({{0, 1}})), tensor({{0.5, 0.5}})));
static_assert(differentiates(RowSoftmax{2}, tensor({{1, 2, 3}, {0, -1, 5}})));

/// Arrays and temporary space of any rank.
struct Reversed {
  template <Real E>
  constexpr void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    const View<E> kept = ctx.temp<E>(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) kept[i] = x[x.size() - 1 - i];
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = kept[i];
  }
  static constexpr bool zero_gradient = true;
};
static_assert(value(Reversed{}, tensor({{1, 2}, {3, 4}})) == tensor({{4, 3}, {2, 1}}));
static_assert(gradient(Reversed{}, tensor({{1, 2}})) == tensor({{0, 0}}));

/// A wrong gradient is one.
struct Wrong {
  template <Real E>
  constexpr void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] * x[i];
  }
  template <Real E>
  constexpr void grad_use_in(Cpu&, View<const E> dy, View<const E> x, View<E> dx) const {
    for (std::int64_t i = 0; i < x.size(); ++i) dx[i] = dy[i] * x[i];
  }
};
static_assert(value(Wrong{}, tensor({{{1, 2}}, {{3, 4}}})) == tensor({{{1, 4}}, {{9, 16}}}));
static_assert(!differentiates(Wrong{}, tensor({1, 2})));

/// Positions beside values, tagged tensors, an inferred shape.
struct SquaredRows {
  static constexpr std::string_view inputs[] = {"data", "rows"};
  constexpr void infer_shape(Shapes& s) const { s.set_out(0, {s.in(1)[0], s.in(0)[1]}); }
  template <Real E>
  constexpr void forward(Cpu&, View<const E, 2> x, View<const std::int32_t, 1> rows, View<E, 2> y) const {
    for (std::int64_t i = 0; i < y.shape()[0]; ++i)
      for (std::int64_t j = 0; j < y.shape()[1]; ++j) y(i, j) = x(rows[i], j) * x(rows[i], j);
  }
  template <Real E>
  constexpr void grad(Cpu&, Head<"output", View<const E, 2>> dy, In<"data", View<const E, 2>> x,
                      In<"rows", View<const std::int32_t, 1>> rows, Grad<"data", View<E, 2>> dx) const {
    for (E& e : dx) e = 0;
    for (std::int64_t i = 0; i < dy.shape()[0]; ++i)
      for (std::int64_t j = 0; j < dy.shape()[1]; ++j) dx(rows[i], j) += 2 * dy(i, j) * x(rows[i], j);
  }
};
static_assert(value(SquaredRows{}, tensor({{1, 2}, {3, 4}}), tensor({1, 1, 0})) == tensor({{9, 16}, {9, 16}, {1, 4}}));
static_assert(gradient(SquaredRows{}, tensor({{1, 2}, {3, 4}}), tensor({1, 1, 0}))[0] == tensor({{2, 4}, {12, 16}}));
static_assert(differentiates(SquaredRows{}, tensor({{1, 2}, {3, 4}}), tensor({1, 1, 0})));

/// Two outputs of which one is found, and one of another type.
struct Positive {
  static constexpr std::string_view outputs[] = {"values", "count"};
  constexpr void infer_shape(Shapes& s) const { s.set_out(1, {1}); }
  template <Real E>
  constexpr void forward(Cpu&, View<const E, 1> x, DenseResult<E, 1>& found, View<std::int64_t, 1> count) const {
    count[0] = 0;
    for (const E e : x) count[0] += e > 0 ? 1 : 0;
    E* to = found.allocate({count[0]}).data();
    for (const E e : x)
      if (e > 0) *to++ = e;
  }
};
static_assert(value(Positive{}, tensor({1, -2, 3}))[0] == tensor({1, 3}));
static_assert(value(Positive{}, tensor({1, -2, 3}))[1] == tensor({2}));
static_assert(value(Positive{}, tensor({-1}))[0].size() == 0);

/// What several inputs and the output give.
struct Product {
  template <Real E>
  constexpr void forward(Cpu&, View<const E, 1> a, View<const E, 1> b, View<E, 1> y) const {
    for (std::int64_t i = 0; i < a.size(); ++i) y[i] = a[i] * b[i];
  }
  template <Real E>
  constexpr void grad_use_in_out(Cpu&, View<const E, 1> dy, View<const E, 1> a, View<const E, 1>, View<const E, 1> y,
                                 View<E, 1> da, View<E, 1> db) const {
    for (std::int64_t i = 0; i < a.size(); ++i) da[i] = dy[i] * y[i] / a[i], db[i] = dy[i] * a[i];
  }
};
static_assert(gradient(Product{}, heads(tensor({1, 2})), tensor({3, 4}), tensor({5, 6}))[0] == tensor({5, 12}));
static_assert(gradient(Product{}, heads(tensor({1, 2})), tensor({3, 4}), tensor({5, 6}))[1] == tensor({3, 8}));
static_assert(differentiates(Product{}, tensor({3, 4}), tensor({5, 6})));

// --- the library's ---------------------------------------------------------------------------------------------------

static_assert(value(strop::DivSqrtDim{}, tensor({{2, 4, 6, 8}})) == tensor({{1, 2, 3, 4}}) &&
              differentiates(strop::DivSqrtDim{}, tensor({{2, 4}})));
static_assert(value(strop::BooleanMask{}, tensor({{1, 2}, {3, 4}, {5, 6}}), tensor({1, 0, -2})) ==
                  tensor({{1, 2}, {5, 6}}) &&
              gradient(strop::BooleanMask{}, tensor({{1, 2}, {3, 4}, {5, 6}}), tensor({1, 0, -2}))[0] ==
                  tensor({{1, 1}, {0, 0}, {1, 1}}) &&
              value(strop::BooleanMask{}, tensor({{1, 2}}), tensor({0})).shape() == std::vector<std::int64_t>{0, 2});
static_assert(value(strop::LinalgExtractdiag{.offset = 1}, tensor({{1, 2}, {3, 4}})) == tensor({2}));
static_assert(value(strop::LinalgMakediag{}, tensor({5, 6})) == tensor({{5, 0}, {0, 6}}));
static_assert(value(strop::LinalgExtracttrian{}, tensor({{1, 2}, {3, 4}})) == tensor({1, 3, 4}));
static_assert(value(strop::LinalgMaketrian{}, tensor({1, 3, 4})) == tensor({{1, 0}, {3, 4}}));
static_assert(value(strop::LinalgSumlogdiag{}, tensor({{1, 9}, {9, 1}})) == tensor({0}) &&
              differentiates(strop::LinalgSumlogdiag{}, tensor({{2, 1}, {1, 3}})));
static_assert(value(strop::ImageToTensor{}, tensor({{{255, 0}, {51, 102}}})) ==
              tensor({{{1, 0.20000000298023224}}, {{0, 0.4000000059604645}}}));
static_assert(value(strop::ImageNormalize{.mean = {1}, .std = {0.5}}, tensor({{{1, 2}}})) == tensor({{{0, 2}}}) &&
              differentiates(strop::ImageNormalize{.mean = {1}, .std = {0.5}}, tensor({{{1, 2}}})));

}  // namespace
