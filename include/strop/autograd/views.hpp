// SPDX-License-Identifier: Apache-2.0
/// \file
/// Views of an array that remember where they came from: slice, index, reshape.
#pragma once
#include <strop/tensor/ndarray.hpp>

#if !defined(STROP_COMPILED)
#include <strop/autograd/views_impl.hpp>
#endif
