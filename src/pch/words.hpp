// SPDX-License-Identifier: Apache-2.0
/// \file
/// What every file of the command and of its rows reads, precompiled once.
#include <strop/verify.hpp>

#include <strop/strop.hpp>
