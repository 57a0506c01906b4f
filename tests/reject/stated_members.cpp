// SPDX-License-Identifier: Apache-2.0
// reject: strop: infer_shape is void infer_shape(strop::Shapes& shapes) const
// reject: InferShapeOfInt
// reject: strop: infer_type is void infer_type(strop::Types& types) const
// reject: strop: infer_storage is bool infer_storage(strop::Storages& storages) const
// reject: InferStorageOfInt
// reject: strop: inplace is static constexpr strop::Share inplace[] = {{input, output}, ...}
// reject: strop: inplace gives pairs {input, output} of positions, from 0
// reject: strop: dtypes is a strop::DtypeSet, such as static constexpr auto dtypes = strop::floating | strop::integra
// reject: strop: notes names something that is no parameter, input or output of the operator
// reject: strop: range gives {parameter, low, high} with low <= high
// reject: strop: a map has no use for resources; a tensor operator's forward(ctx, in..., out...) has
// reject: strop: resources is a static constexpr strop::Resources or takes (std::span<const strop::Shape> inputs) and
#include <strop/op/diagnose.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;

struct InferShapeNotConst {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  void infer_shape(strop::Shapes&) const {}
#else
  void infer_shape(strop::Shapes&) {}
#endif
};
static_assert(strop::diagnose<InferShapeNotConst>());

struct InferShapeOfInt {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  void infer_shape(strop::Shapes&) const {}
#else
  void infer_shape(int) const {}
#endif
};
static_assert(strop::diagnose<InferShapeOfInt>());

struct InferTypeNotConst {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  void infer_type(strop::Types&) const {}
#else
  void infer_type(strop::Types&) {}
#endif
};
static_assert(strop::diagnose<InferTypeNotConst>());

struct InferStorageVoid {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  bool infer_storage(strop::Storages&) const { return false; }
#else
  void infer_storage(strop::Storages&) const {}
#endif
};
static_assert(strop::diagnose<InferStorageVoid>());

struct InferStorageOfInt {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  bool infer_storage(strop::Storages&) const { return false; }
#else
  bool infer_storage(int) const { return false; }
#endif
};
static_assert(strop::diagnose<InferStorageOfInt>());

struct InplaceNumber {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  static constexpr strop::Share inplace[] = {{0, 0}};
#else
  static constexpr int inplace = 3;
#endif
};
static_assert(strop::diagnose<InplaceNumber>());

struct InplaceOutOfRange {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  static constexpr strop::Share inplace[] = {{0, 0}};
#else
  static constexpr strop::Share inplace[] = {{0, 5}};
#endif
};
static_assert(strop::diagnose<InplaceOutOfRange>());

struct DtypesNumber {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  static constexpr auto dtypes = strop::f32;
#else
  static constexpr int dtypes = 3;
#endif
};
static_assert(strop::diagnose<DtypesNumber>());

struct NotesUnknown {
  float k = 1;
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  static constexpr strop::Note notes[] = {{"k", "what"}};
#else
  static constexpr strop::Note notes[] = {{"zz", "what"}};
#endif
};
static_assert(strop::diagnose<NotesUnknown>());

struct RangeReversed {
  float k = 1;
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  static constexpr strop::Range range[] = {{"k", 1, 3}};
#else
  static constexpr strop::Range range[] = {{"k", 5, 3}};
#endif
};
static_assert(strop::diagnose<RangeReversed>());

struct ResourcesOfMap {
  static constexpr strop::Resources resources{.random = true};
#if defined(CONTROL)
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#else
  constexpr auto forward(auto x) const { return 2 * x; }
#endif
};
static_assert(strop::diagnose<ResourcesOfMap>());

struct ResourcesNumber {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  static constexpr strop::Resources resources{.temp_bytes = 64};
#else
  static constexpr int resources = 64;
#endif
};
static_assert(strop::diagnose<ResourcesNumber>());
