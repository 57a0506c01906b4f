// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

#include <cmath>

using namespace ops_test;
using strop::array;
using strop::BatchDot;
using strop::csr;
using strop::dense;
using strop::Dot;
using strop::f16;
using strop::f64;
using strop::row_sparse;
using Numbers = std::vector<double>;

namespace {
NDArray count(std::int64_t n, const Shape& shape) { return strop::arange(0, n).reshape(shape); }
NDArray c() { return array({{0, 1, 0}, {2, 0, 3}}).to(csr); }
}  // namespace

TEST_CASE("dot as MXNet does it") {
  const NDArray a = count(6, {2, 3}), b = count(12, {3, 4}), v = count(3, {3});
  check_values(subject(strop::dot, {a, b}), {20, 23, 26, 29, 56, 68, 80, 92});
  CHECK(strop::dot(v, v).shape() == Shape{1});
  check_values(subject(strop::dot, {v, v}), {5});
  check_values(subject(strop::dot, {v, b}), {20, 23, 26, 29});
  check_values(subject(strop::dot, {v, b}, Dot{.transpose_a = true}), {20, 23, 26, 29});
  check_values(subject(strop::dot, {a, v}), {5, 14});
  const NDArray wide = strop::dot(count(24, {2, 3, 4}), count(8, {4, 2}));
  CHECK(wide.shape() == Shape{2, 3, 2});
  CHECK(values(wide) == Numbers{28, 34, 76, 98, 124, 162, 172, 226, 220, 290, 268, 354});
  const NDArray first = strop::dot(count(24, {2, 3, 4}), count(6, {2, 3}), {.transpose_a = true});
  CHECK(first.shape() == Shape{3, 4, 3});
  CHECK(values(first[0]) == Numbers{36, 48, 60, 39, 53, 67, 42, 58, 74, 45, 63, 81});
  const NDArray last = strop::dot(count(24, {4, 2, 3}), count(12, {2, 2, 3}), {.transpose_b = true});
  CHECK(last.shape() == Shape{4, 2, 2, 2});
  CHECK(values(last[3]) == Numbers{59, 230, 401, 572, 68, 266, 464, 662});
}

TEST_CASE("dot in every way") {
  const Subject s = subject(strop::dot, {count(6, {2, 3}), count(12, {3, 4})});
  check_dtypes(s);
  check_refused_dtypes(s);
  check_requests(s);
  check_views(s);
  check_sparse(s);
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      const Dot p{.transpose_a = a, .transpose_b = b};
      check_gradient(
          subject(strop::dot, {count(12, a ? Shape{4, 3} : Shape{3, 4}), count(20, b ? Shape{5, 4} : Shape{4, 5})}, p));
      check_gradient(
          subject(strop::dot,
                  {count(24, a ? Shape{4, 3, 2} : Shape{3, 2, 4}), count(40, b ? Shape{5, 2, 4} : Shape{4, 5, 2})}, p));
      check_sparse(
          subject(strop::dot, {count(12, a ? Shape{4, 3} : Shape{3, 4}), count(20, b ? Shape{5, 4} : Shape{4, 5})}, p));
    }
  check_gradient(subject(strop::dot, {count(3, {3}), count(3, {3})}));
  check_gradient(subject(strop::dot, {count(3, {3}), count(6, {3, 2})}));
  check_gradient(subject(strop::dot, {count(6, {2, 3}), count(3, {3})}));
}

TEST_CASE("dot of nothing") {
  CHECK(strop::dot(strop::zeros({0, 3}), strop::zeros({3, 4})).shape() == Shape{0, 4});
  CHECK(values(strop::dot(strop::zeros({2, 0}), strop::zeros({0, 2}))) == Numbers{0, 0, 0, 0});
  CHECK(values(strop::dot(strop::zeros({2, 3}, csr), strop::ones({3, 1}))) == Numbers{0, 0});
  const NDArray none = strop::dot(strop::zeros({2, 3}, csr), strop::ones({2, 4}), {.transpose_a = true});
  CHECK(none.storage() == row_sparse);
  CHECK(none.nnz() == 0);
  none.check_format();
}

TEST_CASE("dot with a CSR factor") {
  const NDArray a = count(6, {2, 3}), b = count(12, {3, 4});
  CHECK(values(strop::dot(c(), b)) == Numbers{4, 5, 6, 7, 24, 29, 34, 39});
  CHECK(values(strop::dot(c(), count(3, {3}))) == Numbers{1, 6});

  const NDArray rows = strop::dot(c(), a, {.transpose_a = true});
  CHECK(rows.storage() == row_sparse);
  rows.check_format();
  CHECK(values(rows) == Numbers{6, 8, 10, 0, 1, 2, 9, 12, 15});
  CHECK(strop::dot(c(), a, {.transpose_a = true, .forward_stype = dense}).storage() == dense);

  const NDArray only = strop::row_sparse_array({{1, 2}}, {1}, {3, 2}),
                one = strop::row_sparse_array({{1, 2}}, {1}, {2, 2});
  CHECK(values(strop::dot(c(), only)) == Numbers{1, 2, 0, 0});
  const NDArray sparse = strop::dot(c(), one, {.transpose_a = true});
  CHECK(sparse.nnz() == 2);  // columns of the rows that meet
  CHECK(values(sparse) == Numbers{2, 4, 0, 0, 3, 6});

  const NDArray d = count(4, {2, 2}), right = array({{0, 0, 1}, {0, 0, 2}}).to(csr), y = strop::dot(d, right);
  CHECK(y.storage() == csr);
  y.check_format();
  CHECK(y.nnz() == 2);  // the columns that rhs has
  CHECK(values(y) == Numbers{0, 0, 2, 0, 0, 8});
  CHECK(strop::dot(d, right, {.forward_stype = dense}).storage() == dense);
  CHECK(values(strop::dot(count(12, {4, 3}), c(), {.transpose_b = true})) == Numbers{1, 6, 4, 21, 7, 36, 10, 51});
}

TEST_CASE("dot falls back to the storage that was asked for") {
  const QuietFallbacks quiet;
  strop::clear_fallbacks();
  const NDArray a = count(6, {2, 3}), b = count(12, {3, 4}), y = strop::dot(a, b, {.forward_stype = csr});
  CHECK(y.storage() == csr);
  CHECK(values(y) == values(strop::dot(a, b)));
  REQUIRE(strop::fallbacks().size() == 1);
  CHECK(strop::fallbacks()[0].op == "dot");
}

TEST_CASE("dot with a CSR factor has the gradient of the dense one, in the storage of its array") {
  const NDArray w = array({{1, 2}, {3, 4}, {5, 6}}), x = c();
  const auto run = [&](const Dot& p, const NDArray& lhs, const NDArray& rhs) {
    strop::record scope;
    strop::dot(lhs, rhs, p).backward();
  };
  w.attach_grad(strop::GradRequest::write, row_sparse);
  run({}, x, w);
  CHECK(w.grad().storage() == row_sparse);
  w.grad().check_format();
  CHECK(values(w.grad()) == Numbers{2, 2, 1, 1, 3, 3});
  w.attach_grad(strop::GradRequest::add);
  x.attach_grad(strop::GradRequest::write, dense);
  run({}, x, w);
  run({}, x, w);
  CHECK(values(w.grad()) == Numbers{4, 4, 2, 2, 6, 6});
  CHECK(values(x.grad()) == Numbers{3, 7, 11, 3, 7, 11});
  x.attach_grad(strop::GradRequest::write, csr);
  run({}, x, w);
  CHECK(x.grad().storage() == csr);
  CHECK(x.grad().nnz() == 3);
  CHECK(values(x.grad()) == Numbers{0, 7, 0, 3, 0, 11});

  const NDArray a = array({{1, 2, 1}, {3, 4, 1}});
  a.attach_grad();
  run({.transpose_a = true}, x, a);
  CHECK(values(a.grad()) == Numbers{1, 1, 1, 5, 5, 5});
  CHECK(values(x.grad()) == Numbers{0, 4, 0, 8, 0, 8});
  run({.transpose_b = true}, a, x);
  CHECK(values(a.grad()) == Numbers{2, 1, 3, 2, 1, 3});
  CHECK(values(x.grad()) == Numbers{0, 6, 0, 4, 0, 2});
  const NDArray square = array({{1, 2}, {3, 4}});
  square.attach_grad();
  run({.forward_stype = dense}, square, x);
  CHECK(values(square.grad()) == Numbers{1, 5, 1, 5});
  CHECK(values(x.grad()) == Numbers{0, 4, 0, 6, 0, 6});
}

namespace {

/// Three in `one_in` elements are stored, negative ones among them; f64.
NDArray scattered(std::int64_t rows, std::int64_t cols, unsigned one_in, unsigned salt) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    salt = salt * 1664525U + 1013904223U;
    v.push_back((salt >> 16) % one_in < 3 ? static_cast<double>((salt >> 8) % 9) - 4 : 0);
  }
  return array(v).reshape({rows, cols}).to(csr);
}
/// The other way round: op(a) for which `transposed` gives a back.
NDArray turned(const NDArray& a, bool transposed) { return transposed ? strop::transpose(a.to(dense)).to(csr) : a; }

}  // namespace

TEST_CASE("the product of CSR matrices is one, whatever is transposed, without a fallback") {
  for (const unsigned one_in : {3U, 6U, 60U, 100000U})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        CAPTURE(one_in);
        CAPTURE(ta);
        CAPTURE(tb);
        const NDArray a = turned(scattered(17, 23, one_in, 1), ta), b = turned(scattered(23, 11, one_in, 2), tb);
        const Dot p{.transpose_a = ta, .transpose_b = tb};
        strop::clear_fallbacks();
        const NDArray y = strop::dot(a, b, p);
        CHECK(strop::fallbacks().empty());
        CHECK(y.storage() == csr);
        y.check_format();
        const NDArray expected = strop::dot(a.to(dense), b.to(dense), p);
        CHECK(values(y) == values(expected));
        // Into a dense result as well, which comes to be or to which it is added.
        Dot into_dense = p;
        into_dense.forward_stype = dense;
        const NDArray whole = strop::dot(a, b, into_dense), sum = strop::ones({17, 11}, strop::f64);
        CHECK(whole.storage() == dense);
        CHECK(values(whole) == values(expected));
        strop::dot(a, b, into_dense, strop::add_to(sum));
        CHECK(values(sum) == values(expected + 1));
        CHECK(strop::fallbacks().empty());
      }
  // What cancels is stored, and what is written twice counts twice.
  const NDArray y = strop::dot(array({{1, 1}}).to(csr), array({{1, 2}, {-1, 0}}).to(csr));
  CHECK(y.nnz() == 2);
  CHECK(values(y) == Numbers{0, 2});
  const NDArray twice = strop::csr_matrix({1, 2, 3}, {2, 0, 2}, {0, 3}, {1, 3});
  CHECK(values(strop::dot(twice, array({{1}, {10}, {100}}).to(csr))) == Numbers{402});
  CHECK(values(strop::dot(twice, twice, {.transpose_b = true})) == Numbers{20});
  CHECK(error_of([&] { (void)strop::dot(strop::csr_matrix({1}, {7}, {0, 1}, {1, 3}), c(), {.transpose_b = true}); }) ==
        "dot: input 'lhs': indices[0] = 7 is outside 0 to 2, the columns of a row");
}

TEST_CASE("gradients of a product of CSR matrices, in their own patterns or dense") {
  const QuietFallbacks quiet;
  for (const unsigned one_in : {6U, 40U})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const Storage buffer : {csr, dense})
          for (const Storage head : {csr, dense}) {
            CAPTURE(one_in);
            CAPTURE(ta);
            CAPTURE(tb);
            CAPTURE(name_of(buffer));
            CAPTURE(name_of(head));
            const Dot p{.transpose_a = ta, .transpose_b = tb};
            const NDArray a = turned(scattered(9, 13, one_in, 3), ta), b = turned(scattered(13, 7, one_in, 4), tb),
                          x = a.to(dense).copy(), z = b.to(dense).copy(), dy = scattered(9, 7, 6, 5);
            a.attach_grad(strop::GradRequest::write, buffer);
            b.attach_grad(strop::GradRequest::add, buffer);
            x.attach_grad();
            z.attach_grad();
            strop::clear_fallbacks();
            for (int pass = 0; pass < 2; ++pass) {
              strop::record scope;
              strop::dot(a, b, p).backward(dy.to(head));
            }
            CHECK(strop::fallbacks().empty());
            {
              strop::record scope;
              strop::dot(x, z, p).backward(dy.to(dense));
            }
            const auto there = [&](const NDArray& g, const NDArray& of) {
              return values(buffer == csr ? g * (of.to(dense) != 0) : g);
            };
            CHECK(a.grad().storage() == buffer);
            a.grad().check_format();
            b.grad().check_format();
            CHECK(values(a.grad()) == there(x.grad(), a));
            CHECK(values(b.grad()) == there(z.grad() * 2, b));
            if (buffer == csr) CHECK(a.grad().nnz() == a.nnz());
          }
}

TEST_CASE("columns that are stored in any order, or twice, have a gradient that stores each once") {
  const NDArray a = strop::csr_matrix({1, 2, 3}, {2, 0, 2}, {0, 3}, {1, 3}), b = c();
  const auto run = [&](const NDArray& lhs, const NDArray& rhs, const Dot& p) {
    a.attach_grad(strop::GradRequest::write, csr);
    strop::record scope;
    strop::dot(lhs, rhs, p).backward();
  };
  run(a, b, {.transpose_b = true});  // da = sums of b's columns
  CHECK(values(a.grad().data()) == Numbers{2, 3});
  CHECK(values(a.grad().indices()) == Numbers{0, 2});
  run(a, array({{1, 2}}).to(csr), {.transpose_a = true});
  CHECK(values(a.grad().data()) == Numbers{3, 3});
  CHECK(values(a.grad().indices()) == Numbers{0, 2});
  const NDArray unsorted = strop::csr_matrix({1, 2}, {2, 0}, {0, 2}, {1, 3});
  unsorted.attach_grad(strop::GradRequest::write, csr);
  {
    strop::record scope;
    strop::dot(unsorted, b, {.transpose_b = true}).backward();
  }
  CHECK(values(unsorted.grad().data()) == Numbers{3, 2});
  CHECK(values(unsorted.grad().indices()) == Numbers{2, 0});
}

TEST_CASE("sddmm multiplies where a pattern stores something") {
  // A stored zero is a place.
  const NDArray pattern = strop::csr_matrix({5, 0, -1}, {1, 0, 2}, {0, 1, 3}, {2, 3}), a = array({{1, 2}, {3, 4}}),
                b = array({{1, 0}, {0, 1}, {1, 1}});
  const NDArray y = strop::sddmm(pattern, a, b);
  CHECK(y.storage() == csr);
  y.check_format();
  CHECK(values(y.indices()) == Numbers{1, 0, 2});
  CHECK(values(y.data()) == Numbers{2, 3, 7});
  CHECK(values(strop::sddmm(pattern.to(dense), a, b)) == Numbers{0, 2, 0, 0, 0, 7});
  a.attach_grad();
  b.attach_grad();
  pattern.attach_grad();
  {
    strop::record scope;
    strop::sddmm(pattern, a, b).backward(strop::csr_matrix({1, 10, 100}, {1, 0, 2}, {0, 1, 3}, {2, 3}));
  }
  CHECK(values(a.grad()) == Numbers{0, 1, 110, 100});
  CHECK(values(b.grad()) == Numbers{30, 40, 1, 2, 300, 400});
  CHECK(values(pattern.grad()) == Numbers{0, 0, 0, 0, 0, 0});
  CHECK(error_of([&] { (void)strop::sddmm(pattern, b, a); }) == "sddmm: input 'lhs' has shape (3, 2), expected (2, 2)");
  CHECK(error_of([&] { (void)strop::sddmm(pattern, a.to(f64), b); }) ==
        "sddmm: input 'lhs' is float64, expected float32");

  // Long rows, many of them: every width of a register and of a share.
  const NDArray wide = scattered(300, 200, 9, 6);
  const NDArray l = strop::random::uniform({300, 37}, -1, 1, f64), r = strop::random::uniform({200, 37}, -1, 1, f64);
  CHECK(strop::allclose(strop::sddmm(wide, l, r), strop::dot(l, r, {.transpose_b = true}) * (wide.to(dense) != 0)));
}

TEST_CASE("softmax over the stored values of each row") {
  const strop::verify::QuietFallbacks quiet;
  const double three = std::log(3.0);
  const NDArray x = strop::csr_matrix(array<double>({0, three, 7}), {2, 0, 1}, {0, 2, 2, 3}, {3, 3});
  for (const bool logarithm : {false, true}) {
    strop::clear_fallbacks();
    x.attach_grad();
    NDArray y;
    {
      strop::record scope;
      y = logarithm ? strop::stored_log_softmax(x) : strop::stored_softmax(x);
      y.backward(array<double>({{4, 9, 8}, {9, 9, 9}, {9, 5, 9}}));
    }
    CHECK(y.storage() == csr);
    CHECK(values(y.indices()) == Numbers{2, 0, 1});
    const NDArray p = array<double>({0.25, 0.75, 1});  // of the first row in the order 2, 0
    CHECK(strop::allclose(y.data(), logarithm ? strop::log(p) : p));
    CHECK(x.grad().storage() == csr);
    CHECK(strop::allclose(x.grad().data(), logarithm ? array<double>({8 - 12 * 0.25, 4 - 12 * 0.75, 0})
                                                     : array<double>({0.25 * 3, 0.75 * -1, 0})));
    CHECK(strop::fallbacks().empty());
  }
  CHECK(values(strop::stored_softmax(array({{0, 2, 2}, {0, 0, 0}}))) == Numbers{0, 0.5, 0.5, 0, 0, 0});
  CHECK(error_of([] { (void)strop::stored_softmax(array({1, 2})); }) ==
        "stored_softmax: input 'data' has shape (2,), expected 2 dimensions");
}

TEST_CASE("where on a CSR condition") {
  const strop::verify::QuietFallbacks quiet;
  strop::clear_fallbacks();
  const NDArray condition = strop::csr_matrix({0, 1, 2}, {0, 2, 1}, {0, 2, 3}, {2, 3}), a = count(6, {2, 3}),
                b = count(6, {2, 3}) * 10;
  a.attach_grad();
  b.attach_grad();
  NDArray y;
  {
    strop::record scope;
    y = strop::where(condition, a, b);
    y.backward(count(6, {2, 3}));
  }
  CHECK(y.storage() == dense);
  CHECK(values(y) == Numbers{0, 10, 2, 30, 4, 50});
  CHECK(values(a.grad()) == Numbers{0, 0, 2, 0, 4, 0});
  CHECK(values(b.grad()) == Numbers{0, 1, 0, 3, 0, 5});
  CHECK(values(strop::where(condition.to(strop::u8), a.to(strop::i8), b.to(strop::i8))) == values(y));
  CHECK(strop::fallbacks().empty());
}

TEST_CASE("products of wide CSR matrices cost their stored values") {
  const std::int64_t wide = std::int64_t{1} << 40, far = 1000000000000;
  const NDArray x = strop::csr_matrix({1, 2, 3}, {5, far, 5}, {0, 2, 3}, {2, wide}),
                z = strop::csr_matrix({10, 20}, {far, 6}, {0, 1, 2}, {2, wide});
  x.attach_grad();
  z.attach_grad();
  {
    strop::record scope;
    const NDArray y = strop::dot(x, z, {.transpose_b = true});
    CHECK(values(y) == Numbers{20, 0, 0, 0});
    CHECK(y.nnz() == 1);
    y.backward();
  }
  CHECK(values(x.grad().data()) == Numbers{0, 10, 0});
  CHECK(values(z.grad().data()) == Numbers{2, 0});
  const NDArray left = array({{1, 2}}).to(csr);
  left.attach_grad();
  {
    strop::record scope;
    const NDArray y = strop::dot(left, x);
    CHECK(y.shape() == Shape{1, wide});
    CHECK(values(y.data()) == Numbers{7, 2});
    y.backward(strop::csr_matrix({1, 10}, {5, far}, {0, 2}, {1, wide}));
  }
  CHECK(values(left.grad().data()) == Numbers{21, 3});
  CHECK(values(x.grad().data()) == Numbers{1, 10, 2});
}

TEST_CASE("a wide CSR matrix costs its stored values") {
  const std::int64_t wide = std::int64_t{1} << 40;
  const NDArray x = strop::csr_matrix({1, 2, 3}, {5, 1000000000000, 5}, {0, 2, 3}, {2, wide});
  const NDArray y = strop::dot(x, array({{1, 10}, {2, 20}}), {.transpose_a = true});
  CHECK(y.shape() == Shape{wide, 2});
  CHECK(y.nnz() == 2);
  CHECK(y.indices().to_vector<std::int64_t>() == std::vector<std::int64_t>{5, 1000000000000});
  CHECK(values(y.data()) == Numbers{7, 70, 2, 20});
  const NDArray w = strop::row_sparse_array({{4.0}}, {1000000000000}, {wide, 1});
  w.attach_grad(strop::GradRequest::write, row_sparse);
  {
    strop::record scope;
    const NDArray z = strop::dot(x, w);
    CHECK(values(z) == Numbers{8, 0});
    z.backward();
  }
  CHECK(values(w.grad().data()) == Numbers{4, 2});
}

TEST_CASE("results that follow a pattern have indices as wide as its") {
  const std::vector<std::int32_t> columns{1, 0, 2}, starts{0, 1, 3};
  const NDArray a = strop::csr_matrix({1, 2, 3}, columns, starts, {2, 3}), b = count(12, {3, 4}),
                wide = c();  // the same in 64 bits
  const auto types = [](const NDArray& y) { return std::pair(y.indices().dtype(), y.indptr().dtype()); };
  const std::pair narrow(strop::i32, strop::i32), long_ones(strop::i64, strop::i64);
  CHECK(values(strop::dot(a, b)) == values(strop::dot(wide, b)));
  const NDArray rows = strop::dot(a, count(6, {2, 3}), {.transpose_a = true});
  CHECK(values(rows) == Numbers{6, 8, 10, 0, 1, 2, 9, 12, 15});
  rows.check_format();
  CHECK(rows.indices().dtype() == strop::i32);
  CHECK(strop::dot(wide, count(6, {2, 3}), {.transpose_a = true}).indices().dtype() == strop::i64);
  CHECK(types(strop::dot(count(4, {2, 2}), a)) == narrow);
  for (const bool t : {false, true}) {
    const Dot p{.transpose_a = t, .transpose_b = !t};
    const NDArray y = strop::dot(a, a, p);
    y.check_format();
    CHECK(types(y) == narrow);
    CHECK(values(y) == values(strop::dot(wide, wide, p)));
    CHECK(types(strop::dot(a, wide, p)) == long_ones);
    CHECK(values(strop::dot(a, wide, p)) == values(y));
  }
  CHECK(types(strop::sddmm(a, count(4, {2, 2}), count(6, {3, 2}))) == narrow);
  CHECK(types(a * 2) == narrow);
  CHECK(types(a + a) == narrow);
  CHECK(types(strop::elemwise_mul(a, a)) == narrow);
  CHECK(types(a + wide) == long_ones);
  CHECK(values(a + wide) == values(wide * 2));
  CHECK(types(a.to(f64)) == narrow);
  CHECK(types(a.slice(1, 2)) == narrow);
  CHECK(a.to(row_sparse).indices().dtype() == strop::i32);
  CHECK(types(a.to(row_sparse).to(csr)) == narrow);
  CHECK(types(wide.to(row_sparse).to(csr)) == long_ones);
  CHECK(types(a.to(strop::dense).to(csr)) == long_ones);
  const auto same = [&](const NDArray& y, const NDArray& other) {
    y.check_format();
    CHECK(types(y) == narrow);
    CHECK(types(other) == long_ones);
    CHECK(values(y) == values(other));
  };
  same(strop::slice(a, {.begin = {0, 1}, .end = {2, 3}}), strop::slice(wide, {.begin = {0, 1}, .end = {2, 3}}));
  same(strop::take(a, strop::array({1, 0, 1})), strop::take(wide, strop::array({1, 0, 1})));
  same(strop::concat({a, a}, {.dim = 0}), strop::concat({a, wide}, {.dim = 0}));
  CHECK(strop::sparse_retain(a.to(row_sparse), strop::array({1})).indices().dtype() == strop::i32);
  CHECK(values(strop::sum(a, {.axis = 1})) == Numbers{1, 5});
  CHECK(types(a) == narrow);
  // Of 32 bits and of 64 in one array.
  const NDArray mixed = strop::csr_matrix({1, 2, 3}, columns, std::vector<std::int64_t>{0, 1, 3}, {2, 3});
  CHECK(values(strop::dot(mixed, b)) == values(strop::dot(wide, b)));
  CHECK(values(mixed * 2) == values(wide * 2));
  CHECK(values(strop::sum(mixed, {.axis = 0})) == Numbers{2, 1, 3});

  a.attach_grad();
  {
    strop::record scope;
    strop::dot(a * 2, b).backward();
  }
  CHECK(types(a.grad()) == narrow);
  CHECK(values(a.grad()) == Numbers{0, 44, 0, 12, 0, 76});
}

TEST_CASE("halves in CSR") {
  CHECK(values(strop::dot(c().to(f16), count(12, {3, 4}).to(f16))) == Numbers{4, 5, 6, 7, 24, 29, 34, 39});
  const NDArray y = strop::dot(c().to(f16), count(6, {2, 3}).to(f16), {.transpose_a = true});
  CHECK(y.dtype() == f16);
  CHECK(values(y) == Numbers{6, 8, 10, 0, 1, 2, 9, 12, 15});
}

TEST_CASE("batch_dot") {
  const Subject s = subject(strop::batch_dot, {count(12, {2, 2, 3}), count(24, {2, 3, 4})});
  check_values(s, {20, 23, 26, 29, 56, 68, 80, 92, 344, 365, 386, 407, 488, 518, 548, 578});
  check_dtypes(s);
  check_refused_dtypes(s);
  check_requests(s);
  check_views(s);
  for (bool a : {false, true})
    for (bool b : {false, true})
      check_gradient(
          subject(strop::batch_dot,
                  {count(12, a ? Shape{2, 3, 2} : Shape{2, 2, 3}), count(24, b ? Shape{2, 4, 3} : Shape{2, 3, 4})},
                  BatchDot{.transpose_a = a, .transpose_b = b}));
  CHECK(values(strop::batch_dot(strop::ones({9, 1, 3}), strop::ones({9, 3, 1}))) == Numbers(9, 3.0));
  CHECK(strop::batch_dot(strop::ones({0, 1, 3}), strop::ones({0, 3, 1})).shape() == Shape{0, 1, 1});
  // Several extents before the matrices are one batch.
  const NDArray lhs = count(36, {2, 3, 2, 3}), rhs = count(72, {2, 3, 3, 4}), y = strop::batch_dot(lhs, rhs),
                flat = strop::batch_dot(lhs.reshape({6, 2, 3}), rhs.reshape({6, 3, 4}));
  CHECK(y.shape() == Shape{2, 3, 2, 4});
  CHECK(values(y) == values(flat));
  check_gradient(subject(strop::batch_dot, {count(16, {2, 1, 4, 2}), count(24, {2, 1, 3, 4})},
                         BatchDot{.transpose_a = true, .transpose_b = true}));
}

TEST_CASE("dot refuses in a sentence") {
  const NDArray a = count(6, {2, 3});
  CHECK(error_of([&] { (void)strop::dot(a, array({1})); }) ==
        "dot: input 'lhs' has shape (2, 3) and input 'rhs' (1,), expected as many elements on axis 1 of the first as "
        "on axis 0 of the second");
  CHECK(error_of([&] { (void)strop::dot(a, strop::scalar(1)); }) ==
        "dot: input 'rhs' has no dimension, expected 1 or more");
  CHECK(error_of([&] { (void)strop::dot(a, count(12, {3, 4}).to(f64)); }) ==
        "dot: input 'rhs' is float64, expected float32");
  CHECK(error_of([&] { strop::dot(a, count(9, {3, 3}), strop::into(a)); }) ==
        "dot: output 'output' overlaps the memory of input 'lhs', which this operator cannot compute in place");
  CHECK(error_of([&] { (void)strop::dot(strop::csr_matrix({1}, {7}, {0, 1}, {1, 3}), strop::ones({3, 2})); }) ==
        "dot: input 'lhs': indices[0] = 7 is outside 0 to 2, the columns of a row");
  CHECK(error_of([&] { (void)strop::batch_dot(a, a); }) ==
        "batch_dot: input 'lhs' has shape (2, 3), expected 3 dimensions or more");
  CHECK(error_of([] { (void)strop::batch_dot(strop::ones({2, 4, 5}), strop::ones({3, 2, 5, 6})); }) ==
        "batch_dot: input 'rhs' has shape (3, 2, 5, 6), expected 3 dimensions");
  CHECK(error_of([] { (void)strop::batch_dot(strop::ones({2, 1, 4, 5}), strop::ones({2, 3, 5, 6})); }) ==
        "batch_dot: input 'rhs' has shape (2, 3, 5, 6), expected (2, 1, 5, 6)");
  CHECK(error_of([] { (void)strop::batch_dot(strop::ones({2, 1, 3}), strop::ones({2, 4, 1})); }) ==
        "batch_dot: input 'rhs' has shape (2, 4, 1), expected (2, 3, 1)");
}
