// SPDX-License-Identifier: Apache-2.0
/// \file
/// InferenceMemory: what inference on a sub-graph has found lately.
#pragma once
#include <strop/core/fork.hpp>
#include <strop/core/list.hpp>

#include <mutex>
#include <utility>

namespace strop::inline v0::detail {

/// Shapes or types of a sub-graph's inputs and outputs, by what was known of its inputs before. Inference sweeps over a
/// graph several times, and so asks for the same again; where sub-graphs lie in sub-graphs, finding it anew each time
/// would take exponentially long in their depth. Any thread may ask.
template <class X>
class InferenceMemory {
 public:
  struct Found {
    List<X> inputs, outputs;
  };

  /// What `infer` finds from what is given, or has found. An error that it throws is not remembered.
  template <class Infer>
  Found find(const List<X>& given, Infer infer) {
    {
      const std::lock_guard lock(changing_);
      for (const Known& one : known_)
        if (one.given == given) return one.found;
    }
    Found found = infer();
    const std::lock_guard lock(changing_);
    if (known_.size() < most)
      known_.push_back({given, found});
    else
      known_[next_] = {given, found};
    next_ = (next_ + 1) % most;
    return found;
  }

 private:
  /// As much is known of a node's inputs in one inference: nothing, some of it in a few steps, all; once more where its
  /// graph is bound to arguments of other shapes.
  static constexpr Index most = 8;
  struct Known {
    List<X> given;
    Found found;
  };
  ForkMutex changing_;
  List<Known> known_;
  Index next_ = 0;  // the one that has been there longest
};

}  // namespace strop::inline v0::detail
