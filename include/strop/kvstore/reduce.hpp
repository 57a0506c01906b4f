// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums and copies of whole arrays in the order of what happens to them, as calls of operators are.
#pragma once
#include <strop/core/list.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/tensor/variable.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// Arrays that a piece of work reads and writes, as the engine knows them.
struct ArrayUses {
  List<EngineVariable, 8> reads, writes;
  bool foreign = false;  // one lies in memory whose owner waits for nothing
  void read(const NDArray& a);
  void write(const NDArray& a);
};

/// Whether work on these arrays has to wait for its turn: something is pending on one of them, or they are large.
bool is_for_engine(Span<const NDArray> reads, Span<const NDArray> writes);

/// Runs f(), which reads and overwrites these dense arrays by address(), once all that was asked for before it is done:
/// at once where nothing is pending and they are small.
template <class F>
void in_order(Span<const NDArray> reads, Span<const NDArray> writes, std::string_view name, int priority, F f) {
  if (call_mode.operation != nullptr) {  // who waits for an operation waits for all that it does
    for (const NDArray& a : reads) a.wait();
    for (const NDArray& a : writes) take_for_writing(a, overwrites(a, Request::write));
  }
  if (call_mode.operation != nullptr || !is_for_engine(reads, writes)) {
    f();
    for (const NDArray& a : writes) a.body().buffer->written();
    return;
  }
  ArrayUses uses;
  for (const NDArray& a : reads) uses.read(a);
  for (const NDArray& a : writes) uses.write(a);
  Engine::global().push(std::move(f), {.reads = uses.reads, .writes = uses.writes, .name = name, .priority = priority});
  if (!uses.foreign) return;
  for (const EngineVariable& v : uses.reads) Engine::global().wait_idle(v);
  for (const EngineVariable& v : uses.writes) Engine::global().wait_idle(v);
}

/// total = Σ terms, element by element in the order of the terms: floating types of up to 32 bits in float, double in
/// double, integers in 64 bits, which wrap around. One pass over memory, on all threads. total may be the first term.
void sum_memory(Dtype type, Span<const std::byte* const> terms, std::byte* total, Index n);

/// The sum of dense arrays of one shape and type that lie on one device; of one array a new one with its elements.
NDArray sum_dense(Span<const NDArray> terms, int priority);

/// The sum of row-sparse arrays of one shape and type on the CPU: it stores every row that one of them stores, in
/// ascending order. Rows are added in the order of the arrays, as sum_memory does.
NDArray sum_rows(Span<const NDArray> terms);

/// to = from, of one shape and type and of any storages and devices. A sparse array gets elements of its own.
void copy_elements(const NDArray& from, const NDArray& to, int priority);

/// The rows of a row-sparse array that `ids` lists, ascending and each once; a row that is not stored is zero. `to`,
/// row- sparse, stores exactly these. Where `from` stores nothing, so does `to`.
void copy_rows(const NDArray& from, Span<const std::int64_t> ids, const NDArray& to);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/kvstore/reduce_impl.hpp>
#endif
