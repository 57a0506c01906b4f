// SPDX-License-Identifier: Apache-2.0
/// \file
/// _histogram: how many elements lie between edges.
#pragma once
#include <strop/core/numbers.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/order.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// _histogram: how many elements of data lie in each bin, and the edges of the bins, from one of which to below the
/// next each of them reaches; the last one has its upper edge in it. What lies outside is not counted, nor what is no
/// number.
///
/// With bin_cnt the bins have one width between the two ends of `range`, one half to both sides of these where they are
/// the same; else their edges are the input bins, ascending, of the type of data. The first output is int64, the second
/// of the type of data: edges of integers are truncated. All types but bool; halves are compared with the edges before
/// these are rounded. Sparse arrays by the dense fallback. Without a gradient, as in MXNet. Error: bin_cnt without
/// range or the other way round, a range of other than two numbers in order, fewer than two edges, edges that do not
/// ascend, with which the counts of MXNet mean nothing.
///
/// Example: `histogram(array({0, 1, 2, 2}), {.bin_cnt = 2, .range = strop::Numbers{0, 2}})` is [1, 3], [0, 1, 2].
struct Histogram {
  std::optional<int> bin_cnt = {};
  std::optional<Numbers> range = {};

  static constexpr std::string_view name = "_histogram", aliases[] = {"_npi_histogram", "histogram"},
                                    outputs[] = {"output0", "output1"};
  static constexpr const char* doc = "How many elements lie in each of the bins, and the edges of these.";
  static constexpr Note notes[] = {{"bin_cnt", "how many bins of one width there are; None: there is an input bins"},
                                   {"range", "the lower edge of the first bin and the upper one of the last"}};

  std::vector<std::string_view> inputs() const;
  constexpr int input_count() const { return bin_cnt ? 1 : 2; }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (bin_cnt.has_value() != range.has_value())
      s.fail(bin_cnt ? "bin_cnt is given without range" : "range is given without bin_cnt");
    if (bin_cnt) {
      if (*bin_cnt < 1) s.fail("bin_cnt is ", *bin_cnt, ", expected 1 or more");
      if (range->count() != 2) s.fail("range has ", range->count(), " numbers, expected 2");
      const double width = (*range)[1] - (*range)[0];
      if (!(width >= 0 && width <= Range::unbounded))
        s.fail("range is from ", (*range)[0], " to ", (*range)[1],
               ", expected two numbers in order, at most 1e308 apart");
      s.set_out(0, {*bin_cnt});
      s.set_out(1, {std::int64_t{*bin_cnt} + 1});
      return;
    }
    s.expect_rank(1, 1);
    s.set_in(1, s.out(1));
    s.set_out(1, s.in(1));
    if (!s.in(1).known()) return;
    if (s.in(1)[0] < 2) s.fail(s.name_in(1), " has shape ", s.in(1), ", expected 2 edges or more");
    s.set_out(0, {s.in(1)[0] - 1});
  }
  template <detail::Sortable E>
  void forward(Cpu&, View<const E> data, View<const E> bins, View<std::int64_t> counts, View<E> edges) const;

 private:
  std::pair<double, double> ends() const;
  /// The last bin that begins at x or before it, where the first one does. By halves and without branches, which no
  /// processor could foresee.
  template <class E>
  static std::int64_t last_from(E x, View<E> edges);
  /// The bin of x where bins have one width: what its place among them says, or a neighbour, since edges are rounded.
  template <class E>
  static std::int64_t even_bin(E x, View<E> edges, std::int64_t place);
  /// Counts the elements by the bins that `bin` gives them; −1 is none.
  template <class E, class F>
  static void tally(View<const E> data, View<std::int64_t> counts, F bin);
};
inline constexpr Op<Histogram, OnUse> histogram;

using HistogramOps = OpList<Histogram>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/histogram_body.hpp>
#endif
