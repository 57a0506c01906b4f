// SPDX-License-Identifier: Apache-2.0
/// \file
/// What does fusing maps save? A chain of 8 maps in a bound graph, forward, and forward with backward: fused, one by
/// one (STROP_FUSE=0), and, the bound, the same chain written as one struct. A chain of functions (exp, tanh) and one
/// of sums and products alone, for which loads and stores are all the work; 2^12 and 2^15 floats (caches), 2^24
/// (memory).
///
/// Bounds: fused at least 2.5 times as fast as one by one beyond the caches and 1.3 times inside them, at most 1.15
/// times the time of the one struct. The last cannot hold for cheap maps: a fused map runs loops that were compiled
/// apart, so that between two of them each element is stored and loaded, in the first cache at best. What eight such
/// passes take with nothing to compute is measured beside it.
#include "measure.hpp"

#include <strop/engine/pool.hpp>
#include <strop/strop.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Scale {
  float by = 1, shift = 0;
  constexpr auto forward(auto x) const { return by * x + shift; }
};
constexpr strop::Op<Scale> scale;
struct Bend {
  constexpr auto forward(auto x) const { return x - 0.25f * x * x; }
};
constexpr strop::Op<Bend> bend;
struct Bell {
  constexpr auto forward(auto x) const { return exp(-x * x); }
};
constexpr strop::Op<Bell> bell;
struct Squash {
  constexpr auto forward(auto x) const { return tanh(x); }
};
constexpr strop::Op<Squash> squash;

/// The functions among sums and products.
struct Functions {
  constexpr auto forward(auto x) const {
    const auto a = Scale{0.5f, 0.1f}.forward(x), b = Bend{}.forward(a), c = Squash{}.forward(b);
    const auto d = Scale{1.5f, -0.2f}.forward(c), e = Bell{}.forward(d), f = Bend{}.forward(e);
    return Squash{}.forward(Scale{0.9f, 0.3f}.forward(f));
  }
};
constexpr strop::Op<Functions> functions;
struct Products {
  constexpr auto forward(auto x) const {
    const auto a = Scale{0.5f, 0.1f}.forward(x), b = Bend{}.forward(a), c = Scale{1.1f, 0}.forward(b);
    const auto d = Scale{0.7f, -0.2f}.forward(c), e = Bend{}.forward(d), f = Bend{}.forward(e);
    return Bend{}.forward(Scale{0.9f, 0.3f}.forward(f));
  }
};
constexpr strop::Op<Products> products;

strop::Symbol chain_of_functions(const strop::Symbol& x) {
  const auto c = squash(bend(scale(x, {.by = 0.5f, .shift = 0.1f})));
  const auto f = bend(bell(scale(c, {.by = 1.5f, .shift = -0.2f})));
  return squash(scale(f, {.by = 0.9f, .shift = 0.3f}));
}
strop::Symbol chain_of_products(const strop::Symbol& x) {
  const auto c = scale(bend(scale(x, {.by = 0.5f, .shift = 0.1f})), {.by = 1.1f});
  const auto f = bend(bend(scale(c, {.by = 0.7f, .shift = -0.2f})));
  return bend(scale(f, {.by = 0.9f, .shift = 0.3f}));
}

strop::Executor bound(const strop::Symbol& net, const strop::NDArray& x, const strop::NDArray& dx, const char* fuse) {
  ::setenv("STROP_FUSE", fuse, 1);
  return dx ? net.bind(strop::cpu(), {{"x", x}}, {{"x", dx}}) : net.bind(strop::cpu(), {{"x", x}});
}

/// Eight times a load and a store of each element, in blocks of 8 KiB, of which there are n / 2048: what no fused map
/// of eight loops can do without.
void passes(const float* x, float* y, std::int64_t n) {
  using Vector [[gnu::vector_size(64), gnu::may_alias]] = float;
  constexpr std::int64_t width = 16, size = 2048;
  const auto pass = [](const float* from, float* to) {
    for (std::int64_t i = 0; i < size; i += width)
      *reinterpret_cast<Vector*>(to + i) = -*reinterpret_cast<const Vector*>(from + i);
    bench::touch(to);  // else eight of them would be one
  };
  strop::parallel_for(n / size, strop::detail::map_grain / size, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) float block[size];
    for (std::int64_t at = begin * size; at < end * size; at += size) {
      pass(x + at, block);
      for (int k = 0; k < 6; ++k) pass(block, block);
      pass(block, y + at);
    }
  });
}

void table(const char* what, const strop::Symbol& chain, const strop::Symbol& one, bool backward) {
  for (const int power : {12, 15, 24}) {
    const std::int64_t n = std::int64_t{1} << power;
    const std::string row = std::string(what) + (backward ? " backward" : "") + " 2^" + std::to_string(power);
    if (!bench::wanted(row)) continue;
    const strop::NDArray x = strop::random::uniform({n}, -1, 1), head = strop::random::uniform({n});
    bench::Contest contest;
    for (const auto& [net, fuse] : {std::pair(chain, "1"), std::pair(chain, "0"), std::pair(one, "1")}) {
      strop::Executor run = bound(net, x, backward ? strop::zeros({n}) : strop::NDArray(), fuse);
      contest.add([run, head, backward]() mutable {
        run.forward(backward);
        if (backward) {
          run.backward(head);
          run.grad("x").wait();
        }
        run.outputs()[0].wait();
      });
    }
    const strop::NDArray y = strop::zeros({n});
    if (!backward) contest.add([x, y, n] { passes(x.pointer<const float>(), y.pointer<float>(), n); });
    contest.run(power == 24 ? 2e9 : 1e8);
    const double fused = contest.best(0), unfused = contest.best(1), by_hand = contest.best(2);
    if (bench::lines) {
      bench::line(row, fused);
      continue;
    }
    std::printf(
        "%-24s %10.1f us fused  %10.1f us one by one (%.2fx, bound %.1fx)  %10.1f us one struct (%.2fx, "
        "bound 1.15x)",
        row.c_str(), fused / 1e3, unfused / 1e3, unfused / fused, power == 24 ? 2.5 : 1.3, by_hand / 1e3,
        fused / by_hand);
    if (!backward)
      std::printf("  %10.1f us loads and stores alone (%.2fx)", contest.best(3) / 1e3, contest.best(3) / by_hand);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  const strop::Symbol x = strop::var("x");
  for (const bool backward : {false, true}) {
    table("functions", chain_of_functions(x), functions(x), backward);
    table("products", chain_of_products(x), products(x), backward);
  }
}
