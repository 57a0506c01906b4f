// SPDX-License-Identifier: Apache-2.0
// reject: required_parameter_is_missing
#include <strop/op/check.hpp>
struct Times {
  strop::Required<double> by = {};
  constexpr auto forward(auto x) const { return *by * x; }
};
#if defined(CONTROL)
static_assert(strop::check::value(Times{.by = 3.0}, 2.0) == 6);
#else
static_assert(strop::check::value(Times{}, 2.0) == 0);
#endif
