// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

// The numbers are those of MXNet 1.9.1 unless a comment says otherwise.

namespace {
NDArray filled(const Shape& shape, const Numbers& numbers) {
  NDArray x(shape);
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.pointer<float>()[i] = static_cast<float>(numbers[static_cast<std::size_t>(i)]);
  return x;
}
}  // namespace

TEST_CASE("a sequence's attention to itself as MXNet computes it") {
  const NDArray qkv =
      filled({2, 1, 12}, {-0.375, 0.875, -2,     -0.75, -1.375, -1.625, -1.25, -0.625, -0.375, 0.125, -0.375, 0.75,
                          -1.125, 1.5,   -1.875, 0.625, -0.375, 0.25,   -1.5,  -1.25,  1.25,   1.875, -0.75,  0.75});
  row("_contrib_interleaved_matmul_selfatt_qk", {{"heads", "2"}}, {qkv},
      {{{2, 2, 2},
        {0.0662912577, 0.883883476, 0.795495093, 2.15446591, 0.27621359, -1.93349504, 0.287262112, -2.98310661}}});
  slopes("_contrib_interleaved_matmul_selfatt_qk", {{"heads", "2"}}, {qkv},
         {{-4.06586409, 0.353553385, -2.65165043, 3.800699,   0,           0,           3.97747564,  8.39689255,
           -11.844038,  -8.39689255, 0,           0,          -9.54594135, 0.176776692, -3.71231055, 5.48007727,
           0,           0,           5.21491241,  11.2253199, -13.7885818, -9.72271824, 0,           0}});
  const NDArray values =
      filled({2, 1, 12}, {1.5,  1.625, -1.625, -1.875, -1.375, 1.5, -1.625, -0.375, 1.875,  0.125, 0.75,  -0.75,
                          0.75, 1.375, -1.875, 1,      2,      1,   -0.875, 1.125,  -1.625, -0.25, 1.625, -0.875});
  const NDArray attention = filled({2, 2, 2}, {-0.875, -1.5, -1.875, 0.75, -1.125, -1, 0, -1.75});
  row("_contrib_interleaved_matmul_selfatt_valatt", {{"heads", "2"}}, {values, attention},
      {{{2, 1, 4}, {-1.796875, -2.8125, -2.46875, 1.71875, 4.078125, -2.0625, -2.84375, 1.53125}}});
  slopes("_contrib_interleaved_matmul_selfatt_valatt", {{"heads", "2"}}, {values, attention},
         {{0, 0, 0, 0, -10.25, -13, 0, 0, 0, 0, -3.375, -4.5, 0, 0, 0, 0, 2.25, 1.5, 0, 0, 0, 0, -15.25, -18},
          {1.625, 4, 2.125, 16, -0.75, 1.375, -0.75, 4.375}});
}

TEST_CASE("a sequence's attention to another as MXNet computes it") {
  const NDArray queries = filled({2, 2, 2}, {0.25, -1.375, 0.375, 0.75, -1.625, -0.375, 0.75, -0.375});
  const NDArray keys =
      filled({3, 2, 4}, {-1.75, 0.125,  0.625, 0,     1.75, 0.375, 1.625, -1.5,   -1.5,   1.25,  -0.375, -1.375,
                         1.75,  -0.625, 1,     0.875, 1.5,  0.5,   1,     -0.625, -0.875, 1.625, -0.25,  1.875});
  row("_contrib_interleaved_matmul_encdec_qk", {{"heads", "2"}}, {queries, keys},
      {{{4, 2, 3}, {-0.4375, -0.375,    0.375,    2.84375, 2.4375,  -2.4375,   -0.859375, 0.515625,
                    -1.375,  -0.234375, 0.140625, -0.375,  0.65625, 0.65625,   -0.328125, 1.3125,
                    1.3125,  -0.65625,  1.21875,  0.75,    -0.1875, -0.609375, -0.375,    0.09375}}});
  slopes("_contrib_interleaved_matmul_encdec_qk", {{"heads", "2"}}, {queries, keys},
         {{-0.25, 10.375, 34.125, 45.625, -5.5, 14.125, 42, 52.75},
          {-6.25, 0, -13.375, 0, 16.875, 0, 6,       0, -7.625, 0, -15.125, 0,
           18,    0, 6.375,   0, -9,     0, -16.875, 0, 19.125, 0, 6.75,    0}});
  const NDArray values =
      filled({3, 2, 4}, {0.625, 0.5,   -1.5, 1.75,   -0.25, 0.375, -0.375, -1,   1.625, 0.25, -2,    0.5,
                         -0.75, 0.125, 1.5,  -0.625, 1.625, 0.5,   -1.875, 1.75, 0.75,  2,    -1.25, -1.5});
  const NDArray attention =
      filled({4, 2, 3}, {1.75, 0.75,  -1.75, 1,     1,    1.75,   0.875, -1.5,  -1.875, -1.875, -1.875, -1,
                         1.5,  0.125, 0.25,  1.375, -1.5, -0.875, 0.375, 1.875, 0.25,   -1.875, 1.25,   -1.125});
  row("_contrib_interleaved_matmul_encdec_valatt", {{"heads", "2"}}, {values, attention},
      {{{2, 2, 2}, {0.1875, -2.5, 1.078125, -1.921875, 1.625, -5.96875, -1.421875, 2.78125}}});
  slopes("_contrib_interleaved_matmul_encdec_valatt", {{"heads", "2"}}, {values, attention},
         {{0, 6.75,    0, -9.5, 0, 14.125, 0, -13.5, 0, 5.75,   0, -14.25,
           0, -10.125, 0, 17.5, 0, 7,      0, -9.75, 0, -5.375, 0, -8},
          {0.5,   0.25,  0.5, 2.5,   1.25,  2.5, 3.5, 1,    3.5, 10.5, 3,  10.5,
           1.125, 0.375, 6,   2.625, 0.875, 14,  -4,  -2.5, -6,  -8,   -5, -12}});
}

TEST_CASE("attention of no places, of heads without width and of shapes that do not fit") {
  row("_contrib_interleaved_matmul_selfatt_qk", {{"heads", "2"}}, {NDArray(Shape{0, 3, 12})}, {{{6, 0, 0}, {}}});
  row("_contrib_interleaved_matmul_selfatt_qk", {{"heads", "1"}}, {NDArray(Shape{2, 1, 0})},
      {{{1, 2, 2}, {0, 0, 0, 0}}});
  CHECK(
      refusal("_contrib_interleaved_matmul_selfatt_qk", {{"heads", "1"}}, {NDArray(Shape{2, 1, 7})}) ==
      "_contrib_interleaved_matmul_selfatt_qk: input 'queries_keys_values' has shape (2, 1, 7), expected a last extent "
      "that is a multiple of 3");
  CHECK(refusal("_contrib_interleaved_matmul_encdec_qk", {{"heads", "2"}},
                {NDArray(Shape{2, 1, 4}), NDArray(Shape{3, 1, 12})}) ==
        "_contrib_interleaved_matmul_encdec_qk: input 'keys_values' has shape (3, 1, 12), expected (?, 1, 8)");
  CHECK(refusal("_contrib_interleaved_matmul_encdec_valatt", {{"heads", "2"}},
                {NDArray(Shape{3, 1, 8}), NDArray(Shape{2, 5, 4})}) ==
        "_contrib_interleaved_matmul_encdec_valatt: input 'attention' has shape (2, 5, 4), expected (2, ?, 3)");
}

TEST_CASE("images as tensors of a network as MXNet makes them") {
  const NDArray image = array({{{0, 51, 255}, {102, 153, 25.5}}});
  row("_image_to_tensor", {}, {image}, {{{3, 1, 2}, {0, 0.4, 0.2, 0.6, 1, 0.1}}});
  row("_image_to_tensor", {}, {count({2, 1, 2, 2}).to(strop::u8)},
      {{{2, 2, 1, 2}, {0, 2 / 255.0, 1 / 255.0, 3 / 255.0, 4 / 255.0, 6 / 255.0, 5 / 255.0, 7 / 255.0}}});
  // MXNet refuses its own gradient, in which the axes stay where they are.
  slopes("_image_to_tensor", {}, {image}, {{1 / 255.0, 3 / 255.0, 5 / 255.0, 2 / 255.0, 4 / 255.0, 6 / 255.0}});
  CHECK(refusal("_image_to_tensor", {}, {NDArray(Shape{3, 4})}) ==
        "_image_to_tensor: input 'data' has shape (3, 4), expected 3 or 4 dimensions");
}

TEST_CASE("images normalized as MXNet does it") {
  const NDArray image = count({3, 2, 2});
  row("_image_normalize", {{"mean", "(1, 2, 3)"}, {"std", "(2, 3, 4)"}}, {image},
      {{{3, 2, 2}, {-0.5, 0, 0.5, 1, 0.6666667, 1, 1.3333334, 1.6666666, 1.25, 1.5, 1.75, 2}}});
  row("_image_normalize", {{"mean", "1"}, {"std", "2"}}, {image},
      {{{3, 2, 2}, {-0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5}}});
  row("_image_normalize", {{"mean", "(1, 2, 3)"}, {"std", "(2, 3, 4)"}}, {image.to(strop::u8)},
      {{{3, 2, 2}, {0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 2}}});
  slopes("_image_normalize", {{"mean", "(1, 2, 3)"}, {"std", "(2, 4, 5)"}}, {image},
         {{0.5, 1, 1.5, 2, 1.25, 1.5, 1.75, 2, 1.8, 2, 2.2, 2.4}});
  // MXNet refuses its default, which has four numbers.
  row("_image_normalize", {{"std", "2"}}, {count({1, 1, 2, 1})}, {{{1, 1, 2, 1}, {0, 0.5}}});
  CHECK(refusal("_image_normalize", {{"mean", "(1, 2)"}}, {image}) ==
        "_image_normalize: mean has 2 numbers, expected 1 or one of each channel, 3");
  CHECK(refusal("_image_normalize", {{"mean", "1"}}, {count({2, 2, 2})}) ==
        "_image_normalize: input 'data' has shape (2, 2, 2), expected 1 or 3 channels");
}

TEST_CASE("elements counted in bins as MXNet counts them") {
  const NDArray x = array({0, 0.5, 1, 1.5, 2, -1, 3, NaN, 2, 1});
  row("_histogram", {{"bin_cnt", "4"}, {"range", "(0, 2)"}}, {x}, {{{4}, {1, 1, 2, 3}}, {{5}, {0, 0.5, 1, 1.5, 2}}});
  row("_histogram", {{"bin_cnt", "3"}, {"range", "(1, 1)"}}, {x},
      {{{3}, {1, 2, 1}}, {{4}, {0.5, 0.8333333, 1.1666666, 1.5}}});
  row("_histogram", {}, {x, array({0, 1, 1.5, 2})}, {{{3}, {2, 2, 3}}, {{4}, {0, 1, 1.5, 2}}});
  row("_histogram", {}, {x, array({0, 1, 1, 2})}, {{{3}, {2, 0, 5}}, {{4}, {0, 1, 1, 2}}});
  // The ends of the range are compared before they are rounded to the type of data.
  row("_histogram", {{"bin_cnt", "1"}, {"range", "(0, 0.1)"}}, {array({0.1f, 0.05f, 0.0f})},
      {{{1}, {2}}, {{2}, {0, 0.1}}});
  const NDArray whole = array({0, 1, 2, 3, 2}).to(strop::i32);
  row("_histogram", {{"bin_cnt", "3"}, {"range", "(0, 2)"}}, {whole}, {{{3}, {0, 1, 3}}, {{4}, {0, 0, 1, 2}}});
  row("_histogram", {{"bin_cnt", "2"}, {"range", "(0, 2)"}}, {NDArray(Shape{2, 0})}, {{{2}, {0, 0}}, {{3}, {0, 1, 2}}});
  const Arrays y = strop::invoke_all("_histogram", {whole.to(strop::f64)}, {{"bin_cnt", "3"}, {"range", "(0, 2)"}});
  CHECK(y[0].dtype() == strop::i64);
  CHECK(y[1].dtype() == strop::f64);
  CHECK(refusal("_histogram", {{"bin_cnt", "3"}}, {x}) == "_histogram: bin_cnt is given without range");
  CHECK(refusal("_histogram", {{"bin_cnt", "3"}, {"range", "(2, 0)"}}, {x}) ==
        "_histogram: range is from 2 to 0, expected two numbers in order, at most 1e308 apart");
  CHECK(refusal("_histogram", {}, {x, array({2, 1, 0})}) ==
        "_histogram: bins 0 and 1 are 2 and 1, expected ascending edges");
}

TEST_CASE("many elements are counted once each, whoever counts them") {
  const NDArray x = strop::random::uniform({300001});
  const Arrays even = strop::invoke_all("_histogram", {x}, {{"bin_cnt", "64"}, {"range", "(0, 1)"}});
  const Arrays given = strop::invoke_all("_histogram", {x, even[1]}, {});
  CHECK(values(even[0]) == values(given[0]));
  double all = 0;
  for (double n : values(even[0])) all += n;
  CHECK(all == 300001);
}
