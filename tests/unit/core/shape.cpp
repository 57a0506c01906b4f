// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shapes: text, the border between extents held inline and on the heap, and what two partly known ones give.
#include <doctest/doctest.h>
#include <strop/core/checked.hpp>
#include <strop/core/shape.hpp>
#include <unit/sentence.hpp>

#include <cstdint>
#include <utility>
#include <vector>

using strop::Shape;
using strop::to_text;
using strop::unify;

TEST_CASE("shapes as text") {
  CHECK(to_text(Shape{}) == "()");
  CHECK(to_text(Shape{4}) == "(4,)");
  CHECK(to_text(Shape{2, 0, 3}) == "(2, 0, 3)");
  CHECK(to_text(Shape{2, Shape::unknown_extent}) == "(2, ?)");
  CHECK(to_text(Shape::unknown()) == "(...)");
  CHECK(strop::cat("of shape ", Shape{1, 2}) == "of shape (1, 2)");
}

TEST_CASE("what is known of a shape") {
  CHECK(Shape{}.known());
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{2, 0, 3}.size() == 0);
  CHECK(Shape{2, 3, 4}.size(1, 3) == 12);
  CHECK_FALSE(Shape{2, -1}.known());
  CHECK_FALSE(Shape::unknown().known());
  CHECK_FALSE(Shape::unknown().has_rank());
  CHECK(Shape::unknown().ndim() == 0);
  CHECK(Shape::unknown() != Shape{});
  CHECK(Shape::filled(3, 7) == Shape{7, 7, 7});
}

TEST_CASE("copies, moves and changes on both sides of six dimensions") {
  for (int rank = 0; rank < 10; ++rank) {
    CAPTURE(rank);
    std::vector<std::int64_t> extents;
    for (int i = 0; i < rank; ++i) extents.push_back(i + 2);
    const Shape shape(extents);
    CHECK(std::vector<std::int64_t>(shape.begin(), shape.end()) == extents);
    for (int other = 0; other < 10; ++other) {
      Shape to = Shape::filled(other, 1);
      to = shape;
      CHECK(to == shape);
      const Shape& self = to;
      to = self;
      CHECK(to == shape);
      Shape moved = Shape::filled(other, 1);
      moved = std::move(to);
      CHECK(moved == shape);
      moved.resize(other, 9);
      CHECK(moved.ndim() == other);
      for (int i = 0; i < other; ++i) CHECK(moved[i] == (i < rank ? i + 2 : 9));
    }
    Shape longer = shape;
    longer.insert(0, 5);
    CHECK(longer.ndim() == rank + 1);
    CHECK(longer.front() == 5);
    longer.push_back(6);
    CHECK(longer.back() == 6);
    longer.erase(rank + 1);
    longer.erase(0);
    CHECK(longer == shape);
    const Shape copy(std::as_const(longer)), taken(std::move(longer));
    CHECK(copy == taken);
  }
}

TEST_CASE("two partly known shapes") {
  Shape to = Shape::unknown();
  CHECK(unify(to, Shape::unknown()));
  CHECK_FALSE(to.has_rank());
  CHECK(unify(to, {2, -1, -1}));
  CHECK(unify(to, {-1, 3, -1}));
  CHECK(to == Shape{2, 3, -1});
  CHECK_FALSE(unify(to, {2, 3}));
  CHECK_FALSE(unify(to, {-1, 4, 5}));
  CHECK(to == Shape{2, 3, -1});  // and nothing was taken
  CHECK(unify(to, {2, 3, 0}));
  CHECK(to == Shape{2, 3, 0});
}

TEST_CASE("a product of extents that 64 bits do not hold is refused") {
  const std::int64_t large = std::int64_t{1} << 40;
  CHECK(Shape{large, 1 << 20}.size() == large << 20);
  CHECK(Shape{0, large, large}.size() == 0);
  CHECK(testing::sentence([&] { static_cast<void>(Shape{4, large, large}.size()); }) ==
        "strop: an array of shape (4, 1099511627776, 1099511627776) has more elements than 64 bits can count");
  CHECK(Shape{large, 2, large}.size(0, 2) == 2 * large);
  CHECK_THROWS_AS(static_cast<void>(Shape{large, 2, large}.size(0, 3)), strop::Error);
  CHECK(strop::detail::checked_product(large, 5, "op") == 5 * large);
  CHECK(strop::detail::checked_sum(large, -large, "op") == 0);
  CHECK(testing::sentence([&] { strop::detail::checked_product(large, -large, "op"); }) ==
        "op: 1099511627776 times -1099511627776 is more than 64 bits can count");
  CHECK(testing::sentence([&] { strop::detail::checked_sum(INT64_MAX, 1, "op"); }) ==
        "op: 9223372036854775807 plus 1 is more than 64 bits can count");
}
