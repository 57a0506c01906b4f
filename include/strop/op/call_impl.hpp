// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a call goes through first.
#pragma once
#include <strop/core/config.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/devices.hpp>
#include <strop/op/dispatch.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace strop::inline v0::detail {

/// The way of small dense maps: everything of one shape and a type that the loop computes in, results overwritten.
STROP_IMPL bool dispatch_directly(const Entry& entry, const void* op, Inputs in, Span<NDArray> out,
                                  Span<const Request> requests) {
  constexpr int most = 4;
  const NDArray& first = *in[0];
  if (!first.defined() || first.storage() != dense || first.device().kind != DeviceKind::cpu) return false;
  const Dtype type = first.dtype();
  const MapLoop loop = type == f32 ? entry.loops.f32 : type == f64 ? entry.loops.f64 : nullptr;
  if (loop == nullptr || !first.allocated() || first.busy()) return false;
  const std::int64_t n = first.size();
  if (n > map_grain || is_handed_over(n)) return false;
  const auto alike = [&](const NDArray& a) {
    return a.dtype() == type && a.storage() == dense && a.device() == first.device() && a.shape() == first.shape();
  };
  const void* x[most];
  void* to[most] = {};
  x[0] = first.address();
  for (Index i = 1; i < in.size(); ++i) {
    const NDArray& a = *in[i];
    if (!a.defined() || !alike(a) || a.busy()) return false;
    x[i] = a.allocated() ? a.address() : unread;
  }
  for (Index k = 0; k < out.size(); ++k) {
    const NDArray& y = out[k];
    if (!y.defined()) continue;
    if (!alike(y) || y.busy()) return false;
    if (k < requests.size() && requests[k] != Request::write && requests[k] != Request::inplace) return false;
    for (Index j = 0; j < k; ++j)
      if (out[j].is(y)) return false;
    if (!y.allocated()) continue;
    // In place is as a whole, and for one result; everything else that shares memory goes the long way.
    const std::int64_t bytes = n * size_of(type);
    const auto apart = [&](const NDArray& a, bool whole) {
      const std::ptrdiff_t distance = y.address() - a.address();
      return !a.allocated() || distance >= bytes || distance <= -bytes || (whole && distance == 0);
    };
    for (const NDArray* a : in)
      if (!apart(*a, out.size() == 1)) return false;
    for (Index j = 0; j < k; ++j)
      if (out[j].defined() && !apart(out[j], false)) return false;
  }
  for (Index k = 0; k < out.size(); ++k) {
    NDArray& y = out[k];
    if (!y.defined())
      y = NDArray::fresh(first.shape(), type, first.device());
    else if (!y.allocated())
      y.allocate();
    to[k] = y.address();
  }
  loop(op, x, to, n);
  for (const NDArray& y : out) y.body().buffer->written();
  return true;
}

/// The way of small dense maps that broadcast: smaller operands are spread to blocks of their own, then as above.
STROP_IMPL bool dispatch_broadcast(const Entry& entry, const void* op, Inputs in, Span<NDArray> out,
                                   Span<const Request> requests) {
  for (const NDArray* a : in)
    if (!a->defined()) return false;  // which is told on the long way
  const NDArray& first = *in[0];
  const Dtype type = first.dtype();
  const MapLoop loop = type == f32 ? entry.loops.f32 : type == f64 ? entry.loops.f64 : nullptr;
  if (loop == nullptr || in.size() > 3 || out.size() != 1 || entry.same_shape || entry.infer_shape != nullptr ||
      entry.infer_type != nullptr || (!requests.empty() && requests[0] != Request::write) || is_tracing())
    return false;
  Shape common = first.shape();
  for (const NDArray* a : in)
    if (a->storage() != dense || a->dtype() != type || a->device() != first.device() || !a->allocated() || a->busy() ||
        !broadcast_into(common, a->shape()))
      return false;
  const std::int64_t n = common.size(), bytes = n * size_of(type);
  NDArray& y = out[0];
  if (bytes > 2048 || backend_of(first.device()).kernels(entry) != &entry.cpu) return false;
  if (y.defined()) {
    if (!y.allocated() || y.storage() != dense || y.dtype() != type || y.device() != first.device() || y.busy() ||
        y.shape() != common)
      return false;
    for (const NDArray* a : in)
      if (overlap(memory_of(y), memory_of(*a))) return false;
  } else {
    y = NDArray::fresh(common, type, first.device());
  }
  alignas(64) std::byte stage[3][2048];
  const void* x[3];
  for (Index i = 0; i < in.size(); ++i) {
    x[i] = in[i]->address();
    if (in[i]->shape() == common) continue;
    const StridedIterator walk = StridedIterator::of(common, in[i]->shape());
    type == f32 ? expand<std::uint32_t>(walk, x[i], stage[i], 0, n) : expand<std::uint64_t>(walk, x[i], stage[i], 0, n);
    x[i] = stage[i];
  }
  void* const to[] = {y.address()};
  loop(op, x, to, n);
  y.body().buffer->written();
  return true;
}

STROP_IMPL void dispatch(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, Span<const Request> requests,
                         Site site, Ref<StateBox>* state) {
  if (call_mode.recorder != nullptr) {
    if (call_mode.recorder->run != nullptr) [[unlikely]]
      return call_mode.recorder->run(entry, op, in, out, requests, site, state);
    for (const NDArray& y : out)
      if (y.defined()) {
        check_recordable(entry, op, in, out, requests);
        break;
      }
  }
  if (entry.cpu.make_state != nullptr || state != nullptr)
    return dispatch_with_state(entry, op, in, out, requests, site, state);
  if (!(entry.is_map() && out.size() == entry.outputs && out.size() <= 4 && in.size() == entry.inputs && !in.empty() &&
        in.size() <= 4 && !entry.mutates && (entry.params == nullptr || !entry.params->checked) &&
        (dispatch_directly(entry, op, in, out, requests) || dispatch_broadcast(entry, op, in, out, requests))))
    dispatch_fully(entry, op, in, out, requests, site);
  if (call_mode.recorder != nullptr) call_mode.recorder->record(entry, op, in, out, nullptr, site);
}

[[noreturn, gnu::cold]] STROP_IMPL void refuse_empty_target(const Entry& entry, const void* op, Index given, Index k) {
  const CallLabels labels{entry, op, static_cast<int>(given)};
  fail(entry.snake, ": ", labels.names().output(k),
       " is to go into a handle without an array; give it one, such as strop::zeros(shape), or take what the call "
       "returns");
}

STROP_IMPL void run_into(const Entry& entry, const void* op, Inputs in, Target y, Site site, Span<NDArray> out) {
  const Span<const NDArray> targets = y.span();
  if (targets.size() > out.size())
    fail(entry.snake, ": expected at most ", out.size(), out.size() == 1 ? " array" : " arrays",
         " for the results, got ", targets.size());
  for (Index i = 0; i < targets.size(); ++i) {
    if (!targets[i].defined()) refuse_empty_target(entry, op, in.size(), i);
    out[i] = targets[i];
  }
  List<Request, 8> requests(targets.size());
  for (Request& r : requests) r = y.request;
  dispatch(entry, op, in, out, requests, site);
}

STROP_IMPL NDArray run_one(const Entry& entry, const void* op, Inputs in, Target y, Site site) {
  NDArray out[1];
  if (y.count > 1) {
    run_into(entry, op, in, y, site, out);
  } else {
    if (y.count == 1) {
      if (!y.arrays[0].defined()) [[unlikely]]
        refuse_empty_target(entry, op, in.size(), 0);
      out[0] = y.arrays[0];
    }
    dispatch(entry, op, in, out, {&y.request, 1}, site);
  }
  return std::move(out[0]);
}

}  // namespace strop::inline v0::detail
