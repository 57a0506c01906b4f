// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps on sparse inputs.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/devices.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/op/sparse_parts.hpp>
#include <strop/tensor/device_work.hpp>
#include <strop/tensor/element_loops.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/sparse.hpp>

#include <algorithm>

namespace strop::inline v0::detail {

/// The values, in the order of the pattern that `to` already has.
STROP_IMPL void copy_values(const NDArray& values, const NDArray& to) {
  if (values.size() != 0) copy_between(to, to.bytes(), values, values.bytes(), values.size() * size_of(values.dtype()));
}

/// Whether the indices of a sparse array ascend, as the merging of patterns needs.
STROP_IMPL bool is_sorted(const NDArray& a) { return ascends(structure_of(a)); }

/// The same element at every position that `places` stores.
STROP_IMPL NDArray spread_on(const NDArray& element, const NDArray& places) {
  NDArray result = NDArray::shell(places.shape(), element.dtype(), places.device(), places.storage());
  const NDArray values(Shape{places.stored()}, element.dtype());
  visit_bits(element.dtype(), [&]<class Bits>(Bits) {
    std::fill_n(values.pointer<Bits>(), values.size(), *element.pointer<const Bits>());
  });
  result.body().buffer = values.body().buffer;
  result.body().indices = places.body().indices;
  result.body().indptr = places.body().indptr;
  return result;
}

STROP_IMPL NDArray projected(const NDArray& a, const NDArray& onto) {
  const NDArray places = merged(onto);
  if (a.storage() == dense && a.size() == 1 && a.device() == cpu()) return spread_on(a, places);
  StoredPattern pattern = pattern_of(places);
  const NDArray result(onto.shape(), a.dtype(), onto.device(), onto.storage());
  store_pattern(result, pattern);
  const bool laid = a.storage() == onto.storage() && pattern_of(a) == pattern;  // as it is, whatever its order
  const bool meets = a.storage() == onto.storage() && is_sorted(places);
  const NDArray from = laid || a.storage() == dense ? a : meets ? merged(a, true) : dense_form(a);
  copy_values(values_at(from, pattern, onto.shape(), onto.storage()), result);
  return result;
}

STROP_IMPL NDArray map_on_pattern(const Entry& entry, const void* op, Span<const NDArray> in, Index outputs, Index k,
                                  const NDArray& given) {
  const NDArray onto = merged(given);  // a gradient has each place once
  StoredPattern pattern = pattern_of(onto);
  const Shape stored{onto.stored()};
  List<NDArray, 4> laid, out;
  List<const NDArray*, 4> operands;
  List<Request, 8> requests;
  const bool sorted = is_sorted(onto);
  for (const NDArray& argument : in) {
    const bool sparse = argument.allocated() && argument.storage() != dense;
    const NDArray a = sparse ? merged(argument, sorted) : argument;
    const bool apart =
        sparse && (a.storage() != onto.storage() || a.shape() != onto.shape() || (!sorted && pattern_of(a) != pattern));
    if (apart) {  // whose values cannot be merged with the pattern
      note_fallback(
          entry, op, cat("(", name_of(a.storage()), ") -> (", name_of(onto.storage()), ")"),
          cat("an input is stored otherwise than the array that the gradient is of, on ", to_text(onto.device())), {});
      laid.push_back(view_as(values_at(dense_form(a), pattern, onto.shape(), onto.storage()), stored));
    } else if (!a.allocated())
      laid.push_back(NDArray::shell(stored, a.dtype(), a.device()));
    else
      laid.push_back(view_as(values_at(a, pattern, onto.shape(), onto.storage()), stored));
  }
  for (const NDArray& a : laid) operands.push_back(&a);
  NDArray result = NDArray::shell(onto.shape(), onto.dtype(), onto.device(), onto.storage());
  store_pattern(result, pattern);
  for (Index j = 0; j < outputs; ++j) {
    out.push_back(j == k ? view_as(result.data(), stored) : NDArray::shell(stored, onto.dtype(), onto.device()));
    requests.push_back(j == k ? Request::write : Request::null);
  }
  dispatch(entry, op, operands.span(), out.span(), requests.span());
  return result;
}

STROP_IMPL NDArray add_stored(const NDArray& one, const NDArray& two) {
  NDArray a = merged(one, true), b = merged(two, true);  // each place once
  if (a.stored() == 0) return b;
  if (b.stored() == 0) return a;
  StoredPattern pattern = merge_patterns(pattern_of(a), pattern_of(b), false);
  const NDArray result(a.shape(), a.dtype(), a.device(), a.storage());
  store_pattern(result, pattern);
  const auto values = [&](const NDArray& x) { return values_at(x, pattern, a.shape(), a.storage()); };
  add_elements(values(a), values(b), view_as(result.data(), {result.stored()}));
  return result;
}

STROP_IMPL void check_structures(const Plan& plan, const void* op, Inputs in, Span<const NDArray> out) {
  const auto check = [&](const NDArray& a, bool output, Index at) {
    if (knows_structure(a)) return;
    check_structure_of(a, [&] {
      const CallLabels labels{*plan.entry, op, static_cast<int>(in.size())};
      const CallNames names = labels.names();
      return cat(plan.entry->snake, ": ", output ? names.output(at) : names.input(at));
    });
  };
  for (Index i = 0; i < in.size(); ++i) check(*in[i], false, i);
  for (Index k = 0; k < out.size(); ++k)
    if (plan.requests[k] == Request::add) check(out[k], true, k);
}

STROP_IMPL void run_on_wide_indices(const Call& call, Context& context, Kernels::Run run) {
  const auto widen = [](const NDArray& a) {
    if (!a.defined() || !has_narrow_indices(a)) return;
    const NDArray wide = with_wide_indices(a);
    a.body().indices = wide.body().indices;
    a.body().indptr = wide.body().indptr;
  };
  for (const NDArray& a : call.out) widen(a);
  if (call.entry.mutates)
    for (const int i : signature_of(call.entry, call.params, call.in_count()).mutated) widen(call.in(i));
  List<NDArray, 4> held;
  List<const NDArray*, 8> inputs;
  for (const NDArray* a : call.inputs) held.push_back(a->defined() ? with_wide_indices(*a) : *a);
  for (const NDArray& a : held) inputs.push_back(&a);
  run({call.entry, call.params, inputs.span(), call.out, call.requests}, context);
}

STROP_IMPL void run_sparse_map(const Entry& entry, const void* op, const MapStorage& how, Inputs in,
                               Span<const int> mutated, Span<NDArray> out, Span<const Request> requests) {
  int sparse_inputs = 0;
  for (const NDArray* a : in) sparse_inputs += a->storage() != dense ? 1 : 0;
  const bool alone = sparse_inputs == 1 && in.size() == 1 && mutated.empty();
  // Alone the pattern is the input's own, whatever its order; to be merged patterns have to ascend.
  List<NDArray, 4> given;
  const NDArray* first = nullptr;
  for (const NDArray* a : in)
    given.push_back(a->storage() == dense || (alone && a->device() != cpu()) ? *a : merged(*a, !alone));
  for (Index i = 0; i < in.size() && first == nullptr; ++i)
    if (given[i].storage() != dense && (how.carriers >> i & 1U) != 0) first = &given[i];
  StoredPattern pattern;
  List<NDArray, 4> values(in.size());
  if (!alone) {
    pattern = pattern_of(*first);
    for (Index i = 0; i < in.size(); ++i)
      if ((how.carriers >> i & 1U) != 0 && &given[i] != first)
        pattern = merge_patterns(pattern, pattern_of(given[i]), how.pattern == Pattern::common);
  }
  List<MapOperand, 4> x(in.size()), y(out.size() + mutated.size());
  const std::int64_t width = first->storage() == csr ? 1 : first->shape().size(1, first->ndim());
  const Shape stored{alone ? first->stored() : pattern.count() * width};
  std::size_t at = 0;
  const auto writes = [&](int i) { return std::find(mutated.begin(), mutated.end(), i) != mutated.end(); };
  for (const NDArray& a : given) {
    if (a.storage() == dense && !a.allocated()) {  // an input that a derived gradient does not read
      x[at++] = {nullptr, a.dtype(), Shape{}, Request::write};
      continue;
    }
    NDArray laid = alone ? view_as(a.data(), {a.stored()}) : values_at(a, pattern, first->shape(), first->storage());
    if (writes(static_cast<int>(at)) && laid.body().buffer == a.body().buffer) laid = laid.copy();
    x[at++] = {laid.bytes(), laid.dtype(), laid.shape(), Request::write};
    values[at - 1] = std::move(laid);
  }
  for (Index k = 0; k < out.size(); ++k) {
    if (requests[k] == Request::null) {
      y[k] = {nullptr, out[k].dtype(), stored, Request::null};
      continue;
    }
    if (alone) {
      // A result that is its own input keeps the pattern; the values are mapped in place.
      if (!out[k].is(*first)) copy_structure(*first, out[k]);
    } else {
      store_pattern(out[k], pattern);
    }
    y[k] = {out[k].bytes(), out[k].dtype(), stored, Request::write};
  }
  // What is written of the inputs is their values as they were laid along the pattern.
  Index next = out.size();
  for (int i : mutated) y[next++] = x[i];
  const Device device = in[0]->device();
  backend_of(device).run_map(entry, op, device, stored, x.span(), y.span());
  if (alone) return;
  for (int i : mutated) {
    const NDArray& state = *in[i];
    const NDArray written(first->shape(), state.dtype(), first->device(), first->storage());
    store_pattern(written, pattern);
    copy_values(values[i], written);
    deliver(written, state, Request::write);
  }
}

STROP_IMPL void run_map_into_dense(const Entry& entry, const void* op, const MapStorage& how, Inputs in,
                                   Span<const NDArray> out, Span<const Request> requests) {
  const bool zero_elsewhere = how.storage != dense;
  List<NDArray, 4> given, laid, made;
  int sparse = 0;
  for (const NDArray* a : in) sparse += a->storage() != dense ? 1 : 0;
  const NDArray* first = nullptr;
  for (const NDArray* a : in) given.push_back(a->storage() == dense ? *a : merged(*a, sparse > 1));
  StoredPattern pattern;
  for (Index i = 0; i < in.size(); ++i) {
    if (given[i].storage() == dense || (zero_elsewhere && (how.carriers >> i & 1U) == 0)) continue;
    pattern = first == nullptr ? pattern_of(given[i])
                               : merge_patterns(pattern, pattern_of(given[i]), how.pattern == Pattern::common);
    if (first == nullptr) first = &given[i];
  }
  const Shape& shape = first->shape();
  const Shape stored{pattern.count() * (first->storage() == csr ? 1 : shape.size(1, shape.ndim()))};
  const NDArray zero(Shape{}, first->dtype());
  clear(zero, size_of(zero.dtype()));
  List<MapOperand, 4> x, x_stored, y, y_stored;
  for (const NDArray& a : given) {
    const bool whole = a.storage() == dense;
    if (whole && !a.allocated()) {  // an input that a derived gradient does not read
      x.push_back({nullptr, a.dtype(), Shape{}, Request::write});
      x_stored.push_back(x.back());
      continue;
    }
    laid.push_back(values_at(a, pattern, shape, first->storage()));
    x.push_back({whole ? a.bytes() : zero.bytes(), a.dtype(), whole ? a.shape() : Shape{}, Request::write});
    x_stored.push_back({laid.back().bytes(), a.dtype(), stored, Request::write});
  }
  for (Index k = 0; k < out.size(); ++k) {
    const bool asked = requests[k] != Request::null;
    made.push_back(asked ? NDArray(stored, out[k].dtype()) : NDArray());
    y.push_back({asked ? out[k].bytes() : nullptr, out[k].dtype(), shape, requests[k]});
    y_stored.push_back({asked ? made[k].bytes() : nullptr, out[k].dtype(), stored, requests[k]});
  }
  // What lies in the memory of a dense input is overwritten only after the values there have been laid aside.
  if (!zero_elsewhere) backend_of(cpu()).run_map(entry, op, cpu(), shape, x.span(), y.span());
  if (stored.size() != 0) backend_of(cpu()).run_map(entry, op, cpu(), stored, x_stored.span(), y_stored.span());
  for (Index k = 0; k < out.size(); ++k) {
    if (requests[k] == Request::null) continue;
    if (out[k].shape() != shape) {
      sum_values(made[k], pattern, shape, out[k]);
      continue;
    }
    if (zero_elsewhere) clear(out[k], out[k].size() * size_of(out[k].dtype()));
    scatter_values(made[k], pattern, out[k]);
  }
}

}  // namespace strop::inline v0::detail
