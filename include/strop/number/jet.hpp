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
/// A bit per lane.
std::uint16_t less(const Jet& a, const Jet& b);
std::uint16_t less_equal(const Jet& a, const Jet& b);
std::uint16_t equal(const Jet& a, const Jet& b);
}  // namespace jets

/// What Dual<…<Dual<Num<double>>>> computes, `level` duals deep, with the depth in the number instead of its type.
///
/// The number is Σ c[m] · Π εₖ over the sets m of directions k < level, bit k of m standing for εₖ, where εₖ² = 0. In
/// the directions from `level` on it is a constant, of which neither coefficients are stored nor products made: 0 · ∞
/// does not arise from what a number does not depend on.
struct Jet {
  static constexpr int lanes = 16, last_level = 3;
  static constexpr bool integer = false;
  using Real = Jet;
  /// An answer per lane.
  struct MaskRep {
    std::uint16_t bits = 0;
    friend MaskRep operator&(MaskRep a, MaskRep b) { return {static_cast<std::uint16_t>(a.bits & b.bits)}; }
    friend MaskRep operator|(MaskRep a, MaskRep b) { return {static_cast<std::uint16_t>(a.bits | b.bits)}; }
    friend MaskRep operator!(MaskRep a) { return {static_cast<std::uint16_t>(~a.bits)}; }
  };

  alignas(64) double c[1 << last_level][lanes];
  int level;

  constexpr Jet()
      : level(0) {}  // constexpr, though no constant is made: else nvcc warns of every function on duals of it
  template <Literal A>
  Jet(A a) : level(0) {
    fill(static_cast<double>(a));
  }
  Jet(const Jet& a) { copy(a); }
  Jet& operator=(const Jet& a) {
    if (this != &a) copy(a);
    return *this;
  }
  ~Jet() = default;

  /// How many coefficients there are.
  int count() const { return 1 << level; }
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

  friend Mask<Jet> operator<(const Jet& a, const Jet& b) { return {{jets::less(a, b)}}; }
  friend Mask<Jet> operator<=(const Jet& a, const Jet& b) { return {{jets::less_equal(a, b)}}; }
  friend Mask<Jet> operator>(const Jet& a, const Jet& b) { return {{jets::less(b, a)}}; }
  friend Mask<Jet> operator>=(const Jet& a, const Jet& b) { return {{jets::less_equal(b, a)}}; }
  friend Mask<Jet> operator==(const Jet& a, const Jet& b) { return {{jets::equal(a, b)}}; }
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

 private:
  void fill(double a);
  void copy(const Jet& a);
};

}  // namespace strop::inline v0::number

#if !defined(STROP_COMPILED)
#include <strop/number/jet_impl.hpp>
#endif
