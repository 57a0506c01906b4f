// SPDX-License-Identifier: Apache-2.0
// What checks of the compiler say first (std_functions.cpp, number_conversions.cpp) is also the first sentence where an
// operator without a name is called, and where one has a name and is not called.

// reject-first EXP EXP_NAMED: strop: in forward() write exp(x), not std::exp(x)
// reject-first ABS: strop: in forward() write abs(x), not std::abs(x)
// reject-first POW: strop: in forward() write pow(x, y), not std::pow(x, y)
// reject-first MAX: strop: in forward() write max(x, y), not std::max(x, y)
// reject-first FABS: strop: in forward() write abs(x), not fabs(x)
// reject-first CAST CAST_NAMED(g++): strop: forward returns numbers of the kind that it takes: write auto forward
// reject-first CAST CAST_NAMED(clang++): strop: in forward() a number may be many at once: keep it auto
// reject-first REMAINDER REMAINDER_NAMED: strop: in forward() write fmod(a, b), not a % b
// reject-first FLOAT FLOAT_NAMED: strop: forward returns numbers of the kind that it takes: write auto forward
// reject-first ARRAY: strop: a parameter is no array; a list of integers is a strop::Shape
// reject-first BIT_FIELD: strop: a parameter is no bit-field
// reject-first BASE: strop: an operator has no base class: its parameters and members stand in itself
// reject-first MANY: strop: an operator has at most 32 parameters
// reject-first ENUMERATORS: strop: the enumerators of a parameter are 0, 1, 2 and so on
#include <strop/op/op.hpp>

#include <algorithm>
#include <cmath>

#if defined(BASE)
struct Base {
  float a = 1;
};
struct Bad : Base {
  float b = 1;
  constexpr auto forward(auto x) const { return b * x; }
};
#else
struct Bad {
#if defined(ARRAY)
  float list[3] = {};
#elif defined(BIT_FIELD)
  int bits : 3 = 1;
#elif defined(MANY)
  int p0 = 0, p1 = 0, p2 = 0, p3 = 0, p4 = 0, p5 = 0, p6 = 0, p7 = 0, p8 = 0, p9 = 0, p10 = 0, p11 = 0, p12 = 0,
      p13 = 0, p14 = 0, p15 = 0, p16 = 0, p17 = 0, p18 = 0, p19 = 0, p20 = 0, p21 = 0, p22 = 0, p23 = 0, p24 = 0,
      p25 = 0, p26 = 0, p27 = 0, p28 = 0, p29 = 0, p30 = 0, p31 = 0, p32 = 0;
#elif defined(ENUMERATORS)
  enum class Kind { a = 1, b };
  Kind kind = Kind::a;
#endif
  float b = 1;
  constexpr auto forward(auto x) const {
#if defined(EXP) || defined(EXP_NAMED)
    return std::exp(x);
#elif defined(ABS)
    return std::abs(x);
#elif defined(POW)
    return std::pow(x, 2);
#elif defined(MAX)
    return std::max(x, 0.5f);
#elif defined(FABS)
    return fabs(x);
#elif defined(CAST) || defined(CAST_NAMED)
    return (float)x;
#elif defined(REMAINDER) || defined(REMAINDER_NAMED)
    return x % 2;
#elif defined(FLOAT) || defined(FLOAT_NAMED)
    return b;
#else
    return b * x;
#endif
  }
};
#endif

#if defined(EXP_NAMED) || defined(CAST_NAMED) || defined(REMAINDER_NAMED) || defined(FLOAT_NAMED)
inline constexpr strop::Op<Bad> bad;
#else
strop::NDArray use(const strop::NDArray& x);
strop::NDArray use(const strop::NDArray& x) { return strop::Op<Bad>{}(x); }
#endif
