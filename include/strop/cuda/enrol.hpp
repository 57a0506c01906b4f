// SPDX-License-Identifier: Apache-2.0
/// \file
/// The kernels of an operator that is named in a .cu file: what its enroller puts into the registry's entry.
#pragma once
#if defined(__CUDACC__)
#include <strop/cuda/provider.hpp>

namespace strop::inline v0::cuda {

template <class T>
struct Launches {
  static const detail::CudaLaunch value;
};
template <class T>
const detail::CudaLaunch Launches<T>::value = launches_of<T, Launcher>();

/// What GPUs run of T; null where T is no map.
template <class T>
const detail::CudaLaunch* launch_of() {
  if constexpr (AnyMap<T>)
    return &Launches<T>::value;
  else
    return nullptr;
}

}  // namespace strop::inline v0::cuda
#endif
