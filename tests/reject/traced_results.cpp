// SPDX-License-Identifier: Apache-2.0
// reject: strop: a traced function returns an array, or a std::vector, std::tuple, std::pair or std::array of them
#include <strop/strop.hpp>
#if defined(CONTROL)
const auto f = strop::trace_function([](const strop::NDArray& x) { return x; });
#else
const auto f = strop::trace_function([](const strop::NDArray&) { return 1; });
#endif
const auto y = (f(strop::zeros({1})), 0);
