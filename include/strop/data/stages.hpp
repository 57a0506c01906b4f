// SPDX-License-Identifier: Apache-2.0
/// \file
/// Iterators over iterators: so many batches an epoch, and batches that are made ahead, of several side by side.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/data_iter.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// `size` batches an epoch of another iterator, which begins anew where it ends. With `reset_internal` it begins anew
/// with each epoch as well, else it goes on, behind what was made ahead of it. Throws Error where size is below 1, and
/// where the other has no batch.
///
/// Example: `ResizeIter(LibSVMIter("a.libsvm", {.data_shape = {1000}, .batch_size = 32}), 100)`
class ResizeIter : public DataIter {
 public:
  ResizeIter(DataIter data_iter, std::int64_t size, bool reset_internal = true);
};

/// Parameters of PrefetchingIter: MXNet's names, then ours.
struct PrefetchParams {
  using Renames = std::vector<std::pair<std::string, std::string>>;
  std::vector<Renames> rename_data = {};  ///< for each iterator the names that become others: {{"data", "left"}}
  std::vector<Renames> rename_label = {};
  std::int64_t prefetch_buffer = 2;  ///< batches of each iterator that are made ahead
};

/// The batches of another iterator, made ahead by the engine while the one before is used; or those of several side by
/// side: the arrays of all of them, `pad` and `index` of the first. What the iterators read must not be written
/// meanwhile, such as the arrays of an NDArrayIter. Throws Error where there is no iterator, where one ends before
/// another, or where their batches differ in `pad`.
class PrefetchingIter : public DataIter {
 public:
  explicit PrefetchingIter(DataIter of, const PrefetchParams& params = {});
  explicit PrefetchingIter(std::vector<DataIter> of, const PrefetchParams& params = {});
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/stages_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
