// SPDX-License-Identifier: Apache-2.0
// reject: strop: check::storage takes a storage for each input of forward
#include <strop/op/check.hpp>
struct Twice {
  constexpr auto forward(auto x) const { return 2 * x; }
};
#if defined(CONTROL)
static_assert(strop::check::storage(Twice{}, strop::csr) == strop::csr);
#else
static_assert(strop::check::storage(Twice{}, strop::csr, strop::csr) == strop::csr);
#endif
