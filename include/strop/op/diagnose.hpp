// SPDX-License-Identifier: Apache-2.0
/// \file
/// diagnose<T>(): why a struct is no operator, one sentence per clause of the contract (op/concepts/).
#pragma once
#include <strop/op/concepts.hpp>
#include <strop/op/rules.hpp>

namespace strop::inline v0 {
namespace detail {

/// op/concepts/misnamed.hpp
template <class T>
consteval void diagnose_names() {
  if constexpr (!NoneMisnamed<T>) {
#define STROP_MISNAMED(wrong, right) \
  static_assert(!Misnames_##wrong<T>, "strop: an operator's member is called " right ", not " #wrong);
#include <strop/op/concepts/misnamed.def>
  }
}

/// op/concepts/map.hpp
template <class T>
consteval bool diagnose_parameters() {
  static_assert(!HasBase<T>, "strop: an operator has no base class: its parameters and members stand in itself");
  if constexpr (!HasBase<T>) {
    static_assert(field_count<T> <= 32, "strop: an operator has at most 32 parameters");
    if constexpr (field_count<T> <= 32) {
      static_assert(
          Initialised<T>,
          "strop: every parameter has a default initialiser; a required one is `strop::Required<type> name = {}`");
      if constexpr (requires { T{}; }) {
        static_assert(std::is_copy_assignable_v<T>, "strop: no parameter is const or a reference");
        static_assert(!has_array<T>, "strop: a parameter is no array; a list of integers is a strop::Shape");
        if constexpr (!has_array<T>)
          static_assert(!has_mutable<T>,
                        "strop: no parameter is mutable: the threads of a call share them, and recorded calls keep a "
                        "copy; what an operator writes is an output, an input in `mutates` or a state (make_state)");
        return !has_array<T>;
      }
    }
  }
  return false;
}

// A member that is named is what its clause says, or is refused.

/// op/concepts/documents.hpp
template <class T>
consteval void diagnose_documents() {
  static_assert(!MisstatesName<T>, "strop: name is static constexpr std::string_view name");
  static_assert(StatesName<T> || !has_real_argument(qualified_name<T>),
                "strop: a template argument that is a floating number makes no name; state static constexpr "
                "std::string_view name");
  static_assert(!NamesAliases<T> || StatesAliases<T>,
                "strop: aliases is static constexpr std::string_view aliases[] = {...}");
  static_assert(!NamesDoc<T> || StatesDoc<T>, "strop: doc is static constexpr std::string_view doc");
  static_assert(!NamesNotes<T> || StatesNotes<T>,
                "strop: notes is static constexpr strop::Note notes[] = {{name, text}, ...}");
  static_assert(notes_known<T>(), "strop: notes names something that is no parameter, input or output of the operator");
  static_assert(!NamesRange<T> || StatesRange<T>,
                "strop: range is static constexpr strop::Range range[] = {{parameter, low, high}, ...}");
  static_assert(ranges_known<T>(), "strop: range names something that is no parameter of the operator");
  static_assert(ranges_of_numbers<T>(), "strop: range names a parameter that is no number, nor an optional one");
  static_assert(ranges_ordered<T>(), "strop: range gives {parameter, low, high} with low <= high");
  static_assert(
      !NamesParamAliases<T> || StatesParamAliases<T>,
      "strop: param_aliases is static constexpr strop::ParamAlias param_aliases[] = {{alias, parameter}, ...}");
  static_assert(param_aliases_known<T>(),
                "strop: param_aliases gives {alias, parameter}: names that are no parameters for ones that are");
  static_assert(
      !NamesUpgrades<T> || StatesUpgrades<T>,
      "strop: upgrades is static constexpr strop::ParamUpgrade upgrades[] = {{parameter, from, to, until}, ...}");
  static_assert(upgrades_known<T>(), "strop: upgrades names something that is no parameter of the operator");
  static_assert(
      !NamesOperations<T> || (StatesOperations<T> && !AnyMap<T>),
      "strop: operations is a tensor operator's double operations(std::span<const strop::Shape> inputs) const; "
      "a map's are counted in its body");
  static_assert(!NamesGradientOperations<T> || (StatesGradientOperations<T> && !AnyMap<T>),
                "strop: gradient_operations is a tensor operator's double gradient_operations(std::span<const "
                "strop::Shape> takes) const; a map's are counted in its body");
  static_assert(!NamesDtypes<T> || ServesTypes<T>,
                "strop: dtypes is a strop::DtypeSet, such as static constexpr auto dtypes = strop::floating | "
                "strop::integral");
  static_assert(
      !NamesIntegersAsDouble<T> || (TakesIntegersAsDouble<T> && AnyMap<T>),
      "strop: integers_as_double is a map's bool integers_as_double() const; a tensor operator says its types "
      "with infer_type");
}

/// op/concepts/arguments.hpp
template <class T>
consteval void diagnose_arguments() {
  static_assert(!NamesInputs<T> || StatesInputs<T>,
                "strop: inputs is static constexpr std::string_view inputs[] = {...}");
  static_assert(!NamesOutputs<T> || StatesOutputs<T>,
                "strop: outputs is static constexpr std::string_view outputs[] = {...}");
  static_assert(!NamesMutates<T> || StatesMutates<T>,
                "strop: mutates is static constexpr std::string_view mutates[] = {...}");
  static_assert(!NamesAux<T> || StatesAux<T>, "strop: aux is static constexpr std::string_view aux[] = {...}");
  static_assert(!NamesVisible<T> || StatesVisible<T>, "strop: visible is a static constexpr int");
  static_assert(!NamesInputCount<T> || StatesInputCount<T>, "strop: input_count is int input_count() const");
  static_assert(!NamesOutputCount<T> || StatesOutputCount<T>, "strop: output_count is int output_count() const");
  static_assert(!NamesVisibleCount<T> || StatesVisibleCount<T>, "strop: visible_count is int visible_count() const");
  if constexpr (AnyMap<T>) {
    static_assert(!NamesVisibleCount<T>,
                  "strop: visible_count is a tensor operator's: a map states visible as a static constexpr int");
    static_assert(!NamesInputCount<T> && !NamesOutputCount<T>,
                  "strop: input_count and output_count are a tensor operator's: a map's forward has its inputs and "
                  "results");
  }
  static_assert(inputs_match<T>() || !AnyMap<T>, "strop: inputs names as many tensors as forward takes numbers");
  static_assert(inputs_match<T>() || AnyMap<T>, "strop: inputs names as many tensors as forward reads or mutates");
  static_assert(NamesForward<T> || !stated_inputs<T>().empty(),
                "strop: an operator that has sparse forms alone states its inputs: static constexpr "
                "std::string_view inputs[] = {...}");
  static_assert(!StatesAux<T> || StatesInputs<T>, "strop: an operator that states aux states its inputs");
  static_assert(mutated_known<T>(), "strop: mutates names something that stands not in inputs");
  static_assert(outputs_stand_last<T>(),
                "strop: forward takes (ctx, in..., out...): every strop::View<const E, N> stands before the views that "
                "it writes");
  static_assert(mutated_are_written<T>(),
                "strop: mutates and aux name the inputs that forward takes as views to write, no others");
  static_assert(lists_are_told_apart<T>(), "strop: forward takes one std::span of inputs and one of outputs at most");
  if constexpr (AnyMap<T>)
    static_assert(Counts<T>::out > 0,
                  "strop: forward of a map returns its outputs, one at least, and then the inputs that mutates names");
  else if constexpr (TensorOp<T>)
    static_assert(Counts<T>::out > 0,
                  "strop: forward has an output: a strop::View<E, N> that it writes and that is no mutated input");
  if constexpr (Counts<T>::out > 0) {
    static_assert(outputs_match<T>(), "strop: outputs names as many tensors as forward has results");
    static_assert(visible_in_range<T>(), "strop: visible is from 1 to the number of outputs");
  }
}

/// op/concepts/inference.hpp, sparse.hpp, memory.hpp, state.hpp
template <class T>
consteval void diagnose_members() {
  static_assert(!NamesInferShape<T> || InfersShape<T>,
                "strop: infer_shape is void infer_shape(strop::Shapes& shapes) const");
  static_assert(ranks_agree<T>(),
                "strop: forward takes inputs of different ranks, which only an operator with infer_shape may: without "
                "it they have one shape");
  static_assert(!NamesInferType<T> || InfersType<T>, "strop: infer_type is void infer_type(strop::Types& types) const");
  static_assert(
      !NamesSameShape<T> || requires { requires std::same_as<decltype(T::same_shape), const bool>; },
      "strop: same_shape is a static constexpr bool");
  static_assert(!NamesSameShape<T> || AnyMap<T>,
                "strop: same_shape is a map's: a tensor operator says what shapes it takes with infer_shape");

  static_assert(!NamesInferStorage<T> || InfersStorage<T>,
                "strop: infer_storage is bool infer_storage(strop::Storages& storages) const");
  static_assert(!NamesInferGradientStorage<T> || InfersGradientStorage<T>,
                "strop: infer_gradient_storage is bool infer_gradient_storage(strop::Storages& storages) const");
  static_assert(
      !HasSparseForms<T> || InfersStorage<T>,
      "strop: an operator with forward_sparse states infer_storage, which says when its overloads are called");
  static_assert(sparse_forms_match<T>(), "strop: sparse_tensors is the number of all inputs and outputs");

  static_assert(!NamesInplace<T> || InplaceOption<T>,
                "strop: inplace is static constexpr strop::Share inplace[] = {{input, output}, ...}");
  static_assert(shares_in_range<T>(), "strop: inplace gives pairs {input, output} of positions, from 0");
  static_assert(!NamesGradientInplace<T> || GradientInplaceOption<T>,
                "strop: gradient_inplace is static constexpr strop::Share gradient_inplace[] = {{argument, gradient}, "
                "...}");
  static_assert(!NamesResources<T> || RequestsResource<T>,
                "strop: resources is a static constexpr strop::Resources or takes (std::span<const strop::Shape> "
                "inputs) and is const");
  static_assert(!NamesAccumulates<T> || Accumulates<T>, "strop: accumulates is a static constexpr bool");
  static_assert(!NamesGradientAccumulates<T> || GradientAccumulates<T>,
                "strop: gradient_accumulates is a static constexpr bool");
  if constexpr (AnyMap<T>) {
    static_assert(!NamesResources<T>,
                  "strop: a map has no use for resources; a tensor operator's forward(ctx, in..., out...) has");
    static_assert(!NamesForwardSparse<T>,
                  "strop: a map's sparse forms follow from its body; forward_sparse is a tensor operator's");
    static_assert(!NamesAccumulates<T>,
                  "strop: a map has no use for accumulates: its results are added as they are computed");
    static_assert(!NamesMakeState<T>,
                  "strop: a map keeps no state; a tensor operator's forward(ctx, state, in..., out...) may");
  }
}

/// op/concepts/stated_gradient.hpp, tagged_gradient.hpp, composed_gradient.hpp
template <class T>
consteval void diagnose_gradient() {
  static_assert(!NamesGradUseIn<T> || HasGradUseIn<T>,
                "strop: grad_use_in takes (dy..., x...), one dy per output and one x per input of forward, and is "
                "const");
  static_assert(!NamesGradUseOut<T> || HasGradUseOut<T>,
                "strop: grad_use_out takes (dy..., y...), one dy and one y per output of forward, and is const");
  static_assert(!NamesGradUseNone<T> || HasGradUseNone<T>,
                "strop: grad_use_none takes (dy...), one dy per output of forward, and is const");
  static_assert(!NamesGradUseInOut<T> || HasGradUseInOut<T>,
                "strop: grad_use_in_out takes (dy..., x..., y...), one dy and one y per output and one x per input of "
                "forward, and is const");
  static_assert(returns_slopes<T>(),
                "strop: a gradient returns a number, for several inputs a std::tuple of one number per input of "
                "forward, but for those of whole numbers (strop::Integer)");
  static_assert(gradient_takes_each<T>() || !HasGradUseIn<T>,
                "strop: grad_use_in takes (ctx, dy..., in..., din...): views of const of the visible outputs' head "
                "gradients and of the inputs, then a view to write per input");
  static_assert(gradient_takes_each<T>() || !HasGradUseOut<T>,
                "strop: grad_use_out takes (ctx, dy..., out..., din...): views of const of the visible outputs' head "
                "gradients and of the outputs, then a view to write per input");
  static_assert(gradient_takes_each<T>() || !HasGradUseNone<T>,
                "strop: grad_use_none takes (ctx, dy..., din...): views of const of the visible outputs' head "
                "gradients, then a view to write per input");
  static_assert(gradient_takes_each<T>() || !HasGradUseInOut<T>,
                "strop: grad_use_in_out takes (ctx, dy..., in..., out..., din...): views of const of the visible "
                "outputs' head gradients, of the inputs and of the outputs, then a view to write per input");
  static_assert(
      gradient_lists_match<T>(),
      "strop: a stated gradient takes a std::span for each of forward's, of head gradients and of gradients as "
      "well, and single tensors for its single ones");
  if constexpr (!AnyMap<T>)
    static_assert(!HasGrad<T> || (TensorShape<T>::lists.in < 0 && TensorShape<T>::lists.out < 0),
                  "strop: grad takes tensors by their names, which those of a std::span have not: state grad_use_in or "
                  "the like");
  if constexpr (Counts<T>::open_in && !AnyMap<T>)
    static_assert(std::is_void_v<GradientMember<T>> || !MutatesInputs<T>,
                  "strop: an operator that takes a std::span of inputs and writes some states gradient(dy, x...), "
                  "which has a result for each, or none");
  static_assert(stated_gradients<T> <= 1,
                "strop: an operator states one gradient: grad_use_in, grad_use_out, grad_use_none, "
                "grad_use_in_out, grad, gradient or zero_gradient");
  static_assert(
      !NamesZeroGradient<T> || requires { requires std::same_as<decltype(T::zero_gradient), const bool>; },
      "strop: zero_gradient is a static constexpr bool");
  static_assert(!AnyMap<T> || stated_gradients<T> == 0 || HasZeroGradient<T> || !MutatesInputs<T>,
                "strop: a map that writes its inputs has no gradient");

  static_assert(!NamesGrad<T> || HasGrad<T>,
                "strop: grad takes (strop::Cpu&, ...) with every argument tagged Head, In, Out or Grad, and is const");
  static_assert(gradient_is_tagged<T>(),
                "strop: grad takes (strop::Cpu&, ...) with every argument tagged Head, In or Out, views of const, or "
                "Grad, one at least, a view to write");

  static_assert(!NamesGradient<T> || (GradComposes<T> && composes_as_stated<T>()),
                "strop: gradient takes (dy) or (dy, x...), one x per input of forward, each const auto&, and is const");
  static_assert(!NamesGradientKeeps<T> || GradientKeeps<T>,
                "strop: gradient_keeps is a static constexpr strop::Keeps, none or in");
  static_assert(!NamesSpreadGradient<T> || (HasSpreadGradient<T> && NamesGradient<T>),
                "strop: spread_gradient is NDArray spread_gradient(const NDArray& dy, const Shape& x) const, beside "
                "gradient(dy, x...)");
  static_assert(!(NamesGradientKeeps<T> && NamesGradientReads<T>),
                "strop: gradient_keeps and gradient_reads say the same, of all inputs or of some: state one");
  static_assert(!NamesGradientReads<T> || GradientReads<T>,
                "strop: gradient_reads is static constexpr std::string_view gradient_reads[] = {...}");
  static_assert(read_known<T>(), "strop: gradient_reads names something that stands not in inputs");
  static_assert(NamesGradient<T> || !(NamesGradientKeeps<T> || NamesGradientReads<T>),
                "strop: gradient_keeps and gradient_reads say what gradient(dy, x...) looks at, and there is none");
  static_assert(!NamesGradientAgain<T> || GradientAgain<T>,
                "strop: gradient_again takes two std::span<const Node>, the heads and what the gradient takes, for any "
                "Node, and is const");
  if constexpr (AnyMap<T> || std::is_void_v<GradientMember<T>>) {
    static_assert(!NamesGradientAgain<T> && !NamesGradientAccumulates<T> && !NamesInferGradientStorage<T>,
                  "strop: gradient_again, gradient_accumulates and infer_gradient_storage are of a tensor operator's "
                  "stated gradient, and there is none");
    static_assert(!NamesGradientInplace<T>,
                  "strop: gradient_inplace is of a tensor operator's stated gradient, and there is none: a map's may "
                  "always run in place, and a composed one is other operators");
  }
  static_assert(gradient_shares_in_range<T>(),
                "strop: gradient_inplace gives pairs {argument, gradient} of positions, from 0: among the tensors that "
                "the stated gradient reads, and among those that it writes");
  static_assert(gradient_shares_are_fixed<T>(),
                "strop: gradient_inplace names tensors that every call has: none beside a std::span or output_count, "
                "and no output behind inputs that input_count may leave out");
}

}  // namespace detail

/// True for an operator. For any other struct the compiler says which clause it misses.
template <class T>
consteval bool diagnose() {
  static_assert(std::is_class_v<T>, "strop: an operator is a struct");
  if constexpr (std::is_class_v<T>) {
    // op/concepts/map.hpp, tensor.hpp
    static_assert(std::is_aggregate_v<T>,
                  "strop: an operator is a plain aggregate: no constructors, no private or virtual members, no base "
                  "class with them");
    static_assert(!std::is_final_v<T>,
                  "strop: an operator is not final: the contract looks at its members through a derived type");
    if constexpr (detail::Plain<T>) {
      detail::diagnose_names<T>();
      constexpr bool reflects = detail::diagnose_parameters<T>();
      constexpr bool sparse_forms = detail::NamesForwardSparse<T> || detail::NamesSparseTensors<T>;
      static_assert(detail::NamesForward<T> || sparse_forms || detail::Misnames_Forward<T>,
                    "strop: an operator has a member forward(...)");
      static_assert(
          !sparse_forms || detail::HasSparseForms<T>,
          "strop: forward_sparse<E>(ctx, in..., out...) and static constexpr int sparse_tensors, how many tensors "
          "it takes, stand together");
      if constexpr (detail::NamesForward<T> && !Operator<T>) {
        static_assert(!detail::ForwardNotConst<T>,
                      "strop: forward must be const: write constexpr auto forward(auto x) const");
        static_assert(
            detail::ForwardNotConst<T>,
            "strop: forward must take one to six numbers and be generic over them (constexpr auto "
            "forward(auto x) const; whole numbers beside others are strop::Integer auto), or be a tensor operator's "
            "void forward(strop::Cpu&, strop::View<const E, N> in..., strop::View<E, N> out...) const");
      } else if constexpr (Operator<T> && reflects) {
        static_assert(!detail::NamesMakeState<T> || HasState<T>,
                      "strop: make_state takes (strop::Cpu&, const strop::Shape& input...), a shape per input, and is "
                      "const");
        static_assert(detail::returns_numbers<T>(),
                      "strop: forward returns a number or a std::tuple of one number per output");
        static_assert(!detail::returns_constant<T>(),
                      "strop: forward returns numbers of the kind that it takes: write auto forward, not float "
                      "forward, and no cast in it; a constant is decltype(x)(1)");
        if constexpr (detail::returns_numbers<T>()) {
          detail::diagnose_documents<T>();
          detail::diagnose_arguments<T>();
          detail::diagnose_members<T>();
          detail::diagnose_gradient<T>();
        }
      }
    }
  }
  return Operator<T>;
}

}  // namespace strop::inline v0
