// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows: for every operator of the library a call, or several, on which all that its entry claims is checked.
#pragma once
#include "verify.hpp"

namespace strop::verify {

/// How an input of a row is made, in any type.
struct Sample {
  Shape shape;
  double low = 0.1, high = 0.9;       // floating numbers lie between, no two alike; integers are 1 to 8 unless
                                      // high − low ≥ 1
  std::int64_t positions = 0;         // or: numbers from 0 to positions − 1, plus ½ that truncates away
  std::vector<double> elements = {};  // or: exactly these
  Storage storage = dense;            // with two thirds of the elements (of the rows: row_sparse) zero

  NDArray make(Dtype type, int salt) const;
};

/// Exactly these numbers, again and again.
inline Sample listed(Shape shape, std::vector<double> elements) {
  Sample s{std::move(shape)};
  s.elements = std::move(elements);
  return s;
}
/// Positions along an axis of n elements, each plus ½ that truncates away: differences see constants.
inline Sample at(Shape shape, std::int64_t n) {
  Sample s{std::move(shape)};
  s.positions = n;
  return s;
}
inline Sample stored(Shape shape, Storage storage) {
  Sample s{std::move(shape)};
  s.storage = storage;
  return s;
}

/// What differences or the dense computation cannot judge, and where it is tested instead.
enum Elsewhere : unsigned { nowhere = 0, gradient_elsewhere = 1, sparse_elsewhere = 2 };

struct Row {
  std::string_view op;
  std::string_view params;  // "axis=1; keepdims=True"
  std::vector<Sample> in;
  Parts parts = {};
  bool random = false;
  unsigned elsewhere = nowhere;  // claims with tests of their own in tests/ops

  /// The parameters as pairs.
  std::vector<std::pair<std::string_view, std::string_view>> attributes() const;
  Subject subject(Dtype type) const;
};

/// All rows, in the order of the families.
const std::vector<Row>& rows();
/// The rows of an operator; for a map of a program's own that has none, one that suits most functions.
std::vector<Row> rows_of(const Entry& entry);

/// Runs a row: floating types and integers on inputs that suit them, requests, in-place, views, storages, gradient.
Findings check_row(const Row& row);

// The tables, by family.
void add_map_rows(std::vector<Row>& rows);
void add_shape_rows(std::vector<Row>& rows);
void add_tensor_rows(std::vector<Row>& rows);
void add_layer_rows(std::vector<Row>& rows);

}  // namespace strop::verify
