// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random graphs of the library's operators, on the rows of the table: bound, with passes and without, with shared
/// memory and without, they give what the recorded calls gave, in double, with their gradients, written or added, the
/// random numbers that they draw and the states that they write; traced, they draw the same random numbers as well.
#include "random_programs.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/gradient.hpp>
#include <strop/graph/trace.hpp>
#include <strop/memory/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

using namespace random_programs;

namespace {

/// The nodes of gradients and all before them, of which every value is an output: no memory is shared. Of dense leaves,
/// as the projection of others is the executor's.
void compare_unplanned(const Program& program, const Symbol& net, const Arguments& eager,
                       const std::vector<NDArray>& results, const std::vector<NDArray>& heads, unsigned seed,
                       bool differentiable) {
  const Arguments own(program);
  std::vector<Symbol> wrt, above;
  std::vector<const NDArray*> expected;
  strop::NamedArrays args = taken(net, own.arrays);
  const Symbol variables = net.get_internals();
  for (const auto& [name, array] : args) {
    const NDArray& leaf = eager.arrays[static_cast<std::size_t>(std::stoi(name.substr(1)))];
    if (!differentiable || !leaf.grad().defined() || leaf.storage() != strop::dense) continue;
    wrt.push_back(variables[name]);
    expected.push_back(&leaf);
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    above.push_back(strop::var(cat('h', i)));
    args.emplace_back(above.back().name(), heads[i]);
  }
  std::vector<Symbol> shown{net};
  for (const Symbol& gradient : strop::gradients(net, wrt, above)) shown.push_back(gradient);
  const Symbol every = strop::group(shown).get_internals();
  const std::vector<std::string> names = every.list_arguments();
  std::erase_if(args, [&](const auto& one) {
    const std::vector<std::string> states = every.list_auxiliary_states();
    return std::ranges::find(names, one.first) == names.end() && std::ranges::find(states, one.first) == states.end();
  });
  auto run = every.bind(strop::cpu(), args);
  strop::random::seed(seed);
  const std::vector<NDArray>& all = run.forward(true);
  const auto value_of = [&](const strop::detail::NodeOutput& of) {
    std::size_t at = 0;
    for (const auto& output : every.outputs()) {
      if (output.node == of.node && output.index == of.index) break;
      ++at;
    }
    return all[at];
  };
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string wrong = differs(results[i], value_of(net.outputs()[static_cast<int>(i)]), 0);
    CHECK_MESSAGE(wrong.empty(), "output ", i, " without shared memory, ", wrong);
  }
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    const std::string wrong = differs(expected[i]->grad(), value_of(shown[i + 1].outputs()[0]), 1e-9);
    CHECK_MESSAGE(wrong.empty(), "gradient of ", wrt[i].name(), " without shared memory, ", wrong);
  }
}

/// Whether the recorded calls of the program have a gradient; what differs goes to doctest.
bool compare(const Program& program, unsigned seed) {
  const Arguments eager(program);
  std::vector<NDArray> results;
  strop::random::seed(seed);
  {
    const strop::record scope;
    results = perform(program, eager.arrays);
  }
  const std::vector<NDArray> heads = heads_for(results, seed);
  bool differentiable = true;
  try {
    strop::backward(results, heads);
  } catch (const std::exception&) {
    differentiable = false;  // nothing that has a gradient, or an operator without one
  }

  const Symbol net = strop::group(perform(program, eager.symbols));
  struct Way {
    const char* fuse;
    strop::GradRequest request;
  };
  for (const Way way :
       {Way{"1", strop::GradRequest::write}, {"0", strop::GradRequest::write}, {"1", strop::GradRequest::add}}) {
    const Arguments own(program);
    const strop::NamedArrays used = taken(net, own.arrays);
    const strop::NamedArrays wanted = differentiable ? buffers_for(used) : strop::NamedArrays();
    const bool adds = way.request == strop::GradRequest::add;
    if (adds && wanted.empty()) continue;
    CAPTURE(way.fuse);
    CAPTURE(adds);
    ::setenv("STROP_FUSE", way.fuse, 1);
    auto run = net.bind(strop::cpu(), used, wanted, way.request);
    ::unsetenv("STROP_FUSE");
    strop::random::seed(seed);
    const std::vector<NDArray>& graph = run.forward(true);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string wrong = differs(results[i], graph[i], 0);
      CHECK_MESSAGE(wrong.empty(), "output ", i, ", ", wrong);
    }
    if (wanted.empty()) continue;
    run.backward(heads);
    for (const auto& [name, grad] : wanted) {
      const NDArray gradient = eager.arrays[static_cast<std::size_t>(std::stoi(name.substr(1)))].grad();
      const NDArray expected = adds && grad.storage() == strop::dense ? gradient + 77 : gradient;
      const std::string wrong = differs(expected, grad, 1e-9);
      CHECK_MESSAGE(wrong.empty(), "gradient of ", name, ", ", wrong);
    }
    for (std::size_t i = 0; i < program.leaves.size(); ++i)
      if (program.leaves[i].written &&
          std::ranges::any_of(used, [&](const auto& one) { return one.first == Arguments::name(i); })) {
        const std::string wrong = differs(eager.arrays[i], own.arrays[i], 0);
        CHECK_MESSAGE(wrong.empty(), "state ", i, ", ", wrong);
      }
  }
  compare_unplanned(program, net, eager, results, heads, seed, differentiable);
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
    for (const Leaf& leaf : program.leaves) {
      if (!leaf.parameter) continue;
      leaf.array.attach_grad();  // what no gradient reaches stays as it is
      if (leaf.array.storage() == strop::dense) std::ranges::fill(leaf.array.grad().view<double>(), 7.0);
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
    for (const NDArray& leaf : arrays) gradients.push_back(leaf.grad().defined() ? leaf.grad().copy() : NDArray());
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
  for (const std::size_t k : {0U, 0U, 0U, 1U, 1U, 2U}) {
    prepare();
    const strop::record scope;
    const std::vector<NDArray> found = traced(none);
    for (std::size_t i = 0; i < eager.size(); ++i) CHECK(differs(eager[i], found[i], 0) == "");
    const std::vector<NDArray> gradients = differentiate(found, order[k]);
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (gradients[i].defined())
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

TEST_CASE("random graphs that write their inputs leave the states that the calls leave") {
  const QuietFallbacks quiet;
  std::vector<std::vector<Row>> rows = usable_rows();
  const std::vector<std::vector<Row>> writing = writing_rows();
  for (int i = 0; i < 4; ++i) rows.insert(rows.end(), writing.begin(), writing.end());
  unsigned written = 0;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    const Program program = Writer(seed).write(rows);
    const std::string text = text_of(program);
    CAPTURE(text);
    if (std::ranges::none_of(program.leaves, &Leaf::written)) continue;
    ++written;
    compare(program, seed);
  }
  CHECK(written > 200);
}

TEST_CASE("random graphs draw the numbers that the calls drew, and their gradients follow") {
  const QuietFallbacks quiet;
  const std::vector<std::vector<Row>> rows = usable_rows(2);
  unsigned drawn = 0, differentiable = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    const Program program = Writer(seed).write(rows);
    const std::string text = text_of(program);
    CAPTURE(text);
    // Several may stand in another order in a graph.
    if (std::ranges::count_if(program.steps, [](const Step& step) { return step.row.random; }) != 1) continue;
    ++drawn;
    differentiable += compare(program, seed);
  }
  CHECK(drawn > 200);
  CHECK(differentiable > drawn / 3);
}

TEST_CASE("random programs that are traced draw the numbers that the calls drew") {
  const QuietFallbacks quiet;
  const std::vector<std::vector<Row>> rows = usable_rows(8);
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
