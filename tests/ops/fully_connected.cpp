// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

#include <limits>

using namespace ops_test;
using strop::FullyConnected;
using strop::row_sparse;
using Numbers = std::vector<double>;

namespace {
NDArray count(std::int64_t n, const Shape& shape) { return strop::arange(0, n).reshape(shape); }
}  // namespace

TEST_CASE("fully_connected as MXNet does it") {
  const NDArray x = count(24, {2, 3, 4});
  const Subject flat =
      subject(strop::fully_connected, {x, count(24, {2, 12}), strop::array({1, -1})}, FullyConnected{.num_hidden = 2});
  CHECK(call(flat)[0].shape() == Shape{2, 2});
  check_values(flat, {507, 1297, 1299, 3817});
  check_values(
      subject(strop::fully_connected, {x, count(24, {2, 12})}, FullyConnected{.num_hidden = 2, .no_bias = true}),
      {506, 1298, 1298, 3818});
  const Subject last = subject(strop::fully_connected, {x, count(8, {2, 4}), strop::array({0, 1})},
                               FullyConnected{.num_hidden = 2, .flatten = false});
  CHECK(call(last)[0].shape() == Shape{2, 3, 2});
  check_values(last, {14, 39, 38, 127, 62, 215, 86, 303, 110, 391, 134, 479});
  CHECK(values(strop::invoke("FullyConnected", {x, count(24, {2, 12})}, {{"num_hidden", "2"}, {"no_bias", "True"}})) ==
        Numbers{506, 1298, 1298, 3818});
}

TEST_CASE("fully_connected in every way") {
  const NDArray x = count(12, {3, 4}), w = count(8, {2, 4}), b = strop::array({1, -1});
  const Subject s = subject(strop::fully_connected, {x, w, b}, FullyConnected{.num_hidden = 2});
  check_dtypes(s);
  check_refused_dtypes(s);
  check_requests(s);
  check_views(s);
  check_gradient(s);
  check_gradient(
      subject(strop::fully_connected, {count(12, {3, 2, 2}), w}, FullyConnected{.num_hidden = 2, .no_bias = true}));
  check_gradient(
      subject(strop::fully_connected, {count(12, {3, 1, 4}), w, b}, FullyConnected{.num_hidden = 2, .flatten = false}));
  check_sparse(subject(strop::fully_connected, {x, w}, FullyConnected{.num_hidden = 2, .no_bias = true}));
  CHECK(strop::fully_connected(strop::zeros({0, 4}), w, b, {.num_hidden = 2}).shape() == Shape{0, 2});
  CHECK(values(strop::fully_connected(strop::zeros({2, 0}), strop::zeros({2, 0}), b, {.num_hidden = 2})) ==
        Numbers{1, -1, 1, -1});
}

TEST_CASE("fully_connected multiplies the rows that a row_sparse weight or bias stores, and makes no dense copy") {
  const NDArray x = count(12, {3, 4}), w = count(20, {5, 4}) - 7, b = strop::array({1, -1, 2, 0.5, -3});
  const NDArray x2 = count(24, {2, 3, 4}), whole = w.to(row_sparse), bias = b.to(row_sparse);
  const auto rows = [](const NDArray& of, const std::vector<std::int64_t>& which) {
    const NDArray at = strop::array(std::vector<double>(which.begin(), which.end()));
    return strop::row_sparse_array(strop::take(of, at), which, of.shape());
  };
  const strop::Fallback before = strop::set_fallback(strop::Fallback::error);
  for (const NDArray& weight :
       {whole, rows(w, {0, 3}), rows(w, {4, 1}), rows(w, {2, 2, 0}), rows(w, {4}), strop::zeros({5, 4}, row_sparse)})
    for (const NDArray& given :
         {b, bias, rows(b, {1, 4}), rows(b, {4, 0, 4}), strop::zeros({5}, row_sparse), NDArray()})
      for (const strop::Dtype type : {strop::f32, strop::f64, strop::f16})
        for (const bool flatten : {true, false}) {
          const FullyConnected p{.num_hidden = 5, .no_bias = !given.defined(), .flatten = flatten};
          Arrays sparse{(flatten ? x : x2).to(type), weight.to(type)}, dense{sparse[0], sparse[1].to(strop::dense)};
          if (given.defined()) sparse.push_back(given.to(type)), dense.push_back(sparse[2].to(strop::dense));
          const Subject s = subject(strop::fully_connected, sparse, p);
          const NDArray y = call(s, dense)[0], got = call(s)[0], twice = y.copy();
          call(s, sparse, {twice}, {Request::add});
          CHECK(difference(got, y, {1e-3, 1e-3}).empty());
          CHECK(difference(twice, y * 2, {1e-3, 1e-3}).empty());
        }
  // What is not stored hides what is not finite, as in every product.
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(values(strop::fully_connected(strop::array({{inf, 1}}), rows(strop::ones({2, 2}), {1}),
                                      FullyConnected{.num_hidden = 2, .no_bias = true})) == Numbers{0, inf});
  strop::set_fallback(before);
  CHECK(error_of([&] {
          (void)strop::fully_connected(x, strop::row_sparse_array(strop::ones({1, 4}), {5}, {5, 4}),
                                       {.num_hidden = 5, .no_bias = true});
        }).find("input 'weight': indices[0] = 5 is outside 0 to 4, the stored rows") != std::string::npos);
}

TEST_CASE("the gradient of fully_connected says that it reads a dense copy of a row_sparse weight") {
  const NDArray x = count(6, {3, 2}), w = strop::row_sparse_array({{1, 2}}, {1}, {3, 2});
  x.attach_grad();
  const strop::verify::QuietFallbacks quiet;
  strop::clear_fallbacks();
  {
    strop::record scope;
    strop::fully_connected(x, w, {.num_hidden = 3, .no_bias = true}).backward();
  }
  CHECK(values(x.grad()) == Numbers{1, 2, 1, 2, 1, 2});
  CHECK(strop::fallbacks().size() == 1);
}

TEST_CASE("fully_connected keeps data and weight for its gradient, not its bias, and computes what is asked for") {
  const NDArray x = count(12, {3, 4}), w = count(8, {2, 4}), b = strop::array({1, -1});
  w.attach_grad(strop::GradRequest::add);
  b.attach_grad();
  for (int i = 0; i < 2; ++i) {
    NDArray y;
    {
      strop::record scope;
      y = strop::fully_connected(x, w, b, {.num_hidden = 2});
    }
    if (i == 0) b.view<float>()[0] = 9;
    y.backward();
  }
  CHECK(values(w.grad()) == Numbers{24, 30, 36, 42, 24, 30, 36, 42});
  CHECK(values(b.grad()) == Numbers{3, 3});
}

TEST_CASE("fully_connected takes the bias as one column, whose gradients have its shape") {
  const NDArray x = count(6, {2, 3}), w = count(6, {2, 3}), column = strop::array({{1}, {-1}});
  column.attach_grad();
  NDArray y;
  {
    strop::record scope;
    y = strop::fully_connected(x, w, column, {.num_hidden = 2});
    y = y * y;
  }
  CHECK(values(y) == values(strop::square(strop::fully_connected(x, w, strop::array({1, -1}), {.num_hidden = 2}))));
  y.backward();
  CHECK(column.grad().shape() == Shape{2, 1});
  CHECK(values(column.grad()) == Numbers{2 * (6 + 15), 2 * (13 + 49)});
  CHECK(values(strop::fully_connected(x, w, column.to(row_sparse), {.num_hidden = 2})) == Numbers{6, 13, 15, 49});
}

TEST_CASE("fully_connected infers the weight") {
  const auto y =
      strop::fully_connected(strop::var("data"), strop::var("weight"), strop::var("bias"), {.num_hidden = 5}, "fc");
  const auto shapes = y.infer_shape({{"data", {2, 3, 4}}});
  CHECK(shapes.args == std::vector<Shape>{{2, 3, 4}, {5, 12}, {5}});
  const auto nothing = y.infer_shape_partial({});
  CHECK(!nothing.args[1].has_rank());
  CHECK(!nothing.args[2].has_rank());
}

TEST_CASE("fully_connected refuses in a sentence") {
  const NDArray x = count(12, {3, 4}), w = count(8, {2, 4});
  CHECK(error_of([&] { (void)strop::fully_connected(x, w, w); }) ==
        "fully_connected: parameter 'num_hidden' (int) is required");
  CHECK(error_of([&] { (void)strop::fully_connected(x, w, w, {.num_hidden = 0}); }) ==
        "fully_connected: parameter 'num_hidden' is 0, expected at least 1");
  CHECK(error_of([&] { (void)strop::fully_connected(x, w, {.num_hidden = 2}); }) ==
        "fully_connected: takes 3 inputs (data, weight, bias), 2 were given");
  CHECK(error_of([&] { (void)strop::fully_connected(x, count(6, {2, 3}), {.num_hidden = 2, .no_bias = true}); }) ==
        "fully_connected: input 'weight' has shape (2, 3), expected (2, 4)");
  CHECK(error_of([&] { (void)strop::fully_connected(x, w, w, {.num_hidden = 2}); }) ==
        "fully_connected: input 'bias' has shape (2, 4), expected (2,)");
}
