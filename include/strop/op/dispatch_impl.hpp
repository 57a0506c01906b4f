// SPDX-License-Identifier: Apache-2.0
/// \file
/// The long way through the door.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/add_impl.hpp>
#include <strop/op/apart_impl.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/deferred_impl.hpp>
#include <strop/op/devices.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/plan.hpp>
#include <strop/op/recent_impl.hpp>
#include <strop/tensor/device_work.hpp>
#include <strop/tensor/sparse.hpp>

#include <algorithm>
#include <optional>
#include <type_traits>

namespace strop::inline v0::detail {

STROP_IMPL void install_sparse() { sparse_parts.install(all_sparse_parts); }

STROP_IMPL NDArray sparse_as(const NDArray& x, Dtype type) {
  const NDArray values = NDArray::fresh(Shape{x.stored()}, type, x.device());
  DeviceWork work(x.device());
  work.reads(x);
  work.writes(values);
  convert_elements_on(x.device(), x.dtype(), x.bytes(), type, values.bytes(), x.stored());
  NDArray y = NDArray::fresh_shell(x.shape(), type, x.device(), x.storage());
  y.body().buffer = values.body().buffer;
  y.body().indices = x.body().indices;
  y.body().indptr = x.body().indptr;
  return y;
}

STROP_IMPL void take_for_writing(const NDArray& a, bool whole) {
  Pending* const order = a.pending();
  if (order == nullptr || !order->busy()) return;
  if (whole) order->run({}, {&order, 1}, "overwrite", {}, Ref<Pending::Work>(new Pending::Work));
  order->wait(true);
}

STROP_IMPL void deliver(const NDArray& given, const NDArray& target, Request request) {
  NDArray made = given;
  if (target.storage() == dense) take_for_writing(target, overwrites(target, request));
  if (request == Request::add && target.storage() != dense && made.storage() == target.storage() &&
      target.device() == cpu() && made.device() == cpu()) {
    made = for_sparse().add(target, made.dtype() == target.dtype() ? made : for_sparse().as_type(made, target.dtype()));
  } else if (request == Request::add) {
    NDArray total = NDArray::fresh(target.shape(), target.dtype(), target.device());
    const NDArray before = dense_form(target), after = dense_form(made);
    adder.get("a request to add")(before, after, total);
    made = total;
  }
  if (made.storage() != target.storage()) made = for_sparse().cast(made, target.storage());
  if (target.storage() == dense) {
    if (made.dtype() != target.dtype()) made = on_device(made, target.device());
    if (made.device() != target.device())
      return copy_between(target, target.bytes(), made, made.bytes(), target.size() * size_of(target.dtype()));
    DeviceWork work(target.device());
    work.reads(made);
    work.writes(target);
    convert_elements_on(target.device(), made.dtype(), made.bytes(), target.dtype(), target.bytes(), target.size());
    return;
  }
  if (made.dtype() != target.dtype()) made = for_sparse().as_type(made, target.dtype());
  Body& body = target.body();
  body.buffer = made.body().buffer;
  body.offset = made.body().offset;
  body.indices = made.body().indices;
  body.indptr = made.body().indptr;
}

/// Whether this memory has values of a sparse array, or says where they stand.
STROP_IMPL bool has_part_of(const NDArray& sparse, Span<const std::byte> memory) {
  const Body& body = sparse.body();
  for (const Ref<Body>* positions : {&body.indices, &body.indptr})
    if (*positions && overlap(memory, memory_of(NDArray(*positions)))) return true;
  return overlap(memory, memory_of(sparse));
}

/// An output may be an input only as a whole, and where the operator allows it. Nothing else lies in memory that is
/// written.
STROP_IMPL void check_output_memory(const Plan& plan, const CallNames& names, Inputs in, Span<const NDArray> out,
                                    int k) {
  const NDArray& y = out[k];
  const auto asked = [&](int j) { return plan.requests[j] != Request::null; };
  if (!asked(k)) return;
  const std::string_view op = plan.entry->snake;
  const Span<const std::byte> memory = memory_of(y);
  for (int j = 0; j < k; ++j)
    if (const NDArray& other = out[j];
        other.defined() && asked(j) && (y.is(other) || overlap(memory, memory_of(other))))
      fail(op, ": ", names.output(k), " overlaps the memory of ", names.output(j));
  for (int i : plan.mutated)
    if (const NDArray& x = *in[i]; y.is(x) || overlap(memory, memory_of(x)))
      fail(op, ": ", names.output(k), " overlaps the memory of ", names.input(i), ", which the operator writes");
  if (y.storage() != dense) return;
  for (int i = 0; i < static_cast<int>(in.size()); ++i) {
    const NDArray& x = *in[i];
    if (x.storage() != dense) {
      if (!has_part_of(x, memory)) continue;
      fail(op, ": ", names.output(k), " is dense and overlaps the memory of ", names.input(i), ", which is ",
           name_of(x.storage()));
    }
    if (!overlap(memory, memory_of(x))) continue;
    // A reshape in place has its elements under another shape.
    const bool alike = x.shape() == y.shape() || (!plan.entry->is_map() && x.size() == y.size());
    const bool same = x.address() == y.address() && alike && x.dtype() == y.dtype();
    if (same && may_share(*plan.entry, i, k)) continue;
    fail(op, ": ", names.output(k), " overlaps the memory of ", names.input(i),
         same ? ", which this operator cannot compute in place" : " in part");
  }
}

STROP_IMPL void check_mutated_memory(const Plan& plan, const CallNames& names, Inputs in) {
  for (int i : plan.mutated) {
    const NDArray& a = *in[i];
    if (a.storage() == dense && !a.allocated())
      fail(plan.entry->snake, ": ", names.input(i), " has no memory, and the operator writes it");
    const Span<const std::byte> memory = memory_of(a);
    for (int j = 0; j < static_cast<int>(in.size()); ++j)
      if (const NDArray& b = *in[j]; j != i && (a.is(b) || overlap(memory, memory_of(b))))
        fail(plan.entry->snake, ": ", names.input(i), ", which the operator writes, overlaps the memory of ",
             names.input(j));
  }
}

STROP_IMPL void make_outputs(const Plan& plan, const void* op, Inputs in, Span<NDArray> out) {
  const CallLabels labels{*plan.entry, op, static_cast<int>(in.size())};
  const CallNames names = labels.names();
  check_mutated_memory(plan, names, in);
  const bool many = out.size() * (in.size() + out.size()) > 256;
  for (Index k = 0; k < out.size(); ++k) {
    const bool asked = plan.requests[k] != Request::null;
    if (!out[k].defined()) {
      if (is_found(*plan.entry, k)) continue;  // forward makes it
      out[k] = NDArray::fresh_shell(plan.shapes[k], plan.types[k], plan.device, plan.storage(k));
      if (plan.storage(k) == dense && asked) out[k].allocate();
      continue;
    }
    if (!out[k].allocated() && out[k].storage() == dense && asked) out[k].allocate();
    if (!many) check_output_memory(plan, names, in, out, static_cast<int>(k));
  }
  if (many && !lie_apart(in, out))
    for (Index k = 0; k < out.size(); ++k) check_output_memory(plan, names, in, out, static_cast<int>(k));
}

/// What is not dense has its structure only once it is computed; a state belongs to the call.
STROP_IMPL bool may_defer(const Plan& plan, Inputs in, Span<const NDArray> out, bool keeps_state) {
  for (const NDArray* a : in)
    if (a->storage() != dense) return false;
  for (const NDArray& a : out)
    if (a.storage() != dense) return false;
  return call_mode.operation == nullptr && !keeps_state && plan.entry->cpu.make_state == nullptr &&
         backend_of(plan.device).defers;
}

/// Waits until the call may write at once. What is overwritten is whole again, whatever failed before.
STROP_IMPL void take_outputs(const Plan& plan, Inputs in, Span<const NDArray> out) {
  for (Index k = 0; k < out.size(); ++k) {
    if (!out[k].defined()) continue;  // it is made by forward
    const Pending* const order = out[k].pending();
    bool whole = order != nullptr && overwrites(out[k], plan.requests[k]);
    for (const NDArray* a : in) whole = whole && a->pending() != order;
    take_for_writing(out[k], whole);
  }
  for (int i : plan.mutated) take_for_writing(*in[i], false);
}

/// Executes a plan on arrays that are all there: at once, or in its turn where one of them is pending or the call is
/// large. `keep` gives the plan to a call that waits.
template <class Keep>
void execute_in_order(const Plan& plan, const void* op, Inputs in, Span<NDArray> out, Site site, Ref<StateBox>* state,
                      Keep keep) {
  Readiness readiness;
  for (const NDArray* a : in) readiness.see(*a);
  for (const NDArray& a : out) readiness.see(a);
  if (readiness.busy || (is_handed_over(readiness.elements) && !readiness.foreign)) {
    if (may_defer(plan, in, out, state != nullptr)) {
      std::optional<random::Stream> drawn;  // in the order of the calls, not of the turns
      if (plan.resources.random) drawn = random::detail::take_stream(plan.device);
      return push_deferred(Ref<DeferredCall>(new DeferredCall(keep(), op, in, out, drawn)), site, readiness.foreign);
    }
    take_outputs(plan, in, out);
  }
  execute(plan, {op, state}, in, out);
}

/// A loop over few elements, where nothing is pending on them.
STROP_IMPL bool run_loop_directly(const Plan& plan, const void* op, Inputs in, Span<const NDArray> out) {
  const std::int64_t n = plan.common.size();
  if (n > map_grain || is_handed_over(n) || in.size() > 4 || out.size() > 4) return false;
  const void* x[4];  // no std::array, of whose length nvcc loses sight here
  void* y[4];
  for (Index k = 0; k < out.size(); ++k) {
    if (out[k].busy()) return false;
    y[k] = out[k].address();
  }
  for (Index i = 0; i < in.size(); ++i) {
    if (in[i]->busy()) return false;
    x[i] = in[i]->allocated() ? in[i]->address() : unread;
  }
  plan.loop(op, x, y, n);
  return true;
}

STROP_IMPL void run_kernel(const Plan& plan, const void* op, Inputs in, Span<NDArray> out) {
  Cpu context(plan.device, plan.requests.span(), call_mode.training);
  context.reserve(plan.resources.temp_bytes);
  try {
    plan.kernel({*plan.entry, op, in, out, plan.requests.span()}, context);
  } catch (const CallError& error) {
    fail(plan.entry->snake, ": ", error.said());
  }
}

/// A kernel on the call's own arrays, where nothing is pending on them.
STROP_IMPL bool run_kernel_directly(const Plan& plan, const void* op, Inputs in, Span<NDArray> out) {
  if (!is_direct(plan) || call_mode.tracer != nullptr) return false;
  const auto waits = [](const NDArray& a) { return !a.allocated() || a.busy() || is_handed_over(a.size()); };
  for (const NDArray* a : in)
    if (waits(*a)) return false;
  for (const NDArray& y : out)
    if (waits(y)) return false;
  run_kernel(plan, op, in, out);
  return true;
}

/// A small call like an earlier one, whose arrays lie apart: the kernel, and no question that was answered then.
STROP_IMPL bool run_as_before(const RecentCall& like, const void* op, Inputs in, Span<NDArray> out) {
  if (!like.direct || call_mode.tracer != nullptr || is_handed_over(like.most)) return false;
  for (const NDArray* a : in)
    if (!a->allocated() || a->busy()) return false;
  const Plan& plan = *like.plan;
  for (Index k = 0; k < out.size(); ++k) {
    if (!out[k].defined()) {
      out[k] = NDArray::fresh(plan.shapes[k], plan.types[k], plan.device);
      continue;
    }
    if (out[k].busy()) return false;
    const Span<const std::byte> memory(out[k].address(), like.out_bytes[k]);
    for (Index i = 0; i < in.size(); ++i)
      if (overlap(memory, {in[i]->address(), like.in_bytes[i]})) return false;
    for (Index j = 0; j < k; ++j)
      if (out[k].is(out[j]) || overlap(memory, {out[j].address(), like.out_bytes[j]})) return false;
  }
  run_kernel(plan, op, in, out);
  for (const NDArray& y : out) y.body().buffer->written();
  return true;
}

/// What most small calls are; the rest goes on as it would have without.
STROP_IMPL bool execute_directly(const Plan& plan, const void* op, Inputs in, Span<NDArray> out) {
  const bool done = plan.route == Route::contiguous ? run_loop_directly(plan, op, in, out)
                    : plan.route == Route::tensors  ? run_kernel_directly(plan, op, in, out)
                                                    : false;
  if (done)
    for (const NDArray& a : out) a.body().buffer->written();
  return done;
}

STROP_IMPL void dispatch_planned(const Ref<Plan>& kept, const void* op, Inputs in, Span<NDArray> out, Site site,
                                 Ref<StateBox>* state) {
  const Plan& plan = *kept;
  if (state == nullptr && backend_of(plan.device).defers && execute_directly(plan, op, in, out)) return;
  if (!plan.why.empty()) for_sparse().note_fallback(plan, op, in, site);
  if (plan.asked) execute_in_order(plan, op, in, out, site, state, [&] { return kept; });
}

/// A call whose results are made while it runs: at once, since whoever goes on looks at their shapes.
STROP_IMPL void dispatch_found(const Entry& entry, const void* op, Inputs in, Span<NDArray> out,
                               Span<const Request> requests, Site site, Ref<StateBox>* state) {
  const Plan plan = resolve(entry, op, in, out, requests);
  make_outputs(plan, op, in, out);
  if (!plan.why.empty()) for_sparse().note_fallback(plan, op, in, site);
  if (!plan.asked) return;
  take_outputs(plan, in, out);
  execute(plan, {op, state}, in, out);
}

STROP_IMPL void dispatch_fully(const Entry& entry, const void* op, Inputs in, Span<NDArray> out,
                               Span<const Request> requests, Site site, Ref<StateBox>* state) {
  if (entry.found != 0) [[unlikely]]
    return dispatch_found(entry, op, in, out, requests, site, state);
  const std::uint64_t key = RecentCalls::key_of(entry, in, out);
  RecentCalls* const recent = key != 0 ? RecentCalls::here() : nullptr;
  if (RecentCall* const like = recent != nullptr ? recent->find(key, entry, op, in, out, requests) : nullptr) {
    const RecentCalls::Use use(*like);
    if (state == nullptr && run_as_before(*like, op, in, out)) return;
    make_outputs(*like->plan, op, in, out);
    return dispatch_planned(like->plan, op, in, out, site, state);
  }
  const Ref<Plan> plan(new Plan(resolve(entry, op, in, out, requests)));
  if (recent != nullptr) recent->keep(key, op, in, out, plan);
  make_outputs(*plan, op, in, out);
  dispatch_planned(plan, op, in, out, site, state);
}

STROP_IMPL void dispatch_with_state(const Entry& entry, const void* op, Inputs in, Span<NDArray> out,
                                    Span<const Request> requests, Site site, Ref<StateBox>* state) {
  Ref<StateBox> own;
  if (state == nullptr) state = &own;
  dispatch_fully(entry, op, in, out, requests, site, state);
  if (call_mode.recorder != nullptr) call_mode.recorder->record(entry, op, in, out, state->get(), site);
}

}  // namespace strop::inline v0::detail
