// SPDX-License-Identifier: Apache-2.0
/// \file
/// Eigen in the cases of bench/sparse.cpp, which writes their matrices. Its transposed products are dense.
#include "../measure.hpp"

#include <Eigen/SparseCore>
#include <strop/strop.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

namespace {

using Csr = Eigen::SparseMatrix<float, Eigen::RowMajor, int>;
using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Column = Eigen::VectorXf;

std::filesystem::path file_of(const std::string& name) {
  return std::filesystem::path(std::getenv("STROP_BENCH_DATA")) / (name + ".npz");
}

Csr load(const std::string& name) {
  std::map<std::string, strop::NDArray> parts;
  for (auto& [part, array] : strop::load(file_of(name).string())) parts.emplace(part, array);
  const auto shape = parts.at("shape").to_vector<int>();
  return Eigen::Map<const Csr>(shape[0], shape[1], static_cast<int>(parts.at("data").size()),
                               parts.at("indptr").pointer<const int>(), parts.at("indices").pointer<const int>(),
                               parts.at("data").pointer<const float>());
}

template <class Work>
void report(const std::string& what, Work work) {
  bench::Contest contest;
  contest.add(work);
  contest.run();
  bench::line(what, contest.best(0));
}

void times_dense(const Csr& a, const std::string& what, int width) {
  if (width == 1) {  // a product with a vector has a kernel of its own
    const Column b = Column::Ones(a.cols());
    Column c = Column::Zero(a.rows());
    return report(what, [&] { c.noalias() = a * b; });
  }
  const Dense b = Dense::Ones(a.cols(), width);
  Dense c = Dense::Zero(a.rows(), width);
  report(what, [&] { c.noalias() = a * b; });
}

void transposed(const Csr& a, const std::string& what, int width) {
  if (width == 1) {
    const Column b = Column::Ones(a.rows());
    Column c = Column::Zero(a.cols());
    return report(what, [&] { c.noalias() = a.transpose() * b; });
  }
  const Dense b = Dense::Ones(a.rows(), width);
  Dense c = Dense::Zero(a.cols(), width);
  report(what, [&] { c.noalias() = a.transpose() * b; });
}

}  // namespace

int main() {
  for (const std::string name : {"uniform", "power law", "package index", "wide"}) {
    if (!std::filesystem::exists(file_of(name))) continue;
    const Csr a = load(name);
    const auto cols = static_cast<double>(a.cols());
    for (const int width : {1, 2, 8, 16, 32, 128, 512})
      if (cols * width <= 2e8) times_dense(a, name + " csr * dense, width " + std::to_string(width), width);
    for (const int width : {1, 2, 8, 16, 32, 128})
      if (cols * width <= 2e7) transposed(a, name + " csr' * dense to rows, width " + std::to_string(width), width);
    for (const int width : {1, 16, 128})
      if (cols * width <= 2e7) transposed(a, name + " csr' * dense to dense, width " + std::to_string(width), width);
    Csr twice = a;
    report(name + " csr * 2", [&] { twice = a * 2; });
    if (name == "uniform" || name == "power law") {
      Csr product;
      report(name + " csr * csr", [&] { product = a * a; });
      const Csr b = load(name + " other");
      report(name + " csr + csr", [&] { product = a + b; });
      report(name + " csr * csr by element", [&] { product = a.cwiseProduct(b); });
    }
  }
  const Csr few = load("of 4096");
  const Dense whole = Dense::Random(few.rows(), few.cols());
  Csr products;
  report("4096 csr * dense by element", [&] { products = few.cwiseProduct(whole); });
  for (const std::string cols : {"10000", "100000", "1000000", "10000000"}) {
    const Csr a = load("of " + cols);
    times_dense(a, "200k values: csr * dense, width 8, columns " + cols, 8);
    if (a.cols() <= 2'000'000) transposed(a, "200k values: csr' * dense to rows, width 8, columns " + cols, 8);
  }
}
