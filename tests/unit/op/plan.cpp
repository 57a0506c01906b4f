// SPDX-License-Identifier: Apache-2.0
/// \file
/// Plans: what is decided of a call, once, by whoever asks; and that executing does what was decided.
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/optimizer.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <vector>

using namespace strop;
using detail::Plan;
using detail::resolve;
using detail::Route;
using testing::sentence;

namespace {

struct Square {
  static constexpr std::string_view name = "plan_square";
  constexpr auto forward(auto x) const { return x * x; }
};
constexpr Op<Square> square_of;
struct Product {
  static constexpr std::string_view name = "plan_product";
  constexpr auto forward(auto x, auto y) const { return x * y; }
};
constexpr Op<Product> product;
struct RowSum {
  static constexpr std::string_view name = "plan_row_sum";
  void infer_shape(Shapes& s) const {
    if (s.in(0).known()) s.set_out(0, {s.in(0)[0]});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 2> x, View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.shape()[0]; ++i) {
      y[i] = 0;
      for (std::int64_t j = 0; j < x.shape()[1]; ++j) y[i] += x(i, j);
    }
  }
};
constexpr Op<RowSum> row_sum;

template <class F>
Plan plan_of(const F& f, std::vector<NDArray> in, NDArray out = {}, Request request = Request::write) {
  const typename F::Registered params{};
  std::vector<const NDArray*> inputs;
  for (const NDArray& a : in) inputs.push_back(&a);
  return resolve(f.entry(), &params, inputs, {&out, 1}, {&request, 1});
}
NDArray shell(const Shape& shape, Dtype type = f32, Storage storage = dense) {
  return NDArray::shell(shape, type, cpu(), storage);
}

}  // namespace

TEST_CASE("a plan says the route, shape, type and storage, from arrays that have no memory") {
  const Plan same = plan_of(square_of, {shell({2, 3})});
  CHECK(same.route == Route::contiguous);
  CHECK(same.shapes[0] == Shape{2, 3});
  CHECK(same.types[0] == f32);
  CHECK(same.storage(0) == dense);
  CHECK(same.why.empty());
  CHECK(plan_of(square_of, {shell({2, 3}, f16)}).route == Route::blocks);  // converted
  const Plan spread = plan_of(product, {shell({2, 1}), shell({3})});
  CHECK(spread.route == Route::blocks);
  CHECK(spread.shapes[0] == Shape{2, 3});
  const Plan stored = plan_of(square_of, {shell({2, 3}, f64, csr)});
  CHECK(stored.route == Route::pattern);
  CHECK(stored.storage(0) == csr);
  const Plan tensors = plan_of(row_sum, {shell({2, 3}, f64)});
  CHECK(tensors.route == Route::tensors);
  CHECK(tensors.shapes[0] == Shape{2});
  CHECK_FALSE(tensors.widens);
  CHECK(plan_of(row_sum, {shell({2, 3}, f16)}).widens);
}

TEST_CASE("a gradient of floating types takes integers as double and gives integers") {
  const Entry& entry = *product.entry().gradient.entry;
  const auto plan_on = [&](Dtype type, Storage storage) {
    const decltype(product)::Registered params{};
    const NDArray dy = shell({2}, type, storage), x = shell({2}, type, storage);
    const NDArray* in[] = {&dy, &x, &x};
    const NDArray out[2];
    const Request requests[2] = {Request::write, Request::add};
    return resolve(entry, &params, in, out, requests);
  };
  const Plan plan = plan_on(i32, dense);
  CHECK(plan.doubles);
  CHECK(plan.route == Route::blocks);
  CHECK(plan.types[1] == i32);
  CHECK(plan.kernel_type(i32) == f64);
  CHECK(plan.kernel_type(f32) == f32);
  CHECK_FALSE(plan_on(f32, dense).doubles);
  CHECK(plan_on(f32, dense).kernel_type(i32) == i32);
  CHECK(sentence([&] { plan_on(i32, csr); }).find("is int32, expected one of") != std::string::npos);
}

TEST_CASE("a plan gives the reason of a dense fallback, and resolving does not count it") {
  const std::size_t before = fallbacks().size();
  const Plan plan = plan_of(row_sum, {shell({2, 3}, f32, csr)});
  CHECK(plan.dense_copies);
  CHECK(plan.why == "the operator works on dense arrays");
  CHECK(plan_of(product, {shell({2, 3}, f32, csr), shell({3}, f32, row_sparse)}).why ==
        "the sparse inputs are stored in different ways");
  CHECK(fallbacks().size() == before);
}

TEST_CASE("an add request to what is not there is a write, and nobody's result asks for nothing") {
  CHECK(plan_of(square_of, {shell({2})}, {}, Request::add).requests[0] == Request::write);
  CHECK(plan_of(square_of, {shell({2})}, zeros({2}), Request::add).requests[0] == Request::add);
  CHECK_FALSE(plan_of(square_of, {shell({2})}, {}, Request::null).asked);
}

TEST_CASE("a plan is for every call on arrays like those that it was made from") {
  const NDArray a = array({1, 2, 3}), b = array({4, 5, 6});
  NDArray y = zeros({3});
  const detail::Ref<Plan> plan(new Plan(plan_of(square_of, {a}, y)));
  const decltype(square_of)::Registered params{};
  for (const NDArray& x : {a, b}) {
    const NDArray* in[] = {&x};
    detail::dispatch_planned(plan, &params, in, {&y, 1}, {});
    CHECK(y.to_vector<float>() == product(x, x).to_vector<float>());
  }
}

TEST_CASE("what does not fit is refused when it is resolved") {
  CHECK(sentence([] { plan_of(product, {shell({2}), shell({3})}); }) ==
        "plan_product: input 'rhs' has shape (3,), which does not broadcast with (2,)");
  CHECK(sentence([] { plan_of(product, {shell({2})}); }) == "plan_product: takes 2 inputs (lhs, rhs), 1 was given");
  CHECK(sentence([] { plan_of(square_of, {shell({2})}, zeros({3})); }).find("has shape (3,), expected (2,)") !=
        std::string::npos);
}

TEST_CASE("storages are inferred alike by a call and in a graph") {
  const Fallback before = set_fallback(Fallback::silent);
  const NDArray weight = array({{1, 2}, {3, 4}}).to(row_sparse), gradient = array({{1, 1}, {1, 1}});
  const Symbol update = sgd_update(var("weight"), var("grad"), {.lr = 1});
  const Storage in_graph = update.infer_storage({{"weight", row_sparse}}).outputs[0];
  CHECK(sgd_update(weight, gradient, {.lr = 1}).storage() == in_graph);
  for (const Storage kind : {dense, csr, row_sparse}) {
    const NDArray x = array({{0, 1}, {2, 0}}).to(kind);
    CHECK(square_of(x).storage() == square_of(var("x")).infer_storage({{"x", kind}}).outputs[0]);
    CHECK(row_sum(x).storage() == row_sum(var("x")).infer_storage({{"x", kind}}).outputs[0]);
  }
  set_fallback(before);
}

TEST_CASE("the gradient of a map takes the place of a head gradient that nobody else holds") {
  const NDArray x = full({1 << 10}, 2);
  x.attach_grad();
  const auto peak = [&](bool hold) {
    record scope;
    NDArray y = x;
    for (int i = 0; i < 3; ++i) y = square_of(y);
    const NDArray head = full({1 << 10}, 1);
    y.backward(hold ? head : head.copy());
    CHECK(head.to_vector<float>() == std::vector<float>(1 << 10, 1));
    return x.grad().to_vector<float>()[0];
  };
  CHECK(peak(true) == 8 * 128);
  CHECK(peak(false) == 8 * 128);
}

TEST_CASE("the gradient of a sum is repeated only where its elements are asked for") {
  const NDArray x = array({{1, 2, 3}, {4, 5, 6}}), w = array({{1}, {2}});
  for (const bool keepdims : {false, true})
    for (const int axis : {0, 1}) {
      x.attach_grad();
      w.attach_grad();
      const Axes axes{axis};
      {
        record scope;
        const NDArray y = sum(product(x, w), {.axis = axes, .keepdims = keepdims});
        y.backward(arange(1, 1 + static_cast<double>(y.size())).reshape(y.shape()));
      }
      const std::vector<float> dy = axis == 0 ? std::vector<float>{1, 2, 3} : std::vector<float>{1, 2};
      std::vector<float> dx, dw(2, 0);
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          const float head = axis == 0 ? dy[j] : dy[i];
          dx.push_back(head * static_cast<float>(i + 1));
          dw[i] += head * static_cast<float>(3 * i + j + 1);
        }
      CHECK(x.grad().to_vector<float>() == dx);
      CHECK(w.grad().to_vector<float>() == dw);
    }
  // Two contributions of different shapes, a leaf itself, and a mean.
  x.attach_grad();
  {
    record scope;
    (sum(x) + sum(mean(square_of(x), {.axis = Axes{0}}))).backward();
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{2, 3, 4, 5, 6, 7});
}

TEST_CASE("the gradient of a product of sparse arrays stays as small as they are") {
  // 20,000 by 5,000: 400 MB if any array of that shape were made; the pool is told to refuse it.
  const auto one = [](float value) { return csr_matrix(array({value}), {.row = {3}, .col = {4}}, {20000, 5000}); };
  const NDArray a = one(2), b = one(5);
  a.attach_grad();
  b.attach_grad();
  CHECK(a.grad().storage() == csr);
  const memory::Statistics now = memory::statistics(cpu());
  memory::set_limit(cpu(), now.live_bytes + now.cached_bytes + (std::int64_t{1} << 24));
  {
    record scope;
    CHECK_NOTHROW(sum(product(a, b)).backward());
  }
  memory::set_limit(cpu(), memory::no_limit);
  CHECK(a.grad().data().item<float>() == 5);
  CHECK(b.grad().data().item<float>() == 2);
}
