// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators on sparse storages.
///
///  1. A tensor operator's forward may take a CsrView, RowSparseView, CsrResult or RowSparseResult; or there are
///     overloads of `forward_sparse<E>(ctx, in…, out…) const` on those and dense views, one per combination.
///  2. Beside forward_sparse, `static constexpr int sparse_tensors` says how many tensors these take: all inputs and
///     outputs; and infer_storage says when they are called.
///  3. `bool infer_storage(strop::Storages& storages) const` sets the outputs' storages from the inputs'; false asks
///     for the dense fallback. A map's is asked where an input is sparse, after the derivation: dense is then no
///     fallback, and a storage that does not follow from the map's body is refused. Without it a forward on sparse
///     views serves the storages of its views.
///  4. `bool infer_gradient_storage(strop::Storages& storages) const` is the same for a stated gradient.
#pragma once
#include <strop/fwd.hpp>
#include <strop/op/concepts/tensor.hpp>
#include <strop/op/infer.hpp>

namespace strop::inline v0 {
namespace detail {
template <class A>
inline constexpr bool is_sparse_view = false;
template <class E>
inline constexpr bool is_sparse_view<CsrView<E>> = true;
template <class E>
inline constexpr bool is_sparse_view<RowSparseView<E>> = true;
template <class E>
inline constexpr bool is_sparse_view<CsrResult<E>> = true;
template <class E>
inline constexpr bool is_sparse_view<RowSparseResult<E>> = true;
template <class... A>
constexpr bool any_sparse_view(std::type_identity<std::tuple<A...>>) {
  return (is_sparse_view<std::remove_cvref_t<A>> || ...);
}
/// forward takes sparse views of that device.
template <class T, class Ctx>
constexpr bool sparse_forward_on() {
  if constexpr (!forward_on<T, Ctx>())
    return false;
  else if constexpr (requires { signature_on<Ctx>(&T::forward); })
    return any_sparse_view(decltype(signature_on<Ctx>(&T::forward)){});
  else if constexpr (requires { signature_on<Ctx>(&T::template forward<float>); })
    return any_sparse_view(decltype(signature_on<Ctx>(&T::template forward<float>)){});
  else if constexpr (requires { signature_on<Ctx>(&T::template forward<std::int64_t>); })
    return any_sparse_view(decltype(signature_on<Ctx>(&T::template forward<std::int64_t>)){});
  else
    return any_sparse_view(decltype(signature_on<Ctx>(&T::template forward<>)){});
}
template <class T>
constexpr bool sparse_forward_on_any() {
  return sparse_forward_on<T, Cpu>() || sparse_forward_on<T, Cuda>();
}
/// Clauses 1 and 2, by overloads.
template <class T>
concept HasSparseForms = NamesForwardSparse<T> && requires {
  requires std::is_integral_v<decltype(T::sparse_tensors)>;
  requires std::bool_constant<(T::sparse_tensors > 0)>::value;
};
}  // namespace detail

/// Clauses 1 and 2.
template <class T>
concept SparseOp = detail::HasSparseForms<T> || (detail::NamesForward<T> && detail::sparse_forward_on_any<T>());
/// Clause 3.
template <class T>
concept InfersStorage = requires(const T& op, Storages& storages) {
  { op.infer_storage(storages) } -> std::same_as<bool>;
};
/// Clause 4.
template <class T>
concept InfersGradientStorage = requires(const T& op, Storages& storages) {
  { op.infer_gradient_storage(storages) } -> std::same_as<bool>;
};

}  // namespace strop::inline v0
