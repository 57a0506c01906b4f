// SPDX-License-Identifier: Apache-2.0
/// \file
/// Cast, cast_storage and _CrossDeviceCopy: other element types, storages, devices; NDArray::to is written with them.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/tensor/cast.hpp>

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace strop::inline v0 {

namespace detail {

/// A storage as text: dense is "default", as MXNet says.
template <>
struct Text<Storage> {
  static constexpr std::string_view name = "{'default', 'row_sparse', 'csr'}";
  static constexpr ParamKind kind = ParamKind::enumeration;
  static constexpr std::string_view words[] = {"default", "row_sparse", "csr"};
  static bool parse(Storage& value, std::string_view text) {
    if (text == "default") return value = dense, true;
    if (text == "row_sparse") return value = row_sparse, true;
    return text == "csr" && (value = csr, true);
  }
  static std::string print(Storage value) { return value == dense ? "default" : std::string(name_of(value)); }
};

}  // namespace detail

/// Shape and storage stay (a sparse array keeps its structure).
///
/// Floating to integer truncates towards zero and saturates, NaN becomes 0; to a narrower integer wraps; to bool is
/// "not zero". Error: no dtype is given.
///
/// Example: `cast(array({1.7, -2.5}), {.dtype = i32})` is [1, -2].
struct Cast {
  Required<Dtype> dtype = {};

  static constexpr std::string_view aliases[] = {"_npi_cast", "_npx_cast"};
  static constexpr const char* doc =
      "The elements converted to another type; shape and storage stay. Floating to integer truncates towards zero and "
      "saturates, to bool is 'not zero'. The gradient is the head gradient in the input's type.";
  static constexpr Note notes[] = {{"dtype", "the element type of the result"},
                                   {"data", "an array of any type and storage"}};
  static constexpr Share inplace[] = {{0, 0}};

  constexpr void infer_type(Types& types) const { types.set_out(0, *dtype); }
  constexpr bool infer_storage(Storages& storages) const { return storages.set_out(0, storages.in(0)); }
  constexpr bool infer_gradient_storage(Storages& storages) const { return storages.set_out(0, storages.in(0)); }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  void grad_use_none(Cpu&, const NDArray& dy, NDArray& dx) const;
};
template <>
inline constexpr bool detail::reads_any_index<Cast> = true;
template <>
inline constexpr bool detail::zero_unless_stored<Cast> = true;
inline constexpr Op<Cast, OnUse> cast;

/// Error: another number of dimensions.
///
/// Example: `cast_storage(array({{0, 1}, {2, 0}}), {.stype = csr})` stores [1, 2].
struct CastStorage {
  Required<Storage> stype = {};

  static constexpr std::string_view name = "cast_storage";
  static constexpr std::string_view aliases[] = {"_sparse_cast_storage"};
  static constexpr const char* doc =
      "The same array in another storage: default (dense), row_sparse or csr. From dense, what is zero is not stored; "
      "csr takes 2 dimensions, row_sparse 1 or more. The gradient is the head gradient.";
  static constexpr Note notes[] = {{"stype", "the storage of the result"},
                                   {"data", "an array of any type and storage"}};

  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_out(0, shapes.in(0));
    shapes.set_in(0, shapes.out(0));
    if (*stype == csr) shapes.expect_rank(0, 2);
    if (*stype == row_sparse && shapes.in(0).has_rank() && shapes.in(0).ndim() == 0)
      shapes.fail(shapes.name_in(0), " has no dimension, expected 1 or more for row_sparse");
  }
  constexpr bool infer_storage(Storages& storages) const { return storages.set_out(0, stype); }
  /// The gradient may have any storage; where that is open it keeps the head gradient's.
  constexpr bool infer_gradient_storage(Storages& storages) const {
    return storages.out(0) || storages.set_out(0, storages.in(0));
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  void grad_use_none(Cpu&, const NDArray& dy, NDArray& dx) const;
};
template <>
inline constexpr bool detail::reads_any_index<CastStorage> = true;
inline constexpr Op<CastStorage, OnUse> cast_storage;

/// _CrossDeviceCopy: a copy of an array of any type and storage; `x.to(device)` is recorded as one. In a graph, which
/// lies on one device, both stay there.
///
/// Example: `cross_device_copy(array({1, 2}))` is [1, 2].
struct CrossDeviceCopy {
  static constexpr std::string_view name = "_CrossDeviceCopy", aliases[] = {"_copyto", "cross_device_copy"};
  static constexpr const char* doc =
      "A copy of the input, of its type and storage; what a copy to another device is recorded as. The gradient is the "
      "head gradient, on the device of the input.";
  static constexpr Note notes[] = {{"data", "an array of any type and storage"}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  constexpr bool infer_storage(Storages& storages) const { return storages.set_out(0, storages.in(0)); }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const {
    if constexpr (requires { x.device(); })
      return dy.to(x.device());
    else
      return Op<CrossDeviceCopy, OnUse>{}(dy);
  }
};
template <>
inline constexpr bool detail::reads_any_index<CrossDeviceCopy> = true;
inline constexpr Op<CrossDeviceCopy, OnUse> cross_device_copy;

// Templates, so that a program builds the conversions that it calls.
namespace detail {
/// Records that an array was copied to another device, which made `to`.
template <std::same_as<Device> D>
void record_copy(const NDArray& from, NDArray& to) {
  if (call_mode.recorder == nullptr || to.is(from)) return;
  const std::array<const NDArray*, 1> in{&from};
  static constexpr CrossDeviceCopy copy;
  using Copying = Op<std::conditional_t<std::same_as<D, Device>, CrossDeviceCopy, void>, OnUse>;
  call_mode.recorder->record(Copying::entry(), &copy, in, std::span<NDArray>(&to, 1), nullptr, {});
}
}  // namespace detail

template <std::same_as<Dtype> D>
NDArray NDArray::to(D dtype) const {
  if (!defined()) fail("strop: to() of a handle without an array");
  return dtype == this->dtype() ? *this : cast(*this, {.dtype = dtype});
}

template <std::same_as<Storage> S>
NDArray NDArray::to(S storage) const {
  if (!defined()) fail("strop: to() of a handle without an array");
  return storage == this->storage() ? *this : strop::cast_storage(*this, {.stype = storage});
}

template <std::same_as<Device> D>
NDArray NDArray::to(D device) const {
  if (!defined()) fail("strop: to() of a handle without an array");
  NDArray out = detail::on_device(*this, device);
  detail::record_copy<D>(*this, out);
  return out;
}

using CastOps = OpList<Cast, CastStorage, CrossDeviceCopy>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/cast_body.hpp>
#endif
