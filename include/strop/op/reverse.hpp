// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rule of reverse mode, which the tape and graphs follow: what becomes of one call once everything is there that
/// comes to its results.
#pragma once
#include <strop/core/list.hpp>
#include <strop/op/dispatch.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace strop::inline v0::detail {

/// What comes to a call, or to one of its results. Zeros are handed on as zeros and not computed with: zero times a
/// derivative that is infinite would be NaN.
enum class Coming : std::uint8_t { nothing, zeros, gradients };

/// `Derived` derives from this, goes from call to call, each after all that were computed from it, and has
/// the members:
///
///   Value, plural                     what gradients are, and how a sentence calls several.
///   entry(call), name(call)           the operator, and its name for sentences.
///   inputs(call), outputs(call)       how many there are.
///   is_loss(call)                     whether it is a loss head that counts: it needs no head gradient.
///   comes(call, k)                    what has come to result k.
///   gradient(call, k), zeros(call, k) that gradient, and what stands in its place.
///   begin(call)                       before a gradient is computed.
///   is_composed(rule)                 whether the rule is written with operators on such values.
///   gives_small(call)                 true where it has handed on the gradient of a composed rule in another form.
///   composed(call, heads, in)         the gradients of a composed rule.
///   head(call, k), input(call, i)     what that rule is given.
///   step_stated(call)                 computes the gradient by the operator for it.
///   give(call, i, gradient)           hands a gradient to input i.
///   give_zeros(call)                  hands zeros to all inputs.
///   needed_by(call)                   the end of the sentence that there is no gradient.
///   fail_at(call, parts...)           throws Error.
template <class Derived>
class Reverse {
  Reverse() = default;
  friend Derived;

 protected:
  template <class Call>
  Coming coming_to(Call& call) {
    Coming most = walk().is_loss(call) ? Coming::gradients : Coming::nothing;
    for (int k = 0; k < walk().outputs(call); ++k) most = std::max(most, walk().comes(call, k));
    return most;
  }

  /// Hands on what comes to a call.
  template <class Call>
  void differentiate(Call& call, Coming coming) {
    if (coming == Coming::zeros) walk().give_zeros(call);
    if (coming != Coming::gradients) return;
    walk().begin(call);
    const Entry& entry = walk().entry(call);
    const GradientRule& rule = entry.gradient;
    if (Derived::is_composed(rule))
      step_composed(call, entry);
    else if (rule.entry != nullptr)
      walk().step_stated(call);
    else if (rule.zero)
      walk().give_zeros(call);
    else
      walk().fail_at(call, walk().name(call), " has no gradient", no_further_gradient(entry), walk().needed_by(call));
  }

  /// The gradient of result k, zeros where none has come.
  template <class Call>
  auto head_or_zeros(Call& call, int k) {
    return walk().comes(call, k) == Coming::gradients ? walk().gradient(call, k) : walk().zeros(call, k);
  }

  /// Hands on what a rule, or a function, has returned; what has no gradient is empty there.
  template <class Call, class Values>
  void give_all(Call& call, const Values& gradients, Index inputs) {
    const auto given = static_cast<Index>(gradients.size());
    if (given > inputs)
      walk().fail_at(call, "the gradient of ", walk().name(call), " returned ", given, ' ', Derived::plural, " for ",
                     inputs, " inputs");
    for (int i = 0; i < given && i < walk().inputs(call); ++i)
      if (element(gradients, i).defined()) walk().give(call, i, element(gradients, i));
  }

 private:
  template <class Call>
  void step_composed(Call& call, const Entry& entry) {
    if (walk().gives_small(call)) return;
    List<typename Derived::Value, 4> heads, in;
    for (int k = 0; k < (entry.gradient.heads == every ? walk().outputs(call) : 1); ++k)
      heads.push_back(walk().head(call, k));
    for (int i = 0; i < walk().inputs(call); ++i) in.push_back(walk().input(call, i));
    while (in.size() < entry.inputs) in.push_back({});  // optional ones that were left out
    give_all(call, walk().composed(call, heads, in), in.size());
  }

  Derived& walk() { return static_cast<Derived&>(*this); }
};

}  // namespace strop::inline v0::detail
