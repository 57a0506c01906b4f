// SPDX-License-Identifier: Apache-2.0
/// \file
/// The library's reductions and softmaxes on a GPU that the CPU plays: they find their kernels there, and give what the
/// CPU gives, forward and backward.
#include "shim.hpp"

#include <strop/cuda/reductions.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace strop;
using testing::sentence;

using Function = std::function<NDArray(const NDArray&)>;

NDArray numbers(const Shape& shape, Dtype dtype) {
  std::vector<float> x(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int k = static_cast<int>(i * 7 % 23) - 11;
    x[i] = is_floating(dtype) ? 0.25F * static_cast<float>(k) : static_cast<float>(dtype == u8 ? k + 11 : k);
  }
  return array(x, shape).to(dtype);
}

void same(const NDArray& got, const NDArray& want) {
  REQUIRE(got.shape() == want.shape());
  REQUIRE(got.dtype() == want.dtype());
  const double digits = want.dtype() == f16 ? 2e-3 : want.dtype() == bf16 ? 1.6e-2 : want.dtype() == f64 ? 1e-12 : 1e-5;
  const auto a = got.to(cpu()).to_vector<double>(), b = want.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    CAPTURE(i);
    CHECK(std::abs(a[i] - b[i]) <= digits * (1 + std::abs(b[i])));
  }
}

/// The result, and with `gradient` the gradient of x.
void agrees(const Function& f, const NDArray& x, bool gradient = true, Device device = shim::device) {
  CAPTURE(to_text(x.shape()));
  CAPTURE(name_of(x.dtype()));
  const auto run = [&](const NDArray& at, NDArray& slope) {
    if (!gradient) return f(at);
    at.attach_grad();
    NDArray y;
    {
      const record scope;
      y = f(at);
    }
    const NDArray heads = numbers(y.shape(), y.dtype()).to(at.device());
    backward({y}, {heads});
    slope = at.grad();
    return y;
  };
  NDArray here, there;
  const NDArray want = run(x, here), got = run(x.to(device), there);
  CHECK(got.device() == device);
  same(got, want);
  if (gradient) same(there, here);
}

const Shape shapes[] = {{6}, {3, 5}, {2, 3, 4}, {2, 1, 3, 2}, {4, 300}, {700, 3}};

struct Bent {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
constexpr Op<Bent> bent;

/// All kernels that these tests call.
struct Everything {
  shim::Device device;
  shim::Kernels<Sum> sum;
  shim::Kernels<Mean> mean;
  shim::Kernels<Prod> prod;
  shim::Kernels<Nansum> nansum;
  shim::Kernels<Nanprod> nanprod;
  shim::Kernels<Max> max;
  shim::Kernels<Min> min;
  shim::Kernels<Norm> norm;
  shim::Kernels<Argmax> argmax;
  shim::Kernels<Argmin> argmin;
  shim::Kernels<ArgmaxChannel> argmax_channel;
  shim::Kernels<ReduceGradient> reduce_gradient;
  shim::Kernels<Softmax> softmax;
  shim::Kernels<LogSoftmax> log_softmax;
  shim::Kernels<Softmin> softmin;
  shim::Kernels<Bent> bent;
};

}  // namespace

TEST_CASE("reductions of every type run on the device") {
  const Everything there;
  for (const Dtype dtype : {f32, f64, f16, bf16, i8, u8, i32, i64})
    for (const Shape& shape : shapes) {
      const NDArray x = numbers(shape, dtype);
      for (const Axes& axis : {Axes(), Axes(0), Axes(-1)}) {
        agrees([&](const NDArray& a) { return sum(a, {.axis = axis}); }, x, false);
        agrees([&](const NDArray& a) { return max(a, {.axis = axis, .keepdims = true}); }, x, false);
        agrees([&](const NDArray& a) { return min(a, {.axis = axis, .exclude = true}); }, x, false);
      }
      if (shape.size() > 100) continue;  // a product overflows, and halves do not hold positions
      agrees([&](const NDArray& a) { return prod(a, {.axis = 0}); }, x, false);
      agrees([&](const NDArray& a) { return argmax(a, {.axis = 0}); }, x, false);
      agrees([&](const NDArray& a) { return argmin(a, {.axis = -1, .keepdims = true}); }, x, false);
    }
  agrees([](const NDArray& a) { return argmax_channel(a); }, numbers({3, 5}, f32), false);
}

TEST_CASE("gradients of reductions run on the device") {
  const Everything there;
  for (const Dtype dtype : {f32, f64, f16})
    for (const Shape& shape : shapes) {
      const NDArray x = numbers(shape, dtype);
      for (const Axes& axis : {Axes(), Axes(0), Axes(-1)})
        for (const bool keepdims : {false, true}) {
          agrees([&](const NDArray& a) { return sum(a, {.axis = axis, .keepdims = keepdims}); }, x);
          agrees([&](const NDArray& a) { return mean(a, {.axis = axis, .keepdims = keepdims}); }, x);
          agrees([&](const NDArray& a) { return max(a, {.axis = axis, .keepdims = keepdims}); }, x);
          agrees([&](const NDArray& a) { return min(a, {.axis = axis, .keepdims = keepdims, .exclude = true}); }, x);
          agrees([&](const NDArray& a) { return norm(a, {.axis = axis, .keepdims = keepdims}); }, x);
          agrees([&](const NDArray& a) { return norm(a, {.ord = 1, .axis = axis}); }, x);
        }
    }
  NDArray holes = numbers({4, 6}, f32);
  holes.view<float>()[3] = holes.view<float>()[10] = std::nanf("");
  agrees([](const NDArray& a) { return nansum(a, {.axis = 1}); }, holes);
  agrees([](const NDArray& a) { return nanprod(a, {.axis = 0}); }, holes, false);
  agrees([](const NDArray& a) { return norm(a, {.axis = 0, .out_dtype = f64}); }, numbers({4, 6}, f32));
}

TEST_CASE("softmaxes run on the device") {
  const Everything there;
  for (const Dtype dtype : {f32, f64, f16, bf16})
    for (const Shape& shape : {Shape{6}, Shape{3, 5}, Shape{2, 3, 40}, Shape{3, 1200}})
      for (const int axis : {0, -1}) {
        const NDArray x = numbers(shape, dtype);
        agrees([&](const NDArray& a) { return softmax(a, {.axis = axis}); }, x);
        agrees([&](const NDArray& a) { return log_softmax(a, {.axis = axis, .temperature = 2}); }, x);
        agrees([&](const NDArray& a) { return softmin(a, {.axis = axis}); }, x);
      }
  const NDArray length = array({2, 5, 0});
  agrees([&](const NDArray& a) { return softmax(a, length.to(a.device()), {.axis = 1, .use_length = true}); },
         numbers({3, 5}, f32));
  agrees([](const NDArray& a) { return softmax(a, {.dtype = f32}); }, numbers({3, 5}, f16));
}

TEST_CASE("a loss that is the sum or the mean of a map has its gradient on the device") {
  const Everything there;
  for (const Shape& shape : shapes) {
    const NDArray x = numbers(shape, f32);
    agrees([](const NDArray& a) { return sum(bent(a, {.a = 1, .b = 2})); }, x);
    agrees([](const NDArray& a) { return mean(bent(a, {.a = 1, .b = 2}), {.axis = 0}); }, x);
    agrees([](const NDArray& a) { return bent(sum(bent(a, {.b = 2}), {.axis = -1}), {.a = 3}); }, x);
  }
}

TEST_CASE("results are added, and written where they are asked for") {
  const Everything there;
  const NDArray x = numbers({3, 5}, f32);
  const NDArray y = full({3}, 7, shim::device);
  sum(x.to(shim::device), {.axis = 1}, add_to(y));
  same(y, sum(x, {.axis = 1}) + full({3}, 7));
  max(x.to(shim::device), {.axis = 1}, into(y));
  same(y, max(x, {.axis = 1}));
  agrees([](const NDArray& a) { return sum(a, {.axis = 0}); }, zeros({0, 4}));
  agrees([](const NDArray& a) { return prod(a, {.axis = 1}); }, zeros({3, 0}), false);
}

TEST_CASE("what the device cannot do is said") {
  const Everything there;
  const NDArray wide = zeros({2, 4097}, f16).to(shim::device);
  CHECK(
      sentence([&] { (void)argmax(wide, {.axis = 1}); }) ==
      "argmax: float16 does not hold the 4097 positions of a row, expected at most 2049; convert the array to a wider "
      "type");
  const NDArray x = numbers({2, 3}, f32).to(shim::device);
  x.attach_grad();
  NDArray y;
  {
    const record scope;
    y = prod(x);
  }
  CHECK(sentence([&] { y.backward(); }).find("has no kernel for gpu(5)") != std::string::npos);
}

TEST_CASE("[gpu] reductions and softmaxes of large arrays") {
  for (const Dtype dtype : {f32, f64, f16}) {
    const NDArray x = numbers({1000, 1537}, dtype);
    for (const Axes& axis : {Axes(0), Axes(1)}) {
      agrees([&](const NDArray& a) { return sum(a, {.axis = axis}); }, x, true, gpu(0));
      agrees([&](const NDArray& a) { return mean(a, {.axis = axis}); }, x, true, gpu(0));
      agrees([&](const NDArray& a) { return max(a, {.axis = axis}); }, x, true, gpu(0));
      agrees([&](const NDArray& a) { return norm(a, {.axis = axis}); }, x, true, gpu(0));
    }
    for (const int axis : {0, 1}) {
      agrees([&](const NDArray& a) { return softmax(a, {.axis = axis}); }, x, true, gpu(0));
      agrees([&](const NDArray& a) { return log_softmax(a, {.axis = axis}); }, x, true, gpu(0));
    }
  }
  for (const Dtype dtype : {f32, i32}) {
    const NDArray x = numbers({300, 1037}, dtype);
    agrees([](const NDArray& a) { return sum(a); }, x, false, gpu(0));
    agrees([](const NDArray& a) { return argmax(a, {.axis = 1}); }, x, false, gpu(0));
    agrees([](const NDArray& a) { return min(a, {.axis = 0}); }, x, false, gpu(0));
  }
}
