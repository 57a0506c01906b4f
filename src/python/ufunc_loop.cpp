// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inner loops of ufuncs: blocks around the map's own loop, which sees contiguous elements of its own type.
#include "ufunc_loop.hpp"

#include "python.hpp"

#include <strop/engine/pool.hpp>
#include <strop/op/map_infer.hpp>
#include <strop/op/map_run.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace strop::python {
namespace {

/// Keeps the processor's flags from what loops compute and throw away: lanes of a branch that was not taken, padding.
class Flags {
 public:
#if defined(__SSE2__)
  Flags() : before_(_mm_getcsr()) {}
  void leave(int found) { _mm_setcsr(before_ | static_cast<unsigned>(found)); }  // whose bits are FE_…'s

 private:
  unsigned before_;
#else
  Flags() { std::fegetenv(&before_); }
  void leave(int found) {
    std::fesetenv(&before_);
    if (found != 0) std::feraiseexcept(found);
  }

 private:
  std::fenv_t before_;
#endif
};

/// Whether any of n numbers, of which Bits is an integer of the width, is NaN or at least as large as `limit`.
template <class Bits, class Real>
bool any_beyond(const void* values, std::int64_t n, Real limit) {
  constexpr std::size_t width = 32;
  constexpr std::int64_t lanes = width / sizeof(Bits);
  using Several [[gnu::vector_size(width)]] = Bits;
  constexpr Bits magnitude = std::numeric_limits<Bits>::max();  // all but the sign
  const Bits least = std::bit_cast<Bits>(limit);
  const auto* at = static_cast<const std::byte*>(values);
  Several found = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes, at += width) {
    Several some;
    std::memcpy(&some, at, width);
    found |= (some & magnitude) >= least;
  }
  Bits any = 0;
  for (std::int64_t k = 0; k < lanes; ++k) any |= found[k];
  for (; i < n; ++i, at += sizeof(Bits)) {
    Bits one;
    std::memcpy(&one, at, sizeof one);
    any |= static_cast<Bits>((one & magnitude) >= least);
  }
  return any != 0;
}

template <class E>
void gather(const char* from, std::ptrdiff_t step, std::byte* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * std::int64_t{sizeof(E)}, from + i * step, sizeof(E));
}
template <class E>
void scatter(const std::byte* from, char* to, std::ptrdiff_t step, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * step, from + i * std::int64_t{sizeof(E)}, sizeof(E));
}
template <class F>
void by_size(std::int64_t size, F&& f) {
  if (size == 1) return f(std::uint8_t{});
  if (size == 2) return f(std::uint16_t{});
  size == 4 ? f(std::uint32_t{}) : f(std::uint64_t{});
}

class Run {
 public:
  Run(const UfuncLoop& loop, char** args, const std::ptrdiff_t* steps, std::int64_t n)
      : loop_(loop), args_(args), steps_(steps), n_(n) {
    for (int k = 0; k < loop.inputs + loop.outputs; ++k) {
      const Dtype inside = k < loop.inputs ? loop.computed : loop.result;
      staged_[k] = k >= loop.operands() || loop.types[k] != inside || lies_apart(k);
      any_staged_ = any_staged_ || staged_[k];
    }
    for (int k = 0; k < loop.inputs; ++k)
      for (int j = loop.inputs; j < loop.operands(); ++j) {
        if (args[k] == args[j] && (n == 1 || (steps[k] == steps[j] && steps[k] != 0))) {
          // The operand is looked at again when its results are there.
          if (is_floating(loop.computed)) any_staged_ = staged_[k] = true;
        } else if (n > 1 && meet(k, j)) {
          chained_ = true;
        }
      }
  }

  int run() {
    if (chained_) {
      may_fold() ? fold() : one_by_one();
    } else if (n_ <= detail::map_grain) {
      piece(0, n_);
    } else {
      parallel_for(n_, detail::map_grain, [this](std::int64_t begin, std::int64_t end) { piece(begin, end); });
    }
    return found_;
  }

 private:
  static constexpr std::int64_t stage_bytes = 4096;
  struct Stages {
    alignas(64) std::byte of[UfuncLoop::most][stage_bytes];
    alignas(64) std::byte raw[stage_bytes];
  };

  /// Whether elements of an operand have gaps between them, or are one.
  bool lies_apart(int k) const { return n_ > 1 && steps_[k] != size_of(loop_.types[k]); }

  /// Whether memory of two operands overlaps: NumPy passes that on where results are operands of what follows.
  bool meet(int a, int b) const {
    const auto range = [&](int k) {
      const auto first = reinterpret_cast<std::uintptr_t>(args_[k]);
      const auto last = first + static_cast<std::uintptr_t>(steps_[k] * (n_ - 1));
      const auto size = static_cast<std::uintptr_t>(size_of(loop_.types[k]));
      return std::pair(std::min(first, last), std::max(first, last) + size);
    };
    const auto x = range(a), y = range(b);
    return x.first < y.second && y.first < x.second;
  }

  /// Whether this is the inner loop of a reduction, of which the result is one number, in any order.
  bool may_fold() const {
    return loop_.reorders && loop_.computed == loop_.result && !loop_.nearest && n_ > 4 && args_[0] == args_[2] &&
           steps_[0] == 0 && steps_[2] == 0 && !meet(1, 2);
  }

  /// In runs of some blocks: block by block into one block, and that into its half, so that all of it is lanes, and
  /// sums in floats are of numbers of like size.
  void fold() {
    Stages stages;
    const std::int64_t run = 16 * block_elements();
    for (std::int64_t at = 0; at < n_; at += run) fold(stages, at, std::min(n_, at + run));
  }

  void fold(Stages& stages, std::int64_t begin, std::int64_t end) {
    std::byte *sums = stages.of[0], *next = stages.of[1], *const operands = stages.of[2];
    const std::int64_t most = block_elements(), size = size_of(loop_.computed);
    std::int64_t in_sums = std::min(most, end - begin);
    const auto add = [&](const std::byte* to, std::int64_t count) {
      const void* const x[] = {sums, to};
      void* const y[] = {next};
      loop_.run(loop_.op, x, y, count);
      if (is_floating(loop_.computed)) look(x, next, loop_.result, 0, count);
    };
    fetch(1, begin, in_sums, sums, stages.raw);
    for (std::int64_t at = begin + in_sums; at < end; at += most) {
      const std::int64_t count = std::min(most, end - at);
      fetch(1, at, count, operands, stages.raw);
      add(operands, count);
      detail::copy_bytes(next + count * size, sums + count * size, (in_sums - count) * size);
      std::swap(sums, next);
    }
    while (in_sums > 1) {
      const std::int64_t half = in_sums / 2;
      add(sums + (in_sums - half) * size, half);
      if (in_sums % 2 != 0) detail::copy_bytes(next + half * size, sums + half * size, size);
      in_sums -= half;
      std::swap(sums, next);
    }
    detail::copy_bytes(operands, sums, size);
    fetch(0, 0, 1, sums, stages.raw);  // what came out so far
    add(operands, 1);
    put(2, 0, 1, next, stages.raw);
  }

  std::int64_t block_elements() const { return stage_bytes / 8 * (loop_.computed == f32 ? 2 : 1); }

  /// As reduce and accumulate want it: the result of one is the operand of the next.
  void one_by_one() {
    Stages stages;
    for (std::int64_t i = 0; i < n_; ++i) block(stages, i, 1, true);
  }

  void piece(std::int64_t begin, std::int64_t end) {
    Stages stages;
    const std::int64_t most = any_staged_ ? block_elements() : 4096;
    for (std::int64_t at = begin; at < end; at += most) block(stages, at, std::min(most, end - at), at == begin);
  }

  void block(Stages& stages, std::int64_t at, std::int64_t count, bool first) {
    const void* x[UfuncLoop::most];
    void* y[UfuncLoop::most];
    for (int k = 0; k < loop_.inputs; ++k) {
      std::byte* const stage = stages.of[k];
      // What is one number for all elements stays there, as later blocks are no longer.
      if (staged_[k] && (first || steps_[k] != 0)) fetch(k, at, count, stage, stages.raw);
      x[k] = staged_[k] ? stage : static_cast<const void*>(args_[k] + at * steps_[k]);
    }
    for (int k = 0; k < loop_.outputs; ++k) {
      const int j = loop_.inputs + k;
      y[k] = staged_[j] ? stages.of[j] : static_cast<void*>(args_[j] + at * steps_[j]);
    }
    loop_.run(loop_.op, x, y, count);
    for (int k = 0; k < loop_.visible; ++k) {
      const int j = loop_.inputs + k;
      if (is_floating(loop_.computed)) look(x, y[k], loop_.types[j], k, count);
      if (staged_[j]) put(j, at, count, stages.of[j], stages.raw);
    }
  }

  void fetch(int k, std::int64_t at, std::int64_t count, std::byte* stage, std::byte* raw) const {
    const Dtype type = loop_.types[k];
    const void* from = args_[k] + at * steps_[k];
    if (lies_apart(k)) {
      std::byte* const to = type == loop_.computed ? stage : raw;
      by_size(size_of(type), [&](auto e) { gather<decltype(e)>(args_[k] + at * steps_[k], steps_[k], to, count); });
      from = to;
    }
    if (from == stage) return;
    if (loop_.computed == i64)
      detail::load_integers(type, from, reinterpret_cast<std::int64_t*>(stage), count);
    else
      detail::convert_elements(type, from, loop_.computed, stage, count);
  }

  void put(int k, std::int64_t at, std::int64_t count, std::byte* stage, std::byte* raw) const {
    const Dtype type = loop_.types[k];
    const bool apart = lies_apart(k);
    char* const target = args_[k] + at * steps_[k];
    if (auto* const whole = reinterpret_cast<std::int64_t*>(stage); loop_.nearest)
      for (std::int64_t i = 0; i < count; ++i) whole[i] = detail::nearest_integer(type, whole[i]);
    const std::byte* made = stage;
    if (type != loop_.result) {
      void* const to = apart ? static_cast<void*>(raw) : target;
      if (loop_.result == i64 && !is_floating(type))
        detail::store_integers(type, reinterpret_cast<const std::int64_t*>(stage), to, count);
      else
        detail::convert_elements(loop_.result, stage, type, to, count);
      if (!apart) return;
      made = raw;
    }
    by_size(size_of(type), [&](auto e) { scatter<decltype(e)>(made, target, steps_[k], count); });
  }

  /// What the results of a block say of how they came about.
  void look(const void* const* x, const void* y, Dtype stored, int k, std::int64_t count) {
    const bool single = loop_.result == f32;
    // What is rounded to a half's infinity, by its type.
    constexpr float inf = std::numeric_limits<float>::infinity();
    const float limit = stored == f16 ? 65520.0F : inf;
    const bool any = single ? any_beyond<std::int32_t>(y, count, limit)
                            : any_beyond<std::int64_t>(y, count, static_cast<double>(limit));
    if (any) [[unlikely]]
      single ? explain<float>(x, static_cast<const float*>(y), limit, k, count)
             : explain<double>(x, static_cast<const double*>(y), static_cast<double>(limit), k, count);
  }

  template <class E>
  void explain(const void* const* x, const E* y, E limit, int k, std::int64_t count) {
    int found = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const E value = y[i];
      if (std::abs(value) < limit) continue;
      bool finite = true, number = true;
      for (int in = 0; in < loop_.inputs; ++in) {
        const E operand = static_cast<const E*>(x[in])[i];
        finite = finite && std::isfinite(operand);
        number = number && !std::isnan(operand);
      }
      if (std::isnan(value))
        found |= number ? FE_INVALID : 0;
      else if (finite && (found & (FE_DIVBYZERO | FE_OVERFLOW)) != (FE_DIVBYZERO | FE_OVERFLOW))
        found |= std::isinf(value) && is_pole<E>(x, k, i) ? FE_DIVBYZERO : FE_OVERFLOW;
    }
    found_.fetch_or(found, std::memory_order_relaxed);
  }

  /// Whether an infinity stands alone: a little to both sides the function has values, or is not defined.
  template <class E>
  bool is_pole(const void* const* x, int k, std::int64_t i) const {
    E sides[UfuncLoop::most][2], made[UfuncLoop::most][2];
    const void* in[UfuncLoop::most];
    void* out[UfuncLoop::most];
    for (int one = 0; one < loop_.inputs; ++one) {
      const E operand = static_cast<const E*>(x[one])[i], little = std::max(std::abs(operand), E(1)) / 1024;
      sides[one][0] = operand - little, sides[one][1] = operand + little;
      in[one] = sides[one];
    }
    for (int one = 0; one < loop_.outputs; ++one) out[one] = made[one];
    loop_.run(loop_.op, in, out, 2);
    return !std::isinf(made[k][0]) && !std::isinf(made[k][1]);
  }

  const UfuncLoop& loop_;
  char** args_;
  const std::ptrdiff_t* steps_;
  std::int64_t n_;
  bool any_staged_ = false, chained_ = false;
  bool staged_[UfuncLoop::most] = {};
  std::atomic<int> found_{0};
};

}  // namespace

UfuncLoop::UfuncLoop(const Entry& e, const void* with, const Dtype* in, const Dtype* out)
    : entry(&e), op(with), inputs(e.inputs), outputs(e.outputs), visible(e.visible) {
  const Dtype stored = detail::stored_type(e, inputs, [&](detail::Index i) { return in[i]; });
  computed = detail::compute_type(e, op, stored);
  run = computed == f32 ? e.loops.f32 : computed == f64 ? e.loops.f64 : e.loops.i64;
  result = computed == i64 && e.loops.i64_gives_f64 ? f64 : computed;
  nearest = result == i64 && e.loops.leaves != nullptr && e.loops.leaves(op, stored);
  std::copy_n(in, inputs, types);
  std::copy_n(out, outputs, types + inputs);
}

void run_ufunc(char** args, const std::ptrdiff_t* count, const std::ptrdiff_t* steps, void* data) {
  const auto& loop = *static_cast<const UfuncLoop*>(data);
  if (*count <= 0) return;
  Flags flags;
  int found = 0;
  try {
    found = Run(loop, args, steps, *count).run();
  } catch (...) {  // of threads that cannot be had
    const Locked python;
    set_error();
  }
  flags.leave(found);
}

}  // namespace strop::python
