// SPDX-License-Identifier: Apache-2.0
/// \file
/// Makes operators of the registry operators of PyTorch's dispatcher.
#pragma once
#if __has_include(<torch/library.h>)
#include <strop/host/torch/gradients.hpp>

#include <torch/library.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

namespace strop::inline v0::host::pytorch {

/// An operator that has outputs which callers do not see: what the operator of all outputs gives, without them.
struct Visible : c10::OperatorKernel {
  const Known& known;
  explicit Visible(const Known& k) : known(k) {}

  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) const {
    translated([&] { call(*stack); });
  }

 private:
  void call(torch::jit::Stack& stack) const {
    const StackedCall given(known, stack);
    const int visible =
        detail::count_outputs(known.entry(), given.params.get(), static_cast<int>(given.placed.size())).second;
    known.all->callBoxed(stack);
    TensorList results;
    if (known.facts.outputs < 0) {
      results = tensors_of(torch::jit::pop(stack));
    } else {
      const auto all = static_cast<std::size_t>(known.facts.outputs);
      for (const c10::IValue& one : torch::jit::last(stack, all)) results.push_back(one.toTensor());
      torch::jit::drop(stack, all);
    }
    results.resize(static_cast<std::size_t>(visible));
    push_results(known, stack, std::move(results), false);
  }
};

/// Registers one operator after another with a library of PyTorch's.
class Registration {
 public:
  Registration(torch::Library& to, std::string_view space) : to_(to), space_(space) {}

  /// The operator, by those of its names that are free.
  void add(const Entry& entry) {
    auto& known = *new Known(entry);  // lives as long as the dispatcher has it
    if (!known.facts.refused.empty() || known.facts.arguments.inputs.empty() || known.schemas.names.empty()) return;
    const std::string& name = known.schemas.names.front();
    if (!taken_.insert(name).second) return;
    known.shown = cat(space_, "::", name);
    if (known.facts.differentiable) {
      known.gradient = define(known, cat("_backward_", name), known.schemas.gradient);
      known.second = define(known, cat("_backward_twice_", name), known.schemas.second_gradient);
      for (const bool again : {false, true}) {
        const std::string own = cat(again ? "_backward_twice_" : "_backward_", name);
        kernel<GradientKernel>(own, c10::DispatchKey::CPU, known, again);
        kernel<GradientMeta>(own, c10::DispatchKey::Meta, known, again);
        kernel<Recorded>(own, c10::DispatchKey::Autograd, known, again ? 2 : 1, false);
      }
    }
    const bool hides = !known.schemas.all.empty();
    if (hides) {
      const std::string own = cat("_all_", name);
      known.all = define(known, own, known.schemas.all);
      add_kernels(own, known, true);
    }
    for (const std::string& one : known.schemas.names) {
      if (one != name && !taken_.insert(one).second) continue;
      const c10::OperatorHandle made = define(known, one, known.schemas.forward);
      if (one == name) take_defaults(known, made);
      hides ? kernel<Visible>(one, c10::DispatchKey::CompositeImplicitAutograd, known) : add_kernels(one, known, false);
    }
  }

 private:
  void add_kernels(const std::string& name, const Known& known, bool all) {
    kernel<Forward>(name, c10::DispatchKey::CPU, known, all);
    kernel<Meta>(name, c10::DispatchKey::Meta, known, all);
    kernel<Recorded>(name, c10::DispatchKey::Autograd, known, 0, all);
  }
  c10::OperatorHandle define(const Known&, const std::string& name, const std::string& schema) {
    to_.def(cat(name, schema).c_str(), {at::Tag::pt2_compliant_tag});
    return c10::Dispatcher::singleton().findSchemaOrThrow(cat(space_, "::", name).c_str(), "");
  }
  template <class Kernel, class... Arguments>
  void kernel(const std::string& name, c10::DispatchKey key, Arguments&&... arguments) {
    to_.impl(name.c_str(),
             torch::dispatch(key, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(arguments...))));
  }
  static void take_defaults(Known& known, const c10::OperatorHandle& made) {
    const std::vector<c10::Argument>& arguments = made.schema().arguments();
    for (std::size_t i = known.facts.arguments.inputs.size(); i < arguments.size(); ++i)
      known.default_values.push_back(arguments[i].default_value().value_or(c10::IValue()));
  }

  torch::Library& to_;
  std::string space_;
  std::set<std::string> taken_;
};

/// All operators that lie in the same file as `anchor`.
inline void register_operators(torch::Library& to, std::string_view space, const void* anchor) {
  Registration registration(to, space);
  for (const Entry* entry : operators(anchor)) registration.add(*entry);
}

}  // namespace strop::inline v0::host::pytorch
#endif
