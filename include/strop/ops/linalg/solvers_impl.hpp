// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which table of linear algebra is taken.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/ops/linalg/solvers.hpp>

#include <atomic>

#if defined(STROP_COMPILED)
#include <strop/ops/linalg/eigen_solvers.hpp>
#endif

namespace strop::inline v0::detail {

#if defined(STROP_COMPILED)
inline constinit std::atomic<const LinearAlgebra*> linear_algebra_in_use{&own_linear_algebra};
#else
inline constinit std::atomic<const LinearAlgebra*> linear_algebra_in_use{nullptr};
#endif

STROP_IMPL const LinearAlgebra& linear_algebra(std::string_view op) {
  const LinearAlgebra* const taken = linear_algebra_in_use.load(std::memory_order_acquire);
  if (taken == nullptr) [[unlikely]]
    fail(op, " computes with Eigen: include <strop/linalg.hpp>, or link the compiled runtime");
  return *taken;
}

STROP_IMPL void enrol(const LinearAlgebra& own) {
  if (!runs_here(own.isa)) return;
  const LinearAlgebra* before = linear_algebra_in_use.load();
  while ((before == nullptr || preferred(own.isa, before->isa)) &&
         !linear_algebra_in_use.compare_exchange_weak(before, &own)) {
  }
}

}  // namespace strop::inline v0::detail
