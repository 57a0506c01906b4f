// SPDX-License-Identifier: Apache-2.0
// reject-first UNKNOWN UNKNOWN_OF_ALL NUMBER NUMBER_FIRST TEXT SYMBOL(g++): strop: no call of scaled takes these
// reject-first UNKNOWN UNKNOWN_OF_ALL NUMBER NUMBER_FIRST TEXT SYMBOL(g++): then its parameters, {.factor, .shift}
// reject-first UNKNOWN UNKNOWN_OF_ALL NUMBER NUMBER_FIRST TEXT SYMBOL(clang++): strop: no call of the operator takes
// reject-first UNKNOWN UNKNOWN_OF_ALL NUMBER NUMBER_FIRST TEXT SYMBOL(clang++): <Scaled,
// reject-first UNNAMED UNNAMED_NUMBER(g++): strop: no call of scaled takes these
// reject-first UNNAMED UNNAMED_NUMBER(g++): then its parameters, {.factor, .shift}
// reject-first UNNAMED UNNAMED_NUMBER(clang++): strop: no call of the operator takes
// reject-first UNNAMED UNNAMED_NUMBER(clang++): <Scaled,
// reject-first UNKNOWN(clang++): "factor"
// reject-first UNKNOWN(clang++): "shift"
// reject-first NONE(g++): strop: no call of plain takes these arguments: inputs of one kind stand first
// reject-first NONE(g++): then its parameters, of which it has none
// reject-first NONE(clang++): <Plain>
// reject-first OF_THE_LIBRARY(g++): strop: no call of sum takes these arguments
// reject-first OF_THE_LIBRARY(g++): then its parameters, {.axis, .keepdims, .exclude}
// reject-first OF_THE_LIBRARY(clang++): "keepdims"
#include <strop/graph/symbol.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/library.hpp>

struct Scaled {
  float factor = 1;
  int shift = 0;
  constexpr auto forward(auto x) const { return factor * x + shift; }
};
struct Plain {
  constexpr auto forward(auto x) const { return 2 * x; }
};
inline constexpr strop::Op<Scaled> scaled;
inline constexpr strop::Op<Plain> plain;

auto call(strop::NDArray x) {
#if defined(CONTROL)
  return plain(scaled(scaled(x), {.factor = 2}, strop::into(x)));
#elif defined(UNKNOWN)
  return scaled(x, {.factr = 2});
#elif defined(UNKNOWN_OF_ALL)
  return scaled(x, {.b = 2}, strop::into(x));
#elif defined(NUMBER)
  return scaled(x, 2);
#elif defined(NUMBER_FIRST)
  return scaled(2, x);
#elif defined(TEXT)
  return scaled(x, {.factor = "2"});
#elif defined(SYMBOL)
  return scaled(strop::Symbol(), 2);
#elif defined(UNNAMED)
  return strop::Op<Scaled>{}(x, {.factr = 2});
#elif defined(UNNAMED_NUMBER)
  return strop::Op<Scaled>{}(x, 2);
#elif defined(NONE)
  return plain(x, {.factor = 2});
#elif defined(OF_THE_LIBRARY)
  return strop::sum(x, {.axes = 1});
#endif
}
