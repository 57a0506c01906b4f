// SPDX-License-Identifier: Apache-2.0
/// \file
/// What recording leaves behind: a node per call, holding what its gradient needs and nothing else.
#pragma once
#include <strop/op/registry.hpp>

#include <memory>
#include <span>
#include <string>

namespace strop::inline v0 {

class Function;

namespace detail {

/// An array that asked for its gradient.
struct Leaf : Lineage, memory::Recycled<Leaf> {
  NDArray gradient;
  GradRequest request = GradRequest::write;
  std::uint64_t pass = 0;  // the backward pass that wrote the gradient last
};

/// A few things inline, more on the heap. Its size is fixed when it is made.
template <class X, int Near>
class Few {
 public:
  void resize(std::size_t n) {
    count_ = n;
    if (n > Near) far_ = std::make_unique<X[]>(n);
  }
  std::size_t size() const { return count_; }
  X* begin() { return count_ > Near ? far_.get() : near_; }
  X* end() { return begin() + count_; }
  X& operator[](std::size_t i) { return begin()[i]; }

 private:
  std::size_t count_ = 0;
  std::unique_ptr<X[]> far_;
  X near_[static_cast<std::size_t>(Near)];
};

/// An input of a recorded call: where it came from, what it was.
struct TapeInput {
  Ref<Lineage> source;  // a TapeNode or a Leaf; none for a constant
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
struct TapeNode : Lineage, memory::Recycled<TapeNode> {
  const Entry* entry = nullptr;
  Ref<ParamBox> params;
  std::shared_ptr<Function> function;  // of a custom function, instead of an entry
  Few<TapeInput, 3> inputs;
  Few<TapeOutput, 1> outputs;
  std::uint64_t mark = 0;
  bool freed = false;
  std::string_view name() const { return entry != nullptr ? entry->snake : std::string_view("function"); }

  TapeNode() = default;
  TapeNode(const TapeNode&) = delete;
  TapeNode& operator=(const TapeNode&) = delete;
  /// Takes long histories down step by step, not by recursion.
  ~TapeNode() override;
  void release() {
    freed = true;
    for (TapeInput& in : inputs) in.array = NDArray();
    for (TapeOutput& out : outputs) out.array = NDArray();
  }
};

inline TapeNode::~TapeNode() {
  // A source that dies with this node moves its own sources to the list first.
  thread_local std::vector<Ref<Lineage>>* pending = nullptr;
  std::vector<Ref<Lineage>> list;
  const bool outermost = pending == nullptr;
  if (outermost) pending = &list;
  for (TapeInput& in : inputs) {
    in.array = NDArray();
    if (in.source && !in.leaf) pending->push_back(std::move(in.source));
  }
  if (!outermost) return;
  while (!list.empty()) {
    Ref<Lineage> next = std::move(list.back());
    list.pop_back();
  }
  pending = nullptr;
}

inline bool is_tracked(const NDArray& a) { return a.body().leaf || a.body().lineage; }

inline std::uint64_t version_of(const NDArray& a) { return a.body().buffer ? a.body().buffer->version() : 0; }

/// Shape, dtype and storage of an array without its elements.
inline NDArray shell_of(const NDArray& a) { return NDArray::shell(a.shape(), a.dtype(), a.device(), a.storage()); }

inline bool in_mask(std::uint64_t mask, std::size_t i) { return mask == every || (i < 64 && (mask >> i & 1U) != 0); }

inline void fill_input(TapeInput& to, const NDArray& from, bool kept) {
  const Body& body = from.body();
  if (body.leaf) {
    to.source = body.leaf;
    to.leaf = true;
  } else {
    to.source = body.lineage;
    to.index = body.lineage_index;
  }
  to.kept = kept;
  to.array = kept ? from : shell_of(from);
  to.version = version_of(from);
}

inline void link_output(TapeNode& node, const Ref<Lineage>& owner, std::size_t k, const NDArray& out, bool kept) {
  TapeOutput& slot = node.outputs[k];
  slot.kept = kept;
  slot.array = kept ? out.detach() : shell_of(out);
  slot.version = version_of(out);
  out.body().lineage = owner;
  out.body().lineage_index = static_cast<std::int32_t>(k);
  out.body().leaf = nullptr;
}

/// Called after each call while recording.
inline void record_call(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out) {
  bool tracked = false;
  for (const NDArray* a : in) tracked = tracked || is_tracked(*a);
  if (!tracked) {
    for (const NDArray& a : out)
      if (a) a.body().lineage = nullptr;
    return;
  }
  auto* node = new TapeNode;
  const Ref<Lineage> owner(node);
  node->entry = &entry;
  if (entry.params != nullptr && entry.params->size > 0) node->params = Ref(new ParamBox(entry.params, op));
  std::uint64_t kept = entry.gradient.in;
  // A derived gradient reads the inputs that its body multiplies; a linear map's reads none.
  if (kept != 0 && kept != every && entry.facts.kept != nullptr && entry.gradient.entry != nullptr)
    kept &= entry.facts.kept(op, compute_type(entry.loops, in[0]->dtype()));
  node->inputs.resize(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) fill_input(node->inputs[i], *in[i], in_mask(kept, i));
  node->outputs.resize(out.size());
  for (std::size_t k = 0; k < out.size(); ++k) link_output(*node, owner, k, out[k], in_mask(entry.gradient.out, k));
}

}  // namespace detail

/// While it lives, calls of this thread are recorded for backward; training mode unless said otherwise.
class record {
 public:
  explicit record(bool train = true) : before_(detail::call_mode) {
    detail::call_mode.recording = true;
    detail::call_mode.training = train;
    detail::call_mode.record = &detail::record_call;
  }
  ~record() { detail::call_mode = before_; }
  record(const record&) = delete;
  record& operator=(const record&) = delete;

 private:
  detail::CallMode before_;
};

/// While it lives, nothing is recorded.
class pause {
 public:
  explicit pause(bool train = false) : before_(detail::call_mode) {
    detail::call_mode.recording = false;
    detail::call_mode.training = train;
  }
  ~pause() { detail::call_mode = before_; }
  pause(const pause&) = delete;
  pause& operator=(const pause&) = delete;

 private:
  detail::CallMode before_;
};

/// Operators behave as in training, recorded or not.
class train_mode {
 public:
  explicit train_mode(bool train = true) : before_(std::exchange(detail::call_mode.training, train)) {}
  ~train_mode() { detail::call_mode.training = before_; }
  train_mode(const train_mode&) = delete;
  train_mode& operator=(const train_mode&) = delete;

 private:
  bool before_;
};
/// Operators behave as in prediction, recorded or not.
class predict_mode : public train_mode {
 public:
  predict_mode() : train_mode(false) {}
};

inline bool is_recording() { return detail::call_mode.recording; }
inline bool is_training() { return detail::call_mode.training; }

}  // namespace strop::inline v0
