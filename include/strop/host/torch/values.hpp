// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tensors and parameters of PyTorch as ours, and back.
#pragma once
#if __has_include(<torch/library.h>)
#include <strop/core/numbers.hpp>
#include <strop/engine/threads.hpp>
#include <strop/host/call.hpp>
#include <strop/host/torch/schema.hpp>

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include <string>
#include <vector>

namespace strop::inline v0::host::pytorch {

using Values = at::ArrayRef<c10::IValue>;
using TensorList = c10::SmallVector<at::Tensor, 4>;

inline Dtype dtype_of(std::string_view op, c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Byte:
      return u8;
    case c10::ScalarType::Char:
      return i8;
    case c10::ScalarType::Int:
      return i32;
    case c10::ScalarType::Long:
      return i64;
    case c10::ScalarType::Half:
      return f16;
    case c10::ScalarType::Float:
      return f32;
    case c10::ScalarType::Double:
      return f64;
    case c10::ScalarType::Bool:
      return boolean;
    case c10::ScalarType::BFloat16:
      return bf16;
    default:
      fail(op, ": there are no elements of type ", c10::toString(type));
  }
}
inline c10::ScalarType scalar_type(Dtype type) { return static_cast<c10::ScalarType>(detail::torch_number(type)); }

/// A tensor with its elements, which are row-major, or its shape and type alone.
inline Tensor described(std::string_view op, const at::Tensor& t, bool elements) {
  if (elements && !t.device().is_cpu()) fail(op, ": a tensor is on ", t.device().str(), ", expected cpu");
  Tensor made{{}, dtype_of(op, t.scalar_type()), elements ? t.data_ptr() : nullptr};
  for (const std::int64_t extent : t.sizes()) made.shape.push_back(extent);
  return made;
}

/// A new tensor of PyTorch's allocator.
inline at::Tensor new_tensor(const Shape& shape, Dtype dtype) {
  return at::Tensor(at::detail::empty_cpu({shape.data(), detail::unsigned_size(shape.ndim())}, scalar_type(dtype)));
}

/// Has our loops use as many threads as PyTorch's.
inline void follow_threads() {
  if (const int threads = at::get_num_threads(); threads != num_threads()) set_num_threads(threads);
}

/// A parameter as the text that ours are read from.
inline std::string text_of(const ParamKind kind, const c10::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isBool()) return value.toBool() ? "True" : "False";
  if (value.isInt() && kind == ParamKind::dtype)
    return std::string(name_of(dtype_of("dtype", static_cast<c10::ScalarType>(value.toInt()))));
  if (value.isInt()) return cat(value.toInt());
  if (value.isDouble()) return detail::print_real(value.toDouble());
  if (value.isString()) return value.toStringRef();
  if (!value.isList()) fail("a parameter is of type ", value.tagKind(), ", which no operator has");
  std::string list = "(";
  for (const c10::IValue& one : value.toListRef()) list += cat(text_of(kind, one), ',');
  return list + ")";
}

/// Sets a parameter of the most usual types without a text; false where it is of another.
inline bool set_directly(const detail::ValueType& type, void* to, const c10::IValue& value) {
  if (type.optional || type.required) return false;
  if (type.kind == ParamKind::real && type.name == "float" && type.size == sizeof(float) && value.isDouble()) {
    *static_cast<float*>(to) = static_cast<float>(value.toDouble());
    return std::isinf(*static_cast<float*>(to)) == std::isinf(value.toDouble());
  }
  if (type.kind == ParamKind::flag && value.isBool()) {
    *static_cast<bool*>(to) = value.toBool();
    return true;
  }
  return false;
}

/// Sets the parameters of an object that has its defaults; `defaults` are what PyTorch gives where nothing was said.
inline void set_params(const Entry& entry, void* object, Values values, Values defaults) {
  if (entry.params == nullptr) return;
  const detail::ParamTable& table = *entry.params;
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    const c10::IValue &value = values[i], &known = defaults[i];
    const detail::ValueType& type = *table.fields[i].type;
    if (value.isNone() && !type.optional) continue;
    if (value.isDouble() && known.isDouble() && value.toDouble() == known.toDouble()) continue;
    if (value.isInt() && known.isInt() && value.toInt() == known.toInt()) continue;
    if (value.isBool() && known.isBool() && value.toBool() == known.toBool()) continue;
    if (value.isNone() && known.isNone()) continue;
    if (set_directly(type, table.at(table, object, i), value)) continue;
    detail::set_param(entry.snake, table, object, table.fields[i].name, text_of(type.kind, value));
  }
}

}  // namespace strop::inline v0::host::pytorch
#endif
