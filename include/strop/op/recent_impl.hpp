// SPDX-License-Identifier: Apache-2.0
/// \file
/// Plans of a thread's last calls: a call like an earlier one is decided already.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/param_box.hpp>
#include <strop/op/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <new>

namespace strop::inline v0::detail {

/// What resolve() read of one call on dense arrays of the CPU, and what it gave.
struct RecentCall {
  std::uint64_t key = 0;
  int users = 0;   // calls that run by the plan, one in the other
  Ref<Plan> plan;  // none yet where the call was seen once
  Ref<ParamBox> params;
  bool training = false;
  List<Shape, 4> in_shapes;
  List<Dtype, 4> in_types;
  List<bool, 8> given;  // outputs that were there
  // Where the kernel takes the call's own arrays and nothing else (`direct`): their bytes, and elements of the largest.
  bool direct = false;
  List<std::int64_t, 4> in_bytes, out_bytes;
  std::int64_t most = 0;

  /// Notes the bytes of one array; of a call that no memory fits (nothing is made yet), that it is not direct.
  void see(std::int64_t& bytes, const Shape& shape, Dtype type) {
    bytes = size_of(type);
    for (const std::int64_t extent : shape)
      if (__builtin_mul_overflow(bytes, extent, &bytes)) bytes = 0, direct = false;
    most = std::max(most, bytes / size_of(type));
  }
};

/// Whether the plan's kernel takes the call's own arrays, and nothing that has to be made for it first.
inline bool is_direct(const Plan& plan) {
  return plan.route == Route::tensors && plan.as_given && plan.asked && plan.mutated.empty() &&
         !plan.resources.random && plan.entry->cpu.make_state == nullptr;
}

class RecentCalls {
 public:
  /// Those of this thread; null where there is no room for them, and when the thread is about to end.
  static RecentCalls* here() {
    if (calls_ == nullptr && !ended_) [[unlikely]] {
      struct Sentry {
        ~Sentry() {
          ended_ = true;
          delete calls_;
          calls_ = nullptr;
        }
      };
      static thread_local Sentry sentry;
      calls_ = new (std::nothrow) RecentCalls;
    }
    return calls_;
  }

  /// A number for the entry and the inputs of a call; 0 where its plan is not kept.
  static std::uint64_t key_of(const Entry& entry, Inputs in, Span<const NDArray> out) {
    if (in.empty() || out.size() > 8) return 0;
    std::uint64_t key = reinterpret_cast<std::uintptr_t>(&entry);
    for (const NDArray* a : in) {
      if (!a->defined() || a->storage() != dense || a->device() != cpu()) return 0;
      std::uint64_t own = static_cast<std::uint64_t>(a->dtype());
      for (const std::int64_t extent : a->shape()) own = own * 31 + static_cast<std::uint64_t>(extent);
      key = mixed(key ^ own);
    }
    for (const NDArray& y : out)
      if (y.defined() && (y.storage() != dense || y.device() != cpu() || !y.allocated())) return 0;
    return key | 1;
  }

  /// The plan of an earlier call that was decided by the same; it stays where it is as long as it has users.
  RecentCall* find(std::uint64_t key, const Entry& entry, const void* op, Inputs in, Span<const NDArray> out,
                   Span<const Request> asked) {
    RecentCall& call = slots_[slot_of(key)];
    if (call.key != key || !call.plan) return nullptr;
    const Plan& plan = *call.plan;
    if (plan.entry != &entry || call.in_shapes.size() != in.size() || plan.shapes.size() != out.size() ||
        call.training != call_mode.training)
      return nullptr;
    for (Index i = 0; i < in.size(); ++i)
      if (call.in_types[i] != in[i]->dtype() || call.in_shapes[i] != in[i]->shape()) return nullptr;
    for (Index k = 0; k < out.size(); ++k) {
      const NDArray& y = out[k];
      if (plan.requests[k] != (k < asked.size() ? asked[k] : Request::write) || call.given[k] != y.defined())
        return nullptr;
      if (y.defined() && (plan.types[k] != y.dtype() || plan.shapes[k] != y.shape())) return nullptr;
    }
    if (entry.params != nullptr && !entry.params->equal(call.params->get(), op)) return nullptr;
    return &call;
  }

  /// Keeps the plan, from the second call on: most calls of a program that has no loop come once.
  void keep(std::uint64_t key, const void* op, Inputs in, Span<const NDArray> out, const Ref<Plan>& plan) {
    RecentCall& call = slots_[slot_of(key)];
    if (call.users > 0) return;
    const bool again = call.key == key;
    call.key = key;
    call.plan = {};
    const ParamTable* const table = plan->entry->params;
    if (!again || (table != nullptr && !table->equal(op, op))) return;
    call.params = Ref<ParamBox>(new ParamBox(table, op));
    call.training = call_mode.training;
    call.in_shapes.resize(in.size());
    call.in_types.resize(in.size());
    call.given.resize(out.size());
    for (Index i = 0; i < in.size(); ++i) call.in_shapes[i] = in[i]->shape(), call.in_types[i] = in[i]->dtype();
    for (Index k = 0; k < out.size(); ++k) call.given[k] = out[k].defined();
    call.direct = is_direct(*plan);
    call.in_bytes.resize(in.size());
    call.out_bytes.resize(out.size());
    call.most = 0;
    for (Index i = 0; i < in.size(); ++i) call.see(call.in_bytes[i], in[i]->shape(), in[i]->dtype());
    for (Index k = 0; k < out.size(); ++k) call.see(call.out_bytes[k], plan->shapes[k], plan->types[k]);
    call.plan = plan;
  }

  /// Runs a call by a plan that was found.
  class Use {
   public:
    explicit Use(RecentCall& call) : call_(call) { ++call_.users; }
    ~Use() { --call_.users; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    RecentCall& call_;
  };

 private:
  static constexpr int count = 64;
  static std::uint64_t mixed(std::uint64_t key) {
    key *= 0x9e3779b97f4a7c15U;
    return key ^ key >> 32;
  }
  static int slot_of(std::uint64_t key) { return static_cast<int>(key >> 1 & (count - 1)); }

  static inline constinit thread_local RecentCalls* calls_ = nullptr;
  static inline constinit thread_local bool ended_ = false;
  RecentCall slots_[count];
};

}  // namespace strop::inline v0::detail
