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
#include <strop/op/gradient_roles.hpp>
#include <strop/op/map_run.hpp>
#include <strop/op/plan.hpp>

#include <algorithm>
#include <utility>

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
  const Ref<GradientNode> owner(leaf);
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

/// Whether a tensor is of the type and shape of another.
inline bool is_like(const host::Tensor& a, const host::Tensor& b) { return a.dtype == b.dtype && a.shape == b.shape; }

/// A map's loop on few elements of one shape, all of the type that it computes in; false where they are not.
STROP_IMPL bool run_loop(const Entry& entry, const void* op, host::Tensors in, host::Tensors out) {
  constexpr std::size_t most = 16;
  if (in.empty() || in.size() + out.size() > most || entry.whole != 0) return false;
  const Dtype type = in[0].dtype;
  const std::int64_t count = in[0].shape.size();
  if (!is_floating(type) || compute_type(entry, op, type) != type || count > map_grain) return false;
  const void* x[most];
  void* y[most];
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!is_like(in[i], in[0])) return false;
    x[i] = in[i].data != nullptr ? in[i].data : unread;
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (!is_like(out[k], in[0])) return false;
    y[k] = out[k].data;
  }
  (type == f32 ? entry.loops.f32 : entry.loops.f64)(op, x, y, count);
  return true;
}

/// A map that gives all of its results, without arrays around the memory.
STROP_IMPL bool run_as_map(const Entry& entry, const void* op, host::Tensors in, host::Tensors out) {
  const auto is_there = [](const host::Tensor& t) { return t.data != nullptr || t.shape.size() == 0; };
  if (!entry.is_map() || entry.mutates || std::ssize(out) != entry.outputs || !std::ranges::all_of(out, is_there))
    return false;
  if (run_loop(entry, op, in, out)) return true;
  if (!std::ranges::all_of(in, is_there)) return false;
  const auto operands = [](host::Tensors tensors) {
    List<MapOperand, 4> all;
    for (const host::Tensor& t : tensors)
      all.push_back({static_cast<std::byte*>(t.data), t.dtype, t.shape, Request::write});
    return all;
  };
  run_map(entry, op, out[0].shape, operands(in).span(), operands(out).span());
  return true;
}

/// The gradient of a map without broadcasting, as the map that it is; false where it is another one.
STROP_IMPL bool differentiate_as_map(const Entry& entry, const void* op, const host::Gradient& call) {
  const GradientRule& rule = entry.gradient;
  if (!entry.is_map() || entry.mutates || rule.entry == nullptr || !rule.entry->is_map() || call.in.empty())
    return false;
  const auto is_alike = [&](const host::Tensor& t) { return is_like(t, call.in[0]); };
  for (const host::Tensors part : {call.in, call.out, call.heads, call.gradients})
    if (!std::ranges::all_of(part, is_alike)) return false;
  const GradientRoles roles = gradient_roles(rule, std::ssize(call.in), std::ssize(call.out));
  List<host::Tensor, 4> takes, gives;
  for (const GradientArgument& one : roles.takes) {
    const host::Tensors from = one.role == Role::head ? call.heads : one.role == Role::in ? call.in : call.out;
    if (std::cmp_greater_equal(one.at, from.size())) return false;
    takes.push_back(from[static_cast<std::size_t>(one.at)]);
    if (one.role == Role::head && takes.back().data == nullptr) return false;
  }
  std::size_t wanted = 0;
  for (const host::Tensor& t : call.gradients) wanted += t.data != nullptr ? 1 : 0;
  for (const int at : roles.gives) gives.push_back(element(call.gradients, at));
  if (wanted != static_cast<std::size_t>(gives.size())) return false;
  return run_as_map(*rule.entry, op, {takes.begin(), takes.end()}, {gives.begin(), gives.end()});
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

STROP_IMPL Inferred::Inferred() {
  for (std::atomic<std::uint8_t>& type : types_) type = unknown;
}

STROP_IMPL std::vector<Tensor> Inferred::results(const Entry& entry, const void* op, bool is_default,
                                                 Tensors in) const {
  bool alike = is_default && entry.is_map() && entry.outputs == 1 && !entry.mutates && !in.empty();
  for (const Tensor& t : in) alike = alike && detail::is_like(t, in[0]);
  if (!alike) return infer(entry, op, in);
  std::atomic<std::uint8_t>& type = types_.at(static_cast<std::size_t>(in[0].dtype));
  if (const std::uint8_t said = type.load(std::memory_order_relaxed); said != unknown)
    return {Tensor{in[0].shape, static_cast<Dtype>(said), nullptr}};
  std::vector<Tensor> made = infer(entry, op, in);
  type.store(static_cast<std::uint8_t>(made[0].dtype), std::memory_order_relaxed);
  return made;
}

STROP_IMPL void run(const Entry& entry, const void* op, Tensors in, Tensors out, bool train) {
  if (entry.found != 0)
    fail(entry.snake,
         ": the shape of its result follows from the data, which a caller from another framework cannot "
         "make room for");
  detail::check_draws_nothing(entry, op, in);
  if (detail::run_as_map(entry, op, in, out)) return;
  const detail::HostScope scope(train);
  detail::HostArrays inputs(in), outputs(out);
  detail::List<Request, 8> requests;
  for (const NDArray& y : outputs.arrays) requests.push_back(y.allocated() ? Request::write : Request::null);
  detail::dispatch(entry, op, inputs.pointers.span(), outputs.arrays.span(), requests.span());
}

STROP_IMPL Reads gradient_reads(const Entry& entry, const void* op, Tensors in) {
  detail::HostArrays inputs(in);
  return {detail::recorded_inputs(entry, op, inputs.pointers.span()), entry.gradient.out};
}

STROP_IMPL void differentiate(const Entry& entry, const void* op, const Gradient& call) {
  if (detail::differentiate_as_map(entry, op, call)) return;
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

STROP_IMPL std::vector<NDArray> run(const Entry& entry, const void* op, std::span<const NDArray> in, bool train) {
  const detail::HostScope scope(train);
  detail::List<const NDArray*, 8> given;
  for (const NDArray& a : in) given.push_back(&a);
  detail::List<NDArray, 4> out(detail::count_outputs(entry, op, static_cast<int>(in.size())).first);
  detail::dispatch(entry, op, given.span(), out.span(), {});
  return {out.begin(), out.end()};
}

STROP_IMPL std::vector<NDArray> differentiate(const Entry& entry, const void* op, std::span<const NDArray> in,
                                              std::span<const NDArray> heads,
                                              std::span<const std::optional<Storage>> wanted, bool train) {
  const detail::HostScope scope(train);
  for (std::size_t i = 0; i < in.size() && i < wanted.size(); ++i)
    if (wanted[i]) in[i].attach_grad(GradRequest::write, *wanted[i]);
  std::vector<NDArray> out;
  {
    const record history(train);
    detail::List<const NDArray*, 8> given;
    for (const NDArray& a : in) given.push_back(&a);
    detail::List<NDArray, 4> made(detail::count_outputs(entry, op, static_cast<int>(in.size())).first);
    detail::dispatch(entry, op, given.span(), made.span(), {});
    out.assign(made.begin(), made.end());
  }
  detail::HostHeads from;
  for (std::size_t k = 0; k < heads.size() && k < out.size(); ++k)
    if (heads[k].defined() && detail::is_tracked(out[k])) from.add(out[k], heads[k]);
  if (!from.arrays.empty()) detail::BackwardPass(false, false).run(from.arrays.span(), from.gradients.span());
  std::vector<NDArray> made;
  for (const NDArray& a : in) made.push_back(a.grad());
  return made;
}

}  // namespace host
}  // namespace strop::inline v0
