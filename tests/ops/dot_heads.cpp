// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients of dot for head gradients that are row-sparse: those of the dense head, without a dense copy.
#include "harness.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace ops_test;
using strop::csr;
using strop::dense;
using strop::Dot;
using strop::f32;
using strop::f64;
using strop::i32;
using strop::i64;
using strop::row_sparse;
using Numbers = std::vector<double>;

namespace {

/// Small whole numbers; of a sparse array some are zero.
NDArray numbers(const Shape& shape, Storage storage, Dtype type, unsigned salt) {
  const NDArray a(shape, f64);
  for (std::int64_t i = 0; i < a.size(); ++i) {
    salt = salt * 1664525U + 1013904223U;
    const bool zero =
        storage != dense && (storage == csr ? salt >> 16 : static_cast<unsigned>(i / a.shape()[1])) % 3 == 1;
    a.pointer<double>()[i] = zero ? 0 : static_cast<double>((salt >> 10) % 9) - 4;
  }
  return strop::detail::cast_storage(with_dtype(a, type), storage);
}

/// A head gradient of which some rows are stored, and the same as a dense array.
struct Head {
  NDArray rows, whole;
  Head(const Shape& shape, Dtype type, Dtype index, const std::vector<std::int64_t>& stored) : whole(shape, f64) {
    std::fill_n(whole.pointer<double>(), whole.size(), 0.0);
    const std::int64_t width = shape.size(1, shape.ndim());
    Shape part = shape;
    part[0] = std::ssize(stored);
    const NDArray values(part, f64);
    for (std::int64_t k = 0; k < values.size(); ++k) {
      const double value = static_cast<double>(k * 5 % 7) - 3;
      values.pointer<double>()[k] = value;
      if (width > 0) whole.pointer<double>()[stored[static_cast<std::size_t>(k / width)] * width + k % width] += value;
    }
    rows =
        strop::row_sparse_array(with_dtype(values, type), strop::detail::as_type(strop::array(stored), index), shape);
    whole = with_dtype(whole, type);
  }
};

struct Case {
  Shape lhs, rhs;
  Storage a, b;
  Dot p = {};
};

Arrays gradients(const Case& c, const Arrays& in, const NDArray& head, const std::vector<Storage>& buffers,
                 strop::GradRequest request) {
  Arrays out;
  for (std::size_t i = 0; i < 2; ++i) in[i].attach_grad(request, buffers[i]);
  for (int time = 0; time < (request == strop::GradRequest::add ? 2 : 1); ++time) {
    strop::record scope;
    strop::dot(in[0], in[1], c.p).backward(head);
  }
  for (const NDArray& a : in) out.push_back(a.grad());
  return out;
}

}  // namespace

TEST_CASE("a row-sparse head gradient of dot is read by its rows, and gives what the dense one gives") {
  const Dot plain{}, first{.transpose_a = true}, last{.transpose_b = true},
      both{.transpose_a = true, .transpose_b = true};
  const std::vector<Case> cases = {{{6, 5}, {5, 4}, dense, dense, plain},
                                   {{5, 6}, {5, 4}, dense, dense, first},
                                   {{6, 5}, {4, 5}, dense, dense, last},
                                   {{5, 6}, {4, 5}, dense, dense, both},
                                   {{6, 2, 5}, {5, 4}, dense, dense, plain},
                                   {{5, 6, 2}, {5, 2, 3}, dense, dense, first},
                                   {{6, 5}, {5}, dense, dense, plain},
                                   {{5}, {5, 6}, dense, dense, plain},
                                   {{6, 5}, {5, 4}, csr, dense, plain},
                                   {{5, 6}, {5, 4}, csr, dense, {.transpose_a = true, .forward_stype = dense}},
                                   {{6, 5}, {5, 2, 3}, csr, dense, plain},
                                   {{6, 5}, {5}, csr, dense, plain},
                                   {{6, 5}, {5, 4}, csr, row_sparse, plain},
                                   {{6, 5}, {5, 4}, dense, csr, {.forward_stype = dense}},
                                   {{6, 5}, {4, 5}, dense, csr, last},
                                   {{6, 5}, {5, 4}, csr, csr, {.forward_stype = dense}},
                                   {{5, 6}, {5, 4}, csr, csr, {.transpose_a = true, .forward_stype = dense}},
                                   {{6, 5}, {4, 5}, csr, csr, {.transpose_b = true, .forward_stype = dense}}};
  const strop::Fallback before = strop::set_fallback(strop::Fallback::error);
  int compared = 0;
  for (const Case& c : cases)
    for (const Dtype type : {f32, f64})
      for (const Dtype index : {i32, i64})
        // None, some, all, the last first, one twice.
        for (const std::vector<std::int64_t>& stored :
             {std::vector<std::int64_t>{}, {1, 4}, {0, 1, 2, 3, 4, 5}, {5, 0}, {2, 2, 3}})
          for (const strop::GradRequest request : {strop::GradRequest::write, strop::GradRequest::add})
            for (const bool own : {false, true}) {
              if (own && request == strop::GradRequest::add) continue;
              const Arrays in = {numbers(c.lhs, c.a, type, 7), numbers(c.rhs, c.b, type, 8)};
              const NDArray y = strop::dot(in[0], in[1], c.p);
              const Head head(y.shape(), type, index, stored);
              const std::vector<Storage> buffers = {own ? c.a : dense, own && c.b == csr ? csr : dense};
              std::string wrong;
              try {
                strop::clear_fallbacks();
                const Arrays got = gradients(c, in, head.rows, buffers, request);
                if (!strop::fallbacks().empty()) wrong = "went by dense copies";
                const Arrays wanted = gradients(c, in, head.whole, buffers, request);
                for (std::size_t i = 0; i < 2 && wrong.empty(); ++i) {
                  if (got[i].storage() != buffers[i]) wrong = cat("came ", name_of(got[i].storage()));
                  got[i].check_format();
                  if (wrong.empty()) wrong = difference(got[i], values(wanted[i]), in[i].shape(), {1e-6, 1e-6});
                }
              } catch (const std::exception& error) {
                wrong = error.what();
              }
              CHECK_MESSAGE(wrong.empty(), c.lhs, " ", name_of(c.a), " by ", c.rhs, " ", name_of(c.b), ", ",
                            c.p.transpose_a, c.p.transpose_b, ", ", stored.size(), " rows: ", wrong);
              ++compared;
            }
  CHECK(compared == 18 * 2 * 2 * 5 * 3);
  // The rows that a head stores are those of the other factor's gradient, in row_sparse.
  const NDArray x = numbers({6, 5}, csr, f32, 7), w = numbers({5, 4}, dense, f32, 8);
  const Head head({6, 4}, f32, i64, {1, 4});
  w.attach_grad(strop::GradRequest::write, row_sparse);
  {
    strop::record scope;
    strop::dot(x, w).backward(head.rows);
  }
  CHECK(w.grad().storage() == row_sparse);
  CHECK(values(w.grad()) == values(strop::dot(x, head.whole, {.transpose_a = true, .forward_stype = dense})));
  strop::set_fallback(before);
}

TEST_CASE("work for a row-sparse head gradient is that of its rows") {
  constexpr std::int64_t n = std::int64_t{1} << 20;
  const strop::Fallback before = strop::set_fallback(strop::Fallback::error);
  std::vector<std::int64_t> starts(n + 1, 1);
  starts[0] = 0;
  starts[n] = 2;  // a row at the beginning, a row at the end
  const NDArray x = strop::csr_matrix({2, 3}, {1, 0}, starts, {n, 2});
  const NDArray head = strop::row_sparse_array(strop::ones({1, 4}), {n - 1}, {n, 4}), v = strop::ones({2, 4});
  v.attach_grad();
  x.attach_grad();
  {
    strop::record scope;
    strop::dot(x, v).backward(head);
  }
  CHECK(values(v.grad()) == Numbers{3, 3, 3, 3, 0, 0, 0, 0});
  CHECK(values(x.grad().data()) == Numbers{0, 4});
  strop::set_fallback(before);
}
