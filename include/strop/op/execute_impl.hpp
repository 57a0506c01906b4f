// SPDX-License-Identifier: Apache-2.0
/// \file
/// Does what a plan says: operands brought into the form that the kernel takes, the kernel, results delivered.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/devices.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/op/plan.hpp>
#include <strop/tensor/sparse.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace strop::inline v0::detail {

/// One plan on its way through a kernel.
class Executing {
 public:
  Executing(const Plan& plan, const Execution& call, Inputs in, Span<NDArray> out)
      : plan_(plan), entry_(*plan.entry), call_(call), in_(in), out_(out) {}

  void run() {
    if (plan_.sparse) for_sparse().check(plan_, call_.op, in_, out_);
    switch (plan_.route) {
      case Route::contiguous:
        if (plan_.common.size() <= map_grain && backend_of(plan_.device).defers) return run_loop();
        [[fallthrough]];
      case Route::blocks:
        return run_blocks();
      case Route::pattern:
        return run_pattern();
      case Route::into_dense:
        return run_into_dense();
      case Route::tensors:
        return run_tensors();
    }
  }

 private:
  /// The loop itself on a few elements of the CPU's memory.
  void run_loop() {
    if (in_.size() > 8 || out_.size() > 8) return run_blocks();
    const void* x[8];
    void* y[8];
    for (Index i = 0; i < in_.size(); ++i) {
      x[i] = in_[i]->allocated() ? in_[i]->bytes() : unread;
    }
    for (Index k = 0; k < out_.size(); ++k) y[k] = out_[k].address();
    plan_.loop(call_.op, x, y, plan_.common.size());
    written();
  }

  void run_into_dense() {
    List<NDArray, 4> results(out_.size());
    List<Request, 8> requests(out_.size());
    for (Index k = 0; k < out_.size(); ++k) {
      const bool adds = plan_.requests[k] == Request::add;
      results[k] = adds ? NDArray::fresh(plan_.shapes[k], plan_.types[k], plan_.device) : out_[k];
      requests[k] = adds ? Request::write : plan_.requests[k];
    }
    for_sparse().run_into_dense(entry_, call_.op, plan_.map, in_, results.span(), requests.span());
    deliver_all(results);
  }

  void run_blocks() {
    List<NDArray, 4> inputs(in_.size()), results(out_.size());
    List<MapOperand, 4> x(in_.size()), y(out_.size() + plan_.mutated.size());
    for (Index i = 0; i < in_.size(); ++i) {
      const NDArray& a = *in_[i];
      if (a.storage() == dense && !a.allocated()) {  // an input that a derived gradient does not read
        x[i] = {nullptr, plan_.kernel_type(a.dtype()), Shape{}, Request::write};
        continue;
      }
      inputs[i] = for_kernel(dense_form(a));
      x[i] = {inputs[i].bytes(), inputs[i].dtype(), a.shape(), Request::write};
    }
    for (Index k = 0; k < out_.size(); ++k) {
      NDArray target = out_[k];
      Request request = plan_.requests[k];
      const Dtype made = plan_.kernel_type(plan_.types[k]);
      if (request != Request::null && (target.storage() != dense || made != plan_.types[k]))
        target = NDArray::fresh(plan_.shapes[k], made, plan_.device), request = Request::write;
      y[k] = {target.bytes(), made, plan_.shapes[k], request};
      results[k] = std::move(target);
    }
    Index next = out_.size();
    for (int i : plan_.mutated) y[next++] = {inputs[i].bytes(), inputs[i].dtype(), in(i).shape(), Request::write};
    backend_of(plan_.device).run_map(entry_, call_.op, plan_.device, plan_.common, x.span(), y.span());
    give_back_states(inputs);
    deliver_all(results);
  }

  void run_pattern() {
    List<NDArray, 4> results(out_.size());
    List<Request, 8> requests(out_.size());
    for (Index k = 0; k < out_.size(); ++k) {
      const bool apart = needs_fresh(k, plan_.map.storage);
      results[k] =
          apart ? NDArray::fresh_shell(plan_.shapes[k], plan_.types[k], plan_.device, plan_.map.storage) : out_[k];
      requests[k] = apart ? Request::write : plan_.requests[k];
    }
    for_sparse().run_map(entry_, call_.op, plan_.map, in_, plan_.mutated.span(), results.span(), requests.span());
    deliver_all(results);
  }

  void run_tensors() {
    if (plan_.as_given) {
      run_kernel({entry_, call_.op, in_, out_, plan_.requests.span()});
      return written();
    }
    const bool sparse_forms = !plan_.dense_copies && entry_.infer_storage != nullptr;
    List<NDArray, 4> inputs(in_.size()), results(out_.size());
    List<Request, 8> requests(out_.size());
    List<const NDArray*, 8> pointers(in_.size());
    for (Index i = 0; i < in_.size(); ++i) {
      inputs[i] = for_kernel(sparse_forms ? *in_[i] : dense_form(*in_[i]));
      pointers[i] = &inputs[i];
    }
    for (Index k = 0; k < out_.size(); ++k) {
      const Storage storage = plan_.dense_copies ? dense : plan_.storage(k);
      const Request asked = plan_.requests[k];
      const Dtype made = plan_.kernel_type(plan_.types[k]);
      if (is_found(entry_, k)) {
        results[k] = NDArray::fresh_shell(plan_.shapes[k], made, plan_.device, dense);
        requests[k] = Request::write;
        continue;
      }
      // A kernel that adds to its own input would read what it has written.
      const bool adds = asked == Request::add, once = adds && entry_.accumulates && !is_input(out_[k]);
      const bool apart = needs_fresh(k, storage) || (adds && !once) || made != plan_.types[k] || replaces_input(k);
      requests[k] = apart && asked != Request::null ? Request::write : asked;
      if (asked == Request::null && entry_.skips_null) {
        results[k] = NDArray::shell(plan_.shapes[k], made, plan_.device);
      } else if (apart || asked == Request::null) {
        results[k] = fresh(plan_.shapes[k], made, storage);
      } else {
        if (out_[k].storage() != dense && !out_[k].allocated()) for_sparse().allocate(out_[k], 0);
        results[k] = out_[k];
      }
    }
    run_kernel({entry_, call_.op, pointers.span(), results.span(), requests.span()});
    if (entry_.found != 0) take_found(results);
    give_back_states(inputs);
    deliver_all(results);
  }

  /// Results that forward has made become the call's, where it has none to put them into.
  void take_found(List<NDArray, 4>& results) {
    const CallLabels labels{entry_, call_.op, static_cast<int>(in_.size())};
    for (Index k = 0; k < out_.size(); ++k) {
      if (!is_found(entry_, k)) continue;
      NDArray& made = results[k];
      if (!made.allocated()) fail(entry_.snake, ": forward has not allocated ", labels.names().output(k));
      if (Shape known = plan_.shapes[k]; !unify(known, made.shape()))
        fail(entry_.snake, ": ", labels.names().output(k), " was made of shape ", made.shape(), ", expected ",
             plan_.shapes[k]);
      if (out_[k].defined()) continue;
      out_[k] = made;
      if (made.dtype() == plan_.types[k]) continue;  // else a half, which came as float
      out_[k] = NDArray::fresh(made.shape(), plan_.types[k], plan_.device);
      deliver(made, out_[k], Request::write);
      made = out_[k];
    }
  }

  void run_kernel(const Call& call) {
    struct Prepared {
      Executing* self;
      const Call& call;
    } prepared{this, call};
    backend_of(plan_.device)
        .in_context(
            plan_.device, call.requests,
            [](void* with, Context& context) {
              const Prepared& now = *static_cast<Prepared*>(with);
              now.self->prepare(context);
              now.self->plan_.kernel(now.call, context);
            },
            &prepared);
  }

  /// Temporary space and random numbers that the operator announces, and its state.
  void prepare(Context& context) {
    context.reserve(plan_.resources.temp_bytes);
    if (call_.deferred)
      context.use_random(call_.drawn != nullptr ? std::optional(*call_.drawn) : std::nullopt);
    else if (plan_.resources.random)
      context.use_random(random::detail::take_stream(plan_.device));
    if (call_.state == nullptr) return;
    const Kernels* const kernels = backend_of(plan_.device).kernels(entry_);
    if (!*call_.state && kernels->make_state != nullptr && entry_.order == 0) {
      List<Shape, 4> shapes(in_.size());
      for (Index i = 0; i < in_.size(); ++i) shapes[i] = in_[i]->shape();
      *call_.state = kernels->make_state(call_.op, context, shapes.span());
    }
    if (!*call_.state) fail(entry_.snake, ": forward has not run, so there is no state");
    context.use_state((*call_.state)->get());
  }

  /// The array in the type that the kernel takes; one without memory lends its shape alone.
  NDArray for_kernel(const NDArray& x) const {
    const Dtype type = plan_.kernel_type(x.dtype());
    if (type == x.dtype()) return x;
    if (x.storage() != dense) return for_sparse().as_type(x, type);
    return x.allocated() ? as_type(x, type) : NDArray::shell(x.shape(), type, x.device());
  }
  NDArray fresh(const Shape& shape, Dtype type, Storage storage) const {
    NDArray a = NDArray::fresh_shell(shape, type, plan_.device, storage);
    storage == dense ? a.allocate() : for_sparse().allocate(a, 0);
    return a;
  }
  bool is_input(const NDArray& y) const {
    for (const NDArray* x : in_)
      if (x->storage() == dense && x->allocated() && x->address() == y.address()) return true;
    return false;
  }
  /// Whether result k replaces the memory of a sparse input that is still read.
  bool replaces_input(Index k) const {
    for (Index i = 0; i < in_.size() && out_[k].storage() != dense; ++i)
      if (in_[i]->is(out_[k]) && !may_share(entry_, static_cast<int>(i), static_cast<int>(k))) return true;
    return false;
  }
  bool needs_fresh(Index k, Storage made) const {
    return plan_.requests[k] != Request::null &&
           (out_[k].storage() != made || (plan_.requests[k] == Request::add && made != dense));
  }

  /// Inputs that were written in a copy, because they are sparse or of a type that the kernel does not take.
  void give_back_states(List<NDArray, 4>& copies) {
    for (int i : plan_.mutated)
      if (const NDArray& state = copies[i]; !state.is(in(i))) deliver(state, in(i), Request::write);
  }
  /// Brings results that were computed apart into the arrays that were asked for.
  void deliver_all(List<NDArray, 4>& results) {
    for (Index k = 0; k < out_.size(); ++k)
      if (plan_.requests[k] != Request::null && !results[k].is(out_[k]))
        deliver(results[k], out_[k], plan_.requests[k]);
    written();
  }
  void written() {
    for (Index k = 0; k < out_.size(); ++k)
      if (plan_.requests[k] != Request::null) written(out_[k]);
    for (int i : plan_.mutated) written(in(i));
  }
  void written(const NDArray& a) {
    if (a.body().buffer) a.body().buffer->written();
    // An operator of the program has had the lists in its hands.
    if (a.storage() != dense && plan_.route == Route::tensors && !entry_.library) for_sparse().written(a);
  }

  const NDArray& in(int i) const { return *in_[i]; }

  const Plan& plan_;
  const Entry& entry_;
  const Execution& call_;
  Inputs in_;
  Span<NDArray> out_;
};

STROP_IMPL void allocate_found(const NDArray& shell, std::span<const std::int64_t> shape) {
  if (shell.allocated())
    throw CallError(cat(CallError::speaker, "allocate: the result has shape ", shell.shape(),
                        " already; count first, and allocate once"));
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] < 0)
      throw CallError(cat(CallError::speaker, "allocate: the result would have ", shape[axis], " elements along axis ",
                          static_cast<std::int64_t>(axis)));
  shell.body().shape = Shape(shape);
  shell.allocate();
}

STROP_IMPL void execute(const Plan& plan, const Execution& call, Inputs in, Span<NDArray> out) {
  if (call_mode.tracer != nullptr) [[unlikely]] {  // the call is traced, not what it does with arrays
    const CallModeScope untraced({nullptr, call_mode.training, call_mode.operation});
    return execute(plan, call, in, out);
  }
  try {
    Executing executing(plan, call, in, out);
    const auto in_order = backend_of(plan.device).in_order;
    if (in_order == nullptr) return executing.run();
    in_order(plan, in, out, [](void* with) { static_cast<Executing*>(with)->run(); }, &executing);
  } catch (const CallError& error) {
    fail(plan.entry->snake, ": ", error.said());
  }
}

}  // namespace strop::inline v0::detail
