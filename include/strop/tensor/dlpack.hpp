// SPDX-License-Identifier: Apache-2.0
/// \file
/// Exchange of arrays with other libraries through DLPack, without a copy where the layout permits.
#pragma once
#include <strop/core/list.hpp>
#include <strop/tensor/ndarray.hpp>
#include <strop/tensor/strided.hpp>
#include <strop/tensor/traced.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// The structures of DLPack 1.0: its own where `dlpack/dlpack.h` is included first, else declared here with the same
/// layout and names.
namespace dlpack {
#ifdef DLPACK_DLPACK_H_
using ::DLDataType;
using ::DLDevice;
using ::DLManagedTensor;
using ::DLTensor;
#else
struct DLDevice {
  std::int32_t device_type;
  std::int32_t device_id;
};
struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null where the elements are row-major without gaps
  std::uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
#endif
#if defined(DLPACK_DLPACK_H_) && defined(DLPACK_FLAG_BITMASK_READ_ONLY)
using ::DLManagedTensorVersioned;
using ::DLPackVersion;
#else
struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;  // bit 0: read only
  DLTensor dl_tensor;
};
#endif
static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, byte_offset) == 40 && sizeof(DLManagedTensor) == 64);
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32 && sizeof(DLManagedTensorVersioned) == 80);
}  // namespace dlpack

namespace detail {

// Numbers of DLPack's enumerations.
inline constexpr std::int32_t dlpack_cpu = 1, dlpack_cuda = 2, dlpack_cuda_host = 3;
inline constexpr std::uint8_t dlpack_int = 0, dlpack_uint = 1, dlpack_float = 2, dlpack_bfloat = 4, dlpack_bool = 6;

inline dlpack::DLDataType dlpack_type(Dtype dtype) {
  const std::uint8_t code = dtype == boolean     ? dlpack_bool
                            : dtype == bf16      ? dlpack_bfloat
                            : is_floating(dtype) ? dlpack_float
                            : dtype == Dtype::u8 ? dlpack_uint
                                                 : dlpack_int;
  return {code, static_cast<std::uint8_t>(size_of(dtype) * 8), 1};
}

inline Dtype dtype_from_dlpack(const dlpack::DLDataType& type) {
  for (Dtype dtype : all_dtypes) {
    const dlpack::DLDataType ours = dlpack_type(dtype);
    if (ours.code == type.code && ours.bits == type.bits && type.lanes == 1) return dtype;
  }
  fail("strop: from_dlpack(): elements of type code ", type.code, ", ", type.bits, " bits and ", type.lanes,
       " lanes are none of ours");
}

/// A managed tensor with what it refers to; `array` keeps the memory.
template <class Managed>
struct DlpackExport {
  Managed managed{};
  NDArray array;
  std::vector<std::int64_t> shape, strides;
};

template <class Managed>
Managed* export_dlpack(const NDArray& a) {
  if (!a.defined()) fail("strop: to_dlpack() of a handle without an array");
  if (a.storage() != dense)
    fail("strop: to_dlpack() takes a dense array, this one is ", name_of(a.storage()),
         ": export its data(), indices() and indptr()");
  if (Pending* const order = a.pending()) order->wait(true);  // also for readers: who takes it may write
  a.wait();
  check_filled(a);
  a.body().buffer->lend();
  auto* out = new DlpackExport<Managed>;
  out->array = a.detach();
  out->shape.assign(a.shape().begin(), a.shape().end());
  out->strides.assign(out->shape.size(), 1);
  for (std::size_t i = out->shape.size(); i-- > 1;) out->strides[i - 1] = out->strides[i] * out->shape[i];
  dlpack::DLTensor& tensor = out->managed.dl_tensor;
  tensor.data = a.bytes();
  tensor.device.device_type =
      static_cast<decltype(tensor.device.device_type)>(a.device().kind == DeviceKind::cpu ? dlpack_cpu : dlpack_cuda);
  tensor.device.device_id = a.device().id;
  tensor.ndim = a.ndim();
  tensor.dtype = dlpack_type(a.dtype());
  tensor.shape = out->shape.data();
  tensor.strides = out->strides.data();
  tensor.byte_offset = 0;
  out->managed.manager_ctx = out;
  out->managed.deleter = [](Managed* self) { delete static_cast<DlpackExport<Managed>*>(self->manager_ctx); };
  return &out->managed;
}

/// Whether bytes are all those of a bool, 0 or 1; other libraries take every other number for true.
inline bool are_bools(const std::byte* bytes, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    if (bytes[i] > std::byte{1}) return false;
  return true;
}

/// Whether elements are row-major without gaps, so that the memory can be shared as it is.
inline bool is_compact(const dlpack::DLTensor& tensor, const Shape& shape) {
  if (tensor.strides == nullptr || shape.size() == 0) return true;
  std::int64_t expected = 1;
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    if (shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

template <class Managed>
NDArray import_dlpack(Managed* managed, bool read_only) {
  const dlpack::DLTensor& tensor = managed->dl_tensor;
  const auto kind = static_cast<std::int32_t>(tensor.device.device_type);
  if (kind != dlpack_cpu && kind != dlpack_cuda && kind != dlpack_cuda_host)
    fail("strop: from_dlpack(): memory of device kind ", kind,
         "; the CPU (1), CUDA (2) and pinned memory (3) are read");
  if (tensor.ndim < 0 || tensor.ndim > 64 || (tensor.ndim > 0 && tensor.shape == nullptr))
    fail("strop: from_dlpack(): an array of ", tensor.ndim, " dimensions, or without extents");
  const Dtype dtype = dtype_from_dlpack(tensor.dtype);
  Shape shape = Shape::filled(tensor.ndim, 0);
  for (int axis = 0; axis < tensor.ndim; ++axis) shape[axis] = tensor.shape[axis];
  const std::int64_t bytes = byte_count(shape, dtype), width = size_of(dtype);
  if (bytes != 0 && tensor.data == nullptr) fail("strop: from_dlpack(): a null pointer with shape ", shape);
  const Device device = kind == dlpack_cuda ? gpu(tensor.device.device_id) : cpu();
  auto* data = static_cast<std::byte*>(tensor.data) + (bytes == 0 ? 0 : tensor.byte_offset);
  const bool compact = is_compact(tensor, shape),
             aligned = reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(width) == 0;
  NDArray out = NDArray::shell(shape, dtype, device);
  const bool sound = dtype != boolean || device.kind != DeviceKind::cpu || (compact && are_bools(data, bytes));
  if (compact && aligned && !read_only && sound) {
    const auto release = [](void* context, void*) noexcept {
      auto* self = static_cast<Managed*>(context);
      if (self->deleter != nullptr) self->deleter(self);
    };
    out.body().buffer = Ref(new Buffer(device, bytes, data, release, managed));
    return out;
  }
  if (device.kind != DeviceKind::cpu)
    fail("strop: from_dlpack(): an array on ", to_text(device), " that is ",
         read_only  ? "read only"
         : !compact ? "not row-major without gaps"
                    : "not aligned to its elements",
         " cannot be shared: copy it first");
  out.allocate();
  detail::List<std::int64_t> strides(shape.ndim() + 1);
  std::int64_t row_major = width;
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    strides[axis] = tensor.strides == nullptr ? row_major : tensor.strides[axis] * width;
    row_major *= shape[axis];
  }
  gather_strided(data, shape, strides.data(), width, out.bytes());
  if (dtype == boolean)
    for (std::int64_t i = 0; i < bytes; ++i) out.bytes()[i] = std::byte{out.bytes()[i] != std::byte{0}};
  if (managed->deleter != nullptr) managed->deleter(managed);
  return out;
}

}  // namespace detail

/// A DLPack tensor of a dense array's memory. Whoever takes it calls its deleter once; until then the memory lives.
///
/// Who only reads the tensor may do so at any time after the call. Nobody sees who writes into it: wait until nothing
/// is computed from the array (Engine::global().wait_idle(x.variable())), and do not write between record and backward
/// what a gradient reads, which backward does not notice. A write through x.view<E>() is noticed.
inline dlpack::DLManagedTensor* to_dlpack(const NDArray& a) {
  detail::leave_trace("to_dlpack()");
  return detail::export_dlpack<dlpack::DLManagedTensor>(a);
}
/// The same in the form of DLPack 1.0.
inline dlpack::DLManagedTensorVersioned* to_dlpack_versioned(const NDArray& a) {
  detail::leave_trace("to_dlpack_versioned()");
  auto* managed = detail::export_dlpack<dlpack::DLManagedTensorVersioned>(a);
  managed->version = {1, 0};
  managed->flags = 0;
  return managed;
}

/// An array over a DLPack tensor's memory: its deleter is called with the last array. A tensor on the CPU that is not
/// row-major without gaps, not aligned to its elements, or of bools that are not all 0 or 1, is copied, and its deleter
/// called at once.
///
/// Errors: a dtype, device or layout that is none of ours. The tensor then stays the caller's.
inline NDArray from_dlpack(dlpack::DLManagedTensor* managed) {
  if (managed == nullptr) fail("strop: from_dlpack() of a null pointer");
  return detail::import_dlpack(managed, false);
}
/// The same for the form of DLPack 1.0; read-only memory on the CPU is copied.
inline NDArray from_dlpack(dlpack::DLManagedTensorVersioned* managed) {
  if (managed == nullptr) fail("strop: from_dlpack() of a null pointer");
  if (managed->version.major != 1)
    fail("strop: from_dlpack(): version ", managed->version.major, ".", managed->version.minor, " is not version 1");
  return detail::import_dlpack(managed, (managed->flags & 1) != 0);
}

}  // namespace strop::inline v0
