// SPDX-License-Identifier: Apache-2.0
// reject: strop: grad_use_in takes (dy..., x...), one dy per output and one x per input of forward, and is const
#include <strop/op/diagnose.hpp>
#include <strop/op/tags.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;
#if defined(CONTROL)
struct Bad {
  constexpr auto forward(auto x) const { return x; }
  constexpr auto grad_use_in(auto dy, auto) const { return dy; }
};
#else
struct Bad {
  constexpr auto forward(auto x) const { return x; }
  constexpr auto grad_use_in(auto dy) const { return dy; }
};
#endif
static_assert(strop::diagnose<Bad>());
