// SPDX-License-Identifier: Apache-2.0
/// \file
/// The kernels of an operator that is named in a .cu file: what its enroller puts into the registry's entry.
#pragma once
#if defined(__CUDACC__)
#include <strop/cuda/launches.hpp>
#include <strop/cuda/provider.hpp>
#include <strop/op/op.hpp>

namespace strop::inline v0::cuda {

template <class T>
struct Launches {
  static const detail::Kernels value;
};
template <class T>
const detail::Kernels Launches<T>::value = launches_of<T, Launcher>();

template <class T>
const detail::Kernels* kernels_of() {
  return &Launches<T>::value;
}

}  // namespace strop::inline v0::cuda
#endif
