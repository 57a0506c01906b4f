// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops and branches around random programs, as nodes of a graph, against the same on arrays, step by step.
#include "random_programs.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/graph/control.hpp>
#include <strop/graph/executor.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace random_programs;

namespace {

/// The first leaf of which a loop may see entries: dense, with elements and a gradient; −1 without one, or where others
/// are sparse, which reach a body as dense copies.
int looped_leaf(const Program& program) {
  int found = -1;
  for (std::size_t i = program.leaves.size(); i-- > 0;) {
    const auto& [array, parameter, written] = program.leaves[i];
    if (array.storage() != strop::dense || written) return -1;
    if (parameter && array.ndim() > 0 && array.size() > 0) found = static_cast<int>(i);
  }
  return found;
}

/// A loop, a loop with a condition or a branch around a program, on arrays as on symbols. `leaves` are the program's,
/// that at `at` with an axis before its own.
template <class N>
std::vector<N> around(const Program& program, unsigned kind, std::size_t at, const std::vector<N>& leaves,
                      const N& state) {
  const auto made_of = [&](const N& entry) {
    std::vector<N> values = leaves;
    values[at] = entry;
    return perform(program, values)[0];
  };
  const auto mean = [](const N& x) { return perform(Row{"mean", "", {}}, std::vector<N>{x})[0]; };
  if (kind == 0) {
    const auto [all, last] = strop::foreach(
        [&](const N& x, const N& s) {
          const N y = made_of(x);
          return std::pair(y, s * 0.5 + mean(y));
        },
        leaves[at], state);
    return {all, last};
  }
  const N first = perform(Row{"slice_axis", "axis=0; begin=0; end=1", {}}, std::vector<N>{leaves[at]})[0];
  const N x = perform(Row{"Reshape", cat("shape=", program.leaves[at].array.shape()), {}}, std::vector<N>{first})[0];
  if (kind == 1) {
    const auto scaled = [&](const N& s) {
      return perform(Row{"broadcast_mul", "", {}}, std::vector<N>{made_of(x), s})[0];
    };
    const auto [all, last] = strop::while_loop([](const N& s) { return s < 2.5; },
                                               [&](const N& s) { return std::pair(scaled(s), s + 1); }, state, 4);
    return {all, last};
  }
  return {strop::cond(mean(x) > 0.5, [&] { return made_of(x) * 2; }, [&] { return -made_of(x); })};
}

/// Whether a loop or a branch around the program is differentiable where its steps are recorded one by one; the node
/// gives the same.
bool compare_flow(const Program& program, unsigned seed) {
  const int at = looped_leaf(program);
  if (at < 0 || program.results.empty()) return false;
  Arguments eager(program), own(program);
  const auto place = static_cast<std::size_t>(at);
  for (Arguments* of : {&eager, &own}) {
    const NDArray x = of->arrays[place];
    of->arrays[place] = strop::invoke("stack", {x, x, x}, {{"axis", "0"}});
    of->arrays.push_back(strop::zeros({1}, strop::f64));
    of->symbols.push_back(strop::var(Arguments::name(of->symbols.size())));
    for (const std::size_t i : {place, of->arrays.size() - 1}) of->arrays[i].attach_grad();
  }
  const auto split = [](auto values) {
    auto state = values.back();
    values.pop_back();
    return std::pair(values, state);
  };
  const auto [leaves, state] = split(eager.arrays);
  const auto [variables, state_variable] = split(eager.symbols);
  std::vector<NDArray> results;
  if (perform(program, Arguments(program).arrays)[0].storage() != strop::dense)
    return false;  // which a body may not give
  try {
    const strop::record scope;
    results = around(program, seed % 3, place, leaves, state);
    if (!std::ranges::all_of(results, [](const NDArray& y) { return y.storage() == strop::dense && finite(y); }))
      return false;
    strop::backward(results, heads_for(results, seed));
  } catch (const std::exception&) {
    return false;
  }
  const Symbol net = strop::group(around(program, seed % 3, place, variables, state_variable));
  const strop::NamedArrays used = taken(net, own.arrays), wanted = buffers_for(used);
  auto run = net.bind(strop::cpu(), used, wanted);
  const std::vector<NDArray>& graph = run.forward(true);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string wrong = differs(results[i], graph[i], 1e-12);
    CHECK_MESSAGE(wrong.empty(), "output ", i, ", ", wrong);
  }
  run.backward(heads_for(results, seed));
  for (const auto& [name, grad] : wanted) {
    const std::string wrong =
        differs(eager.arrays[static_cast<std::size_t>(std::stoi(name.substr(1)))].grad(), grad, 1e-9);
    CHECK_MESSAGE(wrong.empty(), "gradient of ", name, ", ", wrong);
  }
  return true;
}

}  // namespace

TEST_CASE("loops and branches around random programs give what their steps give") {
  const QuietFallbacks quiet;
  const std::vector<std::vector<Row>> rows = usable_rows();
  unsigned compared = 0;
  for (unsigned seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    const Program program = Writer(seed).write(rows);
    const std::string text = text_of(program);
    CAPTURE(text);
    compared += compare_flow(program, seed);
  }
  CHECK(compared > 300);
}
