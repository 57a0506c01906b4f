// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the library that are no maps, with their kernels for every type.
#include <strop/cuda/reductions.hpp>

namespace {

const strop::cuda::Reductions kernels;

}  // namespace
