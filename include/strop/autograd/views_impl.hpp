// SPDX-License-Identifier: Apache-2.0
/// \file
/// Views of an array that remember where they came from: slice, index, reshape.
#pragma once
#include <strop/autograd/function.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/autograd/views.hpp>
#include <strop/core/config.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/device_work.hpp>
#include <strop/tensor/reshape_codes.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {
namespace detail {

/// Hangs an array on the history of the one that it was made from, where one is being written: by a new Step of the
/// arguments.
template <class Step, class... Arguments>
void link_step(const NDArray& from, NDArray& made, const Arguments&... arguments) {
  if (recording() == nullptr || !is_tracked(from)) return;
  const NDArray* const in = &from;
  record_step(Ref<Function>(new Step(arguments...)), {&in, 1}, {&made, 1});
}

/// The rows of `part`, from row `first` on, in an array of `rows` rows that stores nothing else. Both are CSR.
STROP_IMPL NDArray spread_rows(const NDArray& part, std::int64_t first, std::int64_t rows) {
  if (part.device() != cpu()) return on_device(spread_rows(on_device(part, cpu()), first, rows), part.device());
  const NDArray out = NDArray::shell({rows, part.shape()[1]}, part.dtype(), cpu(), csr);
  out.allocate_stored(0);
  const IndexReader from(part.indptr());
  auto* const to = out.indptr().pointer<std::int64_t>();
  for (std::int64_t row = 0; row <= rows; ++row)
    to[row] = from[std::clamp<std::int64_t>(row - first, 0, part.shape()[0])];
  out.body().buffer = part.body().buffer;
  out.body().offset = part.body().offset;
  out.body().indices = part.body().indices;
  out.body().indptr = as_type(out.indptr(), part.indptr().dtype()).body_ref();
  return out;
}

/// Elements of an array that follow each other, cut out of it; or an array that has them and is zero elsewhere. The
/// gradient of each is the other. Of a CSR array they are rows, and a head gradient may be dense or CSR.
class ViewStep : public Function {
 public:
  enum class Way : bool { cut, spread };
  ViewStep(const NDArray& whole, const NDArray& part, std::int64_t first_element, Way way)
      : whole_(shell_of(whole)), part_(shell_of(part)), first_(first_element), way_(way) {}
  std::vector<NDArray> forward(std::span<const NDArray>) override { return {}; }
  std::vector<NDArray> backward(std::span<const NDArray> heads) override {
    const NDArray& head = heads[0];
    const bool spread = way_ == Way::cut;
    const NDArray& like = spread ? whole_ : part_;
    if (head.shape() == like.shape()) return {head};
    if (head.storage() == dense && head.size() == like.size()) return {head.reshape(like.shape())};
    NDArray made = head.storage() == csr ? rows_of(head, spread) : elements_of(head, spread);
    link_step<ViewStep>(head, made, whole_, part_, first_, spread ? Way::spread : Way::cut);
    return {made};
  }

 private:
  bool is_linear() const override { return true; }

  NDArray rows_of(const NDArray& head, bool spread) const {
    const std::int64_t width = whole_.shape()[1], row = width == 0 ? 0 : first_ / width, rows = part_.shape()[0];
    return spread ? spread_rows(head, row, whole_.shape()[0]) : slice_rows(head, row, row + rows);
  }
  NDArray elements_of(const NDArray& head, bool spread) const {
    const NDArray& like = spread ? whole_ : part_;
    const NDArray made(like.shape(), like.dtype(), like.device());
    const auto size = size_of(like.dtype());
    if (spread) clear(made, made.size() * size);
    copy_between(made, made.bytes() + (spread ? first_ * size : 0), head, head.bytes() + (spread ? 0 : first_ * size),
                 part_.size() * size);
    return made;
  }

  NDArray whole_, part_;  // shells
  std::int64_t first_;
  Way way_;
};

/// Hangs the view on the array's history, where one is being written.
STROP_IMPL NDArray linked_view(const NDArray& whole, NDArray view, std::int64_t first_element = 0) {
  if (const ArrayTracer* const tracer = watching()) tracer->derived(whole, view, first_element, true);
  link_step<ViewStep>(whole, view, whole, view, first_element, ViewStep::Way::cut);
  return view;
}

}  // namespace detail

STROP_IMPL NDArray NDArray::slice(std::int64_t begin, std::int64_t end) const {
  if (!defined()) fail("slice: a handle without an array");
  if (ndim() == 0) fail("slice: an array without dimensions has no first axis");
  const std::int64_t rows = shape()[0], asked_begin = begin, asked_end = end;
  if (begin < 0) begin += rows;
  if (end < 0) end += rows;
  if (begin < 0 || end > rows || begin > end)
    fail("slice: [", asked_begin, ", ", asked_end, ") is outside the first axis of shape ", shape());
  return detail::linked_view(*this, detail::slice_rows(*this, begin, end), rows == 0 ? 0 : begin * (size() / rows));
}

STROP_IMPL NDArray NDArray::operator[](std::int64_t i) const {
  if (!defined()) fail("[]: a handle without an array");
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
  if (!defined()) fail("reshape: a handle without an array");
  if (storage() != dense) fail("reshape: takes a dense array, this one is ", name_of(storage()));
  return detail::linked_view(*this, detail::view_as(*this, detail::reshape_codes(shape(), codes)));
}

}  // namespace strop::inline v0
