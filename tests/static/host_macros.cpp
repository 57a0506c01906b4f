// SPDX-License-Identifier: Apache-2.0
/// \file
/// Macros that hosts have for words of ours, defined before our headers are read, and still there behind them.
#include <algorithm>
#include <complex>
#include <vector>

#define E 2.718281828459045
#define I _Complex_I
#define N 10
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define None 0L
#define Bool int
#define Status int
#define Success 0
#define Always 2
#define True 1
#define False 0
#define near
#define far
#define small char
#define slots
#define signals public
#define emit
#define foreach for
#define check(condition) static_cast<void>(condition)
#define verify(condition) static_cast<void>(condition)
#define major(device) ((device) >> 8)
#define minor(device) ((device) & 255)

#include <strop/eigen.hpp>
#include <strop/ops/all.hpp>
#include <strop/strop.hpp>

static_assert(max(N, 3) == 10 && min(N, 3) == 3 && E > 2.7 && Success == False);

struct Halved {
  float by = 2;
  constexpr auto forward(auto x) const { return x / by; }
};
inline constexpr strop::Op<Halved> halved;

strop::Array use(const strop::Array& x);
strop::Array use(const strop::Array& x) { return strop::tanh(halved(x, {.by = 3})) + x; }
