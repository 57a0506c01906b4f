// SPDX-License-Identifier: Apache-2.0
/// \file
/// The one door that every operation passes: arguments checked, inference, outputs, fallback, the kernel, the record.
#pragma once
#include <strop/op/fallback.hpp>
#include <strop/op/map_run.hpp>
#include <strop/op/mode.hpp>

#include <array>
#include <span>

namespace strop::inline v0::detail {

/// Runs a call of any kind; does not record.
void dispatch_fully(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out,
                    std::span<const Request> requests, Site site);
/// Brings elements that were computed apart into the array that was asked for: any storage and type, write or add.
void deliver(const NDArray& made, const NDArray& target, Request request);
/// sum = a + b element by element, in double or in 64-bit integers; all dense and of one shape.
void add_elements(const NDArray& a, const NDArray& b, const NDArray& sum);
/// The array itself where it is dense, else a dense copy.
NDArray dense_form(const NDArray& x);

/// The way of small dense maps: one result, everything of one shape and a type that the loop computes in.
inline bool dispatch_directly(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out,
                              std::span<const Request> requests) {
  constexpr std::size_t most = 4;
  const NDArray& first = *in[0];
  if (!first || first.storage() != dense || first.device().kind != DeviceKind::cpu) return false;
  const Dtype type = first.dtype();
  const MapLoop loop = type == f32 ? entry.loops.f32 : type == f64 ? entry.loops.f64 : nullptr;
  if (loop == nullptr || !first.allocated()) return false;
  const std::int64_t n = first.size();
  if (n > map_grain) return false;
  std::array<const void*, most> x;
  x[0] = first.bytes();
  for (std::size_t i = 1; i < in.size(); ++i) {
    const NDArray& a = *in[i];
    if (!a || a.dtype() != type || a.storage() != dense || a.device() != first.device() ||
        !(a.shape() == first.shape()))
      return false;
    x[i] = a.allocated() ? a.bytes() : first.bytes();  // what a derived gradient does not read has no memory
  }
  NDArray& y = out[0];
  if (!y) {
    y = NDArray(first.shape(), type, first.device());
  } else {
    if (y.storage() == dense && !y.allocated()) y.allocate();
    if (y.dtype() != type || y.storage() != dense || !(y.shape() == first.shape()) || y.device() != first.device())
      return false;
    if (!requests.empty() && requests[0] != Request::write && requests[0] != Request::inplace) return false;
    for (const NDArray* a : in)
      if (a->body().buffer == y.body().buffer && a->body().offset != y.body().offset) return false;
  }
  void* to = y.bytes();
  loop(op, x.data(), &to, n);
  y.body().buffer->written();
  return true;
}

/// Runs an operator. `out` has one handle per output: an empty one is made, one that is there is written as requested.
inline void dispatch(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out,
                     std::span<const Request> requests = {}, Site site = {}) {
  if (!(entry.is_map() && out.size() == 1 && entry.outputs == 1 &&
        in.size() == static_cast<std::size_t>(entry.inputs) && !in.empty() && in.size() <= 4 && !entry.mutates &&
        (entry.params == nullptr || !entry.params->checked) && dispatch_directly(entry, op, in, out, requests)))
    dispatch_fully(entry, op, in, out, requests, site);
  if (call_mode.recording) call_mode.record(entry, op, in, out);
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/dispatch_impl.hpp>
#endif
