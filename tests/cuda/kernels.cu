// SPDX-License-Identifier: Apache-2.0
/// \file
/// The GPU kernels of the operators: of a map, naming it in a .cu file is all.
#include "operators.hpp"

namespace checks {

template <strop::Real E>
void RowSoftmax::forward(strop::Cuda& ctx, strop::View<const E, 2> x, strop::View<E, 2> y) const {
  strop::cuda::launch(ctx, SoftmaxRows<E>{x, y, temperature});
}
template <strop::Real E>
void RowSoftmax::grad_use_out(strop::Cuda& ctx, strop::View<const E, 2> dy, strop::View<const E, 2> y,
                              strop::View<E, 2> dx) const {
  strop::cuda::launch(ctx, SoftmaxSlope<E>{dy, y, dx, temperature});
}

}  // namespace checks
