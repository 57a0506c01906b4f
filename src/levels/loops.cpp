// SPDX-License-Identifier: Apache-2.0
/// \file
/// Has the runtime take the loops of this level for its own.
#include <strop/tensor/element_loops.hpp>

namespace {
[[maybe_unused]] const bool enrolled = (strop::detail::enrol(strop::detail::own_element_loops), true);
}  // namespace
