// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of the products of attention heads, of images on their way into a network and of histograms.
#include "library.hpp"

namespace strop::inline v0::verify {

void add_attention_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& op, const std::string& params, std::vector<Sample> in, Parts parts) {
    rows.push_back({op, params, std::move(in), parts});
  };
  const Parts product{.same_shape = false, .loose = 8};
  for (const std::string heads : {"heads=1", "heads=2"}) {
    const std::int64_t count = heads.back() - '0';
    const Sample own{{4, 3, count * 6}}, queries{{4, 3, count * 2}}, other{{5, 3, count * 4}};
    add("_contrib_interleaved_matmul_selfatt_qk", heads, {own}, product);
    add("_contrib_interleaved_matmul_selfatt_valatt", heads, {own, {{count * 3, 4, 4}}}, product);
    add("_contrib_interleaved_matmul_encdec_qk", heads, {queries, other}, product);
    add("_contrib_interleaved_matmul_encdec_valatt", heads, {other, {{count * 3, 4, 5}}}, product);
  }
  for (const Shape& shape : {Shape{2, 3, 4}, Shape{2, 3, 2, 1}})  // differences of its float32 are too coarse
    rows.push_back(
        {"_image_to_tensor", "", {{shape}}, {.gradient = false, .same_shape = false}, false, gradient_elsewhere});
  for (const std::string params : {"mean=(0.5, 0.25, 1); std=(2, 4, 0.5)", "mean=1", "std=0.25"})
    for (const Shape& shape : {Shape{3, 2, 4}, Shape{2, 3, 1, 2}})
      add("_image_normalize", params, {{shape}}, {.sparse = false, .same_shape = false});
  const Sample some = listed({2, 5}, {1, 2, 2.5, 3, 7, 4, 4, 6, 0, 5});
  const Parts counted{.gradient = false, .sparse = false, .same_shape = false};
  add("_histogram", "bin_cnt=3; range=(1, 7)", {some}, counted);
  add("_histogram", "bin_cnt=2; range=(2, 2)", {some}, counted);
  add("_histogram", "", {some, listed({4}, {1, 2, 5, 6})}, counted);
}

}  // namespace strop::inline v0::verify
