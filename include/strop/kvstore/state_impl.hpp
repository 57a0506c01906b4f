// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a store adds up, updates, copies and refuses.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/log.hpp>
#include <strop/kvstore/reduce.hpp>
#include <strop/kvstore/state.hpp>
#include <strop/op/mode.hpp>

#include <algorithm>
#include <cmath>

namespace strop::inline v0::detail {

STROP_IMPL StoreState::StoreState(std::string name, Ref<Transport> transport) : type(std::move(name)) {
  if (transport) workers = std::make_unique<Exchange>(std::move(transport));
  if (workers && type.find("async") != std::string::npos) shards = std::make_unique<Shards>(*workers);
}

STROP_IMPL std::vector<KeyGroup> StoreState::groups(std::string_view function, const Keys& keys,
                                                    const KeyedArrays& arrays, bool making) {
  leave_trace(function);
  const Span<const KeyedArrays::Item> items = arrays.items();
  if (keys.size() == 0) fail(function, ": there is no key");
  if (!keys.is_single() && items.size() != keys.size())
    fail(function, ": there are ", keys.size(), " keys and ", items.size(), " arrays or lists of arrays");
  std::vector<KeyGroup> made;
  const bool numbers = has_keys_ ? number_keys_ : keys[0].is_number();
  const auto group_of = [&](const Key& key) -> KeyGroup& {
    if (key.is_number() != numbers)
      fail(function, ": key ", key.is_number() ? "" : "'", key.text(), key.is_number() ? "" : "'", " is a ",
           key.is_number() ? "number" : "text", ", and the store has ", numbers ? "numbers" : "texts", " as keys");
    for (KeyGroup& group : made)
      if (group.key == key.text()) return group;
    const auto at = stored_.find(key.text());
    if (making && at != stored_.end()) fail(function, ": key '", key.text(), "' is initialised already");
    if (!making && at == stored_.end())
      fail(function, ": there is no key '", key.text(), "'; init(\"", key.text(), "\", …) comes first");
    return made.emplace_back(KeyGroup{key.text(), making ? nullptr : &at->second, {}});
  };
  for (Index i = 0; i < items.size(); ++i) {
    KeyGroup& group = group_of(keys[keys.is_single() ? 0 : i]);
    for (const NDArray& a : items[i].arrays()) {
      if (!a.defined()) fail(function, ": key '", group.key, "': a handle without an array");
      group.arrays.push_back(a);
    }
  }
  if (made.empty()) group_of(keys[0]);
  for (const KeyGroup& group : made)
    if (group.arrays.empty()) fail(function, ": key '", group.key, "': the list of arrays is empty");
  return made;
}

STROP_IMPL void StoreState::init(const Keys& keys, const KeyedArrays& values) {
  const std::vector<KeyGroup> all = groups("KVStore::init", keys, values, true);
  for (const KeyGroup& group : all) {
    if (group.arrays.size() != 1)
      fail("KVStore::init: key '", group.key, "' has ", group.arrays.size(), " arrays, expected one");
    if (group.arrays[0].storage() == csr)
      fail("KVStore::init: key '", group.key, "' is CSR, expected a dense or row_sparse array");
    if (workers && group.arrays[0].device() != cpu())
      fail("KVStore::init: key '", group.key, "' is on ", to_text(group.arrays[0].device()),
           "; this version exchanges arrays of the CPU between workers");
  }
  List<NDArray> made;
  for (const KeyGroup& group : all) {
    const NDArray& value = group.arrays[0];
    if (workers) {
      made.push_back(workers->of_first(value, group.key));
    } else {
      made.push_back(NDArray::shell(value.shape(), value.dtype(), value.device(), value.storage()));
      copy_elements(value, made.back(), 0);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    NDArray& value = made[static_cast<Index>(i)];
    if (shards) {
      if (shards->owns(all[i].key)) shards->put(all[i].key, value);
      value = NDArray::shell(value.shape(), value.dtype(), value.device(), value.storage());
    }
    stored_[all[i].key].value = value;
  }
  has_keys_ = true;
  number_keys_ = keys[0].is_number();
  if (shards) workers->barrier();  // nobody asks an owner that has not stored it
}

STROP_IMPL void StoreState::check_pushed(std::string_view function, const KeyGroup& group) const {
  const NDArray& value = group.stored->value;
  const auto refuse = [&](const auto&... parts) { fail(function, ": key '", group.key, "': ", parts...); };
  for (const NDArray& a : group.arrays) {
    if (a.shape() != value.shape()) refuse("an array has shape ", a.shape(), ", expected ", value.shape());
    if (a.dtype() != value.dtype()) refuse("an array is ", name_of(a.dtype()), ", expected ", name_of(value.dtype()));
    if (a.storage() == csr) refuse("an array is CSR, expected dense or row_sparse ones");
    if (a.storage() != group.arrays[0].storage())
      refuse("one array is ", name_of(group.arrays[0].storage()), " and another ", name_of(a.storage()));
    if (threshold_ > 0 && (a.storage() != dense || a.dtype() != f32))
      refuse("an array is ", name_of(a.storage()), ' ', name_of(a.dtype()),
             ", and gradient compression takes dense float32 ones");
    if ((workers || threshold_ > 0 || a.storage() != dense) && a.device() != cpu())
      refuse("an array is on ", to_text(a.device()), ", and this version takes ",
             workers          ? "arrays of the CPU in a distributed store"
             : threshold_ > 0 ? "arrays of the CPU where pushes are compressed"
                              : "row_sparse arrays on the CPU");
    if (a.device() != group.arrays[0].device() && a.storage() != dense) refuse("its arrays are on several devices");
  }
}

STROP_IMPL NDArray StoreState::packed(StoredArray& stored, Index device, const NDArray& gradient, int priority) {
  while (static_cast<Index>(stored.residuals.size()) <= device) {
    stored.residuals.push_back(NDArray::fresh(gradient.shape(), f32));
    clear(stored.residuals.back(), gradient.size() * 4);
  }
  const NDArray residual = element(stored.residuals, device), words(Shape{packed_words(gradient.size())}, f32);
  const NDArray reads[] = {gradient, residual}, writes[] = {words, residual};
  in_order(reads, writes, "kvstore_quantize", priority, [gradient, residual, words, threshold = threshold_] {
    quantize_2bit(reinterpret_cast<const float*>(gradient.address()), reinterpret_cast<float*>(residual.address()),
                  threshold, words.address(), gradient.size());
  });
  return words;
}

STROP_IMPL NDArray StoreState::reduced_packed(const KeyGroup& group, int priority) {
  const NDArray& like = group.arrays[0];
  if (workers) {
    const NDArray own = group.arrays.size() == 1 ? like : sum_dense(group.arrays, priority);
    return workers->sum_packed(packed(*group.stored, 0, own, priority), like, threshold_, group.key, priority);
  }
  List<NDArray> words;
  for (Index k = 0; k < group.arrays.size(); ++k) words.push_back(packed(*group.stored, k, group.arrays[k], priority));
  const NDArray total = NDArray(like.shape(), f32);
  in_order(words, {&total, 1}, "kvstore_dequantize", priority, [words, total, threshold = threshold_] {
    List<const std::byte*> from;
    for (const NDArray& w : words) from.push_back(w.address());
    dequantize_2bit(from, threshold, reinterpret_cast<float*>(total.address()), total.size());
  });
  return total;
}

STROP_IMPL NDArray StoreState::reduced(const KeyGroup& group, int priority) {
  if (threshold_ > 0) return reduced_packed(group, priority);
  const NDArray& one = group.arrays[0];
  if (one.storage() == row_sparse) {
    const NDArray own = sum_rows(group.arrays);
    return workers ? workers->sum_stored_rows(own, group.key) : own;
  }
  List<NDArray, 2> here = group.arrays;
  for (NDArray& a : here) a = on_device(a, one.device());
  const NDArray own = here.size() == 1 ? one : sum_dense(here, priority);
  return workers ? workers->sum(own, group.key, priority) : own;
}

/// Sends the sum of each key's arrays to its owner.
STROP_IMPL void StoreState::push_to_owners(const std::vector<KeyGroup>& all, int priority) {
  for (const KeyGroup& group : all) {
    const NDArray& one = group.arrays[0];
    NDArray own = one;
    if (one.storage() == row_sparse)
      own = sum_rows(group.arrays);
    else if (group.arrays.size() > 1)
      own = sum_dense(group.arrays, priority);
    if (threshold_ > 0) own = packed(*group.stored, 0, own, priority);
    shards->push(group.key, own, group.stored->value, threshold_, priority);
  }
}

STROP_IMPL void StoreState::push(std::string_view function, const Keys& keys, const KeyedArrays& values, int priority) {
  const std::vector<KeyGroup> all = groups(function, keys, values);
  for (const KeyGroup& group : all) check_pushed(function, group);
  if (shards) {
    if (!updater)
      fail(function, ": a ", type,
           " store has no updater, and without one the last push of any worker would be what "
           "is stored; set_optimizer or set_updater comes first");
    return push_to_owners(all, priority);
  }
  // All sums are pending before the first update asks for one.
  List<NDArray> sums;
  for (const KeyGroup& group : all) sums.push_back(reduced(group, priority));
  for (std::size_t i = 0; i < all.size(); ++i)
    apply_sum(function, all[i].key, *all[i].stored, sums[static_cast<Index>(i)], updater.get());
}

STROP_IMPL void StoreState::pull(std::string_view function, const Keys& keys, const KeyedArrays& outs, int priority,
                                 bool ignore_sparse) {
  const std::vector<KeyGroup> all = groups(function, keys, outs);
  for (const KeyGroup& group : all)
    for (const NDArray& out : group.arrays) {
      const NDArray& value = group.stored->value;
      if (out.shape() != value.shape() || out.dtype() != value.dtype())
        fail(function, ": key '", group.key, "': an array has shape ", out.shape(), " and type ", name_of(out.dtype()),
             ", expected ", value.shape(), " and ", name_of(value.dtype()));
    }
  for (const KeyGroup& group : all) {
    NDArray value = shards ? NDArray() : group.stored->value;
    for (const NDArray& out : group.arrays) {
      if (ignore_sparse && out.storage() != dense) {
        log(cat(function, ": key '", group.key, "': an array is ", name_of(out.storage()),
                " and is left out; row_sparse_pull or ignore_sparse = false brings it"));
        continue;
      }
      if (!value.defined()) value = shards->pull(group.key, group.stored->value, priority);
      copy_elements(value, out, priority);
    }
  }
}

/// The row numbers of an array, ascending and each once.
STROP_IMPL List<std::int64_t> row_numbers(const std::string& key, const NDArray& ids, std::int64_t rows) {
  const auto refuse = [&](const auto&... parts) { fail("KVStore::row_sparse_pull: key '", key, "': ", parts...); };
  if (!ids.defined() || ids.storage() != dense) refuse("row_ids are no dense array");
  const NDArray here = on_device(ids, cpu());
  List<std::int64_t> made(here.size());
  convert_elements(here.dtype(), here.bytes(), i64, made.data(), here.size());
  for (Index k = 0; k < made.size(); ++k) {
    if (is_floating(here.dtype())) {
      const double id = element_as_double(here, k);
      if (!(id >= 0 && id < static_cast<double>(rows)) || std::floor(id) != id)
        refuse("row id ", id, " is no whole number from 0 to ", rows - 1);
    } else if (made[k] < 0 || made[k] >= rows) {
      refuse("row id ", made[k], " is outside of the ", rows, " rows");
    }
  }
  std::sort(made.begin(), made.end());
  made.resize(std::unique(made.begin(), made.end()) - made.begin());
  return made;
}

STROP_IMPL void StoreState::pull_rows(const Keys& keys, const KeyedArrays& outs, const KeyedArrays& row_ids) {
  constexpr std::string_view function = "KVStore::row_sparse_pull";
  const std::vector<KeyGroup> to = groups(function, keys, outs), ids = groups(function, keys, row_ids);
  struct Wanted {
    std::string key;
    NDArray from, to;
    List<std::int64_t> rows;
  };
  std::vector<Wanted> all;
  for (std::size_t g = 0; g < to.size(); ++g) {
    const NDArray& value = to[g].stored->value;
    const std::string& key = to[g].key;
    if (value.storage() != row_sparse)
      fail(function, ": key '", key, "': the stored array is ", name_of(value.storage()), ", expected row_sparse");
    const Index count = to[g].arrays.size(), lists = ids[g].arrays.size();
    if (lists != 1 && lists != count)
      fail(function, ": key '", key, "': there are ", lists, " arrays of row ids for ", count,
           " arrays, expected one for each or one for all");
    for (Index k = 0; k < count; ++k) {
      const NDArray& out = to[g].arrays[k];
      if (out.storage() != row_sparse || out.shape() != value.shape() || out.dtype() != value.dtype())
        fail(function, ": key '", key, "': an array is ", name_of(out.storage()), " of shape ", out.shape(),
             " and type ", name_of(out.dtype()), ", expected row_sparse, ", value.shape(), ", ",
             name_of(value.dtype()));
      all.push_back({key, value, out, row_numbers(key, ids[g].arrays[lists == 1 ? 0 : k], value.shape()[0])});
    }
  }
  for (const Wanted& one : all)
    copy_rows(shards ? shards->pull_rows(one.key, one.from, one.rows.span()) : one.from, one.rows.span(), one.to);
}

STROP_IMPL void StoreState::compress(const GradientCompression& compression) {
  constexpr std::string_view function = "KVStore::set_gradient_compression";
  if (!workers && type.find("device") == std::string::npos)
    fail(function, ": the store is '", type, "', and only 'device' and distributed ones compress");
  if (compression.type != "2bit") fail(function, ": type is '", compression.type, "', expected 2bit");
  const auto threshold = static_cast<float>(compression.threshold);
  if (!(threshold > 0) || !std::isfinite(threshold))
    fail(function, ": threshold is ", compression.threshold, ", expected a number above 0");
  threshold_ = threshold;
}

STROP_IMPL StoreUpdater& StoreState::optimizer(std::string_view function) {
  if (!updater) fail(function, ": the store has no optimizer; set_optimizer comes first");
  return *updater;
}

}  // namespace strop::inline v0::detail
