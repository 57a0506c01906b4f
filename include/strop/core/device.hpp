// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where an array lives.
#pragma once
#include <strop/core/error.hpp>

#include <cstdint>
#include <string>

namespace strop::inline v0 {

enum class DeviceKind : std::uint8_t { cpu = 1, gpu = 2 };

/// A processor by kind and number: `strop::cpu()`, `strop::gpu(0)`.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  std::int16_t id = 0;
  friend constexpr bool operator==(Device, Device) = default;
};

constexpr Device cpu(int id = 0) { return {DeviceKind::cpu, static_cast<std::int16_t>(id)}; }
constexpr Device gpu(int id = 0) { return {DeviceKind::gpu, static_cast<std::int16_t>(id)}; }

inline std::string to_text(Device device) {
  return cat(device.kind == DeviceKind::cpu ? "cpu(" : "gpu(", device.id, ')');
}

}  // namespace strop::inline v0
