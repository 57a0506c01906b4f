// SPDX-License-Identifier: Apache-2.0
// reject: strop: check::storage takes a storage for each input of forward
#include <strop/op.hpp>
struct RowSum {
  void forward(strop::Cpu&, strop::CsrView<const float> x, strop::View<float, 1> y) const;
};
#if defined(CONTROL)
static_assert(strop::check::storage(RowSum{}, strop::csr) == strop::dense);
#else
static_assert(strop::check::storage(RowSum{}) == strop::dense);
#endif
