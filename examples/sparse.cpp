// SPDX-License-Identifier: Apache-2.0
// MXNet's tutorial of sparse operators: quadratic on CSR, the fallback, and a sparse kernel of one's own.
#include <strop/strop.hpp>

struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
inline constexpr strop::Op<Quadratic> quadratic;
static_assert(strop::check::storage(Quadratic{1, 2, 0}, strop::csr) == strop::csr);    // f(0) = 0
static_assert(strop::check::storage(Quadratic{1, 2, 3}, strop::csr) == strop::dense);  // f(0) = 3

/// The elements of a CSR matrix that are above `bound`; the others are no longer stored.
struct KeepAbove {
  float bound = 0;
  static constexpr std::string_view inputs[] = {"data"};
  static constexpr int sparse_tensors = 2;  // tensors that forward_sparse takes: x and y

  bool infer_storage(strop::Storages& s) const { return s.in(0) == strop::csr && s.set_out(0, strop::csr); }
  template <strop::Real E>
  void forward_sparse(strop::Cpu&, strop::CsrView<const E> x, strop::CsrResult<E> y) const {
    std::int64_t kept = 0;
    for (E value : x.data) kept += value > E(bound) ? 1 : 0;
    y.allocate(kept);  // known only now
    const auto data = y.data();
    const auto indices = y.indices(), indptr = y.indptr();
    indptr[0] = kept = 0;
    for (std::int64_t i = 0; i < x.rows; ++i) {
      for (std::int64_t k = x.indptr[i]; k < x.indptr[i + 1]; ++k)
        if (x.data[k] > E(bound)) data[kept] = x.data[k], indices[kept++] = x.indices[k];
      indptr[i + 1] = kept;
    }
  }
};
inline constexpr strop::Op<KeepAbove> keep_above;
static_assert(strop::SparseOp<KeepAbove> && strop::InfersStorage<KeepAbove>);

int main() {
  auto x = strop::array({{0, 1}, {2, 0}}).to(strop::csr);
  fmt::print("{}\n", quadratic(x, {.a = 1, .b = 2}));  // csr in, csr out
  // expect: csr(2, 2) {(0, 1): 3, (1, 0): 8}
  fmt::print("{}\n", quadratic(x, {.a = 1, .b = 2, .c = 3}));  // dense out, and one line on standard error
  // expect: [[3, 6], [11, 3]]
  // expect-stderr: quadratic(a=1, b=2, c=3): dense fallback for (csr) -> (dense)
  for (const auto& f : strop::fallbacks()) fmt::print("{} {} {}\n", f.op, f.storages, f.count);
  // expect: quadratic (csr) -> (dense) 1
  strop::set_fallback(strop::Fallback::error);
  try {
    (void)quadratic(x, {.c = 3});
  } catch (const std::exception&) {
    fmt::print("refused\n");
  }
  // expect: refused

  auto m = strop::csr_matrix({1, 5, -3}, {0, 2, 1}, {0, 2, 3}, {2, 3});
  fmt::print("{} of {} stored\n{}\n", m.nnz(), m.size(), keep_above(m, {.bound = 2}));
  // expect: 3 of 6 stored
  // expect: csr(2, 3) {(0, 2): 5}
  fmt::print("{}\n", strop::dot(m, strop::full({3, 1}, 1)));
  // expect: [[6], [-3]]

  x.attach_grad();
  {
    strop::record scope;
    strop::sum(quadratic(x, {.a = 1, .b = 2}).to(strop::dense)).backward();
  }
  fmt::print("{}\n", x.grad());  // the gradient of a sparse input, in the buffer that attach_grad made
  // expect: csr(2, 2) {(0, 1): 4, (1, 0): 6}
}
