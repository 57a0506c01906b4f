// SPDX-License-Identifier: Apache-2.0
/// \file
/// Function: a differentiable step whose forward and backward are written by hand on arrays.
#pragma once
#include <strop/core/ref.hpp>
#include <strop/tensor/ndarray.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace strop::inline v0 {

namespace detail {
struct TapeNode;
class BackwardPass;
}  // namespace detail

/// Derive, write forward and backward, and call it with `apply<MyFunction>({x…}, arguments of the constructor…)`.
/// What backward needs, forward keeps: arrays by save_for_backward, whatever else in members. Errors thrown in either
/// reach the caller.
class Function : public detail::Counted {
 public:
  virtual ~Function() = default;
  virtual std::vector<NDArray> forward(std::span<const NDArray> in) = 0;
  /// Gradients of the inputs from those of the outputs; an empty handle is a zero gradient.
  virtual std::vector<NDArray> backward(std::span<const NDArray> head_gradients) = 0;
  /// Gives back the memory of what save_for_backward keeps; called when no backward can follow.
  virtual void forget() { saved_.clear(); }

 protected:
  /// Keeps arrays, without their history, for saved().
  void save_for_backward(std::span<const NDArray> arrays);
  void save_for_backward(std::initializer_list<NDArray> arrays) { save_for_backward({arrays.begin(), arrays.size()}); }
  /// Array i of those. Error: it was overwritten since, and what backward would make of it is not the gradient.
  NDArray saved(int i) const;

 private:
  friend class detail::BackwardPass;
  /// Before gradients that are differentiated again: a step that consists of calls puts these on the tape in its place.
  virtual void open_step(detail::TapeNode&) {}
  /// Whether backward is linear in the head gradients, so that zeros make zeros: a loss of a program's own is not.
  virtual bool is_linear() const { return false; }
  /// Whether backward is told which head gradients did not come (a handle without an array) and which are known to be
  /// zero (an array without elements), and says the same of what it returns.
  virtual bool tells_zeros() const { return false; }
  /// A loss head: backward is called wherever a gradient is asked of what was computed from it.
  virtual bool of_loss() const { return false; }

  struct Saved {
    NDArray array;
    std::uint64_t version;  // of its elements and, of a sparse array, its indices
  };
  std::vector<Saved> saved_;
};

namespace detail {
std::vector<NDArray> apply_function(const Ref<Function>& function, std::span<const NDArray> in);
}  // namespace detail

/// Runs a new F(arguments…) on the arrays and records it as one step.
template <std::derived_from<Function> F, class... Arguments>
std::vector<NDArray> apply(std::initializer_list<NDArray> in, Arguments&&... arguments) {
  const detail::Ref<Function> function(new F(std::forward<Arguments>(arguments)...));
  return detail::apply_function(function, {in.begin(), in.size()});
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/autograd/tape.hpp>  // which brings how it is called and recorded
#endif
