// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sparse forms of a tensor operator: overloads of `forward_sparse`, one per combination of storages, chosen by the
/// storages of the call.
#pragma once
#include <strop/core/list.hpp>
#include <strop/op/arguments.hpp>
#include <strop/tensor/merged.hpp>

#include <tuple>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// An array of storage S on its way to a parameter: it becomes the view that the chosen overload takes.
template <Storage S, class E, bool Writes>
struct Passing {
  std::string_view op;
  Label label;
  const NDArray* array;
  std::vector<NDArray>* held;

  /// Dense: any rank, any element type (a read one of another type comes converted).
  template <class X, int R>
    requires(S == dense && (Writes || std::is_const_v<X>))
  operator View<X, R>() const {
    const NDArray* a = array;
    if constexpr (!Writes)
      if (a->dtype() != dtype_of<X>) {
        NDArray converted(a->shape(), dtype_of<X>, a->device());
        convert_elements(a->dtype(), a->bytes(), dtype_of<X>, converted.bytes(), a->size());
        held->push_back(converted);
        return view_of<X, R>(converted);
      }
    check_argument(op, label, ArgOf<View<X, R>>::info, *a);
    return view_of<X, R>(*a);
  }
  operator CsrView<const E>() const
    requires(S == csr && !Writes)
  {
    return csr_view<const E>(*array);
  }
  operator RowSparseView<const E>() const
    requires(S == row_sparse && !Writes)
  {
    return row_sparse_view<const E>(*array);
  }
  operator CsrResult<E>() const
    requires(S == csr && Writes)
  {
    return CsrResult<E>(*array);
  }
  operator RowSparseResult<E>() const
    requires(S == row_sparse && Writes)
  {
    return RowSparseResult<E>(*array);
  }
};

template <class E, std::size_t Left, class T, class... A>
bool pass_on(const T& op, const Call& call, Cpu& ctx, std::vector<NDArray>& held, A&&... args) {
  if constexpr (Left == 0) {
    if constexpr (requires { op.template forward_sparse<E>(ctx, args...); }) {
      op.template forward_sparse<E>(ctx, args...);
      return true;
    } else
      return false;
  } else {
    constexpr Index at = sizeof...(A);
    const Index inputs = call.inputs.size();
    const bool writes = at >= inputs;
    const NDArray* array = writes ? &call.out[at - inputs] : call.inputs[at];
    const auto as = [&]<Storage S, bool W>() {
      return pass_on<E, Left - 1>(
          op, call, ctx, held, args...,
          Passing<S, E, W>{call.entry.snake, Label{W ? "output" : "input", static_cast<int>(W ? at - inputs : at), {}},
                           array, &held});
    };
    const auto with = [&]<Storage S>() {
      return writes ? as.template operator()<S, true>() : as.template operator()<S, false>();
    };
    switch (array->storage()) {
      case Storage::csr:
        return with.template operator()<csr>();
      case Storage::row_sparse:
        return with.template operator()<row_sparse>();
      default:
        return with.template operator()<dense>();
    }
  }
}

/// A context that a GPU's overload does not take, and one for any context does.
class NoDevice : public Context {};
/// Whether forward_sparse has an overload for GPUs, of `In` inputs that it reads and then results.
template <class T, class E, std::size_t Left, std::size_t In, class... A>
constexpr bool has_sparse_form_on_gpu() {
  if constexpr (Left == 0) {
    return requires(const T& op, Cuda& ctx, A&... args) { op.template forward_sparse<E>(ctx, args...); } &&
           !requires(const T& op, NoDevice& ctx, A&... args) { op.template forward_sparse<E>(ctx, args...); };
  } else {
    constexpr bool writes = sizeof...(A) >= In;
    return has_sparse_form_on_gpu<T, E, Left - 1, In, A..., Passing<dense, E, writes>>() ||
           has_sparse_form_on_gpu<T, E, Left - 1, In, A..., Passing<csr, E, writes>>() ||
           has_sparse_form_on_gpu<T, E, Left - 1, In, A..., Passing<row_sparse, E, writes>>();
  }
}

/// Calls the overload of forward_sparse that takes the storages of this call. In the views each place stands once.
template <class T>
void run_sparse_form(const T& op, const Call& given, Cpu& ctx) {
  constexpr Index tensors = T::sparse_tensors;
  std::vector<NDArray> held;
  List<NDArray, 4> whole;
  List<const NDArray*, 8> inputs;
  for (const NDArray* a : given.inputs) whole.push_back(a->storage() == dense ? *a : merged(*a));
  for (const NDArray& a : whole) inputs.push_back(&a);
  const Call call{given.entry, given.params, inputs.span(), given.out, given.requests};
  bool done = false;
  const Dtype type = call.inputs.empty() ? call.out[0].dtype() : call.in(0).dtype();
  if (call.inputs.size() + call.out.size() == tensors) {
    if (type == f32)
      done = pass_on<float, tensors>(op, call, ctx, held);
    else if (type == f64)
      done = pass_on<double, tensors>(op, call, ctx, held);
    else
      fail(call.entry.snake, ": its sparse forms take floating types, input 0 is ", name_of(type));
  }
  if (!done) {
    std::string storages;
    for (const NDArray* a : call.inputs) storages += cat(storages.empty() ? "" : ", ", name_of(a->storage()));
    fail(call.entry.snake, ": has no form for (", storages, ")");
  }
}

}  // namespace detail
}  // namespace strop::inline v0
