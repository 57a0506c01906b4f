// SPDX-License-Identifier: Apache-2.0
/// \file
/// The structure of sparse arrays is looked at before any kernel sees it, and once per version.
#include <strop/op/map.hpp>
#include <strop/strop.hpp>
#include <strop/tensor/dlpack.hpp>
#include <strop/tensor/structure.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using strop::array, strop::csr, strop::dense, strop::f32, strop::i32, strop::i64, strop::into, strop::NDArray,
    strop::Op;
using strop::row_sparse, strop::Shape, strop::zeros;
using testing::sentence;

namespace {

using Values = std::vector<double>;

/// y[j] = the sum of column j: it writes where the indices say, and asks nothing.
struct ColumnSums {
  static constexpr std::string_view name = "structure_column_sums";
  void infer_shape(strop::Shapes& s) const {
    if (s.in(0).known()) s.set_out(0, Shape{s.in(0)[1]});
  }
  template <strop::Real E>
  void forward(strop::Cpu&, strop::CsrView<const E> x, strop::View<E, 1> y) const {
    for (E& sum : y) sum = 0;
    for (std::int64_t row = 0; row < x.rows; ++row)
      for (std::int64_t k = x.indptr[row]; k < x.indptr[row + 1]; ++k) y[x.indices[k]] += x.data[k];
  }
};
constexpr Op<ColumnSums> column_sums;

/// The rows where they belong.
struct Spread {
  static constexpr std::string_view name = "structure_spread", inputs[] = {"rows"};
  template <strop::Real E>
  void forward(strop::Cpu&, strop::RowSparseView<const E> x, strop::View<E, 2> y) const {
    for (E& element : y) element = 0;
    const std::int64_t width = y.shape()[1];
    for (std::int64_t k = 0; k < x.stored(); ++k)
      for (std::int64_t j = 0; j < width; ++j) y(x.indices[k], j) = x.data(k, j);
  }
};
constexpr Op<Spread> spread;

/// Stores 1 in the columns `at`, whether there are such or not, in the room that it has or in new one.
struct Marks {
  std::int64_t at = 0;
  bool anew = true;
  static constexpr std::string_view name = "structure_marks";
  template <strop::Real E>
  void forward(strop::Cpu&, strop::CsrView<const E> x, strop::CsrResult<E> y) const {
    if (anew) {
      y.allocate(x.rows);
      for (std::int64_t row = 0; row <= x.rows; ++row) y.indptr()[row] = row;
    }
    for (std::int64_t row = 0; row < x.rows; ++row) {
      y.indices()[row] = at;
      y.data()[row] = 1;
    }
  }
};
constexpr Op<Marks> marks;

struct Triple {
  static constexpr std::string_view name = "structure_triple";
  constexpr auto forward(auto x) const { return 3 * x; }
};
constexpr Op<Triple> triple;
struct Times {
  static constexpr std::string_view name = "structure_times", inputs[] = {"left", "right"};
  constexpr auto forward(auto x, auto y) const { return x * y; }
};
constexpr Op<Times> times;

NDArray matrix(std::int64_t column, strop::Dtype index = i64) {
  const NDArray columns = array<std::int64_t>({0, column}).to(index), starts = array<std::int64_t>({0, 1, 2}).to(index);
  return strop::csr_matrix(array({5, 7}), columns, starts, {2, 3});
}
NDArray good() { return matrix(2); }

constexpr std::string_view outside = "indices[1] = 5 is outside 0 to 2, the columns of a row";

}  // namespace

TEST_CASE("an operator of the program, a map and the library refuse columns outside of the shape") {
  CHECK(column_sums(good()).to_vector<double>() == Values{5, 0, 7});
  for (const strop::Dtype index : {i64, i32}) {
    for (const std::int64_t column : {std::int64_t{5}, std::int64_t{-1}, std::int64_t{3}}) {
      const std::string wrong = strop::cat("indices[1] = ", column, " is outside 0 to 2, the columns of a row");
      const auto refused = [&](std::string_view op, std::string_view input, auto call) {
        CHECK(sentence([&] { call(matrix(column, index)); }) == strop::cat(op, ": input '", input, "': ", wrong));
      };
      const NDArray ones = strop::full({3, 2}, 1), row = strop::full({2, 3}, 1);
      refused("structure_column_sums", "data", [](const NDArray& x) { (void)column_sums(x); });
      refused("structure_triple", "data", [](const NDArray& x) { (void)triple(x); });
      refused("structure_triple", "data", [](const NDArray& x) { triple(x, into(x)); });
      refused("structure_times", "right", [](const NDArray& x) { (void)times(good(), x); });
      refused("structure_times", "left", [&](const NDArray& x) { (void)times(x, row); });
      refused("dot", "lhs", [&](const NDArray& x) { (void)strop::dot(x, ones); });
      refused("dot", "lhs", [&](const NDArray& x) { (void)strop::dot(x, row, {.transpose_a = true}); });
      refused("dot", "rhs", [&](const NDArray& x) { (void)strop::dot(good(), x, {.transpose_b = true}); });
      refused("sum", "data", [](const NDArray& x) { (void)strop::sum(x); });
      refused("map", "data", [](const NDArray& x) { (void)strop::map([](auto v) { return v * v; }, x); });
      refused("cast_storage", "data", [](const NDArray& x) { (void)x.to(dense); });
    }
  }
}

TEST_CASE("rows outside of the shape, and an indptr that leads outside") {
  const NDArray values = array({{1, 2}, {3, 4}});
  const auto rows = [&](std::initializer_list<strop::detail::Literal> at, std::int64_t extent) {
    return strop::row_sparse_array(values, at, {extent, 2});
  };
  CHECK(spread(rows({0, 2}, 3)).to_vector<double>() == Values{1, 2, 0, 0, 3, 4});
  CHECK(sentence([&] { (void)spread(rows({0, 3}, 3)); }) ==
        "structure_spread: input 'rows': indices[1] = 3 is outside 0 to 2, the stored rows");
  CHECK(sentence([&] { (void)triple(rows({0, -1}, 3)); }) ==
        "structure_triple: input 'data': indices[1] = -1 is outside 0 to 2, the stored rows");
  CHECK(rows({0, 0}, 1).to(dense).to_vector<double>() == Values{4, 6});  // several of one place are no fault
  const auto starting = [](std::initializer_list<strop::detail::Literal> at) {
    return strop::csr_matrix({5, 7}, {0, 1}, at, {2, 3});
  };
  CHECK(sentence([&] { (void)column_sums(starting({1, 1, 2})); }) ==
        "structure_column_sums: input 'data': indptr starts with 0, not 1");
  CHECK(sentence([&] { (void)column_sums(starting({0, 9, 2})); }) ==
        "structure_column_sums: input 'data': indptr[2] = 2 is less than indptr[1] = 9");
  CHECK(sentence([&] { (void)column_sums(starting({0, 1, 9})); }) ==
        "structure_column_sums: input 'data': indptr ends with the number of stored values, 2, not 9");
}

TEST_CASE("a graph, a traced function and a gradient refuse them too") {
  const NDArray bad = matrix(5);
  const auto net = column_sums(strop::var("x"));
  auto run = net.bind(strop::cpu(), {{"x", bad}});
  CHECK(sentence([&] { run.forward(); }).find(outside) != std::string::npos);
  const auto traced = strop::trace_function([](const NDArray& x) { return triple(x); });
  CHECK(sentence([&] { traced(bad); }).find(outside) != std::string::npos);

  const NDArray x = good();
  x.attach_grad();
  NDArray y;
  {
    const strop::record scope;
    y = triple(x);
  }
  CHECK(sentence([&] { y.backward(bad, true); }) == strop::cat("backward: head gradient 0: ", outside));
  y.backward(good());
  CHECK(x.grad().to_vector<double>() == Values{15, 0, 0, 0, 0, 21});

  const NDArray of_graph = good();
  auto bound = triple(strop::var("x")).bind(strop::cpu(), {{"x", of_graph}}, {{"x", zeros({2, 3})}});
  bound.forward(true);
  CHECK(sentence([&] { bound.backward(bad); }).find(outside) != std::string::npos);
}

TEST_CASE("a result to which something is added, and what an operator of the program has made") {
  NDArray y = matrix(5);
  CHECK(sentence([&] { triple(good(), strop::add_to(y)); }) ==
        strop::cat("structure_triple: output 'output': ", outside));
  const NDArray made = marks(good(), {.at = 1});
  CHECK(column_sums(made).to_vector<double>() == Values{0, 2, 0});
  CHECK(sentence([&] { (void)column_sums(marks(good(), {.at = 4})); }) ==
        "structure_column_sums: input 'data': indices[0] = 4 is outside 0 to 2, the columns of a row");
  marks(good(), {.at = 4, .anew = false}, into(made));  // in lists that were looked at before
  CHECK(sentence([&] { (void)triple(made); }) ==
        "structure_triple: input 'data': indices[0] = 4 is outside 0 to 2, the columns of a row");
}

TEST_CASE("what was in order is looked at again when it was written, or may have been") {
  const NDArray x = good(), ones = strop::full({3, 2}, 1);
  (void)column_sums(x);
  strop::plus_scalar(x.indices(), {.scalar = 3}, into(x.indices()));
  CHECK(sentence([&] { (void)column_sums(x); }) ==
        "structure_column_sums: input 'data': indices[0] = 3 is outside 0 to 2, the columns of a row");
  strop::minus_scalar(x.indices(), {.scalar = 3}, into(x.indices()));
  CHECK(column_sums(x).to_vector<double>() == Values{5, 0, 7});

  const NDArray by_view = good();
  (void)column_sums(by_view);
  by_view.indptr().view<std::int64_t, 1>()[1] = 9;
  CHECK(sentence([&] { (void)strop::dot(by_view, ones); }) ==
        "dot: input 'lhs': indptr[2] = 2 is less than indptr[1] = 9");

  const NDArray held = good();
  const strop::View<std::int64_t, 1> columns = held.indices().view<std::int64_t, 1>();
  (void)column_sums(held);
  columns[1] = 5;  // a view may write at any time
  CHECK(sentence([&] { (void)column_sums(held); }) == strop::cat("structure_column_sums: input 'data': ", outside));

  const NDArray lent = good();
  strop::dlpack::DLManagedTensor* const tensor = strop::to_dlpack(lent.indices());
  (void)column_sums(lent);
  static_cast<std::int64_t*>(tensor->dl_tensor.data)[1] = 5;
  CHECK(sentence([&] { (void)column_sums(lent); }) == strop::cat("structure_column_sums: input 'data': ", outside));
  tensor->deleter(tensor);
}

TEST_CASE("what was found out is remembered, also of copies, and not said of what it was not found of") {
  using strop::detail::trust_structure;
  const NDArray known = matrix(5);
  trust_structure(known);  // which nothing but a second look could tell
  CHECK_NOTHROW((void)triple(known));
  const NDArray copied = known.copy(), wide = matrix(5, i32);
  trust_structure(wide);
  CHECK_NOTHROW((void)triple(copied));
  CHECK_NOTHROW((void)triple(triple(known)));  // a map takes the structure with it
  CHECK_NOTHROW((void)triple(wide));

  const NDArray x = good();
  (void)column_sums(x);
  const auto seen = [](const NDArray& list) { return list.body().finding.is_of(list.body().buffer->version()); };
  CHECK(seen(x.indices()));
  CHECK(seen(x.indptr()));
  CHECK_FALSE(seen(x.indices().reshape({2})));  // another array over the same elements
  // A list in two arrays: of what it is in order in one follows nothing for the other.
  const NDArray narrow = strop::detail::csr_over(x.data(), x.indices(), x.indptr(), {2, 2});
  CHECK(sentence([&] { (void)column_sums(narrow); }) ==
        "structure_column_sums: input 'data': indices[1] = 2 is outside 0 to 1, the columns of a row");
  CHECK_NOTHROW((void)column_sums(x));
  const NDArray list = array<std::int64_t>({0, 1, 2}), values = array({1, 2, 3});
  const NDArray turned = strop::detail::csr_over(values, list, array<std::int64_t>({0, 3}), {1, 3});
  (void)column_sums(turned);
  const NDArray as_rows = strop::detail::csr_over(values, array<std::int64_t>({0, 0, 0}), list, {2, 3});
  CHECK(sentence([&] { (void)column_sums(as_rows); }) ==
        "structure_column_sums: input 'data': indptr ends with the number of stored values, 3, not 2");
}
