// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

TEST_CASE("sum as MXNet does it") {
  row("sum", {}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1}, {14}}});
  row("sum", {{"axis", "1"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {2, 2, 2, 3, 2, 3}}});
  row("sum", {{"axis", "(0, -1)"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2}, {4, 10}}});
  row("sum", {{"axis", "(0, -1)"}, {"keepdims", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1, 2, 1}, {4, 10}}});
  row("sum", {{"axis", "1"}, {"exclude", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{2}, {4, 10}}});
  row("sum", {{"keepdims", "True"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{1, 1, 1}, {14}}});
  row("sum", {{"axis", "1"}}, {array({{1, Inf}, {-Inf, 2}})}, {{{2}, {Inf, -Inf}}});
}

TEST_CASE("_square_sum over stored rows, as MXNet does it") {
  const strop::verify::QuietFallbacks quiet;
  const NDArray x = strop::row_sparse_array({{1, 2, 3}, {4, 5, 6}}, {0, 2}, {4, 3});
  strop::clear_fallbacks();
  CHECK(values(strop::square_sum(x, {.axis = 0})) == Numbers{17, 29, 45});
  CHECK(values(strop::square_sum(x, {.axis = 1})) == Numbers{14, 0, 77, 0});
  CHECK(values(strop::square_sum(x)) == Numbers{91});
  const NDArray rows = strop::square_sum(x, {.axis = 1, .keepdims = true});
  CHECK(rows.storage() == strop::row_sparse);
  rows.check_format();
  CHECK(rows.nnz() == 2);
  CHECK(values(rows) == Numbers{14, 0, 77, 0});
  CHECK(values(strop::square_sum(x, {.axis = -1, .keepdims = true})) == Numbers{14, 0, 77, 0});
  CHECK(values(strop::square_sum(strop::zeros({4, 3}, strop::row_sparse), {.axis = 0})) == Numbers{0, 0, 0});
  for (const strop::SquareSum& p :
       {strop::SquareSum{.axis = 0}, strop::SquareSum{.axis = 1}, strop::SquareSum{.axis = 1, .keepdims = true}}) {
    x.attach_grad();
    {
      strop::record scope;
      strop::square_sum(x, p).backward();
    }
    CHECK(x.grad().storage() == strop::row_sparse);
    CHECK(values(x.grad()) == Numbers{2, 4, 6, 0, 0, 0, 8, 10, 12, 0, 0, 0});
  }
  CHECK(strop::fallbacks().empty());
  CHECK(values(strop::square_sum(array({{1, 2}, {0, 3}}).to(strop::csr), {.axis = 0})) == Numbers{1, 13});
}

TEST_CASE("mean as MXNet does it") {
  row("mean", {}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1}, {1.1666666}}});
  row("mean", {{"axis", "1"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {1, 1, 1, 1.5, 1, 1.5}}});
  row("mean", {{"axis", "(0, -1)"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2}, {0.6666667, 1.6666666}}});
  row("mean", {{"axis", "(0, -1)"}, {"keepdims", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1, 2, 1}, {0.6666667, 1.6666666}}});
  row("mean", {{"axis", "1"}, {"exclude", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{2}, {0.6666667, 1.6666666}}});
  row("mean", {{"keepdims", "True"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{1, 1, 1}, {1.1666666}}});
  row("mean", {{"axis", "1"}}, {array({{1, Inf}, {-Inf, 2}})}, {{{2}, {Inf, -Inf}}});
}

TEST_CASE("prod as MXNet does it") {
  row("prod", {}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1}, {810}}});
  row("prod", {{"axis", "1"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {0.75, -8, -3, 2, -1.25, -18}}});
  row("prod", {{"axis", "(0, -1)"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2}, {135, 6}}});
  row("prod", {{"axis", "(0, -1)"}, {"keepdims", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1, 2, 1}, {135, 6}}});
  row("prod", {{"axis", "1"}, {"exclude", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{2}, {135, 6}}});
  row("prod", {{"keepdims", "True"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{1, 1, 1}, {810}}});
  row("prod", {{"axis", "1"}}, {array({{1, Inf}, {-Inf, 2}})}, {{{2}, {Inf, -Inf}}});
}

TEST_CASE("max as MXNet does it") {
  row("max", {}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1}, {6}}});
  row("max", {{"axis", "1"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {1.5, 4, 3, 2, 2.5, 6}}});
  row("max", {{"axis", "(0, -1)"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2}, {3, 6}}});
  row("max", {{"axis", "(0, -1)"}, {"keepdims", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1, 2, 1}, {3, 6}}});
  row("max", {{"axis", "1"}, {"exclude", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{2}, {3, 6}}});
  row("max", {{"keepdims", "True"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{1, 1, 1}, {6}}});
  row("max", {{"axis", "1"}}, {array({{1, Inf}, {-Inf, 2}})}, {{{2}, {Inf, 2}}});
}

TEST_CASE("min as MXNet does it") {
  row("min", {}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1}, {-3}}});
  row("min", {{"axis", "1"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {0.5, -2, -1, 1, -0.5, -3}}});
  row("min", {{"axis", "(0, -1)"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2}, {-3, -1}}});
  row("min", {{"axis", "(0, -1)"}, {"keepdims", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1, 2, 1}, {-3, -1}}});
  row("min", {{"axis", "1"}, {"exclude", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{2}, {-3, -1}}});
  row("min", {{"keepdims", "True"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{1, 1, 1}, {-3}}});
  row("min", {{"axis", "1"}}, {array({{1, Inf}, {-Inf, 2}})}, {{{2}, {1, -Inf}}});
}

TEST_CASE("nansum and nanprod as MXNet does them") {
  row("nansum", {}, {array({{1, NaN}, {2, 3}})}, {{{1}, {6}}});
  row("nansum", {{"axis", "0"}}, {array({{1, NaN}, {2, 3}})}, {{{2}, {3, 3}}});
  row("nansum", {{"axis", "1"}, {"keepdims", "True"}}, {array({{1, NaN}, {2, 3}})}, {{{2, 1}, {1, 5}}});
  row("nansum", {{"axis", "0"}, {"exclude", "True"}}, {array({{1, NaN}, {2, 3}})}, {{{2}, {1, 5}}});
  row("nanprod", {}, {array({{1, NaN}, {2, 3}})}, {{{1}, {6}}});
  row("nanprod", {{"axis", "0"}}, {array({{1, NaN}, {2, 3}})}, {{{2}, {2, 3}}});
  row("nanprod", {{"axis", "1"}, {"keepdims", "True"}}, {array({{1, NaN}, {2, 3}})}, {{{2, 1}, {1, 6}}});
  row("nanprod", {{"axis", "0"}, {"exclude", "True"}}, {array({{1, NaN}, {2, 3}})}, {{{2}, {1, 6}}});
}

TEST_CASE("norm as MXNet does it") {
  row("norm", {}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1}, {9.433981}}});
  row("norm", {{"ord", "1"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1}, {27}}});
  row("norm", {{"axis", "1"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {1.5811388, 4.472136, 3.1622777, 2.236068, 2.5495098, 6.7082043}}});
  row("norm", {{"axis", "(0, 2)"}, {"keepdims", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1, 2, 1}, {5.87367, 7.382412}}});
  row("norm", {{"ord", "1"}, {"axis", "-1"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 2}, {6.5, 5.5, 7.5, 7.5}}});
}

TEST_CASE("argmax and argmin as MXNet does them") {
  row("argmax", {}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1}, {11}}});
  row("argmax", {{"axis", "1"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {0, 1, 0, 0, 0, 1}}});
  row("argmax", {{"axis", "-1"}, {"keepdims", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{2, 2, 1}, {2, 1, 1, 2}}});
  row("argmax", {{"axis", "0"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {1, 1, 0, 1, 0, 1}}});
  row("argmin", {}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{1}, {8}}});
  row("argmin", {{"axis", "1"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {1, 0, 1, 1, 1, 0}}});
  row("argmin", {{"axis", "-1"}, {"keepdims", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})}, {{{2, 2, 1}, {1, 2, 2, 1}}});
  row("argmin", {{"axis", "0"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {0, 0, 1, 0, 1, 0}}});
  row("argmax", {{"axis", "1"}}, {array({{2, 2, 1}, {1, 3, 3}})}, {{{2}, {0, 1}}});
  row("argmin", {{"axis", "1"}}, {array({{2, 1, 1}, {1, 3, 1}})}, {{{2}, {1, 0}}});
  row("argmax_channel", {}, {array({{2, 5, 1}, {4, 3, 9}})}, {{{2}, {1, 2}}});
}

TEST_CASE("moments as MXNet does it") {
  row("moments", {{"axes", "(0,)"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 3}, {1.75, 0.25, 0, 0.75, 1.75, 2.5}}, {{2, 3}, {0.0625, 5.0625, 9, 0.0625, 5.0625, 12.25}}});
  row("moments", {{"axes", "(0, 2)"}}, {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2}, {0.6666667, 1.6666666}}, {{2}, {5.305556, 6.3055553}}});
  row("moments", {{"axes", "(-1,)"}, {"keepdims", "True"}},
      {array({{{1.5, -2, 3}, {0.5, 4, -1}}, {{2, 2.5, -3}, {1, -0.5, 6}}})},
      {{{2, 2, 1}, {0.8333333, 1.1666666, 0.5, 2.1666667}}, {{2, 2, 1}, {4.388889, 4.388889, 6.1666665, 7.722222}}});
}

TEST_CASE("reductions of nothing, of one number, of whole numbers") {
  const NDArray none = strop::zeros({2, 0, 3});
  row("sum", {{"axis", "1"}}, {none}, {{{2, 3}, Numbers(6, 0.0)}});
  row("prod", {{"axis", "1"}}, {none}, {{{2, 3}, Numbers(6, 1.0)}});
  row("mean", {{"axis", "1"}}, {none}, {{{2, 3}, Numbers(6, NaN)}});
  for (const std::string_view op : {"max", "min"})
    CHECK(refusal(op, {{"axis", "1"}}, {none}) ==
          cat(op, ": input 'data' has shape (2, 0, 3), which leaves no element to choose along the axes that go"));
  row("sum", {{"axis", "0"}}, {none}, {{{0, 3}, {}}});
  for (std::string_view op : {"sum", "mean", "prod", "max", "min", "nansum", "nanprod", "norm"}) {
    row(op, {}, {strop::scalar(3)}, {{{1}, {3}}});
    row(op, {{"axis", "()"}}, {array({{3, 4}})}, {{{1}, {values(strop::invoke(op, {array({{3, 4}})}))[0]}}});
    row(op, {{"axis", "(0, 2)"}, {"keepdims", "True"}}, {none}, {{{1, 0, 1}, {}}});
  }
  const NDArray whole = array({{1, 2}, {3, 4}}).to(strop::i64);
  CHECK(strop::invoke("sum", {whole}).dtype() == strop::i64);
  CHECK(values(strop::invoke("sum", {whole}, {{"axis", "0"}})) == Numbers{4, 6});
  CHECK(values(strop::invoke("max", {array({-5, -7}).to(strop::i32)})) == Numbers{-5});
  CHECK(strop::invoke("argmax", {whole}, {{"axis", "1"}}).dtype() == strop::i64);
}

TEST_CASE("small integers are reduced in their own type, as MXNet does it") {
  const NDArray x = array({{100, 100, 100}, {1, 2, 3}});
  for (Dtype type : {strop::i8, strop::u8}) {
    const NDArray a = x.to(type);
    const auto check = [&](std::string_view op, const Numbers& wanted) {
      const NDArray y = strop::invoke(op, {a}, {{"axis", "1"}});
      CHECK(y.dtype() == type);
      CHECK_MESSAGE(values(y) == wanted, op);
    };
    check("sum", {44, 6});  // sums and products wrap
    check("prod", {64, 6});
    check("max", {100, 3});
    check("min", {100, 1});
    check("argmax", {0, 2});
    check("argmin", {0, 0});
    CHECK(values(strop::invoke("argmax_channel", {a})) == Numbers{0, 2});
  }
  CHECK(values(strop::invoke("max", {array({-5, -7}).to(strop::i8)})) == Numbers{-5});
  CHECK(values(strop::invoke("sum", {strop::full({2}, 1073741824, strop::i32)})) == Numbers{-2147483648.0});
  CHECK(values(strop::invoke("argmax", {count({128}).to(strop::i8)})) == Numbers{127});
  CHECK(refusal("argmax", {}, {strop::zeros({129}, strop::i8)}) ==
        "argmax: int8 does not hold the 129 positions of a row, expected at most 128; convert the array to a "
        "wider type");
  CHECK(refusal("argmin", {{"axis", "0"}}, {strop::zeros({257, 2}, strop::u8)}) ==
        "argmin: uint8 does not hold the 257 positions of a row, expected at most 256; convert the array to "
        "a wider type");
}

TEST_CASE("positions that floating types do not hold are refused, as those of integers, topk and argsort") {
  const auto held = [](std::string_view op, Dtype type, std::int64_t most, strop::Attributes params, bool first) {
    const auto row = [&](std::int64_t n) { return (first ? strop::zeros({1, n}, type) : strop::zeros({n, 1}, type)); };
    const NDArray at = strop::zeros({1, most}, type);
    strop::slice_assign_scalar(at, {.scalar = 1, .begin = {0, most - 1}, .end = {1, most}}, strop::into(at));
    const NDArray fits = first ? at : at.reshape({most, 1});
    CHECK(values(strop::invoke(op, {fits}, params)) == Numbers{static_cast<double>(most - 1)});
    CHECK(refusal(op, params, {row(most + 1)}) ==
          cat(op == "argmax_channel" ? "argmax" : op, ": ", name_of(type), " does not hold the ", most + 1,
              " positions of a row, expected at most ", most, "; convert the array to a wider type"));
  };
  held("argmax", strop::f16, 2049, {{"axis", "1"}}, true);
  held("argmax", strop::f16, 2049, {{"axis", "0"}}, false);
  held("argmax", strop::bf16, 257, {}, true);
  held("argmax_channel", strop::f16, 2049, {}, true);
  for (const Dtype type : {strop::f16, strop::bf16}) {  // as converted copies gave them
    const NDArray x = array({{1, 3, 2}, {5, 4, NaN}}).to(type);
    CHECK(values(strop::invoke("argmin", {x}, {{"axis", "1"}})) == Numbers{0, 2});
    CHECK(strop::invoke("argmin", {x}, {{"axis", "0"}}).dtype() == type);
  }
  CHECK(refusal("argmin", {}, {strop::zeros({(1 << 24) + 2})}) ==
        "argmin: float32 does not hold the 16777218 positions of a row, expected at most 16777217; convert the array "
        "to a wider type");
  CHECK(refusal("_ravel_multi_index", {{"shape", "(3, 2)"}}, {array({{8388608}, {1}})}) ==
        "_ravel_multi_index: float32 does not hold the position 16777217 exactly; give coordinates of a wider type");
  CHECK(values(strop::invoke("_ravel_multi_index", {array({{8388608}, {1}}).to(strop::f64)}, {{"shape", "(3, 2)"}})) ==
        Numbers{16777217});
  CHECK(refusal("_ravel_multi_index", {{"shape", "(30, 20)"}}, {array({{20}, {1}}).to(strop::u8)}) ==
        "_ravel_multi_index: uint8 does not hold the position 401 exactly; give coordinates of a wider type");
  CHECK(
      refusal("_contrib_bipartite_matching", {{"threshold", "0"}}, {strop::zeros({2, 2050}, strop::f16)}) ==
      "bipartite_matching: float16 does not hold 2050 positions exactly, expected at most 2049; convert the scores to "
      "a wider type");
}

TEST_CASE("NaN is passed on, or passed over") {
  const NDArray x = array({{1, NaN}, {3, 2}});
  row("sum", {{"axis", "1"}}, {x}, {{{2}, {NaN, 5}}});
  row("max", {{"axis", "1"}}, {x}, {{{2}, {NaN, 3}}});
  row("min", {{"axis", "0"}}, {x}, {{{2}, {1, NaN}}});
  // The position of the first NaN, as max, min and topk give the NaN itself.
  const NDArray some = array({{1, NaN, 5}, {NaN, 2, 3}, {1, 2, NaN}, {NaN, NaN, NaN}});
  for (std::string_view op : {"argmax", "argmin"}) {
    row(op, {{"axis", "0"}}, {some}, {{{3}, {1, 0, 2}}});
    row(op, {{"axis", "1"}}, {some}, {{{4}, {1, 0, 2, 0}}});
    row(op, {}, {some}, {{{1}, {1}}});
  }
  row("argmax_channel", {}, {some}, {{{4}, {1, 0, 2, 0}}});
  row("topk", {{"axis", "1"}}, {some}, {{{4, 1}, {1, 0, 2, 0}}});
  CHECK(gradients("nansum", {}, {x}, {array({2})})[0] == Numbers{2, 0, 2, 2});
  CHECK(gradients("nanprod", {}, {x}, {array({2})})[0] == Numbers{12, 0, 4, 6});
}

TEST_CASE("gradients of reductions where elements are equal or zero") {
  CHECK(gradients("max", {{"axis", "1"}}, {array({{1, 3, 3}, {2, 0, 1}})}, {array({5, 7})})[0] ==
        Numbers{0, 5, 5, 7, 0, 0});
  CHECK(gradients("prod", {{"axis", "1"}}, {array({{2, 0, 3}, {0, 0, 3}, {2, 4, 5}})}, {array({1, 1, 2})})[0] ==
        Numbers{0, 6, 0, 0, 0, 0, 40, 20, 16});
  CHECK(gradients("norm", {}, {array({0, 0})}, {array({1})})[0] == Numbers{0, 0});
  CHECK(gradients("norm", {{"ord", "1"}}, {array({-2, 0, 3})}, {array({2})})[0] == Numbers{-2, 0, 2});
}

TEST_CASE("norm in another type") {
  const NDArray x = array({3, 4}), y = strop::invoke("norm", {x}, {{"out_dtype", "float64"}});
  CHECK(y.dtype() == strop::f64);
  CHECK(values(y) == Numbers{5});
  CHECK(values(strop::invoke("norm", {x}, {{"out_dtype", "int32"}})) == Numbers{5});
  CHECK(strop::invoke("norm", {x.to(strop::f16)}, {{"out_dtype", "float32"}}).dtype() == strop::f32);
  CHECK(gradients("norm", {{"out_dtype", "float64"}}, {x}, {array<double>({10})})[0] == Numbers{6, 8});
}

TEST_CASE("sparse arrays are reduced over what they store") {
  const strop::verify::QuietFallbacks quiet;
  strop::clear_fallbacks();
  const NDArray c = array({{0, 1, 0}, {2, 0, 3}, {0, 0, 0}}).to(strop::csr);
  row("sum", {{"axis", "0"}}, {c}, {{{3}, {2, 1, 3}}});
  row("sum", {{"axis", "1"}, {"keepdims", "True"}}, {c}, {{{3, 1}, {1, 5, 0}}});
  row("sum", {{"axis", "-1"}}, {c}, {{{3}, {1, 5, 0}}});
  row("sum", {}, {c}, {{{1}, {6}}});
  row("mean", {{"axis", "0"}}, {c}, {{{3}, {2.0 / 3, 1.0 / 3, 1}}});
  row("mean", {}, {c}, {{{1}, {6.0 / 9}}});
  row("norm", {{"axis", "1"}}, {c}, {{{3}, {1, std::sqrt(13.0), 0}}});
  row("norm", {{"ord", "1"}}, {c}, {{{1}, {6}}});
  row("sum", {}, {c.to(strop::row_sparse)}, {{{1}, {6}}});
  row("sum", {}, {strop::zeros({4, 5}, strop::csr)}, {{{1}, {0}}});
  CHECK(strop::fallbacks().empty());
  const std::int64_t wide = std::int64_t{1} << 40;  // a dense copy would not fit
  row("sum", {{"axis", "1"}}, {strop::csr_matrix({1, 2, 3}, {5, 1000000000000, 7}, {0, 2, 3}, {2, wide})},
      {{{2}, {3, 3}}});
  CHECK(strop::fallbacks().empty());
  row("sum", {{"axis", "0"}, {"exclude", "True"}}, {c}, {{{3}, {1, 5, 0}}});
  CHECK(strop::fallbacks().size() == 1);
  c.attach_grad(strop::GradRequest::write, strop::dense);
  {
    strop::record scope;
    strop::invoke("sum", {c}, {{"axis", "0"}}).backward(array({1, 2, 3}));
  }
  CHECK(values(c.grad()) == Numbers{1, 2, 3, 1, 2, 3, 1, 2, 3});
}

TEST_CASE("reductions refuse in a sentence") {
  const NDArray m = count({2, 3});
  CHECK(refusal("sum", {{"axis", "2"}}, {m}) == "sum: axis 2 is outside an array of 2 dimensions");
  CHECK(refusal("sum", {{"axis", "(0, -2)"}}, {m}) == "sum: axis -2 is given twice");
  CHECK(refusal("argmax", {{"axis", "0"}}, {strop::zeros({0, 2})}) ==
        "argmax: an axis without elements has no largest one");
  CHECK(refusal("argmax", {{"axis", "3"}}, {m}) == "argmax: axis 3 is outside an array of 2 dimensions");
  CHECK(refusal("norm", {{"ord", "3"}}, {m}) == "norm: parameter 'ord' is 3, expected a value from 1 to 2");
  CHECK(refusal("sum", {}, {m.to(strop::boolean)}) ==
        "sum: input 'data' is bool, expected one of float16, bfloat16, float32, float64, uint8, int8, int32, int64");
  CHECK(refusal("mean", {}, {m.to(strop::i32)}) ==
        "mean: input 'data' is int32, expected one of float16, bfloat16, float32, float64");
  CHECK(refusal("topk", {{"k", "4"}}, {m}) == "topk: k is 4, the axis has 3 elements");
  CHECK(refusal("topk", {{"axis", "None"}, {"k", "7"}}, {m}) == "topk: k is 7, the array has 6 elements");
  CHECK(refusal("sort", {{"axis", "2"}}, {m}) == "sort: axis 2 is outside an array of 2 dimensions");
  CHECK(refusal("sort", {}, {m.to(strop::boolean)}) ==
        "sort: input 'data' is bool, expected one of float16, bfloat16, float32, float64, uint8, int8, int32, int64");
  CHECK(refusal("argmax_channel", {}, {array({1})}) == "argmax_channel: axis 1 is outside an array of 1 dimension");
  CHECK(refusal("moments", {{"axes", "(2,)"}}, {m}) == "moments: axis 2 is outside an array of 2 dimensions");
  CHECK(refusal("SequenceMask", {}, {array({1})}) ==
        "sequence_mask: input 'data' has shape (1,), expected 2 dimensions or more");
  CHECK(refusal("SequenceMask", {{"use_sequence_length", "True"}}, {m}) ==
        "sequence_mask: takes 2 inputs (data, sequence_length), 1 was given");
  CHECK(refusal("SequenceLast", {{"use_sequence_length", "True"}}, {m, array({1, 0, 2})}) ==
        "sequence_last: sequence 1 has length 0, expected 1 to 2");
  CHECK(refusal("SequenceReverse", {{"axis", "1"}}, {m}) == "sequence_reverse: axis is 1, expected 0");
  CHECK(refusal("SequenceReverse", {{"use_sequence_length", "True"}}, {m, array({1, 3, 2})}) ==
        "sequence_reverse: sequence 1 has length 3, expected 0 to 2");
  CHECK(refusal("SequenceMask", {{"axis", "2"}}, {m}) == "sequence_mask: axis is 2, expected 0 or 1");
  CHECK(refusal("amp_multicast", {{"num_outputs", "3"}}, {m, m}) ==
        "amp_multicast: num_outputs is 3, 2 inputs were given");
}

TEST_CASE("an axis of -1 in old files is all elements") {  // as MXNet 1.9.1 loads versions 904 and 905
  for (const strop::Entry* const entry : {&strop::argmax.entry(), &strop::argmin.entry()}) {
    CHECK(strop::detail::upgraded(*entry->params, "axis", "-1", 904) == "None");
    CHECK(strop::detail::upgraded(*entry->params, "axis", "-1", 905) == "-1");
    CHECK(strop::detail::upgraded(*entry->params, "axis", "0", 904) == "0");
  }
}
