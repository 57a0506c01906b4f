// SPDX-License-Identifier: Apache-2.0
/// \file
/// DLPack: memory that is shared, strided tensors that are copied, ownership, refusals.
#include <doctest/doctest.h>
#include <strop/tensor/create.hpp>
#include <strop/tensor/dlpack.hpp>
#include <strop/tensor/sparse.hpp>

#include <cstring>
#include <vector>

using namespace strop;

namespace {

/// A tensor as another library would make it; `released` counts calls of its deleter.
struct Foreign {
  std::vector<std::int64_t> shape, strides;
  dlpack::DLManagedTensor managed{};
  int released = 0;

  Foreign(void* data, std::vector<std::int64_t> extents, std::vector<std::int64_t> steps, Dtype dtype)
      : shape(std::move(extents)), strides(std::move(steps)) {
    managed.dl_tensor.data = data;
    managed.dl_tensor.device = {static_cast<decltype(managed.dl_tensor.device.device_type)>(1), 0};
    managed.dl_tensor.ndim = static_cast<std::int32_t>(shape.size());
    managed.dl_tensor.dtype = detail::dlpack_type(dtype);
    managed.dl_tensor.shape = shape.data();
    managed.dl_tensor.strides = strides.empty() ? nullptr : strides.data();
    managed.manager_ctx = this;
    managed.deleter = [](dlpack::DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->released; };
  }
};

}  // namespace

TEST_CASE("an exported tensor shares the array's memory and keeps it alive") {
  dlpack::DLManagedTensor* managed = nullptr;
  {
    const NDArray a = array({{1, 2, 3}, {4, 5, 6}});
    managed = to_dlpack(a);
    CHECK(managed->dl_tensor.data == a.bytes());
  }
  const dlpack::DLTensor& t = managed->dl_tensor;
  CHECK(t.ndim == 2);
  CHECK(t.shape[0] == 2);
  CHECK(t.shape[1] == 3);
  CHECK(t.strides[0] == 3);
  CHECK(t.strides[1] == 1);
  CHECK(t.dtype.code == 2);
  CHECK(t.dtype.bits == 32);
  CHECK(t.dtype.lanes == 1);
  CHECK(t.device.device_type == 1);
  CHECK(t.byte_offset == 0);
  CHECK(static_cast<float*>(t.data)[5] == 6);
  managed->deleter(managed);
}

TEST_CASE("all dtypes and ranks go out and come back to the same memory") {
  for (Dtype dtype : all_dtypes) {
    for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0, 2}, Shape{1, 1, 1, 1, 1, 1, 1, 2}}) {
      const NDArray a = full(shape, 1, dtype);
      const NDArray b = from_dlpack(to_dlpack(a)), c = from_dlpack(to_dlpack_versioned(a));
      for (const NDArray& back : {b, c}) {
        CHECK(back.dtype() == dtype);
        CHECK(back.shape() == shape);
        CHECK(back.bytes() == a.bytes());
      }
    }
  }
  const NDArray x = array({{1, 2}, {3, 4}});
  const NDArray row = detail::slice_rows(x, 1, 2);
  CHECK(from_dlpack(to_dlpack(row)).to_vector<int>() == std::vector<int>{3, 4});
}

TEST_CASE("a compact tensor is shared until the last array is gone") {
  float data[] = {1, 2, 3, 4, 5, 6, 7};
  Foreign foreign(data, {2, 1, 3}, {3, 77, 1}, f32);  // the stride of an axis of extent 1 means nothing
  foreign.managed.dl_tensor.byte_offset = 4;
  {
    const NDArray a = from_dlpack(&foreign.managed);
    CHECK(a.bytes() == reinterpret_cast<std::byte*>(data + 1));
    CHECK(a.to_vector<int>() == std::vector<int>{2, 3, 4, 5, 6, 7});
    const NDArray part = detail::slice_rows(a, 0, 1);
    CHECK(foreign.released == 0);
  }
  CHECK(foreign.released == 1);
  Foreign plain(data, {7}, {}, f32);
  CHECK(from_dlpack(&plain.managed).to_vector<int>().back() == 7);
  CHECK(plain.released == 1);
  plain.managed.deleter = nullptr;
  CHECK(from_dlpack(&plain.managed).size() == 7);
}

TEST_CASE("other layouts are copied and given back at once") {
  std::int32_t data[] = {0, 1, 2, 3, 4, 5};
  Foreign columns(data, {3, 2}, {1, 3}, i32);
  const NDArray a = from_dlpack(&columns.managed);
  CHECK(columns.released == 1);
  CHECK(a.to_vector<int>() == std::vector<int>{0, 3, 1, 4, 2, 5});
  Foreign backwards(data + 5, {6}, {-1}, i32);
  CHECK(from_dlpack(&backwards.managed).to_vector<int>() == std::vector<int>{5, 4, 3, 2, 1, 0});
  Foreign repeated(data + 3, {2, 2}, {0, 1}, i32);
  CHECK(from_dlpack(&repeated.managed).to_vector<int>() == std::vector<int>{3, 4, 3, 4});
  char bytes[13];
  std::memcpy(bytes + 1, data, 12);
  Foreign crooked(bytes + 1, {3}, {}, i32);  // one of the two is not aligned
  CHECK(from_dlpack(&crooked.managed).to_vector<int>() == std::vector<int>{0, 1, 2});
  Foreign odd(bytes, {2}, {}, i32);
  odd.managed.dl_tensor.byte_offset = 2;
  CHECK(from_dlpack(&odd.managed).size() == 2);
  CHECK(odd.released == 1);

  float value = 3;
  int released = 0;
  dlpack::DLManagedTensorVersioned fixed{};
  fixed.version = {1, 1};
  fixed.flags = 1;
  fixed.manager_ctx = &released;
  fixed.deleter = [](dlpack::DLManagedTensorVersioned* self) { ++*static_cast<int*>(self->manager_ctx); };
  fixed.dl_tensor.data = &value;
  fixed.dl_tensor.device = {static_cast<decltype(fixed.dl_tensor.device.device_type)>(1), 0};
  fixed.dl_tensor.dtype = detail::dlpack_type(f32);
  const NDArray copy = from_dlpack(&fixed);
  CHECK(copy.bytes() != reinterpret_cast<std::byte*>(&value));
  CHECK(copy.item<int>() == 3);
  CHECK(released == 1);
}

TEST_CASE("refusals leave the tensor to the caller") {
  CHECK_THROWS_WITH_AS(
      to_dlpack(zeros({2, 2}, csr)),
      "strop: to_dlpack() takes a dense array, this one is csr: export its data(), indices() and indptr()", Error);
  CHECK_THROWS_AS(to_dlpack(NDArray()), Error);
  CHECK_THROWS_AS(to_dlpack(NDArray::shell({2}, f32)), Error);
  CHECK_THROWS_AS(from_dlpack(static_cast<dlpack::DLManagedTensor*>(nullptr)), Error);
  float data[2] = {};
  Foreign foreign(data, {2}, {}, f32);
  const auto refused = [&](const char* sentence) {
    CHECK_THROWS_WITH_AS(from_dlpack(&foreign.managed), sentence, Error);
  };
  foreign.managed.dl_tensor.dtype.lanes = 4;
  refused("strop: from_dlpack(): elements of type code 2, 32 bits and 4 lanes are none of ours");
  foreign.managed.dl_tensor.dtype = {5, 64, 1};
  refused("strop: from_dlpack(): elements of type code 5, 64 bits and 1 lanes are none of ours");
  foreign.managed.dl_tensor.dtype = detail::dlpack_type(f32);
  foreign.managed.dl_tensor.device.device_type = static_cast<decltype(foreign.managed.dl_tensor.device.device_type)>(7);
  refused("strop: from_dlpack(): memory of device kind 7; the CPU (1), CUDA (2) and pinned memory (3) are read");
  foreign.managed.dl_tensor.device.device_type = static_cast<decltype(foreign.managed.dl_tensor.device.device_type)>(2);
  foreign.managed.dl_tensor.byte_offset = 1;
  refused(
      "strop: from_dlpack(): an array on gpu(0) that is not aligned to its elements cannot be shared: copy it first");
  foreign.managed.dl_tensor.byte_offset = 0;
  foreign.managed.dl_tensor.device.device_type = static_cast<decltype(foreign.managed.dl_tensor.device.device_type)>(1);
  foreign.shape[0] = -1;
  refused("strop: an array cannot have extent -1 along axis 0");
  foreign.shape[0] = 2;
  foreign.managed.dl_tensor.data = nullptr;
  refused("strop: from_dlpack(): a null pointer with shape (2,)");
  CHECK(foreign.released == 0);
}

TEST_CASE("bools of another library are any number but 0: such memory is copied") {
  std::vector<std::uint8_t> bytes{0, 1, 2, 255};
  Foreign odd(bytes.data(), {4}, {}, boolean);
  const NDArray copied = from_dlpack(&odd.managed);
  CHECK(odd.released == 1);
  CHECK(std::memcmp(copied.bytes(), "\0\1\1\1", 4) == 0);
  CHECK(bytes[3] == 255);
  bytes = {0, 1, 1, 0};
  Foreign plain(bytes.data(), {4}, {}, boolean);
  CHECK(from_dlpack(&plain.managed).bytes() == reinterpret_cast<std::byte*>(bytes.data()));
  CHECK(plain.released == 1);
}
