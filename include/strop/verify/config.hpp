// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where the code of verify/ lives: inline in what includes it; with STROP_VERIFY_COMPILED, as the `strop` command has
/// it, in one file, which includes verify/source.hpp.
#pragma once

#if defined(STROP_VERIFY_COMPILED)
#define STROP_VERIFY_IMPL
#else
#define STROP_VERIFY_IMPL inline
#endif
