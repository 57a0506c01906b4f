// SPDX-License-Identifier: Apache-2.0
/// \file
/// Work on stored values that several threads share: the same bits for any number of them, the numbers of the dense
/// arrays, and indices as wide as those of the inputs.
#include "harness.hpp"

#include <strop/ops/csr_transposed.hpp>
#include <strop/ops/sparse_product.hpp>

#include <algorithm>
#include <cstring>
#include <functional>

using namespace ops_test;
using strop::array;
using strop::csr;
using strop::dense;
using strop::Dtype;
using strop::f32;
using strop::i32;
using strop::i64;
using strop::row_sparse;

namespace {

struct Threads {
  int before = strop::num_threads();
  explicit Threads(int n) { strop::set_num_threads(n); }
  ~Threads() { strop::set_num_threads(before); }
};

/// Enough values for several shares of work: rows of very different lengths, empty ones, and a row that has nearly all.
/// Whole numbers, which no order of adding rounds, or any.
NDArray matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed, bool are_whole, Dtype index = i32) {
  std::vector<std::int64_t> columns, starts{0};
  std::vector<float> numbers;
  std::uint64_t state = seed;
  const auto random = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  };
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::uint64_t kept = i == 7 ? 990 : i % 5 == 3 ? 0 : random() % 300;
    for (std::int64_t j = 0; j < cols; ++j) {
      if (random() % 1000 >= kept) continue;
      columns.push_back(j);
      const auto number = static_cast<float>(random() % 1000) - 500;
      numbers.push_back(are_whole ? number : number / 77);
    }
    starts.push_back(std::ssize(columns));
  }
  return strop::csr_matrix(numbers, array(columns).to(index), array(starts).to(index), {rows, cols});
}

/// Every byte of an array: values, and what says where they stand.
std::vector<std::byte> bits(const NDArray& a) {
  std::vector<std::byte> all;
  const auto add = [&](const NDArray& part) {
    part.wait();
    const std::byte* const from = part.bytes();
    all.insert(all.end(), from, from + part.size() * strop::size_of(part.dtype()));
  };
  add(a.data());
  if (a.storage() != dense) add(a.indices());
  if (a.storage() == csr) add(a.indptr());
  return all;
}

using Numbers = std::vector<double>;
using Work = std::function<NDArray()>;
void check_threads(std::string_view what, const Work& work) {
  const auto by = [&](int threads) {
    const Threads scope(threads);
    return bits(work());
  };
  const std::vector<std::byte> one = by(1);
  CHECK_MESSAGE(!one.empty(), what);
  for (const int threads : {2, 4}) {
    CAPTURE(threads);
    CHECK_MESSAGE(by(threads) == one, what);
  }
}

constexpr std::int64_t rows = 2500, cols = 600;

/// A call on CSR arrays beside the same on dense copies.
struct Case {
  std::string_view op;
  std::vector<std::pair<std::string_view, std::string_view>> params;
  Arrays in;
};
std::vector<Case> cases(bool are_whole) {
  const NDArray a = matrix(rows, cols, 1, are_whole), b = matrix(rows, cols, 2, are_whole),
                few = matrix(40, cols, 3, are_whole), square = matrix(cols, cols, 4, are_whole);
  const auto filled = [&](const Shape& shape) {
    const NDArray y = strop::random::uniform(shape, -9, 9);
    return are_whole ? strop::round(y) : y;
  };
  const NDArray d = filled({rows, cols}), positions = strop::random::uniform({rows}, 0, static_cast<double>(rows));
  return {{"elemwise_add", {}, {a, b}},
          {"elemwise_mul", {}, {a, b}},
          {"elemwise_add", {}, {a, a}},
          {"_maximum", {}, {a, b}},
          {"add_n", {}, {a, b, a}},
          {"elemwise_mul", {}, {a, d}},
          {"elemwise_add", {}, {a, d}},
          {"broadcast_mul", {}, {a, filled({1, cols})}},
          {"broadcast_mul", {}, {a, filled({rows, 1})}},
          {"_mul_scalar", {{"scalar", "3"}}, {a}},
          {"where", {}, {a, d, filled({rows, cols})}},
          {"where", {}, {a, b, matrix(rows, cols, 5, are_whole)}},
          {"sum", {}, {a}},
          {"sum", {{"axis", "0"}}, {a}},
          {"sum", {{"axis", "1"}}, {a}},
          {"max", {{"axis", "0"}}, {a}},
          {"max", {{"axis", "1"}}, {a}},
          {"min", {}, {a}},
          {"take", {}, {a, positions}},
          {"slice", {{"begin", "(3, 5)"}, {"end", "(2400, 500)"}}, {a}},
          {"dot", {}, {filled({70, rows}), a}},
          {"dot", {}, {few, square}},
          {"dot", {}, {a, square}},
          {"dot", {{"transpose_b", "True"}}, {a, few}},
          {"dot", {{"transpose_a", "True"}}, {a, b}}};
}

}  // namespace

TEST_CASE("what several threads make of CSR arrays has the same bits as what one makes") {
  for (const Case& c : cases(false)) check_threads(c.op, [&] { return strop::invoke(c.op, c.in, c.params); });
  const NDArray a = matrix(rows, cols, 1, false);
  for (const std::string_view op : {"stored_softmax", "stored_log_softmax", "norm", "mean"})
    check_threads(op, [&] { return strop::invoke(op, {a}); });
  check_threads("norm by column", [&] { return strop::norm(a, {.axis = 0}); });
  for (const std::int64_t depth : {5, 64}) {
    const NDArray x = strop::random::uniform({rows, depth}, -1, 1), y = strop::random::uniform({cols, depth}, -1, 1);
    check_threads("sddmm", [&] { return strop::sddmm(a, x, y); });
  }
}

TEST_CASE("what several threads make of CSR arrays is what the dense arrays give") {
  const strop::verify::QuietFallbacks quiet;
  const Threads scope(4);
  for (const Case& c : cases(true)) {
    Arrays whole;
    for (const NDArray& a : c.in) whole.push_back(a.to(dense));
    const NDArray y = strop::invoke(c.op, c.in, c.params);
    if (y.storage() != dense) CHECK_NOTHROW(y.check_format());
    CHECK_MESSAGE(values(y.to(dense)) == values(strop::invoke(c.op, whole, c.params)), c.op);
  }
}

TEST_CASE("gradients at stored places have the same bits for any number of threads") {
  const NDArray a = matrix(rows, cols, 1, false), b = matrix(rows, cols, 2, false), few = matrix(cols, 50, 3, false),
                d = strop::random::uniform({rows, cols}, -1, 1), row = strop::random::uniform({1, cols}, -1, 1),
                column = strop::random::uniform({rows, 1}, -1, 1);
  const auto gradient = [&](const NDArray& of, const Work& f) {
    of.attach_grad();
    strop::record scope;
    f().backward();
    return of.grad();
  };
  check_threads("csr * csr", [&] { return gradient(a, [&] { return a * b; }); });
  check_threads("csr * dense", [&] { return gradient(a, [&] { return a * d; }); });
  check_threads("a row, of csr * row", [&] { return gradient(row, [&] { return a * row; }); });
  check_threads("a column, of csr * column", [&] { return gradient(column, [&] { return a * column; }); });
  check_threads("maximum by column", [&] { return gradient(a, [&] { return strop::max(a, {.axis = 0}); }); });
  check_threads("csr . csr", [&] { return gradient(a, [&] { return strop::dot(a, few); }); });
  check_threads("stored_softmax", [&] { return gradient(a, [&] { return strop::stored_softmax(a) * b; }); });
}

TEST_CASE("the indices of merged patterns are as wide as those of the inputs, and the wider of two") {
  const auto of = [](Dtype columns, Dtype starts, std::uint64_t seed) {
    const NDArray a = matrix(30, 20, seed, true, i64);
    return strop::csr_matrix(a.data(), a.indices().to(columns), a.indptr().to(starts), a.shape());
  };
  for (const Dtype columns : {i32, i64})
    for (const Dtype starts : {i32, i64}) {
      const NDArray a = of(columns, starts, 1), b = of(columns, starts, 2), wide = of(i64, i64, 2);
      for (const NDArray& y : {a + b, a * b, strop::add_n({a, b}), strop::where(a, a, b)}) {
        CHECK(y.indices().dtype() == columns);
        CHECK(y.indptr().dtype() == starts);
      }
      for (const NDArray& y : {a + wide, wide + a}) {
        CHECK(y.indices().dtype() == i64);
        CHECK(y.indptr().dtype() == i64);
        CHECK(values(y.to(dense)) == values((a + b).to(dense)));
      }
    }
  const auto rows_of = [](Dtype index, const NDArray& list) {
    return strop::row_sparse_array(strop::ones({list.size(), 2}), list.to(index), {9, 2});
  };
  const NDArray odd = array<std::int64_t>({1, 3, 5}), some = array<std::int64_t>({0, 3, 8});
  CHECK((rows_of(i32, odd) + rows_of(i32, some)).indices().dtype() == i32);
  const NDArray y = rows_of(i32, odd) + rows_of(i64, some);
  CHECK(y.indices().dtype() == i64);
  CHECK(values(y.indices()) == Numbers{0, 1, 3, 5, 8});
  CHECK(values(y.data()) == Numbers{1, 1, 1, 1, 2, 2, 1, 1, 1, 1});
}

TEST_CASE("transposed and renumbered factors keep the width of indices") {
  for (const Dtype index : {i32, i64}) {
    const NDArray a = matrix(30, 20, 1, true, index);
    const NDArray turned = strop::detail::csr_transposed<float>(a);
    CHECK_NOTHROW(turned.check_format());
    CHECK(turned.indices().dtype() == index);
    CHECK(turned.indptr().dtype() == index);
    CHECK(values(turned.to(dense)) == values(strop::transpose(a.to(dense))));
    strop::detail::List<strop::detail::Index> every;
    for (std::int64_t j = 0; j < 20; ++j) every.push_back(3 * j);
    const NDArray far = strop::csr_matrix(a.data(), (a.indices() * 3).to(index), a.indptr(), {30, 60});
    const NDArray near = strop::detail::renumbered<float>(far, every);
    CHECK(near.indices().dtype() == index);
    CHECK(values(near.to(dense)) == values(a.to(dense)));
  }
}
