// SPDX-License-Identifier: Apache-2.0
/// \file
/// How backward passes of several threads keep apart: who meets what another one works with waits for its end.
#pragma once
#include <strop/autograd/tape.hpp>
#include <strop/core/config.hpp>
#include <strop/core/fork.hpp>
#include <strop/core/list.hpp>

#include <atomic>
#include <cstdint>

namespace strop::inline v0::detail {

STROP_IMPL std::uint64_t next_pass() {
  static constinit std::atomic<std::uint64_t> passes{0};
  return passes.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// The pass of this thread that all others on it are inside of, or 0; what has claims was given back so often.
inline constinit thread_local std::uint64_t outermost_pass = 0;
inline constinit std::atomic<std::uint32_t> claims_ended{0};

/// What a pass has for itself until it ends. A pass inside another one of its thread shares what that one has.
///
/// Passes that want what the other one has do not wait for each other forever: the older one keeps what it has while it
/// waits, the younger one gives all of it back and begins again.
class PassClaims {
 public:
  /// The time that the pass takes.
  class Turn {
   public:
    explicit Turn(PassClaims& claims) : claims_(claims), inner_(outermost_pass != 0) {
      if (!inner_) outermost_pass = next_pass();
    }
    ~Turn() {
      claims_.give_back();
      if (!inner_) outermost_pass = 0;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const ForkSection whole_;  // a fork finds no pass half done
    PassClaims& claims_;
    const bool inner_;
  };

  /// False where a pass of another thread has it, and is not to be waited for with what this one has: that was given
  /// back.
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
      if (whose < outermost_pass) {
        give_back();
        return false;
      }
      wait_for_others();
    }
  }
  /// After take() gave everything back: until some pass has ended since.
  void wait_for_others() const {
    unlocked([this] { claims_ended.wait(seen_, std::memory_order_acquire); });
  }

 private:
  void give_back() noexcept {
    if (claimed_.empty()) return;
    for (PassOwner* owner : claimed_) owner->store(0, std::memory_order_release);
    claimed_.clear();
    claims_ended.fetch_add(1, std::memory_order_acq_rel);
    claims_ended.notify_all();
    ++seen_;
  }

  List<PassOwner*, 16> claimed_;
  std::uint32_t seen_ = 0;  // of claims_ended, when what was wanted was somebody else's
};

}  // namespace strop::inline v0::detail
