// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls that wait: in which order a call stands, and what is kept of it until its turn comes.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/mode.hpp>
#include <strop/op/param_box.hpp>
#include <strop/op/plan.hpp>
#include <strop/op/wait_apart.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace strop::inline v0::detail {

/// Bytes of the buffers that were made for results of calls in waiting and that such calls, those that will read them
/// included, still hold. Past the limit a call waits for its own turn to end: a program that never looks at what it
/// computes takes no more memory for being ahead.
inline constinit std::atomic<std::int64_t> bytes_ahead{0};
inline constexpr std::int64_t most_bytes_ahead = std::int64_t{1} << 28;

/// A call, kept until its turn comes. It works on arrays of its own over the same memory, which wait for nothing.
class DeferredCall final : public Pending::Work {
 public:
  DeferredCall(Ref<Plan> plan, const void* op, Inputs in, Span<const NDArray> out,
               const std::optional<random::Stream>& drawn)
      : plan_(std::move(plan)),
        params_(op == nullptr ? nullptr : plan_->entry->params, op),
        in_(in.size()),
        out_(out.size()),
        held_(in.size() + out.size()),
        drawn_(drawn),
        training_(call_mode.training) {
    for (Index i = 0; i < in.size(); ++i) in_[i] = alone(held_[i] = *in[i]);
    for (Index i = 0; i < out.size(); ++i) out_[i] = alone(held_[in.size() + i] = out[i]);
    for (Index i = 0; i < out.size(); ++i)
      if (out[i].allocated() && out[i].body().buffer->version() == 0) out[i].body().buffer->mark_ahead();
    for (const NDArray& a : held_)
      if (a.allocated() && a.body().buffer->is_ahead()) {
        Buffer* const buffer = a.body().buffer.get();
        counted_.push_back(buffer);
        if (buffer->hold_ahead(1) == 0) bytes_ahead.fetch_add(buffer->bytes(), std::memory_order_relaxed);
      }
  }
  ~DeferredCall() override {
    for (Buffer* buffer : counted_)
      if (buffer->hold_ahead(-1) == 1) bytes_ahead.fetch_sub(buffer->bytes(), std::memory_order_relaxed);
  }
  void run() override { run_now(); }  // defined here: elsewhere, the class would be built into every program
  void describe(Note note, void* to) const override {
    note(to, "inputs", text_of(inputs()));
    note(to, "outputs", text_of(outputs()));
  }

  Span<const NDArray> inputs() const { return held_.span().first(in_.size()); }
  Span<const NDArray> outputs() const { return held_.span().subspan(in_.size()); }
  const Plan& plan() const { return *plan_; }

 private:
  void run_now();
  static std::string text_of(Span<const NDArray> arrays) {
    std::string text;
    for (const NDArray& a : arrays)
      text += cat(text.empty() ? "" : ", ", name_of(a.dtype()), ' ', a.shape(), ' ', name_of(a.storage()));
    return text;
  }
  static NDArray alone(const NDArray& a) {
    NDArray b = NDArray::shell(a.shape(), a.dtype(), a.device());
    if (!a.allocated()) return b;
    const std::int64_t bytes = a.size() * size_of(a.dtype());
    b.body().buffer = Ref(new Buffer(a.device(), bytes, a.address(), [](void*, void*) noexcept {}, nullptr));
    return b;
  }
  const Ref<Plan> plan_;
  ParamBox params_;
  List<NDArray, 4> in_, out_, held_;
  std::optional<random::Stream> drawn_;
  List<Buffer*, 4> counted_;  // of what is held: counted in bytes_ahead
  bool training_;
};

/// What is known of a call's arrays before it runs.
struct Readiness {
  bool busy = false;     // one of them is pending
  bool foreign = false;  // one lies in memory whose owner waits for nothing: a call on it is complete when it returns
  std::int64_t elements = 0;
  void see(const NDArray& a) {
    const bool on_its_way = a.busy();
    busy = busy || on_its_way;
    foreign = foreign || (!on_its_way && a.allocated() && a.body().buffer->is_foreign());
    elements = std::max(elements, a.size());
  }
};

STROP_IMPL void DeferredCall::run_now() {
  const ModeScope mode(nullptr, training_);
  List<const NDArray*, 8> in(in_.size());
  for (Index i = 0; i < in_.size(); ++i) in[i] = &in_[i];
  execute(*plan_, {params_.get(), nullptr, drawn_ ? &*drawn_ : nullptr, true}, in.span(), out_.span());
}

/// Has the call run after everything that was pushed before it and touches its arrays. `completes`: returns when it has
/// run.
STROP_IMPL void push_deferred(const Ref<DeferredCall>& call, Site site, bool completes) {
  const Plan& plan = call->plan();
  List<Pending*, 8> reads, writes;
  const auto uses = [](const NDArray& a) -> Pending* {
    if (!a.allocated()) return nullptr;
    return a.pending() != nullptr ? a.pending() : &a.body().buffer->order(order_maker.get("an array that waits")());
  };
  const Span<const NDArray> in = call->inputs(), out = call->outputs();
  for (const NDArray& a : in)
    if (Pending* const p = uses(a)) reads.push_back(p);
  for (Index i = 0; i < out.size(); ++i) {
    const NDArray& a = out[i];
    if (plan.requests[i] == Request::null) continue;
    Pending* const p = uses(a);
    writes.push_back(p);
    if (!overwrites(a, plan.requests[i])) reads.push_back(p);
    a.body().buffer->written();
  }
  for (int i : plan.mutated) {
    const NDArray& a = in[i];
    writes.push_back(uses(a));
    a.body().buffer->written();
  }
  writes[0]->run(reads, writes, plan.entry->snake, site, call);
  if (completes)
    wait_in_call(*writes[0], [](Pending& order) { order.wait(false); });
  else if (bytes_ahead.load(std::memory_order_relaxed) > most_bytes_ahead)
    wait_in_call(*writes[0], [](Pending& order) { order.settle(); });
}

}  // namespace strop::inline v0::detail
