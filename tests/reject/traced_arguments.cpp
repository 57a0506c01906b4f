// SPDX-License-Identifier: Apache-2.0
// reject: strop: a traced function takes as many arrays as it is called with, and is const
#include <strop/strop.hpp>
const auto f = strop::trace_function([](const strop::NDArray& x) { return x; });
#if defined(CONTROL)
const strop::NDArray y = f(strop::zeros({1}));
#else
const auto y = (f(strop::zeros({1}), strop::zeros({1})), 0);
#endif
