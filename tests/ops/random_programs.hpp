// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random programs of the library's operators, on the rows of the table: what is called on arrays and on symbols alike.
#pragma once
#include "harness.hpp"

#include <strop/graph/symbol.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace random_programs {

using namespace ops_test;
using strop::Symbol;
using strop::verify::Row;
using strop::verify::Sample;

/// Where an input of a step comes from: a value that is there, made into what the row wants, or a leaf of its own.
struct Input {
  std::size_t value;
  bool squeezed = false;            // into (0, 1)
  std::optional<Shape> shape = {};  // where it has another one
  Storage storage = strop::dense;
};
struct Step {
  Row row;  // its operator and parameters
  std::vector<Input> inputs;
};
struct Leaf {
  NDArray array;
  bool parameter;        // gets a gradient
  bool written = false;  // by the one step that it belongs to
};
struct Program {
  std::vector<Leaf> leaves;  // they are the first values
  std::vector<Step> steps;   // each adds its outputs
  std::vector<std::size_t> results;
};

inline std::vector<NDArray> perform(const Row& row, const std::vector<NDArray>& in) {
  return strop::invoke_all(row.op, in, row.attributes());
}
inline std::vector<Symbol> perform(const Row& row, const std::vector<Symbol>& in) {
  const strop::Entry& entry = strop::detail::find_operator(row.op);
  const Symbol all =
      strop::detail::make_node(entry, strop::detail::parse_params(entry, row.attributes())->get(), in, "");
  std::vector<Symbol> out;
  for (std::int64_t i = 0; i < all.size(); ++i) out.push_back(all[i]);
  return out;
}

template <class N>
std::vector<N> perform(const Step& step, const std::vector<N>& values) {
  std::vector<N> in;
  for (const Input& input : step.inputs) {
    N x = values[input.value];
    const auto pass = [&](const std::string& op, const std::string& params) {
      x = perform(Row{op, params, {}}, std::vector<N>{x})[0];
    };
    if (input.squeezed) pass("sigmoid", "");
    if (input.shape) {
      if constexpr (std::same_as<N, NDArray>)
        x = x.reshape(*input.shape);  // a view
      else
        pass("Reshape", cat("shape=", *input.shape));
    }
    if (input.storage != strop::dense)
      pass("cast_storage", input.storage == strop::csr ? "stype=csr" : "stype=row_sparse");
    in.push_back(std::move(x));
  }
  return perform(step.row, in);
}

template <class N>
std::vector<N> perform(const Program& program, std::vector<N> values) {
  for (const Step& step : program.steps)
    for (N& y : perform(step, values)) values.push_back(std::move(y));
  std::vector<N> out;
  for (const std::size_t i : program.results) out.push_back(values[i]);
  return out;
}

inline bool finite(const NDArray& x) {
  return std::ranges::all_of(values(x), [](double v) { return std::abs(v) < 1e6; });  // NaN is not either
}

/// Rows of operators that compute from their inputs, in double, by operator; those that draw random numbers come so
/// many times, with 8 about as often as all others.
inline std::vector<std::vector<Row>> usable_rows(std::size_t drawing = 0) {
  std::vector<std::vector<Row>> out;
  for (const strop::Entry* e : strop::detail::all_operators()) {
    if (!e->library || e->mutates || e->is_gradient() || e->found != 0 || !e->dtypes.contains(strop::f64)) continue;
    std::vector<Row> rows = strop::verify::rows_of(*e), random;
    std::ranges::copy_if(rows, std::back_inserter(random), &Row::random);
    std::erase_if(rows, [](const Row& row) { return row.random; });
    if (!rows.empty()) out.push_back(rows);
    if (!random.empty()) out.insert(out.end(), drawing, random);
  }
  return out;
}
/// Rows of operators that write inputs, such as updates and running statistics.
inline std::vector<std::vector<Row>> writing_rows() {
  std::vector<std::vector<Row>> out;
  for (const strop::Entry* e : strop::detail::all_operators())
    if (e->library && e->mutates && !e->is_gradient() && e->dtypes.contains(strop::f64))
      if (const std::vector<Row> rows = strop::verify::rows_of(*e); !rows.empty() && !rows[0].random)
        out.push_back(rows);
  return out;
}

class Writer {
 public:
  explicit Writer(unsigned seed) : random_(seed) {}

  Program write(const std::vector<std::vector<Row>>& rows) {
    while (program_.steps.size() < 3 + below(8)) {
      Row row = any(any(rows));
      for (int attempt = 0; attempt < 8 && !follows(row); ++attempt) row = any(any(rows));
      add_step(row);
    }
    // what the last step gives, and something from before
    program_.results.push_back(values_.size() - 1);
    const std::size_t other = below(values_.size());
    if (other >= program_.leaves.size() && other != values_.size() - 1) program_.results.push_back(other);
    return std::move(program_);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  template <class T>
  const T& any(const std::vector<T>& of) {
    return of[below(of.size())];
  }

  /// Whether one of its inputs can be a value that is there. Maps take any shape, and so one that is there.
  bool follows(Row& row) {
    const bool map = strop::detail::find_operator(row.op).is_map();
    const bool alike = std::ranges::all_of(row.in, [&](const Sample& s) { return s.shape == row.in[0].shape; });
    if (map && alike && !values_.empty())
      for (const Shape shape = any(values_).shape(); Sample & sample : row.in) sample.shape = shape;
    return std::ranges::any_of(row.in, [&](const Sample& s) { return !fitting(s).empty(); });
  }

  /// The values that can be this input.
  std::vector<std::size_t> fitting(const Sample& sample) const {
    std::vector<std::size_t> out;
    if (sample.positions != 0 || !sample.elements.empty()) return out;  // these numbers are meant
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!(i < program_.leaves.size() && program_.leaves[i].written) && values_[i].storage() == strop::dense &&
          values_[i].dtype() == strop::f64 && values_[i].size() == sample.shape.size() && finite(values_[i]))
        out.push_back(i);
    return out;
  }

  /// A leaf is a value of its own, in front of those of the steps: positions behind it move on.
  std::size_t add_leaf(const Sample& sample, bool parameter, bool written = false) {
    const std::size_t at = program_.leaves.size();
    NDArray x = sample.make(strop::f64, static_cast<int>(below(1000)));
    program_.leaves.push_back({written ? x.copy() : x, parameter, written});
    values_.insert(values_.begin() + static_cast<std::ptrdiff_t>(at), x);
    for (Step& step : program_.steps)
      for (Input& input : step.inputs) input.value += input.value >= at;
    return at;
  }

  Input take(const Sample& sample) {
    if (sample.positions != 0 || !sample.elements.empty()) return {add_leaf(sample, false)};
    Sample wanted = sample;
    const bool matrix = sample.shape.ndim() == 2 && sample.shape.size() > 0;
    if (matrix && below(6) == 0) wanted.storage = below(2) == 0 ? strop::csr : strop::row_sparse;
    const std::vector<std::size_t> there = fitting(sample);
    if (there.empty() || below(8) == 0) {
      const bool sparse_leaf = wanted.storage != strop::dense && below(2) == 0;
      const Storage storage = wanted.storage;
      if (!sparse_leaf) wanted.storage = strop::dense;
      return {add_leaf(wanted, true), false, std::nullopt, sparse_leaf ? strop::dense : storage};
    }
    Input input{any(there), false, std::nullopt, wanted.storage};
    const NDArray& x = values_[input.value];
    const std::vector<double> elements = values(x);
    input.squeezed = std::ranges::any_of(elements, [&](double v) { return v < sample.low || v > sample.high; });
    if (x.shape() != sample.shape) input.shape = sample.shape;
    return input;
  }

  void add_step(const Row& row) {
    Step step{row, {}};
    const strop::Entry& entry = strop::detail::find_operator(row.op);
    const auto params = strop::detail::parse_params(entry, row.attributes());
    const std::vector<int> mutated =
        strop::detail::signature_of(entry, params->get(), static_cast<int>(row.in.size())).mutated;
    for (const Sample& sample : row.in) {
      const std::size_t leaves = program_.leaves.size();
      const bool written = std::ranges::find(mutated, static_cast<int>(step.inputs.size())) != mutated.end();
      Input input = written ? Input{add_leaf(sample, false, true)} : take(sample);
      if (program_.leaves.size() > leaves)  // the inputs that were taken before move on with the others
        for (Input& taken : step.inputs) taken.value += taken.value >= leaves;
      step.inputs.push_back(std::move(input));
    }
    std::vector<NDArray> outputs;
    try {
      outputs = perform(step, values_);
    } catch (const std::exception&) {
      return;  // a domain that the numbers have left
    }
    for (NDArray& y : outputs) values_.push_back(std::move(y));
    program_.steps.push_back(std::move(step));
  }

  std::mt19937 random_;
  Program program_;
  std::vector<NDArray> values_;
};

/// Equal to the bit, or both not numbers; `near` where sums may be taken in another order.
inline std::string differs(const NDArray& a, const NDArray& b, double near) {
  const std::vector<double> x = values(a), y = values(b);
  if (a.shape() != b.shape()) return cat("shape ", a.shape(), " and ", b.shape());
  double largest = 1;
  for (const double v : x)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])) || std::abs(x[i] - y[i]) <= near * largest))
      return cat("element ", i, ": ", x[i], " and ", y[i]);
  return {};
}

/// A program's leaves as a run finds them, and as variables.
struct Arguments {
  std::vector<NDArray> arrays;
  std::vector<Symbol> symbols;
  explicit Arguments(const Program& program) {
    for (const Leaf& leaf : program.leaves) {
      symbols.push_back(strop::var(name(arrays.size())));
      arrays.push_back(leaf.array.copy());
      if (leaf.parameter) arrays.back().attach_grad();
    }
  }
  static std::string name(std::size_t i) { return cat('x', i); }
};

inline std::vector<NDArray> heads_for(const std::vector<NDArray>& results, unsigned seed) {
  std::vector<NDArray> heads;
  for (const NDArray& y : results)
    heads.push_back(with_dtype(Sample{y.shape()}.make(strop::f64, static_cast<int>(seed)), y.dtype()));
  return heads;
}

/// Arrays by name, for what a symbol takes of them.
inline strop::NamedArrays taken(const Symbol& net, const std::vector<NDArray>& arrays) {
  strop::NamedArrays used;
  for (const auto& names : {net.list_arguments(), net.list_auxiliary_states()})
    for (const std::string& name : names)
      if (name[0] == 'x') used.emplace_back(name, arrays[static_cast<std::size_t>(std::stoi(name.substr(1)))]);
  return used;
}

/// Buffers for the gradients of what is taken: 77 in dense ones.
inline strop::NamedArrays buffers_for(const strop::NamedArrays& used) {
  strop::NamedArrays grads;
  for (const auto& [name, array] : used)
    if (array.grad().defined())
      grads.emplace_back(name, array.storage() == strop::dense
                                   ? strop::full(array.shape(), 77, array.dtype())
                                   : strop::zeros(array.shape(), array.storage(), array.dtype()));
  return grads;
}

inline std::string text_of(const Program& program) {
  std::string text;
  for (const Step& step : program.steps)
    text += cat(text.empty() ? "" : ", ", step.row.op, step.row.params.empty() ? "" : " ", step.row.params);
  return text;
}

}  // namespace random_programs
