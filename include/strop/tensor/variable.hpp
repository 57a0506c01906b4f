// SPDX-License-Identifier: Apache-2.0
/// \file
/// An array's elements as a variable of the global engine.
#pragma once
#include <strop/engine/engine.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// A template, so that the engine is built only into programs that ask for an array's variable.
template <class E>
class OnEngine final : public Pending {
 public:
  using Variable = typename E::Variable;
  OnEngine() : variable_(E::global().variable()) {}
  const Variable& variable() const { return variable_; }

  void wait(bool reads) override {
    if (used_here()) return;
    if (reads)
      E::global().wait_idle(variable_);
    else
      E::global().wait(variable_);
  }
  bool busy() const override { return !used_here() && (!variable_.idle() || variable_.failed()); }
  Ref<Pending> another() const override { return Ref<Pending>(new OnEngine); }
  void run(std::span<Pending* const> reads, std::span<Pending* const> writes, std::string_view name,
           std::source_location where, Ref<Work> work) const override {
    const std::vector<Variable> r = variables(reads), w = variables(writes);
    const auto notes = [described = work.get()](TraceNotes& note) {
      described->describe(
          [](void* to, std::string_view key, std::string_view text) { (*static_cast<TraceNotes*>(to))(key, text); },
          &note);
    };
    E::global().push([work = std::move(work)] { work->run(); }, {.reads = r, .writes = w, .name = name, .notes = notes},
                     where);
  }

 private:
  /// The operation that runs on this thread has said that it uses the variable: the elements are its own.
  bool used_here() const {
    for (const Running* at = Running::current; at != nullptr; at = at->outer)
      for (std::size_t i = 0; i < at->uses; ++i)
        if (at->links[i].var == Access::var(variable_)) return true;
    return false;
  }
  static std::vector<Variable> variables(std::span<Pending* const> all) {
    std::vector<Variable> list;
    for (Pending* p : all) list.push_back(static_cast<OnEngine*>(p)->variable_);
    return list;
  }
  Variable variable_;
};

}  // namespace detail

template <class E>
auto NDArray::variable() const {
  if (!*this || storage() != dense)
    strop::fail("variable: of a dense array only; a sparse one is computed at the call");
  allocate();
  detail::Pending* pending = this->pending();
  if (pending == nullptr) pending = &body_->buffer->order(detail::Ref<detail::Pending>(new detail::OnEngine<E>));
  return typename E::Variable(static_cast<detail::OnEngine<E>*>(pending)->variable());
}

/// Whether operations on arrays of `from` elements and more are handed to the global engine: the call returns at once,
/// the work is done as soon as its inputs are there, and whoever looks at the elements waits. What fails is raised at
/// every look. Smaller ones are done at the call where nothing that they touch is on its way: that takes less time than
/// handing them over. Off at the start: a program without it has no engine in it.
template <class E = Engine>
void set_asynchronous(bool on, std::int64_t from = (1 << 15) + 1) {
  detail::order_from = on ? from : INT64_MAX;
  detail::order_maker = on ? +[] { return detail::Ref<detail::Pending>(new detail::OnEngine<E>); } : nullptr;
}

}  // namespace strop::inline v0
