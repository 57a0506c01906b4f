// SPDX-License-Identifier: Apache-2.0
/// \file
/// What recording leaves behind: a node per call, holding what its gradient needs and nothing else.
#pragma once
#include <strop/autograd/function.hpp>
#include <strop/core/list.hpp>
#include <strop/op/registry.hpp>

#include <atomic>
#include <span>
#include <string>

namespace strop::inline v0 {

namespace detail {

/// What a backward pass works with, and others meanwhile do not: the number of the pass, or 0.
using PassOwner = std::atomic<std::uint64_t>;

/// An array that asked for its gradient.
struct Leaf : GradientNode, memory::Recycled<Leaf> {
  NDArray gradient;
  GradRequest request = GradRequest::write;
  std::uint64_t pass = 0;  // the backward pass that wrote the gradient last
  PassOwner owner{0};
};
/// Hangs a leaf on the array, in the place of what hangs there. From any number of threads: the last one stays.
void hang_leaf(const NDArray& array, const Ref<GradientNode>& leaf);

/// An input of a recorded call: where it came from, what it was.
struct TapeInput {
  Ref<GradientNode> source;  // a TapeNode or a Leaf; none for a constant
  std::int32_t index = 0;
  bool leaf = false, kept = false;
  NDArray array;  // the array itself where it is kept, else its shell
  std::uint64_t version = 0;
};
struct TapeOutput {
  NDArray array;  // a shell, or the elements where they are kept; never the output's own handle (that would be a cycle)
  std::uint64_t version = 0;
  NDArray gradient;  // while a backward pass is on its way
  bool kept = false;
};

/// One recorded call.
struct TapeNode : GradientNode, memory::Recycled<TapeNode> {
  const Entry* entry = nullptr;
  Ref<ParamBox> params;
  Ref<StateBox> state;
  Ref<Function> function;  // of a custom function, instead of an entry
  List<TapeInput, 3> inputs;
  List<TapeOutput, 1> outputs;
  std::uint64_t mark = 0;
  PassOwner owner{0};
  TapeNode* next_down = nullptr;  // while a history is taken down
  std::atomic<bool> freed{false};
  bool on_pattern = false;  // during a backward pass: gradients of its results are wanted where they store something
  bool training = false;    // as the call was made, so is its gradient
  const void* op() const { return params ? params->get() : nullptr; }
  std::string_view name() const { return entry != nullptr ? entry->snake : std::string_view("function"); }

  TapeNode() = default;
  TapeNode(const TapeNode&) = delete;
  TapeNode& operator=(const TapeNode&) = delete;
  ~TapeNode() override { take_down(); }
  /// Long histories go step by step, not by recursion, and without memory: there may be none left.
  void take_down() noexcept;
  void release() {
    freed.store(true, std::memory_order_relaxed);
    state = nullptr;
    if (function) function->forget();
    for (TapeInput& in : inputs) in.array = NDArray();
    for (TapeOutput& out : outputs) out.array = NDArray();
  }
};

/// Whether there is something to go back to from it. What a backward has freed is a constant for what is recorded
/// later, as in MXNet.
inline bool has_history(const Body& a) {
  return a.gradient_node && !static_cast<const TapeNode*>(a.gradient_node.get())->freed.load(std::memory_order_relaxed);
}
inline bool is_tracked(const NDArray& a) { return a.body().leaf || has_history(a.body()); }

inline bool any_tracked(Inputs in) {
  for (const NDArray* a : in)
    if (is_tracked(*a)) return true;
  return false;
}

/// What every write of an array's elements, and of a sparse one's lists, changes.
inline std::uint64_t version_of(const NDArray& a) {
  const auto of = [](const Body& part) { return part.buffer ? part.buffer->writes() : 0; };
  const Body& b = a.body();
  return of(b) + (b.indices ? of(*b.indices) : 0) + (b.indptr ? of(*b.indptr) : 0);
}

/// Shape, dtype and storage (or another one) of an array without its elements.
inline NDArray shell_of(const NDArray& a, Storage storage) {
  return NDArray::fresh_shell(a.shape(), a.dtype(), a.device(), storage);
}
inline NDArray shell_of(const NDArray& a) { return shell_of(a, a.storage()); }

void fill_input(TapeInput& to, const NDArray& from, bool kept);
void link_output(TapeNode& node, const Ref<GradientNode>& owner, Index k, const NDArray& out, bool kept);
/// Called after each call while recording.
void record_call(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, StateBox* state, Site site);
inline constexpr Recorder tape{&record_call};
/// Puts what a Function made of tracked inputs on the tape as one step.
void record_step(const Ref<Function>& function, Inputs in, Span<const NDArray> out);

}  // namespace detail

/// While it lives, calls of this thread are recorded for backward; training mode unless said otherwise.
class record {
 public:
  [[nodiscard("it records while it lives: give it a name")]] explicit record(bool train = true)
      : mode_(&detail::tape, train) {}

 private:
  detail::ModeScope mode_;
};

/// While it lives, nothing is recorded.
class pause {
 public:
  [[nodiscard("it pauses while it lives: give it a name")]] explicit pause(bool train = false)
      : mode_(nullptr, train) {}

 private:
  detail::ModeScope mode_;
};

/// Operators behave as in training, recorded or not.
class train_mode {
 public:
  [[nodiscard("it is in force while it lives: give it a name")]] explicit train_mode(bool train = true)
      : mode_(detail::recording(), train) {}

 private:
  detail::ModeScope mode_;
};
/// Operators behave as in prediction, recorded or not.
class predict_mode : public train_mode {
 public:
  [[nodiscard("it is in force while it lives: give it a name")]] predict_mode() : train_mode(false) {}
};

inline bool is_recording() { return detail::recording() != nullptr; }
inline bool is_training() { return detail::call_mode.training; }

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/autograd/function_impl.hpp>
#include <strop/autograd/tape_impl.hpp>
#endif
