// SPDX-License-Identifier: Apache-2.0
/// \file
/// Comparison of dense arrays, and of sparse ones side by side.
#pragma once
#include <strop/core/config.hpp>
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/merged.hpp>

#include <cstdint>

namespace strop::inline v0 {

namespace detail {

/// |a − b| ≤ absolute + relative · |b|; equal infinities are close, NaN only to NaN and where that is asked for.
struct Closeness {
  double relative, absolute;
  bool equal_nan;

  bool operator()(double a, double b) const {
    if (a == b || (equal_nan && a != a && b != b)) return true;
    const double difference = a < b ? b - a : a - b;
    return difference <= absolute + relative * (b < 0 ? -b : b) && difference - difference == 0;
  }
};

/// Compares elements [i, i + n) of `a` with [j, j + n) of `b`; without `a` (or `b`) with zeros.
STROP_IMPL bool close_run(const NDArray* a, std::int64_t i, const NDArray* b, std::int64_t j, std::int64_t n,
                          const Closeness& close) {
  constexpr std::int64_t block = 256;
  double x[block] = {}, y[block] = {};
  for (std::int64_t done = 0; done < n; done += block) {
    const std::int64_t count = n - done < block ? n - done : block;
    if (a != nullptr) load_doubles(a->dtype(), a->bytes() + (i + done) * size_of(a->dtype()), x, count);
    if (b != nullptr) load_doubles(b->dtype(), b->bytes() + (j + done) * size_of(b->dtype()), y, count);
    for (std::int64_t k = 0; k < count; ++k)
      if (!close(x[k], y[k])) return false;
  }
  return true;
}

/// Compares two lists of stored entries of `width` elements, both in ascending order of place.
STROP_IMPL bool close_lists(const NDArray& a, RowSpan in_a, const NDArray& b, RowSpan in_b, std::int64_t width,
                            const Closeness& close) {
  const IndexReader at_a(a.indices()), at_b(b.indices());
  while (in_a.begin < in_a.end || in_b.begin < in_b.end) {
    const bool has_a = in_a.begin < in_a.end, has_b = in_b.begin < in_b.end;
    const bool from_a = has_a && (!has_b || at_a[in_a.begin] <= at_b[in_b.begin]);
    const bool from_b = has_b && (!has_a || at_b[in_b.begin] <= at_a[in_a.begin]);
    if (!close_run(from_a ? &a : nullptr, in_a.begin * width, from_b ? &b : nullptr, in_b.begin * width, width, close))
      return false;
    in_a.begin += from_a ? 1 : 0;
    in_b.begin += from_b ? 1 : 0;
  }
  return true;
}

STROP_IMPL bool close_sparse(const NDArray& a, const NDArray& b, const Closeness& close) {
  if (a.storage() == row_sparse)
    return close_lists(a, {0, a.nnz()}, b, {0, b.nnz()}, a.shape().size(1, a.ndim()), close);
  const IndexReader in_a(a.indptr()), in_b(b.indptr());
  for (std::int64_t row = 0; row < a.shape()[0]; ++row)
    if (!close_lists(a, row_span(in_a, row, a.nnz()), b, row_span(in_b, row, b.nnz()), 1, close)) return false;
  return true;
}

STROP_IMPL bool close_elements(const NDArray& a, const NDArray& b, double rtol, double atol, bool equal_nan) {
  return close_run(&a, 0, &b, 0, a.size(), {rtol, atol, equal_nan});
}

}  // namespace detail

STROP_IMPL bool allclose(const NDArray& a, const NDArray& b, double rtol, double atol, bool equal_nan) {
  detail::leave_trace("allclose()");
  if (!a.defined() || !b.defined()) fail("strop: allclose() of a handle without an array");
  if (a.shape() != b.shape()) return false;
  if (a.storage() != dense && a.storage() == b.storage()) {
    const NDArray x = detail::on_device(a, cpu()), y = detail::on_device(b, cpu());
    x.wait();
    y.wait();
    detail::check_filled(x);
    detail::check_filled(y);
    if (detail::ascends(x) && detail::ascends(y)) return detail::close_sparse(x, y, {rtol, atol, equal_nan});
  }
  a.wait();
  b.wait();
  return detail::close_elements(detail::dense_on_host(a), detail::dense_on_host(b), rtol, atol, equal_nan);
}

}  // namespace strop::inline v0
