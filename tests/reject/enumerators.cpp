// SPDX-License-Identifier: Apache-2.0
// reject-first FROM_ONE FLAGS NEGATIVE GAP NONE MANY: strop: the enumerators of a parameter are 0, 1, 2 and so on
#include <strop/op/op.hpp>

struct Bad {
#if defined(CONTROL)
  enum class Kind : bool {
    an_enumerator_whose_name_is_longer_than_most_that_an_operator_has,
    another_enumerator_whose_name_is_longer_than_most_that_an_operator_has
  };
#elif defined(FROM_ONE)
  enum class Kind { a = 1, b, c };
#elif defined(FLAGS)
  enum class Kind { a = 0, b = 1, c = 2, d = 4 };
#elif defined(NEGATIVE)
  enum class Kind { a = -1, b, c };
#elif defined(GAP)
  enum class Kind { a, b = 5 };
#elif defined(NONE)
  enum class Kind {};
#elif defined(MANY)
  enum class Kind {
    e0,
    e1,
    e2,
    e3,
    e4,
    e5,
    e6,
    e7,
    e8,
    e9,
    e10,
    e11,
    e12,
    e13,
    e14,
    e15,
    e16,
    e17,
    e18,
    e19,
    e20,
    e21,
    e22,
    e23,
    e24,
    e25,
    e26,
    e27,
    e28,
    e29,
    e30,
    e31,
    e32,
    e33,
    e34,
    e35,
    e36,
    e37,
    e38,
    e39,
    e40,
    e41,
    e42,
    e43,
    e44,
    e45,
    e46,
    e47,
    e48,
    e49,
    e50,
    e51,
    e52,
    e53,
    e54,
    e55,
    e56,
    e57,
    e58,
    e59,
    e60,
    e61,
    e62,
    e63,
    e64
  };
#endif
  Kind kind = {};
  constexpr auto forward(auto x) const { return x; }
};
inline constexpr strop::Op<Bad> bad;
