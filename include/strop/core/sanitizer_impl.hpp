// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the runtime is built with.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/sanitizer.hpp>

namespace strop::inline v0::detail {

STROP_IMPL bool runtime_sanitized() noexcept { return sanitized; }

}  // namespace strop::inline v0::detail
