// SPDX-License-Identifier: Apache-2.0
/// \file
/// Facts<R>: what is known of a number without computing it. Running a body on facts tells which storages survive
/// (zero or anything) and what the gradient needs (the degree in each input).
#pragma once
#include <strop/number/num.hpp>

#include <concepts>
#include <cstdint>

#define STROP_FN constexpr

namespace strop::inline v0::number {

/// What a function of the vocabulary counts beside an addition: about the terms of its polynomial.
inline constexpr int function_operations = 16;

/// An abstract number. R is the type that the arrays compute in: a body may be 0 at 0 in float and not in double.
///
/// `known`: the value is a constant, `value`. `depends`: the inputs that the value depends on. `varies`: some
/// derivative is not identically zero. `kept`: the inputs that the derivatives depend on; a linear map's are none.
/// `count`: where operations on what is not constant are counted, once each; null where they are not.
template <class R>
struct Facts {
  using Exact = Num<R>;
  using Real = Facts;
  struct MaskRep {
    bool known = false, value = false;
    std::uint64_t depends = 0;
    int* count = nullptr;
    friend constexpr MaskRep operator&(MaskRep a, MaskRep b) {
      if ((a.known && !a.value) || (b.known && !b.value)) return {true, false, 0};
      return {a.known && b.known, a.value && b.value, a.depends | b.depends, either(a.count, b.count)};
    }
    friend constexpr MaskRep operator|(MaskRep a, MaskRep b) { return !((!a) & (!b)); }
    friend constexpr MaskRep operator!(MaskRep a) { return {a.known, !a.value, a.depends, a.count}; }
  };
  static constexpr bool integer = false;
  /// The counter of either of two numbers.
  STROP_FN static int* either(int* a, int* b) { return a != nullptr ? a : b; }

  bool known = false;
  Exact value = Exact::of(R{});
  std::uint64_t depends = 0;
  bool varies = false;
  std::uint64_t kept = 0;
  int* count = nullptr;

  Facts() = default;
  template <Literal A>
  STROP_FN Facts(A a) : known(true), value(Exact::of(static_cast<R>(a))) {}
  STROP_FN static Facts constant(Exact c) {
    Facts f;
    f.known = true;
    f.value = c;
    return f;
  }
  /// Input number k, of which nothing is known; one that nothing is differentiated by does not vary.
  STROP_FN static Facts input(int k, int* count = nullptr, bool varies = true) {
    Facts f;
    f.count = count;
    f.depends = std::uint64_t{1} << k;
    f.varies = varies;
    return f;
  }
  STROP_FN bool is_zero() const { return known && value.v == 0; }
  STROP_FN bool is_one() const { return known && value.v == 1; }

  // Adding 0 and multiplying by 1, which duals do, are no operations.
  STROP_FN friend Facts operator+(Facts a, Facts b) {
    if (a.known && b.known) return constant(a.value + b.value);
    return a.is_zero() ? b : b.is_zero() ? a : linear(a, b);
  }
  STROP_FN friend Facts operator-(Facts a, Facts b) {
    if (a.known && b.known) return constant(a.value - b.value);
    return b.is_zero() ? a : linear(a, b);
  }
  STROP_FN friend Facts operator-(Facts a) { return a.known ? constant(-a.value) : counted(a, 1); }
  STROP_FN friend Facts operator+(Facts a) { return a; }
  STROP_FN friend Facts operator*(Facts a, Facts b) {
    if (a.known && b.known) return constant(a.value * b.value);
    if (a.is_zero() || b.is_zero()) return Facts(0);  // zero · anything = zero
    if (a.is_one() || b.is_one()) return a.is_one() ? b : a;
    Facts y = linear(a, b);
    if (a.varies) y.kept |= b.depends;
    if (b.varies) y.kept |= a.depends;
    return y;
  }
  STROP_FN friend Facts operator/(Facts a, Facts b) {
    if (a.known && b.known) return constant(a.value / b.value);
    if (a.is_zero()) return Facts(0);
    Facts y = linear(a, b);
    if (a.varies) y.kept |= b.depends;
    if (b.varies) y.kept |= a.depends | b.depends;
    return y;
  }
  STROP_FN friend Facts& operator+=(Facts& a, Facts b) { return a = a + b; }
  STROP_FN friend Facts& operator-=(Facts& a, Facts b) { return a = a - b; }
  STROP_FN friend Facts& operator*=(Facts& a, Facts b) { return a = a * b; }
  STROP_FN friend Facts& operator/=(Facts& a, Facts b) { return a = a / b; }

#define STROP_COMPARE(op)                                               \
  STROP_FN friend Mask<Facts> operator op(Facts a, Facts b) {           \
    if (a.known && b.known) return {{true, a.value.v op b.value.v, 0}}; \
    return {{false, false, a.depends | b.depends, linear(a, b).count}}; \
  }
  STROP_COMPARE(<)
  STROP_COMPARE(<=)
  STROP_COMPARE(>)
  STROP_COMPARE(>=)
  STROP_COMPARE(==)
  STROP_COMPARE(!=)
#undef STROP_COMPARE

  STROP_FN static Facts select(MaskRep m, Facts a, Facts b) {
    if (m.known) return m.value ? a : b;
    if (a.known && b.known && a.value.v == b.value.v) return a;
    a.count = either(a.count, m.count);
    Facts y = linear(a, b);
    y.depends |= m.depends;
    if (y.varies) y.kept |= m.depends;
    return y;
  }
  STROP_FN friend Facts where(bool c, Facts a, Facts b) { return c ? a : b; }
  STROP_FN friend Mask<Facts> isnan(Facts a) {
    if (a.known) return {{true, a.value.v != a.value.v, 0}};
    return {{false, false, a.depends, counted(a, 1).count}};
  }
  STROP_FN friend Facts max(Facts a, Facts b) {
    return a.known && b.known ? constant(max(a.value, b.value)) : curved(linear(a, b));
  }
  STROP_FN friend Facts min(Facts a, Facts b) {
    return a.known && b.known ? constant(min(a.value, b.value)) : curved(linear(a, b));
  }
  STROP_FN friend Facts abs(Facts a) { return a.known ? constant(abs(a.value)) : curved(counted(a, 1)); }
  STROP_FN friend Facts sign(Facts a) { return a.known ? constant(sign(a.value)) : flat(counted(a, 1)); }

#define STROP_REAL(f) \
  STROP_FN friend Facts f(Facts a) { return a.known ? constant(f(a.value)) : curved(counted(a, function_operations)); }
#define STROP_REAL2(f)                                                                  \
  STROP_FN friend Facts f(Facts a, Facts b) {                                           \
    return a.known && b.known ? constant(f(a.value, b.value))                           \
                              : curved(counted(linear(a, b), function_operations - 1)); \
  }
#define STROP_STEP(f) \
  STROP_FN friend Facts f(Facts a) { return a.known ? constant(f(a.value)) : flat(counted(a, 1)); }
#include <strop/number/vocabulary.def>
  STROP_FN friend Facts polygamma(int n, Facts a) {
    return a.known ? constant(polygamma(n, a.value)) : curved(counted(a, function_operations));
  }

 private:
  STROP_FN static Facts counted(Facts a, int operations) {
    if (a.count != nullptr) *a.count += operations;
    return a;
  }
  /// Of two numbers of which one at least is not constant; one operation.
  STROP_FN static Facts linear(Facts a, Facts b) {
    Facts y;
    y.count = either(a.count, b.count);
    if (y.count != nullptr) ++*y.count;
    y.depends = a.depends | b.depends;
    y.varies = a.varies || b.varies;
    y.kept = a.kept | b.kept;
    return y;
  }
  STROP_FN static Facts curved(Facts a) {
    a.known = false;
    if (a.varies) a.kept |= a.depends;
    return a;
  }
  STROP_FN static Facts flat(Facts a) {
    a.varies = false;
    a.kept = 0;
    return a;
  }
};

}  // namespace strop::inline v0::number

#undef STROP_FN
