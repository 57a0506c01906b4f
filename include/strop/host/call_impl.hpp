// SPDX-License-Identifier: Apache-2.0
/// \file
/// How calls on memory of a framework are computed.
#pragma once
#include <strop/autograd/backward.hpp>
#include <strop/autograd/backward_impl.hpp>
#include <strop/core/config.hpp>
#include <strop/engine/core.hpp>
#include <strop/host/call.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/plan.hpp>

namespace strop::inline v0 {
namespace detail {

/// While it lives, what this thread calls is computed at the call, as inside an operation of the engine: the framework
/// may take its memory away once the call has returned.
class HostScope {
 public:
  explicit HostScope(bool train) : mode_(nullptr, train) {}

 private:
  const Running running_{nullptr, nullptr, 0, "host", 4};
  const ModeScope mode_;
};

/// An array over memory of the framework, or a shell.
STROP_IMPL NDArray host_array(const host::Tensor& t) {
  NDArray made = NDArray::shell(t.shape, t.dtype);
  if (t.data == nullptr && t.shape.size() != 0) return made;
  const std::int64_t bytes = t.shape.size() * size_of(t.dtype);
  if (t.data == nullptr)
    made.body().buffer = Ref(new Buffer(cpu(), bytes));  // empty tensors may have no address
  else
    made.body().buffer = Ref(new Buffer(cpu(), bytes, t.data, [](void*, void*) noexcept {}, nullptr));
  return made;
}

struct HostArrays {
  List<NDArray, 4> arrays;
  List<const NDArray*, 8> pointers;
  explicit HostArrays(host::Tensors tensors) {
    for (const host::Tensor& t : tensors) arrays.push_back(host_array(t));
    for (const NDArray& a : arrays) pointers.push_back(&a);
  }
  HostArrays(const HostArrays&) = delete;
  HostArrays& operator=(const HostArrays&) = delete;
};

/// Has the array's gradient computed into memory of the framework.
STROP_IMPL void ask_gradient(const NDArray& array, const host::Tensor& gradient) {
  auto* const leaf = new Leaf;
  const Ref<Lineage> owner(leaf);
  leaf->request = gradient.data != nullptr ? GradRequest::write : GradRequest::null;
  if (gradient.data != nullptr) leaf->gradient = host_array(gradient);
  hang_leaf(array, owner);
}

/// Gradients that nothing came to are zero.
STROP_IMPL void finish_gradients(Span<const NDArray> arrays) {
  for (const NDArray& a : arrays) {
    const auto* const leaf = static_cast<const Leaf*>(a.body().leaf.get());
    if (leaf == nullptr || leaf->request == GradRequest::null || leaf->pass != 0) continue;
    const NDArray& to = leaf->gradient;
    if (to.size() != 0) clear_bytes(to.bytes(), to.size() * size_of(to.dtype()));
  }
}

/// Random numbers would be those of our stream, which the framework does not seed.
STROP_IMPL void check_draws_nothing(const Entry& entry, const void* op, host::Tensors in) {
  if (entry.resources == nullptr) return;
  std::vector<Shape> shapes;
  for (const host::Tensor& t : in) shapes.push_back(t.shape);
  if (entry.resources(op, shapes).random)
    fail(entry.snake, ": draws random numbers with these parameters, which are not those of the framework");
}

/// What comes to a backward pass: those of `arrays` that have a history and a gradient.
struct HostHeads {
  List<NDArray, 4> arrays, gradients;
  void add(const NDArray& array, const NDArray& gradient) {
    arrays.push_back(array);
    gradients.push_back(gradient);
  }
};

/// A call that was computed before, as recorded.
STROP_IMPL void record_again(const Entry& entry, const void* op, const HostArrays& in, HostArrays& out) {
  record_call(entry, op, in.pointers.span(), out.arrays.span(), nullptr, {});
}

}  // namespace detail

namespace host {

STROP_IMPL std::vector<Tensor> infer(const Entry& entry, const void* op, Tensors in) {
  detail::HostArrays arrays(in);
  const auto [outputs, visible] = detail::count_outputs(entry, op, static_cast<int>(in.size()));
  const detail::List<NDArray, 4> out(outputs);
  const detail::Plan plan = detail::resolve(entry, op, arrays.pointers.span(), out.span(), {});
  std::vector<Tensor> made;
  for (detail::Index k = 0; k < outputs; ++k)
    made.push_back({detail::is_found(entry, k) ? Shape::unknown() : plan.shapes[k], plan.types[k], nullptr});
  return made;
}

STROP_IMPL void run(const Entry& entry, const void* op, Tensors in, Tensors out, bool train) {
  if (entry.found != 0)
    fail(entry.snake,
         ": the shape of its result follows from the data, which a caller from another framework cannot "
         "make room for");
  const detail::HostScope scope(train);
  detail::HostArrays inputs(in), outputs(out);
  detail::check_draws_nothing(entry, op, in);
  detail::List<Request, 8> requests;
  for (const NDArray& y : outputs.arrays) requests.push_back(y.allocated() ? Request::write : Request::null);
  detail::dispatch(entry, op, inputs.pointers.span(), outputs.arrays.span(), requests.span());
}

STROP_IMPL Reads gradient_reads(const Entry& entry, const void* op, Tensors in) {
  detail::HostArrays inputs(in);
  return {detail::recorded_inputs(entry, op, inputs.pointers.span()), entry.gradient.out};
}

STROP_IMPL void differentiate(const Entry& entry, const void* op, const Gradient& call) {
  const detail::HostScope scope(call.train);
  detail::HostArrays in(call.in), out(call.out), given(call.heads);
  for (detail::Index i = 0; i < in.arrays.size(); ++i)
    detail::ask_gradient(in.arrays[i], detail::element(call.gradients, i));
  detail::record_again(entry, op, in, out);
  detail::HostHeads heads;
  for (detail::Index k = 0; k < given.arrays.size() && k < out.arrays.size(); ++k)
    if (given.arrays[k].allocated()) heads.add(out.arrays[k], given.arrays[k]);
  if (!heads.arrays.empty()) detail::BackwardPass(false, false).run(heads.arrays.span(), heads.gradients.span());
  detail::finish_gradients(in.arrays.span());
}

STROP_IMPL void differentiate_again(const Entry& entry, const void* op, const SecondGradient& call) {
  const detail::HostScope scope(call.train);
  detail::HostArrays in(call.in), out(call.out), given(call.heads), seconds(call.seconds);
  for (detail::Index i = 0; i < in.arrays.size(); ++i)
    detail::ask_gradient(in.arrays[i], detail::element(call.gradients, i));
  for (detail::Index k = 0; k < given.arrays.size(); ++k)
    detail::ask_gradient(given.arrays[k], detail::element(call.head_gradients, k));
  detail::record_again(entry, op, in, out);
  detail::HostHeads heads, again;
  detail::List<NDArray, 4> variables;
  detail::List<detail::Index, 4> at;
  for (detail::Index k = 0; k < given.arrays.size() && k < out.arrays.size(); ++k)
    if (given.arrays[k].allocated()) heads.add(out.arrays[k], given.arrays[k]);
  for (detail::Index i = 0; i < seconds.arrays.size(); ++i)
    if (seconds.arrays[i].allocated()) variables.push_back(in.arrays[i]), at.push_back(i);
  if (!heads.arrays.empty() && !variables.empty()) {
    detail::BackwardPass first(true, true);
    first.collect(variables.span());
    first.run(heads.arrays.span(), heads.gradients.span());
    for (detail::Index v = 0; v < variables.size(); ++v)
      if (const NDArray& made = detail::element(first.collected(), v); made.defined() && detail::is_tracked(made))
        again.add(made, seconds.arrays[at[v]]);
    if (!again.arrays.empty()) detail::BackwardPass(false, false).run(again.arrays.span(), again.gradients.span());
  }
  detail::finish_gradients(in.arrays.span());
  detail::finish_gradients(given.arrays.span());
}

}  // namespace host
}  // namespace strop::inline v0
