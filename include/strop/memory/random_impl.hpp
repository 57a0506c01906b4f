// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where streams of random numbers come from.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/device.hpp>
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
};
inline constinit Generators generators;
inline constinit thread_local std::uint64_t taken = 0;
STROP_IMPL std::uint64_t streams_taken() { return taken; }

STROP_IMPL Generator& generator_of(Device device, Generators& all) {
  const int kind = device.kind == DeviceKind::gpu ? 1 : 0;
  return all.devices[kind][static_cast<unsigned>(device.id) % 64];
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

STROP_IMPL Stream next(Device device) {
  const auto fresh = [&]() -> Stream {
    const std::lock_guard lock(detail::generators.mutex);
    detail::Generator& own = detail::generator_of(device, detail::generators);
    detail::Generator& from = own.own ? own : detail::generators.shared;
    return {from.seed, 0, from.calls++};
  };
  ++detail::taken;
  const Stream taken = Replay::current != nullptr ? Replay::current->next() : fresh();
  if (Noting::current != nullptr) Noting::current->see(taken);
  return taken;
}

}  // namespace strop::inline v0::random
