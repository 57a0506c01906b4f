// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rules that a call's inference goes by.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/infer_call.hpp>
#include <strop/op/map_run.hpp>

namespace strop::inline v0::detail {

STROP_IMPL void infer_shapes(const Entry& entry, const void* op, Shapes& shapes) {
  entry.infer_shape != nullptr ? entry.infer_shape(op, shapes) : infer_map_shape(entry, shapes);
}
STROP_IMPL void infer_kernel_types(const Entry& entry, const void* op, Types& types) {
  entry.infer_type != nullptr ? entry.infer_type(op, types) : infer_map_type(entry, op, types);
}

/// Types of a gradient that computes in double: where a kernel's would be double and no other is known, integers.
STROP_IMPL void infer_types_in_double(const Entry& entry, const void* op, Types& types) {
  const Dtype first = *types.in(0);
  List<std::optional<Dtype>, 4> in(types.inputs()), out(types.outputs());
  const auto wide = [](std::optional<Dtype> type) { return type && !is_floating(*type) ? f64 : type; };
  for (int i = 0; i < types.inputs(); ++i) in[i] = wide(types.in(i));
  for (int k = 0; k < types.outputs(); ++k) out[k] = wide(types.out(k));
  Types of_kernel = types.with(in.span(), out.span());
  infer_kernel_types(entry, op, of_kernel);
  for (int i = 0; i < types.inputs(); ++i)
    if (!types.in(i)) types.set_in(i, in[i] == f64 ? first : in[i]);
  for (int k = 0; k < types.outputs(); ++k)
    if (!types.out(k)) types.set_out(k, out[k] == f64 ? first : out[k]);
}

STROP_IMPL void infer_types(const Entry& entry, const void* op, Types& types) {
  if (types.inputs() > 0 && types.in(0) && computes_in_double(entry, *types.in(0)))
    infer_types_in_double(entry, op, types);
  else
    infer_kernel_types(entry, op, types);
}

STROP_IMPL std::string storages_text(Span<const Storage> in, Span<const std::optional<Storage>> out) {
  std::string text = "(";
  for (Index i = 0; i < in.size(); ++i) text += cat(i == 0 ? "" : ", ", name_of(in[i]));
  text += ") -> (";
  for (Index i = 0; i < out.size(); ++i) text += cat(i == 0 ? "" : ", ", name_of(out[i].value_or(dense)));
  return text + ")";
}

/// Why a map cannot run on stored values, though its body is zero where nothing is stored; empty where it can.
STROP_IMPL std::string_view why_not_on_pattern(const StorageQuery& known) {
  if (known.in_shapes.empty() || known.out_shapes.empty()) return {};
  const Shape& result = known.out_shapes[0];
  const auto differs = [&](const Shape& s) { return s.known() && result.known() && s != result; };
  for (Index i = 0; i < known.in.size(); ++i)
    if (known.in[i] != dense && differs(known.in_shapes[i])) return "a sparse input would be broadcast";
  for (const Shape& s : known.out_shapes)
    if (differs(s)) return "a sparse result would be reduced";
  for (int i : known.mutated)
    if (differs(known.in_shapes[i])) return "a written input would be broadcast";
  return {};
}

/// Whether a map goes into dense arrays without dense copies of its sparse inputs: on the CPU, the sparse inputs being
/// of one storage and of the shape that all broadcast to. That is so where the result is zero wherever nothing is
/// stored, also where it is summed over; where it lies beside dense inputs, and is dense as they are; where the
/// operator says so.
STROP_IMPL bool runs_into_dense(const MapStorage& map, const StorageQuery& known,
                                Span<const std::optional<Storage>> out) {
  if (known.in_shapes.empty() || known.out_shapes.empty() || !known.mutated.empty() || known.device != cpu())
    return false;
  int sparse = 0;
  Index first = 0;
  for (Index i = 0; i < known.in.size(); ++i)
    if (known.in[i] != dense && sparse++ == 0) first = i;
  if (sparse == 0) return false;
  const Shape& common = known.in_shapes[first];
  const auto fits = [&](const Shape& s) {
    Shape all = common;
    return s.known() && broadcast_into(all, s) && all == common;
  };
  for (Index i = 0; i < known.in.size(); ++i) {
    if (!fits(known.in_shapes[i])) return false;
    if (known.in[i] != dense && (known.in[i] != known.in[first] || known.in_shapes[i] != common)) return false;
  }
  const bool zero_elsewhere = map.storage != dense;
  for (Index k = 0; k < out.size(); ++k) {
    const bool whole = known.out_shapes[k] == common;
    if (out[k].value_or(dense) != dense || !(zero_elsewhere ? fits(known.out_shapes[k]) : whole)) return false;
  }
  return zero_elsewhere || map.stated_dense || sparse < known.in.size();
}

STROP_IMPL StorageChoice infer_storages(const Entry& entry, const void* op, const StorageQuery& known,
                                        Span<std::optional<Storage>> out) {
  StorageChoice choice;
  const auto any_sparse = [&] {
    for (Storage s : known.in)
      if (s != dense) return true;
    for (const std::optional<Storage>& s : out)
      if (s.value_or(dense) != dense) return true;
    return false;
  };
  const auto dense_copies = [&](std::string_view why) {
    choice.dense_copies = true;
    choice.why = why;
  };
  if (entry.infer_storage != nullptr) {
    Storages storages(known.in, out, known.device);
    const bool native = entry.infer_storage(op, storages);
    if (!native && any_sparse()) {
      if (entry.cpu.run_sparse[entry.order] != nullptr && entry.cpu.run[entry.order] == nullptr)
        fail(entry.snake, ": has no form for ", storages_text(known.in, out));
      dense_copies("no rule of the operator serves these storages");
    }
  } else if (any_sparse()) {
    if (!entry.is_map()) {
      dense_copies("the operator works on dense arrays");
    } else {
      choice.map = infer_map_storage(entry, op, compute_type(entry, op, known.stored), known.in);
      const std::string_view blocked = choice.map.storage != dense ? why_not_on_pattern(known) : choice.map.why;
      bool into_dense = true;
      for (const std::optional<Storage>& s : out) into_dense = into_dense && (s ? *s == dense : !blocked.empty());
      choice.into_dense = into_dense && runs_into_dense(choice.map, known, out);
      if (!choice.into_dense) {
        if (!blocked.empty()) choice.map.storage = dense;
        choice.why = blocked;
        for (std::optional<Storage>& s : out) {
          if (!s) s = choice.map.storage;
          if (*s != choice.map.storage && choice.why.empty())
            choice.why = "the result's storage differs from the array's that is to hold it";
        }
        choice.dense_copies = choice.map.storage == dense;
      }
    }
  }
  for (std::optional<Storage>& s : out)
    if (!s) s = dense;
  return choice;
}

}  // namespace strop::inline v0::detail
