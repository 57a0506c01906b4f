// SPDX-License-Identifier: Apache-2.0
/// \file
/// How fast is the vector maths? ns an element over arrays of 64 KiB, beside the C library and Eigen's array
/// expressions.
///
/// Best of many repetitions; arguments are spread over an interval that each function is used on. The last two columns
/// are how many times faster the lanes are. With --lines, for peers: the time of 2¹⁷ elements in pieces on all threads,
/// as operators run.
#include "measure.hpp"

#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <type_traits>
#include <vector>
#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>
#define STROP_BENCH_EIGEN
#endif

namespace {

using strop::number::Rep;
using strop::number::Vec;

/// `out` is where run writes to: the compiler must believe that somebody reads it.
template <class F>
double nanoseconds(std::size_t elements, const void* out, F run) {
  using clock = std::chrono::steady_clock;
  double best = 1e300;
  for (int repetition = 0; repetition < 15; ++repetition) {
    int calls = 0;
    const auto start = clock::now();
    double passed = 0;
    do {
      run();
      asm volatile("" ::"r"(out) : "memory");
      ++calls;
      passed = std::chrono::duration<double, std::nano>(clock::now() - start).count();
    } while (passed < 2e6);
    best = std::min(best, passed / calls / static_cast<double>(elements));
  }
  return best;
}

/// Memory as arrays have it, aligned to lines of the cache.
template <class T>
struct Arrays {
  static constexpr std::size_t size = 65536 / sizeof(T);
  alignas(64) T x[size];
  alignas(64) T y[size];
  Arrays(double low, double high) {
    for (std::size_t i = 0; i < size; ++i) {
      const double part = static_cast<double>((i * 2654435761u) % size) / static_cast<double>(size);
      x[i] = static_cast<T>(low + (high - low) * part);
    }
  }
};

template <class T, class Ours>
void line(const char* name, double low, double high, Ours ours) {
  constexpr std::int64_t n = 1 << 17, step = Rep<Vec<T>>::lanes;
  static std::vector<T> x(n), y(n);
  for (std::int64_t i = 0; i < n; ++i)
    x[static_cast<std::size_t>(i)] = static_cast<T>(low + (high - low) * static_cast<double>(i * 2654435761 % n) / n);
  bench::Contest contest;
  const int a = contest.add([=, from = x.data(), to = y.data()] {
    strop::parallel_for(n, 1 << 15, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; i += step) Rep<Vec<T>>::store(to + i, ours(Rep<Vec<T>>::load(from + i)));
    });
    bench::touch(to);
  });
  contest.run();
  bench::line(std::string(sizeof(T) == 4 ? "float " : "double ") + name, contest.best(a));
}

template <class T, class Ours, class Library, class Peer>
void row(const char* name, double low, double high, Ours ours, Library library, Peer peer) {
  if (bench::lines) return line<T>(name, low, high, ours);
  static Arrays<T> a(0, 0);
  a = Arrays<T>(low, high);
  constexpr std::size_t n = Arrays<T>::size;
  const double mine = nanoseconds(n, a.y, [&] {
    constexpr std::size_t step = Rep<Vec<T>>::lanes;
    const T* x = a.x;
    T* y = a.y;
    for (std::size_t i = 0; i < n; i += step) Rep<Vec<T>>::store(y + i, ours(Rep<Vec<T>>::load(x + i)));
  });
  const double scalar = nanoseconds(n, a.y, [&] {
    for (std::size_t i = 0; i < n; ++i) a.y[i] = library(a.x[i]);
  });
  std::printf("%-6s %-8s %8.3f %8.3f", sizeof(T) == 4 ? "float" : "double", name, mine, scalar);
#ifdef STROP_BENCH_EIGEN
  if constexpr (std::is_invocable_v<Peer, Eigen::Array<T, Eigen::Dynamic, 1>>) {
    using Map = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
    const double eigen = nanoseconds(
        n, a.y, [&] { Map(a.y, static_cast<Eigen::Index>(n)) = peer(Map(a.x, static_cast<Eigen::Index>(n))); });
    std::printf(" %8.3f %7.1fx %7.2fx\n", eigen, scalar / mine, eigen / mine);
    return;
  }
#endif
  (void)peer;
  std::printf(" %8s %7.1fx\n", "-", scalar / mine);
}

struct NoPeer {};

template <class T>
void rows() {
  using R = Rep<Vec<T>>;
  using V = Vec<T>;
#define STROP_ROW(f, low, high) \
  row<T>(#f, low, high, [](V x) { return R::f(x); }, [](T x) { return Rep<T>::f(x); }, NoPeer{})
#define STROP_EIGEN_ROW(f, low, high, expression)                                   \
  row<T>(                                                                           \
      #f, low, high, [](V x) { return R::f(x); }, [](T x) { return Rep<T>::f(x); }, \
      [](const auto& x) -> decltype(expression) { return expression; })
#ifndef STROP_BENCH_EIGEN
#undef STROP_EIGEN_ROW
#define STROP_EIGEN_ROW(f, low, high, expression) STROP_ROW(f, low, high)
#endif
  STROP_EIGEN_ROW(exp, -20, 20, x.exp());
  STROP_ROW(exp2, -20, 20);
  STROP_EIGEN_ROW(expm1, -5, 5, x.expm1());
  STROP_EIGEN_ROW(log, 0.01, 100, x.log());
  STROP_EIGEN_ROW(log1p, -0.9, 20, x.log1p());
  STROP_EIGEN_ROW(log2, 0.01, 100, x.log2());
  STROP_EIGEN_ROW(log10, 0.01, 100, x.log10());
  STROP_EIGEN_ROW(tanh, -5, 5, x.tanh());
  STROP_EIGEN_ROW(sigmoid, -10, 10, x.logistic());
  STROP_EIGEN_ROW(sin, -10, 10, x.sin());
  STROP_EIGEN_ROW(cos, -10, 10, x.cos());
  STROP_EIGEN_ROW(tan, -10, 10, x.tan());
  STROP_EIGEN_ROW(erf, -3, 3, x.erf());
  STROP_EIGEN_ROW(sqrt, 0.01, 100, x.sqrt());
  STROP_EIGEN_ROW(rsqrt, 0.01, 100, x.rsqrt());
  STROP_ROW(cbrt, 0.01, 100);
  STROP_EIGEN_ROW(sinh, -5, 5, x.sinh());
  STROP_EIGEN_ROW(cosh, -5, 5, x.cosh());
  STROP_EIGEN_ROW(asin, -1, 1, x.asin());
  STROP_EIGEN_ROW(acos, -1, 1, x.acos());
  STROP_EIGEN_ROW(atan, -5, 5, x.atan());
  STROP_EIGEN_ROW(asinh, -5, 5, x.asinh());
  STROP_EIGEN_ROW(acosh, 1, 50, x.acosh());
  STROP_EIGEN_ROW(atanh, -0.99, 0.99, x.atanh());
  STROP_ROW(erfinv, -0.99, 0.99);
  STROP_EIGEN_ROW(lgamma, 0.1, 20, x.lgamma());
  STROP_ROW(tgamma, 0.1, 20);
  STROP_EIGEN_ROW(digamma, 0.1, 20, x.digamma());
  STROP_EIGEN_ROW(floor, -100, 100, x.floor());
  STROP_EIGEN_ROW(round, -100, 100, x.round());
  STROP_EIGEN_ROW(rint, -100, 100, x.rint());
#undef STROP_ROW
#undef STROP_EIGEN_ROW
  // a second argument that goes along with the first
  row<T>(
      "pow", 0.01, 10, [](V x) { return R::pow(x, x * T(0.5) - T(1)); },
      [](T x) { return Rep<T>::pow(x, x * T(0.5) - T(1)); },
#ifdef STROP_BENCH_EIGEN
      [](const auto& x) -> decltype(x.pow(x * T(0.5) - T(1))) { return x.pow(x * T(0.5) - T(1)); });
#else
      NoPeer{});
#endif
  row<T>(
      "fmod", 0.01, 10, [](V x) { return R::fmod(x, x * T(0.5) - T(1)); },
      [](T x) { return Rep<T>::fmod(x, x * T(0.5) - T(1)); }, NoPeer{});
  row<T>(
      "atan2", -10, 10, [](V x) { return R::atan2(x, x * T(0.5) - T(1)); },
      [](T x) { return Rep<T>::atan2(x, x * T(0.5) - T(1)); }, NoPeer{});
  row<T>(
      "hypot", -10, 10, [](V x) { return R::hypot(x, x * T(0.5) - T(1)); },
      [](T x) { return Rep<T>::hypot(x, x * T(0.5) - T(1)); }, NoPeer{});
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  if (!bench::lines) std::printf("lanes of %d bytes; ns an element, 64 KiB\n", strop::number::lane_bytes);
  if (!bench::lines)
    std::printf("%-6s %-8s %8s %8s %8s %8s %8s\n", "type", "function", "lanes", "libm", "Eigen", "/libm", "/Eigen");
  rows<float>();
  rows<double>();
}
