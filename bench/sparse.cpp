// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sparse work: CSR by dense and transposed, element-wise, products of CSR matrices, sampled products, embeddings and
/// lazy updates. The bound is what the kernel has to move: the stored values and their indices once, and either every
/// row of the other factor once (compulsory) or one row for each stored value (gather), at this machine's copy rate.
#include "../examples/demo/packages.hpp"
#include "measure.hpp"

#include <strop/strop.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using strop::NDArray;

/// Random numbers that every standard library draws alike.
class Random {
 public:
  explicit Random(std::uint64_t seed = 1) : state_(seed) {}
  std::uint64_t below(std::int64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % static_cast<std::uint64_t>(n);
  }
  double uniform() { return (static_cast<double>(below(1 << 30)) + 1) / (1 << 30); }

 private:
  std::uint64_t state_;
};

struct Matrix {
  std::string name;
  NDArray csr;
  double stored, rows, cols;
};

/// Kept for the peers where they ask for it.
Matrix named(const char* name, const NDArray& csr) {
  if (const char* folder = std::getenv("STROP_BENCH_DATA")) {
    const auto path = std::filesystem::path(folder) / (std::string(name) + ".npz");
    strop::save(path.string(), {{"data", csr.data()},
                                {"indices", csr.indices()},
                                {"indptr", csr.indptr()},
                                {"shape", strop::array<std::int64_t>({csr.shape()[0], csr.shape()[1]})}});
  }
  return {name, csr, static_cast<double>(csr.nnz()), static_cast<double>(csr.shape()[0]),
          static_cast<double>(csr.shape()[1])};
}

/// `each`(random) stored values in every row, at random columns.
template <class Each>
Matrix matrix(const char* name, std::int64_t rows, std::int64_t cols, Each each, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<std::int32_t> indices, indptr{0}, row;
  std::vector<float> data;
  for (std::int64_t i = 0; i < rows; ++i) {
    row.clear();
    for (std::int64_t k = each(random); k > 0; --k) row.push_back(static_cast<std::int32_t>(random.below(cols)));
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (std::int32_t j : row) {
      indices.push_back(j);
      data.push_back(static_cast<float>(random.uniform() - 0.5));
    }
    indptr.push_back(static_cast<std::int32_t>(indices.size()));
  }
  const auto array = [](const auto& from, strop::Dtype dtype) {
    const NDArray a({static_cast<std::int64_t>(from.size())}, dtype);
    std::copy(from.begin(), from.end(), a.pointer<typename std::remove_cvref_t<decltype(from)>::value_type>());
    return a;
  };
  const NDArray values = array(data, strop::f32), where = array(indices, strop::i32),
                starts = array(indptr, strop::i32);
  return named(name, strop::csr_matrix(values, where, starts, {rows, cols}));
}

double copy_rate = 0;  // bytes a nanosecond

/// One line: time, and of which part of the two bounds that is.
template <class Work>
void row(const std::string& what, double compulsory, double gather, Work work) {
  if (!bench::wanted(what)) return;
  if (bench::gave_line(what, work)) return bench::bounds(what, compulsory / copy_rate, gather / copy_rate);
  bench::Contest one, two;
  one.add(work), two.add(work);
  for (int pass = 0; pass < 3; ++pass) {
    strop::set_num_threads(1), one.run(2e7);
    strop::set_num_threads(2), two.run(2e7);
  }
  const double best = std::min(one.best(0), two.best(0));
  std::printf("%-60s %10.1f %10.1f %9.0f%% %9.0f%%\n", what.c_str(), one.best(0) / 1e3, two.best(0) / 1e3,
              100 * compulsory / copy_rate / best, 100 * gather / copy_rate / best);
}

/// The words of the package index as the demo reads it: none where this machine has no index.
std::vector<Matrix> words_of_packages() {
  try {
    const NDArray words = read_packages("").train.words;
    return {named("package index", strop::csr_matrix(words.data(), words.indices().to(strop::i32),
                                                     words.indptr().to(strop::i32), words.shape()))};
  } catch (const strop::Error& error) {
    std::printf("# %s\n", error.what());
    return {};
  }
}

/// Bytes of the values of a matrix, their columns and where its rows begin.
double structure(const Matrix& a) { return 8 * a.stored + 4 * a.rows; }

void times_dense(const Matrix& a, const std::string& what, std::int64_t width) {
  const NDArray b = strop::random::uniform({a.csr.shape()[1], width}, -1, 1);
  const NDArray c = strop::zeros({a.csr.shape()[0], width});
  const double n = 4 * static_cast<double>(width);
  row(what, structure(a) + n * (a.rows + std::min(a.cols, a.stored)), structure(a) + n * (a.rows + a.stored),
      [=, x = a.csr] { strop::dot(x, b, strop::Dot{}, strop::into(c)).wait(); });
}

void transposed_to_rows(const Matrix& a, const std::string& what, std::int64_t width) {
  const NDArray g = strop::random::uniform({a.csr.shape()[0], width}, -1, 1);
  const double n = 4 * static_cast<double>(width);
  const double kept = static_cast<double>(strop::dot(a.csr, g, {.transpose_a = true}).nnz());
  row(what, structure(a) + n * (a.rows + kept) + 8 * kept, structure(a) + n * (a.stored + kept) + 8 * kept,
      [=, x = a.csr] { strop::dot(x, g, {.transpose_a = true}).wait(); });
}

void products(const Matrix& a) {
  const auto of_width = [&](const char* what, std::int64_t width) {
    return a.name + ' ' + what + ", width " + std::to_string(width);
  };
  for (const std::int64_t width : {1, 2, 8, 16, 32, 128, 512})
    if (a.cols * static_cast<double>(width) <= 2e8) times_dense(a, of_width("csr * dense", width), width);
  for (const std::int64_t width : {1, 2, 8, 16, 32, 128})
    transposed_to_rows(a, of_width("csr' * dense to rows", width), width);
  for (const std::int64_t width : {1, 16, 128}) {
    if (a.cols * static_cast<double>(width) > 2e7) continue;
    const NDArray g = strop::random::uniform({a.csr.shape()[0], width}, -1, 1);
    const NDArray c = strop::zeros({a.csr.shape()[1], width});
    const double n = 4 * static_cast<double>(width);
    row(of_width("csr' * dense to dense", width), structure(a) + n * (a.rows + a.cols),
        structure(a) + n * (a.stored + a.cols), [=, x = a.csr] {
          strop::dot(x, g, strop::Dot{.transpose_a = true, .forward_stype = strop::dense}, strop::into(c)).wait();
        });
  }
  for (const std::int64_t width : {8, 32, 128}) {
    if (a.cols * static_cast<double>(width) > 2e8) continue;
    const NDArray lhs = strop::random::uniform({a.csr.shape()[0], width}, -1, 1);
    const NDArray rhs = strop::random::uniform({a.csr.shape()[1], width}, -1, 1);
    const double n = 4 * static_cast<double>(width);
    row(of_width("sddmm", width), 2 * structure(a) + n * (a.rows + std::min(a.cols, a.stored)),
        2 * structure(a) + n * (a.rows + a.stored), [=, x = a.csr] { strop::sddmm(x, lhs, rhs).wait(); });
  }
  row(a.name + " csr * 2", 12 * a.stored, 12 * a.stored, [=, x = a.csr] { (x * 2).wait(); });
}

/// A square matrix by itself. The bounds: both factors and the result once; a row of the second for each value of the
/// first.
void square(const Matrix& a) {
  const double result = 8 * static_cast<double>(strop::dot(a.csr, a.csr).nnz()) + 4 * a.rows;
  const double met = 8 * a.stored * a.stored / a.cols;  // of columns that have the same number of values
  row(a.name + " csr * csr", 2 * structure(a) + result, structure(a) + met + result,
      [x = a.csr] { strop::dot(x, x).wait(); });
}

/// Two matrices of one shape, element by element. The bounds: both of them and the result once.
void by_element(const Matrix& a, const Matrix& b) {
  const auto of_result = [&](const NDArray& y) { return 8 * static_cast<double>(y.nnz()) + 4 * a.rows; };
  const double both = structure(a) + structure(b), sum = both + of_result(a.csr + b.csr),
               product = both + of_result(a.csr * b.csr);
  row(a.name + " csr + csr", sum, sum, [x = a.csr, y = b.csr] { (x + y).wait(); });
  row(a.name + " csr * csr by element", product, product, [x = a.csr, y = b.csr] { (x * y).wait(); });
}

/// A matrix and a dense one: the bound is an element of that for each value, which come from as many cache lines.
void by_dense_element() {
  const Matrix a = matrix("of 4096", 4096, 4096, [](Random&) { return 20; });
  const NDArray d = strop::random::uniform(a.csr.shape(), -1, 1);
  const double bytes = 2 * structure(a) + 4 * a.stored;
  row("4096 csr * dense by element", bytes, bytes + 60 * a.stored, [x = a.csr, d] { (x * d).wait(); });
}

/// 200,000 stored values in matrices of more and more columns: sparse work goes by what is stored.
void decades() {
  for (const std::int64_t cols : {10000, 100000, 1000000, 10000000}) {
    const std::string size = std::to_string(cols);
    const Matrix a = matrix(("of " + size).c_str(), 10000, cols, [](Random&) { return 20; });
    times_dense(a, "200k values: csr * dense, width 8, columns " + size, 8);
    transposed_to_rows(a, "200k values: csr' * dense to rows, width 8, columns " + size, 8);
  }
}

/// A table of a million rows, of which a batch uses 65,536.
void embeddings() {
  constexpr std::int64_t rows = 1'000'000, width = 64, count = 65536;
  Random random;
  const NDArray ids({count}, strop::i64), table = strop::random::uniform({rows, width});
  for (std::int64_t i = 0; i < count; ++i)
    ids.pointer<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(rows));
  const NDArray out = strop::zeros({count, width}), head = strop::random::uniform({count, width});
  const double block = 4.0 * width * count;
  const strop::Embedding options{.input_dim = rows, .output_dim = width, .sparse_grad = true};
  row("embedding, forward", 8 * count + 2 * block, 8 * count + 2 * block,
      [=] { strop::embedding(ids, table, options, strop::into(out)).wait(); });
  const strop::Op<strop::EmbeddingGradient, strop::OnUse> gradient;
  row("embedding, gradient of the rows", 8 * count + 2 * block, 8 * count + 2 * block,
      [=] { gradient(head, ids, table, {.sparse_grad = true}).wait(); });
  const NDArray weight = strop::random::uniform({rows, width});
  weight.attach_grad(strop::GradRequest::write, strop::row_sparse);
  row("embedding, forward and backward", 16 * count + 4 * block, 16 * count + 4 * block, [=] {
    strop::NDArray y;
    {
      strop::record scope;
      y = strop::embedding(ids, weight, options);
    }
    y.backward(head);
    weight.grad().wait();
  });
  const NDArray rows_gradient = gradient(head, ids, table, {.sparse_grad = true});
  const NDArray mean = strop::zeros({rows, width}), variance = strop::zeros({rows, width});
  const double updated = 4.0 * width * static_cast<double>(rows_gradient.nnz());
  row("sgd, lazy", 3 * updated, 3 * updated,
      [=] { strop::sgd_update(table, rows_gradient, {.lr = 1e-4f}, strop::into(table)).wait(); });
  row("adam, lazy", 7 * updated, 7 * updated,
      [=] { strop::adam_update(table, rows_gradient, mean, variance, {.lr = 1e-4f}, strop::into(table)).wait(); });
  row("adagrad, lazy", 5 * updated, 5 * updated,
      [=] { strop::sparse_adagrad_update(table, rows_gradient, variance, {.lr = 1e-4f}, strop::into(table)).wait(); });
}

/// The rate of a copy from one array to another beyond the caches, reading and writing counted.
double measure_copy() {
  const std::int64_t n = 1 << 24;
  const NDArray from = strop::zeros({n}), to = strop::zeros({n});
  bench::Contest contest;
  contest.add([&] { strop::identity(from, strop::into(to)).wait(); });
  contest.run(2e8);
  return 8.0 * static_cast<double>(n) / contest.best(0);
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  copy_rate = measure_copy();
  if (!bench::lines) {
    std::printf(
        "Microseconds with one thread and with two; what part the bounds are of the better one, at a copy of %.1f "
        "GB/s\n",
        copy_rate);
    std::printf("%-60s %10s %10s %10s %10s\n", "", "1 thread", "2 threads", "compulsory", "gather");
  }
  const auto twenty = [](Random&) { return 20; };
  const auto few_to_many = [](Random& random) {
    return static_cast<std::int64_t>(std::min(25000.0, 6 * std::pow(random.uniform(), -0.6)));
  };
  const Matrix uniform = matrix("uniform", 20000, 20000, twenty);
  const Matrix power_law = matrix("power law", 50000, 50000, few_to_many);
  products(uniform);
  products(power_law);
  for (const Matrix& a : words_of_packages()) products(a);
  products(matrix("wide", 8192, 1000000, [](Random&) { return 15; }));
  square(uniform);
  square(power_law);
  by_element(uniform, matrix("uniform other", 20000, 20000, twenty, 2));
  by_element(power_law, matrix("power law other", 50000, 50000, few_to_many, 2));
  by_dense_element();
  embeddings();
  decades();
}
