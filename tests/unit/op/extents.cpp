// SPDX-License-Identifier: Apache-2.0
/// \file
/// Extents that an operator's inference says, and that no array has.
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>

using strop::array, strop::Cpu, strop::Op, strop::Shape, strop::Shapes, strop::View;
using testing::sentence;

namespace {

/// The first `by` elements fewer.
struct ExtentsShorter {
  std::int64_t by = 0;
  void infer_shape(Shapes& s) const {
    if (s.in(0).known()) s.set_out(0, Shape{2, s.in(0)[0] - by});
  }
  void forward(Cpu&, View<const float, 1> x, View<float, 2> y) const {
    for (std::int64_t i = 0; i < y.size(); ++i) y[i] = x[i % y.shape()[1]];
  }
};
constexpr Op<ExtentsShorter> shorter;

}  // namespace

TEST_CASE("an inferred extent that is negative is named, with the operator and the axis") {
  CHECK(shorter(array({1, 2, 3}), {.by = 2}).shape() == Shape{2, 1});
  CHECK(shorter(array({1, 2, 3}), {.by = 3}).size() == 0);
  CHECK(sentence([] { (void)shorter(array({1, 2, 3}), {.by = 5}); }) ==
        "extents_shorter: output 'output' would have extent -2 along axis 1");
  CHECK(sentence([] { (void)shorter(array({1, 2, 3}), {.by = 4}); }) ==
        "extents_shorter: extent -1 of output 'output' along axis 1 is negative, or does not follow from the inputs");
  CHECK(sentence([] {
          (void)shorter(strop::var("x"), {.by = 5}).infer_shape({{"x", {3}}});
        }).find("output 'output' would have extent -2 along axis 1") != std::string::npos);
}
