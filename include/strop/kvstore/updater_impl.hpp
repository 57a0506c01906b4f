// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an updater that is a function of the program says of its states.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/log.hpp>
#include <strop/kvstore/updater.hpp>

namespace strop::inline v0::detail {

STROP_IMPL std::string StoreUpdater::states() const {
  fail(
      "KVStore::save_states: the updater is a function of the program, and what it remembers is not known; "
      "set_optimizer has states");
}
STROP_IMPL std::string StoreUpdater::merged(Span<const std::string>) const { return states(); }
STROP_IMPL void StoreUpdater::set_states(std::string_view) {
  fail(
      "KVStore::load_states: the updater is a function of the program, and what it remembers is not known; "
      "set_optimizer has states");
}

}  // namespace strop::inline v0::detail
