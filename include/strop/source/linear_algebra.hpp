// SPDX-License-Identifier: Apache-2.0
/// \file
/// The part of the runtime that computes with Eigen: factors, determinants, eigenvalues. strop/source.hpp includes
/// every part.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/ops/linalg/solvers_impl.hpp>

#include <strop/core/pop_macros.def>
