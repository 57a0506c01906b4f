// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows: for an operator a call, or several, on which all that its entry claims is checked; given, or made up from what
/// the entry says.
#pragma once
#include <strop/verify/checks.hpp>

namespace strop::inline v0::verify {

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
/// These very elements.
inline Sample sample(const NDArray& a) {
  Sample s{a.shape()};
  s.elements = a.to_vector<double>();
  s.storage = a.storage();
  return s;
}
inline Sample stored(Shape shape, Storage storage) {
  Sample s{std::move(shape)};
  s.storage = storage;
  return s;
}

/// What differences or the dense computation cannot judge, and where it is tested instead.
enum Elsewhere : unsigned { nowhere = 0, gradient_elsewhere = 1, sparse_elsewhere = 2 };

/// A call to check: `{"clip_rows", "axis=1; low=0.5", {{{3, 4}}, {{4}}}}`, an operator, its parameters as text, and a
/// Sample for each input.
struct Row {
  std::string op;
  std::string params;  // "axis=1; keepdims=True"
  std::vector<Sample> in;
  Parts parts = {};
  bool random = false;
  unsigned elsewhere = nowhere;  // claims with tests of their own in tests/ops

  /// The parameters as pairs.
  std::vector<std::pair<std::string_view, std::string_view>> attributes() const;
  Subject subject(Dtype type) const;
};

/// The rows that are known. A program adds those of its own operators: `verify::rows().push_back({…})`.
std::vector<Row>& rows();

/// Calls that the operator takes, with random elements, made up from what its entry says: inputs of several ranks, with
/// the parameters as they stand and with one of them changed in turn. Shapes are those that its inference gives and
/// that a call does not refuse. Empty where none are found.
std::vector<Row> random_rows(const Entry& entry);
/// The rows of an operator that are known, else random ones.
std::vector<Row> rows_of(const Entry& entry);

/// Runs a row: floating types and integers on inputs that suit them, requests, in-place, views, storages, gradient.
Findings check_row(const Row& row);

/// Everything that the operator's entry claims, on these rows (which need not name it), or else on rows_of(): types,
/// requests, in-place, views, storages, gradients. `CHECK(strop::verify::check(quadratic))`; printed, the result says
/// what failed. An operator without rows for which none can be made up fails.
Findings check(const Entry& entry, std::vector<Row> rows = {});
/// The same by name. Throws Error where there is none.
Findings check(std::string_view name, std::vector<Row> rows = {});
template <class T, class When>
Findings check(const Op<T, When>& op, std::vector<Row> rows = {}) {
  return check(op.entry(), std::move(rows));
}
/// All operators that the program has defined: those of the registry that are not the library's.
Findings check_operators();

}  // namespace strop::inline v0::verify

#if !defined(STROP_VERIFY_COMPILED)
#include <strop/verify/random_rows_impl.hpp>
#include <strop/verify/rows_impl.hpp>
#endif
