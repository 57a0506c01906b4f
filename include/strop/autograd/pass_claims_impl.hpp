// SPDX-License-Identifier: Apache-2.0
/// \file
/// How backward passes of several threads keep apart: who meets what another one works with waits for its end.
#pragma once
#include <strop/autograd/tape.hpp>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/fork.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/sync.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace strop::inline v0::detail {

STROP_IMPL std::uint64_t next_pass() {
  static constinit std::atomic<std::uint64_t> passes{0};
  return passes.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// The pass of this thread that all others on it are inside of, or 0; what has claims was given back so often.
inline constinit thread_local std::uint64_t outermost_pass = 0;
inline constinit std::atomic<std::uint32_t> claims_ended{0};

/// A pass that waits with what it has, on its thread's stack.
struct WaitingPass {
  std::uint64_t pass;
  const PassOwner* wanted;
  std::uint64_t whose;  // when it began to wait; where that has changed it is about to look again
  WaitingPass* next;
};
struct WaitingPasses {
  SpinLock lock;
  WaitingPass* first = nullptr;

  const WaitingPass* find(std::uint64_t pass) const {
    const WaitingPass* at = first;
    while (at != nullptr && at->pass != pass) at = at->next;
    return at;
  }
  /// Where the pass, were it to wait for that one, would wait for itself, through those that others wait for: what the
  /// last of them wants of it. Else null. Under the lock.
  const PassOwner* circle(std::uint64_t pass, std::uint64_t whose) const {
    Index left = 0;
    for (const WaitingPass* at = first; at != nullptr; at = at->next) ++left;
    for (const WaitingPass* at = nullptr; --left >= 0; whose = at->whose) {
      at = find(whose);
      if (at == nullptr || at->wanted->load(std::memory_order_acquire) != at->whose) return nullptr;
      if (at->whose == pass) return at->wanted;
    }
    return nullptr;
  }
};
inline constinit WaitingPasses waiting_passes;

/// What a pass has for itself until it ends. A pass inside another one of its thread shares what that one has.
///
/// Passes that want what the other one has do not wait for each other forever: the older one keeps what it has while it
/// waits, the younger one gives all of it back and begins again. A pass inside another one cannot give back what that
/// one has; it waits with it, and throws where the others wait for this in turn.
class PassClaims {
 public:
  /// The time that the pass takes.
  class Turn {
   public:
    explicit Turn(PassClaims& claims) : claims_(claims) {
      claims.inner_ = outermost_pass != 0;
      if (!claims.inner_) outermost_pass = next_pass();
    }
    ~Turn() {
      claims_.give_back();
      if (!claims_.inner_) outermost_pass = 0;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const ForkSection whole_;  // a fork finds no pass half done
    PassClaims& claims_;
  };

  /// False where a pass of another thread has it, and is not to be waited for with what this one has: that was given
  /// back. Throws Error where the pass cannot give back enough of it.
  bool take(PassOwner& owner) {
    for (;;) {
      std::uint64_t whose = 0;
      if (owner.compare_exchange_strong(whose, outermost_pass, std::memory_order_acquire)) {
        claimed_.push_back(&owner);
        return true;
      }
      if (whose == outermost_pass) return true;
      seen_ = claims_ended.load(std::memory_order_acquire);
      if (owner.load(std::memory_order_acquire) != whose) continue;
      if (whose < outermost_pass && !inner_) {
        give_back();
        return false;
      }
      const PassOwner* wanted = wait_with_claims(owner, whose);
      if (wanted == nullptr) continue;
      if (!inner_) {
        give_back();
        return false;
      }
      if (has(*wanted)) {
        give_back();
        whose = owner.load(std::memory_order_acquire);
        wanted = whose == 0 ? nullptr : wait_with_claims(owner, whose);
      }
      if (wanted != nullptr)
        fail(
            "backward: called inside another backward, it needs what a backward of another thread has, and that one "
            "waits for what the outer one here has; let only one of these threads be in its outer backward at a time");
      seen_ = claims_ended.load(std::memory_order_relaxed) - 1;  // it has waited
      return false;
    }
  }
  /// After take() gave everything back: until some pass has ended since.
  void wait_for_others() const {
    unlocked([this] { claims_ended.wait(seen_, std::memory_order_acquire); });
  }

 private:
  bool has(const PassOwner& owner) const {
    for (const PassOwner* one : claimed_)
      if (one == &owner) return true;
    return false;
  }
  /// Until some pass has ended since seen_; null. Where it would wait for itself it does not wait; what somebody who
  /// waits for it wants.
  const PassOwner* wait_with_claims(const PassOwner& owner, std::uint64_t whose) const {
    WaitingPass own{outermost_pass, &owner, whose, nullptr};
    {
      const Hold hold(waiting_passes.lock);
      if (const PassOwner* const wanted = waiting_passes.circle(own.pass, whose)) return wanted;
      own.next = std::exchange(waiting_passes.first, &own);
    }
    wait_for_others();
    const Hold hold(waiting_passes.lock);
    WaitingPass** at = &waiting_passes.first;
    while (*at != &own) at = &(*at)->next;
    *at = own.next;
    return nullptr;
  }
  void give_back() noexcept {
    if (claimed_.empty()) return;
    for (PassOwner* owner : claimed_) owner->store(0, std::memory_order_release);
    claimed_.clear();
    claims_ended.fetch_add(1, std::memory_order_acq_rel);
    claims_ended.notify_all();
    ++seen_;
  }

  List<PassOwner*, 16> claimed_;
  bool inner_ = false;
  std::uint32_t seen_ = 0;  // of claims_ended, when what was wanted was somebody else's
};

}  // namespace strop::inline v0::detail
