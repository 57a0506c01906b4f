// SPDX-License-Identifier: Apache-2.0
#include <strop/core/list.hpp>
#include <strop/core/shape.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace {

using strop::detail::Index;
using strop::detail::List;
using strop::detail::Span;

/// Counts those that are alive.
struct Counted {
  static inline int alive = 0;
  int value = 0;
  Counted() { ++alive; }
  explicit Counted(int v) : value(v) { ++alive; }
  Counted(const Counted& from) : value(from.value) { ++alive; }
  Counted(Counted&& from) noexcept : value(from.value) { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
};

template <class L>
L counted_up_to(int n) {
  L list;
  for (int i = 0; i < n; ++i) list.push_back(Counted(i));
  return list;
}

TEST_CASE_TEMPLATE("a list makes, moves, copies and destroys its elements, near and on the heap", L, List<Counted>,
                   List<Counted, 1>, List<Counted, 4>) {
  for (int n : {0, 1, 3, 4, 5, 40}) {
    {
      L list = counted_up_to<L>(n);
      CHECK(list.size() == n);
      CHECK(Counted::alive == n);
      L copy = list;
      CHECK(Counted::alive == 2 * n);
      L moved = std::move(list);
      CHECK(list.empty());
      CHECK(Counted::alive == 2 * n);
      list = copy;
      copy = std::move(moved);
      copy = *&copy;
      CHECK(Counted::alive == 2 * n);
      for (int i = 0; i < n; ++i) CHECK((list[i].value == i && copy[i].value == i));
      list.resize(n + 3);
      CHECK((list[n + 2].value == 0 && Counted::alive == 2 * n + 3));
      list.resize(1);
      CHECK(list.size() == 1);
      list.pop_back();
      CHECK((list.empty() && Counted::alive == n));
      moved = std::move(copy);
      moved.clear();
      CHECK(Counted::alive == 0);
      moved.push_back(Counted(7));
      CHECK(moved.back().value == 7);
    }
    CHECK(Counted::alive == 0);
  }
}

TEST_CASE("a list of what can only be moved, and one that was made of a length or of its elements") {
  List<std::unique_ptr<int>, 2> owners(5);
  owners.push_back(std::make_unique<int>(3));
  const List<std::unique_ptr<int>, 2> moved = std::move(owners);
  CHECK((moved.size() == 6 && moved[0] == nullptr && *moved[5] == 3));
  const List<std::string, 2> texts{"a", "b", "a text that is too long to lie in its object"};
  CHECK((texts.size() == 3 && texts[1] == "b" && texts.back().size() > 40));
  CHECK_THROWS_AS((List<double>(Index{1} << 61)), std::bad_alloc);
}

double sum_of(std::span<const double> x) {
  double sum = 0;
  for (double v : x) sum += v;
  return sum;
}
double sum_by_position(Span<const double> x) {
  double sum = 0;
  for (Index i = x.size() - 1; i >= 0; --i) sum += x[i];
  return sum;
}
void double_all(Span<double> x) {
  for (double& v : x) v *= 2;
}
void negate_all(std::span<double> x) {
  for (double& v : x) v = -v;
}

TEST_CASE("a span of a shape is its extents, not its elements") {
  const strop::Shape shape{3, 4};
  const Span<const std::int64_t> extents = shape;
  CHECK(extents.size() == 2);
  CHECK(extents[1] == 4);
}

TEST_CASE("lists, vectors, arrays and spans become a Span and a std::span of each other") {
  List<double, 2> list{1, 2, 3};
  const List<double, 2>& constant = list;
  std::vector<double> vector{1, 2, 3};
  std::array<double, 3> array{1, 2, 3};
  double plain[] = {1, 2, 3};
  CHECK((sum_of(list) == 6 && sum_of(constant) == 6 && sum_by_position(list) == 6 && sum_by_position(constant) == 6));
  CHECK((sum_by_position(vector) == 6 && sum_by_position(array) == 6 && sum_by_position(plain) == 6));
  CHECK(sum_by_position(std::span<double>(vector)) == 6);
  const Span<double> span = list;
  double_all(list);
  negate_all(list);
  negate_all(span);
  CHECK((sum_of(span) == 12 && sum_by_position(span) == 12 && span.back() == 6));
  CHECK((sum_of(span.first(1)) == 2 && sum_of(span.last(1)) == 6 && sum_of(span.subspan(1)) == 10));
  CHECK((sum_of(span.subspan(1, 1)) == 4 && Span<double>().empty()));
}

}  // namespace
