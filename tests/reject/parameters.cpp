// SPDX-License-Identifier: Apache-2.0
// reject-first ARRAY: strop: a parameter is no array; a list of integers is a strop::Shape
// reject-first BIT_FIELD: strop: a parameter is no bit-field
// reject-first CONSTANT: strop: no parameter is const or a reference
// reject-first NO_VALUE NO_VALUE_LAST: strop: every parameter has a default initialiser
// reject-first MANY: strop: an operator has at most 32 parameters
// reject-first MUTABLE MUTABLE_LAST: strop: no parameter is mutable: the threads of a call share them
// reject-first BASE EMPTY_BASE: strop: an operator has no base class: its parameters and members stand in itself
#include <strop/op/op.hpp>

struct Base {
  float a = 1;
};
struct Empty {};

#if defined(BASE)
struct Bad : Base {
  float b = 1;
  constexpr auto forward(auto x) const { return x; }
};
#elif defined(EMPTY_BASE)
struct Bad : Empty {
  float b = 1;
  constexpr auto forward(auto x) const { return x; }
};
#else
struct Bad {
#if defined(CONTROL)
  float a = 1;
  strop::Shape list;  // has a value without being given one
  strop::Required<int> n = {};
  static constexpr int bits = 3;
#elif defined(ARRAY)
  float a = 1;
  float list[3] = {};
#elif defined(BIT_FIELD)
  float a = 1;
  int bits : 3 = 1;
#elif defined(CONSTANT)
  const float a = 1;
#elif defined(MUTABLE)
  mutable float a = 1;
#elif defined(MUTABLE_LAST)
  float a = 1;
  strop::Shape list;
  mutable bool used = false;
#elif defined(NO_VALUE)
  float a;
#elif defined(NO_VALUE_LAST)
  float a = 1;
  bool b;
#elif defined(MANY)
  int p0 = 0, p1 = 0, p2 = 0, p3 = 0, p4 = 0, p5 = 0, p6 = 0, p7 = 0, p8 = 0, p9 = 0, p10 = 0, p11 = 0, p12 = 0,
      p13 = 0, p14 = 0, p15 = 0, p16 = 0, p17 = 0, p18 = 0, p19 = 0, p20 = 0, p21 = 0, p22 = 0, p23 = 0, p24 = 0,
      p25 = 0, p26 = 0, p27 = 0, p28 = 0, p29 = 0, p30 = 0, p31 = 0, p32 = 0;
#endif
  constexpr auto forward(auto x) const { return x; }
};
#endif
inline constexpr strop::Op<Bad> bad;
