// SPDX-License-Identifier: Apache-2.0
/// \file
/// CTCLoss: how improbable a sequence of labels is where only their order is known, not when each begins.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// CTCLoss: −log of the probability that the steps of data, as softmax has them, say the labels in their order, each
/// for one step or several and with blanks between them or none; between equal labels there is one.
///
/// data (steps, batch, classes), label (batch, most labels), the result (batch,). The blank is class 0 (first) or the
/// last one. Labels end at the first 0 (first) or −1 (last), with use_label_lengths where label_lengths (batch,) says;
/// steps end where data_lengths (batch,) says with use_data_lengths. Data of floating types, the others of any; sparse
/// arrays by the dense fallback. Steps too few for the labels have loss 0 and no gradient, as in MXNet; labels of
/// probability 0 have an infinite loss, and its gradient is the probabilities of the softmax. The gradient needs data
/// and label, not the hidden output in which MXNet keeps it; behind the last step it is 0. Error: other shapes, more
/// labels than steps in the shapes, a label that is no class, a length outside the axis.
///
/// Example: `ctc_loss(zeros({1, 1, 2}), array({{1}}))` is [0.6931472].
struct CTCLoss {
  enum Blank : int { first, last };
  bool use_data_lengths = false, use_label_lengths = false;
  Blank blank_label = first;

  static constexpr std::string_view aliases[] = {"ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss"};
  static constexpr const char* doc =
      "How improbable (−log) labels in their order are: data (steps, batch, classes), label (batch, most labels).";
  static constexpr Note notes[] = {
      {"use_data_lengths", "there is an input data_lengths: how many steps each sequence has"},
      {"use_label_lengths", "there is an input label_lengths: how many labels each has"},
      {"blank_label", "the class of no label: the first, and 0 ends labels; or the last, and -1 does"}};

  std::vector<std::string_view> inputs() const;
  constexpr int input_count() const { return 2 + (use_data_lengths ? 1 : 0) + (use_label_lengths ? 1 : 0); }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    s.set_in(0, {any, any, any});
    s.set_in(1, {s.in(0)[1], any});
    s.set_in(0, {any, s.in(1)[0], any});
    const std::int64_t batch = s.in(0)[1];
    for (int i = 2; i < s.inputs(); ++i) s.set_in(i, {batch});
    if (s.in(0)[0] >= 0 && s.in(1)[1] > s.in(0)[0])
      s.fail(s.name_in(1), " has shape ", s.in(1), ", expected at most ", s.in(0)[0], " labels, the steps of ",
             s.name_in(0));
    if (s.in(0)[2] == 0) s.fail(s.name_in(0), " has shape ", s.in(0), ", expected one class or more");
    s.set_out(0, {batch});
  }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    t.set_out(0, t.in(0));
    t.set_in(0, t.out(0));
    for (int i = 1; i < t.inputs(); ++i)
      if (!t.in(i)) t.set_in(i, t.in(0));
  }
  // Behind label come the lengths that there are; an argument without one is empty.
  template <Real E>
  void forward(Cpu&, View<const E, 3> data, View<const std::int64_t, 2> label, View<const std::int64_t, 1> third,
               View<const std::int64_t, 1> fourth, View<E, 1> losses) const;
  template <Real E>
  void grad_use_in(Cpu&, View<const E, 1> head, View<const E, 3> data, View<const std::int64_t, 2> label,
                   View<const std::int64_t, 1> third, View<const std::int64_t, 1> fourth, View<E, 3> ddata,
                   NDArray& dlabel, NDArray& dthird, NDArray& dfourth) const;

 private:
  /// f(n, paths) for each sequence of the batch; the paths keep what the gradient takes, or not.
  template <class E, class F>
  void each_sequence(View<const E, 3> data, View<const std::int64_t, 2> label, View<const std::int64_t, 1> third,
                     View<const std::int64_t, 1> fourth, bool keeps, F f) const;
};
inline constexpr Op<CTCLoss, OnUse> ctc_loss;

using CtcLossOps = OpList<CTCLoss>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/ctc_loss_body.hpp>
#endif
