// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays of random numbers: range, moments, repeatability, refusals.
#include <doctest/doctest.h>
#include <strop/tensor/random.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace strop;

TEST_CASE("uniform numbers lie in their range and repeat with the seed") {
  for (Dtype dtype : {f32, f64, f16, bf16}) {
    random::seed(3);
    const NDArray a = random::uniform({100, 201}, -2, 6, dtype);
    CHECK(a.dtype() == dtype);
    CHECK(a.shape() == Shape{100, 201});
    const auto values = a.to_vector<double>();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    CHECK(*low >= -2);
    CHECK(*low < -1.9);
    CHECK(*high < 6);
    CHECK(*high > 5.9);
    double mean = 0;
    for (double v : values) mean += v / static_cast<double>(values.size());
    CHECK(std::abs(mean - 2) < 0.1);
    CHECK(random::uniform({100, 201}, -2, 6, dtype).to_vector<double>() != values);
    random::seed(3);
    CHECK(random::uniform({100, 201}, -2, 6, dtype).to_vector<double>() == values);
  }
  CHECK(random::uniform({2, 3}).dtype() == f32);
  CHECK(random::uniform({2, 3}, f64).dtype() == f64);
  CHECK(random::uniform({0}).size() == 0);
  for (const double value : random::uniform({1000}, -3e38, 3e38).to_vector<double>())  // the width is no float
    CHECK((value >= -3e38F && value < 3e38F && value != 0));
}

TEST_CASE("large arrays hold the numbers of the stream in order") {
  random::seed(11);
  const auto values = random::uniform({200000}).to_vector<float>();
  random::seed(11);
  const random::Stream stream = random::next();
  bool same = true;
  for (std::int64_t i = 0; i < 200000; ++i) same = same && values[static_cast<std::size_t>(i)] == stream.uniform01(i);
  CHECK(same);
}

TEST_CASE("normal numbers have their mean and deviation") {
  for (Dtype dtype : {f32, f64, f16}) {
    random::seed(5);
    const auto values = random::normal({40000}, 3, 2, dtype).to_vector<double>();
    double mean = 0, square = 0;
    for (double v : values) mean += v / 40000;
    for (double v : values) square += (v - mean) * (v - mean) / 40000;
    CHECK(std::abs(mean - 3) < 0.05);
    CHECK(std::abs(std::sqrt(square) - 2) < 0.05);
  }
  CHECK(random::normal({5}, f64).dtype() == f64);
}

TEST_CASE("refusals") {
  CHECK_THROWS_WITH_AS(random::uniform({2}, i32), "strop: random::uniform() makes floating types, not int32", Error);
  CHECK_THROWS_WITH_AS(random::uniform({2}, 2, 1), "strop: random::uniform() takes finite low <= high, not 2 and 1",
                       Error);
  CHECK_THROWS_AS(random::uniform({2}, std::nan(""), 1), Error);
  CHECK_THROWS_WITH_AS(random::uniform({2}, 0, std::numeric_limits<double>::infinity()),
                       "strop: random::uniform() takes finite low <= high, not 0 and inf", Error);
  CHECK_THROWS_WITH_AS(random::normal({2}, 0, -1), "strop: random::normal() takes deviation >= 0, not 0 and -1", Error);
}
