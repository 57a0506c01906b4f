// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the registry says of an operator, as text. Its example is the first of the rows that check the operator.
#pragma once
#include "words.hpp"

#include <strop/strop.hpp>
#include <strop/verify.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strop::command {

/// "first, second".
std::string joined(const auto& words) {
  std::string out;
  for (const auto& word : words) out += cat(out.empty() ? "" : ", ", word);
  return out;
}

/// `settings` in which `key` has this value, whether it had one before or not.
Settings with(Settings settings, std::string_view key, std::string_view value);

class Card {
 public:
  explicit Card(const Entry& e);

  const Entry& entry;
  std::optional<verify::Row> row;
  Settings call;        // parameters of the example
  Settings required;    // those of them that have no default
  Signature signature;  // with these and the defaults
  Arguments arguments;  // with whatever parameters

  /// What a parameter is where it is not given; none where it has to be.
  std::optional<std::string> default_of(std::size_t field) const;
  std::string note_of(std::string_view name) const;
  std::string range_of(std::string_view name) const;
  std::string dtypes() const;
  /// What a call computes, where that is known.
  std::string cost() const;
  /// How the gradient is had and what is kept for it, by name.
  std::string gradient() const;
  /// The inputs, by name, whose gradients are computed; those of others are zero. Empty where that is open: all of
  /// them.
  std::vector<std::string> differentiated() const;
  /// How often the operator can be differentiated; none where there is no end to it, as of what consists of operators.
  std::optional<int> orders() const;
  /// "csr, dense -> row_sparse with --transpose_a True": what is served as it is stored, and with which parameters.
  std::vector<std::string> storages() const;
  /// What the operator takes besides its tensors.
  std::string resources() const;
  /// What it is called by: its own name where another operator has the usual one.
  std::string_view called() const;
  /// A line of the command that is called so, which works where a row says how the operator is called.
  std::string example(std::string_view program) const;
  /// What its files hold; empty where there are none.
  std::string example_inputs() const;
  /// A name for each input of the row; names that occur again get numbers.
  std::vector<std::string> example_names() const;

 private:
  std::vector<Settings> variants() const;
  std::vector<std::vector<Storage>> combinations() const;
  std::string kept(const Settings& settings) const;
  std::optional<std::vector<Storage>> served(const Settings& settings, std::span<const Storage> in) const;
  std::string condition(const Settings& settings, std::span<const Storage> in, const std::vector<Storage>& out) const;
  std::vector<std::string> file_names() const;
};

}  // namespace strop::command
