// SPDX-License-Identifier: Apache-2.0
/// \file
/// The kernels of PyTorch's dispatcher that call ours: on the CPU, and on tensors that have no elements.
#pragma once
#if __has_include(<torch/library.h>)
#include <strop/host/torch/values.hpp>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/record_function.h>
#include <c10/util/Exception.h>

#include <optional>
#include <utility>

namespace strop::inline v0::host::pytorch {

/// An operator as PyTorch's dispatcher knows it; lives as long as the process.
struct Known {
  Facts facts;
  TorchSchemas schemas;
  detail::ParamBox defaults;
  std::vector<c10::IValue> default_values;                   // of the parameters; none of a required one
  std::optional<c10::OperatorHandle> gradient, second, all;  // the other operators of the same
  std::string shown;                                         // "mylib::tanh"
  Inferred inferred;

  explicit Known(const Entry& entry) : facts(entry), schemas(torch_schemas(facts)), defaults(entry.params) {}
  const Entry& entry() const { return facts.entry; }
  std::size_t fields() const { return entry().params != nullptr ? entry().params->fields.size() : 0; }
  /// How many values the stack has behind the tensors.
  std::size_t parameters() const { return fields() + (facts.trains ? 1 : 0); }
  bool trains(Values parameters) const { return facts.trains && parameters.back().toBool(); }
};

/// Runs f; what ours throws becomes what PyTorch throws.
template <class F>
void translated(F&& f) {
  std::string sentence;
  try {
    return f();
  } catch (const Error& error) {
    sentence = error.what();
  }
  TORCH_CHECK(false, sentence);
}

/// Whether nothing but our kernels is to see a call by these dispatch keys: no mode, no transform, no profiler.
inline bool is_plain(c10::DispatchKeySet keys) {
  return (keys & c10::after_autograd_keyset) == c10::DispatchKeySet(c10::DispatchKey::CPU) && !at::hasCallbacks();
}

/// The parameters of one call.
class Params {
 public:
  Params(const Known& known, Values values) : known_(known) {
    const Values defaults(known.default_values);
    bool same = true;
    for (std::size_t i = 0; i < known.fields(); ++i) same = same && is_default(values[i], defaults[i]);
    if (same) return;
    box_.emplace(known.entry().params);
    set_params(known.entry(), box_->get(), values, defaults);
  }
  const void* get() const { return box_ ? box_->get() : known_.defaults.get(); }

 private:
  static bool is_default(const c10::IValue& a, const c10::IValue& b) {
    return a.isDouble() ? b.isDouble() && a.toDouble() == b.toDouble()
           : a.isInt()  ? b.isInt() && a.toInt() == b.toInt()
           : a.isBool() ? b.isBool() && a.toBool() == b.toBool()
           : a.isNone() ? b.isNone()
                        : a.isString() && b.isString() && a.toStringRef() == b.toStringRef();
  }
  const Known& known_;
  std::optional<detail::ParamBox> box_;
};

/// The tensors of a call of the operator itself that are there, in the order of its schema, and where they stand.
struct Given {
  TensorList tensors;
  c10::SmallVector<bool, 8> there;
  std::size_t count = 0;  // of those that are

  Given(const Known& known, Values values) {
    const std::size_t inputs = known.facts.arguments.inputs.size();
    for (std::size_t i = 0; i < inputs; ++i) {
      if (known.facts.arguments.inputs[i].variadic) {
        for (const at::Tensor& t : values[i].toTensorVector()) add(t);
      } else if (values[i].isTensor()) {
        add(values[i].toTensor());
      } else {
        there.push_back(false);
        tensors.emplace_back();
      }
    }
  }
  /// As the operator takes them.
  TensorList placed(const Known& known, const void* op) const {
    if (count == known.facts.arguments.inputs.size() && count == there.size()) return tensors;
    TensorList made;
    for (const std::size_t at : placed_inputs(known.facts, op, std::vector<bool>(there.begin(), there.end())))
      made.push_back(tensors[at]);
    return made;
  }

 private:
  void add(const at::Tensor& t) {
    there.push_back(t.defined());
    count += t.defined() ? 1 : 0;
    tensors.push_back(t);
  }
};

/// A call of the operator itself, which stands on top of PyTorch's stack.
struct StackedCall {
  std::size_t inputs, count;
  Values values;
  Params params;
  TensorList placed;

  StackedCall(const Known& known, const torch::jit::Stack& stack)
      : inputs(known.facts.arguments.inputs.size()),
        count(inputs + known.parameters()),
        values(stack.data() + (stack.size() - count), count),
        params(known, values.slice(inputs)),
        placed(Given(known, values).placed(known, params.get())) {}
};

inline std::vector<Tensor> described(const Known& known, at::ArrayRef<at::Tensor> tensors, bool elements) {
  std::vector<Tensor> all;
  all.reserve(tensors.size());
  for (const at::Tensor& t : tensors) all.push_back(described(known.entry().snake, t, elements));
  return all;
}

/// What a call gives back: one tensor, several, or a list of them.
inline void push_results(const Known& known, torch::jit::Stack& stack, TensorList results, bool all) {
  const int said = all ? known.facts.outputs : known.facts.visible;
  if (said < 0) {
    stack.emplace_back(c10::List<at::Tensor>(at::ArrayRef<at::Tensor>(results)));
    return;
  }
  if (std::ssize(results) != said)
    fail(known.entry().snake, ": gives ", results.size(), " results with these parameters, and ", said,
         " without; the operator _all_", known.schemas.names.front(), " gives all that there are");
  for (at::Tensor& t : results) stack.emplace_back(std::move(t));
}

/// The kernel of an operator: all of its outputs are made and written.
struct Forward : c10::OperatorKernel {
  const Known& known;
  bool all;  // of the operator that gives all outputs
  Forward(const Known& k, bool a) : known(k), all(a) {}

  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) const {
    translated([&] { call(*stack); });
  }

  /// Makes the results and computes them, of tensors of the CPU in the operator's own order.
  static TensorList compute(const Known& known, const Params& params, const TensorList& placed, bool train) {
    const Entry& entry = known.entry();
    TensorList compact, results;
    for (const at::Tensor& t : placed) compact.push_back(t.is_contiguous() ? t : t.contiguous());
    const std::vector<Tensor> in = described(known, compact, true);
    std::vector<Tensor> out = known.inferred.results(entry, params.get(), params.get() == known.defaults.get(), in);
    for (Tensor& t : out) {
      if (!t.shape.known()) fail(entry.snake, ": the shape of its result follows from the data");
      results.push_back(new_tensor(t.shape, t.dtype));
      t.data = results.back().data_ptr();
    }
    follow_threads();
    run(entry, params.get(), in, out, train);
    const std::vector<Argument>& inputs = known.facts.arguments.inputs;
    for (std::size_t i = 0; entry.mutates && i < placed.size() && i < inputs.size(); ++i)
      if (inputs[i].written && !placed[i].is_same(compact[i])) placed[i].copy_(compact[i]);
    return results;
  }
  void call(torch::jit::Stack& stack) const {
    const StackedCall given(known, stack);
    TensorList results = compute(known, given.params, given.placed, known.trains(given.values.slice(given.inputs)));
    torch::jit::drop(stack, given.count);
    push_results(known, stack, std::move(results), all);
  }
};

/// Shapes and types of results, of tensors without elements. The sizes of maps may be symbols.
struct Meta : c10::OperatorKernel {
  const Known& known;
  bool all;
  Meta(const Known& k, bool a) : known(k), all(a) {}

  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) const {
    translated([&] { call(*stack); });
  }

 private:
  void call(torch::jit::Stack& stack) const {
    const StackedCall given(known, stack);
    bool symbols = false;
    for (const at::Tensor& t : given.placed)
      for (const c10::SymInt& extent : t.sym_sizes()) symbols = symbols || extent.is_symbolic();
    TensorList results;
    if (symbols && known.entry().is_map())
      map_results(given.params.get(), given.placed, results);
    else
      known_results(given.params.get(), given.placed, results);
    torch::jit::drop(stack, given.count);
    push_results(known, stack, std::move(results), all);
  }
  static void add(TensorList& results, const at::Tensor& like, c10::SymIntArrayRef sizes, Dtype dtype) {
    results.push_back(at::empty_symint(sizes, like.options().dtype(scalar_type(dtype)).layout(c10::kStrided)));
  }
  void known_results(const void* op, const TensorList& placed, TensorList& results) const {
    std::vector<Tensor> in;
    for (const at::Tensor& t : placed) {
      in.push_back({{}, dtype_of(known.entry().snake, t.scalar_type()), nullptr});
      for (const c10::SymInt& extent : t.sym_sizes()) in.back().shape.push_back(extent.guard_int(__FILE__, __LINE__));
    }
    for (const Tensor& t : infer(known.entry(), op, in)) {
      if (!t.shape.known())
        fail(known.entry().snake,
             ": the shape of its result follows from the data, which a compiled graph cannot know");
      c10::SmallVector<c10::SymInt, 5> sizes(t.shape.data(), t.shape.data() + t.shape.ndim());
      add(results, placed[0], sizes, t.dtype);
    }
  }
  /// Every extent of a map's results is the one that is not 1.
  void map_results(const void* op, const TensorList& placed, TensorList& results) const {
    c10::SmallVector<c10::SymInt, 5> common;
    std::vector<Tensor> in;
    for (const at::Tensor& t : placed) {
      const c10::SymIntArrayRef sizes = t.sym_sizes();
      if (sizes.size() > common.size()) common.insert(common.begin(), sizes.size() - common.size(), c10::SymInt(1));
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        c10::SymInt& extent = common[common.size() - sizes.size() + k];
        if (TORCH_GUARD_OR_FALSE(extent.sym_eq(1)))
          extent = sizes[k];
        else if (!TORCH_GUARD_OR_FALSE(sizes[k].sym_eq(1)))
          TORCH_SYM_CHECK(extent.sym_eq(sizes[k]), known.shown, ": shapes do not fit");
      }
      in.push_back({{}, dtype_of(known.entry().snake, t.scalar_type()), nullptr});
    }
    for (const Tensor& t : infer(known.entry(), op, in)) add(results, placed[0], common, t.dtype);
  }
};

}  // namespace strop::inline v0::host::pytorch
#endif
