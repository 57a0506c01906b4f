// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls that take long and are not handed to the engine: they run on a thread of their own, so that Ctrl-C is heard.
#include "schema.hpp"

#include <strop/core/list.hpp>
#include <strop/engine/engine.hpp>
#include <strop/op/dispatch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace strop::python {
namespace {

/// What a thread of its own is worth starting for: some milliseconds.
constexpr double long_work = 1 << 22;

/// Whether what it does grows faster than its arrays.
bool is_steep(const Entry& entry) {
  for (const std::string_view part : {"linalg", "nms", "Proposal", "bipartite", "Correlation", "RNN", "khatri"})
    if (entry.name.find(part) != std::string_view::npos) return true;
  return false;
}

/// About how many elements' worth of work a call is.
double work_of(const Entry& entry, const void* op, detail::Inputs in, double elements, double stored, int sparse) {
  if (sparse > 1) return std::max(elements, stored * 256);  // products of rows: nobody knows how many
  if (sparse == 1) {
    double columns = 1;
    for (const NDArray* a : in)
      if (a->storage() == dense && a->ndim() > 1 && a->size() > 0)
        columns = static_cast<double>(a->size() / a->shape()[0]);
    return elements + stored * columns;
  }
  if (is_steep(entry)) return elements * std::sqrt(elements);
  if (entry.operations == nullptr) return elements;
  detail::List<Shape, 4> shapes;
  for (const NDArray* a : in) shapes.push_back(a->shape());
  return std::max(elements, entry.operations(op, shapes.span()) / 32);
}

}  // namespace

bool takes_long(const Entry& entry, const void* op, detail::Inputs in, detail::Span<const NDArray> out) {
  bool at_the_call = entry.cpu.make_state != nullptr, busy = false;
  double elements = 0, stored = 0;
  std::int64_t largest = 0;
  int sparse = 0;
  const auto see = [&](const NDArray& a) {
    if (!a.defined()) return;
    busy = busy || a.busy();
    if (a.storage() != dense) {
      ++sparse;
      stored += static_cast<double>(a.stored());
      return;
    }
    elements += static_cast<double>(a.size());
    largest = std::max(largest, a.size());
    at_the_call = at_the_call || (a.allocated() && a.body().buffer->is_foreign());
  };
  for (const NDArray* a : in) see(*a);
  const int read = sparse;
  for (const NDArray& a : out) see(a);
  at_the_call = at_the_call || sparse > 0 || (!detail::is_handed_over(largest) && elements >= 1 << 14);
  if (elements >= long_work)  // of dense arrays this one makes a sparse one; an engine without threads computes at once
    at_the_call = at_the_call || entry.name == "cast_storage" || Engine::global().kind() == Engine::Kind::naive;
  if (!at_the_call) return false;
  const bool is_long = work_of(entry, op, in, elements, stored, read) >= long_work;
  if ((!is_long && !busy) || !hears_signals()) return false;
  for (const NDArray* a : in) wait_for(*a);
  for (const NDArray& a : out)
    if (a.defined()) wait_for(a);
  return is_long;
}

void dispatch_apart(const Entry& entry, const void* op, detail::Inputs in, detail::Span<NDArray> out,
                    detail::Span<const Request> requests) {
  struct Call {
    const Entry& entry;
    ParamBox params;
    detail::List<NDArray, 8> in;
    detail::List<NDArray, 4> out;
    detail::List<Request, 8> requests;
  };
  const detail::ParamTable* const table = op == nullptr ? nullptr : entry.params;
  const std::shared_ptr<Call> call(new Call{entry, ParamBox(table, op), {}, {}, {}});
  for (const NDArray* a : in) call->in.push_back(*a);
  for (const NDArray& a : out) call->out.push_back(a);
  for (const Request request : requests) call->requests.push_back(request);
  run_apart([call] {
    detail::List<const NDArray*, 8> given;
    for (const NDArray& a : call->in) given.push_back(&a);
    detail::dispatch(call->entry, call->params.get(), given.span(), call->out.span(), call->requests.span(), {});
  });
  for (detail::Index k = 0; k < out.size(); ++k) out[k] = call->out[k];
}

}  // namespace strop::python
