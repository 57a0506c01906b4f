// SPDX-License-Identifier: Apache-2.0
/// \file
/// _sample_unique_zipfian: rows of different classes, the first ones more often than later ones.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/init.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

/// _sample_unique_zipfian: in each row different numbers from 0 to below range_max, drawn one after the other as
/// ⌊e^(u · log range_max) + ½⌋ − 1 with u uniform from 0 to 1, without those that are there already. A first
/// draw is k with the probability log(to / from) / log range_max, from being k + ½, but 1 of 0, and to k + 3/2, but
/// range_max of the last number; with a range_max of 1 it is 0.
///
/// Outputs: the numbers, of shape (rows, numbers), and how many were drawn for each row, both int64. Without a
/// gradient. Error: a shape of other dimensions, rows longer than range_max, range_max below 1.
struct SampleUniqueZipfian {
  static constexpr Resources resources{.random = true};
  Required<int> range_max = {};
  Shape shape = {};

  static constexpr std::string_view name = "_sample_unique_zipfian", aliases[] = {"sample_unique_zipfian"},
                                    outputs[] = {"output0", "output1"};
  static constexpr const char* doc =
      "Rows of different numbers below range_max, small ones more often, and how many were drawn for each.";
  static constexpr Note notes[] = {{"range_max", "the numbers lie below it"},
                                   {"shape", "how many rows, and numbers in each"}};
  static constexpr Range range[] = {{"range_max", 1}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::check_shape_param(s, shape);
    if (shape.ndim() != 2) s.fail("shape = ", shape, ", expected (rows, numbers)");
    if (shape[1] > *range_max)
      s.fail("shape = ", shape, " asks for ", shape[1], " different numbers below range_max, ", *range_max);
    s.set_out(0, shape);
    s.set_out(1, {shape[0]});
  }
  constexpr void infer_type(Types& t) const {
    t.set_out(0, i64);
    t.set_out(1, i64);
  }
  void forward(Cpu& cpu, NDArray& y, NDArray& drawn) const;
};
inline constexpr Op<SampleUniqueZipfian, OnUse> sample_unique_zipfian;

using RandomZipfianOps = OpList<SampleUniqueZipfian>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/random_zipfian_body.hpp>
#endif
