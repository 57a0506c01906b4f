// SPDX-License-Identifier: Apache-2.0
// reject: strop: the body of a loop takes what a step sees (of foreach an entry and the state, of while_loop
#include <strop/strop.hpp>
using strop::Symbol;
#if defined(CONTROL)
const auto body = [](const Symbol& x, const Symbol& s) { return std::pair(x, s); };
#else
const auto body = [](const Symbol& x, const Symbol&) { return x; };
#endif
const auto y = (strop::foreach(body, strop::var("x"), strop::var("s")), 0);
