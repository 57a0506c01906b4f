// SPDX-License-Identifier: Apache-2.0
/// \file
/// An array's elements as a variable of the global engine.
#pragma once
#include <strop/engine/engine.hpp>
#include <strop/tensor/ndarray.hpp>

#include <string_view>
#include <vector>

namespace strop::inline v0 {
namespace detail {

class OnEngine final : public Pending {
 public:
  OnEngine() : variable_(Engine::global().variable()) {}
  const Engine::Variable& variable() const { return variable_; }

  void wait(bool reads) override {
    if (Core::inside_operation_of(Access::var(variable_)->core)) return;
    if (reads)
      Engine::global().wait_idle(variable_);
    else
      Engine::global().wait(variable_);
  }
  bool busy() const override { return !variable_.idle() || variable_.failed(); }
  Ref<Pending> another() const override { return Ref<Pending>(new OnEngine); }
  void run(std::span<Pending* const> reads, std::span<Pending* const> writes, std::string_view name,
           Ref<Work> work) const override {
    const std::vector<Engine::Variable> r = variables(reads), w = variables(writes);
    Engine::global().run([work = std::move(work)] { work->run(); }, {.reads = r, .writes = w, .name = name});
  }

 private:
  static std::vector<Engine::Variable> variables(std::span<Pending* const> all) {
    std::vector<Engine::Variable> list;
    for (Pending* p : all) list.push_back(static_cast<OnEngine*>(p)->variable_);
    return list;
  }
  Engine::Variable variable_;
};

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

}  // namespace strop::inline v0
