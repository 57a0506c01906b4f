// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows made into calls and checked.
#pragma once
#include <strop/verify/rows.hpp>
#include <strop/verify/sparse_impl.hpp>

#include <cmath>
#include <exception>
#include <utility>

namespace strop::inline v0::verify {
inline namespace helpers {

/// A sequence in (0, 1) without repetition or order.
STROP_VERIFY_IMPL double scattered(std::int64_t i, int salt) {
  return std::fmod(0.6180339887 * static_cast<double>(i + 1 + 17 * salt), 1.0);
}

/// The same numbers as arrays of three dimensions.
STROP_VERIFY_IMPL Subject of_rank_three(Subject s) {
  for (NDArray& a : s.in)
    if (a.ndim() == 2 && a.shape()[1] % 3 == 0) a = a.reshape({a.shape()[0], 3, a.shape()[1] / 3});
  return s;
}
/// The call with an axis of the first input, and those that are as long, without elements.
STROP_VERIFY_IMPL Subject without_axis(Subject s, int axis) {
  const std::int64_t extent = s.in[0].shape()[axis];
  for (NDArray& a : s.in) {
    Shape shape = a.shape();
    for (std::int64_t& each : shape)
      if (each == extent) each = 0;
    if (!(shape == a.shape())) a = NDArray(shape, a.dtype());
  }
  return s;
}

}  // namespace helpers

STROP_VERIFY_IMPL NDArray Sample::make(Dtype type, int salt) const {
  NDArray x(shape, f64);
  auto* to = x.pointer<double>();
  const std::int64_t width = shape.ndim() == 0 ? 1 : shape.size(1, shape.ndim());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double u = scattered(i, salt);
    if (!elements.empty())
      to[i] = elements[static_cast<std::size_t>(i) % elements.size()];
    else if (positions != 0)
      to[i] = std::floor(u * static_cast<double>(positions)) + 0.5;
    else if (is_floating(type))
      to[i] = low + (high - low) * u;
    else
      to[i] = std::floor(high - low < 1 ? 1 + 8 * u : low + (high - low) * u);
    if (storage == csr && (i / width + i % width) % 3 != 0) to[i] = 0;
    if (storage == row_sparse && (i / width) % 3 != 1) to[i] = 0;
  }
  const NDArray y = with_dtype(x, type);
  return storage == dense ? y : detail::cast_storage(y, storage);
}

STROP_VERIFY_IMPL std::vector<std::pair<std::string_view, std::string_view>> Row::attributes() const {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  for (std::string_view text = params; !text.empty();) {
    const std::size_t end = text.find("; "), equals = text.find('=');
    const std::string_view one = text.substr(0, end);
    out.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
  }
  return out;
}

STROP_VERIFY_IMPL Subject Row::subject(Dtype type) const {
  Arrays inputs;
  for (const Sample& sample : in) inputs.push_back(sample.make(type, static_cast<int>(inputs.size())));
  Subject s = verify::subject(op, std::move(inputs), attributes());
  s.random = random;
  return s;
}

#if !defined(STROP_VERIFY_COMPILED)  // where they start with the library's
STROP_VERIFY_IMPL std::vector<Row>& rows() {
  static std::vector<Row> all;
  return all;
}
#endif

STROP_VERIFY_IMPL std::vector<Row> rows_of(const Entry& entry) {
  std::vector<Row> out;
  for (const Row& row : rows())
    if (row.op == entry.name || row.op == entry.snake) out.push_back(row);
  const bool made_up = !entry.library && !entry.is_gradient();
  if (out.empty() && made_up) return random_rows(entry);
  if (out.empty() && entry.is_map() && !entry.mutates)
    return {{std::string(entry.name), "", std::vector<Sample>(static_cast<std::size_t>(entry.inputs), Sample{{7, 9}})}};
  return out;
}

STROP_VERIFY_IMPL Findings check(const Entry& entry, std::vector<Row> given) {
  Findings found;
  if (given.empty()) given = rows_of(entry);
  if (given.empty())
    found.failures.push_back(cat(entry.snake, ": no inputs were found that it takes, expected a row that says some"));
  for (Row& row : given) {
    if (row.op.empty()) row.op = entry.name;
    // Whether it takes any shape at all is known of maps, and of the library's by their tables.
    if (!entry.is_map() && !entry.library) row.parts.same_shape = false;
    const std::string with = cat(" {", row.params, '}');
    try {
      found.add(check_row(row), with);
    } catch (const std::exception& error) {
      ++found.checks;
      found.failures.push_back(cat(entry.snake, with, ": ", error.what()));
    }
  }
  return found;
}

STROP_VERIFY_IMPL Findings check(std::string_view name, std::vector<Row> given) {
  return check(detail::find_operator(name), std::move(given));
}

STROP_VERIFY_IMPL Findings check_operators() {
  Findings found;
  for (const Entry* entry : detail::all_operators())
    if (!entry->library && !entry->is_gradient()) found.add(check(*entry));
  return found;
}

STROP_VERIFY_IMPL Findings check_row(const Row& row) {
  const DtypeSet served = detail::find_operator(row.op).dtypes, whole = integral | boolean;
  const Dtype first = served.contains(f32) ? f32 : served.contains(i64) ? i64 : f64;
  const Subject s = row.subject(first);
  Findings found;
  if (row.parts.dtypes) {
    dtypes(found, s, floating, row.parts.loose);
    dtypes(found, row.subject(i64), whole, row.parts.loose);
    refused_dtypes(found, s);
  }
  for (const Dtype type : {f32, f64, i64})
    if (served.contains(type)) {
      const Subject typed = row.subject(type);
      requests(found, typed, {1e-5 * row.parts.loose, 1e-6 * row.parts.loose});
      inplace(found, typed);
      gradient_inplace(found, typed);
      views(found, typed);
    }
  if (row.parts.same_shape || (s.entry->is_map() && !s.entry->mutates)) zero_size(found, s);
  if (!row.parts.same_shape) empty_axis(found, s);
  if (row.parts.same_shape && s.entry->is_map() && !s.entry->mutates) places(found, s);
  if (row.parts.sparse) {
    std::vector<Sample> thin = row.in;
    for (Sample& sample : thin)
      if (sample.shape.ndim() == 2 && sample.positions == 0 && sample.elements.empty()) sample.storage = csr;
    Subject sparsely = Row{row.op, row.params, thin, row.parts, row.random}.subject(first);
    for (NDArray& a : sparsely.in) a = detail::cast_storage(a, dense);
    sparse(found, sparsely, {1e-5 * row.parts.loose, 1e-6 * row.parts.loose});
    std::vector<bool> kept;
    for (const Sample& sample : row.in) kept.push_back(sample.positions != 0 || !sample.elements.empty());
    for (const Dtype type : {f32, f64, f16, bf16, i64, i32, i8, u8})
      if (served.contains(type)) {
        Subject typed = row.subject(type);
        for (NDArray& a : typed.in) a = detail::cast_storage(a, dense);
        sparse_patterns(found, typed, kept, row.parts.places, row.parts.loose);
        if (is_floating(type)) sparse_gradients(found, typed, kept, row.parts.places, row.parts.loose);
      }
    if (s.entry->is_map() && row.parts.same_shape) {
      const Subject rows = of_rank_three(sparsely);
      sparse_patterns(found, rows, kept, row.parts.places, row.parts.loose);
    }
    for (std::size_t c = 1; c < combinations(sparsely.in); ++c) {
      Subject combined = sparsely;
      const std::vector<Storage> storages = combination(sparsely.in, c);
      for (std::size_t i = 0; i < storages.size(); ++i)
        combined.in[i] = detail::cast_storage(sparsely.in[i], storages[i]);
      empty_axis(found, combined);
    }
    for (int axis = 0; axis < (sparsely.in.empty() ? 0 : sparsely.in[0].ndim()); ++axis) {
      const Subject without = without_axis(sparsely, axis);
      const std::string refusal = error_of([&] {
        for (const NDArray& y : call(without)) y.wait();
      });
      if (refusal != "no error") continue;
      sparse(found, without);
      sparse_patterns(found, without, kept, row.parts.places, row.parts.loose);
      sparse_gradients(found, without, kept, row.parts.places, row.parts.loose);
    }
  }
  if (row.parts.updates)
    for (const Dtype type : {f32, f64, f16})
      if (served.contains(type)) {
        Subject typed = row.subject(type);
        for (NDArray& a : typed.in) a = detail::cast_storage(a, dense);
        for (std::size_t i = 2; i < typed.in.size() && type == f16; ++i)
          typed.in[i] = with_dtype(typed.in[i], served.contains(f64) ? f16 : f32);  // of mixed precision
        sparse_updates(found, typed, row.parts.loose);
      }
  if (row.parts.gradient && served.contains(f64)) gradient(found, row.subject(f64));
  if (served.contains(f64) && served.contains(f32)) gradient_requests(found, row.subject(f64), row.parts.loose);
  return found;
}

}  // namespace strop::inline v0::verify
