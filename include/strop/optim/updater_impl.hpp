// SPDX-License-Identifier: Apache-2.0
/// \file
/// Updates by key, and the bytes that states are saved as.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/core/output.hpp>
#include <strop/core/ref.hpp>
#include <strop/optim/optimizer.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/format/file.hpp>
#include <strop/tensor/format/params.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0 {
namespace detail {

/// What is kept of one weight.
struct KeptOfKey : Counted {
  std::string key;
  std::int64_t updates = 0;
  double learning_rate = 0;  // of the last update, before lr_mult
  NDArray weight32;          // of a half with multi_precision
  List<NDArray> states;
  // Of the optimizer, found once.
  double lr_mult = 1, wd_mult = 1;
  std::string_view name;
};
/// In the order of the keys.
using KeptByKey = List<Ref<KeptOfKey>>;

/// Where the key stands, or would.
inline Index place_of_key(const KeptByKey& keys, std::string_view key) {
  Index low = 0, high = keys.size();
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (keys[middle]->key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
inline bool stands_at(const KeptByKey& keys, Index at, std::string_view key) {
  return at < keys.size() && keys[at]->key == key;
}
inline void insert_at(KeptByKey& keys, Index at, const Ref<KeptOfKey>& kept) {
  keys.push_back(kept);
  for (Index i = keys.size() - 1; i > at; --i) std::swap(keys[i], keys[i - 1]);
}

// States as bytes, little-endian:
//   header    the magic, u32 version, u32 CRC-32 of the rest, u64 bytes of the rest
//   rest      the optimizer's name, i64 number of updates, u64 number of keys, the keys in their order
//   key       its text, i64 updates, f64 learning rate, u8 has a copy in float32, u32 number of states, copy, states
// A text is a u64 length and its bytes. Arrays are written as in .params files.
inline constexpr std::string_view states_magic = "strop-st";
inline constexpr std::uint32_t states_version = 1;

inline void write_name(Output& out, std::string_view text) {
  out.number(static_cast<std::uint64_t>(text.size()));
  out.write(text);
}
inline std::string read_name(Input& in, std::string_view what) {
  const auto length = in.number<std::uint64_t>(what);
  if (length > static_cast<std::uint64_t>(in.left())) in.refuse(cat(what, " is longer than what is left"));
  return in.text(static_cast<std::int64_t>(length), what);
}

inline Ref<KeptOfKey> read_kept(Input& in) {
  const Ref<KeptOfKey> kept(new KeptOfKey);
  kept->key = read_name(in, "a key");
  kept->updates = in.number<std::int64_t>("a count");
  kept->learning_rate = in.number<double>("a learning rate");
  const bool mixed = in.number<std::uint8_t>("a key") != 0;
  const auto states = in.number<std::uint32_t>("a key");
  if (states > most_states) in.refuse(cat("a key has ", states, " states"));
  const auto read = [&] {
    NDArray a = read_params_array(in);
    if (!a.defined()) in.refuse("a state is marked as none");
    return a;
  };
  if (mixed) kept->weight32 = read();
  for (std::uint32_t i = 0; i < states; ++i) kept->states.push_back(read());
  return kept;
}

/// The part of the bytes that the checksum is of. Throws Error where they are not what was written.
inline std::string_view states_within(std::string_view bytes) {
  constexpr std::int64_t header = 24;
  const auto refuse = [](const auto&... why) { fail("strop: states of an updater: ", why...); };
  if (!bytes.starts_with(states_magic)) refuse("these bytes are none, or their beginning is damaged");
  if (static_cast<std::int64_t>(bytes.size()) < header) refuse("they are cut off after ", bytes.size(), " bytes");
  Input in(bytes.data() + states_magic.size(), header - static_cast<std::int64_t>(states_magic.size()), "states");
  const auto version = in.number<std::uint32_t>("the header");
  const auto sum = in.number<std::uint32_t>("the header");
  const auto size = in.number<std::uint64_t>("the header");
  if (version != states_version) refuse("they are of version ", version, ", expected ", states_version);
  const std::string_view rest = bytes.substr(static_cast<std::size_t>(header));
  if (rest.size() != size)
    refuse("there are ", rest.size(), " bytes behind the header, which says ", std::to_string(size));
  if (crc32(0, rest.data(), static_cast<std::int64_t>(rest.size())) != sum) refuse("they are damaged: the CRC differs");
  return rest;
}

/// The bytes of states, in the order of the keys.
inline std::string states_of(std::string_view optimizer, std::int64_t num_update, const KeptByKey& keys) {
  std::string rest;
  Output out(&rest);
  write_name(out, optimizer);
  out.number(num_update);
  out.number(static_cast<std::uint64_t>(keys.size()));
  for (const Ref<KeptOfKey>& of_key : keys) {
    const KeptOfKey& kept = *of_key;
    write_name(out, kept.key);
    out.number(kept.updates);
    out.number(kept.learning_rate);
    out.number(static_cast<std::uint8_t>(kept.weight32.defined()));
    out.number(static_cast<std::uint32_t>(kept.states.size()));
    if (kept.weight32.defined()) write_params_array(out, kept.weight32);
    for (const NDArray& state : kept.states) write_params_array(out, state);
  }
  std::string bytes;
  Output whole(&bytes);
  whole.write(states_magic);
  whole.number(states_version);
  whole.number(crc32(0, rest.data(), static_cast<std::int64_t>(rest.size())));
  whole.number(static_cast<std::uint64_t>(rest.size()));
  return bytes += rest;
}

/// What bytes of states say.
struct ReadStates {
  std::string optimizer;
  std::int64_t num_update = 0;
  KeptByKey keys;
};
inline ReadStates read_states(std::string_view bytes) {
  const std::string_view rest = states_within(bytes);
  Input in(rest.data(), static_cast<std::int64_t>(rest.size()), "states of an updater");
  ReadStates made;
  made.optimizer = read_name(in, "the optimizer's name");
  made.num_update = in.number<std::int64_t>("the number of updates");
  const auto count = in.number<std::uint64_t>("the number of keys");
  for (std::uint64_t i = 0; i < count; ++i) {
    const Ref<KeptOfKey> kept = read_kept(in);
    const Index at = place_of_key(made.keys, kept->key);
    if (stands_at(made.keys, at, kept->key)) in.refuse("a key stands there twice");
    insert_at(made.keys, at, kept);
  }
  if (in.left() != 0) in.refuse(cat(in.left(), " bytes follow the last state"));
  return made;
}

/// One updater's states, of those of several that have keys of their own: takes(k, key) says whether the key is of the
/// k-th.
template <class Takes>
std::string merged_states(Span<const std::string> all, Takes takes) {
  ReadStates made;
  for (Index k = 0; k < all.size(); ++k) {
    const ReadStates read = read_states(all[k]);
    if (k == 0) made.optimizer = read.optimizer;
    if (read.optimizer != made.optimizer)
      fail("strop: states of several updaters: one is of ", excerpt(made.optimizer), " and another of ",
           excerpt(read.optimizer));
    made.num_update = std::max(made.num_update, read.num_update);
    for (const Ref<KeptOfKey>& kept : read.keys)
      if (takes(k, std::string_view(kept->key))) insert_at(made.keys, place_of_key(made.keys, kept->key), kept);
  }
  return states_of(made.optimizer, made.num_update, made.keys);
}

}  // namespace detail

namespace optim {

struct Updater::State {
  Optimizer optimizer;
  std::int64_t num_update;
  detail::KeptByKey keys;

  /// Finds out anew what keys have of the optimizer.
  void refresh() {
    for (const detail::Ref<detail::KeptOfKey>& kept : keys) look_up(*kept);
  }
  void look_up(detail::KeptOfKey& kept) const {
    kept.name = optimizer.name_of(kept.key);
    kept.lr_mult = optimizer.lr_mult(kept.key);
    kept.wd_mult = optimizer.wd_mult(kept.key);
  }
};

STROP_IMPL Updater::Updater(Optimizer optimizer) : state_(new State{std::move(optimizer), 0, {}}) {
  state_->num_update = state_->optimizer.body().common.begin_num_update;
}
STROP_IMPL Updater::Updater(Updater&& from) noexcept : state_(std::exchange(from.state_, nullptr)) {}
STROP_IMPL Updater& Updater::operator=(Updater&& from) noexcept {
  std::swap(state_, from.state_);
  return *this;
}
STROP_IMPL Updater::~Updater() { delete state_; }

STROP_IMPL Updater::State& Updater::state() const {
  if (state_ == nullptr) fail("strop: this updater was moved to another one");
  return *state_;
}

STROP_IMPL void Updater::operator()(const std::string& key, const NDArray& grad, NDArray& weight) {
  const auto refuse = [&](const auto&... why) { fail("strop: update of '", detail::excerpt(key), "': ", why...); };
  if (!weight.defined() || !grad.defined()) refuse(weight.defined() ? "the gradient" : "the weight", " is no array");
  if (grad.shape() != weight.shape()) refuse("the gradient has shape ", grad.shape(), ", the weight ", weight.shape());
  if (grad.dtype() != weight.dtype())
    refuse("the gradient is ", strop::name_of(grad.dtype()), ", the weight ", strop::name_of(weight.dtype()));
  State& of = state();
  const detail::OptimizerBody& body = of.optimizer.body();
  const bool mixed = body.common.multi_precision && (weight.dtype() == f16 || weight.dtype() == bf16);

  // What is kept changes behind the update: one that is refused has changed nothing.
  const detail::Index at = detail::place_of_key(of.keys, key);
  const bool known = detail::stands_at(of.keys, at, key);
  detail::Ref<detail::KeptOfKey> kept;
  if (known) {
    kept = of.keys[at];
  } else {
    kept = detail::Ref<detail::KeptOfKey>(new detail::KeptOfKey);
    kept->key = key;
    kept->updates = body.common.begin_num_update;
    if (mixed) kept->weight32 = body.widened(weight);
    for (int i = 0; i < body.states(); ++i) kept->states.push_back(body.make_state(i, mixed ? kept->weight32 : weight));
    of.look_up(*kept);
  }
  if (kept->states.size() != body.states() || kept->weight32.defined() != mixed)
    refuse("what is kept of it was made with other parameters of ", body.name, ": ", kept->states.size(),
           " states, expected ", body.states(),
           kept->weight32.defined() == mixed ? "" : ", and another multi_precision");
  for (NDArray& state : kept->states) state = detail::on_device(state, weight.device());
  if (mixed) kept->weight32 = detail::on_device(kept->weight32, weight.device());

  const std::int64_t updates = kept->updates + 1, num_update = std::max(of.num_update, updates);
  const double rate = of.optimizer.learning_rate(num_update);
  const Step step{.lr = rate * kept->lr_mult,
                  .wd = body.common.wd * kept->wd_mult,
                  .t = updates,
                  .lr_ratio = kept->learning_rate != 0 ? rate / kept->learning_rate : 1,
                  .name = kept->name};
  body.update(step, weight, grad, kept->states.span(), kept->weight32);
  kept->updates = updates;
  kept->learning_rate = rate;
  of.num_update = num_update;
  if (!known) detail::insert_at(of.keys, at, kept);
}

STROP_IMPL const Optimizer& Updater::optimizer() const { return state().optimizer; }
STROP_IMPL std::int64_t Updater::num_update() const { return state().num_update; }
STROP_IMPL double Updater::learning_rate() const { return state().optimizer.learning_rate(state().num_update); }
STROP_IMPL void Updater::set(std::string_view parameter, std::string_view text) {
  state().optimizer.set(parameter, text);
  state().refresh();
}
STROP_IMPL void Updater::set_learning_rate(double lr) {
  state().optimizer.set_learning_rate(lr);
  state().refresh();
}
STROP_IMPL void Updater::set_lr_mult(Multipliers factors) {
  state().optimizer.set_lr_mult(std::move(factors));
  state().refresh();
}
STROP_IMPL void Updater::set_wd_mult(Multipliers factors) {
  state().optimizer.set_wd_mult(std::move(factors));
  state().refresh();
}

STROP_IMPL std::string Updater::states() const {
  return detail::states_of(state().optimizer.name(), state().num_update, state().keys);
}

STROP_IMPL void Updater::set_states(std::string_view bytes) {
  detail::ReadStates read = detail::read_states(bytes);
  if (read.optimizer != state().optimizer.name())
    fail("strop: states of an updater: they are of ", detail::excerpt(read.optimizer), ", the optimizer is ",
         state().optimizer.name());
  state().num_update = read.num_update;
  state().keys = std::move(read.keys);
  state().refresh();
}

STROP_IMPL void Updater::save(const std::string& path) const {
  const std::string bytes = states();
  detail::Output out(path);
  out.write(bytes);
  out.commit();
}

STROP_IMPL void Updater::load(const std::string& path) {
  detail::Input in(path);
  const std::string bytes = in.text(in.size(), "the states");
  try {
    set_states(bytes);
  } catch (const Error& error) {
    in.refuse(error.what());
  }
}

}  // namespace optim
}  // namespace strop::inline v0
