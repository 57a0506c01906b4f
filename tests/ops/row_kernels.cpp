// SPDX-License-Identifier: Apache-2.0
/// \file
/// Softmaxes, normalisations and pooling in registers of lanes: of float what they are of double, at every extent
/// beside an axis, with ends of registers, for any number of threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <strop/strop.hpp>
#include <vector>

namespace {

using namespace strop;
using Results = std::vector<std::vector<double>>;

/// The result of f and the gradients of its arguments, in `type`, for head gradients that all differ.
template <class F>
Results results(const std::vector<NDArray>& from, Dtype type, F f) {
  std::vector<NDArray> in;
  for (const NDArray& a : from) in.push_back(a.to(type).copy());
  for (const NDArray& a : in) a.attach_grad();
  NDArray y;
  {
    const record scope;
    y = f(in);
  }
  NDArray head(y.shape(), f32);
  for (std::int64_t i = 0; i < y.size(); ++i) head.pointer<float>()[i] = static_cast<float>((i * 37 % 101) - 40) / 64;
  y.backward(head.to(type));
  Results out{y.to_vector<double>()};
  for (const NDArray& a : in) out.push_back(a.grad().to_vector<double>());
  return out;
}
/// The largest distance of a result of float from that of double, against the largest number of the result; and that
/// threads change nothing.
template <class F>
double off(const std::vector<NDArray>& from, F f) {
  const int before = num_threads();
  set_num_threads(1);
  const Results got = results(from, f32, f), wanted = results(from, f64, f);
  for (const int threads : {2, 5}) {
    set_num_threads(threads);
    CHECK(results(from, f32, f) == got);
  }
  set_num_threads(before);
  double largest = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    double size = 1e-30;
    for (const double v : wanted[k]) size = std::max(size, std::abs(v));
    for (std::size_t i = 0; i < wanted[k].size(); ++i)
      largest = std::max(largest, std::abs(got[k][i] - wanted[k][i]) / size);
  }
  return largest;
}

NDArray numbers(const Shape& shape, double low = -2, double high = 2) {
  return random::uniform(shape, static_cast<float>(low), static_cast<float>(high));
}
constexpr std::int64_t beside[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 40, 63, 64, 65, 130};

}  // namespace

TEST_CASE("softmaxes along any axis, of any extent beside it") {
  for (const std::int64_t inner : beside)
    for (const std::int64_t n : {1, 5, 33, 64, 200}) {
      INFO("inner ", inner, ", n ", n);
      const NDArray x = numbers({2, n, inner}, -9, 9);
      CHECK(off({x}, [](const auto& in) { return softmax(in[0], {.axis = 1}); }) <= 2e-6);
      if (n > 1)  // the logarithm of 1 is what the rounding of a product leaves
        CHECK(off({x}, [](const auto& in) { return log_softmax(in[0], {.axis = 1, .temperature = 0.7}); }) <= 2e-6);
      CHECK(off({x}, [](const auto& in) { return softmin(in[0], {.axis = 1}); }) <= 2e-6);
    }
  // too long for four registers of columns
  CHECK(off({numbers({3000, 67})}, [](const auto& in) { return softmax(in[0], {.axis = 0}); }) <= 2e-6);
}

TEST_CASE("softmaxes down columns of large, infinite and masked numbers, in place and added") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  NDArray x = full({3, 20}, 1000);
  for (int j = 0; j < 20; ++j) x.pointer<float>()[j] = -inf;
  const NDArray y = softmax(x, {.axis = 0});
  for (int j = 0; j < 20; ++j) {
    CHECK(y.pointer<float>()[j] == 0);
    CHECK(y.pointer<float>()[20 + j] == 0.5f);
  }
  const NDArray nan = full({3, 20}, 1);
  nan.pointer<float>()[25] = std::numeric_limits<float>::quiet_NaN();
  const NDArray z = softmax(nan, {.axis = 0});
  for (int i = 0; i < 60; ++i) CHECK(std::isnan(z.pointer<float>()[i]) == (i % 20 == 5));
  const NDArray v = numbers({33, 70}), wanted = softmax(v, {.axis = 0}), sum = ones({33, 70}), own = v.copy();
  softmax(v, {.axis = 0}, add_to(sum));
  CHECK(allclose(sum, wanted + 1));
  softmax(own, {.axis = 0}, into(own));
  CHECK(own.to_vector<float>() == wanted.to_vector<float>());
}

TEST_CASE("LayerNorm along any axis, and its sums over rows") {
  for (const std::int64_t inner : beside)
    for (const std::int64_t n : {3, 16, 49, 300}) {
      INFO("inner ", inner, ", n ", n);
      CHECK(off({numbers({5, n, inner}), numbers({n}), numbers({n})},
                [](const auto& in) { return layer_norm(in[0], in[1], in[2], {.axis = 1, .eps = 1e-2f}); }) <= 4e-6);
    }
  CHECK(off({numbers({3000, 37}), numbers({37}), numbers({37})},
            [](const auto& in) { return layer_norm(in[0], in[1], in[2]); }) <= 4e-6);
  // gradients of gamma of equal numbers, whose additions all round in one direction
  const NDArray x = zeros({1 << 20, 2}), g = ones({2}), b = zeros({2});
  b.attach_grad();
  NDArray y;
  {
    const record scope;
    y = layer_norm(x, g, b);
  }
  y.backward(full(x.shape(), 0.1f, f32));
  CHECK(std::abs(b.grad().to_vector<double>()[1] / (static_cast<double>(0.1f) * (1 << 20)) - 1) <= 1e-6);
}

TEST_CASE("BatchNorm of channels of any extent") {
  for (const std::int64_t inner : {1, 2, 3, 5, 9, 11, 13, 15, 16, 17, 49, 70})
    for (const std::int64_t channels : {1, 3, 31, 64, 65, 130}) {
      INFO(channels, " channels of ", inner);
      CHECK(off({numbers({40, channels, inner}, 3, 5), numbers({channels}), numbers({channels})}, [&](const auto& in) {
              const Dtype type = in[0].dtype();
              return batch_norm(in[0], in[1], in[2], zeros({channels}, type), ones({channels}, type),
                                {.eps = 1e-2, .fix_gamma = false});
            }) <= 1e-5);
    }
}

TEST_CASE("softmax_cross_entropy of any number of classes") {
  for (const std::int64_t classes : {1, 2, 15, 16, 17, 100, 1000}) {
    INFO(classes, " classes");
    const NDArray label({40}, f32);
    for (std::int64_t i = 0; i < 40; ++i) label.pointer<float>()[i] = static_cast<float>(i * 7 % classes);
    CHECK(off({numbers({40, classes}, -5, 5)},
              [&](const auto& in) { return softmax_cross_entropy(in[0], label.to(in[0].dtype())); }) <= 1e-6);
  }
}

namespace {

/// Pooling of planes, element by element.
Results pooled(const std::vector<double>& x, std::int64_t images, std::int64_t rows, std::int64_t cols,
               const Pooling& p, const Shape& shape, const std::vector<double>& dy) {
  const std::int64_t oh = shape[2], ow = shape[3];
  const auto step = [](const Shape& s, int i, std::int64_t otherwise) { return s.ndim() == 0 ? otherwise : s[i]; };
  const std::int64_t kh = p.global_pool ? rows : p.kernel[0], kw = p.global_pool ? cols : p.kernel[1];
  const std::int64_t sh = step(p.stride, 0, 1), sw = step(p.stride, 1, 1), ph = step(p.pad, 0, 0),
                     pw = step(p.pad, 1, 0);
  Results out(2);
  out[0].resize(dy.size());
  out[1].resize(x.size());
  for (std::int64_t n = 0; n < images; ++n)
    for (std::int64_t a = 0; a < oh; ++a)
      for (std::int64_t b = 0; b < ow; ++b) {
        const std::size_t to = static_cast<std::size_t>((n * oh + a) * ow + b);
        const bool largest = p.pool_type == Pooling::max;
        double most = -std::numeric_limits<double>::infinity(), sum = 0, all = 0, inside = 0;
        std::size_t first = x.size();
        std::vector<std::size_t> places;
        for (std::int64_t i = a * sh - ph; i < std::min(a * sh - ph + kh, rows + ph); ++i)
          for (std::int64_t j = b * sw - pw; j < std::min(b * sw - pw + kw, cols + pw); ++j) {
            all += 1;
            if (i < 0 || j < 0 || i >= rows || j >= cols) continue;
            const std::size_t at = static_cast<std::size_t>((n * rows + i) * cols + j);
            inside += 1, sum += x[at];
            places.push_back(at);
            if (x[at] > most) most = x[at], first = at;
          }
        const double count = p.pool_type == Pooling::sum ? 1 : p.count_include_pad.value_or(true) ? all : inside;
        out[0][to] = largest ? most : count == 0 ? 0 : sum / count;
        if (largest && first < x.size()) out[1][first] += dy[to];
        if (!largest)
          for (const std::size_t at : places) out[1][at] += dy[to] / count;
      }
  return out;
}

void check_pooling(const Shape& shape, Pooling p) {
  const NDArray x = numbers(shape);
  for (std::int64_t i = 0; i < x.size(); i += 5)  // equal ones, and some that are NaN or none
    x.pointer<float>()[i] = p.pool_type != Pooling::max ? 1 : i % 3 == 0 ? 2 : i % 7 == 0 ? std::nanf("") : -1;
  for (const Dtype type : {f32, f64})
    for (const bool add : {false, true}) {
      const NDArray in = x.to(type).copy();
      in.attach_grad(add ? GradRequest::add : GradRequest::write);
      NDArray y;
      {
        const record scope;
        y = pooling(in, p);
      }
      NDArray head(y.shape(), f32);
      for (std::int64_t i = 0; i < y.size(); ++i) head.pointer<float>()[i] = static_cast<float>(i * 37 % 101 - 40) / 64;
      y.backward(head.to(type));
      Results wanted = pooled(x.to_vector<double>(), shape[0] * shape[1], shape[2], shape[3], p, y.shape(),
                              head.to_vector<double>());
      const std::vector<double> got = y.to_vector<double>(), slopes = in.grad().to_vector<double>();
      double far = 0, slopes_far = 0;
      for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i] != wanted[0][i]) far = std::max(far, std::abs(got[i] - wanted[0][i]));
      for (std::size_t i = 0; i < slopes.size(); ++i)
        slopes_far = std::max(slopes_far, std::abs(slopes[i] - wanted[1][i]));
      INFO(shape, " kernel ", p.kernel, " stride ", p.stride, " pad ", p.pad, " type ", static_cast<int>(p.pool_type),
           " convention ", static_cast<int>(p.pooling_convention));
      CHECK(far <= (type == f64 ? 1e-13 : 8e-6));
      CHECK(slopes_far <= (type == f64 ? 1e-13 : 4e-6));
      if (!add) continue;
      const NDArray sum = full(y.shape(), 2, type);
      pooling(in, p, add_to(sum));
      double added = 0;
      const std::vector<double> more = sum.to_vector<double>();
      for (std::size_t i = 0; i < more.size(); ++i)
        if (std::isfinite(got[i])) added = std::max(added, std::abs(more[i] - 2 - got[i]));
      CHECK(added <= 1e-5);
    }
}

}  // namespace

TEST_CASE("pooling of planes of any width, in registers") {
  for (const std::int64_t cols : {3, 7, 8, 15, 16, 17, 31, 33, 56, 70})
    for (const auto type : {Pooling::max, Pooling::avg, Pooling::sum})
      for (const auto convention : {Pooling::valid, Pooling::full}) {
        const Shape shape{2, 3, 9, cols};
        Pooling p{.pool_type = type, .pooling_convention = convention};
        for (const Shape& kernel : {Shape{2, 2}, Shape{3, 3}, Shape{1, 3}, Shape{3, 2}})
          for (const Shape& stride : {Shape{1, 1}, Shape{2, 2}, Shape{1, 3}, Shape{3, 2}}) {
            p.kernel = kernel, p.stride = stride, p.pad = {};
            check_pooling(shape, p);
            p.pad = Shape{1, 1};
            p.count_include_pad = cols % 2 == 0;
            check_pooling(shape, p);
            p.count_include_pad = {};
          }
      }
  for (const auto type : {Pooling::max, Pooling::avg, Pooling::sum})
    for (const std::int64_t cols : {1, 3, 7, 16, 40}) {
      check_pooling({3, 5, 7, cols}, {.pool_type = type, .global_pool = true});
      check_pooling({3, 5, 7, cols}, {.kernel = {7, cols}, .pool_type = type});
    }
}

TEST_CASE("means of equal numbers are these numbers, for any number of threads") {
  const NDArray x = full({4, 64, 30, 30}, 0.1f, f32);
  const int before = num_threads();
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    for (const auto& p :
         {Pooling{.kernel = {3, 3}, .pool_type = Pooling::avg}, Pooling{.kernel = {7, 7}, .pool_type = Pooling::avg},
          Pooling{.pool_type = Pooling::avg, .global_pool = true}}) {
      const std::vector<float> y = pooling(x, p).to_vector<float>();
      CHECK(std::all_of(y.begin(), y.end(), [](float v) { return v == 0.1f; }));
    }
  }
  set_num_threads(before);
}
