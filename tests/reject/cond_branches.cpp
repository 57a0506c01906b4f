// SPDX-License-Identifier: Apache-2.0
// reject: strop: both branches of cond take nothing and return the same: an array or a symbol, or a std::vector of them
#include <strop/strop.hpp>
const strop::NDArray predicate = strop::zeros({1});
#if defined(CONTROL)
const auto called = (strop::cond(predicate, [] { return predicate; }, [] { return predicate * 2; }), 0);
#else
const auto called = (strop::cond(predicate, [] { return predicate; }, [] { return 2; }), 0);
#endif
