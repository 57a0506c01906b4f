// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a file needs that defines operators: Op<T> and what its struct may state, views, contexts and the checks of
/// strop::check. The library's operators, the engine, graphs and autograd come with strop.hpp.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/op/check_call.hpp>
#include <strop/op/op.hpp>

#if defined(__CUDACC__)
#include <strop/cuda/enrol.hpp>
#endif

#include <strop/core/pop_macros.def>
