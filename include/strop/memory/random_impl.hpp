// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where streams of random numbers come from.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/device.hpp>
#include <strop/core/fork.hpp>
#include <strop/memory/random.hpp>

#include <cstdint>
#include <mutex>

namespace strop::inline v0::random {

namespace detail {

/// What the next stream follows from.
struct Generator {
  std::uint64_t seed = 0, calls = 0;
  bool own = false;  // seeded for its device alone
};
struct Generators {
  std::mutex mutex;
  Generator shared;
  Generator devices[2][64];
  std::uint64_t forks = 0;  // of this process
};
inline constinit Generators generators;
inline constinit thread_local std::uint64_t taken = 0;
STROP_IMPL std::uint64_t streams_taken() { return taken; }

STROP_IMPL Generator& generator_of(Device device, Generators& all) {
  const int kind = device.kind == DeviceKind::gpu ? 1 : 0;
  return all.devices[kind][static_cast<unsigned>(device.id) % 64];
}

/// A child's numbers follow from its parent's seed and from how many children came before it: the same in every run of
/// a program, and not those of its parent or of another child.
STROP_IMPL void follow_fork(bool child) noexcept {
  if (child) {
    const auto derive = [](Generator& one) {
      std::uint64_t x = one.seed + generators.forks * 0x9e3779b97f4a7c15u;  // splitmix64
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
      one.seed = x ^ (x >> 31);
      one.calls = 0;
    };
    derive(generators.shared);
    for (auto& kind : generators.devices)
      for (Generator& one : kind)
        if (one.own) derive(one);
    generators.forks = 0;
  }
  generators.mutex.unlock();
}
STROP_IMPL void hold_for_fork() noexcept {
  generators.mutex.lock();
  ++generators.forks;
}
inline constinit strop::detail::ForkPart generators_in_forks{strop::detail::ForkPlace::random, hold_for_fork,
                                                             follow_fork};
STROP_IMPL bool join_forks() noexcept {
  strop::detail::join_forks(generators_in_forks);
  return true;
}

}  // namespace detail

STROP_IMPL void seed(std::uint64_t seed) {
  const std::lock_guard lock(detail::generators.mutex);
  detail::generators.shared = {seed, 0, false};
  for (auto& kind : detail::generators.devices)
    for (detail::Generator& own : kind) own = {};
}

STROP_IMPL void seed(std::uint64_t seed, Device device) {
  const std::lock_guard lock(detail::generators.mutex);
  detail::generator_of(device, detail::generators) = {seed, 0, true};
}

STROP_IMPL Stream detail::take_stream(Device device) {
  join_forks();
  const auto fresh = [&]() -> Stream {
    const std::lock_guard lock(detail::generators.mutex);
    detail::Generator& own = detail::generator_of(device, detail::generators);
    detail::Generator& from = own.own ? own : detail::generators.shared;
    return {from.seed, 0, from.calls++};
  };
  ++detail::taken;
  const Stream stream = Replay::current != nullptr ? Replay::current->next() : fresh();
  if (Noting::current != nullptr) Noting::current->see(stream);
  return stream;
}

}  // namespace strop::inline v0::random
