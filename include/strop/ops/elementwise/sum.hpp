// SPDX-License-Identifier: Apache-2.0
/// \file
/// add_n: the sum of any number of arrays.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/list.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

template <class V>
void add_block(V* total, const V* term, std::int64_t count) {
  std::int64_t i = 0;
  if constexpr (std::is_floating_point_v<V>) {
    using R = number::Rep<number::Vec<V>>;
    for (; i + R::lanes <= count; i += R::lanes) R::store(total + i, R::load(total + i) + R::load(term + i));
  }
  for (; i < count; ++i) {
    if constexpr (std::is_integral_v<V>)
      total[i] = static_cast<V>(static_cast<std::uint64_t>(total[i]) + static_cast<std::uint64_t>(term[i]));
    else
      total[i] += term[i];
  }
}

/// out = Σ in, block by block: halves are added in float, integers in 64 bits (narrow ones wrap on store).
template <class V>
void sum_elements(std::span<const NDArray> in, const NDArray& out) {
  constexpr std::int64_t grain = 1 << 15, block = 512;
  const Dtype type = out.dtype();
  const std::int64_t size = size_of(type);
  parallel_for(out.size(), grain, [&](std::int64_t begin, std::int64_t end) {
    V total[block], term[block];
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t count = std::min(block, end - at);
      convert_elements(type, in[0].bytes() + at * size, dtype_of<V>, total, count);
      for (const NDArray& a : in.subspan(1)) {
        const V* from = reinterpret_cast<const V*>(a.bytes() + at * size);
        if (type != dtype_of<V>) {
          convert_elements(type, a.bytes() + at * size, dtype_of<V>, term, count);
          from = term;
        }
        add_block(total, from, count);
      }
      convert_elements(dtype_of<V>, total, type, out.bytes() + at * size, count);
    }
  });
}

}  // namespace STROP_ISA

/// total += a, of a sparse array where it stores something.
template <class V>
void add_stored_values(const NDArray& a, const NDArray& total) {
  const NDArray values = as_type(a.data(), dtype_of<V>);
  const V* from = values.pointer<const V>();
  V* const to = total.pointer<V>();
  const IndexReader indices(a.indices());
  if (a.storage() == row_sparse) {
    const std::int64_t rows = a.shape()[0], width = a.shape().size(1, a.ndim());
    for (std::int64_t k = 0; k < a.nnz(); ++k, from += width)
      add_block(to + checked_index(indices[k], rows) * width, from, width);
    return;
  }
  const IndexReader indptr(a.indptr());
  const std::int64_t cols = a.shape()[1];
  for (std::int64_t row = 0; row < a.shape()[0]; ++row) {
    const RowSpan span = row_span(indptr, row, a.nnz());
    for (std::int64_t k = span.begin; k < span.end; ++k)
      add_block(to + row * cols + checked_index(indices[k], cols), from + k, 1);
  }
}

/// out = Σ in, dense, of which some are dense and others sparse.
template <class V>
void sum_mixed(std::span<const NDArray> in, const NDArray& out) {
  std::vector<NDArray> whole;
  for (const NDArray& a : in)
    if (a.storage() == dense) whole.push_back(a);
  const NDArray total = out.dtype() == dtype_of<V> ? out : NDArray(out.shape(), dtype_of<V>);
  const NDArray first = as_type(whole[0], dtype_of<V>);
  if (total.bytes() != first.bytes()) copy_bytes(total.bytes(), first.bytes(), first.size() * size_of(first.dtype()));
  for (std::size_t i = 1; i < whole.size(); ++i) {
    const NDArray term = as_type(whole[i], dtype_of<V>);
    add_block(total.pointer<V>(), term.pointer<const V>(), term.size());
  }
  for (const NDArray& a : in)
    if (a.storage() != dense) add_stored_values<V>(a, total);
  if (!total.is(out)) convert_elements(total.dtype(), total.bytes(), out.dtype(), out.bytes(), out.size());
}
}  // namespace detail

/// Errors: no input; other shapes or types.
struct AddN {
  int num_args = 0;

  static constexpr std::string_view name = "add_n";
  static constexpr std::string_view aliases[] = {"_sparse_add_n", "_sparse_ElementWiseSum", "ElementWiseSum"};
  static constexpr Note notes[] = {{"num_args", "the number of inputs; 0 takes as many as are given"}};
  static constexpr const char* doc =
      "The sum of one or more arrays of one shape and type. Floating and integer types; halves are added in float32, "
      "integers "
      "wrap. The result is sparse where all inputs have one sparse storage, dense where one of them is, else dense by "
      "the dense fallback. The gradient of every input is "
      "the "
      "head gradient. Example: add_n({array({1, 2}), array({3, 4}), array({5, 6})}) is [9, 12].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  constexpr void infer_shape(Shapes& shapes) const {
    if (shapes.inputs() == 0) shapes.fail("takes at least one input");
    detail::check_count(shapes, num_args);
    Shape common = shapes.out(0);
    for (int i = 0; i < shapes.inputs(); ++i)
      if (!unify(common, shapes.in(i))) shapes.set_in(i, common);
    for (int i = 0; i < shapes.inputs(); ++i) shapes.set_in(i, common);
    shapes.set_out(0, common);
  }
  constexpr void infer_type(Types& types) const {
    std::optional<Dtype> common = types.out(0);
    for (int i = 0; i < types.inputs() && !common; ++i) common = types.in(i);
    for (int i = 0; i < types.inputs(); ++i) {
      types.expect_in(i, dtypes);
      types.set_in(i, common);
    }
    types.set_out(0, common);
  }
  constexpr bool infer_storage(Storages& storages) const {
    bool alike = true, whole = false;
    for (int i = 0; i < storages.inputs(); ++i) {
      alike = alike && storages.in(i) == storages.in(0);
      whole = whole || storages.in(i) == dense;
    }
    if (alike) return storages.set_out(0, storages.in(0));
    return storages.set_out(0, dense) && whole;
  }
  template <Element E, class Add = ElemwiseAdd>
  void forward(Cpu&, std::span<const NDArray> in, NDArray& out) const {
    using V = std::conditional_t<std::same_as<E, double>, double,
                                 std::conditional_t<floating.contains(dtype_of<E>), float, std::int64_t>>;
    if (out.storage() == dense) {
      bool sparse = false;
      for (const NDArray& a : in) sparse = sparse || a.storage() != dense;
      return sparse ? detail::sum_mixed<V>(in, out) : detail::sum_elements<V>(in, out);
    }
    NDArray total = in[0];
    for (const NDArray& a : in.subspan(1)) total = Op<Add, OnUse>{}(total, a);
    detail::assign(total, out);
  }
  auto gradient(const auto& dy, auto in) const { return std::vector(in.size(), dy); }
};

template <>
inline constexpr bool detail::reads_any_index<AddN> = true;
template <>
inline constexpr bool detail::zero_unless_stored<AddN> = true;
inline constexpr Op<AddN, OnUse> add_n;

using SumOps = OpList<AddN>;

}  // namespace strop::inline v0
