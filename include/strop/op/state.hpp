// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an operator keeps between forward and backward besides tensors.
#pragma once
#include <strop/core/ref.hpp>

#include <utility>

namespace strop::inline v0::detail {

/// A state of a type that only the operator knows. Shared by a call and its gradient; an executor has one per node.
class StateBox : public Counted {
 public:
  virtual ~StateBox() = default;
  virtual void* get() = 0;
};

template <class S>
class StateOf final : public StateBox {
 public:
  explicit StateOf(S state) : state_(std::move(state)) {}
  void* get() override { return &state_; }

 private:
  S state_;
};

}  // namespace strop::inline v0::detail
