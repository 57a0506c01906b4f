// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a recorded call's gradient reads, and which calls cannot be recorded.
#pragma once
#include <strop/core/config.hpp>
#include <strop/op/dispatch.hpp>

namespace strop::inline v0::detail {

STROP_IMPL std::uint64_t recorded_inputs(const Entry& entry, const void* op, Inputs in) {
  const std::uint64_t kept = entry.gradient.in;
  // A derived gradient reads the inputs that its body multiplies; a linear map's reads none.
  if (kept == 0 || kept == every || entry.facts.kept == nullptr || entry.gradient.entry == nullptr) return kept;
  return kept & entry.facts.kept(op, compute_type(entry, op, stored_type_of(entry, in)));
}

STROP_IMPL std::string no_further_gradient(const Entry& entry) {
  if (!entry.is_gradient()) return {};
  if (entry.is_map()) return " of this order (derived gradients exist to order 3)";
  return ": the operator states its gradient, and no gradient of that";
}

STROP_IMPL void check_recordable(const Entry& entry, const void* op, Inputs in, Span<const NDArray> out,
                                 Span<const Request> requests) {
  bool tracked = false;
  for (const NDArray* a : in) tracked = tracked || (a->defined() && (a->body().leaf || a->body().gradient_node));
  const std::uint64_t kept = tracked ? recorded_inputs(entry, op, in) : 0;
  for (Index k = 0; k < out.size(); ++k) {
    const NDArray& y = out[k];
    if (!y.defined() || (k < requests.size() && requests[k] == Request::null)) continue;
    leave_trace(entry.snake, "its result goes into an array that is there already; let it make one");
    const bool adds = k < requests.size() && requests[k] == Request::add;
    if (adds && (y.body().leaf || y.body().gradient_node))
      fail(entry.snake, ": its result is added to an array with a history, which is not recorded; add with + instead");
    if (tracked && y.body().leaf)
      fail(entry.snake, ": its result overwrites an array with attach_grad() while recording; use strop::pause");
    for (Index i = 0; i < in.size(); ++i)
      if (in[i]->defined() && in_mask(kept, i) && y.allocated() && in[i]->body().buffer == y.body().buffer)
        fail(entry.snake, ": its result overwrites input ", i,
             ", which its gradient reads, while recording; let it make an array, or use strop::pause");
  }
}

}  // namespace strop::inline v0::detail
