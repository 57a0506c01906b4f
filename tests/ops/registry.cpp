// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"
#include "operators.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <strop/tensor/element_loops.hpp>

using namespace ops_test;
using strop::Entry;
using strop::verify::Row;

namespace {

/// The library's operators, those that only gradients use included; without the sums and fills that enter the registry
/// where gradients are first differentiated again.
std::vector<const Entry*> library() {
  std::vector<const Entry*> out;
  for (const Entry* e : strop::detail::all_operators())
    if (e->library && !e->name.starts_with("_grad_")) out.push_back(e);
  return out;
}

bool has_row(const Entry& e) {
  return std::ranges::any_of(strop::verify::rows(), [&](const Row& row) { return row.op == e.name; });
}

/// "sum(data; axis=None, keepdims=False, exclude=False) sum_axis": inputs, parameters with their defaults, aliases.
std::string card(const Entry& e) {
  std::string text(e.name);
  text += '(';
  if (has_row(e)) {
    const Row row = strop::verify::rows_of(e).front();
    const Subject s = row.subject(e.dtypes.contains(strop::f32) ? strop::f32 : strop::i64);
    for (const std::string_view name : s.signature().inputs) text += cat(text.ends_with('(') ? "" : ", ", name);
  }
  const strop::detail::ParamBox defaults(e.params);
  for (std::size_t i = 0; e.params != nullptr && i < e.params->fields.size(); ++i) {
    text += cat(i == 0 ? "; " : ", ", e.params->fields[i].name);
    if (!e.params->missing(defaults.get(), i)) text += cat('=', e.params->print(defaults.get(), i));
  }
  text += ')';
  for (std::string_view alias : e.aliases) text += cat(' ', alias);
  return text;
}

}  // namespace

TEST_CASE("every operator of the library does what its entry claims") {
  for (const Entry* e : library()) {
    for (const Row& row : strop::verify::rows_of(*e)) {
      strop::verify::Findings found;
      try {
        found = strop::verify::check_row(row);
      } catch (const std::exception& error) {
        found.failures.push_back(error.what());
      }
      CHECK_MESSAGE(found.checks > 0, row.op, " {", row.params, "}: nothing was checked");
      for (const std::string& failure : found.failures)
        CHECK_MESSAGE(failure.empty(), row.op, " {", row.params, "} ", failure);
    }
  }
}

TEST_CASE("a claim without a row fails") {
  for (const Entry* e : library()) {
    CHECK_MESSAGE(has_row(*e), e->name, " has no row in src/verify");
    bool gradient = e->gradient.entry == nullptr && e->gradient.compose == nullptr;
    bool sparse = e->cpu.run_sparse[e->order] == nullptr;
    for (const Row& row : strop::verify::rows_of(*e)) {
      gradient = gradient || row.parts.gradient || (row.elsewhere & strop::verify::gradient_elsewhere) != 0;
      sparse = sparse || row.parts.sparse || (row.elsewhere & strop::verify::sparse_elsewhere) != 0;
    }
    CHECK_MESSAGE(gradient, e->name, " claims a gradient that no row checks");
    CHECK_MESSAGE(sparse, e->name, " claims sparse forms that no row checks");
  }
  for (const Row& row : strop::verify::rows())
    CHECK_MESSAGE(std::ranges::any_of(library(), [&](const Entry* e) { return e->name == row.op; }), "a row for ",
                  row.op, ", which is no operator of the library");
}

TEST_CASE("every parameter of a public operator says what it is") {
  for (const Entry* e : library()) {
    if (e->is_gradient() || e->params == nullptr) continue;
    for (const strop::detail::Field& field : e->params->fields) {
      const auto note = std::ranges::find(e->notes, field.name, &strop::Note::name);
      CHECK_MESSAGE((note != e->notes.end() && !note->text.empty()), e->name, " has no note on ", field.name);
    }
  }
}

TEST_CASE("operators for gradients alone are no advice") {
  CHECK(strop::detail::look_up("_backward_slice_window") != nullptr);
  CHECK(error_of([] { strop::invoke("_backward_slice_windows", {}); }).find("nearest: _backward") == std::string::npos);
}

TEST_CASE("a callable is found by its own name") {
  // `inline constexpr Op<Struct, OnUse> name;` in the headers; zeros_op, which the function zeros says as well, by
  // that.
  std::map<std::string, const Entry*> by_type;
  for (const Entry* e : library()) {
    const std::string_view type = e->qualified;
    by_type.emplace(type.substr(type.rfind(':') + 1), e);
  }
  const char* source = std::getenv("STROP_SOURCE");
  REQUIRE(source != nullptr);
  const auto headers = std::filesystem::path(source) / "include/strop/ops";
  int callables = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(headers)) {
    if (!file.is_regular_file()) continue;
    std::ifstream text(file.path());
    for (std::string line; std::getline(text, line);) {
      const std::string_view before = "inline constexpr Op<", between = ", OnUse> ";
      const std::size_t end = line.find(between);
      if (!line.starts_with(before) || end == std::string::npos) continue;
      std::string name = line.substr(end + between.size(), line.find(';') - end - between.size());
      if (name.ends_with("_op")) name.resize(name.size() - 3);
      const auto stated = by_type.find(line.substr(before.size(), end - before.size()));
      if (stated != by_type.end() && stated->second->is_gradient()) continue;
      const Entry* const found = strop::detail::look_up(name);
      const bool same = found != nullptr && (stated == by_type.end() || found == stated->second);
      CHECK_MESSAGE(same, "strop::", name, " is not found by that name");
      ++callables;
    }
  }
  CHECK(callables > 200);
}

TEST_CASE("kernels and the runtime's loops are of the level that STROP_ISA asks for, where the machine has it") {
  const char* const wanted = std::getenv("STROP_ISA");
  const std::string_view own = strop::detail::this_isa.name;
  const bool below = wanted != nullptr && *wanted != 0 && own.starts_with("x86-64") && std::string_view(wanted) < own;
  for (const Entry* e : library()) CHECK_MESSAGE(e->isa.name == (below ? std::string_view(wanted) : own), e->name);
  CHECK(strop::detail::element_loops().isa.name == (below ? std::string_view(wanted) : own));
}

TEST_CASE("the public operators are those of the golden list") {
  std::set<std::string> listed, found;
  for (std::string_view rest = operators; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    if (end != 0) listed.emplace(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  for (const Entry* e : library())
    if (!e->is_gradient()) found.insert(card(*e));
  for (const std::string& line : found) CHECK_MESSAGE(listed.contains(line), "not in the list: ", line);
  for (const std::string& line : listed) CHECK_MESSAGE(found.contains(line), "no longer there: ", line);
}
