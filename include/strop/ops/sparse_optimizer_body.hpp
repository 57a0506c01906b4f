// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/sparse_optimizer.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/prefetch.hpp>
#include <strop/engine/pool.hpp>
#include <strop/op/loops.hpp>
#include <strop/ops/cast_body.hpp>
#include <strop/ops/sparse_optimizer.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// An array whose every row is in memory: dense, or row_sparse with all rows. A row_sparse state that stores nothing
/// yet gets all its rows, zero.
inline const NDArray& with_all_rows(std::string_view op, std::string_view what, const NDArray& a, bool state) {
  if (a.storage() == dense) return a;
  const std::int64_t rows = a.shape()[0];
  if (a.nnz() == rows) {
    if (rows != 0 &&
        !(ascends(a) && IndexReader(a.indices())[rows - 1] == rows - 1 && IndexReader(a.indices())[0] == 0))
      fail(op, ": the rows that '", what, "' stores are not all of its rows in their order");
    return a;
  }
  if (!state || a.nnz() != 0)
    fail(op, ": '", what, "' is row_sparse and stores ", a.nnz(), " of its ", rows, " rows, expected all of them");
  List<std::int64_t> all(rows);
  for (std::int64_t i = 0; i < rows; ++i) all[i] = i;
  allocate_stored_as(a, rows, a.indices().dtype());
  write_indices(a.indices(), all.data(), rows);
  clear(a, a.stored() * size_of(a.dtype()));
  return a;
}

/// The new weight begins as the old one, where it is another array; without the values where all rows follow.
inline void start_from_weight(std::string_view op, const NDArray& weight, const NDArray& out, bool all = false) {
  const NDArray& from = with_all_rows(op, "weight", weight, false);
  if (out.is(weight) || out.bytes() == from.bytes()) return;
  if (out.storage() == row_sparse) copy_structure(from, out);
  if (!all) copy_bytes(out.bytes(), from.bytes(), from.stored() * size_of(from.dtype()));
}

/// Whether states are stored as their weight is, which a lazy update takes: a dense state beside a row_sparse weight
/// says that every row moves, as it does in MXNet.
inline bool stored_alike(const NDArray& weight, std::initializer_list<const NDArray*> states) {
  return std::all_of(states.begin(), states.end(),
                     [&](const NDArray* state) { return state->storage() == weight.storage(); });
}

/// Refuses a gradient with a row outside, before anything is written.
inline void check_rows(const NDArray& grad, std::int64_t rows) {
  const IndexReader indices(grad.indices());
  for (std::int64_t i = 0; i < grad.nnz(); ++i) checked_index(indices[i], rows);
}

inline namespace STROP_ISA {

/// Between rows anywhere and rows that follow each other: f(element of the first, element of the second).
template <class E, class I, class F>
void each_of_rows(const I* rows, std::int64_t count, std::int64_t width, E* anywhere, E* together, F f) {
  if (width == 1) {
    for (std::int64_t i = 0; i < count; ++i) f(anywhere[rows[i]], together[i]);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, together += width) {
    E* const row = anywhere + rows[i] * width;
    for (std::int64_t j = 0; j < width; ++j) f(row[j], together[j]);
  }
}

/// Applies Step, a map of (weight, grad, states…) to (weight, states…), to all elements or, where `lazy`, to the rows
/// that a row_sparse gradient stores. What a gradient stores for one row adds up.
template <class Step, class E>
void update(std::string_view op, const Step& step, bool lazy, const NDArray& weight, const NDArray& given,
            std::initializer_list<const NDArray*> states, const NDArray& out, std::span<const std::string_view> names) {
  constexpr std::size_t inputs = arity<Step>;
  const NDArray grad = merged(given);
  if (grad.storage() == row_sparse) check_rows(grad, out.shape()[0]);
  const bool all = grad.storage() == dense || grad.nnz() == out.shape()[0];  // the rows ascend
  start_from_weight(op, weight, out, all || !lazy);
  E* data[inputs];  // the new weight stands where the gradient would
  data[0] = data[1] = out.pointer<E>();
  for (std::size_t k = 2; k < inputs; ++k) {
    const NDArray& state = *states.begin()[k - 2];
    with_all_rows(op, names[k], state, true);
    data[k] = state.template pointer<E>();
  }
  const auto run = [&](const E* old, const E* gradient, E* const* from, std::int64_t at, std::int64_t n) {
    const void* in[inputs];
    void* to[inputs - 1];
    in[0] = old + at;
    in[1] = gradient;
    to[0] = from[0] + at;
    for (std::size_t i = 2; i < inputs; ++i) in[i] = to[i - 1] = from[i] + at;
    lane_loop<Step, E>(&step, in, to, n);
  };
  const E *const gradient = grad.pointer<const E>(), *const old = weight.pointer<const E>();
  if (all)
    return parallel_for(out.size(), 1 << 15, [&](std::int64_t begin, std::int64_t end) {
      run(old, gradient + begin, data, begin, end - begin);
    });
  const std::int64_t rows = out.shape()[0], width = out.shape().size(1, out.ndim());
  if (width == 0) return;
  constexpr std::int64_t block = 1024, widest = 64;  // elements that are computed together; of a row that is narrow
  const std::int64_t together = std::max<std::int64_t>(1, block / width),
                     grain = std::max<std::int64_t>(1, (1 << 14) / width);
  const auto by = [&](const auto* indices) {
    const auto narrow_rows = [&](std::int64_t begin, std::int64_t end) {
      E collected[inputs][unsigned_size(block)], *from[inputs];
      for (std::size_t k = 0; k < inputs; ++k) from[k] = collected[k];
      for (std::int64_t i = begin; i < end; i += together) {
        const std::int64_t n = std::min(together, end - i);
        for (std::size_t k = 0; k < inputs; ++k)
          if (k != 1) each_of_rows(indices + i, n, width, data[k], from[k], [](E& x, E& y) { y = x; });
        run(from[0], gradient + i * width, from, 0, n * width);
        for (std::size_t k = 0; k < inputs; ++k)
          if (k != 1) each_of_rows(indices + i, n, width, data[k], from[k], [](E& x, E& y) { x = y; });
      }
    };
    const std::int64_t asked = std::min<std::int64_t>(512, width * std::int64_t{sizeof(E)});
    const auto wide_rows = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (i + 8 < end) {  // the rows are anywhere: what is asked for early does not stop the work
          const std::int64_t next = indices[i + 8] * width;
          for (std::size_t tensor = 1; tensor < inputs; ++tensor) prefetch_lines<true>(data[tensor] + next, asked);
        }
        run(data[0], gradient + i * width, data, indices[i] * width, width);
      }
    };
    const auto every_row = [&](std::int64_t begin, std::int64_t end) {
      std::int64_t i = std::lower_bound(indices, indices + grad.nnz(), begin) - indices;
      List<E> memory(together * width);
      E* const filled = memory.data();
      for (std::int64_t row = begin; row < end; row += together) {
        const std::int64_t n = std::min(together, end - row);
        std::fill_n(filled, n * width, E(0));
        for (; i < grad.nnz() && indices[i] < row + n; ++i)
          std::copy_n(gradient + i * width, width, filled + (indices[i] - row) * width);
        run(old, filled, data, row * width, n * width);
      }
    };
    if (!lazy)
      parallel_for(rows, grain, every_row);
    else if (width < widest)
      parallel_for(grad.nnz(), grain, narrow_rows);
    else
      parallel_for(grad.nnz(), grain, wide_rows);
  };
  IndexReader(grad.indices()).as_stored(by);
}

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void SgdUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& out) const {
  detail::update<Step, E>(name, {*lr, wd, rescale_grad, clip_gradient}, lazy_update, weight, grad, {}, out, inputs);
}

template <Real E>
inline void SgdMomUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& mom, NDArray& out) const {
  const bool lazy = lazy_update && detail::stored_alike(weight, {&mom});
  detail::update<Step, E>(name, {*lr, momentum, wd, rescale_grad, clip_gradient}, lazy, weight, grad, {&mom}, out,
                          inputs);
}

template <Real E>
inline void AdamUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& first, NDArray& second,
                                NDArray& out) const {
  const bool lazy = lazy_update && detail::stored_alike(weight, {&first, &second});
  detail::update<Step, E>(name, {*lr, beta1, beta2, epsilon, wd, rescale_grad, clip_gradient}, lazy, weight, grad,
                          {&first, &second}, out, inputs);
}

template <Real E>
inline void FtrlUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& z, NDArray& n,
                                NDArray& out) const {
  detail::update<Step, E>(name, {*lr, lamda1, beta, wd, rescale_grad, clip_gradient}, true, weight, grad, {&z, &n}, out,
                          inputs);
}

template <Real E>
inline void SparseAdagradUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& history,
                                         NDArray& out) const {
  if (wd != 0) fail(name, ": wd is ", wd, ", expected 0");
  detail::update<Step, E>(name, {*lr, epsilon, rescale_grad, clip_gradient}, true, weight, grad, {&history}, out,
                          inputs);
}

template <Real E>
inline void GroupAdagradUpdate::forward(Cpu&, const NDArray& weight, const NDArray& given, NDArray& history,
                                        NDArray& out) const {
  const NDArray grad = detail::merged(given);
  const std::int64_t rows = out.shape()[0], width = out.shape()[1];
  detail::check_rows(grad, rows);
  detail::start_from_weight(name, weight, out);
  detail::with_all_rows(name, "history", history, true);
  const detail::IndexReader indices(grad.indices());
  detail::List<E> step(width);
  for (std::int64_t k = 0; k < grad.nnz() && width != 0; ++k) {
    const std::int64_t row = indices[k];
    const E *const g = grad.pointer<const E>() + k * width, bound = E(clip_gradient);
    double squares = 0;
    for (std::int64_t j = 0; j < width; ++j) {
      step[j] = E(rescale_grad) * g[j];
      if (bound >= 0) step[j] = step[j] > bound ? bound : step[j] < -bound ? -bound : step[j];
      squares += static_cast<double>(step[j] * step[j]);
    }
    E& squared = history.pointer<E>()[row];
    squared += static_cast<E>(squares / static_cast<double>(width));
    const E rate = E(*lr) / std::sqrt(squared + E(epsilon));
    E* const to = out.pointer<E>() + row * width;
    for (std::int64_t j = 0; j < width; ++j) to[j] -= rate * step[j];
  }
}

}  // namespace strop::inline v0
