// SPDX-License-Identifier: Apache-2.0
/// \file
/// Jet: sixteen numbers at once, each with its derivatives to an order known at run time. Its functions are compiled
/// once per program, so that a body is instantiated once for all its gradients of higher order.
#pragma once
#include <strop/number/num.hpp>

#include <cstdint>

namespace strop::inline v0::number {

struct Jet;

/// Where the functions of Jet are defined: beside Jet itself, ones that are no friends only would be found by name.
namespace jets {
#define STROP_REAL(f) Jet f(const Jet& a);
#define STROP_REAL2(f) Jet f(const Jet& a, const Jet& b);
#define STROP_STEP(f) Jet f(const Jet& a);
STROP_STEP(negative)
STROP_STEP(abs)
STROP_STEP(sign)
STROP_REAL2(sum)
STROP_REAL2(difference)
STROP_REAL2(product)
STROP_REAL2(quotient)
STROP_REAL2(max)
STROP_REAL2(min)
#include <strop/number/vocabulary.def>
Jet polygamma(int n, const Jet& a);
Jet sinc_derivative(int n, const Jet& a);
/// An answer per lane.
struct Answers {
  std::uint16_t bits = 0;
  bool known = false;  // of constants: the same in all lanes
  friend Answers operator&(Answers a, Answers b) {
    const bool never = (a.known && a.bits == 0) || (b.known && b.bits == 0);
    return {static_cast<std::uint16_t>(a.bits & b.bits), never || (a.known && b.known)};
  }
  friend Answers operator|(Answers a, Answers b) { return !((!a) & (!b)); }
  friend Answers operator!(Answers a) { return {static_cast<std::uint16_t>(~a.bits), a.known}; }
};
Answers less(const Jet& a, const Jet& b);
Answers less_equal(const Jet& a, const Jet& b);
Answers equal(const Jet& a, const Jet& b);
}  // namespace jets

/// What Dual<…<Dual<Num<double>>>> computes, `level` duals deep, with the depth in the number instead of its type.
///
/// The number is Σ c[m] · Π εₖ over the sets m of directions k < level, bit k of m standing for εₖ, where εₖ² = 0.
///
/// It knows of itself what Facts say of the same body: which coefficients there are, the others being 0 whatever the
/// inputs are, and whether it is a constant of the body. Nothing is multiplied with a coefficient that is not there,
/// nor is a constant 0 divided, so that 0 · ∞ does not arise from what a number does not depend on.
struct Jet {
  static constexpr int lanes = 16, last_level = 3;
  static constexpr bool integer = false;
  using Real = Jet;
  using MaskRep = jets::Answers;

  alignas(64) double c[1 << last_level][lanes];
  int level = 0;
  std::uint8_t present = 1;  // bit m: c[m] is not 0 as a matter of course; what is stored for the others is 0
  bool known = false;        // a constant: one value in all lanes, level 0

  // constexpr, though no constant is made: else nvcc warns of every function on duals of it
  constexpr Jet() {}  // NOLINT(modernize-use-equals-default)
  template <Literal A>
  Jet(A a) {
    fill(static_cast<double>(a));
  }
  /// A number of which nothing is known, 1 in every lane until it is given.
  static Jet input() {
    Jet a = 1;
    a.known = false;
    return a;
  }
  Jet(const Jet& a) { copy(a); }
  Jet& operator=(const Jet& a) {
    if (this != &a) copy(a);
    return *this;
  }
  ~Jet() = default;

  /// How many coefficients there are.
  int count() const { return 1 << level; }
  bool has(int m) const { return (present >> m & 1) != 0; }
  /// Whether it is 0 as a matter of course, in every direction.
  bool is_zero() const { return present == 0; }
  /// The derivative along direction k, above which there is none.
  Jet along(int k) const;
  /// The number plus εₖ, on which it does not depend yet.
  Jet moved_along(int k) const;

  friend Jet operator+(const Jet& a, const Jet& b) { return jets::sum(a, b); }
  friend Jet operator-(const Jet& a, const Jet& b) { return jets::difference(a, b); }
  friend Jet operator*(const Jet& a, const Jet& b) { return jets::product(a, b); }
  friend Jet operator/(const Jet& a, const Jet& b) { return jets::quotient(a, b); }
  friend Jet operator-(const Jet& a) { return jets::negative(a); }
  friend Jet operator+(const Jet& a) { return a; }
  friend Jet& operator+=(Jet& a, const Jet& b) { return a = a + b; }
  friend Jet& operator-=(Jet& a, const Jet& b) { return a = a - b; }
  friend Jet& operator*=(Jet& a, const Jet& b) { return a = a * b; }
  friend Jet& operator/=(Jet& a, const Jet& b) { return a = a / b; }

  friend Mask<Jet> operator<(const Jet& a, const Jet& b) { return {jets::less(a, b)}; }
  friend Mask<Jet> operator<=(const Jet& a, const Jet& b) { return {jets::less_equal(a, b)}; }
  friend Mask<Jet> operator>(const Jet& a, const Jet& b) { return {jets::less(b, a)}; }
  friend Mask<Jet> operator>=(const Jet& a, const Jet& b) { return {jets::less_equal(b, a)}; }
  friend Mask<Jet> operator==(const Jet& a, const Jet& b) { return {jets::equal(a, b)}; }
  friend Mask<Jet> operator!=(const Jet& a, const Jet& b) { return !(a == b); }
  friend Mask<Jet> isnan(const Jet& a) { return a != a; }

  static Jet select(MaskRep m, const Jet& a, const Jet& b);
  friend Jet where(bool condition, const Jet& a, const Jet& b) { return condition ? a : b; }
#define STROP_REAL(f) \
  friend Jet f(const Jet& a) { return jets::f(a); }
#define STROP_REAL2(f) \
  friend Jet f(const Jet& a, const Jet& b) { return jets::f(a, b); }
#define STROP_STEP(f) \
  friend Jet f(const Jet& a) { return jets::f(a); }
  STROP_STEP(abs)
  STROP_STEP(sign)
  STROP_REAL2(max)
  STROP_REAL2(min)
#include <strop/number/vocabulary.def>
  friend Jet polygamma(int n, const Jet& a) { return jets::polygamma(n, a); }
  friend Jet sinc_derivative(int n, const Jet& a) { return jets::sinc_derivative(n, a); }

 private:
  void fill(double a);
  void copy(const Jet& a);
};

}  // namespace strop::inline v0::number

#if !defined(STROP_COMPILED)
#include <strop/number/jet_impl.hpp>
#endif
