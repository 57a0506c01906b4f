// SPDX-License-Identifier: Apache-2.0
// reject: strop: same_shape is a static constexpr bool
// reject: strop: same_shape is a map's: a tensor operator says what shapes it takes with infer_shape
// reject: strop: forward_sparse<E>(ctx, in..., out...) and static constexpr int sparse_tensors, how many tensors it
// reject: UncountedAlone
// reject: strop: an operator with forward_sparse states infer_storage, which says when its overloads are called
// reject: strop: sparse_tensors is the number of all inputs and outputs
// reject: strop: a map's sparse forms follow from its body; forward_sparse is a tensor operator's
// reject: strop: infer_gradient_storage is bool infer_gradient_storage(strop::Storages& storages) const
// reject: strop: accumulates is a static constexpr bool
// reject: strop: gradient_accumulates is a static constexpr bool
// reject: strop: a map has no use for accumulates: its results are added as they are computed
#include <strop/op/diagnose.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;

struct SameShape {
#if defined(CONTROL)
  static constexpr bool same_shape = true;
#else
  static constexpr int same_shape = 1;
#endif
  constexpr auto forward(auto x, auto y) const { return x * y; }
};
static_assert(strop::diagnose<SameShape>());

struct SameShapeOfTensors {
#if !defined(CONTROL)
  static constexpr bool same_shape = true;
#endif
  void forward(Cpu&, View<const float, 1>, View<float, 1>) const {}
};
static_assert(strop::diagnose<SameShapeOfTensors>());

struct Uncounted {
  bool infer_storage(strop::Storages& s) const { return s.in(0) == strop::csr; }
#if defined(CONTROL)
  static constexpr int sparse_tensors = 2;
#endif
  void forward(Cpu&, View<const float, 1>, View<float, 1>) const {}
  template <Real E>
  void forward_sparse(Cpu&, strop::CsrView<const E>, View<E, 2>) const {}
};
static_assert(strop::diagnose<Uncounted>());

struct UncountedAlone {
  static constexpr std::string_view inputs[] = {"x"};
#if defined(CONTROL)
  static constexpr std::size_t sparse_tensors = 2;
#endif
  bool infer_storage(strop::Storages& s) const { return s.in(0) == strop::csr; }
  template <Real E>
  void forward_sparse(Cpu&, strop::CsrView<const E>, View<E, 2>) const {}
};
static_assert(strop::diagnose<UncountedAlone>());

struct Miscounted {
#if defined(CONTROL)
  static constexpr int sparse_tensors = 2;
#else
  static constexpr int sparse_tensors = 3;
#endif
  bool infer_storage(strop::Storages& s) const { return s.in(0) == strop::csr; }
  void forward(Cpu&, View<const float, 2>, View<float, 2>) const {}
  template <Real E>
  void forward_sparse(Cpu&, strop::CsrView<const E>, View<E, 2>) const {}
};
static_assert(strop::diagnose<Miscounted>());

struct NeverCalled {
  static constexpr int sparse_tensors = 2;
#if defined(CONTROL)
  bool infer_storage(strop::Storages& s) const { return s.in(0) == strop::csr; }
#endif
  void forward(Cpu&, View<const float, 2>, View<float, 2>) const {}
  template <Real E>
  void forward_sparse(Cpu&, strop::CsrView<const E>, View<E, 2>) const {}
};
static_assert(strop::diagnose<NeverCalled>());

struct SparseMap {
  constexpr auto forward(auto x) const { return 2 * x; }
#if !defined(CONTROL)
  static constexpr int sparse_tensors = 2;
  template <Real E>
  void forward_sparse(Cpu&, strop::CsrView<const E>, View<E, 2>) const {}
#endif
};
static_assert(strop::diagnose<SparseMap>());

struct OfGradients {
  void forward(Cpu&, View<const float, 1>, View<float, 1>) const {}
  void grad_use_none(Cpu&, View<const float, 1>, View<float, 1>) const {}
#if defined(CONTROL)
  static constexpr bool accumulates = true, gradient_accumulates = true;
  bool infer_gradient_storage(strop::Storages&) const { return true; }
#else
  static constexpr int accumulates = 1, gradient_accumulates = 1;
  bool infer_gradient_storage(int) const { return true; }
#endif
};
static_assert(strop::diagnose<OfGradients>());

struct AddingMap {
  constexpr auto forward(auto x) const { return 2 * x; }
#if !defined(CONTROL)
  static constexpr bool accumulates = true;
#endif
};
static_assert(strop::diagnose<AddingMap>());
