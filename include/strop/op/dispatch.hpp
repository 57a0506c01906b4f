// SPDX-License-Identifier: Apache-2.0
/// \file
/// The one door that every operation passes: arguments checked, inference, outputs, fallback, the kernel, the record.
#pragma once
#include <strop/op/fallback.hpp>
#include <strop/op/map_run.hpp>
#include <strop/op/mode.hpp>
#include <strop/tensor/variable.hpp>

#include <array>
#include <span>

namespace strop::inline v0::detail {

/// Runs a call of any kind; does not record. A state that is empty is made.
void dispatch_fully(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out,
                    std::span<const Request> requests, Site site, Ref<StateBox>* state = nullptr);
/// The inputs that a recorded call's gradient reads, a bit each; `every` where their number depends on the call.
std::uint64_t recorded_inputs(const Entry& entry, const void* op, Inputs in);
/// Throws Error where a recorded call would destroy what its own gradient needs: results added to an array that has a
/// history, or written over an array that asked for its gradient or over an input that the gradient reads.
void check_recordable(const Entry& entry, const void* op, Inputs in, std::span<const NDArray> out,
                      std::span<const Request> requests);
inline bool in_mask(std::uint64_t mask, std::size_t i) { return mask == every || (i < 64 && (mask >> i & 1U) != 0); }
/// The whole of dispatch for an operator that keeps a state, and for its gradient.
void dispatch_with_state(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out,
                         std::span<const Request> requests, Site site, Ref<StateBox>* state);
/// Whether the request overwrites all of the memory that the array lies in: that makes good what failed before it.
inline bool overwrites(const NDArray& a, Request request) {
  return request == Request::write && a.allocated() && a.size() * size_of(a.dtype()) == a.body().buffer->bytes();
}

/// Waits until the array may be written at once, for writes that are on their way and for reads. Where `whole` says
/// that all of its memory will be overwritten, what failed before is made good; else it throws that.
void take_for_writing(const NDArray& a, bool whole);
/// Brings elements that were computed apart into the array that was asked for: any storage and type, write or add.
void deliver(const NDArray& made, const NDArray& target, Request request);
/// sum = a + b element by element, in double or in 64-bit integers; all dense and of one shape.
void add_elements(const NDArray& a, const NDArray& b, const NDArray& sum);
/// The array itself where it is dense, else a dense copy.
NDArray dense_form(const NDArray& x);

/// Whether a call on so many elements goes to the engine. While a trace is written all do, and so stand in it.
inline bool is_handed_over(std::int64_t elements) {
  return elements >= order_from.load(std::memory_order_relaxed) || is_tracing();
}

/// The way of small dense maps: everything of one shape and a type that the loop computes in, results overwritten.
inline bool dispatch_directly(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out,
                              std::span<const Request> requests) {
  constexpr std::size_t most = 4;
  const NDArray& first = *in[0];
  if (!first || first.storage() != dense || first.device().kind != DeviceKind::cpu) return false;
  const Dtype type = first.dtype();
  const MapLoop loop = type == f32 ? entry.loops.f32 : type == f64 ? entry.loops.f64 : nullptr;
  if (loop == nullptr || !first.allocated() || first.busy()) return false;
  const std::int64_t n = first.size();
  if (n > map_grain || is_handed_over(n)) return false;
  const auto alike = [&](const NDArray& a) {
    return a.dtype() == type && a.storage() == dense && a.device() == first.device() && a.shape() == first.shape();
  };
  std::array<const void*, most> x;
  std::array<void*, most> to{};
  x[0] = first.address();
  for (std::size_t i = 1; i < in.size(); ++i) {
    const NDArray& a = *in[i];
    if (!a || !alike(a) || a.busy()) return false;
    x[i] = a.allocated() ? a.address() : first.address();  // what a derived gradient does not read has no memory
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    const NDArray& y = out[k];
    if (!y) continue;
    if (!alike(y) || y.busy()) return false;
    if (k < requests.size() && requests[k] != Request::write && requests[k] != Request::inplace) return false;
    if (!y.allocated()) continue;
    // In place is as a whole, and for one result; everything else that shares memory goes the long way.
    const std::int64_t bytes = n * size_of(type);
    const auto apart = [&](const NDArray& a, bool whole) {
      const std::ptrdiff_t distance = y.address() - a.address();
      return !a.allocated() || distance >= bytes || distance <= -bytes || (whole && distance == 0);
    };
    for (const NDArray* a : in)
      if (!apart(*a, out.size() == 1)) return false;
    for (std::size_t j = 0; j < k; ++j)
      if (out[j] && !apart(out[j], false)) return false;
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    NDArray& y = out[k];
    if (!y)
      y = NDArray(first.shape(), type, first.device());
    else if (!y.allocated())
      y.allocate();
    to[k] = y.address();
  }
  loop(op, x.data(), to.data(), n);
  for (const NDArray& y : out) y.body().buffer->written();
  return true;
}

/// Runs an operator. `out` has one handle per output: an empty one is made, one that is there is written as requested.
/// A call has a state of its own unless one is given.
inline void dispatch(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out,
                     std::span<const Request> requests = {}, Site site = {}, Ref<StateBox>* state = nullptr) {
  if (call_mode.recorder != nullptr)
    for (const NDArray& y : out)
      if (y) {
        check_recordable(entry, op, in, out, requests);
        break;
      }
  if (entry.make_state != nullptr || state != nullptr)
    return dispatch_with_state(entry, op, in, out, requests, site, state);
  if (!(entry.is_map() && out.size() == static_cast<std::size_t>(entry.outputs) && out.size() <= 4 &&
        in.size() == static_cast<std::size_t>(entry.inputs) && !in.empty() && in.size() <= 4 && !entry.mutates &&
        (entry.params == nullptr || !entry.params->checked) && dispatch_directly(entry, op, in, out, requests)))
    dispatch_fully(entry, op, in, out, requests, site);
  if (call_mode.recorder != nullptr) call_mode.recorder->record(entry, op, in, out, nullptr);
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/dispatch_impl.hpp>
#include <strop/op/recordable_impl.hpp>
#endif
