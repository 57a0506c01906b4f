// SPDX-License-Identifier: Apache-2.0
/// \file
/// Views of an array that remember where they came from: slice, index, reshape, copy.
#pragma once
#include <strop/autograd/function.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/autograd/views.hpp>
#include <strop/core/config.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/reshape_codes.hpp>

namespace strop::inline v0 {
namespace detail {

/// The gradient of a view goes back to the array, zero outside the view.
class ViewStep : public Function {
 public:
  ViewStep(NDArray whole, std::int64_t first_element) : whole_(std::move(whole)), first_(first_element) {}
  std::vector<NDArray> forward(std::span<const NDArray>) override { return {}; }
  std::vector<NDArray> backward(std::span<const NDArray> heads) override {
    const NDArray& head = heads[0];
    if (head.size() == whole_.size()) return {head.reshape(whole_.shape())};
    const NDArray gradient(whole_.shape(), whole_.dtype(), whole_.device());
    const auto size = size_of(whole_.dtype());
    clear(gradient, whole_.size() * size);
    memory::detail::copy_bytes(gradient.device(), gradient.bytes() + first_ * size, head.device(), head.bytes(),
                               head.size() * size);
    return {gradient};
  }

 private:
  NDArray whole_;  // a shell
  std::int64_t first_;
};

/// Hangs the view on the array's history, where one is being written.
STROP_IMPL NDArray linked_view(const NDArray& whole, NDArray view, std::int64_t first_element = 0) {
  if (call_mode.tracer != nullptr) call_mode.tracer->derived(whole, view, first_element, true);
  if (recording() == nullptr || !is_tracked(whole) || whole.storage() != dense) return view;
  auto* node = new TapeNode;
  const Ref<Lineage> owner(node);
  node->function = Ref<Function>(new ViewStep(shell_of(whole), first_element));
  node->inputs.resize(1);
  fill_input(node->inputs[0], whole, false);
  node->outputs.resize(1);
  link_output(*node, owner, 0, view, false);
  return view;
}

}  // namespace detail

STROP_IMPL NDArray NDArray::slice(std::int64_t begin, std::int64_t end) const {
  if (!*this) fail("slice: a handle without an array");
  if (ndim() == 0) fail("slice: an array without dimensions has no first axis");
  const std::int64_t rows = shape()[0], asked_begin = begin, asked_end = end;
  if (begin < 0) begin += rows;
  if (end < 0) end += rows;
  if (begin < 0 || end > rows || begin > end)
    fail("slice: [", asked_begin, ", ", asked_end, ") is outside the first axis of shape ", shape());
  return detail::linked_view(*this, detail::slice_rows(*this, begin, end), rows == 0 ? 0 : begin * (size() / rows));
}

STROP_IMPL NDArray NDArray::operator[](std::int64_t i) const {
  if (!*this) fail("[]: a handle without an array");
  if (ndim() == 0) fail("[", i, "]: an array without dimensions has no first axis");
  const std::int64_t rows = shape()[0], at = i < 0 ? i + rows : i;
  if (at < 0 || at >= rows) fail("[", i, "] is outside the first axis of shape ", shape());
  NDArray row = slice(at, at + 1);
  if (storage() == csr || ndim() == 1) return row;
  Shape rest = shape();
  rest.erase(0);
  return row.reshape(rest);
}

STROP_IMPL NDArray NDArray::reshape(const Shape& codes) const {
  if (!*this) fail("reshape: a handle without an array");
  if (storage() != dense) fail("reshape: takes a dense array, this one is ", name_of(storage()));
  return detail::linked_view(*this, detail::view_as(*this, detail::reshape_codes(shape(), codes)));
}

}  // namespace strop::inline v0
