// SPDX-License-Identifier: Apache-2.0
/// \file
/// An array's elements as a variable of the global engine.
#pragma once
#include <strop/engine/engine.hpp>
#include <strop/tensor/ndarray.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// The order of a buffer's elements: a variable of the global engine.
class OnEngine final : public Pending {
 public:
  using Variable = Engine::Variable;
  OnEngine();
  const Variable& variable() const { return variable_; }

  void wait(bool reads) override;
  void settle() override;
  bool busy() const override;
  void run(std::span<Pending* const> reads, std::span<Pending* const> writes, std::string_view name,
           std::source_location where, Ref<Work> work) const override;

 private:
  /// The operation that runs on this thread has said that it uses the variable: the elements are its own.
  bool used_here() const;
  static std::vector<Variable> variables(std::span<Pending* const> all);
  Variable variable_;
};

/// From how many elements on a call is handed to the engine.
inline constexpr std::int64_t large_call = std::int64_t{1} << 18;
inline constinit std::atomic<std::int64_t> order_from{large_call};

}  // namespace detail

template <class E>
auto NDArray::variable() const {
  if (!*this || storage() != dense)
    strop::fail("variable: of a dense array only; a sparse one is computed at the call");
  allocate();
  detail::Pending* pending = this->pending();
  if (pending == nullptr) pending = &body_->buffer->order(detail::Ref<detail::Pending>(new detail::OnEngine));
  return typename E::Variable(static_cast<detail::OnEngine*>(pending)->variable());
}

/// Which calls on arrays are handed to the global engine: those on arrays of `from` elements and more (1 MiB of float32
/// unless said), or none. Such a call returns at once, the work is done as soon as its inputs are there, and whoever
/// looks at the elements waits; what fails is raised at every look. Smaller ones are done at the call where nothing
/// that they touch is on its way: that takes less time than handing them over. Always done at the call are those on
/// sparse arrays and on foreign memory (from_pointer, DLPack), of operators that keep a state, and inside an operation.
inline void set_asynchronous(bool on, std::int64_t from = detail::large_call) {
  detail::order_from = on ? from : INT64_MAX;
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/tensor/variable_impl.hpp>
#endif
