// SPDX-License-Identifier: Apache-2.0
/// \file
/// NDArray's members that need no later layer.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/config.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/device_work.hpp>
#include <strop/tensor/ndarray.hpp>
#include <strop/tensor/order.hpp>
#include <strop/tensor/traced.hpp>

namespace strop::inline v0 {

namespace detail {
STROP_IMPL void check_handle(const NDArray& a, std::string_view member) {
  if (!a.defined()) fail("strop: ", member, "() of a handle without an array");
}
}  // namespace detail

STROP_IMPL NDArray NDArray::fresh_shell(const Shape& shape, Dtype dtype, Device device, Storage storage) {
  auto* body = new detail::Body;
  NDArray a{detail::Ref<detail::Body>(body)};
  body->shape = shape;
  body->dtype = dtype;
  body->storage = storage;
  body->device = device;
  return a;
}

STROP_IMPL NDArray NDArray::shell(const Shape& shape, Dtype dtype, Device device) {
  return fresh_shell(shape, dtype, device, dense);
}

STROP_IMPL NDArray NDArray::shell(const Shape& shape, Dtype dtype, Device device, Storage storage) {
  if (storage != dense) detail::install_sparse();
  return fresh_shell(shape, dtype, device, storage);
}

STROP_IMPL NDArray NDArray::fresh(const Shape& shape, Dtype dtype, Device device) {
  NDArray a = shell(shape, dtype, device);
  a.allocate();
  return a;
}

STROP_IMPL NDArray::NDArray(const Shape& shape, Dtype dtype, Device device) : NDArray(fresh(shape, dtype, device)) {
  detail::install_order();
}

STROP_IMPL NDArray::NDArray(const Shape& shape, Dtype dtype, Device device, Storage storage)
    : NDArray(shell(shape, dtype, device, storage)) {
  if (storage == dense) {
    allocate();
  } else {
    allocate_stored(0);
  }
}

STROP_IMPL void NDArray::allocate() const {
  detail::check_handle(*this, "allocate");
  if (body_->buffer) return;
  body_->buffer = detail::Ref(new detail::Buffer(device(), detail::byte_count(shape(), dtype())));
  body_->offset = 0;
}

STROP_IMPL void NDArray::allocate_stored(std::int64_t count) const {
  detail::check_handle(*this, "allocate_stored");
  detail::checked_count(shape());  // what is stored may be few, and elements are numbered all the same
  if (storage() == csr && ndim() != 2) fail("strop: a CSR array has 2 dimensions, not shape ", shape());
  if (storage() == row_sparse && ndim() == 0) fail("strop: a row-sparse array has 1 dimension or more, not shape ()");
  detail::Body& b = *body_;
  const std::int64_t width = b.storage == csr ? 1 : b.shape.size(1, b.shape.ndim());
  const std::int64_t elements = detail::checked_product(count, width, "strop: values of a sparse array");
  b.buffer = detail::Ref(new detail::Buffer(
      b.device, detail::checked_product(elements, size_of(b.dtype), "strop: bytes of a sparse array")));
  b.offset = 0;
  b.indices = fresh(Shape{count}, i64, b.device).body_ref();
  if (b.storage == csr) {
    const NDArray rows = fresh(Shape{detail::checked_sum(b.shape[0], 1, "strop: rows of a CSR array")}, i64, b.device);
    if (count == 0) {
      detail::DeviceWork work(b.device);
      work.writes(rows);
      memory::detail::clear_bytes(b.device, rows.bytes(), (b.shape[0] + 1) * 8);
    }
    b.indptr = rows.body_ref();
  }
}

STROP_IMPL void NDArray::wait_on_gpu() const {
  memory::detail::GpuStream& stream = memory::detail::current_stream(device());  // or the sentence of a missing device
  for (const detail::Body* part : {body_.get(), body_->indices.get(), body_->indptr.get()}) {
    memory::detail::GpuBlock* const block = part != nullptr && part->buffer ? part->buffer->on_gpu() : nullptr;
    if (block == nullptr) continue;
    block->wait();
    // What others do with the memory nobody says, but that it is on the stream that they are told.
    if (part->buffer->is_lent() || part->buffer->is_foreign()) stream.wait(stream.mark());
  }
  memory::detail::gpu_devices[device().id].collect();
}

STROP_IMPL std::int64_t NDArray::stored() const {
  detail::check_handle(*this, "stored");
  if (storage() == dense) return size();
  const std::int64_t count = body_->indices ? body_->indices->shape[0] : 0;
  return storage() == csr ? count : count * shape().size(1, ndim());
}

STROP_IMPL std::int64_t NDArray::nnz() const {
  detail::check_handle(*this, "nnz");
  return storage() == dense ? size() : body_->indices ? body_->indices->shape[0] : 0;
}

STROP_IMPL NDArray NDArray::data() const {
  detail::check_handle(*this, "data");
  if (storage() == dense) return *this;
  Shape values{nnz()};
  if (storage() == row_sparse)
    for (int i = 1; i < ndim(); ++i) values.push_back(shape()[i]);
  NDArray part = shell(values, dtype(), device());
  part.body().buffer = body_->buffer;
  part.body().offset = body_->offset;
  return part;
}

STROP_IMPL NDArray NDArray::indices() const {
  detail::check_handle(*this, "indices");
  if (storage() == dense) fail("strop: indices() is for sparse arrays; this one is dense ", shape());
  return NDArray(body_->indices);
}

STROP_IMPL NDArray NDArray::indptr() const {
  detail::check_handle(*this, "indptr");
  if (storage() != csr) fail("strop: indptr() is for CSR arrays; this one is ", name_of(storage()));
  return NDArray(body_->indptr);
}

STROP_IMPL NDArray NDArray::copy() const {
  detail::check_handle(*this, "copy");
  NDArray out = fresh_shell(shape(), dtype(), device(), storage());
  detail::Body& b = out.body();
  if (body_->buffer) {
    const std::int64_t bytes = stored() * size_of(dtype());
    b.buffer = detail::Ref(new detail::Buffer(device(), bytes));
    detail::copy_between(out, b.buffer->data(), *this, this->bytes(), bytes);
  }
  if (body_->indices) b.indices = detail::copied_by_all(NDArray(body_->indices)).body_ref();
  if (body_->indptr) b.indptr = detail::copied_by_all(NDArray(body_->indptr)).body_ref();
  if (storage() != dense) detail::leave_trace("copy() of a sparse array", "it is no operator");
  if (const detail::ArrayTracer* const tracer = detail::watching()) tracer->derived(*this, out, 0, false);
  return out;
}

STROP_IMPL NDArray NDArray::detach() const {
  detail::check_handle(*this, "detach");
  auto* body = new detail::Body(*body_);
  NDArray out{detail::Ref<detail::Body>(body)};
  body->gradient_node = nullptr;
  body->leaf = nullptr;
  if (const detail::ArrayTracer* const tracer = detail::watching()) tracer->derived(*this, out, 0, false);
  return out;
}

namespace detail {

/// The same elements under another shape with as many of them; dense, without history.
STROP_IMPL NDArray view_as(const NDArray& a, const Shape& shape) {
  NDArray view = a.detach();
  view.body().shape = shape;
  return view;
}

/// The view that names an array's elements as E; dtype and storage are checked.
STROP_IMPL void check_view(const NDArray& a, Dtype wanted, int rank) {
  if (!a.defined()) fail("strop: view() of a handle without an array");
  if (a.storage() != dense)
    fail("strop: view() takes a dense array, this one is ", name_of(a.storage()), "; use data()");
  if (a.device().kind != DeviceKind::cpu)
    fail("strop: view() takes an array on the CPU, this one is on ", to_text(a.device()), "; use to(strop::cpu())");
  if (a.dtype() != wanted) fail("strop: view<", name_of(wanted), ">() of an array of ", name_of(a.dtype()));
  if (rank != any_rank && a.ndim() != rank) fail("strop: view() of rank ", rank, " of an array of shape ", a.shape());
}

}  // namespace detail
}  // namespace strop::inline v0
