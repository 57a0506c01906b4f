// SPDX-License-Identifier: Apache-2.0
/// \file
/// The members of KVStore.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/log.hpp>
#include <strop/core/output.hpp>
#include <strop/kvstore/kvstore.hpp>
#include <strop/kvstore/state.hpp>
#include <strop/optim/optimizer.hpp>
#include <strop/optim/updater_impl.hpp>
#include <strop/tensor/format/file.hpp>

namespace strop::inline v0 {
namespace detail {

inline std::string lowered(std::string_view text) {
  std::string made(text);
  for (char& c : made)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return made;
}

/// An optimizer and its states.
class OptimizerUpdater final : public StoreUpdater {
 public:
  explicit OptimizerUpdater(const optim::Optimizer& optimizer) : updater_(optimizer) {}
  void update(const std::string& key, const NDArray& gradient, NDArray& weight) override {
    updater_(key, gradient, weight);
  }
  bool may_stop_midway() const override { return false; }  // it refuses before it writes
  std::string states() const override { return updater_.states(); }
  void set_states(std::string_view states) override { updater_.set_states(states); }
  std::string merged(Span<const std::string> all) const override {
    return merged_states(
        all, [&](Index k, std::string_view key) { return owner_of_key(key, all.size()) == static_cast<int>(k); });
  }

 private:
  optim::Updater updater_;
};

}  // namespace detail

STROP_IMPL detail::StoreState& KVStore::state() const {
  if (!body_) fail("KVStore: this store was moved to another one");
  return static_cast<detail::StoreState&>(*body_);
}

STROP_IMPL KVStore KVStore::create(std::string_view type) {
  const std::string name = detail::lowered(type);
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  if (has("nccl"))
    fail("KVStore::create(\"", name,
         "\"): NCCL is not in this version, which has local, device, dist_sync, dist_device_sync and dist_async");
  if (!has("dist") && !has("device") && !has("local"))
    detail::log(cat("KVStore: '", name, "' is no known type, and so a local store, as in MXNet"));
  return create(name, has("dist") ? detail::mpi_transport() : detail::Ref<Transport>());
}
STROP_IMPL KVStore KVStore::create(std::string_view type, detail::Ref<Transport> transport) {
  return KVStore(detail::Ref<detail::StoreBody>(new detail::StoreState(detail::lowered(type), std::move(transport))));
}

STROP_IMPL const std::string& KVStore::type() const { return state().type; }
STROP_IMPL int KVStore::rank() const { return state().workers ? state().workers->rank() : 0; }
STROP_IMPL int KVStore::num_workers() const { return state().workers ? state().workers->size() : 1; }
STROP_IMPL void KVStore::barrier() {
  if (state().workers) state().workers->barrier();
}

STROP_IMPL KVStore::Statistics KVStore::statistics() const {
  Statistics made;
  if (!state().workers) {
    made.waiting.push_back(0);
    return made;
  }
  const detail::ExchangeTimes times = state().workers->times();
  made.sent = times.sent;
  made.received = times.received;
  made.exchanging = static_cast<double>(times.exchanging) * 1e-9;
  for (const std::int64_t waiting : times.waiting) made.waiting.push_back(static_cast<double>(waiting) * 1e-9);
  return made;
}

STROP_IMPL void KVStore::init(const Keys& keys, const KeyedArrays& values) { state().init(keys, values); }
STROP_IMPL void KVStore::push(const Keys& keys, const KeyedArrays& values, int priority) {
  state().push("KVStore::push", keys, values, priority);
}
STROP_IMPL void KVStore::pull(const Keys& keys, const KeyedArrays& outs, int priority, bool ignore_sparse) {
  state().pull("KVStore::pull", keys, outs, priority, ignore_sparse);
}
STROP_IMPL void KVStore::pushpull(const Keys& keys, const KeyedArrays& values, const KeyedArrays& outs, int priority) {
  state().push("KVStore::pushpull", keys, values, priority);
  state().pull("KVStore::pushpull", keys, outs, priority, true);
}
STROP_IMPL void KVStore::pushpull(const Keys& keys, const KeyedArrays& values, int priority) {
  pushpull(keys, values, values, priority);
}
STROP_IMPL void KVStore::broadcast(const Keys& keys, const KeyedArrays& values, const KeyedArrays& outs, int priority) {
  state().init(keys, values);
  state().pull("KVStore::broadcast", keys, outs, priority, true);
}
STROP_IMPL void KVStore::row_sparse_pull(const Keys& keys, const KeyedArrays& outs, const KeyedArrays& row_ids, int) {
  state().pull_rows(keys, outs, row_ids);
}

STROP_IMPL void KVStore::set_updater(detail::Ref<detail::StoreUpdater> updater) {
  detail::StoreState& of = state();
  of.updater = std::move(updater);
  if (!of.shards) return;
  of.shards->set_updater(of.updater);
  of.workers->barrier();  // nobody pushes to an owner that has none
}
STROP_IMPL void KVStore::set_optimizer(const optim::Optimizer& optimizer) {
  set_updater(detail::Ref<detail::StoreUpdater>(new detail::OptimizerUpdater(optimizer)));
}
STROP_IMPL void KVStore::set_gradient_compression(const GradientCompression& compression) {
  state().compress(compression);
}

namespace detail {

/// What f() gives on worker 0, for all; where it throws there, all of them throw.
template <class F>
std::string by_first(const StoreState& state, const std::string& what, F&& f) {
  if (!state.workers) return f();
  return result_in(state.workers->of_first(state.workers->rank() == 0 ? outcome_of(f) : std::string(), what));
}

}  // namespace detail

STROP_IMPL void KVStore::save_states(const std::string& path) {
  const detail::StoreUpdater& updater = state().optimizer("KVStore::save_states");
  detail::List<std::string> of_all;
  if (state().shards) of_all = state().shards->states();
  detail::by_first(state(), "save_states", [&] {
    for (std::string& one : of_all) one = detail::result_in(one);
    const std::string states = state().shards ? updater.merged(of_all.span()) : updater.states();
    detail::Output out(path, "KVStore::save_states");
    out.write(states);
    out.commit();
    return std::string();
  });
}
STROP_IMPL void KVStore::load_states(const std::string& path) {
  detail::StoreUpdater& updater = state().optimizer("KVStore::load_states");
  const std::string states = detail::by_first(state(), "load_states", [&] {
    detail::Input in(path);
    return in.text(in.size(), "the states");
  });
  if (!state().shards) return updater.set_states(states);
  state().shards->set_states(states);
  state().workers->barrier();
}

}  // namespace strop::inline v0
