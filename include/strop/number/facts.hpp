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

/// What is noted while a body runs on facts.
struct Tally {
  int operations = 0;    // on what is not constant
  bool dropped = false;  // facts have a 0 where plain numbers and their derivatives may have NaN: 0 · ∞, 0 / 0
};

/// An abstract number. R is the type that the arrays compute in: a body may be 0 at 0 in float and not in double.
///
/// `known`: the value is a constant, `value`. `depends`: the inputs that the value depends on. `varies`: some
/// derivative is not identically zero. `kept`: the inputs that the derivatives depend on; a linear map's are none.
/// `wild`: the value or a derivative may be infinite or NaN where the inputs are finite. `empty`: plain numbers carry
/// along a derivative that is 0, as of 0 · x, where facts know that there is none. `tally`: where it is noted what
/// happens to what is not constant, each operation once; null where nobody asks.
template <class R>
struct Facts {
  using Exact = Num<R>;
  using Real = Facts;
  struct MaskRep {
    bool known = false, value = false;
    std::uint64_t depends = 0;
    Tally* tally = nullptr;
    friend constexpr MaskRep operator&(MaskRep a, MaskRep b) {
      if ((a.known && !a.value) || (b.known && !b.value)) return {true, false, 0};
      return {a.known && b.known, a.value && b.value, a.depends | b.depends, either(a.tally, b.tally)};
    }
    friend constexpr MaskRep operator|(MaskRep a, MaskRep b) { return !((!a) & (!b)); }
    friend constexpr MaskRep operator!(MaskRep a) { return {a.known, !a.value, a.depends, a.tally}; }
  };
  static constexpr bool integer = false;
  /// The tally of either of two numbers.
  STROP_FN static Tally* either(Tally* a, Tally* b) { return a != nullptr ? a : b; }

  bool known = false;
  Exact value = Exact::of(R{});
  std::uint64_t depends = 0;
  bool varies = false;
  std::uint64_t kept = 0;
  bool wild = false, empty = false;
  Tally* tally = nullptr;

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
  STROP_FN static Facts input(int k, Tally* tally = nullptr, bool varies = true) {
    Facts f;
    f.tally = tally;
    f.depends = std::uint64_t{1} << k;
    f.varies = varies;
    return f;
  }
  STROP_FN bool is_zero() const { return known && value.v == 0; }
  STROP_FN bool is_one() const { return known && value.v == 1; }

  // Adding 0 and multiplying by 1, which duals do, are no operations.
  STROP_FN friend Facts operator+(Facts a, Facts b) {
    if (a.known && b.known) return constant(a.value + b.value, a, b);
    return a.is_zero() ? b.beside(a) : b.is_zero() ? a.beside(b) : linear(a, b);
  }
  STROP_FN friend Facts operator-(Facts a, Facts b) {
    if (a.known && b.known) return constant(a.value - b.value, a, b);
    return b.is_zero() ? a.beside(b) : linear(a, b);
  }
  STROP_FN friend Facts operator-(Facts a) { return a.known ? constant(-a.value, a, a) : counted(a, 1); }
  STROP_FN friend Facts operator+(Facts a) { return a; }
  STROP_FN friend Facts operator*(Facts a, Facts b) {
    if ((a.empty && b.wild) || (b.empty && a.wild)) note_dropped(a, b);
    if (a.known && b.known) return constant(a.value * b.value, a, b);
    if (a.is_zero() || b.is_zero()) return zero_for(a, b, a.wild || b.wild);  // zero · anything = zero
    if (a.is_one() || b.is_one()) return a.is_one() ? b.beside(a) : a.beside(b);
    Facts y = linear(a, b);
    if (a.varies) y.kept |= b.depends;
    if (b.varies) y.kept |= a.depends;
    return y;
  }
  STROP_FN friend Facts operator/(Facts a, Facts b) {
    const bool finite = b.known && !b.is_zero();
    if ((a.empty && !finite) || (b.empty && (!finite || a.wild))) note_dropped(a, b);
    if (a.known && b.known) return constant(a.value / b.value, a, b);
    if (a.is_zero()) return zero_for(a, b, true);
    Facts y = linear(a, b);
    y.wild = y.wild || !finite;
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
    return {{false, false, a.depends | b.depends, linear(a, b).tally}}; \
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
    a.tally = either(a.tally, m.tally);
    Facts y = linear(a, b);
    y.depends |= m.depends;
    if (y.varies) y.kept |= m.depends;
    return y;
  }
  STROP_FN friend Facts where(bool c, Facts a, Facts b) { return c ? a : b; }
  STROP_FN friend Mask<Facts> isnan(Facts a) {
    if (a.known) return {{true, a.value.v != a.value.v, 0}};
    return {{false, false, a.depends, counted(a, 1).tally}};
  }
  STROP_FN friend Facts max(Facts a, Facts b) {
    return a.known && b.known ? constant(max(a.value, b.value), a, b) : curved(linear(a, b));
  }
  STROP_FN friend Facts min(Facts a, Facts b) {
    return a.known && b.known ? constant(min(a.value, b.value), a, b) : curved(linear(a, b));
  }
  STROP_FN friend Facts abs(Facts a) { return a.known ? constant(abs(a.value), a, a) : curved(counted(a, 1)); }
  STROP_FN friend Facts sign(Facts a) { return a.known ? constant(sign(a.value)) : flat(counted(a, 1)); }

#define STROP_REAL(f)                                         \
  STROP_FN friend Facts f(Facts a) {                          \
    const Facts y = wild_of(counted(a, function_operations)); \
    return a.known ? constant(f(a.value), a, a) : y;          \
  }
#define STROP_TAME(f)                                                                      \
  STROP_FN friend Facts f(Facts a) {                                                       \
    if (a.empty && a.wild) note_dropped(a, a);                                             \
    return a.known ? constant(f(a.value), a, a) : curved(counted(a, function_operations)); \
  }
#define STROP_REAL2(f)                                                  \
  STROP_FN friend Facts f(Facts a, Facts b) {                           \
    const Facts y = wild_of(linear(a, b));                              \
    if (a.known && b.known) return constant(f(a.value, b.value), a, b); \
    return counted(y, function_operations - 1);                         \
  }
#define STROP_STEP(f) \
  STROP_FN friend Facts f(Facts a) { return a.known ? constant(f(a.value)) : flat(counted(a, 1)); }
#define STROP_TIMES2(f)                                                               \
  STROP_FN friend Facts f(Facts a, Facts b) {                                         \
    if (a.is_zero() && !b.known) return zero_for(a, b, b.wild || a.empty || b.empty); \
    const Facts y = wild_of(linear(a, b));                                            \
    if (a.known && b.known) return constant(f(a.value, b.value), a, b);               \
    return counted(y, function_operations - 1);                                       \
  }
#include <strop/number/vocabulary.def>
  STROP_FN friend Facts polygamma(int n, Facts a) {
    const Facts y = wild_of(counted(a, function_operations));
    return a.known ? constant(polygamma(n, a.value), a, a) : y;
  }
  STROP_FN friend Facts sinc_derivative(int n, Facts a) {
    if (a.empty && a.wild) note_dropped(a, a);
    return a.known ? constant(sinc_derivative(n, a.value), a, a) : curved(counted(a, function_operations));
  }

 private:
  STROP_FN static Facts counted(Facts a, int operations) {
    if (!a.known && a.tally != nullptr) a.tally->operations += operations;
    return a;
  }
  STROP_FN static void note_dropped(const Facts& a, const Facts& b) {
    if (Tally* const tally = either(a.tally, b.tally); tally != nullptr) tally->dropped = true;
  }
  /// What is computed from constants; it is empty where one of them is.
  STROP_FN static Facts constant(Exact c, const Facts& a, const Facts& b) {
    Facts y = constant(c);
    return y.beside(a).beside(b);
  }
  /// The number after an operation with a constant that changes nothing.
  STROP_FN Facts beside(const Facts& other) const {
    Facts y = *this;
    if (!other.empty) return y;
    y.empty = true;
    y.tally = either(y.tally, other.tally);
    return y;
  }
  /// 0 in the place of a term of a and b.
  STROP_FN static Facts zero_for(const Facts& a, const Facts& b, bool dropped) {
    if (dropped) note_dropped(a, b);
    Facts y = 0;
    y.empty = true;
    y.tally = either(a.tally, b.tally);
    return y;
  }
  /// Of two numbers of which one at least is not constant; one operation.
  STROP_FN static Facts linear(Facts a, Facts b) {
    Facts y;
    y.tally = either(a.tally, b.tally);
    if (y.tally != nullptr && !(a.known && b.known)) ++y.tally->operations;
    y.depends = a.depends | b.depends;
    y.varies = a.varies || b.varies;
    y.kept = a.kept | b.kept;
    y.wild = a.wild || b.wild;
    y.empty = a.empty || b.empty;
    return y;
  }
  STROP_FN static Facts curved(Facts a) {
    a.known = false;
    if (a.varies) a.kept |= a.depends;
    return a;
  }
  STROP_FN static Facts wild_of(Facts a) {
    if (a.empty) note_dropped(a, a);
    a.wild = true;
    return curved(a);
  }
  STROP_FN static Facts flat(Facts a) {
    a.varies = false;
    a.empty = false;
    a.kept = 0;
    return a;
  }
};

template <class R>
inline constexpr bool is_plain<Facts<R>> = true;

}  // namespace strop::inline v0::number

#undef STROP_FN
