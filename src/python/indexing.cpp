// SPDX-License-Identifier: Apache-2.0
/// \file
/// The plain keys of arrays: whole numbers and slices, one for each of the first axes.
#include "schema.hpp"

#include <strop/core/list.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace strop::python {
namespace {

/// What a key takes of an axis: `count` places from `begin` in steps of `step`; of a slice the axis stays.
struct Part {
  std::int64_t begin, step, count;
  bool stays;
  bool is_whole(std::int64_t extent) const { return begin == 0 && step == 1 && count == extent; }
};
using Parts = detail::List<Part, 8>;

/// The part of one axis; none where the key is something else, or nothing is left of the axis.
std::optional<Part> part_of(const NDArray& a, int axis, PyObject* key) {
  const std::int64_t extent = a.shape()[axis];
  if (PyLong_CheckExact(key)) {
    const std::optional<std::int64_t> i = integer_of(key);
    if (!i || *i < -extent || *i >= extent) return std::nullopt;
    return Part{*i < 0 ? *i + extent : *i, 1, 1, false};
  }
  if (PySlice_Check(key) == 0) return std::nullopt;
  Py_ssize_t begin = 0, end = 0, step = 0;
  if (PySlice_Unpack(key, &begin, &end, &step) != 0) nb::raise_python_error();
  const Py_ssize_t count = PySlice_AdjustIndices(extent, &begin, &end, step);
  if (count == 0) return std::nullopt;
  return Part{begin, step, count, true};
}

/// The parts of every axis of an array that has elements; none where the key is not so plain.
bool parts_of(const NDArray& a, PyObject* key, Parts& parts) {
  const bool several = PyTuple_CheckExact(key);
  const Py_ssize_t given = several ? count_of(key) : 1;
  if (a.storage() != dense || a.size() == 0 || given == 0 || given > a.ndim()) return false;
  for (int k = 0; k < a.ndim(); ++k) {
    std::optional<Part> part = Part{0, 1, a.shape()[k], true};
    if (k < given) part = part_of(a, k, several ? element_of(key, k) : key);
    if (!part) return false;
    parts.push_back(*part);
  }
  return true;
}

/// The shape of what is read; one element alone has shape (1,).
Shape shape_of_parts(const Parts& parts) {
  Shape shape;
  for (const Part& part : parts)
    if (part.stays) shape.push_back(part.count);
  if (shape.ndim() == 0) shape.push_back(1);
  return shape;
}

/// The parameters begin, end and step of an operator, which has them from field `first` on.
void set_bounds(const Schema& schema, detail::ParamBox& box, std::size_t first, const Parts& parts) {
  using List = std::vector<std::optional<std::int64_t>>;
  List begin, end, step;
  for (const Part& part : parts) {
    const std::int64_t last = part.begin + part.step * part.count;
    begin.emplace_back(part.begin);
    end.push_back(last < 0 ? std::nullopt : std::optional(last));
    step.emplace_back(part.step);
  }
  const detail::ParamTable& table = *schema.entry.params;
  static_cast<Bounds<true>*>(table.at(table, box.get(), first))->value = std::move(begin);
  static_cast<Bounds<true>*>(table.at(table, box.get(), first + 1))->value = std::move(end);
  static_cast<Bounds<>*>(table.at(table, box.get(), first + 2))->value = std::move(step);
}

}  // namespace

PyObject* read_basic(PyObject* self, PyObject* key) {
  const NDArray& a = array_of(self);
  Parts parts;
  if (!parts_of(a, key, parts)) return nullptr;
  const Shape shape = shape_of_parts(parts);
  bool number = true;
  for (const Part& part : parts) number = number && !part.stays;
  const unsigned facts = (facts_of(self) & fact::truth) | (number ? fact::number : 0);
  // Elements lie together where at most one axis is cut, those before it are taken at one place, those behind it whole.
  const int axes = a.ndim();
  int cut = 0;
  std::int64_t rows = a.shape()[0], begin = parts[0].begin;
  while (cut + 1 < axes && parts[cut].count == 1) {
    ++cut;
    rows *= a.shape()[cut];
    begin = begin * a.shape()[cut] + parts[cut].begin;
  }
  bool together = parts[cut].step == 1 || parts[cut].count == 1;
  for (int k = cut + 1; k < axes; ++k) together = together && parts[k].is_whole(a.shape()[k]);
  if (!together) {
    static const Schema& schema = schema_called("slice");
    detail::ParamBox box(schema.entry.params);
    set_bounds(schema, box, 0, parts);
    const nb::object made = nb::steal(run(schema, box.get(), {&self, 1}, nullptr));
    const NDArray& cut_out = array_of(made.ptr());
    return wrap(cut_out.shape() == shape ? cut_out : cut_out.reshape(shape), facts);
  }
  NDArray view = a;
  if (cut > 0) {
    Shape flat{rows};
    for (int k = cut + 1; k < axes; ++k) flat.push_back(a.shape()[k]);
    view = view.reshape(flat);
  }
  if (parts[cut].count != rows) view = view.slice(begin, begin + parts[cut].count);
  return wrap(view.shape() == shape ? view : view.reshape(shape), facts);
}

bool write_basic(PyObject* self, PyObject* key, PyObject* value) {
  const NDArray& a = array_of(self);
  Parts parts;
  if (!(PyFloat_CheckExact(value) || PyLong_CheckExact(value)) || !parts_of(a, key, parts)) return false;
  const std::optional<Scalar> number = scalar_of(value);
  if (!number) return false;
  bool whole = true;
  for (int k = 0; k < a.ndim(); ++k) whole = whole && parts[k].is_whole(a.shape()[k]);
  if (whole) return false;
  static const Schema& schema = schema_called("_slice_assign_scalar");
  detail::ParamBox box(schema.entry.params);
  const detail::ParamTable& table = *schema.entry.params;
  *static_cast<Scalar*>(table.at(table, box.get(), 0)) = *number;
  set_bounds(schema, box, 1, parts);
  Py_DECREF(run(schema, box.get(), {&self, 1}, self));
  return true;
}

}  // namespace strop::python
