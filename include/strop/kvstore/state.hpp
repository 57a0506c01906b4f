// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a store has under its keys, and the pieces of its calls.
#pragma once
#include <strop/kvstore/compression.hpp>
#include <strop/kvstore/exchange.hpp>
#include <strop/kvstore/keys.hpp>
#include <strop/kvstore/shards.hpp>
#include <strop/kvstore/stored.hpp>
#include <strop/kvstore/updater.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

/// The arrays of one key in a call.
struct KeyGroup {
  std::string key;
  StoredArray* stored = nullptr;  // null in init
  List<NDArray, 2> arrays;
};

class StoreState final : public StoreBody {
 public:
  StoreState(std::string type, Ref<Transport> transport);

  /// The arrays of a call by key, in the order of the keys. `function` begins the sentences of errors. Unless `making`,
  /// the keys are those that are stored.
  std::vector<KeyGroup> groups(std::string_view function, const Keys& keys, const KeyedArrays& arrays,
                               bool making = false);
  void init(const Keys& keys, const KeyedArrays& values);
  void push(std::string_view function, const Keys& keys, const KeyedArrays& values, int priority);
  void pull(std::string_view function, const Keys& keys, const KeyedArrays& outs, int priority, bool ignore_sparse);
  void pull_rows(const Keys& keys, const KeyedArrays& outs, const KeyedArrays& row_ids);
  void compress(const GradientCompression& compression);
  StoreUpdater& optimizer(std::string_view function);

  const std::string type;
  std::unique_ptr<Exchange> workers;  // null in one process
  std::unique_ptr<Shards> shards;     // of dist_async, whose arrays lie there; here only their shapes
  Ref<StoreUpdater> updater;

 private:
  void check_pushed(std::string_view function, const KeyGroup& group) const;
  /// The sum of a push over its arrays and, in a distributed store, over the workers.
  NDArray reduced(const KeyGroup& group, int priority);
  NDArray reduced_packed(const KeyGroup& group, int priority);
  NDArray packed(StoredArray& stored, Index device, const NDArray& gradient, int priority);
  void push_to_owners(const std::vector<KeyGroup>& all, int priority);

  std::map<std::string, StoredArray, std::less<>> stored_;
  bool has_keys_ = false, number_keys_ = false;
  float threshold_ = 0;  // 0: pushes are not compressed
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/kvstore/state_impl.hpp>
#endif
