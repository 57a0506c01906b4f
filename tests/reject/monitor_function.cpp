// SPDX-License-Identifier: Apache-2.0
// reject: strop: a monitor is a function of a name and an array
#include <strop/strop.hpp>
#if defined(CONTROL)
const auto monitor = [](const std::string&, const strop::NDArray&) {};
#else
const auto monitor = [](const strop::NDArray&) {};
#endif
const auto called = (strop::var("x").simple_bind(strop::cpu(), {{"x", {1}}}).set_monitor(monitor), 0);
