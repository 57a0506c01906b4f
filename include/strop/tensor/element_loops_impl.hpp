// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which loops the compiled runtime calls.
#pragma once
#include <strop/core/config.hpp>
#include <strop/tensor/element_loops.hpp>

#if defined(STROP_COMPILED)
#include <atomic>

namespace strop::inline v0::detail {

inline constinit std::atomic<const ElementLoops*> element_loops_in_use{&own_element_loops};

STROP_IMPL const ElementLoops& element_loops() { return *element_loops_in_use.load(std::memory_order_relaxed); }

STROP_IMPL void enrol(const ElementLoops& own) {
  if (!runs_here(own.isa)) return;
  const ElementLoops* before = element_loops_in_use.load();
  while (preferred(own.isa, before->isa) && !element_loops_in_use.compare_exchange_weak(before, &own)) {
  }
}

}  // namespace strop::inline v0::detail
#endif
