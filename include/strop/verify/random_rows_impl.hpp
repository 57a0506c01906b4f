// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls that are made up from what an entry says.
#pragma once
#include <strop/core/list.hpp>
#include <strop/verify/rows.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace strop::inline v0::verify {
inline namespace helpers {

/// Whether the operator takes the row, and what it gives is finite.
STROP_VERIFY_IMPL bool serves(const Row& row, Dtype type) {
  try {
    for (const NDArray& y : call(row.subject(type)))
      if (is_floating(y.dtype()))
        for (const double x : values(y))
          if (!std::isfinite(x)) return false;
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

STROP_VERIFY_IMPL Dtype usual_type(const Entry& entry) {
  for (const Dtype type : {f32, f64, i64})
    if (entry.dtypes.contains(type)) return type;
  for (const Dtype type : all_dtypes)
    if (entry.dtypes.contains(type)) return type;
  return f32;
}

/// Texts of `among` that the parameter takes and that are not what it is.
STROP_VERIFY_IMPL std::vector<std::string> other_values(const Entry& entry, std::size_t field,
                                                        std::span<const std::string_view> among) {
  std::vector<std::string> out;
  strop::detail::ParamBox scratch(entry.params);
  const std::string before = entry.params->print(scratch.get(), field);
  for (const std::string_view text : among)
    if (entry.params->parse(scratch.get(), field, text))
      if (const std::string value = entry.params->print(scratch.get(), field);
          value != before && std::ranges::find(out, value) == out.end())
        out.push_back(value);
  return out;
}

/// The words of an enumeration; else numbers and truth values.
STROP_VERIFY_IMPL std::vector<std::string_view> usual_values(const strop::detail::ValueType& type) {
  if (type.words.empty()) return {"1", "2", "0.5", "0", "-1", "True", "False"};
  return {type.words.begin(), type.words.end()};
}

/// Values for the parameters that have none of themselves.
STROP_VERIFY_IMPL std::string required_params(const Entry& entry) {
  std::string text;
  for (std::size_t i = 0; entry.params != nullptr && i < entry.params->fields.size(); ++i) {
    const strop::detail::Field& field = entry.params->fields[i];
    strop::detail::ParamBox fresh(entry.params);
    if (!entry.params->missing(fresh.get(), i)) continue;
    std::vector<std::string_view> among = usual_values(*field.type);
    among.insert(among.end(), {"(1, 1)", "float32"});
    if (const auto values = other_values(entry, i, among); !values.empty())
      text += cat(text.empty() ? "" : "; ", field.name, '=', values[0]);
  }
  return text;
}

STROP_VERIFY_IMPL Row made_row(const Entry& entry, const std::string& params, std::span<const Shape> shapes) {
  Row row{std::string(entry.name), params, {}};
  for (const Shape& shape : shapes) row.in.push_back(Sample{shape});
  row.random = entry.resources != nullptr;
  const strop::detail::GradientRule& rule = entry.gradient;
  row.parts.gradient = rule.entry != nullptr || rule.compose != nullptr || rule.zero;
  row.parts.same_shape = entry.is_map() && entry.infer_shape == nullptr;
  if (!entry.is_map()) row.parts.loose = 10;  // it may add up many elements
  return row;
}

/// Shapes for the inputs, of which the first is given: what inference says of the others, and where it says nothing
/// that of the first, its last or its first extent, or one element. The first that a call takes.
STROP_VERIFY_IMPL std::optional<Row> row_on(const Entry& entry, const std::string& params, const Shape& first,
                                            int inputs) {
  detail::List<Shape> in(inputs, Shape::unknown());
  if (inputs > 0) in[0] = first;
  if (entry.infer_shape != nullptr) {
    try {
      const Row parameters{std::string(entry.name), params, {}};
      const auto box = strop::detail::parse_params(entry, parameters.attributes());
      const int outputs = strop::detail::count_outputs(entry, box->get(), inputs).first;
      detail::List<Shape> out(outputs, Shape::unknown());
      const strop::detail::CallNames names{entry.snake};
      Shapes shapes(names, in, out);
      entry.infer_shape(box->get(), shapes);
    } catch (const std::exception&) {  // not with this first input
      return std::nullopt;
    }
  }
  std::vector<strop::detail::Index> open;
  for (strop::detail::Index i = 0; i < in.size(); ++i)
    if (!in[i].known()) open.push_back(i);
  const Shape choices[] = {first, first.empty() ? Shape{} : Shape{first.back()},
                           first.empty() ? Shape{} : Shape{first.front()}, Shape{1}};
  const std::size_t most = open.size() <= 3 ? std::size_t{1} << (2 * open.size()) : std::size(choices);
  for (std::size_t choice = 0; choice < most; ++choice) {
    std::size_t digits = choice;
    for (const strop::detail::Index i : open) {
      in[i] = choices[digits % std::size(choices)];
      if (open.size() <= 3) digits /= std::size(choices);
    }
    if (Row row = made_row(entry, params, in); serves(row, usual_type(entry))) return row;
  }
  return std::nullopt;
}

}  // namespace helpers

STROP_VERIFY_IMPL std::vector<Row> random_rows(const Entry& entry) {
  const QuietFallbacks quiet;
  std::vector<Row> out;
  const std::string params = required_params(entry);
  std::vector<int> counts{entry.inputs};
  if (entry.inputs < 0) counts = {std::max(entry.min_inputs, 1), entry.min_inputs + 2};
  for (const int inputs : counts)
    for (const Shape& first : {Shape{4, 6}, Shape{7}, Shape{2, 3, 4}, Shape{2, 3, 4, 5}})
      if (auto row = row_on(entry, params, first, inputs)) {
        out.push_back(*std::move(row));
        if (inputs == 0) break;
      }
  if (out.empty()) return out;
  const Dtype type = usual_type(entry);
  const Row plain = out[0];
  Row wide = plain;  // on both sides of zero, where the function is defined there
  for (Sample& sample : wide.in) sample.low = -1.9, sample.high = 2.1;
  if (is_floating(type) && serves(wide, type)) out.push_back(wide);
  if (entry.is_map() && !entry.same_shape && !entry.mutates && entry.inputs > 1) {
    Row broadcast = plain;
    broadcast.parts.same_shape = false;
    broadcast.in.back().shape = Shape{6};
    if (serves(broadcast, type)) out.push_back(broadcast);
  }
  for (std::size_t i = 0; entry.params != nullptr && i < entry.params->fields.size(); ++i) {
    const strop::detail::Field& field = entry.params->fields[i];
    std::size_t taken = 0;
    for (const std::string& value : other_values(entry, i, usual_values(*field.type))) {
      Row row = plain;
      row.params = cat(params, params.empty() ? "" : "; ", field.name, '=', value);
      if (taken < 3 && serves(row, type)) out.push_back(row), ++taken;
    }
  }
  return out;
}

}  // namespace strop::inline v0::verify
