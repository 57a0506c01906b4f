// SPDX-License-Identifier: Apache-2.0
// reject-first EQUAL NOT AND TERNARY WHILE: strop: an array is no condition: allclose(a, b) compares two of them
// reject-first ARRAY: and x.defined() asks whether there is an array
// reject-first SYMBOL SYMBOL_EQUAL: strop: a symbol is no condition: a comparison of symbols is an expression as well
#include <strop/strop.hpp>

int choose(const strop::NDArray& a, const strop::NDArray& b, const strop::Symbol& s);
int choose(const strop::NDArray& a, const strop::NDArray& b, const strop::Symbol& s) {
#if defined(CONTROL)
  if (a.defined() && strop::allclose(a, b)) return 1;
  if ((a == b).item<bool>()) return 2;
#elif defined(EQUAL)
  if (a == b) return 1;
#elif defined(NOT)
  if (!(a != 2)) return 1;
#elif defined(AND)
  if (a.defined() && a > b) return 1;
#elif defined(TERNARY)
  return a < 0 ? 1 : 2;
#elif defined(WHILE)
  while (b <= a) return 1;
#elif defined(ARRAY)
  if (a) return 1;
#elif defined(SYMBOL)
  if (s) return 1;
#elif defined(SYMBOL_EQUAL)
  if (s == s) return 1;
#endif
  return a.size() == b.size() && s.defined() ? 3 : 4;
}
