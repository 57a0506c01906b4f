// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the operators of one level ask of a machine: STROP_LEVEL_NAME is v1 to v4. Data alone, so that any machine
/// reads it before a function of the level may run.
#include <strop/core/isa.hpp>

#define STROP_NAMED(name) strop_isa_##name
#define STROP_DATA_OF(name) STROP_NAMED(name)
extern const strop::detail::Isa STROP_DATA_OF(STROP_LEVEL_NAME);
constinit const strop::detail::Isa STROP_DATA_OF(STROP_LEVEL_NAME) = strop::detail::this_isa;
