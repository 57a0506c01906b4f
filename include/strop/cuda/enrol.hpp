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

/// Gives operators of the library their kernels for GPUs, when the program starts. nvcc need not build what the CPU
/// runs of them.
template <class... T>
struct Enrolled {
  Enrolled() { (enrol<T>(), ...); }

 private:
  template <class X>
  static void enrol() {
    detail::slot<X>.cuda.store(&Launches<X>::value);
    if constexpr (requires { typename LibraryKernels<X>::Gradient; }) enrol<typename LibraryKernels<X>::Gradient>();
  }
};

}  // namespace strop::inline v0::cuda
#endif
