// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a store does with what is pushed: a function of the program, or an optimizer.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/ref.hpp>
#include <strop/core/span.hpp>
#include <strop/tensor/ndarray.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// Which of the workers of a dist_async store has a key.
int owner_of_key(std::string_view key, Index workers);

/// What a store does with a sum that was pushed.
class StoreUpdater : public Counted {
 public:
  virtual ~StoreUpdater() = default;
  virtual void update(const std::string& key, const NDArray& gradient, NDArray& weight) = 0;
  /// Whether it may throw when it has written a part of the weight.
  virtual bool may_stop_midway() const { return true; }
  /// What it remembers of all keys. Throws Error where it is a function of the program, of which nobody knows.
  // (Inline in the class, or g++ would put the whole class into every unit that sees it.)
  STROP_IMPL virtual std::string states() const;
  STROP_IMPL virtual void set_states(std::string_view states);
  /// The states of the updaters of several workers as those of one: of each key those of its owner.
  STROP_IMPL virtual std::string merged(Span<const std::string> all) const;
};
template <class F>
class FunctionUpdater final : public StoreUpdater {
 public:
  explicit FunctionUpdater(F f) : f_(std::move(f)) {}
  void update(const std::string& key, const NDArray& gradient, NDArray& weight) override { f_(key, gradient, weight); }

 private:
  F f_;
};

/// What the handles of a store share (kvstore/state.hpp).
class StoreBody : public Counted {
 public:
  virtual ~StoreBody() = default;
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/kvstore/updater_impl.hpp>
#endif
