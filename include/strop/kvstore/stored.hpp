// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a store has under one key, and how an updater changes it.
#pragma once
#include <strop/kvstore/updater.hpp>
#include <strop/tensor/ndarray.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

/// What is stored under one key.
struct StoredArray {
  NDArray value;
  bool shared = false;             // with whoever pushed it, or assigned it in an updater: written by nobody here
  std::vector<NDArray> residuals;  // of compressed pushes, one for each array of a push
};

/// Has the updater change the array by a sum that was pushed; without one (null) the sum takes its place. `function`
/// begins the sentences of errors.
void apply_sum(std::string_view function, const std::string& key, StoredArray& stored, const NDArray& sum,
               StoreUpdater* updater);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/kvstore/stored_impl.hpp>
#endif
