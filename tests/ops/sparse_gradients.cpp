// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients in sparse buffers: those of the dense computation, in CSR at the stored places, without a dense array on
/// the way.
#include <strop/strop.hpp>
#include <strop/verify.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

using namespace strop;

namespace {

using Values = std::vector<double>;
using Function = std::function<NDArray(const std::vector<NDArray>&)>;

/// Which elements are stored.
Values places(const NDArray& a) {
  const NDArray ones = a.copy();
  for (std::int64_t k = 0; k < ones.data().size(); ++k) ones.data().pointer<float>()[k] = 1;
  Values there = ones.to_vector<double>();
  for (double& place : there) place = place != 0 ? 1 : 0;
  return there;
}

/// Gradients of f at x, in buffers of the storages of x, equal those of dense arrays, in CSR where x stores something.
/// Without a sum the head is one everywhere.
void check_gradients(std::string_view name, const std::vector<NDArray>& x, const Function& f,
                     Fallback copies = Fallback::error) {
  CAPTURE(name);
  for (const bool summed : {true, false}) {
    std::vector<NDArray> whole;
    for (const NDArray& a : x) {
      whole.push_back(a.to(dense).copy());
      whole.back().attach_grad();
      a.attach_grad();
    }
    const Fallback before = set_fallback(copies);
    for (const bool stored : {false, true}) {
      record scope;
      const NDArray y = f(stored ? x : whole);
      (summed ? sum(y) : y).backward();
    }
    set_fallback(before);
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(i);
      Values wanted = whole[i].grad().to_vector<double>();
      if (x[i].storage() == csr) {
        const Values there = places(x[i]);
        for (std::size_t e = 0; e < wanted.size(); ++e) wanted[e] *= there[e];
      }
      if (x[i].storage() != dense) x[i].grad().check_format();
      const Values got = x[i].grad().to_vector<double>();
      CHECK(x[i].grad().storage() == x[i].storage());
      REQUIRE(got.size() == wanted.size());
      for (std::size_t e = 0; e < got.size(); ++e) CHECK(got[e] == doctest::Approx(wanted[e]).epsilon(1e-5));
    }
  }
}

const NDArray& matrix() {
  static const NDArray a = array({{0, 2, 0, -1}, {0, 0, 0, 0}, {3, 0, 4, 0}});
  return a;
}
const NDArray& other() {
  static const NDArray a = array({{0, 5, 6, 0}, {1, 0, 0, 0}, {7, 0, 0, 8}});
  return a;
}
/// Columns out of order, one of them twice, and a stored zero.
NDArray untidy() { return csr_matrix({1, 2, 3, 0, 5}, {2, 0, 2, 1, 3}, {0, 3, 3, 5}, {3, 4}); }

}  // namespace

TEST_CASE("what moves or adds stored values hands gradients on at their places") {
  for (const NDArray& x : {matrix().to(csr), untidy()}) {
    const NDArray y = other().to(csr);
    check_gradients("slice", {x}, [](const auto& in) { return slice(in[0], {.begin = {0, 1}, .end = {2, 4}}); });
    check_gradients("slice of rows", {x}, [](const auto& in) {
      return square(slice(square(in[0]), {.begin = {-2}, .end = {std::nullopt}}));
    });
    check_gradients("an empty slice", {x}, [](const auto& in) { return slice(in[0], {.begin = {2}, .end = {2}}); });
    check_gradients("take", {x}, [](const auto& in) { return square(take(in[0], array({2, 0, 2, 9}))); });
    check_gradients("take nothing", {x}, [](const auto& in) { return take(in[0], zeros({0})); });
    check_gradients("take round", {x},
                    [](const auto& in) { return square(take(in[0], array({-1, 3}), {.mode = Take::wrap})); });
    check_gradients("concat", {x, y}, [](const auto& in) { return square(concat({in[0], in[1], in[0]}, {.dim = 0})); });
    check_gradients("add_n", {x, y}, [](const auto& in) { return square(add_n({in[0], in[1], in[0]})); });
    check_gradients("minus", {x, y}, [](const auto& in) { return square(in[0] - in[1]) - in[0]; });
    check_gradients("cast", {x}, [](const auto& in) { return square(in[0].to(f64)); });
    check_gradients("a product", {x, y},
                    [](const auto& in) { return square(dot(in[0], in[1], {.transpose_b = true})); });
    check_gradients("two ways", {x}, [](const auto& in) {
      const NDArray twice = in[0] * 2;
      return slice(twice, {.begin = {0}, .end = {2}}) - slice(square(twice), {.begin = {1}, .end = {3}});
    });
  }
  const NDArray x = matrix().to(row_sparse), y = other().to(row_sparse);
  check_gradients("rows", {x, y}, [](const auto& in) { return square(add_n({in[0], in[1], in[0]})) - in[1]; });
}

TEST_CASE("where a gradient is wanted dense, or by a dense array, it is whole") {
  const Fallback before = set_fallback(Fallback::silent);
  const NDArray x = matrix().to(csr);
  x.attach_grad(GradRequest::write, dense);
  {
    record scope;
    sum(slice(x, {.begin = {0, 1}, .end = {2, 4}})).backward();
  }
  CHECK(x.grad().to_vector<double>() == Values{0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0});
  const NDArray d = matrix().copy();
  d.attach_grad();
  {
    record scope;
    d.to(csr).backward();
  }
  CHECK(d.grad().to_vector<double>() == Values(12, 1));
  set_fallback(before);
}

TEST_CASE("a head of other places is read at those of the leaf") {
  const NDArray x = matrix().to(csr);
  x.attach_grad();
  {
    record scope;
    slice(x, {.begin = {0, 1}, .end = {2, 3}}).backward(array({{7, 3}, {4, 0}}).to(csr));
  }
  x.grad().check_format();
  CHECK(x.grad().nnz() == 4);
  CHECK(x.grad().to_vector<double>() == Values{0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("a dense operand that is broadcast beside a sparse one has the sum over stored values for its gradient") {
  const NDArray row = array({{1, 2, 3, 4}}), column = array({{1}, {2}, {3}}), vector = array({1, 2, 3, 4});
  for (const NDArray& x : {matrix().to(csr), untidy(), matrix().to(row_sparse)}) {
    // In a row_sparse buffer the gradient of x has every row, and a dense copy of x is read for the other one.
    const Fallback copies = x.storage() == csr ? Fallback::error : Fallback::silent;
    check_gradients("x row", {x, row}, [](const auto& in) { return broadcast_mul(in[0], in[1]); }, copies);
    check_gradients("row x", {row, x}, [](const auto& in) { return square(broadcast_mul(in[0], in[1])); });
    check_gradients("x column", {x, column}, [](const auto& in) { return square(in[0] * in[1]); });
    check_gradients("x vector", {x, vector}, [](const auto& in) { return in[0] * in[1]; }, copies);
    check_gradients("x number", {x, array({3})}, [](const auto& in) { return square(in[0] * in[1]); });
    check_gradients("x matrix", {x, matrix() + 1}, [](const auto& in) { return square(in[0] * in[1]); });
    check_gradients("x by column", {x, column}, [](const auto& in) { return in[0] / in[1]; }, copies);
    check_gradients(
        "three", {x, row, column},
        [](const auto& in) {
          return strop::map([](auto a, auto b, auto c) { return a * b * c; }, in[0], in[1], in[2]);
        },
        copies);
  }
}

TEST_CASE("reductions of sparse arrays, and their gradients at the stored places") {
  const std::vector<Axes> all_axes = {Axes{}, Axes{{0}}, Axes{{1}}, Axes{{-2}}, Axes{{0, 1}}};
  for (const NDArray& x : {matrix().to(csr), untidy(), matrix().to(row_sparse), other().to(row_sparse),
                           zeros({3, 4}, csr), zeros({3, 4}, row_sparse), (matrix() * 0 - 1).to(csr)})
    for (const Axes& axis : all_axes)
      for (const bool keepdims : {false, true}) {
        CAPTURE(keepdims);
        check_gradients("sum", {x},
                        [&](const auto& in) { return square(sum(in[0], {.axis = axis, .keepdims = keepdims})); });
        check_gradients("mean", {x},
                        [&](const auto& in) { return square(mean(in[0], {.axis = axis, .keepdims = keepdims})); });
        check_gradients("max", {x},
                        [&](const auto& in) { return max(in[0], {.axis = axis, .keepdims = keepdims}) * 3; });
        check_gradients("min", {x},
                        [&](const auto& in) { return min(in[0], {.axis = axis, .keepdims = keepdims}) * 3; });
        check_gradients("norm", {x},
                        [&](const auto& in) { return norm(in[0], {.axis = axis, .keepdims = keepdims}) * 3; });
        check_gradients("norm 1", {x},
                        [&](const auto& in) { return norm(in[0], {.ord = 1, .axis = axis, .keepdims = keepdims}); });
        check_gradients("wide norm", {x},
                        [&](const auto& in) { return norm(in[0], {.axis = axis, .out_dtype = f64}); });
      }
  const NDArray cube = array({1, 2, 0, 0, 3, -4, 0, 0, 0, 0, 0, 0}).reshape({3, 2, 2}).to(row_sparse);
  for (const Axes& axis : {Axes{}, Axes{{0}}, Axes{{1}}, Axes{{0, 2}}, Axes{{1, 2}}}) {
    check_gradients("sum", {cube}, [&](const auto& in) { return square(sum(in[0], {.axis = axis})); });
    check_gradients("max", {cube}, [&](const auto& in) { return square(max(in[0], {.axis = axis})); });
    check_gradients("norm", {cube}, [&](const auto& in) { return square(norm(in[0], {.axis = axis})); });
    check_gradients("sum of the others", {cube}, [&](const auto& in) {
      return square(sum(in[0], {.axis = axis, .exclude = axis.list.has_value()}));
    });
  }
}

TEST_CASE("the choice between csr arrays by one is csr") {
  const NDArray chosen = array({{1, 0, -1, 1}, {0, 1, 0, 0}, {0, 0, 2, 3}});
  for (const NDArray& x : {matrix().to(csr), untidy()}) {
    check_gradients("where", {x, other().to(csr)},
                    [&](const auto& in) { return square(where(chosen.to(in[0].storage()), in[0], in[1])); });
    const NDArray y = where(chosen.to(csr), x, other().to(csr));
    CHECK(y.storage() == csr);
    y.check_format();
    CHECK(allclose(y, where(chosen, x.to(dense), other())));
  }
}

TEST_CASE("a gradient that an operator states counts where its result is zero and nothing is stored as well") {
  const NDArray x = array({{1.5, 2}, {3, 4}}), y = array({{0, 2}, {0, 3}}).to(csr);
  CHECK(elemwise_mod(x, y).storage() == csr);
  check_gradients("elemwise_mod", {x, y}, [](const std::vector<NDArray>& a) { return elemwise_mod(a[0], a[1]); });
  CHECK(x.grad().to_vector<double>() == Values{1, 1, 1, 1});
}

TEST_CASE(
    "heads that are stored as the leaf is reach it without a dense copy, also where the slope at zero is infinite") {
  const NDArray head = array({{0, 0.5, 0, -1}, {0, 0, 0, 0}, {0, 0, 2, 3}}), x = strop::abs(matrix()) / 8;
  for (const std::string_view op : {"sqrt", "cbrt", "rsqrt", "rcbrt", "reciprocal", "log", "log2", "log10", "log1p",
                                    "gamma", "gammaln", "sin", "arccos", "arctanh", "square", "abs"})
    for (const Storage storage : {csr, row_sparse})
      for (const Storage buffer : {storage, dense}) {
        const NDArray a = x.to(storage).copy(), whole = x.copy();
        a.attach_grad(GradRequest::write, buffer);
        whole.attach_grad();
        const auto backward = [&](const NDArray& in, const NDArray& from) {
          const verify::QuietFallbacks quiet;  // log and its like are not zero where nothing is stored
          NDArray y;
          {
            record scope;
            y = invoke(op, {in});
          }
          set_fallback(Fallback::error);
          y.backward(from);
        };
        backward(whole, head);
        backward(a, head.to(storage));
        CAPTURE(op);
        CHECK(a.grad().storage() == buffer);
        const Values got = a.grad().to_vector<double>(), slopes = whole.grad().to_vector<double>(), there = places(a);
        for (std::size_t e = 0; e < got.size(); ++e) {
          if (there[e] == 0 && buffer == csr)
            CHECK(got[e] == 0);
          else if (std::isfinite(slopes[e]))
            CHECK(got[e] == doctest::Approx(slopes[e]).epsilon(1e-5));
          else
            CHECK((got[e] == slopes[e] || std::isnan(slopes[e])));  // 0 · ∞ of a dense head
        }
      }
}

TEST_CASE("dense buffers of two sparse arrays take gradients of a map of both without dense copies") {
  const verify::QuietFallbacks quiet;
  for (const std::string_view op : {"elemwise_mul", "elemwise_div", "_power", "_hypot", "_maximum", "elemwise_sub"})
    for (const Storage storage : {csr, row_sparse})
      for (const Storage second : {dense, storage}) {
        const std::vector<NDArray> x{matrix().to(storage), other().to(storage)}, whole{matrix().copy(), other().copy()};
        for (const NDArray& a : whole) a.attach_grad();
        x[0].attach_grad(GradRequest::write, dense);
        x[1].attach_grad(GradRequest::write, second);
        set_fallback(Fallback::error);
        for (const bool stored : {false, true}) {
          record scope;
          const NDArray y = invoke(op, stored ? x : whole, Attributes{});
          y.backward(matrix() + 2);
        }
        CAPTURE(op);
        for (std::size_t i = 0; i < 2; ++i) {
          const Values got = x[i].grad().to_vector<double>(), there = places(x[i]);
          Values wanted = whole[i].grad().to_vector<double>();
          for (std::size_t e = 0; e < got.size(); ++e) {
            if (i == 1 && second == csr && there[e] == 0) wanted[e] = 0;
            if (std::isfinite(wanted[e]))
              CHECK(got[e] == doctest::Approx(wanted[e]).epsilon(1e-5));
            else
              CHECK((got[e] == wanted[e] || std::isnan(wanted[e])));
          }
        }
      }
}

TEST_CASE("a head gradient may be stored otherwise than the arrays that it belongs to") {
  const NDArray x = row_sparse_array({{1, 2, 3}, {4, 5, 6}}, {0, 3}, {4, 3});
  const NDArray head = array({{7, 0, 8}, {0, 9, 0}, {1, 0, 0}, {0, 0, 5}});
  for (const Storage storage : {csr, row_sparse}) {
    x.attach_grad();
    {
      record scope;
      add_n({x, x.copy()}).backward(head.to(storage));
    }
    CHECK(x.grad().storage() == row_sparse);
    CHECK(x.grad().to_vector<double>() == head.to_vector<double>());
  }
}
