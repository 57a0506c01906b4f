// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

#include <algorithm>
#include <cmath>
#include <random>

using namespace ops_test;
using strop::array;
using strop::LinalgTrmm;

// The numbers are those of MXNet 1.9.1.

namespace {

/// The call's outputs, and the gradients of its inputs for head gradients of 1, 2, ….
void both_ways(std::string_view op, strop::Attributes params, const Arrays& given, const std::vector<Wanted>& outputs,
               const std::vector<Numbers>& gradients) {
  row(op, params, given, outputs, {1e-5, 1e-6});
  Arrays in;
  for (const NDArray& a : given) in.push_back(a.copy());
  for (const NDArray& a : in) a.attach_grad();
  {
    strop::record scope;
    const Arrays y = strop::invoke_all(op, in, {params.begin(), params.size()});
    Arrays heads;
    for (const NDArray& one : y) heads.push_back(count(one.shape(), 1));
    strop::backward(y, heads);
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    const std::string wrong = difference(in[k].grad(), gradients[k], in[k].shape(), {1e-5, 1e-6});
    CHECK_MESSAGE(wrong.empty(), op, ", gradient ", k, ": ", wrong);
  }
}

/// Matrices that are far from singular: random ones with `diagonal` added there.
NDArray matrices(const Shape& shape, double diagonal, Dtype dtype = strop::f64) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> draw(-1, 1);
  NDArray a(shape, strop::f64);
  const std::int64_t n = shape[shape.ndim() - 1];
  for (std::int64_t i = 0; i < a.size(); ++i)
    a.pointer<double>()[i] = draw(random) + (i / n % n == i % n ? diagonal : 0);
  return a.to(dtype);
}
NDArray identities(const NDArray& like) {
  const std::int64_t n = like.shape()[2];
  return strop::broadcast_to(strop::linalg_makediag(strop::ones({1, n}, like.dtype())), {.shape = like.shape()});
}
bool near(const NDArray& a, const NDArray& b) {
  const double most = a.dtype() == strop::f64 ? 1e-10 : 2e-3;
  return strop::allclose(a, b, most, most);
}

const NDArray general = array({{1, 2}, {3, 4}}), symmetric = array({{4, 2}, {2, 5}}), other = array({{5, 3}, {3, 6}});

}  // namespace

TEST_CASE("products of matrices as MXNet makes them") {
  both_ways("_linalg_gemm", {{"alpha", "2"}, {"beta", "3"}, {"transpose_a", "True"}}, {general, symmetric, general},
            {{{2, 2}, {23, 40, 41, 60}}}, {{16, 40, 24, 52}, {14, 20, 30, 44}, {3, 6, 9, 12}});
  both_ways("_linalg_gemm2", {{"transpose_b", "True"}}, {general, symmetric}, {{{2, 2}, {8, 12, 20, 26}}},
            {{8, 12, 20, 26}, {10, 14, 14, 20}});
  const NDArray x = count({2, 3, 2});
  both_ways("_linalg_gemm2", {{"axis", "0"}, {"transpose_a", "True"}}, {x, x},
            {{{2, 3, 2}, {36, 42, 68, 78, 116, 130, 42, 50, 78, 90, 130, 146}}},
            {{2, 8, 18, 48, 50, 104, 20, 98, 60, 162, 116, 242}, {7, 8, 33, 38, 75, 84, 55, 68, 105, 122, 171, 192}});
  row("_linalg_gemm2", {{"axis", "0"}, {"transpose_b", "True"}}, {count({2, 3, 1}, 1), count({2, 3, 1}, 1)},
      {{{2, 3, 2}, {1, 4, 4, 10, 9, 18, 4, 16, 10, 25, 18, 36}}});
  both_ways("_linalg_syrk", {{"alpha", "2"}}, {count({2, 3}, 1)}, {{{2, 2}, {28, 64, 64, 154}}},
            {{44, 58, 72, 74, 100, 126}});
  both_ways("_linalg_syrk", {{"transpose", "True"}}, {count({2, 3}, 1)},
            {{{3, 3}, {17, 22, 27, 22, 29, 36, 27, 36, 45}}}, {{44, 68, 92, 98, 158, 218}});
  row("_linalg_gemm", {{"beta", "0"}}, {general, general, array({{NaN, NaN}, {NaN, NaN}})},
      {{{2, 2}, {7, 10, 15, 22}}});
}

TEST_CASE("products with triangles and solutions as MXNet has them") {
  both_ways("_linalg_trmm", {}, {general, other}, {{{2, 2}, {5, 3, 27, 33}}}, {{11, 0, 27, 33}, {10, 14, 12, 16}});
  both_ways("_linalg_trmm", {{"transpose", "True"}}, {general, other}, {{{2, 2}, {14, 21, 12, 24}}},
            {{11, 0, 15, 33}, {1, 2, 15, 22}});
  both_ways("_linalg_trmm", {{"rightside", "True"}}, {general, other}, {{{2, 2}, {14, 12, 21, 24}}},
            {{14, 0, 21, 30}, {1, 11, 3, 25}});
  both_ways("_linalg_trmm", {{"lower", "False"}, {"rightside", "True"}, {"transpose", "True"}}, {general, other},
            {{{2, 2}, {11, 12, 15, 24}}}, {{14, 21, 0, 30}, {1, 10, 3, 22}});
  both_ways("_linalg_trsm", {}, {general, other}, {{{2, 2}, {5, 3, -3, -0.75}}},
            {{9.25, 0, -6.75, 3}, {-1.25, -1, 0.75, 1}});
  both_ways("_linalg_trsm", {{"transpose", "True"}}, {general, other}, {{{2, 2}, {2.75, -1.5, 0.75, 1.5}}},
            {{0.25, 0, -3.75, 0.75}, {1, 2, 0, -0.5}});
  both_ways("_linalg_trsm", {{"rightside", "True"}}, {general, other}, {{{2, 2}, {2.75, 0.75, -1.5, 1.5}}},
            {{1.75, 0, -5.25, 2.0625}, {1, -0.25, 3, -1.25}});
  both_ways("_linalg_trsm", {{"lower", "False"}, {"alpha", "2"}}, {general, other}, {{{2, 2}, {7, 0, 1.5, 3}}},
            {{-7, -7.5, 0, -0.375}, {2, 4, 0.5, 0}});
  both_ways("_linalg_trsm", {{"lower", "False"}, {"rightside", "True"}, {"transpose", "True"}}, {general, other},
            {{{2, 2}, {3.5, 0.75, 0, 1.5}}}, {{-3.5, -5.25, 0, 0.75}, {1, 0, 3, -0.5}});
  row("_linalg_trsm", {}, {array({{0, 0}, {0, 0}}), array({{1, 1}, {1, 1}})}, {{{2, 2}, {Inf, Inf, NaN, NaN}}});
}

TEST_CASE("Cholesky factors and inverses from them as MXNet has them") {
  both_ways("_linalg_potrf", {}, {symmetric}, {{{2, 2}, {2, 0, 1, 2}}}, {{0.125, 0.25, 0.25, 1}});
  both_ways("_linalg_potrf", {{"lower", "False"}}, {symmetric}, {{{2, 2}, {2, 1, 0, 2}}}, {{0.25, 0, 0, 1}});
  row("_linalg_potrf", {}, {array({{4, 99}, {2, 5}})}, {{{2, 2}, {2, 0, 1, 2}}});  // one triangle is read
  both_ways("_linalg_potri", {}, {array({{2, 0}, {1, 2}})}, {{{2, 2}, {0.3125, -0.125, -0.125, 0.25}}},
            {{0, 0, -0.5, -0.4375}});
  both_ways("_linalg_potri", {{"lower", "False"}}, {array({{2, 1}, {0, 2}})},
            {{{2, 2}, {0.3125, -0.125, -0.125, 0.25}}}, {{0, -0.5, 0, -0.4375}});
  both_ways("_linalg_potri", {}, {general}, {{{2, 2}, {1.5625, -0.1875, -0.1875, 0.0625}}},
            {{-2.1875, 0, 0.0625, 0.0625}});
}

TEST_CASE("inverses and determinants as MXNet has them") {
  both_ways("_linalg_inverse", {}, {general}, {{{2, 2}, {-2, 1, 1.5, -0.5}}}, {{3, -2.75, -1, 0.75}});
  both_ways("_linalg_det", {}, {general}, {{{1}, {-2}}}, {{4, -3, -2, 1}});
  both_ways("_linalg_det", {}, {array({{1, 1}, {1, 1}})}, {{{1}, {0}}}, {{0, 0, 0, 0}});
  both_ways("_linalg_det", {}, {array({{{1, 2}, {3, 4}}, {{2, 1}, {1, 2}}})}, {{{2}, {-2, 3}}},
            {{4, -3, -2, 1, 4, -2, -2, 4}});
  both_ways("_linalg_slogdet", {}, {general}, {{{1}, {-1}}, {{1}, {0.6931471805599453}}}, {{-2, 1.5, 1, -0.5}});
  both_ways("_linalg_slogdet", {}, {array({{1, 1}, {1, 1}})}, {{{1}, {0}}, {{1}, {-Inf}}}, {{0, 0, 0, 0}});
}

TEST_CASE("factors with orthonormal rows as MXNet has them") {
  both_ways(
      "_linalg_gelqf", {}, {array({{1, 2, 3}, {4, 5, 7}})},
      {{{2, 3},
        {-0.2672612419124243, -0.5345224838248488, -0.8017837257372732, 0.9486832980505139, 0, -0.3162277660168378}},
       {{2, 2}, {-3.7416573867739413, 0, -9.354143466934854, 1.5811388300841915}}},
      {{-12.98966259256029, -1.2121534110037873, 3.8907706759313068, 2.938738992290467, -1.3325150806029713,
        -3.8328936638021167}});
  both_ways("_linalg_gelqf", {}, {array({{3, 4}, {1, 2}})},
            {{{2, 2}, {-0.6, -0.8, -0.8, 0.6}}, {{2, 2}, {-5, 0, -2.2, 0.4}}}, {{1.864, -2.648, -5, 0}});
  row("_linalg_gelqf", {}, {array({{0, 0}, {0, 3}})}, {{{2, 2}, {1, 0, 0, 1}}, {{2, 2}, {0, 0, 0, 3}}});
  row("_linalg_gelqf", {}, {array({{-2}})}, {{{1, 1}, {1}}, {{1, 1}, {-2}}});
  both_ways("_linalg_syevd", {}, {array({{1, 2, 3}, {2, 5, 7}, {3, 7, 2}})},
            {{{3, 3},
              {-0.25171242602666677, -0.5611449424880117, 0.7885158261594347, 0.9180445778447608, -0.39632405088091455,
               0.011018156977344637, 0.30632500334384216, 0.726666085773561, 0.6149157601760804}},
             {{3}, {-3.9391983269453994, 0.17259613622134934, 11.766602190724054}}},
            {{1.8753390287827225, -0.048099711576740645, 0.31868576092281786, -0.04809971157674073, 2.4548988585796776,
              0.8926233751059425, 0.3186857609228179, 0.8926233751059425, 1.6697621126376}});
  const double r = 0.7071067811865476;
  row("_linalg_syevd", {}, {array({{2, 7}, {1, 2}})}, {{{2, 2}, {r, -r, r, r}}, {{2}, {1, 3}}});  // 7 is not read
  row("_linalg_syevd", {}, {array({{1, 0}, {0, 1}})}, {{{2, 2}, {1, 0, 0, 1}}, {{2}, {1, 1}}});
  row("_linalg_syevd", {}, {array({{1, NaN}, {NaN, 0}})}, {{{2, 2}, {NaN, NaN, NaN, NaN}}, {{2}, {NaN, NaN}}});
}

TEST_CASE("diagonals and triangles as MXNet takes and puts them") {
  const NDArray x = count({3, 3}), v = array({1, 2, 3});
  both_ways("_linalg_sumlogdiag", {}, {symmetric}, {{{1}, {2.995732273553991}}}, {{0.25, 0, 0, 0.2}});
  both_ways("_linalg_extractdiag", {{"offset", "1"}}, {x}, {{{2}, {1, 5}}}, {{0, 1, 0, 0, 0, 2, 0, 0, 0}});
  both_ways("_linalg_extractdiag", {{"offset", "-1"}}, {x}, {{{2}, {3, 7}}}, {{0, 0, 0, 1, 0, 0, 0, 2, 0}});
  both_ways("_linalg_makediag", {{"offset", "-1"}}, {array({1, 2})}, {{{3, 3}, {0, 0, 0, 1, 0, 0, 0, 2, 0}}}, {{4, 8}});
  both_ways("_linalg_extracttrian", {}, {x}, {{{6}, {0, 3, 4, 6, 7, 8}}}, {{1, 0, 0, 2, 3, 0, 4, 5, 6}});
  both_ways("_linalg_extracttrian", {{"lower", "False"}}, {x}, {{{6}, {0, 1, 4, 2, 5, 8}}},
            {{1, 2, 4, 0, 3, 5, 0, 0, 6}});
  both_ways("_linalg_extracttrian", {{"offset", "1"}}, {x}, {{{3}, {1, 2, 5}}}, {{0, 1, 2, 0, 0, 3, 0, 0, 0}});
  both_ways("_linalg_extracttrian", {{"offset", "-2"}, {"lower", "False"}}, {x}, {{{1}, {6}}},
            {{0, 0, 0, 0, 0, 0, 1, 0, 0}});
  both_ways("_linalg_maketrian", {}, {v}, {{{2, 2}, {1, 0, 2, 3}}}, {{1, 3, 4}});
  both_ways("_linalg_maketrian", {{"offset", "2"}}, {v}, {{{4, 4}, {0, 0, 1, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0}}},
            {{3, 4, 8}});
}

TEST_CASE("factors of Gauss are those of the exchanged rows, with any number of threads") {
  for (const Dtype dtype : {strop::f32, strop::f64})
    for (const std::int64_t n : {2, 15, 16, 17, 40, 64, 65, 150, 270}) {
      CAPTURE(n);
      const NDArray a = matrices({2, n, n}, 0, dtype);
      const int before = strop::num_threads();
      strop::set_num_threads(1);
      const Arrays found = strop::invoke_all("_linalg_det", {a}, {});
      const NDArray inverse = strop::linalg_inverse(a);
      strop::set_num_threads(3);
      const Arrays again = strop::invoke_all("_linalg_det", {a}, {});
      CHECK(values(strop::linalg_inverse(a)) == values(inverse));
      strop::set_num_threads(before);
      CHECK(values(again[0]) == values(found[0]));
      CHECK(near(strop::linalg_gemm2(inverse, a), identities(a)));
    }
}

TEST_CASE("factors of matrices that are larger than a block multiply to what they came from") {
  const auto check = [](std::int64_t n, Dtype dtype) {
    CAPTURE(n);
    CAPTURE(dtype);
    const NDArray a = matrices({3, n, n}, 10, dtype), definite = strop::linalg_gemm2(a, a, {.transpose_b = true}),
                  one = identities(a);
    const NDArray l = strop::linalg_potrf(definite), u = strop::linalg_potrf(definite, {.lower = false});
    CHECK(near(strop::linalg_gemm2(l, l, {.transpose_b = true}), definite));
    CHECK(near(strop::linalg_gemm2(u, u, {.transpose_a = true}), definite));
    CHECK(near(strop::linalg_gemm2(strop::linalg_potri(l), definite), one));
    CHECK(near(strop::linalg_gemm2(strop::linalg_potri(u, {.lower = false}), definite), one));
    const Arrays lq = strop::linalg_gelqf(matrices({3, n, n + 5}, 0, dtype)), eigen = strop::linalg_syevd(definite);
    CHECK(near(strop::linalg_gemm2(lq[1], lq[0]), matrices({3, n, n + 5}, 0, dtype)));
    CHECK(near(strop::linalg_syrk(lq[0]), one));
    CHECK(near(strop::linalg_syrk(eigen[0]), one));
    CHECK(near(strop::linalg_gemm2(
                   strop::linalg_gemm2(eigen[0], strop::linalg_makediag(eigen[1]), {.transpose_a = true}), eigen[0]),
               definite));
    const NDArray shifted = matrices({3, n, n}, 1, dtype);  // whose rows are exchanged
    CHECK(near(strop::linalg_gemm2(strop::linalg_inverse(shifted), shifted), one));
    CHECK(near(strop::linalg_slogdet(definite)[1], strop::linalg_sumlogdiag(l) * 2));
    // Determinants beside those of the same matrices in double, as quotients: of 100 rows they are beyond float.
    const Arrays log_det = strop::linalg_slogdet(shifted), exactly = strop::linalg_slogdet(shifted.to(strop::f64));
    CHECK(strop::allclose(log_det[0], exactly[0].to(dtype), 0, 0));
    CHECK(near(strop::exp(log_det[1] - exactly[1].to(dtype)), strop::ones({3}, dtype)));
    const NDArray det = strop::linalg_det(shifted);
    if (n < 100) CHECK(near(det, (exactly[0] * strop::exp(exactly[1])).to(dtype)));
    if (dtype == strop::f64) CHECK(near(strop::linalg_det(strop::linalg_syrk(shifted)), det * det));
    for (const bool transposed : {false, true})
      for (const bool right : {false, true})
        for (const bool lower : {false, true}) {
          const NDArray b = right ? matrices({3, 7, n}, 0, dtype) : matrices({3, n, 7}, 0, dtype);
          const NDArray x =
              strop::linalg_trsm(a, b, {.transpose = transposed, .rightside = right, .lower = lower, .alpha = 2});
          CHECK(near(strop::linalg_trmm(a, x, {.transpose = transposed, .rightside = right, .lower = lower}), b * 2));
        }
  };
  for (const std::int64_t n : {1, 12, 23, 31, 33, 100})
    for (const Dtype dtype : {strop::f64, strop::f32}) check(n, dtype);
}

TEST_CASE("a Cholesky factor of many blocks, and a block that has none") {
  const NDArray a = matrices({1, 300, 300}, 20), definite = strop::linalg_syrk(a);
  const NDArray l = strop::linalg_potrf(definite), u = strop::linalg_potrf(definite, {.lower = false});
  CHECK(near(strop::linalg_gemm2(l, l, {.transpose_b = true}), definite));
  CHECK(near(strop::linalg_gemm2(u, u, {.transpose_a = true}), definite));
  const NDArray broken = definite.copy();
  broken.pointer<double>()[299 * 300 + 299] = -1;
  CHECK(refusal("_linalg_potrf", {}, {broken}) == "_linalg_potrf: matrix 0 of input 'A' is not positive definite");
}

TEST_CASE("products with triangles of every kind and size, in place and with what is not finite") {
  const auto check = [](std::int64_t n, bool lower, bool transposed, bool right, Dtype dtype, double odd) {
    CAPTURE(n);
    CAPTURE(lower);
    CAPTURE(transposed);
    CAPTURE(right);
    CAPTURE(odd);
    CAPTURE(dtype);
    const NDArray a = matrices({2, n, n}, 1, dtype);
    NDArray b = right ? matrices({2, 9, n}, 0) : matrices({2, n, 9}, 0);
    b.pointer<double>()[b.size() - 2] = odd;  // of the last row in one column, or of the last column but one in one row
    b = b.to(dtype);
    const LinalgTrmm how{.transpose = transposed, .rightside = right, .lower = lower, .alpha = 3};
    const NDArray y = strop::linalg_trmm(a, b, how);
    const NDArray wide_a = a.to(strop::f64), wide_b = b.to(strop::f64);
    NDArray wanted = strop::zeros(b.shape(), strop::f64);
    const double *const p = wide_a.pointer<double>(), *const q = wide_b.pointer<double>();
    const std::int64_t across = right ? 1 : 9, along = right ? n : 1;
    for (std::int64_t k = 0; k < 2; ++k)
      for (std::int64_t line = 0; line < 9; ++line)
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            const bool turned = transposed != right;  // element (i, j) of what multiplies lines
            const std::int64_t row = turned ? j : i, col = turned ? i : j;
            if (lower ? col <= row : col >= row)
              wanted.pointer<double>()[k * 9 * n + i * across + line * along] +=
                  3 * p[k * n * n + row * n + col] * q[k * 9 * n + j * across + line * along];
          }
    CHECK(strop::allclose(y, wanted.to(dtype), 1e-4, 1e-4, true));
    strop::linalg_trmm(a, b, how, strop::into(b));
    CHECK(strop::allclose(b, y, 1e-6, 1e-6, true));
  };
  for (const std::int64_t n : {5, 127, 130, 300})
    for (int kind = 0; kind < 8; ++kind)
      for (const double odd : {1.0, Inf, NaN})
        check(n, kind % 2 == 0, kind / 2 % 2 == 0, kind / 4 == 0, n == 127 ? strop::f64 : strop::f32, odd);
}

TEST_CASE("matrices with infinities, NaN and numbers whose squares are none") {
  for (const double odd : {Inf, -Inf, NaN})
    for (const std::int64_t n : {2, 40}) {
      CAPTURE(odd);
      CAPTURE(n);
      const NDArray a = matrices({1, n, n}, 10);
      a.pointer<double>()[n] = odd;  // the first of the second row
      const auto is_nan = [](const NDArray& x) {
        return std::all_of(x.pointer<double>(), x.pointer<double>() + x.size(), [](double v) { return std::isnan(v); });
      };
      CHECK(is_nan(strop::linalg_det(a)));
      CHECK(is_nan(strop::linalg_slogdet(a)[1]));
      CHECK(is_nan(strop::linalg_inverse(a)));
      CHECK(is_nan(strop::linalg_syevd(a)[1]));
      CHECK(refusal("_linalg_potrf", {}, {a}) == "_linalg_potrf: matrix 0 of input 'A' is not positive definite");
      CHECK(strop::linalg_gelqf(a)[0].shape() == Shape{1, n, n});
      CHECK(strop::linalg_trsm(a, a).shape() == Shape{1, n, n});
    }
  for (const double scale : {1e-30, 1e30}) {
    CAPTURE(scale);
    const NDArray a = strop::cast(matrices({1, 3, 30}, 0) * scale, {.dtype = strop::f32});
    const Arrays lq = strop::linalg_gelqf(a);
    CHECK(strop::allclose(strop::linalg_gemm2(lq[1], lq[0]) / static_cast<float>(scale), a / static_cast<float>(scale),
                          1e-5, 1e-5));
    CHECK(strop::allclose(strop::linalg_syrk(lq[0]), strop::linalg_makediag(strop::ones({1, 3})), 1e-5, 1e-5));
  }
}

TEST_CASE("operators of linear algebra refuse in a sentence") {
  const NDArray wide = count({2, 3}), pairs = count({2, 3, 2}), vector = array({1, 2});
  CHECK(refusal("_linalg_potrf", {}, {array({{1, 2}, {2, 1}})}) ==
        "_linalg_potrf: matrix 0 of input 'A' is not positive definite");
  CHECK(refusal("_linalg_potrf", {}, {wide}) ==
        "_linalg_potrf: input 'A' has shape (2, 3), expected matrices with as many rows as columns");
  CHECK(refusal("_linalg_potri", {}, {strop::zeros({2, 2})}) ==
        "_linalg_potri: matrix 0 of input 'A' has a zero on its diagonal, and so is no Cholesky factor");
  CHECK(refusal("_linalg_inverse", {}, {array({{1, 1}, {1, 1}})}) ==
        "_linalg_inverse: matrix 0 of input 'A' is singular");
  CHECK(refusal("_linalg_det", {}, {vector}) == "_linalg_det: input 'A' has shape (2,), expected 2 dimensions or more");
  CHECK(refusal("_linalg_gemm2", {}, {pairs, pairs}) ==
        "_linalg_gemm2: input 'B' has shape (2, 3, 2), expected (2, 2, ?)");
  CHECK(refusal("_linalg_gemm2", {{"axis", "-1"}}, {pairs, pairs}) ==
        "_linalg_gemm2: axis is -1, expected one before the last of input 'A', which has shape (2, 3, 2)");
  CHECK(refusal("_linalg_gemm", {}, {general, general, array({{1, 2}})}) ==
        "_linalg_gemm: input 'C' has shape (1, 2), expected (2, 2)");
  CHECK(refusal("_linalg_trmm", {}, {general, count({3, 2})}) ==
        "_linalg_trmm: input 'B' has shape (3, 2), expected (2, ?)");
  CHECK(refusal("_linalg_extractdiag", {{"offset", "-4"}}, {count({3, 3})}) ==
        "_linalg_extractdiag: offset is -4, expected at most 3, the extent of the matrices, either way");
  CHECK(
      refusal("_linalg_maketrian", {}, {vector}) ==
      "_linalg_maketrian: input 'A' has shape (2,) and so 2 elements for each triangle, expected m · (m + 1) / 2 with "
      "a whole m");
}

TEST_CASE("linear algebra of matrices without elements, forward and back") {
  const NDArray none = strop::zeros({2, 0, 0}), wide = strop::zeros({2, 0, 3}), nothing = strop::zeros({2, 0});
  for (const NDArray& x : {none, wide, nothing}) x.attach_grad();
  strop::record scope;
  CHECK(strop::linalg_makediag(nothing, {.offset = 2}).shape() == Shape{2, 2, 2});
  for (const NDArray& y :
       {strop::linalg_makediag(nothing), strop::linalg_makediag(nothing, {.offset = 2}),
        strop::linalg_maketrian(nothing), strop::linalg_extractdiag(none), strop::linalg_extracttrian(none),
        strop::linalg_trmm(none, wide), strop::linalg_trsm(none, wide), strop::linalg_gemm2(none, wide),
        strop::linalg_potrf(none), strop::linalg_sumlogdiag(none)})
    y.backward();
}

TEST_CASE("many matrices on few threads and few on many are the same ones") {
  const int before = strop::num_threads();
  strop::set_num_threads(1);
  const NDArray a = strop::linalg_syrk(matrices({5, 6, 6}, 1));
  const NDArray one = strop::linalg_syevd(a)[1];
  strop::set_num_threads(4);
  CHECK(near(strop::linalg_syevd(a)[1], one));
  strop::set_num_threads(before);
}
