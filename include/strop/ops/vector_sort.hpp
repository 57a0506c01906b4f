// SPDX-License-Identifier: Apache-2.0
/// \file
/// Quicksort of unsigned numbers in registers of 64 bytes: each pass compresses what is below a pivot to one side, and
/// what is short enough goes through a network.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/ops/counting_sort.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#if STROP_X86_BYTES == 64 && !defined(__CUDACC__)  // which refuses the shuffles
namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// A register of unsigned numbers as sorts use it. A mask has a bit for each lane.
template <class U>
struct SortLanes;
#define STROP_SORT_LANES(U, S, Bits, cmp, move)                                                               \
  template <>                                                                                                 \
  struct SortLanes<U> {                                                                                       \
    using V = number::Vec<U>;                                                                                 \
    using Mask = Bits;                                                                                        \
    static constexpr int lanes = 64 / static_cast<int>(sizeof(U));                                            \
    typedef S Signed __attribute__((vector_size(64)));                                                        \
    static Signed as_signed(V v) { return number::detail_lanes::pun<Signed>(v); }                             \
    static Mask below(V a, V b) {                                                                             \
      return static_cast<Mask>(__builtin_ia32_##cmp##512_mask(as_signed(a), as_signed(b), 1, Mask(-1)));      \
    }                                                                                                         \
    static V compress(V a, Mask mask) {                                                                       \
      return number::detail_lanes::pun<V>(__builtin_ia32_##move##512_mask(as_signed(a), as_signed(a), mask)); \
    }                                                                                                         \
  };
STROP_SORT_LANES(std::uint32_t, int, std::uint16_t, ucmpd, compresssi)
STROP_SORT_LANES(std::uint64_t, long long, std::uint8_t, ucmpq, compressdi)
#undef STROP_SORT_LANES

/// A network that sorts R registers: first the lanes beside each other, of all registers, then runs of lanes that
/// double. Number i stands in lane i / R of register i % R until the end.
template <class U, int R>
struct SortNetwork {
  using V = number::Vec<U>;
  static constexpr int lanes = SortLanes<U>::lanes, size = R * lanes;
  using Lanes = std::make_integer_sequence<int, lanes>;

  /// Sorts `size` numbers.
  static void sort(U* x) {
    V v[unsigned_size(R)];
    each<R>([&](auto r) { std::memcpy(&v[r], x + r * lanes, sizeof v[r]); });
    columns(v);
    merge_lanes<1>(v);
    if constexpr (R >= 2) spread<R / 2>(v);
    each<R>([&](auto r) { std::memcpy(x + r * lanes, &v[r], sizeof v[r]); });
  }

 private:
  template <int N, class F>
  [[gnu::always_inline]] static void each(F f) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (f(std::integral_constant<int, I>{}), ...);
    }(std::make_integer_sequence<int, N>{});
  }
  [[gnu::always_inline]] static V lesser(V a, V b) { return a < b ? a : b; }
  [[gnu::always_inline]] static V greater(V a, V b) { return a < b ? b : a; }
  [[gnu::always_inline]] static void exchange(V& a, V& b) {
    const V low = lesser(a, b);
    b = greater(a, b);
    a = low;
  }
  /// Each lane from the one whose number differs in these bits.
  template <int X>
  [[gnu::always_inline]] static V crossed(V v) {
    return
        [&]<int... I>(std::integer_sequence<int, I...>) { return __builtin_shufflevector(v, v, (I ^ X)...); }(Lanes{});
  }
  /// The lesser of each pair where that bit of the lane's number is 0, the greater where it is 1.
  template <int Bit>
  [[gnu::always_inline]] static V parted(V a, V b) {
    return [&]<int... I>(V low, V high, std::integer_sequence<int, I...>) {
      return __builtin_shufflevector(low, high, ((I & Bit) != 0 ? I + lanes : I)...);
    }(lesser(a, b), greater(a, b), Lanes{});
  }
  [[gnu::always_inline]] static void columns(V* v) {
    if constexpr (R == 8) {
      exchange(v[0], v[2]), exchange(v[1], v[3]), exchange(v[4], v[6]), exchange(v[5], v[7]);
      exchange(v[0], v[4]), exchange(v[1], v[5]), exchange(v[2], v[6]), exchange(v[3], v[7]);
      exchange(v[0], v[1]), exchange(v[2], v[3]), exchange(v[4], v[5]), exchange(v[6], v[7]);
      exchange(v[2], v[4]), exchange(v[3], v[5]), exchange(v[1], v[4]), exchange(v[3], v[6]);
      exchange(v[1], v[2]), exchange(v[3], v[4]), exchange(v[5], v[6]);
    } else if constexpr (R == 4) {
      exchange(v[0], v[2]), exchange(v[1], v[3]), exchange(v[0], v[1]), exchange(v[2], v[3]), exchange(v[1], v[2]);
    }
  }
  /// From runs of M lanes to one of all lanes.
  template <int M>
  [[gnu::always_inline]] static void merge_lanes(V* v) {
    if constexpr (R == 1) {
      v[0] = parted<M>(v[0], crossed<2 * M - 1>(v[0]));
    } else {
      each<R / 2>([&](auto r) {
        V &a = v[r], &b = v[R - 1 - r];
        const V mirrored = crossed<2 * M - 1>(a);
        a = parted<M>(a, crossed<2 * M - 1>(b));
        b = parted<M>(b, mirrored);
      });
    }
    if constexpr (M >= 2) clean_lanes<M / 2>(v);
    if constexpr (R >= 2) clean_registers<R / 2>(v);
    if constexpr (2 * M < lanes) merge_lanes<2 * M>(v);
  }
  template <int D>
  [[gnu::always_inline]] static void clean_lanes(V* v) {
    each<R>([&](auto r) { v[r] = parted<D>(v[r], crossed<D>(v[r])); });
    if constexpr (D >= 2) clean_lanes<D / 2>(v);
  }
  template <int D>
  [[gnu::always_inline]] static void clean_registers(V* v) {
    each<R / 2>([&](auto k) {
      constexpr int r = k / D * 2 * D + k % D;
      exchange(v[r], v[r + D]);
    });
    if constexpr (D >= 2) clean_registers<D / 2>(v);
  }
  /// To where number i is number i of what the registers have one after the other: each time the bits of its place turn
  /// by one.
  template <int Rounds>
  [[gnu::always_inline]] static void spread(V* v) {
    V to[unsigned_size(R)];
    each<R / 2>([&](auto r) {
      [&]<int... I>(std::integer_sequence<int, I...>) {
        to[2 * r] = __builtin_shufflevector(v[r], v[r + R / 2], (I / 2 + I % 2 * lanes)...);
        to[2 * r + 1] = __builtin_shufflevector(v[r], v[r + R / 2], (lanes / 2 + I / 2 + I % 2 * lanes)...);
      }(Lanes{});
    });
    each<R>([&](auto r) { v[r] = to[r]; });
    if constexpr (Rounds >= 2) spread<Rounds / 2>(v);
  }
};

template <class U>
class VectorSort {
  using L = SortLanes<U>;
  using V = number::Vec<U>;
  static constexpr std::int64_t lanes = L::lanes, longest = 8 * lanes;

 public:
  /// Sorts n numbers of x; y has room for n as well. The result is in x or, where not `in_x`, in y. Shared by threads
  /// where there are several parts.
  static void sort(U* x, U* y, std::int64_t n, bool in_x, std::int64_t parts = 1) {
    if (parts == 1) return sort({x, y, n, in_x}, passes_for(n));
    List<Piece> pieces;
    pieces.push_back({x, y, n, in_x});
    while (pieces.size() < 4 * parts) {
      List<Piece> halves(2 * pieces.size());
      parallel_for(pieces.size(), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          if (pieces[i].n > longest) halves[2 * i] = split(pieces[i]);
          halves[2 * i + 1] = pieces[i];
        }
      });
      pieces = std::move(halves);
    }
    parallel_for(pieces.size(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) sort(pieces[i], passes_for(pieces[i].n));
    });
  }

 private:
  /// n numbers in x, with room in y: to be sorted into x or into y.
  struct Piece {
    U *x = nullptr, *y = nullptr;
    std::int64_t n = 0;
    bool in_x = true;
  };
  static int passes_for(std::int64_t n) { return 2 * static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))); }

  /// `passes` at most: after that the pivots were bad ones.
  static void sort(Piece p, int passes) {
    for (; p.n > longest; --passes) {
      if (passes == 0) {
        U *const to = p.in_x ? p.x : p.y, *const at = radix_sort(p.x, p.y, p.n, 0, 1);
        if (at != to) std::copy_n(at, p.n, to);
        return;
      }
      sort(split(p), passes - 1);
    }
    U* const to = p.in_x ? p.x : p.y;
    if (p.n <= lanes)
      finish<1>(p.x, to, p.n);
    else if (p.n <= 4 * lanes)
      finish<4>(p.x, to, p.n);
    else
      finish<8>(p.x, to, p.n);
  }

  /// Takes from a piece what is below a pivot; or else what is equal to it, which is then in its place.
  static Piece split(Piece& p) {
    const U pivot = choose(p.x, p.n);
    // One side stays where it is, the other goes to its place or to where it has room.
    const std::int64_t kept = partition(p.x, p.y, p.n, pivot, p.in_x), below = p.in_x ? kept : p.n - kept;
    if (below == 0) {
      if (p.in_x) std::swap(p.x, p.y), p.in_x = false;
      if (pivot == U(-1)) {
        std::fill_n(p.y, p.n, pivot);
        p.n = 0;
      } else {
        const std::int64_t greater = partition(p.x, p.y, p.n, pivot + 1, false);
        p.y += p.n - greater, p.n = greater;
      }
      return {};
    }
    if (p.in_x) {
      const Piece least{p.x, p.y + (p.n - kept), kept, true};
      p = {p.y, p.x + kept, p.n - kept, false};
      return least;
    }
    const Piece least{p.y, p.x + kept, below, true};
    p = {p.x, p.y + below, kept, false};
    return least;
  }

  template <int R>
  static void finish(const U* x, U* to, std::int64_t n) {
    alignas(64) U all[unsigned_size(R * lanes)];
    const std::int64_t whole = n / lanes * lanes;  // the registers above are written before the rest overlays them
    for (std::int64_t i = whole; i < R * lanes; i += lanes) std::fill_n(all + i, lanes, U(-1));
    std::copy_n(x, n, all);
    SortNetwork<U, R>::sort(all);
    std::copy_n(all, n, to);
  }

  static U choose(const U* x, std::int64_t n) {
    constexpr int count = 4 * lanes;
    alignas(64) U some[unsigned_size(count)];
    const std::int64_t step = n / count;
    for (int i = 0; i < count; ++i) some[i] = x[i * step];
    SortNetwork<U, 4>::sort(some);
    return some[count / 2];
  }

  /// What is below the pivot, or not below, stays in x in its order, the rest goes to y. Gives how many stay.
  static std::int64_t partition(U* x, U* y, std::int64_t n, U pivot, bool stays_below) {
    const V pivots = V{} + pivot;
    const auto turn = static_cast<typename L::Mask>(stays_below ? 0 : -1);
    std::int64_t kept = 0, i = 0;
    const auto some = [&]<int... I>(std::integer_sequence<int, I...>) {
      V v[sizeof...(I)];  // all are read before the first is written, for which the processor does not wait then
      (std::memcpy(&v[I], x + i + I * lanes, sizeof v[I]), ...);
      const auto put = [&](V one) {
        const auto keep = static_cast<typename L::Mask>(L::below(one, pivots) ^ turn);
        const V left = L::compress(one, keep), right = L::compress(one, static_cast<typename L::Mask>(~keep));
        std::memcpy(x + kept, &left, sizeof left);  // what is beyond has been read, or will be written
        std::memcpy(y + (i - kept), &right, sizeof right);
        kept += std::popcount(keep);
        i += lanes;
      };
      (put(v[I]), ...);
    };
    while (i + 4 * lanes <= n) some(std::make_integer_sequence<int, 4>{});
    while (i + lanes <= n) some(std::make_integer_sequence<int, 1>{});
    for (; i < n; ++i) {
      const U value = x[i];
      const bool keep = (value < pivot) == stays_below;
      x[kept] = value;
      y[i - kept] = value;
      kept += keep ? 1 : 0;
    }
    return kept;
  }
};

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
#endif
