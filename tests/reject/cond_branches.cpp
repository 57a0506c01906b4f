// SPDX-License-Identifier: Apache-2.0
// reject: strop: both branches of cond take nothing and return the same: an array or a symbol, or a std::vector of them
#include <strop/strop.hpp>
const strop::NDArray x = strop::zeros({1});
#if defined(CONTROL)
const auto y = (strop::cond(x, [] { return x; }, [] { return x * 2; }), 0);
#else
const auto y = (strop::cond(x, [] { return x; }, [] { return 2; }), 0);
#endif
