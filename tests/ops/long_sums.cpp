// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums keep their digits at any length: every reduction of float, over millions of equal numbers, whose additions all
/// round in one direction, and of any numbers, against sums in double: within 10⁻⁶ of what they add up.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <strop/strop.hpp>
#include <vector>

namespace {

using namespace strop;

constexpr double most = 1e-6;
constexpr std::int64_t long_extent = std::int64_t{1} << 25, extent = std::int64_t{1} << 22;
const double tenth = static_cast<double>(0.1f);

/// The largest relative distance of any element from what it should be.
double off(const NDArray& y, double wanted) {
  double largest = 0;
  for (const double v : y.to_vector<double>()) largest = std::max(largest, std::abs(v - wanted) / std::abs(wanted));
  return y.size() == 0 ? 1 : largest;
}
/// The same of different ones, against the size of the largest.
double off(const NDArray& y, const std::vector<double>& wanted) {
  const std::vector<double> got = y.to_vector<double>();
  double largest = 0, size = 0;
  for (const double w : wanted) size = std::max(size, std::abs(w));
  for (std::size_t i = 0; i < wanted.size(); ++i) largest = std::max(largest, std::abs(got[i] - wanted[i]) / size);
  return got.size() == wanted.size() ? largest : 1;
}

NDArray tenths(const Shape& shape) { return full(shape, 0.1f, f32); }
/// Positive numbers of different size.
NDArray any_numbers(const Shape& shape) { return random::uniform(shape, 0.05, 1); }

/// The sum over the middle axis of outer × n × inner, or of what f makes of an element.
template <class F>
std::vector<double> sums_of(const NDArray& x, std::int64_t outer, std::int64_t n, std::int64_t inner, F f) {
  x.wait();
  const float* const from = x.pointer<float>();
  std::vector<double> out(static_cast<std::size_t>(outer * inner));
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < inner; ++j)
        out[static_cast<std::size_t>(o * inner + j)] += f(static_cast<double>(from[(o * n + i) * inner + j]));
  return out;
}
std::vector<double> sums_of(const NDArray& x, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  return sums_of(x, outer, n, inner, [](double v) { return v; });
}

/// A matrix that stores all its elements.
NDArray stored(const NDArray& a) { return cast_storage(a, {.stype = csr}); }

/// The gradients of inputs of f, for head gradients of 0.1.
template <class F>
std::vector<NDArray> gradients(const std::vector<NDArray>& in, F f) {
  for (const NDArray& a : in) a.attach_grad();
  NDArray y;
  {
    const record scope;
    y = f();
  }
  y.backward(tenths(y.shape()));
  std::vector<NDArray> out;
  for (const NDArray& a : in) out.push_back(a.grad());
  return out;
}

}  // namespace

TEST_CASE("sums over any axes hold their digits") {
  const NDArray all = tenths({long_extent}), any = any_numbers({long_extent});
  const double n = static_cast<double>(long_extent);
  CHECK(off(sum(all), tenth * n) <= most);
  CHECK(off(mean(all), tenth) <= most);
  CHECK(off(nansum(all), tenth * n) <= most);
  CHECK(off(norm(all), tenth * std::sqrt(n)) <= most);
  CHECK(off(norm(all, {.ord = 1}), tenth * n) <= most);
  CHECK(off(square_sum(all, {.axis = 0}), tenth * tenth * n) <= most);
  CHECK(off(sum(any), sums_of(any, 1, long_extent, 1)) <= most);
  for (const std::int64_t inner : {1, 2, 3, 4, 5, 8, 16, 40, 1024})
    for (const std::int64_t outer : {1, 2}) {
      const std::int64_t rows = extent / (inner * outer), size = outer * rows * inner;
      const NDArray x = all.slice(0, size).reshape({outer, rows, inner}),
                    y = any.slice(0, size).reshape({outer, rows, inner});
      INFO(outer, " x ", rows, " x ", inner);
      CHECK(off(sum(x, {.axis = 1}), tenth * static_cast<double>(rows)) <= most);
      CHECK(off(mean(x, {.axis = 1}), tenth) <= most);
      CHECK(off(nansum(x, {.axis = 1}), tenth * static_cast<double>(rows)) <= most);
      CHECK(off(norm(x, {.axis = Shape{1}}), tenth * std::sqrt(static_cast<double>(rows))) <= most);
      CHECK(off(sum(y, {.axis = 1}), sums_of(y, outer, rows, inner)) <= most);
    }
  // what the issue named: axis 0 of (n, 4), axis 1 of (2, n)
  CHECK(off(sum(all.reshape({-1, 4}), {.axis = 0}), tenth * n / 4) <= most);
  CHECK(off(sum(all.reshape({2, -1}), {.axis = 1}), tenth * n / 2) <= most);
  CHECK(off(sum(all.reshape({4, -1, 8}), {.axis = Shape{0, 2}}), tenth * 32) <= most);
  CHECK(off(sum(all.reshape({1024, 4, -1}), {.axis = Shape{0, 2}}), tenth * n / 4) <= most);
}

TEST_CASE("sums of halves are made in float") {
  const NDArray x = full({extent}, 0.125, f16);
  CHECK(mean(x).item<double>() == 0.125);
  CHECK(sum(full({extent}, 0x1p-10, f16)).item<double>() == 4096);
  CHECK(off(sum(full({extent}, 0.1, bf16).to(f32)), static_cast<double>(extent) * 0.10009765625) <= most);
}

TEST_CASE("sums of doubles are those of long double") {
  const NDArray x = full({extent}, 0.1, f64);
  const long double n = static_cast<long double>(extent), wanted = 0.1 * n;
  for (const NDArray& y : {sum(x), sum(x.reshape({-1, 4}), {.axis = 0}) * 4, dot(x, full({extent}, 1, f64))})
    for (const double v : y.to_vector<double>()) CHECK(std::abs(v / static_cast<double>(wanted) - 1) <= 1e-15);
}

TEST_CASE("products hold their digits at any inner extent") {
  const NDArray all = tenths({long_extent}), any = any_numbers({long_extent});
  const double n = static_cast<double>(long_extent);
  CHECK(off(dot(all, all), tenth * tenth * n) <= most);
  CHECK(off(dot(all, ones({long_extent})), tenth * n) <= most);
  CHECK(off(dot(any, any), sums_of(any, 1, long_extent, 1, [](double v) { return v * v; })) <= most);
  // every route: sums of rows, dot products, tiles over B as it lies and over copies
  struct Size {
    std::int64_t m, n, k;
  };
  for (const Size& s : {Size{1, 1, extent}, Size{1, 5, extent / 4}, Size{1, 40, extent / 16}, Size{5, 1, extent / 4},
                        Size{3, 5, extent / 4}, Size{4, 40, extent / 16}, Size{40, 70, 1 << 15}, Size{130, 20, 1 << 14},
                        Size{1, 1000, 5000}, Size{30, 30, 4500}})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        INFO(s.m, " x ", s.n, " x ", s.k, ta ? ", A'" : "", tb ? ", B'" : "");
        const NDArray a = tenths(ta ? Shape{s.k, s.m} : Shape{s.m, s.k}),
                      b = ones(tb ? Shape{s.n, s.k} : Shape{s.k, s.n});
        const NDArray y = dot(a, b, {.transpose_a = ta, .transpose_b = tb});
        CHECK(off(y, tenth * static_cast<double>(s.k)) <= most);
        dot(a, b, {.transpose_a = ta, .transpose_b = tb}, add_to(y));
        CHECK(off(y, 2 * tenth * static_cast<double>(s.k)) <= most);
      }
  CHECK(off(batch_dot(tenths({3, 2, 1 << 18}), ones({3, 1 << 18, 4})), tenth * (1 << 18)) <= most);
  for (const std::int64_t size : {128, 512, 2048})
    for (const bool right : {false, true}) {
      INFO(size, " rows of a triangle", right ? " on the right side" : "");
      const NDArray y = linalg_trmm(tenths({size, size}), ones(right ? Shape{3, size} : Shape{size, 3}),
                                    {.rightside = right});  // the last row of the triangle, or its first column
      CHECK(
          off(right ? slice_axis(y, {.axis = 1, .begin = 0, .end = 1}) : slice_axis(y, {.axis = 0, .begin = size - 1}),
              tenth * static_cast<double>(size)) <= most);
    }
  // any numbers, against double
  const NDArray a = any_numbers({20, 1 << 14}), b = any_numbers({1 << 14, 33});
  CHECK(off(dot(a, b), dot(a.to(f64), b.to(f64)).to_vector<double>()) <= most);
}

TEST_CASE("layers hold their digits over many examples, features and places") {
  constexpr std::int64_t n = 1 << 18;
  CHECK(off(fully_connected(tenths({2, n}), ones({3, n}), zeros({3}), {.num_hidden = 3}), tenth * n) <= most);
  const NDArray x = tenths({n, 4}), w = ones({3, 4}), b = zeros({3});
  const auto of_layer = gradients({w, b}, [&] { return fully_connected(x, w, b, {.num_hidden = 3}); });
  CHECK(off(of_layer[0], tenth * tenth * n) <= most);
  CHECK(off(of_layer[1], tenth * n) <= most);
  const NDArray image = tenths({2, 2, 512, 256}), kernel = ones({3, 2, 1, 1}), wide = ones({3, 2, 3, 3}),
                bias = zeros({3});
  for (const bool one : {true, false}) {
    const NDArray& k = one ? kernel : wide;
    const auto of_filters = gradients({k, bias}, [&] {
      return convolution(image, k, bias, {.kernel = one ? Shape{1, 1} : Shape{3, 3}, .num_filter = 3});
    });
    const double places = one ? 512.0 * 256 : 510.0 * 254;
    CHECK(off(of_filters[0], 2 * tenth * tenth * places) <= most);
    CHECK(off(of_filters[1], 2 * tenth * places) <= most);
  }
  // many images, each with few places
  const NDArray many = tenths({1 << 14, 1, 4, 4}), one = ones({1, 1, 1, 1});
  CHECK(off(gradients({one},
                      [&] { return convolution(many, one, zeros({1}), {.kernel = Shape{1, 1}, .num_filter = 1}); })[0],
            tenth * tenth * (1 << 18)) <= most);
}

TEST_CASE("statistics hold their digits") {
  const NDArray row = tenths({2, extent / 2});
  CHECK(off(moments(row, {.axes = Shape{1}})[0], tenth) <= most);
  CHECK(off(l2_normalization(row), 1 / std::sqrt(static_cast<double>(extent / 2))) <= most);
  const NDArray y = softmax(row);
  CHECK(off(y, 2.0 / static_cast<double>(extent)) <= most);
  CHECK(off(log_softmax(row), -std::log(static_cast<double>(extent / 2))) <= most);
  CHECK(off(softmax_cross_entropy(zeros({extent / 4, 4}), zeros({extent / 4})),
            std::log(4.0) * static_cast<double>(extent / 4)) <= most);
  CHECK(off(cumsum(tenths({extent})).slice(extent - 1, extent), tenth * static_cast<double>(extent)) <= most);
  for (const std::int64_t columns : {4, 40}) {
    const std::int64_t rows = extent / 40;
    CHECK(off(cumsum(tenths({rows, columns}), {.axis = 0}).slice(rows - 1, rows), tenth * static_cast<double>(rows)) <=
          most);
  }
  const std::vector<NDArray> list(5000, tenths({3}));
  CHECK(off(add_n(list), tenth * 5000) <= most);
}

namespace {

/// Rows of numbers of small variance around 10⁴, and what normalising them gives, in long double.
struct Offset {
  static constexpr std::int64_t rows = 8, length = 5000;
  NDArray x = random::normal({rows, length}, 1e4, 0.25), dy = random::normal({rows, length}, 0.5, 1);
  std::vector<double> y, dx, dgain, dbeta;
  explicit Offset(double eps) : y(size()), dx(size()), dgain(length), dbeta(length) {
    const std::vector<double> v = x.to_vector<double>(), head = dy.to_vector<double>();
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(r * length + i); };
      const long double n = length;
      long double mean = 0, variance = 0, plain = 0, product = 0;
      for (std::int64_t i = 0; i < length; ++i) mean += v[at(i)] / n;
      for (std::int64_t i = 0; i < length; ++i) variance += (v[at(i)] - mean) * (v[at(i)] - mean) / n;
      const long double deviation = std::sqrt(variance + eps);
      for (std::int64_t i = 0; i < length; ++i) {
        const long double unit = (v[at(i)] - mean) / deviation;
        y[at(i)] = static_cast<double>(unit);
        plain += head[at(i)], product += head[at(i)] * unit;
        dgain[static_cast<std::size_t>(i)] += static_cast<double>(head[at(i)] * unit);
        dbeta[static_cast<std::size_t>(i)] += head[at(i)];
      }
      of_row.push_back({static_cast<double>(plain), static_cast<double>(product)});
      for (std::int64_t i = 0; i < length; ++i) {
        const long double unit = (v[at(i)] - mean) / deviation;
        dx[at(i)] = static_cast<double>((head[at(i)] - plain / n - unit * product / n) / deviation);
      }
    }
  }
  struct Sums {
    double beta, gain;
  };
  std::vector<Sums> of_row;
  static std::size_t size() { return static_cast<std::size_t>(rows * length); }
  std::vector<double> betas() const {
    std::vector<double> list;
    for (const Sums& s : of_row) list.push_back(s.beta);
    return list;
  }
  std::vector<double> gains() const {
    std::vector<double> list;
    for (const Sums& s : of_row) list.push_back(s.gain);
    return list;
  }
};

/// Values and gradients of a normalisation of the data, as y(data, gain, beta), against what they should be.
template <class F>
void check_normalised(const Offset& o, const Shape& shape, std::int64_t gains, const std::vector<double>& dgain,
                      const std::vector<double>& dbeta, F f) {
  const NDArray x = o.x.reshape(shape).copy(), gain = ones({gains}), beta = zeros({gains});
  for (const NDArray* a : {&x, &gain, &beta}) a->attach_grad();
  NDArray y;
  {
    const record scope;
    y = f(x, gain, beta);
  }
  y.backward(o.dy.reshape(shape));
  CHECK(off(y, o.y) <= 2e-6);
  CHECK(off(x.grad(), o.dx) <= 2e-6);
  CHECK(off(gain.grad(), dgain) <= 2e-6);
  CHECK(off(beta.grad(), dbeta) <= 2e-6);
}

}  // namespace

TEST_CASE("normalisations of numbers far from zero hold their digits") {
  const Offset o(1e-5);
  SUBCASE("LayerNorm") {
    check_normalised(
        o, {o.rows, o.length}, o.length, o.dgain, o.dbeta,
        [](const NDArray& x, const NDArray& g, const NDArray& b) { return layer_norm(x, g, b, {.eps = 1e-5f}); });
  }
  SUBCASE("BatchNorm") {
    check_normalised(o, {1, o.rows, o.length}, o.rows, o.gains(), o.betas(),
                     [&](const NDArray& x, const NDArray& g, const NDArray& b) {
                       return batch_norm(x, g, b, zeros({o.rows}), ones({o.rows}), {.eps = 1e-5, .fix_gamma = false});
                     });
  }
  SUBCASE("InstanceNorm") {
    check_normalised(
        o, {1, o.rows, o.length}, o.rows, o.gains(), o.betas(),
        [](const NDArray& x, const NDArray& g, const NDArray& b) { return instance_norm(x, g, b, {.eps = 1e-5f}); });
  }
  SUBCASE("GroupNorm") {
    check_normalised(o, {1, o.rows, o.length}, o.rows, o.gains(), o.betas(),
                     [&](const NDArray& x, const NDArray& g, const NDArray& b) {
                       return group_norm(x, g, b, {.num_groups = static_cast<int>(o.rows), .eps = 1e-5f});
                     });
  }
  SUBCASE("moments") {
    const std::vector<double> v = o.x.to_vector<double>();
    std::vector<double> variances;
    for (std::int64_t r = 0; r < o.rows; ++r) {
      long double centre = 0, variance = 0;
      for (std::int64_t i = 0; i < o.length; ++i) centre += v[static_cast<std::size_t>(r * o.length + i)];
      centre /= o.length;
      for (std::int64_t i = 0; i < o.length; ++i) {
        const long double d = v[static_cast<std::size_t>(r * o.length + i)] - centre;
        variance += d * d / o.length;
      }
      variances.push_back(static_cast<double>(variance));
    }
    CHECK(off(moments(o.x, {.axes = Shape{1}})[1], variances) <= most);
  }
}

TEST_CASE("sums of sparse arrays hold their digits") {
  constexpr std::int64_t n = 1 << 18;
  const NDArray wide = stored(tenths({2, n})), tall = stored(tenths({n, 2}));
  for (const std::int64_t width : {1, 3, 16, 40}) {
    INFO("width ", width);
    CHECK(off(dot(wide, ones({n, width})), tenth * n) <= most);
    CHECK(off(dot(tall, ones({n, width}), {.transpose_a = true, .forward_stype = dense}), tenth * n) <= most);
    CHECK(off(dot(tall, ones({n, width}), {.transpose_a = true}), tenth * n) <= most);
  }
  CHECK(off(dot(ones({3, n}), tall, {.forward_stype = dense}), tenth * n) <= most);
  CHECK(off(dot(ones({3, n}), tall), tenth * n) <= most);
  CHECK(off(dot(ones({3, n}), wide, {.transpose_b = true}), tenth * n) <= most);
  CHECK(off(dot(wide, tall), tenth * tenth * n) <= most);
  CHECK(off(dot(wide, tall, {.forward_stype = dense}), tenth * tenth * n) <= most);
  CHECK(off(sum(tall, {.axis = 0}), tenth * n) <= most);
  CHECK(off(sum(wide, {.axis = 1}), tenth * n) <= most);
  CHECK(off(sum(wide), 2 * tenth * n) <= most);
  CHECK(off(norm(tall, {.axis = Shape{0}}), tenth * std::sqrt(static_cast<double>(n))) <= most);
  CHECK(off(sddmm(stored(ones({2, 3})), tenths({2, n}), ones({3, n})).data(), tenth * n) <= most);
  // one column that every row has beside many that few have
  constexpr std::int64_t rows = 1 << 18, cols = 4000;
  std::vector<std::int64_t> columns, starts{0};
  for (std::int64_t i = 0; i < rows; ++i) {
    columns.push_back(0);
    columns.push_back(1 + i * 2654435761 % (cols - 1));
    starts.push_back(std::ssize(columns));
  }
  const NDArray skewed = csr_matrix(tenths({2 * rows}), array(columns), array(starts), {rows, cols});
  for (const std::int64_t width : {1, 3, 16, 300}) {
    INFO("skewed, width ", width);
    const NDArray y = dot(skewed, ones({rows, width}), {.transpose_a = true, .forward_stype = dense});
    CHECK(off(y.slice(0, 1), tenth * rows) <= most);
    CHECK(off(dot(skewed, ones({rows, width}), {.transpose_a = true}).data().slice(0, 1), tenth * rows) <= most);
  }
}

TEST_CASE("gradients that add up rows hold their digits") {
  constexpr std::int64_t n = 1 << 20;
  for (const std::int64_t width : {1, 3, 16})
    for (const std::int64_t used : {1, 2, 300}) {
      INFO("width ", width, ", ", used, " of 1000 places");
      std::vector<std::int64_t> list(static_cast<std::size_t>(n / width));
      for (std::size_t i = 0; i < list.size(); ++i)
        list[i] = static_cast<std::int64_t>(i) % 2 == 0 ? 0 : std::int64_t(i / 2) % used;
      double at_0 = 0;
      for (const std::int64_t k : list) at_0 += k == 0 ? tenth : 0;
      const NDArray at = array(list), a = zeros({1000, width});
      CHECK(off(gradients({a}, [&] { return take(a, at); })[0].slice(0, 1), at_0) <= most);
      CHECK(
          off(gradients({a},
                        [&] { return embedding(at, a, {.input_dim = 1000, .output_dim = static_cast<int>(width)}); })[0]
                  .slice(0, 1),
              at_0) <= most);
      const NDArray dy = tenths({n / width, width}), sparse = NDArray({1000, width}, f32, cpu(), row_sparse);
      embedding_gradient(dy, at, a, {.sparse_grad = true}, into(sparse));
      CHECK(off(sparse.data().slice(0, 1), at_0) <= most);
    }
  const NDArray few = zeros({4}), x = tenths({extent / 4, 4});
  CHECK(off(gradients({few}, [&] { return broadcast_add(x, few); })[0], tenth * static_cast<double>(extent / 4)) <=
        most);
  const NDArray one = zeros({1, 4});
  CHECK(off(gradients({one}, [&] { return broadcast_to(one, {.shape = Shape{extent / 4, 4}}); })[0],
            tenth * static_cast<double>(extent / 4)) <= most);
  CHECK(off(gradients({few}, [&] { return tile(few, {.reps = Shape{extent / 4}}); })[0],
            tenth * static_cast<double>(extent / 4)) <= most);
}

TEST_CASE("gradients of images that are enlarged hold their digits") {
  constexpr int large = 2048;
  const double wanted = tenth * large * large;
  const auto of = [](auto f) {
    const NDArray x = zeros({1, 1, 1, 1});
    return gradients({x}, [&] { return f(x); })[0];
  };
  CHECK(off(of([](const NDArray& x) { return up_sampling({x}, {.scale = 1000, .sample_type = UpSampling::nearest}); }),
            tenth * 1000 * 1000) <= most);
  CHECK(off(of([](const NDArray& x) { return adaptive_avg_pooling2d(x, {.output_size = {large, large}}); }), wanted) <=
        most);
  CHECK(off(of([](const NDArray& x) { return bilinear_resize2d({x}, {.height = large, .width = large}); }), wanted) <=
        most);
  const NDArray middle = zeros({1, 2, large, large});
  CHECK(off(of([&](const NDArray& x) { return bilinear_sampler(x, middle); }), wanted) <= most);
  const NDArray regions = zeros({1 << 18, 5});
  CHECK(
      off(of([&](const NDArray& x) { return roi_pooling(x, regions, {.pooled_size = {1, 1}, .spatial_scale = 1.0f}); }),
          tenth * (1 << 18)) <= most);
  CHECK(off(of([&](const NDArray& x) { return roi_align(x, regions, {.pooled_size = {1, 1}, .spatial_scale = 1.0f}); }),
            tenth * (1 << 18)) <= most);
}

TEST_CASE("long sums are the same for any number of threads") {
  const NDArray x = any_numbers({extent}), w = any_numbers({1 << 17, 24});
  std::vector<std::int64_t> list(1 << 17);
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = i % 3 == 0 ? 7 : static_cast<std::int64_t>(i % 100);
  const NDArray at = array(list), table = zeros({100, 24}), pattern = stored(w);
  const auto all = [&] {
    std::vector<NDArray> y{sum(x),
                           sum(x.reshape({-1, 4}), {.axis = 0}),
                           sum(x.reshape({2, -1, 64}), {.axis = 1}),
                           norm(x.slice(0, 40000).reshape({-1, 40})),
                           dot(x, x),
                           dot(x.reshape({32, -1}), w),
                           dot(w, w, {.transpose_a = true}),
                           dot(pattern, w, {.transpose_a = true}).data(),
                           sum(pattern, {.axis = 0})};
    y.push_back(gradients({table}, [&] { return take(table, at); })[0].copy());
    std::vector<std::vector<double>> values;
    for (const NDArray& a : y) values.push_back(a.to_vector<double>());
    return values;
  };
  const int before = num_threads();
  set_num_threads(1);
  const auto alone = all();
  for (const int threads : {2, 5}) {
    set_num_threads(threads);
    CHECK(all() == alone);
  }
  set_num_threads(before);
}
