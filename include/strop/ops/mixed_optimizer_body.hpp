// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/mixed_optimizer.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/cast_body.hpp>
#include <strop/ops/mixed_optimizer.hpp>
#include <strop/ops/sparse_optimizer_body.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// The update of weight32 and the states in float32; `out` follows in the rows that were touched.
template <class Step>
void mixed_update(std::string_view op, const Step& step, bool lazy, const NDArray& weight, const NDArray& given,
                  std::initializer_list<const NDArray*> states, const NDArray& weight32, const NDArray& out,
                  std::span<const std::string_view> names) {
  with_all_rows(op, "weight", weight, false);
  with_all_rows(op, "weight32", weight32, false);
  const NDArray grad = merged(given);
  if (grad.storage() == row_sparse) check_rows(grad, out.shape()[0]);
  const bool rows = lazy && grad.storage() == row_sparse;
  if (rows) start_from_weight(op, weight, out);
  const NDArray wide = grad.storage() == dense ? as_type(grad, f32) : sparse_as(grad, f32);
  update<Step, float>(op, step, lazy, weight32, wide, states, weight32, names);
  if (!rows) {
    if (out.storage() != dense && !out.is(weight)) copy_structure(weight, out);
    return convert_by_all(f32, weight32.bytes(), out.dtype(), out.bytes(), out.stored());
  }
  const std::int64_t width = out.shape().size(1, out.ndim()), size = size_of(out.dtype());
  const IndexReader indices(grad.indices());
  parallel_for(grad.nnz(), std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, width)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t k = begin; k < end; ++k)
                   convert_elements(f32, weight32.pointer<const float>() + indices[k] * width, out.dtype(),
                                    out.bytes() + indices[k] * width * size, width);
               });
}

}  // namespace detail

template <int>
inline void MpSgdUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& weight32,
                                 NDArray& out) const {
  const SgdUpdate::Step step{*lr, wd, rescale_grad, clip_gradient};
  detail::mixed_update(name, step, lazy_update, weight, grad, {}, weight32, out, inputs);
}

template <int>
inline void MpSgdMomUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& mom, NDArray& weight32,
                                    NDArray& out) const {
  const bool lazy = lazy_update && detail::stored_alike(weight, {&mom});
  const SgdMomUpdate::Step step{*lr, momentum, wd, rescale_grad, clip_gradient};
  detail::mixed_update(name, step, lazy, weight, grad, {&mom}, weight32, out, inputs);
}

template <int>
inline void MpNagMomUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& mom, NDArray& weight32,
                                    NDArray& out) const {
  const NagMomUpdate step{lr, momentum, wd, rescale_grad, clip_gradient};
  detail::mixed_update(name, step, false, weight, grad, {&mom}, weight32, out, inputs);
}

template <int>
inline void MpAdamUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& first, NDArray& second,
                                  NDArray& weight32, NDArray& out) const {
  const bool lazy = lazy_update && detail::stored_alike(weight, {&first, &second});
  const AdamUpdate::Step step{*lr, beta1, beta2, epsilon, wd, rescale_grad, clip_gradient};
  detail::mixed_update(name, step, lazy, weight, grad, {&first, &second}, weight32, out, inputs);
}

}  // namespace strop::inline v0
