// SPDX-License-Identifier: Apache-2.0
/// \file
/// Has the operators take the linear algebra of this level.
#include <strop/ops/linalg/eigen_solvers.hpp>

namespace {
[[maybe_unused]] const bool enrolled = (strop::detail::enrol(strop::detail::own_linear_algebra), true);
}  // namespace
