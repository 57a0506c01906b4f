// SPDX-License-Identifier: Apache-2.0
/// \file
/// The one door that every operation passes: arguments checked, inference, outputs, fallback, the kernel, the record.
#pragma once
#include <strop/core/span.hpp>
#include <strop/op/fallback.hpp>
#include <strop/op/gradient_roles.hpp>
#include <strop/op/map_run.hpp>
#include <strop/op/mode.hpp>
#include <strop/op/plan.hpp>
#include <strop/op/sparse_parts.hpp>
#include <strop/op/target.hpp>
#include <strop/tensor/variable.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace strop::inline v0::detail {

/// Runs a call of any kind; does not record. A state that is empty is made.
void dispatch_fully(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, Span<const Request> requests,
                    Site site, Ref<StateBox>* state = nullptr);
/// The same for a call that has been resolved before, on arrays that are all there.
void dispatch_planned(const Ref<Plan>& plan, const void* op, Inputs in, Span<NDArray> out, Site site,
                      Ref<StateBox>* state = nullptr);
/// Makes the outputs that are empty handles, and throws Error where what is written lies in what may not be.
void make_outputs(const Plan& plan, const void* op, Inputs in, Span<NDArray> out);
/// The inputs that a recorded call's gradient reads, a bit each; `every` where their number depends on the call.
std::uint64_t recorded_inputs(const Entry& entry, const void* op, Inputs in);
/// Throws Error where a recorded call would destroy what its own gradient needs: results added to an array that has a
/// history, or written over an array that asked for its gradient or over an input that the gradient reads.
void check_recordable(const Entry& entry, const void* op, Inputs in, Span<const NDArray> out,
                      Span<const Request> requests);
/// The whole of dispatch for an operator that keeps a state, and for its gradient.
void dispatch_with_state(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, Span<const Request> requests,
                         Site site, Ref<StateBox>* state);
/// Whether the request overwrites all of the memory that the array lies in: that makes good what failed before it.
inline bool overwrites(const NDArray& a, Request request) {
  return request == Request::write && a.allocated() && a.size() * size_of(a.dtype()) == a.body().buffer->bytes();
}

/// Waits until the array may be written at once, for writes that are pending and for reads. Where `whole` says
/// that all of its memory will be overwritten, what failed before is made good; else it throws that.
void take_for_writing(const NDArray& a, bool whole);
/// Why a gradient has no gradient itself, as the rest of a sentence.
std::string no_further_gradient(const Entry& entry);
/// Brings elements that were computed apart into the array that was asked for: any storage and type, write or add.
void deliver(const NDArray& made, const NDArray& target, Request request);
/// Where the elements of an array lie or, of a sparse one, its values.
inline Span<const std::byte> memory_of(const NDArray& a) {
  if (!a.allocated()) return {};
  const std::int64_t count = a.storage() == dense ? a.size() : a.stored();
  return {a.address(), count * size_of(a.dtype())};
}
inline bool overlap(Span<const std::byte> a, Span<const std::byte> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size() && !a.empty() && !b.empty();
}
/// Whether no byte of one that is written lies in another one or in one that is read. Of sparse arrays it says no.
bool lie_apart(Span<const NDArray* const> read, Span<const NDArray> written);
/// Whether a call on so many elements goes to the engine. While a trace is written all do, and so stand in it.
inline bool is_handed_over(std::int64_t elements) {
  return (elements >= order_from.load(std::memory_order_relaxed) || is_tracing()) && order_maker;
}

/// Runs an operator. `out` has one handle per output: an empty one is made, one that is there is written as requested.
/// A call has a state of its own unless one is given.
void dispatch(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, Span<const Request> requests = {},
              Site site = {}, Ref<StateBox>* state = nullptr);
/// Runs a call of `out.size()` outputs, the first of them into the targets.
void run_into(const Entry& entry, const void* op, Inputs in, Target y, Site site, Span<NDArray> out);
/// Runs a call of one output, and gives it.
NDArray run_one(const Entry& entry, const void* op, Inputs in, Target y, Site site);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/call_impl.hpp>
#include <strop/op/devices_impl.hpp>
#include <strop/op/dispatch_impl.hpp>
#include <strop/op/execute_impl.hpp>
#include <strop/op/map_sparse_impl.hpp>
#include <strop/op/plan_impl.hpp>
#include <strop/op/recordable_impl.hpp>
#endif
