// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a bound graph runs: steps, the segments that they form, and gradients on their way. Internal.
#pragma once
#include <strop/core/list.hpp>
#include <strop/core/ref.hpp>
#include <strop/engine/step.hpp>
#include <strop/graph/node.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/param_box.hpp>
#include <strop/op/state.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <optional>

namespace strop::inline v0::detail {

/// A node to run, and what was decided for it when the graph was bound. Of the numbers of its values −1 is an input
/// that was left out.
struct Step {
  Ref<Node> node;
  List<int> in, out;
  List<Request> requests;
  Index state = -1;
  Ref<Plan> plan;
  /// The plan of prediction, where it draws random numbers and training does not, or the other way round.
  Ref<Plan> predicting;
  List<const NDArray*> inputs;
  List<NDArray> outputs;
  /// Results of a map that are wanted at the stored positions of a CSR argument alone.
  struct OnPattern {
    int result, argument;  // positions in `out`, and among the arguments
  };
  List<OnPattern> on_pattern;
  /// Inputs of which the operator looks at shape and type alone, a bit each: they have no memory, and need not be kept.
  std::uint64_t unread = 0;
  /// What has to be complete before it writes, where values lie at the same bytes at different times: blocks of the
  /// arena.
  struct Handover {
    int later, earlier;
  };
  List<Handover> handovers;
  /// Values that results are added to, in their memory; −1, or none at all, where a result is written.
  List<int> added_to;
  bool takes_head = false;  // that backward brings

  const Ref<Plan>& plan_for(bool training) const { return !training && predicting ? predicting : plan; }
  bool reads(Index i) const { return in[i] >= 0 && (i >= 64 || (unread >> i & 1U) == 0); }
  /// What the operator asks for in prediction or in training.
  Resources resources(Inputs arrays, bool training) const {
    if (node->entry->resources == nullptr) return {};
    List<Shape, 8> shapes;
    for (const NDArray* a : arrays) shapes.push_back(a->shape());
    const ModeScope mode(nullptr, training);
    return node->entry->resources(node->op(), shapes.span());
  }
};

/// The state of an operator that keeps one, which its node makes when it runs first.
struct KeptState : Counted {
  explicit KeptState(const ParamBox* of) : keeper(of) {}
  const ParamBox* const keeper;  // the operator's parameters, which its gradients and copies of its node share
  Ref<StateBox> box;
};

/// A gradient that is computed elsewhere, or zero (value −1), on its way to the array that was asked for.
struct Delivery {
  int value;
  int argument;
  Request request;
};

/// Steps that follow one another, each on what the one before it has computed and nobody else reads: they go to the
/// engine as one operation, and what does not depend on them may run beside it.
struct Segment {
  int begin = 0, end = 0;
  bool whole = false;         // it may go as one: all of its arrays stay, and lie where the engine orders calls
  bool takes_head = false;    // but for a head gradient, which stays where backward brings the same again
  std::int64_t elements = 0;  // of the largest array
  struct Prepared {
    EngineStep step;
    List<Ref<Buffer>> changed;  // by results, not as bytes that another one takes over
  };
  std::optional<Prepared> prepared[2];  // of prediction and of training, made when it goes first
};

}  // namespace strop::inline v0::detail
