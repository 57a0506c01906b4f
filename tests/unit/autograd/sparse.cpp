// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients of sparse inputs: the projection on the stored pattern in a CSR buffer, whole in others.
#include <strop/ops/elementwise/broadcast.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/index/take.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/ops/shape/broadcast.hpp>
#include <strop/ops/shape/join.hpp>
#include <strop/ops/shape/reshape.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace strop;

namespace {

struct Product {
  static constexpr std::string_view name = "sparse_gradient_product";
  constexpr auto forward(auto x, auto y) const { return x * y; }
};
constexpr Op<Product> product;
struct Square {
  static constexpr std::string_view name = "sparse_gradient_square";
  constexpr auto forward(auto x) const { return x * x; }
};
constexpr Op<Square> square_of;
struct Affine {
  static constexpr std::string_view name = "sparse_gradient_affine";
  float a = 0, b = 0;
  constexpr auto forward(auto x) const { return a * x * x + b * x; }
};
constexpr Op<Affine> affine;
struct Cubic {
  static constexpr std::string_view name = "sparse_gradient_cubic";
  constexpr auto forward(auto x) const { return x * x * x; }
};
constexpr Op<Cubic> cubic;
/// A tensor operator that states its gradient.
struct Copied {
  static constexpr std::string_view name = "sparse_gradient_copied";
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    std::copy(x.begin(), x.end(), y.begin());
  }
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
    std::copy(dy.begin(), dy.end(), dx.begin());
  }
};
constexpr Op<Copied> copied;

/// A copy, whose gradient takes a row-sparse head where `rows` says so.
struct HeadSeen {
  bool rows = true;
  static constexpr std::string_view name = "sparse_gradient_head_seen";
  static inline Storage seen = csr;
  constexpr bool infer_storage(Storages& s) const { return s.in(0) == dense && s.set_out(0, dense); }
  template <Real E>
  void forward(Cpu&, const NDArray& x, NDArray& y) const {
    std::copy_n(x.pointer<const E>(), x.size(), y.pointer<E>());
  }
  constexpr bool infer_gradient_storage(Storages& s) const {
    return s.set_out(0, dense) && (s.in(0) == dense || (rows && s.in(0) == row_sparse));
  }
  template <Real E>
  void grad(Cpu&, Head<"output", NDArray> dy, Grad<"data", NDArray> dx) const {
    seen = dy.storage();
    const NDArray whole = detail::cast_storage(dy, dense);
    std::copy_n(whole.pointer<const E>(), whole.size(), dx.template pointer<E>());
  }
};
constexpr Op<HeadSeen> head_seen;

using Values = std::vector<double>;
using Expression = std::function<NDArray(const NDArray&)>;

/// The array of the gradient after one backward or, with add, two.
NDArray gradient(const NDArray& x, const Expression& f, Storage buffer, GradRequest request = GradRequest::write) {
  x.attach_grad(request, buffer);
  for (int pass = 0; pass < (request == GradRequest::add ? 2 : 1); ++pass) {
    record scope;
    sum(f(x)).backward();
  }
  return x.grad();
}

struct Silent {
  Fallback before = set_fallback(Fallback::silent);
  Silent() = default;
  Silent(const Silent&) = delete;
  Silent& operator=(const Silent&) = delete;
  ~Silent() { set_fallback(before); }
};

}  // namespace

TEST_CASE(
    "in a CSR buffer stands the projection on the stored pattern, in a dense or row_sparse one all of the gradient") {
  const Silent silent;
  const NDArray d = array({{5, 6}, {7, 8}});
  struct Case {
    Expression f;
    Values whole;
  };
  const std::vector<Case> cases = {
      {[&](const NDArray& a) { return a * d; }, {5, 6, 7, 8}},
      {[&](const NDArray& a) { return product(a, d); }, {5, 6, 7, 8}},
      {[&](const NDArray& a) { return product(d, a); }, {5, 6, 7, 8}},
      {[&](const NDArray& a) { return elemwise_mul(a, d); }, {5, 6, 7, 8}},
      {[&](const NDArray& a) { return a.to(dense) * d; }, {5, 6, 7, 8}},
      {[&](const NDArray& a) { return a + d; }, {1, 1, 1, 1}},
      {[&](const NDArray& a) { return a * 2; }, {2, 2, 2, 2}},
      {[&](const NDArray& a) { return a; }, {1, 1, 1, 1}},
      {[&](const NDArray& a) { return copied(a); }, {1, 1, 1, 1}},
      {[&](const NDArray& a) { return square_of(a); }, {0, 6, 0, 0}},
      {[&](const NDArray& a) { return square_of(a) + a * d; }, {5, 12, 7, 8}},
  };
  for (const Storage storage : {csr, row_sparse}) {
    const NDArray a = array({{0, 3}, {0, 0}}).to(storage);
    const Values stored = storage == csr ? Values{0, 1, 0, 0} : Values{1, 1, 1, 1};
    for (std::size_t i = 0; i < cases.size(); ++i) {
      CAPTURE(i);
      CHECK(gradient(a, cases[i].f, dense).to_vector<double>() == cases[i].whole);
      for (const GradRequest request : {GradRequest::write, GradRequest::add}) {
        Values wanted = cases[i].whole;
        for (std::size_t k = 0; k < 4; ++k) wanted[k] *= stored[k] * (request == GradRequest::add ? 2 : 1);
        const NDArray g = gradient(a, cases[i].f, storage, request);
        CHECK(g.storage() == storage);
        // The rows of the gradient that are not zero: only one of them where the gradient is zero elsewhere.
        CHECK(g.nnz() == (storage == csr || cases[i].whole[3] == 0 ? 1 : 2));
        CHECK(g.to_vector<double>() == wanted);
      }
    }
  }
}

TEST_CASE("a row_sparse buffer takes the rows of the gradient, whatever the array and the gradient store") {
  const Silent silent;
  const NDArray a = array({{0, 0}, {0, 3}, {0, 0}}).to(row_sparse), d = array({{0, 0}, {4, 0}, {0, 5}});
  const auto rows_of = [](const NDArray& g) {
    CHECK(g.storage() == row_sparse);
    g.check_format();
    return g.indices().to_vector<double>();
  };
  const auto times_d = [&](const NDArray& x) { return x * d; };
  CHECK(rows_of(gradient(a, times_d, row_sparse)) == Values{1, 2});
  CHECK(a.grad().to_vector<double>() == Values{0, 0, 4, 0, 0, 5});
  CHECK(rows_of(gradient(a, times_d, row_sparse, GradRequest::add)) == Values{1, 2});
  CHECK(a.grad().to_vector<double>() == Values{0, 0, 8, 0, 0, 10});
  // From an array that stores nothing, and from one that is used twice.
  CHECK(rows_of(gradient(zeros({3, 2}, row_sparse), times_d, row_sparse)) == Values{1, 2});
  CHECK(rows_of(gradient(a, [&](const NDArray& x) { return square_of(x) + x * d; }, row_sparse)) == Values{1, 2});
  CHECK(a.grad().to_vector<double>() == Values{0, 0, 4, 6, 0, 5});
  // A dense array has such a buffer as well.
  CHECK(rows_of(gradient(a.to(dense), times_d, row_sparse)) == Values{1, 2});
  // Head gradients in other storages.
  for (const Storage head : {dense, csr, row_sparse}) {
    CAPTURE(name_of(head));
    a.attach_grad();
    {
      record scope;
      (a * 2).backward(d.to(head));
    }
    CHECK(rows_of(a.grad()) == Values{1, 2});
    CHECK(a.grad().to_vector<double>() == Values{0, 0, 8, 0, 0, 10});
  }
  // Rows that one of two factors stores have a gradient in the other one.
  const NDArray b = array({{1, 2}, {0, 5}, {0, 0}}).to(row_sparse);
  CHECK(rows_of(gradient(a, [&](const NDArray& x) { return product(x, b); }, row_sparse)) == Values{0, 1});
  CHECK(a.grad().to_vector<double>() == Values{1, 2, 0, 5, 0, 0});
  // What adds nothing leaves the buffer as it was.
  CHECK(rows_of(gradient(a, [](const NDArray& x) { return sign(x); }, row_sparse)).empty());
  a.attach_grad(GradRequest::add);
  for (int pass = 0; pass < 2; ++pass) {
    record scope;
    (pass == 0 ? a * d : sign(a)).backward();
  }
  CHECK(rows_of(a.grad()) == Values{1, 2});
  // grad() gives them in the buffer's storage.
  a.attach_grad();
  record scope;
  CHECK(rows_of(grad(a * d, {a})[0]) == Values{1, 2});
}

TEST_CASE("an extreme that is zero has its gradient in rows that are not stored as well") {
  const Silent silent;
  const NDArray a = array({{0, 0}, {-3, 2}, {0, 0}, {-1, -4}}).to(row_sparse);
  const auto all = [](const NDArray& x) { return strop::max(x); };
  const auto each = [](const NDArray& x) { return strop::max(x, {.axis = Axes{1}}); };
  const auto each_less = [](const NDArray& x) { return strop::min(x, {.axis = Axes{0}}); };
  CHECK(gradient(a, all, row_sparse).to_vector<double>() == Values{0, 0, 0, 1, 0, 0, 0, 0});
  CHECK(a.grad().nnz() == 2);  // as the array, whose zeros are no extreme
  CHECK(gradient(a, each, row_sparse).to_vector<double>() == Values{1, 1, 0, 1, 1, 1, 1, 0});
  CHECK(gradient(a, each_less, row_sparse).to_vector<double>() == Values{0, 0, 1, 0, 0, 0, 0, 1});
  for (const auto& f : {Expression(all), Expression(each), Expression(each_less)})
    CHECK(gradient(a, f, row_sparse).to_vector<double>() == gradient(a.to(dense), f, dense).to_vector<double>());
}

TEST_CASE("delivery to a sparse buffer is no fallback") {
  const NDArray d = array({{5, 6}, {7, 8}}), a = array({{0, 3}, {0, 0}}).to(csr);
  const Fallback before = set_fallback(Fallback::error);
  CHECK(gradient(a, [&](const NDArray& x) { return x * d; }, csr).nnz() == 1);
  CHECK(gradient(a, [&](const NDArray& x) { return x * 2; }, csr).nnz() == 1);
  CHECK(gradient(a, [&](const NDArray& x) { return x.to(dense) + d; }, csr).nnz() == 1);
  const NDArray rows = a.to(row_sparse);
  CHECK(gradient(rows, [&](const NDArray& x) { return x * d; }, row_sparse).nnz() == 2);
  CHECK(gradient(rows, [&](const NDArray& x) { return x * 2; }, row_sparse).nnz() == 2);
  CHECK(gradient(rows, [&](const NDArray& x) { return x.to(dense) + d; }, row_sparse).nnz() == 2);
  CHECK(gradient(rows, [&](const NDArray& x) { return square_of(x); }, row_sparse).nnz() == 1);
  CHECK(gradient(rows, [&](const NDArray& x) { return product(x, rows); }, row_sparse).nnz() == 1);
  set_fallback(before);
}

TEST_CASE("a bound graph delivers gradients to sparse buffers as backward does") {
  const Silent silent;
  const NDArray d = array({{5, 6}, {7, 8}});
  const Symbol a = var("a"), b = var("d");
  for (const Storage storage : {csr, row_sparse}) {
    const NDArray x = array({{0, 3}, {0, 0}}).to(storage);
    const std::pair<Symbol, Expression> nets[] = {
        {product(a, b), [&](const NDArray& e) { return product(e, d); }},
        {square_of(a) + product(a, b), [&](const NDArray& e) { return square_of(e) + product(e, d); }}};
    for (const auto& [net, eager] : nets) {
      for (const GradRequest request : {GradRequest::write, GradRequest::add}) {
        const NDArray g = zeros({2, 2}, storage);
        Executor run = net.bind(cpu(), {{"a", x}, {"d", d}}, {{"a", g}}, {{"a", request}});
        for (int pass = 0; pass < (request == GradRequest::add ? 2 : 1); ++pass) {
          run.forward(true);
          run.backward({ones({2, 2})});
        }
        CHECK(g.nnz() == (storage == csr ? 1 : 2));
        CHECK(g.to_vector<double>() == gradient(x, eager, storage, request).to_vector<double>());
      }
    }
  }
}

TEST_CASE("what is added to a gradient of another pattern is stored where one of them is") {
  const NDArray a = array({{0, 3}, {0, 0}}).to(csr);
  a.attach_grad(GradRequest::add, csr);
  const auto pass = [&] {
    record scope;
    sum(a * 2).backward();
  };
  pass();
  const NDArray other = array({{1, 0}, {0, 1}}).to(csr);
  a.body().buffer = other.body().buffer;
  a.body().indices = other.body().indices;
  a.body().indptr = other.body().indptr;
  pass();
  CHECK(a.grad().nnz() == 3);
  a.grad().check_format();
  CHECK(a.grad().to_vector<double>() == Values{2, 2, 0, 2});
}

TEST_CASE("adding to sparse arrays, and zero gradients beside them, cost what is stored") {
  // As dense arrays these would have 2^41 elements.
  const std::int64_t many = std::int64_t{1} << 40;
  const NDArray rows = row_sparse_array(array({{1, 2}, {3, 4}}), {5, many - 1}, {many, 2}),
                lines = csr_matrix({1, 2, 3, 4}, {0, many - 1, 5, 7}, {0, 2, 4}, {2, many});
  using Function = NDArray (*)(const NDArray&);
  const std::pair<Function, Values> cases[] = {
      {[](const NDArray& x) { return square_of(x); }, {2, 4, 6, 8}},
      {[](const NDArray& x) { return product(x, square_of(x)); }, {3, 12, 27, 48}},
      {[](const NDArray& x) { return product(x, sign(x)); }, {1, 1, 1, 1}},
      {[](const NDArray& x) { return product(block_grad(x), x); }, {1, 2, 3, 4}},
      {[](const NDArray& x) { return product(sign(sign(x)), square_of(x)); }, {2, 4, 6, 8}},
      {[](const NDArray& x) { return strop::floor(x); }, {0, 0, 0, 0}}};
  for (const NDArray& given : {rows, lines})
    for (const GradRequest request : {GradRequest::write, GradRequest::add})
      for (const auto& [f, once] : cases) {
        const NDArray x = given.copy();
        x.attach_grad(request, x.storage());
        for (int pass = 0; pass < 3; ++pass) {
          record scope;
          f(x).backward();
        }
        Values wanted = once;
        for (double& value : wanted) value *= request == GradRequest::add ? 3 : 1;
        if (x.storage() == row_sparse && once == Values(4, 0.0)) wanted.clear();  // no row has a gradient
        CHECK(x.grad().nnz() <= x.nnz());
        CHECK(x.grad().data().to_vector<double>() == wanted);
      }
  for (const NDArray& given : {rows, lines}) {
    const NDArray y = given.copy();
    square_of(given, add_to(y));
    CHECK(y.data().to_vector<double>() == Values{2, 6, 12, 20});
  }
}

TEST_CASE("a composed gradient needs of an input that it does not read the shape alone") {
  const Silent silent;
  const NDArray d = array({{5, 6}, {7, 8}});
  const std::vector<Expression> calls = {
      [](const NDArray& a) { return flatten(a); },
      [](const NDArray& a) { return reshape(a, {.shape = {4}}); },
      [&](const NDArray& a) { return reshape_like(a, d); },
      [](const NDArray& a) { return expand_dims(a, {.axis = 0}); },
      [](const NDArray& a) { return squeeze(a); },
      [&](const NDArray& a) { return concat({a, d}); },
      [](const NDArray& a) { return tile(a, {.reps = Shape{1, 1}}); },
      [](const NDArray& a) { return repeat(a, {.repeats = 1}); },
      [](const NDArray& a) { return take(a, array({1, 0}), {.mode = Take::wrap}); },
      [&](const NDArray& a) { return broadcast_like(a, d); },
  };
  for (const Storage storage : {csr, row_sparse}) {
    const NDArray a = array({{0, 3}, {0, 0}}).to(storage);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      CAPTURE(i);
      CHECK(gradient(a, calls[i], dense).to_vector<double>() == Values{1, 1, 1, 1});
      CHECK(gradient(a, calls[i], storage).to_vector<double>() ==
            (storage == csr ? Values{0, 1, 0, 0} : Values{1, 1, 1, 1}));
    }
  }
}

TEST_CASE("what has no gradient, or a head gradient of another type, is refused by its own name") {
  const NDArray x = array<double>({1, 2}), y = array({1, 2});
  x.attach_grad();
  y.attach_grad();
  record scope;
  const NDArray cube = cubic(x);
  CHECK(testing::sentence([&] { cube.backward(ones({2})); }) ==
        "backward: head gradient 0 is float32, expected float64");
  CHECK(testing::sentence([&] { (void)grad(cube, {x, array({1, 2, 3})}); }) ==
        "grad: variable 1, of shape (3,), has no attach_grad()");
  const NDArray first = grad(copied(y), {y}, {.create_graph = true})[0];
  const NDArray second = grad(cubic(copied(y)), {y}, {.create_graph = true})[0];
  CHECK(testing::sentence([&] { (void)grad(second, {y}); }) ==
        "backward: _backward_sparse_gradient_copied has no gradient: the operator states its gradient, and no gradient "
        "of that");
}

TEST_CASE("what a linear gradient does not read meets no head gradient, infinite or not") {
  const NDArray x = array({1, 2});
  x.attach_grad();
  {
    record scope;
    affine(x, {.b = 2}).backward(array({std::numeric_limits<float>::infinity(), 1}));
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{std::numeric_limits<float>::infinity(), 2});
}

TEST_CASE("a map whose parameters make it linear keeps nothing, and its gradient lies on the pattern") {
  const NDArray dense_form = array({{0, 3, 0}, {4, 0, 5}});
  for (const Storage storage : {csr, row_sparse}) {
    const NDArray a = dense_form.to(storage);
    CHECK(gradient(
              a, [](const NDArray& x) { return affine(x, {.b = 2}); }, storage)
              .to_vector<double>() == (storage == csr ? Values{0, 2, 0, 2, 0, 2} : Values{2, 2, 2, 2, 2, 2}));
  }
  // columns that are not sorted: values stay where they are stored
  const NDArray a = csr_matrix({3, 4, 5}, {2, 0, 1}, {0, 2, 3}, {2, 3});
  CHECK(gradient(
            a, [](const NDArray& x) { return affine(x, {.a = 1}); }, csr)
            .to_vector<double>() == Values{8, 0, 6, 0, 10, 0});
}

namespace {
struct Difference {
  static constexpr std::string_view name = "sparse_gradient_difference";
  constexpr auto forward(auto x, auto y) const { return x - y; }
};
constexpr Op<Difference> difference;
/// Not zero where nothing is stored, but by chance.
struct ProductLessOne {
  static constexpr std::string_view name = "sparse_gradient_product_less_one";
  constexpr auto forward(auto x, auto y) const { return x * y - 1; }
};
constexpr Op<ProductLessOne> product_less_one;

/// The gradient with respect to x of Σ f(x), and of the same on dense arrays.
Values slope_of(const NDArray& x, const Expression& f, Storage buffer) {
  return gradient(x, f, buffer).to_vector<double>();
}
}  // namespace

TEST_CASE("a sparse factor somewhere behind a dense array changes nothing of its gradient") {
  const Silent silent;
  const NDArray c = array({{2, 0}, {0, 3}}), column = array({{2}, {0}, {3}});
  struct Case {
    Shape shape;
    std::function<NDArray(const NDArray& x, const NDArray& c)> f;
    NDArray c;
  };
  const std::vector<Case> cases = {
      {{2, 2},
       [](const NDArray& x, const NDArray& s) { return square_of(product(difference(x, ones({2, 2})), s)); },
       c},
      {{3, 2}, [](const NDArray& x, const NDArray& s) { return square_of(product(x.slice(1, 3), s)); }, c},
      {{4}, [](const NDArray& x, const NDArray& s) { return square_of(product(x.reshape({2, 2}), s)); }, c},
      {{2}, [](const NDArray& x, const NDArray& s) { return square_of(product(s, x)); }, c},
      {{3, 2},
       [](const NDArray& x, const NDArray& s) {
         return square_of(product(sum(x, {.axis = Axes{1}, .keepdims = true}), s));
       },
       column}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    const auto& [shape, f, factor] = cases[i];
    const NDArray x = arange(1, 1 + static_cast<double>(shape.size())).reshape(shape);
    const NDArray stored = factor.to(csr);
    CHECK(slope_of(
              x, [&](const NDArray& a) { return f(a, stored); }, dense) ==
          slope_of(x, [&](const NDArray& a) { return f(a, factor); }, dense));
  }
}

TEST_CASE("operands that are stored in other ways, or not sorted, meet on the leaf's pattern") {
  const Silent silent;
  const NDArray x = array({{0, 2, 0}, {3, 0, 4}}), y = array({{0, 5, 6}, {7, 0, 8}}), row = array({{1, 0, 2}});
  for (const Storage mine : {csr, row_sparse})
    for (const Storage other : {dense, csr, row_sparse}) {
      const NDArray leaf = x.to(mine);
      Values wanted = mine == csr ? Values{0, 5, 0, 7, 0, 8} : Values{0, 5, 6, 7, 0, 8};
      CHECK(slope_of(leaf, [&](const NDArray& a) { return product(a, y.to(other)); }, mine) == wanted);
      wanted = mine == csr ? Values{0, 0, 0, 1, 0, 2} : Values{1, 0, 2, 1, 0, 2};
      CHECK(slope_of(leaf, [&](const NDArray& a) { return product(a, row.to(other)); }, mine) == wanted);
    }
  const NDArray unsorted = csr_matrix({1, 2, 3}, {2, 0, 1}, {0, 2, 3}, {2, 3});
  unsorted.attach_grad();
  {
    record scope;
    square_of(unsorted).backward(array({{1, 0, 1}, {0, 1, 0}}).to(csr));
  }
  CHECK(unsorted.grad().to_vector<double>() == Values{4, 0, 2, 0, 6, 0});
}

TEST_CASE("rows that are cut out of a CSR array give their gradient back to it") {
  const NDArray given = array({{0, 1, 0}, {2, 0, 3}, {0, 4, 0}, {0, 0, 0}});
  for (const Storage buffer : {csr, dense}) {
    const NDArray x = given.to(csr);
    x.attach_grad(GradRequest::write, buffer);
    {
      record scope;
      square_of(x.slice(1, 3)).backward();  // the head is CSR
      CHECK(fmt::format("{}", x.grad().to(dense)) ==
            fmt::format("{}", array({{0, 0, 0}, {4, 0, 6}, {0, 8, 0}, {0, 0, 0}})));
      (2 * x[1].to(dense)).backward(array({{1, 2, 3}}));  // the head is dense
    }
    CHECK(x.grad().storage() == buffer);
    CHECK(x.grad().to(dense).view<float>()[5] == 6);
    CHECK(x.grad().to(dense).view<float>()[4] == (buffer == csr ? 0 : 4));
    NDArray again;
    {
      record scope;
      again = grad(square_of(x.slice(1, 3)), {x}, {.create_graph = true})[0];
      square_of(again).backward();
    }
    CHECK(x.grad().to(dense).view<float>()[7] == 32);  // (2x)² has 8x
  }
  const NDArray none = zeros({3, 0}, f32, cpu()).to(csr);
  none.attach_grad();
  record scope;
  square_of(none.slice(1, 2)).backward();
  CHECK(none.grad().shape() == Shape{3, 0});
}

TEST_CASE("what is zero by chance has a gradient all the same") {
  const Silent silent;
  const NDArray x = array({{1, 2}, {3, 4}}), w = array({{1, 5}, {6, 7}}), z = zeros({2, 2}, csr);
  x.attach_grad();
  {
    record scope;
    product_less_one(x, w, into(z));
    z.backward();
  }
  CHECK(x.grad().to_vector<double>() == Values{1, 5, 6, 7});
}

TEST_CASE("a result that nobody wants is no reason for a fallback") {
  const Fallback before = set_fallback(Fallback::error);
  const NDArray x = array({{1, 2}, {3, 4}}), c = array({{2, 0}, {0, 3}}).to(csr);
  CHECK(slope_of(x, [&](const NDArray& a) { return square_of(product(a, c)); }, dense) == Values{8, 0, 0, 72});
  set_fallback(before);
}

TEST_CASE("gradients in sparse buffers share no memory") {
  const NDArray x = array({{0, 3}, {0, 0}}).to(csr), head = array({{0, 1}, {0, 0}}).to(csr);
  x.attach_grad();
  x.backward(head);
  x.grad().data().pointer<float>()[0] = 7;
  CHECK(head.to_vector<double>() == Values{0, 1, 0, 0});
}

TEST_CASE("a broadcast sparse argument of a graph has its gradient summed") {
  const Silent silent;
  const NDArray x = array({{1, 0, 3, 2}}).to(csr), w = arange(1, 13).reshape({3, 4}), g = zeros({1, 4}, csr);
  Executor run = product(var("x"), var("w")).bind(cpu(), {{"x", x}, {"w", w}}, {{"x", g}});
  run.forward(true);
  run.backward({ones({3, 4})});
  CHECK(g.to_vector<double>() == Values{15, 0, 21, 24});
}

TEST_CASE("maps hand the rows of a gradient on to a row_sparse buffer") {
  const NDArray x = array({{0, 2, 0, 1}, {3, 0, 0, 0}}).to(csr), w = array({{1, 2}, {3, -1}, {5, 4}, {-2, 6}});
  const auto gradient = [&](Storage storage, bool elsewhere) {
    const NDArray weight = w.copy();
    weight.attach_grad(GradRequest::write, storage);
    {
      record scope;
      const NDArray squared = square_of(weight), y = dot(x, cubic(squared));
      (elsewhere ? sum(y) + sum(square_of(squared)) : sum(y)).backward();
    }
    return weight.grad();
  };
  const NDArray rows = gradient(row_sparse, false);
  CHECK(rows.nnz() == 3);  // row 2 meets nothing stored: no dense gradient was on the way
  CHECK(allclose(rows, gradient(dense, false)));
  // what another operator makes of the squares is dense
  CHECK(allclose(gradient(row_sparse, true), gradient(dense, true)));
}

TEST_CASE("what made a dense array is given a row-sparse head as it is where it has a form for it, else a dense one") {
  const NDArray head = row_sparse_array({{1, 2}, {3, 4}}, {1, 3}, {4, 2});
  const Fallback before = set_fallback(Fallback::error);
  for (const bool rows : {true, false}) {
    const NDArray x = ones({4, 2});
    x.attach_grad();
    {
      record scope;
      head_seen(x, {.rows = rows}).backward(head);
    }
    CHECK(x.grad().to_vector<double>() == head.to(dense).to_vector<double>());
    CHECK(HeadSeen::seen == (rows ? row_sparse : dense));
  }
  // With another gradient for the same array they add up.
  const NDArray x = ones({4, 2});
  x.attach_grad();
  {
    record scope;
    const NDArray y = head_seen(x);
    backward({y, y * 2}, {head, ones({4, 2})});
  }
  CHECK(x.grad().to_vector<double>() == Values{2, 2, 3, 4, 2, 2, 5, 6});
  set_fallback(before);
}
