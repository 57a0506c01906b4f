// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whether many arrays lie in memory of their own, found without comparing each with each.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/dispatch.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0::detail {

STROP_IMPL bool lie_apart(Span<const NDArray* const> read, Span<const NDArray> written) {
  struct Lies {
    std::uintptr_t begin, end;
  };
  const auto place = [](const NDArray& a) {
    const Span<const std::byte> memory = memory_of(a);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    return Lies{begin, begin + static_cast<std::uintptr_t>(memory.size())};
  };
  List<Lies> taken;
  for (const NDArray& a : written) {
    if (a.storage() != dense) return false;
    if (const Lies lies = place(a); lies.begin != lies.end) taken.push_back(lies);
  }
  std::sort(taken.begin(), taken.end(), [](const Lies& a, const Lies& b) { return a.begin < b.begin; });
  for (Index i = 1; i < taken.size(); ++i)
    if (taken[i].begin < taken[i - 1].end) return false;
  for (const NDArray* const a : read) {
    if (a->storage() != dense) return false;
    const Lies lies = place(*a);
    const auto* const behind = std::lower_bound(taken.begin(), taken.end(), lies.end,
                                                [](const Lies& one, std::uintptr_t end) { return one.begin < end; });
    if (behind != taken.begin() && (behind - 1)->end > lies.begin) return false;
  }
  return true;
}

}  // namespace strop::inline v0::detail
