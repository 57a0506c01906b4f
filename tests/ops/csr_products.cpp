// SPDX-License-Identifier: Apache-2.0
/// \file
/// The kernels of products with a CSR factor, on the shapes that take each of their ways: widths around those of
/// registers, few and many values a column, empty rows, a full row and a full column.
#include "harness.hpp"

#include <strop/ops/csr_kernels.hpp>
#include <strop/ops/sparse_kernels.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

using namespace ops_test;
using strop::array;
using strop::csr;
using strop::dense;
using strop::Dtype;
using strop::f32;
using strop::f64;
using strop::i32;
using strop::i64;
using strop::row_sparse;

namespace {

using Numbers = std::vector<double>;

/// Whole numbers, so that sums are exact in any order: 0 where `kept` says no.
template <class Kept>
NDArray whole(const Shape& shape, Dtype dtype, Kept kept) {
  const NDArray y = strop::zeros(shape, f64);
  auto* to = y.pointer<double>();
  std::uint64_t state = 7;
  for (std::int64_t k = 0; k < y.size(); ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (kept(k, state >> 40)) to[k] = static_cast<double>((state >> 33) % 9) - 4;
  }
  return y.to(dtype);
}
NDArray filled(const Shape& shape, Dtype dtype) {
  return whole(shape, dtype, [](auto, auto) { return true; });
}

/// A matrix that stores `permille` of its elements, the whole of row 1 and of column 2, and nothing in row 3.
NDArray matrix(std::int64_t rows, std::int64_t cols, std::uint64_t permille, Dtype dtype, Dtype index) {
  const NDArray a = whole({rows, cols}, dtype, [&](std::int64_t k, std::uint64_t random) {
                      const std::int64_t i = k / cols, j = k % cols;
                      return i != 3 && ((i == 1 && cols < 1000) || j == 2 || random % 1000 < permille);
                    }).to(csr);
  return strop::csr_matrix(a.data(), a.indices().to(index), a.indptr().to(index), a.shape());
}

/// The stored rows of a row-sparse matrix: every third.
NDArray some_rows(const NDArray& a) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < a.shape()[0]; i += 3) rows.push_back(i);
  const NDArray list({static_cast<std::int64_t>(rows.size())}, i64);
  std::copy(rows.begin(), rows.end(), list.pointer<std::int64_t>());
  return strop::row_sparse_array(strop::take(a, list), list, a.shape());
}

struct Threads {
  int before = strop::num_threads();
  explicit Threads(int n) { strop::set_num_threads(n); }
  ~Threads() { strop::set_num_threads(before); }
};

struct Extents {
  std::int64_t rows, cols;
  std::uint64_t permille;
};
constexpr Extents shapes[] = {{12, 9, 300}, {1500, 11, 700}, {40, 4000, 2}};

}  // namespace

TEST_CASE("CSR products of every width, type and index are those of the dense matrix") {
  for (const Extents& e : shapes)
    for (const Dtype dtype : {f32, f64})
      for (const Dtype index : {i32, i64}) {
        const NDArray a = matrix(e.rows, e.cols, e.permille, dtype, index), whole_a = a.to(dense);
        for (const std::int64_t n : {1, 2, 3, 5, 8, 15, 16, 17, 33, 64, 130}) {
          CAPTURE(e.rows);
          CAPTURE(n);
          const NDArray b = filled({e.cols, n}, dtype), g = filled({e.rows, n}, dtype);
          const NDArray expected = strop::dot(whole_a, b), turned = strop::dot(whole_a, g, {.transpose_a = true});
          CHECK(values(strop::dot(a, b)) == values(expected));
          const NDArray rows = strop::dot(a, g, {.transpose_a = true});
          CHECK(rows.storage() == row_sparse);
          CHECK_NOTHROW(rows.check_format());
          CHECK(values(rows.to(dense)) == values(turned));
          CHECK(values(strop::dot(a, g, {.transpose_a = true, .forward_stype = dense})) == values(turned));
          const NDArray sum = strop::ones({e.rows, n}, dtype), turned_sum = strop::ones({e.cols, n}, dtype);
          strop::dot(a, b, {}, strop::add_to(sum));
          CHECK(values(sum) == values(expected + 1));
          strop::dot(a, g, {.transpose_a = true, .forward_stype = dense}, strop::add_to(turned_sum));
          CHECK(values(turned_sum) == values(turned + 1));
          const NDArray few = some_rows(b), few_g = some_rows(g);
          CHECK(values(strop::dot(a, few)) == values(strop::dot(whole_a, few.to(dense))));
          CHECK(values(strop::dot(a, few_g, {.transpose_a = true}).to(dense)) ==
                values(strop::dot(whole_a, few_g.to(dense), {.transpose_a = true})));
        }
      }
}

TEST_CASE("rows of few columns are summed apart, however many values they have and whatever the next one stores") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::int64_t cols = 6000;
  std::vector<std::int64_t> lengths = {1, 0, 15, 16, 17, 1, 33, 2040, 2048, 2049, 0, 3, 5000, 7, 1, 1};
  for (std::int64_t i = 0; i < 800; ++i) lengths.push_back(i % 3);
  for (const Dtype dtype : {f32, f64})
    for (const Dtype index : {i32, i64}) {
      const NDArray a = whole({std::ssize(lengths), cols}, dtype, [&](std::int64_t k, std::uint64_t) {
        return k % cols < lengths[static_cast<std::size_t>(k / cols)];
      });
      NDArray stored = a.to(csr);
      stored = strop::csr_matrix(stored.data(), stored.indices().to(index), stored.indptr().to(index), stored.shape());
      strop::detail::with_csr<float>(stored.to(f32), [](const auto& m) { CHECK(strop::detail::has_varied_rows(m)); });
      for (const std::int64_t n : {1, 2, 3, 4, 6, 7}) {
        CAPTURE(n);
        const NDArray b = filled({cols, n}, dtype), before = filled({std::ssize(lengths), n}, dtype);
        const NDArray expected = strop::dot(a, b), sum = before + 0;
        CHECK(values(strop::dot(stored, b)) == values(expected));
        strop::dot(stored, b, {}, strop::add_to(sum));
        CHECK(values(sum) == values(expected + before));
      }
    }
  const NDArray one = strop::csr_matrix(array({infinity, 1, 2, infinity}), array<std::int64_t>({0, 0, 1, 1}),
                                        array<std::int64_t>({0, 1, 3, 4}), {3, 2});
  CHECK(values(strop::dot(one, array({{1}, {2}}))) == Numbers{infinity, 5, infinity});
}

TEST_CASE("rows of a large factor are asked for ahead, the last ones too") {
  constexpr std::int64_t cols = 1 << 18;
  std::vector<std::int64_t> columns, starts{0};
  for (std::int64_t i = 0; i < 300; ++i) {
    for (std::int64_t k = 0; k < i % 7; ++k) columns.push_back((k + 1) * (cols / 8) + i);
    starts.push_back(std::ssize(columns));
  }
  columns.back() = cols - 1;
  const auto count = std::ssize(columns);
  const NDArray values_of = filled({count}, f32), b = filled({cols, 17}, f32), lhs = filled({300, 17}, f32);
  const NDArray a = strop::csr_matrix(values_of, columns, starts, {300, cols});
  const NDArray y = strop::dot(a, b), at = strop::sddmm(a, lhs, b).data();
  const float *const v = values_of.pointer<const float>(), *const rows = b.pointer<const float>(),
                     *const left = lhs.pointer<const float>();
  for (std::int64_t i = 0; i < 300; ++i) {
    std::vector<float> sum(17);
    for (std::int64_t k = starts[static_cast<std::size_t>(i)]; k < starts[static_cast<std::size_t>(i) + 1]; ++k) {
      const float* const row = rows + columns[static_cast<std::size_t>(k)] * 17;
      float dot = 0;
      for (std::int64_t j = 0; j < 17; ++j)
        sum[static_cast<std::size_t>(j)] += v[k] * row[j], dot += left[i * 17 + j] * row[j];
      CHECK(at.pointer<const float>()[k] == dot);
    }
    for (std::int64_t j = 0; j < 17; ++j)
      CHECK(y.pointer<const float>()[i * 17 + j] == sum[static_cast<std::size_t>(j)]);
  }
}

TEST_CASE("CSR products have the same bits for any number of threads") {
  const NDArray pattern = matrix(3000, 50, 600, f32, i32);
  const NDArray a = strop::csr_matrix(strop::random::uniform(pattern.data().shape(), -1, 1), pattern.indices(),
                                      pattern.indptr(), pattern.shape());
  for (const std::int64_t n : {1, 7, 16, 100}) {
    CAPTURE(n);
    const NDArray b = strop::random::uniform({50, n}, -1, 1), g = strop::random::uniform({3000, n}, -1, 1);
    const auto both = [&](int threads) {
      const Threads scope(threads);
      return std::pair(values(strop::dot(a, b)), values(strop::dot(a, g, {.transpose_a = true}).to(dense)));
    };
    CHECK(both(1) == both(4));
  }
}

TEST_CASE(
    "rows of a transposed product are the columns that meet a row, few or many, the same for any number of threads") {
  // Every fifth column of many values a column, of as many as there are columns, and of few.
  constexpr struct {
    std::int64_t rows, cols, each;
  } sizes[] = {{3000, 500, 30}, {1500, 9000, 12}, {2000, 90000, 9}};
  for (const auto& size : sizes) {
    const std::int64_t rows = size.rows, cols = size.cols, each = size.each;
    std::vector<std::int64_t> columns, starts{0};
    std::vector<double> numbers;
    std::uint64_t state = 5;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < each; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const std::int64_t stretch = cols / each;  // columns ascend, and stand once in a row
        columns.push_back(k * stretch +
                          static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(stretch / 5)) * 5);
        numbers.push_back(static_cast<double>((state >> 50) % 9) - 4);
      }
      starts.push_back(std::ssize(columns));
    }
    for (const Dtype dtype : {f32, f64})
      for (const std::int64_t n : {1, 2, 3, 16}) {
        CAPTURE(cols);
        CAPTURE(n);
        const NDArray a =
            strop::csr_matrix(array(numbers).to(dtype), array(columns).to(i32), array(starts), {rows, cols});
        const NDArray g = filled({rows, n}, dtype), few = some_rows(g);
        for (const bool all : {true, false}) {
          std::map<std::int64_t, Numbers> expected;
          const Numbers factor = values(g);
          const auto width = static_cast<std::size_t>(n), in_row = static_cast<std::size_t>(each);
          for (std::size_t k = 0; k < columns.size(); ++k) {
            const std::size_t i = k / in_row;
            if (!all && i % 3 != 0) continue;
            Numbers& sums = expected[columns[k]];
            sums.resize(width);
            for (std::size_t c = 0; c < width; ++c) sums[c] += numbers[k] * factor[i * width + c];
          }
          Numbers listed, sums;
          for (const auto& [column, row] : expected) {
            listed.push_back(static_cast<double>(column));
            sums.insert(sums.end(), row.begin(), row.end());
          }
          for (const int threads : {1, 4}) {
            const Threads scope(threads);
            const NDArray y = strop::dot(a, all ? g : few, {.transpose_a = true});
            CHECK(values(y.indices()) == listed);
            CHECK(values(y.data()) == sums);
          }
        }
        const NDArray head = strop::random::uniform({rows, n}, -1, 1, dtype);
        const auto with_threads = [&](int threads) {
          const Threads scope(threads);
          return values(strop::dot(a, head, {.transpose_a = true}).data());
        };
        CHECK(with_threads(1) == with_threads(3));
      }
  }
}

TEST_CASE("transposed products of more sums than the cache has are the same for any number of threads") {
  using strop::detail::SparseKernel;
  for (const auto& [n, columns, kernel] :
       {std::tuple(40, 30000, SparseKernel::by_block), std::tuple(130, 9000, SparseKernel::by_place)}) {
    CAPTURE(n);
    const NDArray a = matrix(60, columns, 400, f32, i32), g = filled({60, n}, f32), few = some_rows(g);
    CHECK(strop::detail::sparse_kernel(strop::detail::SparseWork::transposed,
                                       {.width = n, .values = a.nnz(), .columns = columns, .counted = a.nnz()}) ==
          kernel);
    const NDArray expected = strop::dot(a.to(dense), g, {.transpose_a = true});
    CHECK(values(strop::dot(a, g, {.transpose_a = true}).to(dense)) == values(expected));
    const NDArray sum = strop::ones({columns, n});
    strop::dot(a, g, {.transpose_a = true, .forward_stype = dense}, strop::add_to(sum));
    CHECK(values(sum) == values(expected + 1));
    CHECK(values(strop::dot(a, few, {.transpose_a = true}).to(dense)) ==
          values(strop::dot(a.to(dense), few.to(dense), {.transpose_a = true})));
    const NDArray head = strop::random::uniform({60, n}, -1, 1);
    const auto with_threads = [&](int threads) {
      const Threads scope(threads);
      return values(strop::dot(a, head, {.transpose_a = true}).data());
    };
    CHECK(with_threads(1) == with_threads(4));
  }
}

TEST_CASE("CSR products refuse a structure that leads outside, wherever it does") {
  const auto with = [](std::int64_t column, std::int64_t end, Dtype index) {
    NDArray columns = strop::zeros({40}, i64), starts = strop::zeros({3}, i64);
    for (int k = 0; k < 40; ++k) columns.pointer<std::int64_t>()[k] = k;
    columns.pointer<std::int64_t>()[29] = column;
    starts.pointer<std::int64_t>()[1] = 20;
    starts.pointer<std::int64_t>()[2] = end;
    return strop::csr_matrix(strop::ones({40}), columns.to(index), starts.to(index), {2, 40});
  };
  for (const Dtype index : {i32, i64})
    for (const bool transpose : {false, true})
      for (const std::int64_t n : {1, 20}) {
        const NDArray b = strop::ones({transpose ? 2 : 40, n});
        const auto message = [&](const NDArray& a) {
          return error_of([&] { (void)strop::dot(a, b, {.transpose_a = transpose}); });
        };
        const std::string columns = " is outside 0 to 39, the columns of a row";
        CHECK(message(with(29, 40, index)) == "no error");
        CHECK(message(with(40, 40, index)) == "dot: input 'lhs': indices[29] = 40" + columns);
        CHECK(message(with(-1, 40, index)) == "dot: input 'lhs': indices[29] = -1" + columns);
        CHECK(message(with(29, 10, index)) ==
              "dot: input 'lhs': indptr ends with the number of stored values, 40, not 10");
      }
}

TEST_CASE("CSR products of no columns are empty") {
  const NDArray a = matrix(12, 9, 300, f32, i64);
  CHECK(strop::dot(a, strop::zeros({9, 0})).shape() == Shape{12, 0});
  CHECK(strop::dot(a, strop::zeros({12, 0}), {.transpose_a = true}).shape() == Shape{9, 0});
  CHECK(strop::dot(a, strop::zeros({12, 0}), {.transpose_a = true, .forward_stype = dense}).shape() == Shape{9, 0});
  const NDArray w = strop::zeros({9, 0});
  w.attach_grad();
  {
    strop::record scope;
    strop::dot(a, w).backward();
  }
  CHECK(w.grad().shape() == Shape{9, 0});
}

TEST_CASE("a structure that leads outside is refused before anything is read or written there") {
  const NDArray dense_two = strop::ones({2, 2});
  for (const std::int64_t far : {std::int64_t{1} << 26, std::int64_t{1} << 40}) {
    CHECK(error_of([&] {
            (void)(strop::csr_matrix({1, 2}, {0, 1}, {0, far, 2}, {2, 2}) * dense_two);
          }).starts_with("broadcast_mul: "));
    CHECK(error_of([&] {
            (void)(strop::csr_matrix({1, 2}, {0, far}, {0, 1, 2}, {2, 2}) * dense_two);
          }).starts_with("broadcast_mul: "));
    CHECK(error_of([&] {
            (void)(strop::csr_matrix({1, 2}, {0, -far}, {0, 1, 2}, {2, 2}) * dense_two);
          }).starts_with("broadcast_mul: "));
  }
  // of more columns than an index of 32 bits can say, a negative one is still none
  const NDArray wide = strop::csr_matrix(strop::ones({40}), strop::full({40}, -1, i32), array({0, 40}).to(i64),
                                         {1, std::int64_t{1} << 33});
  CHECK(error_of([&] { (void)strop::dot(wide, strop::ones({1, 3}), {.transpose_a = true}); }) ==
        "dot: input 'lhs': indices[0] = -1 is outside 0 to 8589934591, the columns of a row");
  // a lazy update writes nothing where one of its rows is outside
  const NDArray weight = strop::ones({4, 2}), rows = strop::row_sparse_array(strop::ones({2, 2}), {0, 9}, {4, 2});
  CHECK(error_of([&] { strop::sgd_update(weight, rows, {.lr = 0.5f}, strop::into(weight)); }) ==
        "sgd_update: input 'grad': indices[1] = 9 is outside 0 to 3, the stored rows");
  CHECK(values(weight) == Numbers(8, 1.0));
}

TEST_CASE("the table of kernels is the one that is used, and is printed row by row") {
  using strop::detail::SparseKernel;
  using strop::detail::SparseWork;
  const auto transposed = [](std::int64_t width, std::int64_t values, std::int64_t columns) {
    return strop::detail::sparse_kernel(SparseWork::transposed,
                                        {.width = width, .values = values, .columns = columns, .counted = values});
  };
  CHECK(transposed(128, 400000, 20000) == SparseKernel::by_place);
  CHECK(transposed(32, 400000, 50000) == SparseKernel::by_block);
  CHECK(transposed(1, 400000, 20000) == SparseKernel::sums_of_parts);
  CHECK(transposed(128, 1200, 1000000) == SparseKernel::into_result);
  CHECK(transposed(8, 400000, 20000) == SparseKernel::sums_of_parts);
  CHECK(transposed(128, std::int64_t{1} << 32, 20000) == SparseKernel::sums_of_parts);
  const auto product = [](std::int64_t bytes, std::int64_t piece, bool varied) {
    return strop::detail::sparse_kernel(SparseWork::dense_product, {.bytes = bytes, .piece = piece, .varied = varied});
  };
  CHECK(product(1 << 20, 4, true) == SparseKernel::products_first);
  CHECK(product(1 << 20, 4, false) == SparseKernel::in_registers);
  CHECK(product(1 << 20, 64, true) == SparseKernel::in_registers);
  CHECK(product(1 << 26, 64, true) == SparseKernel::ahead);
  const std::string text = strop::sparse_kernels();
  CHECK(std::count(text.begin(), text.end(), '\n') ==
        static_cast<std::ptrdiff_t>(std::size(strop::detail::sparse_rules)));
  for (const std::string_view work : strop::detail::sparse_work_names) {
    const std::size_t last = text.rfind("\n" + std::string(work), text.size());
    const std::string line = text.substr(last == std::string::npos ? 0 : last + 1);
    CHECK_MESSAGE(line.substr(0, line.find('\n')).find("  otherwise  ") != std::string::npos, work);
  }
}

TEST_CASE("products of CSR matrices of few and of many columns are those of the dense ones") {
  for (const Dtype dtype : {f32, f64})
    for (const Dtype index : {i32, i64}) {
      const NDArray a = matrix(30, 40, 200, dtype, index), narrow = matrix(40, 300, 50, dtype, index);
      const NDArray y = strop::dot(a, narrow);
      CHECK_NOTHROW(y.check_format());
      CHECK(y.indices().dtype() == index);
      CHECK(values(y.to(dense)) == values(strop::dot(a.to(dense), narrow.to(dense))));
      // more columns than bits of words are gone through one by one, and more than any table has
      for (const std::int64_t spread : {std::int64_t{250}, std::int64_t{7000000}}) {
        CAPTURE(spread);
        const NDArray far = strop::csr_matrix(narrow.data(), (narrow.indices().to(i64) * spread).to(index),
                                              narrow.indptr(), {40, 300 * spread});
        const NDArray z = strop::dot(a, far);
        CHECK_NOTHROW(z.check_format());
        CHECK(values(z.data()) == values(y.data()));
        CHECK(values(z.indices()) == values(y.indices().to(i64) * spread));
        CHECK(values(z.indptr()) == values(y.indptr()));
      }
    }
}

TEST_CASE("transposed products and their rows, where the columns are too many for a table") {
  const NDArray a = matrix(40, 300, 20, f32, i64), g = filled({40, 20}, f32);
  const NDArray far = strop::csr_matrix(a.data(), a.indices() * 7000000, a.indptr(), {40, 300 * std::int64_t{7000000}});
  for (const std::int64_t n : {1, 20}) {
    const NDArray head = strop::slice_axis(g, {.axis = 1, .begin = 0, .end = n});
    const NDArray near = strop::dot(a, head, {.transpose_a = true}), y = strop::dot(far, head, {.transpose_a = true});
    CHECK_NOTHROW(y.check_format());
    CHECK(values(y.data()) == values(near.data()));
    CHECK(values(y.indices()) == values(near.indices() * 7000000));
  }
}

TEST_CASE("sampled products of every depth are those of the dense product at the places") {
  for (const Dtype dtype : {f32, f64})
    for (const std::int64_t depth : {0, 1, 2, 3, 5, 8, 15, 16, 17, 33, 70}) {
      CAPTURE(depth);
      const NDArray pattern = matrix(23, 19, 300, dtype, i32), x = filled({23, depth}, dtype),
                    y = filled({19, depth}, dtype);
      const NDArray places = pattern.to(dense) != 0, whole = strop::dot(x, y, {.transpose_b = true}) * places;
      const NDArray sparse = strop::sddmm(pattern, x, y);
      CHECK(sparse.storage() == csr);
      CHECK(values(sparse.to(dense)) == values(whole));
      CHECK(values(strop::sddmm(pattern.to(dense), x, y)) == values(whole));
    }
}

TEST_CASE("row-sparse gradients of an Embedding are the dense ones, with the same bits for any number of threads") {
  for (const auto& [rows, padded] :  // with one number that has half of all places
       {std::pair(7, false), std::pair(3000, false), std::pair(30000, false), std::pair(30000, true),
        std::pair(4000000, false)})
    for (const std::int64_t width : {1, 17, 70}) {
      const NDArray ids({200, 200}, i64), dy = strop::random::uniform({200, 200, width}, -1, 1);
      std::uint64_t state = 3;
      for (std::int64_t k = 0; k < ids.size(); ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto drawn = static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(rows));
        ids.pointer<std::int64_t>()[k] = padded && k % 2 == 0 ? 5 : drawn;
      }
      const NDArray like = strop::row_sparse_array(strop::zeros({0, width}), strop::zeros({0}, i64), {rows, width});
      const auto gradient = [&](int threads) {
        const Threads scope(threads);
        return strop::embedding_gradient(dy, ids, like, {.sparse_grad = true});
      };
      const NDArray one = gradient(1), four = gradient(4);
      CHECK_NOTHROW(one.check_format());
      CHECK(values(one.data()) == values(four.data()));
      CHECK(values(one.indices()) == values(four.indices()));
      if (rows == 3000 || rows == 30000)
        CHECK(strop::allclose(one, strop::embedding_gradient(dy, ids, strop::zeros({rows, width})), 1e-5,
                              padded ? 1e-3 : 1e-6));
    }
}

TEST_CASE("what a row stores for one column several times adds up in every operator") {
  const strop::verify::QuietFallbacks quiet;
  for (const Dtype index : {i32, i64}) {
    const NDArray twice = strop::csr_matrix(array({-1, 2, 3, 0.5, 0.25}), array({1, 0, 1, 2, 2}).to(index),
                                            array({0, 3, 5}).to(index), {2, 3});
    const NDArray once = twice.to(dense), other = array({{2, 3, 4}, {5, 6, 7}}), row = array({{1, 2, 3}});
    CHECK(values(once) == Numbers{2, 2, 0, 0, 0, 0.75});
    const NDArray factor = filled({3, 4}, f32), tall = filled({2, 3}, f32), wide = filled({3, 3}, f32);
    const struct {
      std::string_view op;
      std::vector<std::pair<std::string_view, std::string_view>> params;
      Arrays in;
    } calls[] = {{"relu", {}, {twice}},
                 {"abs", {}, {twice}},
                 {"square", {}, {twice}},
                 {"round", {}, {twice}},
                 {"_mul_scalar", {{"scalar", "3"}}, {twice}},
                 {"_greater_scalar", {{"scalar", "1"}}, {twice}},
                 {"_scatter_plus_scalar", {{"scalar", "0"}}, {twice}},
                 {"Cast", {{"dtype", "int32"}}, {twice}},
                 {"exp", {}, {twice}},
                 {"elemwise_mul", {}, {twice, other}},
                 {"elemwise_add", {}, {twice, other}},
                 {"elemwise_add", {}, {twice, twice}},
                 {"elemwise_mul", {}, {twice, twice}},
                 {"_maximum", {}, {twice, twice}},
                 {"broadcast_mul", {}, {twice, row}},
                 {"add_n", {}, {twice, other, twice}},
                 {"add_n", {}, {twice, twice}},
                 {"dot", {}, {twice, factor}},
                 {"dot", {{"transpose_a", "True"}}, {twice, tall}},
                 {"dot", {{"transpose_b", "True"}}, {twice, twice}},
                 {"dot", {}, {tall.slice(0, 2), strop::invoke("Concat", {twice, twice.slice(0, 1)}, {{"dim", "0"}})}},
                 {"sddmm", {}, {twice, filled({2, 2}, f32), filled({3, 2}, f32)}},
                 {"stored_softmax", {}, {twice}},
                 {"sum", {{"axis", "0"}}, {twice}},
                 {"mean", {{"axis", "1"}}, {twice}},
                 {"norm", {}, {twice}},
                 {"norm", {{"axis", "1"}}, {twice}},
                 {"_square_sum", {{"axis", "0"}}, {twice}},
                 {"where", {}, {twice, other, strop::zeros({2, 3})}},
                 {"slice", {{"begin", "(0, 1)"}, {"end", "(2, 3)"}}, {twice}},
                 {"take", {}, {twice, array({1, 0})}},
                 {"Concat", {{"dim", "0"}}, {twice, twice}},
                 {"sort", {}, {twice}}};
    for (const auto& c : calls) {
      Arrays whole;
      for (const NDArray& a : c.in) whole.push_back(a.to(dense));
      const std::string wrong = difference(strop::invoke(c.op, c.in, c.params), strop::invoke(c.op, whole, c.params));
      CHECK_MESSAGE(wrong.empty(), c.op, ": ", wrong);
    }
    // Its gradient has each place once.
    for (const bool product : {false, true}) {
      const auto run = [&](const NDArray& x) {
        x.attach_grad();
        strop::record scope;
        (product ? strop::dot(x, wide) : strop::invoke("square", {x})).backward(other);
        return x.grad();
      };
      const NDArray slope = run(twice);
      slope.check_format();
      CHECK(slope.nnz() == 3);
      Numbers wanted = values(run(once));
      for (const std::size_t hidden : {std::size_t{2}, std::size_t{3}, std::size_t{4}}) wanted[hidden] = 0;
      CHECK(values(slope) == wanted);
    }
  }
}

TEST_CASE("a sparse result may replace one of the inputs") {
  for (const Dtype index : {i32, i64}) {
    const NDArray a = matrix(20, 20, 90, f32, index), b = matrix(20, 20, 80, f32, index), own = a.copy();
    const NDArray product = strop::dot(a, b);
    strop::dot(own, b, strop::into(own));
    CHECK_NOTHROW(own.check_format());
    CHECK(values(own.to(dense)) == values(product.to(dense)));
    const NDArray weights = strop::stored_softmax(a), soft = a.copy();
    strop::stored_softmax(soft, strop::into(soft));
    CHECK(values(soft.to(dense)) == values(weights.to(dense)));
  }
}
