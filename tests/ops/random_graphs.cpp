// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random graphs of the library's operators, on the rows of the table: bound, with passes and without, with shared
/// memory and without, they give what the recorded calls gave, in double, with their gradients; traced, they draw the
/// same random numbers as well.
#include "harness.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/trace.hpp>
#include <strop/memory/random.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <optional>
#include <random>

using namespace ops_test;
using strop::Symbol;
using strop::verify::Row;
using strop::verify::Sample;

namespace {

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
  bool parameter;  // gets a gradient
};
struct Program {
  std::vector<Leaf> leaves;  // they are the first values
  std::vector<Step> steps;   // each adds its outputs
  std::vector<std::size_t> results;
};

std::vector<NDArray> perform(const Row& row, const std::vector<NDArray>& in) {
  return strop::invoke_all(row.op, in, row.attributes());
}
std::vector<Symbol> perform(const Row& row, const std::vector<Symbol>& in) {
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

bool finite(const NDArray& x) {
  return std::ranges::all_of(values(x), [](double v) { return std::abs(v) < 1e6; });  // NaN is not either
}

/// Rows of operators that compute from their inputs, in double, by operator; with `drawing` also those that draw random
/// numbers, which then come up about as often as all others.
std::vector<std::vector<Row>> usable_rows(bool drawing = false) {
  std::vector<std::vector<Row>> out;
  for (const strop::Entry* e : strop::detail::all_operators()) {
    if (!e->library || e->mutates || !e->dtypes.contains(strop::f64)) continue;
    std::vector<Row> rows = strop::verify::rows_of(*e);
    std::erase_if(rows, [&](const Row& row) { return row.random ? !drawing : e->name.starts_with('_'); });
    if (!rows.empty()) out.insert(out.end(), rows[0].random ? 8 : 1, rows);
  }
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
      if (values_[i].storage() == strop::dense && values_[i].dtype() == strop::f64 &&
          values_[i].size() == sample.shape.size() && finite(values_[i]))
        out.push_back(i);
    return out;
  }

  /// A leaf is a value of its own, in front of those of the steps: positions behind it move on.
  std::size_t add_leaf(const Sample& sample, bool parameter) {
    const std::size_t at = program_.leaves.size();
    NDArray x = sample.make(strop::f64, static_cast<int>(below(1000)));
    program_.leaves.push_back({x, parameter});
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
    for (const Sample& sample : row.in) {
      const std::size_t leaves = program_.leaves.size();
      Input input = take(sample);
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
std::string differs(const NDArray& a, const NDArray& b, double near) {
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

/// Whether the recorded calls of the program have a gradient; what differs goes to doctest.
bool compare(const Program& program, unsigned seed) {
  std::vector<NDArray> arrays, heads, eager;
  std::vector<Symbol> symbols;
  strop::NamedArrays args, grads;
  for (std::size_t i = 0; i < program.leaves.size(); ++i) {
    const auto& [array, parameter] = program.leaves[i];
    arrays.push_back(array);
    symbols.push_back(strop::var(cat('x', i)));
    args.emplace_back(cat('x', i), array);
    if (!parameter) continue;
    array.attach_grad();
    const bool is_dense = array.storage() == strop::dense;
    grads.emplace_back(cat('x', i), is_dense ? strop::full(array.shape(), 77, strop::f64)
                                             : strop::zeros(array.shape(), array.storage(), strop::f64));
  }
  bool differentiable = true;
  {
    const strop::record scope;
    eager = perform(program, arrays);
  }
  for (const NDArray& y : eager) {
    heads.push_back(strop::zeros(y.shape(), y.dtype()));
    const NDArray head = Sample{y.shape()}.make(strop::f64, static_cast<int>(seed));
    heads.back() = with_dtype(head, y.dtype());
  }
  try {
    strop::backward(eager, heads);
  } catch (const std::exception&) {
    differentiable = false;  // nothing that has a gradient, or an operator without one
  }

  const std::vector<Symbol> results = perform(program, symbols);
  const Symbol net = strop::group(results);
  strop::NamedArrays used, wanted;  // the leaves that the results depend on
  for (const std::string& name : net.list_arguments()) {
    for (const auto& arg : args)
      if (arg.first == name) used.push_back(arg);
    for (const auto& grad : grads)
      if (grad.first == name && differentiable) wanted.push_back(grad);
  }
  for (const char* fuse : {"1", "0"}) {
    ::setenv("STROP_FUSE", fuse, 1);
    auto run = net.bind(strop::cpu(), used, wanted);
    ::unsetenv("STROP_FUSE");
    run.plan().check();
    const std::vector<NDArray>& graph = run.forward(true);
    for (std::size_t i = 0; i < eager.size(); ++i) {
      const std::string wrong = differs(eager[i], graph[i], 0);
      CHECK_MESSAGE(wrong.empty(), "output ", i, ", ", wrong);
    }
    if (!differentiable || wanted.empty()) continue;
    run.backward(heads);
    for (const auto& [name, grad] : wanted) {
      const NDArray& expected = arrays[static_cast<std::size_t>(std::stoi(name.substr(1)))].grad();
      const std::string wrong = differs(expected, grad, 1e-9);
      CHECK_MESSAGE(wrong.empty(), "gradient of ", name, ", ", wrong);
    }
  }
  // Without shared memory: every value is an output, which is an array of its own.
  const Symbol internals = net.get_internals();
  const std::vector<std::string> names = internals.list_outputs(), wanted_names = net.list_outputs();
  auto apart = internals.bind(strop::cpu(), used);
  const std::vector<NDArray>& all = apart.forward(true);
  for (std::size_t i = 0; i < eager.size(); ++i) {
    const auto at = std::ranges::find(names, wanted_names[i]) - names.begin();
    const std::string wrong = differs(eager[i], all[static_cast<std::size_t>(at)], 0);
    CHECK_MESSAGE(wrong.empty(), "output ", i, " without shared memory, ", wrong);
  }
  return differentiable;
}

/// What a traced function of the results gives, with the same random numbers, when it is replayed while calls are
/// recorded, with gradients of some of them and then of others; whether it was one step of the tape, planned as a graph
/// is.
bool compare_traced(const Program& program, unsigned seed) {
  std::vector<NDArray> arrays;
  for (const Leaf& leaf : program.leaves) arrays.push_back(leaf.array);
  const auto f = [&](const NDArray&) { return perform(program, arrays); };
  const auto prepare = [&] {
    strop::random::seed(seed);
    for (const auto& [array, parameter] : program.leaves) {
      if (!parameter) continue;
      array.attach_grad();  // what no gradient reaches stays as it is
      if (array.storage() == strop::dense) std::ranges::fill(array.grad().view<double>(), 7.0);
    }
  };
  const NDArray none = strop::zeros({1});
  const auto differentiate = [&](const std::vector<NDArray>& results, unsigned which) {
    std::vector<NDArray> from, heads, gradients;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if ((which >> i & 1U) == 0) continue;
      from.push_back(results[i]);
      const NDArray head = Sample{results[i].shape()}.make(strop::f64, static_cast<int>(seed));
      heads.push_back(with_dtype(head, results[i].dtype()));
    }
    strop::backward(from, heads);
    for (const NDArray& leaf : arrays) gradients.push_back(leaf.grad() ? leaf.grad().copy() : NDArray());
    return gradients;
  };
  const unsigned all = (1U << program.results.size()) - 1, order[] = {1 + seed % all, all, 1};
  std::vector<NDArray> eager, expected[3];
  try {
    for (std::size_t k = 0; k < 3; ++k) {
      prepare();
      const strop::record scope;
      eager = f(none);
      expected[k] = differentiate(eager, order[k]);
    }
  } catch (const std::exception&) {
    return false;
  }
  const auto traced = strop::trace_function(f);
  for (const std::size_t k : {0, 0, 0, 1, 1, 2}) {
    prepare();
    const strop::record scope;
    const std::vector<NDArray> found = traced(none);
    for (std::size_t i = 0; i < eager.size(); ++i) CHECK(differs(eager[i], found[i], 0) == "");
    const std::vector<NDArray> gradients = differentiate(found, order[k]);
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (gradients[i])
        CHECK_MESSAGE(differs(expected[k][i], gradients[i], 1e-9) == "", "gradient of leaf ", i, ", heads ", order[k]);
  }
  return traced.graphs_by_calls() == 0;
}

}  // namespace

TEST_CASE("random graphs of all families") {
  const QuietFallbacks quiet;
  const std::vector<std::vector<Row>> rows = usable_rows();
  constexpr unsigned programs = 4000;
  unsigned differentiable = 0, planned = 0;
  for (unsigned seed = 1; seed <= programs; ++seed) {
    CAPTURE(seed);
    const Program program = Writer(seed).write(rows);
    std::string text;
    for (const Step& step : program.steps) text += cat(text.empty() ? "" : ", ", step.row.op);
    CAPTURE(text);
    differentiable += compare(program, seed);
    if (seed % 2 == 0) planned += compare_traced(program, seed);
  }
  CHECK(differentiable > programs / 2);
  CHECK(planned > programs / 8);
}

TEST_CASE("random programs that are traced draw the numbers that the calls drew") {
  const QuietFallbacks quiet;
  const std::vector<std::vector<Row>> rows = usable_rows(true);
  unsigned drawn = 0, planned = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    strop::random::seed(seed);
    const Program program = Writer(seed).write(rows);
    for (const Step& step : program.steps) drawn += step.row.random ? 1 : 0;
    std::vector<NDArray> arrays;
    for (const Leaf& leaf : program.leaves) arrays.push_back(leaf.array);
    std::string text;
    for (const Step& step : program.steps) text += cat(text.empty() ? "" : ", ", step.row.op);
    CAPTURE(text);
    const auto traced = strop::trace_function([&](const NDArray&) { return perform(program, arrays); });
    const NDArray argument = program.leaves.empty() ? strop::ones({1}) : arrays[0];
    strop::random::seed(seed);
    const std::vector<NDArray> expected[] = {perform(program, arrays), perform(program, arrays)};
    strop::random::seed(seed);
    for (const std::vector<NDArray>& eager : expected) {
      const std::vector<NDArray> found = traced(argument);
      for (std::size_t i = 0; i < eager.size(); ++i) {
        const std::string wrong = differs(eager[i], found[i], 0);
        CHECK_MESSAGE(wrong.empty(), "output ", i, ", ", wrong);
      }
    }
    planned += compare_traced(program, seed);
  }
  CHECK(drawn > 500);
  CHECK(planned > 50);
}
