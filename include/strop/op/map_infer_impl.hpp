// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inference for maps.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/map_infer.hpp>

#include <optional>
#include <vector>

namespace strop::inline v0::detail {

[[gnu::noinline]] STROP_IMPL void infer_gradient_shape(Shapes& shapes, int known, int first, std::uint64_t whole) {
  int k = 0;
  for (int i = 0; i < known && k < shapes.outputs(); ++i)
    if ((whole >> i & 1U) == 0) shapes.set_out(k++, shapes.in(first + i));
  for (; k < shapes.outputs(); ++k)
    if (!shapes.out(k).known()) shapes.set_out(k, shapes.in(0));
}

STROP_IMPL void infer_map_shape(const Entry& entry, Shapes& shapes) {
  const bool agree = entry.same_shape || shapes.inputs() <= 1;
  if (agree) {
    Shape common = Shape::unknown();
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < shapes.inputs(); ++i) {
        if (round == 1)
          shapes.set_in(i, common);
        else if (!unify(common, shapes.in(i)))
          shapes.fail(shapes.name_in(i), " has shape ", shapes.in(i), ", expected ", common, " like ",
                      shapes.name_in(0));
      }
      for (int i = 0; i < shapes.outputs(); ++i) {
        if (round == 0 && !unify(common, shapes.out(i))) shapes.set_out(i, common);
        if (round == 1) shapes.set_out(i, common);
      }
    }
    return;
  }
  Shape common;
  for (int i = 0; i < shapes.inputs(); ++i) {
    if (!shapes.in(i).has_rank()) return;
    if (i == 0)
      common = shapes.in(0);
    else if (!broadcast_into(common, shapes.in(i)))
      shapes.fail(shapes.name_in(i), " has shape ", shapes.in(i), ", which does not broadcast with ", common);
  }
  for (int i = 0; i < shapes.outputs(); ++i) shapes.set_out(i, common);
}

STROP_IMPL void infer_map_type(const Entry& entry, const void* op, Types& types) {
  const auto whole = [&](int i) { return i < 64 && (entry.whole >> i & 1U) != 0; };
  std::optional<Dtype> common;
  int like = -1;  // the input that has it
  for (int i = 0; i < types.inputs() && !common; ++i) {
    if (whole(i)) continue;
    types.expect_in(i, entry.dtypes);
    common = types.in(i);
    if (common) like = i;
  }
  for (int i = 0; i < types.outputs() && !common; ++i) {
    types.expect_out(i, entry.dtypes);
    common = types.out(i);
  }
  for (int i = 0; i < types.inputs(); ++i) {
    const std::optional<Dtype> given = types.in(i);
    if (whole(i)) {
      if (given && is_floating(*given) && !entry.is_gradient())  // which may come in double
        types.fail(types.name_in(i), " is ", name_of(*given), ", expected whole numbers, ", one_of(integral | boolean),
                   "; convert it with cast, a comparison as (x > 0).to(strop::boolean)");
      continue;
    }
    if (common && given && given != common && like >= 0)
      types.fail(types.name_in(i), " is ", name_of(*given), ", expected ", name_of(*common), " like ",
                 types.name_in(like), "; convert one of them with cast");
    types.set_in(i, common);
  }
  if (!common) return;
  if (takes_as_double(entry, op, *common)) common = f64;
  for (int i = 0; i < types.outputs(); ++i) types.set_out(i, common);
}

STROP_IMPL MapStorage infer_map_storage(const Entry& entry, const void* op, Dtype computed, Span<const Storage> in) {
  MapStorage result = derive_map_storage(
      in, [&](std::uint64_t zeros) { return entry.facts.zero != nullptr && entry.facts.zero(op, computed, zeros); });
  if (entry.facts.storage == nullptr) return result;
  List<std::optional<Storage>, 4> out(entry.outputs);
  Storages stated(in, out, cpu());
  const bool served = entry.facts.storage(op, stated);
  bool some = false, all = true;
  for (const std::optional<Storage>& storage : out) some = some || storage == dense, all = all && storage == dense;
  if ((!served || some) && result.storage != dense) {
    result = {};
    result.why = "infer_storage of the operator asks for dense arrays";
  }
  result.stated_dense = served && all;
  for (Index k = 0; k < out.size(); ++k)
    if (out[k] && *out[k] != result.storage)
      fail(entry.snake, ": infer_storage sets output ", k, " to ", name_of(*out[k]), ", expected ",
           name_of(result.storage), result.why.empty() ? "" : ": ", result.why);
  return result;
}

}  // namespace strop::inline v0::detail
