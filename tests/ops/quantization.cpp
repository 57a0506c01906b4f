// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

#include <cstdint>

using namespace ops_test;
using strop::array;

// The numbers are those of MXNet 1.9.1.

namespace {
const NDArray minus_one = array({-1}), two = array({2});

/// Of types that rows do not have.
void check_calls(const Subject& s) {
  check_requests(s);
  check_views(s);
}
}  // namespace

TEST_CASE("floating numbers become numbers of 8 bits as in MXNet") {
  const NDArray x = array({-2.5, -1, -0.5, 0, 0.3, 1, 2.5, 9}), within = x.slice(0, 7), most = array({2.5});
  row("_contrib_quantize", {{"out_type", "int8"}}, {x, minus_one, most},
      {{{8}, {-127, -51, -25, 0, 15, 51, 127, 127}}, {{1}, {-2.5}}, {{1}, {2.5}}});
  row("_contrib_quantize", {}, {x, minus_one, most},
      {{{8}, {0, 0, 0, 0, 31, 102, 255, 255}}, {{1}, {-1}}, {{1}, {2.5}}});
  row("_contrib_quantize_v2", {}, {within}, {{{7}, {-128, -51, -26, 0, 15, 51, 127}}, {{1}, {-2.5}}, {{1}, {2.5}}});
  row("_contrib_quantize_v2", {{"max_calib_range", "100"}}, {within},
      {{{7}, {-128, -51, -26, 0, 15, 51, 127}}, {{1}, {-2.5}}, {{1}, {2.5}}});
  row("_contrib_quantize_v2", {{"out_type", "uint8"}}, {within},
      {{{7}, {0, 0, 0, 0, 31, 102, 255}}, {{1}, {-2.5}}, {{1}, {2.5}}});
  row("_contrib_quantize_v2", {{"out_type", "auto"}, {"min_calib_range", "0"}, {"max_calib_range", "2.5"}}, {x},
      {{{8}, {0, 0, 0, 0, 31, 102, 255, 255}}, {{1}, {0}}, {{1}, {2.5}}});
  row("_contrib_quantize_v2", {{"out_type", "auto"}, {"min_calib_range", "-1"}, {"max_calib_range", "2"}}, {x},
      {{{8}, {-128, -64, -32, 0, 19, 64, 127, 127}}, {{1}, {-2}}, {{1}, {2}}});
  CHECK(gradients("_contrib_quantize", {}, {x, minus_one, most}, {strop::zeros({8}, strop::u8)})[0] == Numbers(8, 0.0));
}

TEST_CASE("numbers of 8 bits stay as they are") {
  const NDArray bytes = array<std::uint8_t>({0, 127, 255}), shorts = array<std::int8_t>({-128, 3, 127});
  row("_contrib_quantize_v2", {{"out_type", "uint8"}}, {bytes}, {{{3}, {0, 127, 255}}, {{1}, {0}}, {{1}, {255.5}}});
  row("_contrib_quantize_v2", {}, {shorts}, {{{3}, {-128, 3, 127}}, {{1}, {-127.5}}, {{1}, {127.5}}});
  row("_contrib_quantize_v2", {{"min_calib_range", "-1"}, {"max_calib_range", "2"}}, {shorts},
      {{{3}, {-128, 3, 127}}, {{1}, {-1}}, {{1}, {2}}});
  // MXNet makes int8 of it.
  row("_contrib_quantize_v2", {{"out_type", "auto"}}, {bytes}, {{{3}, {0, 127, 255}}, {{1}, {0}}, {{1}, {255.5}}});
  CHECK(refusal("_contrib_quantize_v2", {}, {bytes}) ==
        "_contrib_quantize_v2: input 'data' is uint8 already, expected out_type=uint8, not int8");
  check_calls(subject("_contrib_quantize_v2", {array<std::int8_t>({-128, 3, 120})}));
  check_calls(subject("_contrib_quantize_v2", {array<std::uint8_t>({0, 3, 250})}, {{"out_type", "uint8"}}));
}

TEST_CASE("numbers of 8 bits become floating ones as in MXNet") {
  const NDArray shorts = array<std::int8_t>({-128, -51, 0, 102, 127});
  row("_contrib_dequantize", {}, {shorts, array({-2.5}), two}, {{{5}, {-2.509804, -1, 0, 2, 2.490196}}});
  row("_contrib_dequantize", {}, {array<std::uint8_t>({0, 51, 102, 255}), array({-0.5}), array({2.5})},
      {{{4}, {0, 0.4990215, 0.9980431, 2.495108}}});
  CHECK(refusal("_contrib_dequantize", {}, {two, minus_one, two}) ==
        "_contrib_dequantize: input 'data' is float32, expected one of uint8, int8");
  CHECK(refusal("_contrib_dequantize", {}, {shorts, array({-1, 0}), two}) ==
        "_contrib_dequantize: input 'min_range' has shape (2,), expected (1,)");
  check_calls(subject("_contrib_dequantize", {shorts, minus_one, two}));
}

TEST_CASE("numbers of 32 bits become numbers of 8 bits as in MXNet") {
  const NDArray x = array<std::int32_t>({-3000, -10, 0, 1000, 2000});
  const Tolerance close{1e-6, 0};
  row("_contrib_requantize", {}, {x, minus_one, two},
      {{{5}, {-127, 0, 0, 42, 85}}, {{1}, {-2.793968e-06}}, {{1}, {2.793968e-06}}}, close);
  row("_contrib_requantize", {{"out_type", "uint8"}}, {x, minus_one, two},
      {{{5}, {0, 0, 0, 85, 170}}, {{1}, {0}}, {{1}, {2.793968e-06}}}, close);
  row("_contrib_requantize", {{"min_calib_range", "-1e-6"}, {"max_calib_range", "5e-7"}}, {x, minus_one, two},
      {{{5}, {-128, -1, 0, 118, 127}}, {{1}, {-1e-06}}, {{1}, {1e-06}}}, close);
  row("_contrib_requantize", {{"min_calib_range", "0"}, {"max_calib_range", "1e-6"}, {"out_type", "auto"}},
      {x, minus_one, two}, {{{5}, {0, 0, 0, 237, 255}}, {{1}, {0}}, {{1}, {1e-06}}}, close);
  CHECK(refusal("_contrib_requantize", {}, {two, minus_one, two}) ==
        "_contrib_requantize: input 'data' is float32, expected int32");
  check_calls(
      subject("_contrib_requantize", {x, minus_one, two}, {{"min_calib_range", "-1e-5"}, {"max_calib_range", "1e-5"}}));
  // −2³¹ has no absolute value in its type; MXNet gives the other sign.
  row("_contrib_requantize", {}, {array<std::int32_t>({-2147483647 - 1, 2147483647}), minus_one, two},
      {{{2}, {-127, 127}}, {{1}, {-2}}, {{1}, {2}}});
}

TEST_CASE("what has no range, and NaN, becomes 0") {
  row("_contrib_quantize_v2", {}, {strop::zeros({2})}, {{{2}, {0, 0}}, {{1}, {0}}, {{1}, {0}}});
  row("_contrib_quantize_v2", {}, {strop::zeros({0, 3})}, {{{0, 3}, {}}, {{1}, {0}}, {{1}, {0}}});
  row("_contrib_quantize_v2", {}, {array({NaN, 1, -0.5})}, {{{3}, {0, 127, -64}}, {{1}, {-1}}, {{1}, {1}}});
  row("_contrib_quantize_v2", {}, {array({NaN, NaN})}, {{{2}, {0, 0}}, {{1}, {0}}, {{1}, {0}}});
  row("_contrib_quantize", {{"out_type", "int8"}}, {array({-1, 0, 5}), array({0}), array({0})},
      {{{3}, {-128, 0, 127}}, {{1}, {0}}, {{1}, {0}}});
  row("_contrib_requantize", {}, {array<std::int32_t>({0, 0}), minus_one, two},
      {{{2}, {0, 0}}, {{1}, {0}}, {{1}, {0}}});
  // More than one piece, the least element in the first, the greatest in the last.
  NDArray x = strop::zeros({100000});
  x.pointer<float>()[7] = -2;
  x.pointer<float>()[99999] = 4;
  const Arrays y = strop::invoke_all("_contrib_quantize_v2", {x}, {});
  CHECK(y[0].pointer<std::int8_t>()[7] == -64);
  CHECK(y[0].pointer<std::int8_t>()[99999] == 127);
  CHECK(values(y[2]) == Numbers{4});
}
