// SPDX-License-Identifier: Apache-2.0
/// \file
/// How near do maps and reductions come to memory? GB/s of what a call must read and write, into an array that is there
/// and into a new one, beside the best copy of the same run, code written by hand on vector types, and Eigen.
///
/// Three sizes: 64 KiB an array (caches of a core), 4 MiB (a cache that cores share), 64 MiB (memory). Bounds: in the
/// caches 1.1 times the time of the hand-written code; in memory 0.90 of the copy's bandwidth.
#include "measure.hpp"

#include <strop/engine/pool.hpp>
#include <strop/memory/stream.hpp>
#include <strop/strop.hpp>

#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

#include <algorithm>

namespace {

using strop::NDArray;
using V = strop::number::Vec<float>;
using R = strop::number::Rep<V>;
constexpr std::int64_t L = R::lanes;
using Map = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;

struct None {};

/// A map as one would write it on vector types.
template <class F, class... X>
[[gnu::noinline]] void by_hand(std::int64_t n, F f, float* y, const X*... x) {
  for (std::int64_t i = 0; i < n; i += L) R::store(y + i, f(R::load(x + i)...));
}
/// A row to one number, in eight registers.
template <class F>
[[gnu::noinline]] float row_by_hand(std::int64_t n, F f, float first, const float* x) {
  V a[8];
  for (V& v : a) v = R::splat(first);
  for (std::int64_t i = 0; i < n; i += 8 * L)
    for (int k = 0; k < 8; ++k) a[k] = f(a[k], R::load(x + i + k * L));
  for (int k = 1; k < 8; ++k) a[0] = f(a[0], a[k]);
  float lanes[static_cast<std::size_t>(L)];
  R::store(lanes, a[0]);
  V all = R::splat(lanes[0]);
  for (float lane : lanes) all = f(all, R::splat(lane));
  return all[0] - (f(R::splat(1), R::splat(1))[0] == 2.0f ? lanes[0] : 0.0f);  // a sum has met the first lane twice
}

NDArray filled(const strop::Shape& shape, float low, float high) { return strop::random::uniform(shape, low, high); }

/// Nanoseconds of the fastest copy of n floats that this machine makes, with as many threads as a call may use.
double copy_time(std::int64_t n) {
  const NDArray x = filled({n}, 0, 1), y = strop::zeros({n});
  const float* from = x.pointer<float>();
  float* to = y.pointer<float>();
  bench::Contest contest;
  contest.add([=] {
    by_hand(n, [](V v) { return v; }, to, from);
    bench::touch(to);
  });
  contest.add([=] {
    std::memcpy(to, from, static_cast<std::size_t>(n) * 4);
    bench::touch(to);
  });
  contest.add([=] {
    strop::parallel_for(n, 1 << 15, [=](std::int64_t begin, std::int64_t end) {
      std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin) * 4);
    });
  });
  contest.add([=] {
    strop::parallel_for(n, 1 << 15, [=](std::int64_t begin, std::int64_t end) {
      strop::memory::stream_copy(to + begin, from + begin, (end - begin) * 4);
    });
  });
  contest.run();
  return std::min({contest.best(0), contest.best(1), contest.best(2), contest.best(3)});
}

double copy_rate = 0;  // bytes a nanosecond at the size at hand
const char* unit_name = "";

void table(std::int64_t n) {
  unit_name = n <= 16384 ? "64 KiB" : n <= 1 << 20 ? "4 MiB" : "64 MiB";
  const double time = copy_time(n);
  copy_rate = 8.0 * static_cast<double>(n) / time;
  if (bench::lines) return;
  std::printf("\n%s an array; best copy %.1f GB/s\n", unit_name, copy_rate);
  std::printf("%-22s %8s %8s %8s %8s %10s %10s\n", "", "into", "of copy", "new", "of copy", "by hand", "Eigen");
}

/// One line: bytes that a call must move, the four ways. `by` and `eigen` may be None. Their columns say how many times
/// the time of `into` they take: above 1 we are faster.
template <class Into, class New, class Hand, class Peer>
void row(const std::string& what, double bytes, Into into, New fresh, Hand by, Peer eigen) {
  if (!bench::wanted(what)) return;
  const auto named = [&](const char* how) { return what + " " + unit_name + how; };
  // Each alone, as the peers measure theirs: what takes turns finds less of its arrays in the caches.
  if (bench::gave_line(named(" into"), [=] { into().wait(); })) {
    bench::gave_line(named(" new"), [=] { fresh().wait(); });
    return;
  }
  bench::Contest contest;
  const int a = contest.add([=] { into().wait(); }), b = contest.add([=] { fresh().wait(); });
  int h = -1, e = -1;
  if constexpr (!std::is_same_v<Hand, None>) h = contest.add(by);
  if constexpr (!std::is_same_v<Peer, None>) e = contest.add(eigen);
  contest.run();
  std::printf("%-22s %8.1f %8.2f %8.1f %8.2f", what.c_str(), bytes / contest.best(a),
              bytes / contest.best(a) / copy_rate, bytes / contest.best(b), bytes / contest.best(b) / copy_rate);
  h < 0 ? std::printf(" %10s", "-") : std::printf(" %9.2fx", contest.best(h) / contest.best(a));
  e < 0 ? std::printf(" %10s\n", "-") : std::printf(" %9.2fx\n", contest.best(e) / contest.best(a));
}

/// The operator that autograd runs for the gradient of a map: of the head gradient and what the rule keeps.
NDArray gradient(const strop::Entry& entry, const void* params, const NDArray& dy, const NDArray& x, NDArray dx = {}) {
  const std::array<const NDArray*, 2> in{&dy, &x};
  strop::detail::dispatch(*entry.gradient.entry, params, in, {&dx, 1});
  return dx;
}

void maps(std::int64_t n) {
  const NDArray x = filled({n}, -3, 3), y = filled({n}, -3, 3), positive = filled({n}, 0.01f, 10.0f);
  NDArray out = strop::zeros({n});
  float *const px = x.pointer<float>(), *const py = y.pointer<float>(), *const to = out.pointer<float>();
  float* const pp = positive.pointer<float>();
  const auto m = [n](float* p) { return Map(p, n); };
  const double one = 8.0 * static_cast<double>(n), two = 12.0 * static_cast<double>(n);
  const auto into = strop::into(out);

  row(
      "add", two, [&] { return strop::elemwise_add(x, y, into); }, [&] { return strop::elemwise_add(x, y); },
      [&] { by_hand(n, [](V a, V b) { return a + b; }, to, px, py); }, [&] { m(to) = m(px) + m(py); });
  row(
      "mul", two, [&] { return strop::elemwise_mul(x, y, into); }, [&] { return strop::elemwise_mul(x, y); },
      [&] { by_hand(n, [](V a, V b) { return a * b; }, to, px, py); }, [&] { m(to) = m(px) * m(py); });
  row(
      "relu", one, [&] { return strop::relu(x, into); }, [&] { return strop::relu(x); },
      [&] { by_hand(n, [](V a) { return a > 0.0f ? a : V{}; }, to, px); }, [&] { m(to) = m(px).max(0.0f); });

  const strop::Quadratic q{1.5f, 2.0f, -0.5f};
  row(
      "quadratic", one, [&] { return strop::quadratic(x, q, into); }, [&] { return strop::quadratic(x, q); },
      [&] { by_hand(n, [a = q.a, b = q.b, c = q.c](V v) { return (a * v + b) * v + c; }, to, px); },
      [&] { m(to) = (q.a * m(px) + q.b) * m(px) + q.c; });
  row(
      "quadratic, derived", two, [&] { return gradient(strop::quadratic.entry(), &q, y, x, out); },
      [&] { return gradient(strop::quadratic.entry(), &q, y, x); },
      [&] { by_hand(n, [a = 2 * q.a, b = q.b](V dy, V v) { return dy * (a * v + b); }, to, py, px); },
      [&] { m(to) = m(py) * (2 * q.a * m(px) + q.b); });

  const strop::SmoothL1 s{1.5, false};
  const float steep = 2.25f, knee = 1 / steep;
  row(
      "smooth_l1", one, [&] { return strop::smooth_l1(x, s, into); }, [&] { return strop::smooth_l1(x, s); },
      [&] {
        by_hand(
            n,
            [=](V v) {
              const V a = R::abs(v);
              return a > knee ? a - 0.5f * knee : 0.5f * steep * v * v;
            },
            to, px);
      },
      [&] { m(to) = (m(px).abs() > knee).select(m(px).abs() - 0.5f * knee, 0.5f * steep * m(px).square()); });
  row(
      "smooth_l1, derived", two, [&] { return gradient(strop::smooth_l1.entry(), &s, y, x, out); },
      [&] { return gradient(strop::smooth_l1.entry(), &s, y, x); },
      [&] {
        by_hand(
            n, [=](V dy, V v) { return dy * (R::abs(v) > knee ? R::copysign(R::splat(1), v) : steep * v); }, to, py,
            px);
      },
      [&] { m(to) = m(py) * (m(px).abs() > knee).select(m(px).sign(), steep * m(px)); });

#define STROP_ROW(f, from, expression)                                                       \
  row(                                                                                       \
      #f, one, [&] { return strop::f(from, into); }, [&] { return strop::f(from); }, None{}, \
      [&] { m(to) = expression; })
  STROP_ROW(exp, x, m(px).exp());
  STROP_ROW(log, positive, m(pp).log());
  STROP_ROW(tanh, x, m(px).tanh());
  STROP_ROW(sigmoid, x, m(px).logistic());
  STROP_ROW(erf, x, m(px).erf());
  STROP_ROW(sin, x, m(px).sin());
  STROP_ROW(sqrt, positive, m(pp).sqrt());
#undef STROP_ROW
}

void reductions(std::int64_t n) {
  const std::int64_t cols = n <= 16384 ? 128 : n <= 1 << 20 ? 1024 : 4096, rows = n / cols;
  const NDArray x = filled({rows, cols}, -3, 3);
  const NDArray one = strop::zeros({1}), by_row = strop::zeros({rows}), by_column = strop::zeros({cols});
  const float* const p = x.pointer<float>();
  using Matrix = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix, Eigen::Aligned64> e(p, rows, cols);
  const double bytes = 4.0 * static_cast<double>(n);
  static float sink = 0;
  Eigen::Map<Eigen::ArrayXf> along_rows(by_row.pointer<float>(), rows);
  Eigen::Map<Eigen::Array<float, 1, Eigen::Dynamic>> along_columns(by_column.pointer<float>(), cols);

#define STROP_ROW(name, f, hand, expression)                                                             \
  row(                                                                                                   \
      name, bytes, [&] { return strop::f(x, strop::into(one)); }, [&] { return strop::f(x); }, hand,     \
      [&] { sink = e.expression(); });                                                                   \
  row(                                                                                                   \
      name ", along rows", bytes, [&] { return strop::f(x, {.axis = 1}, strop::into(by_row)); },         \
      [&] { return strop::f(x, {.axis = 1}); }, None{}, [&] { along_rows = e.rowwise().expression(); }); \
  row(                                                                                                   \
      name ", along columns", bytes, [&] { return strop::f(x, {.axis = 0}, strop::into(by_column)); },   \
      [&] { return strop::f(x, {.axis = 0}); }, None{}, [&] { along_columns = e.colwise().expression(); })
  const auto add = [&] {
    sink = row_by_hand(n, [](V a, V b) { return a + b; }, 0, p);
    bench::touch(&sink);
  };
  STROP_ROW("sum", sum, add, sum);
  STROP_ROW("mean", mean, None{}, mean);
  const auto larger = [&] {
    sink = row_by_hand(n, [](V a, V b) { return a > b ? a : b; }, -1e30f, p);
    bench::touch(&sink);
  };
  STROP_ROW("max", max, larger, maxCoeff);
#undef STROP_ROW
  row(
      "argmax, along rows", bytes, [&] { return strop::argmax(x, {.axis = 1}, strop::into(by_row)); },
      [&] { return strop::argmax(x, {.axis = 1}); }, None{}, None{});
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  if (!bench::lines)
    std::printf(
        "GB/s of the bytes that a call must read and write, best of many short rounds that contestants take in turn;\n"
        "beside them the share of the best copy. By hand, Eigen (one thread each): their time over that of into.\n");
  for (const std::int64_t n : {std::int64_t{1} << 14, std::int64_t{1} << 20, std::int64_t{1} << 24}) {
    table(n);
    maps(n);
    reductions(n);
  }
}
