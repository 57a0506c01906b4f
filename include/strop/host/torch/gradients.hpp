// SPDX-License-Identifier: Apache-2.0
/// \file
/// How PyTorch differentiates our operators, twice: the operators of the gradients, and the steps of its graph.
#pragma once
#if __has_include(<torch/library.h>)
#include <strop/host/torch/kernels.hpp>

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace strop::inline v0::host::pytorch {

using Optionals = c10::List<std::optional<at::Tensor>>;

/// The tensors of a list; those that are left out are undefined.
inline TensorList tensors_of(const c10::IValue& list) {
  TensorList all;
  for (const c10::IValue& one : list.toListRef()) all.push_back(one.isTensor() ? one.toTensor() : at::Tensor());
  return all;
}
inline Optionals optionals(at::ArrayRef<at::Tensor> tensors) {
  Optionals made;
  for (const at::Tensor& t : tensors) made.push_back(t.defined() ? std::optional(t) : std::nullopt);
  return made;
}
inline c10::List<at::Tensor> list_of(at::ArrayRef<at::Tensor> tensors) { return c10::List<at::Tensor>(tensors); }

/// The arguments of an operator that computes a gradient: what comes to it, the call's inputs and outputs, and which
/// gradients it gives. Of the second gradient these are of the head gradients, then of the inputs.
struct GradientCall {
  TensorList seconds, heads, inputs, outputs;
  std::vector<std::int64_t> wanted, given;
  Values parameters;
  std::size_t count;  // of values on the stack

  GradientCall(const Known& known, const torch::jit::Stack& stack, bool again) {
    const std::size_t own = again ? 6 : 4;
    count = own + known.parameters();
    const Values values(stack.data() + (stack.size() - count), count);
    if (again) seconds = tensors_of(values[0]);
    const Values rest = values.slice(again ? 1 : 0);
    heads = tensors_of(rest[0]);
    inputs = tensors_of(rest[1]);
    outputs = tensors_of(rest[2]);
    wanted = rest[3].toIntVector();
    if (again) given = rest[4].toIntVector();
    parameters = values.slice(own);
  }
  /// What the results of the second gradient are the gradients of.
  const at::Tensor& given_of(std::int64_t at) const {
    const auto i = static_cast<std::size_t>(at);
    return i < heads.size() ? heads[i] : inputs[i - heads.size()];
  }
};

/// The tensors of a gradient, those without elements that it does not read.
class Compact {
 public:
  Compact() = default;
  Compact(const Known& known, at::ArrayRef<at::Tensor> tensors, std::uint64_t read) {
    for (std::size_t i = 0; i < tensors.size(); ++i) add(known, tensors[i], Reads::has(read, i));
  }
  /// What comes to tensors like these; what is undefined does not come.
  Compact(const Known& known, at::ArrayRef<at::Tensor> tensors, const std::vector<Tensor>& like) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      tensors[i].defined() ? add(known, tensors[i], true)
                           : described.push_back({like[i].shape, like[i].dtype, nullptr});
  }
  void add(const Known& known, const at::Tensor& t, bool reads) {
    held_.push_back(reads ? t.contiguous() : t);
    described.push_back(pytorch::described(known.entry().snake, held_.back(), reads));
  }
  std::vector<Tensor> described;

 private:
  TensorList held_;
};

/// Room for gradients of some of the tensors.
inline TensorList gradients_for(const std::vector<Tensor>& all, const std::vector<std::int64_t>& wanted,
                                std::vector<Tensor>& to) {
  TensorList made;
  to = all;
  for (Tensor& t : to) t.data = nullptr;
  for (const std::int64_t i : wanted) {
    Tensor& t = to.at(static_cast<std::size_t>(i));
    made.push_back(new_tensor(t.shape, t.dtype));
    t.data = made.back().data_ptr();
  }
  return made;
}

/// The kernel of a gradient.
struct GradientKernel : c10::OperatorKernel {
  const Known& known;
  bool again;
  GradientKernel(const Known& k, bool a) : known(k), again(a) {}

  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) const {
    translated([&] { call(*stack); });
  }

 private:
  void call(torch::jit::Stack& stack) const {
    const GradientCall call(known, stack, again);
    const Params params(known, call.parameters);
    const Entry& entry = known.entry();
    std::vector<Tensor> shells = described(known, call.inputs, false);
    const Reads reads = gradient_reads(entry, params.get(), shells);
    const Compact in(known, call.inputs, reads.inputs), out(known, call.outputs, reads.outputs);
    const Compact heads(known, call.heads, out.described);
    const bool train = known.trains(call.parameters);
    follow_threads();
    std::vector<Tensor> gradients;
    TensorList made;
    if (!again) {
      made = gradients_for(in.described, call.wanted, gradients);
      differentiate(entry, params.get(), {in.described, out.described, heads.described, gradients, train});
    } else {
      // One per input, as the gradients are that they come to.
      TensorList seconds(call.inputs.size());
      for (std::size_t k = 0; k < call.wanted.size(); ++k)
        seconds[static_cast<std::size_t>(call.wanted[k])] = call.seconds[k];
      const Compact coming(known, seconds, in.described);
      std::vector<Tensor> all = heads.described;
      all.insert(all.end(), in.described.begin(), in.described.end());
      made = gradients_for(all, call.given, gradients);
      const Tensors to(gradients);
      differentiate_again(entry, params.get(),
                          {in.described, out.described, heads.described, coming.described,
                           to.first(heads.described.size()), to.subspan(heads.described.size()), train});
    }
    torch::jit::drop(stack, call.count);
    stack.emplace_back(list_of(made));
  }
};

/// The same of tensors without elements.
struct GradientMeta : c10::OperatorKernel {
  const Known& known;
  bool again;
  GradientMeta(const Known& k, bool a) : known(k), again(a) {}

  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) const {
    const GradientCall call(known, *stack, again);
    TensorList made;
    for (const std::int64_t i : again ? call.given : call.wanted) {
      const at::Tensor& like = again ? call.given_of(i) : call.inputs[static_cast<std::size_t>(i)];
      made.push_back(at::empty_symint(like.sym_sizes(), like.options()));
    }
    torch::jit::drop(*stack, call.count);
    stack->emplace_back(list_of(made));
  }
};

// --- the graph ------------------------------------------------------------------------------------------------------

/// How PyTorch holds the steps of its graph, which depends on its version.
using StepPointer = decltype(torch::autograd::Edge::function);

/// A tensor of a call in PyTorch's graph: kept, or its shape and type alone.
class Part {
 public:
  Part(const at::Tensor& t, bool kept) : kept_(kept) {
    if (kept) {
      saved_ = torch::autograd::SavedVariable(t, false);
      return;
    }
    const c10::SymIntArrayRef sizes = t.sym_sizes();
    sizes_.assign(sizes.begin(), sizes.end());
    options_ = t.options();
  }
  bool kept() const { return kept_; }
  void release() { saved_.reset_data(); }
  at::Tensor unpack(StepPointer by) const { return saved_.unpack(std::move(by)); }
  /// A tensor that lends its shape: one element, repeated.
  at::Tensor shell() const { return at::empty({}, options_).expand_symint(sizes_); }
  /// The same as the core has it; none where the shape has symbols.
  std::optional<Tensor> described(const Known& known) const {
    Tensor made{{}, dtype_of(known.entry().snake, c10::typeMetaToScalarType(options_.dtype())), nullptr};
    for (const c10::SymInt& extent : sizes_) {
      if (extent.is_symbolic()) return std::nullopt;
      made.shape.push_back(extent.as_int_unchecked());
    }
    return made;
  }

 private:
  torch::autograd::SavedVariable saved_;
  bool kept_;
  c10::SmallVector<c10::SymInt, 5> sizes_;
  at::TensorOptions options_;
};
using Parts = c10::SmallVector<Part, 2>;

/// Whether the gradient of these tensors is only to be computed, at once.
inline bool is_plain(at::ArrayRef<at::Tensor> tensors) {
  const c10::impl::LocalDispatchKeySet local = c10::impl::tls_local_dispatch_key_set();
  const c10::DispatchKeySet aside = local.excluded_ | c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView);
  return std::all_of(tensors.begin(), tensors.end(), [&](const at::Tensor& t) {
    return !t.defined() || is_plain((t.key_set() | local.included_) - aside);
  });
}

/// One call in PyTorch's graph: of the operator (order 0), of its gradient (1) or of that one's (2), which ends there.
struct Step : torch::autograd::Node {
  const Known& known;
  int order;
  Parts heads, inputs, outputs;
  std::vector<std::int64_t> wanted;
  std::vector<c10::IValue> parameters;

  Step(const Known& k, int o) : known(k), order(o) {}
  std::string name() const override {
    return cat(known.facts.entry.name, order == 0 ? "Backward" : "BackwardBackward");
  }
  void release_variables() override {
    for (Parts* list : {&heads, &inputs, &outputs})
      for (Part& one : *list) one.release();
    released_ = true;
  }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& coming) override {
    TORCH_CHECK(known.facts.differentiable, known.shown, ": has no gradient");
    TORCH_CHECK(order < 2, known.shown, ": PyTorch differentiates it twice, and it is asked for a third time");
    TORCH_CHECK(!released_ || saves_nothing(), torch::autograd::ERR_BACKWARD_TWICE);
    if (torch::autograd::variable_list made; order == 0 && compute(coming, made)) return made;
    torch::jit::Stack stack;
    if (order == 1) stack.emplace_back(optionals(coming));
    const TensorList before = unpacked(heads);
    stack.emplace_back(optionals(order == 0 ? at::ArrayRef<at::Tensor>(coming) : at::ArrayRef<at::Tensor>(before)));
    stack.emplace_back(list_of(unpacked_inputs()));
    stack.emplace_back(list_of(unpacked(outputs)));
    std::vector<std::int64_t> asked;
    for (std::size_t i = 0; i < num_outputs(); ++i)
      if (task_should_compute_output(i)) asked.push_back(static_cast<std::int64_t>(i));
    if (order == 1) stack.emplace_back(wanted);
    stack.emplace_back(asked);
    for (const c10::IValue& value : parameters) stack.push_back(value);
    (order == 0 ? known.gradient : known.second)->callBoxed(stack);
    const TensorList made = tensors_of(stack.back());
    torch::autograd::variable_list all(num_outputs());
    for (std::size_t k = 0; k < asked.size(); ++k) all[static_cast<std::size_t>(asked[k])] = made[k];
    return all;
  }

 private:
  bool saves_nothing() const { return heads.empty() && inputs.empty() && outputs.empty(); }
  StepPointer self() { return getptr(); }
  TensorList unpacked(const Parts& list) {
    TensorList all;
    for (const Part& one : list) all.push_back(one.kept() ? one.unpack(self()) : one.shell());
    return all;
  }
  /// Shells take part in the graph as what they stand for, where gradients are differentiated again.
  TensorList unpacked_inputs() {
    TensorList all = unpacked(inputs);
    const std::size_t first = num_outputs() - all.size();  // behind the head gradients
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (inputs[i].kept() || !at::GradMode::is_enabled() || !next_edge(first + i).is_valid()) continue;
      all[i] = all[i].detach();
      torch::autograd::impl::set_gradient_edge(all[i], next_edge(first + i));
    }
    return all;
  }
  /// The gradient without PyTorch's dispatcher; false where something else is to see it.
  bool compute(const torch::autograd::variable_list& coming, torch::autograd::variable_list& made) {
    if (at::GradMode::is_enabled() || !is_plain(coming)) return false;
    Compact in, out;
    for (const auto& [parts, to] : {std::pair(&inputs, &in), std::pair(&outputs, &out)})
      for (const Part& one : *parts) {
        if (one.kept()) {
          const at::Tensor kept = one.unpack(self());
          if (!is_plain(kept)) return false;
          to->add(known, kept, true);
        } else if (std::optional<Tensor> shell = one.described(known)) {
          to->described.push_back(*std::move(shell));
        } else {
          return false;
        }
      }
    translated([&] {
      const Compact heads(known, coming, out.described);
      std::vector<std::int64_t> asked;
      for (std::size_t i = 0; i < num_outputs(); ++i)
        if (task_should_compute_output(i)) asked.push_back(static_cast<std::int64_t>(i));
      std::vector<Tensor> gradients;
      const TensorList tensors = gradients_for(in.described, asked, gradients);
      const Params params(known, parameters);
      follow_threads();
      differentiate(known.entry(), params.get(),
                    {in.described, out.described, heads.described, gradients, known.trains(parameters)});
      made.resize(num_outputs());
      for (std::size_t k = 0; k < asked.size(); ++k) made[static_cast<std::size_t>(asked[k])] = tensors[k];
    });
    return true;
  }
  bool released_ = false;
};

/// A new step as PyTorch holds it.
template <class Pointer = StepPointer>
Pointer held(Step* step) {
  if constexpr (std::is_same_v<Pointer, std::shared_ptr<torch::autograd::Node>>)
    return Pointer(step, [](auto* node) { deleteNode(node); });
  else
    return Pointer(c10::intrusive_ptr<Step>::unsafe_steal_from_new(step));
}

/// The kernel that records a call in PyTorch's graph.
struct Recorded : c10::OperatorKernel {
  const Known& known;
  int order;
  bool all;  // of the operator that gives all outputs
  Recorded(const Known& k, int o, bool a) : known(k), order(o), all(a) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) const {
    translated([&] { order == 0 ? record_call(op, keys, *stack) : record_gradient(op, keys, *stack); });
  }

 private:
  static void below(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack& stack) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(keys & c10::after_autograd_keyset, &stack);
  }
  /// What PyTorch calls forward mode would be dropped below its autograd.
  void refuse_tangents(const TensorList& tensors) const {
    if (known.facts.constant) return;
    for (const at::Tensor& t : tensors)
      TORCH_CHECK(!t.defined() || !t._fw_grad(0).defined(), known.shown, ": has no derivative in forward mode");
  }
  /// Whether a gradient may be asked of one of the tensors.
  static bool asks(Values tensors) {
    const bool records = at::GradMode::is_enabled();
    for (const c10::IValue& one : tensors) {
      if (!one.isTensor() && !one.isList()) continue;
      if (one.isList() || (records && one.toTensor().requires_grad()) || one.toTensor()._fw_grad(0).defined())
        return true;
    }
    return false;
  }
  static bool tracks(const TensorList& tensors) {
    if (!at::GradMode::is_enabled()) return false;
    for (const at::Tensor& t : tensors)
      if (t.defined() && t.requires_grad()) return true;
    return false;
  }
  /// A step for the call on these tensors, which `owner` holds.
  Step* step(int of, const TensorList& tensors, StepPointer& owner) const {
    auto* const made = new Step(known, of);
    owner = held(made);
    torch::autograd::edge_list edges;
    for (const at::Tensor& t : tensors)
      edges.push_back(t.defined() ? torch::autograd::impl::gradient_edge(t) : torch::autograd::Edge());
    made->set_next_edges(std::move(edges));
    return made;
  }
  static void link(const at::Tensor& result, const StepPointer& step) {
    if (result.defined() && torch::autograd::isDifferentiableType(result.scalar_type()))
      torch::autograd::set_history(result, step);
    else
      step->add_input_metadata(torch::autograd::Node::undefined_input());
  }
  std::vector<Tensor> types_of(const TensorList& tensors) const {
    std::vector<Tensor> all;
    for (const at::Tensor& t : tensors) all.push_back({{}, dtype_of(known.entry().snake, t.scalar_type()), nullptr});
    return all;
  }

  void record_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack& stack) const {
    const std::size_t inputs = known.facts.arguments.inputs.size(), count = inputs + known.parameters();
    const Values values(stack.data() + (stack.size() - count), count);
    const bool plain = is_plain(keys);
    if (!known.entry().mutates && !asks(values.slice(0, inputs)))
      return plain ? Forward(known, all).call(stack) : below(op, keys, stack);
    const Given given(known, values);
    refuse_tangents(given.tensors);
    const TensorList written = written_of(given);
    if (at::GradMode::is_enabled())
      for (const at::Tensor& t : written)
        TORCH_CHECK(!t.requires_grad(), known.shown, ": writes a tensor that requires a gradient; detach it");
    const Values said = values.slice(inputs);
    StepPointer owner;
    if (!known.facts.differentiable || !tracks(given.tensors)) {
      if (!known.facts.constant && tracks(given.tensors))
        step(0, given.tensors, owner);  // which says that there is none
      below(op, keys, stack);
      for (const at::Tensor& t : written) torch::autograd::impl::bump_version(t);
      if (owner)
        for (const at::Tensor& t : results_of(stack)) link(t, owner);
      return;
    }
    const Params params(known, said);
    const TensorList placed = given.placed(known, params.get());
    Step* const made = step(0, placed, owner);
    const Reads reads = gradient_reads(known.entry(), params.get(), types_of(placed));
    for (std::size_t i = 0; i < placed.size(); ++i) made->inputs.emplace_back(placed[i], Reads::has(reads.inputs, i));
    made->parameters.assign(said.begin(), said.end());
    TensorList results;
    if (plain) {
      results = Forward::compute(known, params, placed, known.trains(said));
      torch::jit::drop(stack, count);
    } else {
      below(op, keys, stack);
      results = results_of(stack);
    }
    for (const at::Tensor& t : written) torch::autograd::impl::bump_version(t);
    for (const at::Tensor& t : results) link(t, owner);
    for (std::size_t k = 0; k < results.size(); ++k)
      made->outputs.emplace_back(results[k], Reads::has(reads.outputs, k));
    if (plain) push_results(known, stack, std::move(results), all);
  }
  TensorList written_of(const Given& given) const {
    TensorList all;
    const std::vector<Argument>& list = known.facts.arguments.inputs;
    for (std::size_t i = 0; i < list.size() && i < given.tensors.size(); ++i)
      if (list[i].written && given.tensors[i].defined()) all.push_back(given.tensors[i]);
    return all;
  }
  /// All outputs, as they lie on the stack.
  TensorList results_of(const torch::jit::Stack& stack) const {
    if (stack.back().isList()) return tensors_of(stack.back());
    TensorList results;
    const int count = all ? known.facts.outputs : known.facts.visible;
    for (const c10::IValue& one : torch::jit::last(stack, static_cast<std::size_t>(count)))
      results.push_back(one.toTensor());
    return results;
  }

  void record_gradient(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack& stack) const {
    const GradientCall call(known, stack, order == 2);
    TensorList tensors = call.heads;
    tensors.insert(tensors.end(), call.inputs.begin(), call.inputs.end());
    StepPointer owner;
    if (order == 2) tensors.insert(tensors.end(), call.seconds.begin(), call.seconds.end());
    refuse_tangents(tensors);
    if (tracks(tensors)) {
      Step* const made = step(order, tensors, owner);
      if (order == 1) {
        for (const at::Tensor& t : call.heads) made->heads.emplace_back(t, true);
        for (const at::Tensor& t : call.inputs) made->inputs.emplace_back(t, true);
        for (const at::Tensor& t : call.outputs) made->outputs.emplace_back(t.detach(), true);
        made->wanted = call.wanted;
        made->parameters.assign(call.parameters.begin(), call.parameters.end());
      }
    }
    below(op, keys, stack);
    if (!owner) return;
    for (const at::Tensor& t : tensors_of(stack.back())) link(t, owner);
  }
};

}  // namespace strop::inline v0::host::pytorch
#endif
