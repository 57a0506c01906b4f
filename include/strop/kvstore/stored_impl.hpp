// SPDX-License-Identifier: Apache-2.0
/// \file
/// How an updater changes what is stored.
#pragma once
#include <strop/core/config.hpp>
#include <strop/kvstore/reduce.hpp>
#include <strop/kvstore/stored.hpp>
#include <strop/op/mode.hpp>

namespace strop::inline v0::detail {

STROP_IMPL void apply_sum(std::string_view function, const std::string& key, StoredArray& stored, const NDArray& sum,
                          StoreUpdater* updater) {
  NDArray& value = stored.value;
  if (updater == nullptr) {
    value = sum.detach();
    stored.shared = true;
    return;
  }
  NDArray weight = value;
  if (value.storage() != dense)
    weight = stored.shared ? value.copy() : value;
  else if (stored.shared || updater->may_stop_midway())
    weight = sum_dense({&value, 1}, 0);
  const NDArray own = weight;
  const ModeScope unrecorded(nullptr, call_mode.training);
  updater->update(key, on_device(sum, value.device()), weight);
  if (!weight.defined() || weight.shape() != value.shape() || weight.dtype() != value.dtype())
    fail(function, ": key '", key, "': the updater assigned ",
         weight.defined() ? cat("an array of shape ", to_text(weight.shape()), " and type ", name_of(weight.dtype()))
                          : std::string("a handle without an array"),
         ", expected shape ", value.shape(), " and type ", name_of(value.dtype()));
  value = weight;
  stored.shared = !weight.is(own);
}

}  // namespace strop::inline v0::detail
