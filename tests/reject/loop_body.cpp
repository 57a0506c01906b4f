// SPDX-License-Identifier: Apache-2.0
// reject: strop: the body of a loop takes what a step sees (of foreach an entry and the state, of while_loop
#include <strop/strop.hpp>
using strop::Symbol;
#if defined(CONTROL)
const auto step_of_loop = [](const Symbol& entry, const Symbol& state) { return std::pair(entry, state); };
#else
const auto step_of_loop = [](const Symbol& entry, const Symbol&) { return entry; };
#endif
const auto called = (strop::foreach(step_of_loop, strop::var("x"), strop::var("s")), 0);
