// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops and branches: on arrays they run, on symbols they make nodes whose parameters are sub-graphs.
#pragma once
#include <strop/autograd/views.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/executor.hpp>
#include <strop/ops/elementwise/identity.hpp>
#include <strop/ops/shape/join.hpp>
#include <strop/tensor/create.hpp>
#include <strop/tensor/ndarray.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {

namespace detail {

template <class X>
concept ArrayOrSymbol = std::same_as<X, NDArray> || std::same_as<X, Symbol>;

/// One array or symbol, or a std::vector of them.
template <class X>
struct NodeOf {};
template <ArrayOrSymbol X>
struct NodeOf<X> {
  using type = X;
};
template <ArrayOrSymbol X>
struct NodeOf<std::vector<X>> {
  using type = X;
};
template <class X>
concept OneOrSeveral = requires { typename NodeOf<X>::type; };
template <class A, class B>
concept OfOneKind = std::same_as<typename NodeOf<A>::type, typename NodeOf<B>::type>;

template <OneOrSeveral X>
std::vector<typename NodeOf<X>::type> listed_nodes(const X& one) {
  if constexpr (ArrayOrSymbol<X>)
    return {one};
  else
    return one;
}
/// A list in the form of X: itself, or its only element.
template <OneOrSeveral X>
X in_form(std::vector<typename NodeOf<X>::type> list) {
  if constexpr (ArrayOrSymbol<X>)
    return list.empty() ? X() : std::move(list[0]);
  else
    return list;
}

/// What a function returns for these arguments; void where it does not take them.
template <class F, class... A>
struct ResultOf {
  using type = void;
};
template <class F, class... A>
  requires std::is_invocable_v<const F&, const A&...>
struct ResultOf<F, A...> {
  using type = std::remove_cvref_t<std::invoke_result_t<const F&, const A&...>>;
};
template <class F, class... A>
using result_of = typename ResultOf<F, A...>::type;

/// What the body of a loop returns: outputs and the states of the next step.
template <class R, class States>
inline constexpr bool is_step = false;
template <OneOrSeveral Out, OneOrSeveral States>
  requires OfOneKind<Out, States>
inline constexpr bool is_step<std::pair<Out, States>, States> = true;

/// Outputs of steps, to be stacked.
class CollectedSteps {
 public:
  explicit CollectedSteps(std::string_view loop) : loop_(loop) {}
  void add(std::vector<NDArray> outputs);
  /// Of each output the steps, and zeros in place of those that are missing. Nothing where there was no step.
  std::vector<std::vector<NDArray>> each(std::int64_t rows) const;
  template <class X>
  std::vector<X> stacked(std::int64_t rows) const {
    std::vector<X> out;
    for (const std::vector<X>& steps : each(rows)) out.push_back(stack(std::span<const X>(steps)));
    return out;
  }
  std::int64_t count() const { return std::ssize(steps_); }

 private:
  std::string_view loop_;
  std::vector<std::vector<NDArray>> steps_;
};
/// How many entries all of them have. Throws Error where they differ.
std::int64_t entries_of(const std::vector<NDArray>& data);
/// Whether a condition holds: an array of one element that is not 0.
bool holds(std::string_view op, const NDArray& condition);
void check_states(std::string_view op, std::size_t given, std::size_t states);
/// A number of steps that a loop may have.
void check_most(std::int64_t max_iterations);

/// Operators that a loop or a branch calls itself: they are built where a program has one.
struct FlowOperators {
  NDArray (*copy)(const NDArray& a);
  NDArray (*stack)(std::span<const NDArray> all);
};
template <class X>
inline constexpr FlowOperators flow_operators{[](const X& a) { return identity(a); },
                                              [](std::span<const X> all) { return stack(all); }};

/// A loop or a branch on arrays while a function is traced. Its functions run once, on arrays that have no elements.
struct TracedFlow {
  struct Body {
    int which;  // of while_loop 0 is the condition, of cond the branch where it holds
    std::vector<NDArray> in, outputs, next;
  };
  FlowKind kind;
  std::vector<NDArray> in;  // states; of cond the predicate
  std::int64_t most;
  std::string_view name;
  void (*run)(const void* with, Body& body);
  const void* with;
  const FlowOperators* operators;
  std::vector<NDArray> out = {};  // what the node gives
};
/// Who traces a function makes loops and branches on arrays nodes, and runs them.
struct FunctionTracer : CallTracer {
  /// False: no graph can have it, and the caller runs it.
  bool (*flow)(TracedFlow&);
};

/// What the node of `body` gives where a function is traced; nothing where the trace ends here.
template <class Run>
std::optional<std::vector<NDArray>> traced_flow(FlowKind kind, std::vector<NDArray> in, std::int64_t most,
                                                std::string_view name, const Run& body) {
  const auto run = [](const void* with, TracedFlow::Body& one) { (*static_cast<const Run*>(with))(one); };
  using X = std::conditional_t<std::is_void_v<Run>, void, NDArray>;  // dependent, so that they are built here alone
  TracedFlow flow{kind, std::move(in), most, name, run, &body, &flow_operators<X>};
  if (!static_cast<const FunctionTracer*>(watching())->flow(flow)) return std::nullopt;
  return std::move(flow.out);
}

/// A node for each output of a body: what is a variable, comes from outside or is there twice is copied.
template <class X>
void give_nodes(const BodyScope& scope, std::vector<X>& outputs, std::vector<X>& next) {
  std::vector<X> all = outputs;
  all.insert(all.end(), next.begin(), next.end());
  const std::vector<bool> lacking = lacking_node(scope.name(), all);
  for (std::size_t k = 0; k < lacking.size(); ++k)
    if (lacking[k]) (k < outputs.size() ? outputs[k] : next[k - outputs.size()]) = identity(all[k]);
}
template <class X>
std::vector<X> each_of(const X& node, std::int64_t from, std::int64_t to) {
  std::vector<X> out;
  for (std::int64_t k = from; k < to; ++k) out.push_back(node[k]);
  return out;
}
inline std::vector<NDArray> each_of(const std::vector<NDArray>& all, std::int64_t from, std::int64_t to) {
  return {all.begin() + from, all.begin() + to};
}

}  // namespace detail

/// For each entry along the first axis of `data`: (output, state) = body(entry, state). Gives the outputs of all steps,
/// stacked along a new first axis, and the last state: a std::pair in the form that body returns.
///
/// ```cpp
/// auto [sums, last] = strop::foreach([](auto x, auto s) { return std::pair(s + x, s + x); }, data, start);
/// ```
///
/// `data`, states and outputs are each one array or symbol or a std::vector of them; several data go in step. An entry
/// of a vector has shape (1). What body reads besides is read as it is.
///
/// On arrays it runs body once for each entry, recorded as any call is. Without entries there are no outputs: an empty
/// list, or a handle without an array.
///
/// On symbols it runs body once, on variables, and makes a node `_foreach`, which keeps what body made as a sub-graph.
/// Symbols from outside become inputs of the node. States keep shape and type. Its gradient runs the body's gradient
/// from the last entry to the first; a gradient of that there is not. Throws Error where body returns another number of
/// states, or data differ in their number of entries.
template <class Body, detail::OneOrSeveral Data, detail::OneOrSeveral States>
  requires detail::OfOneKind<Data, States>
auto foreach(const Body& body, const Data& data, const States& states, std::string_view name = {}) {
  using X = typename detail::NodeOf<Data>::type;
  using Step = detail::result_of<Body, Data, States>;
  static_assert(detail::is_step<Step, States>,
                "strop: the body of a loop takes what a step sees (of foreach an entry and the state, of while_loop "
                "the state) and returns std::pair(output, next state): one or a std::vector each, states in the form "
                "in which the loop was given them");
  if constexpr (detail::is_step<Step, States>) {
    using Out = typename Step::first_type;
    const std::vector<X> whole = detail::listed_nodes(data);
    const std::size_t count = detail::listed_nodes(states).size();
    if constexpr (std::same_as<X, NDArray>) {
      static_cast<void>(name);
      detail::CollectedSteps made("foreach");
      States now = states;
      const std::int64_t entries = detail::entries_of(whole);
      for (std::int64_t i = 0; i < entries; ++i) {
        std::vector<X> entry;
        for (const X& one : whole) entry.push_back(one[i]);
        Step step = body(detail::in_form<Data>(std::move(entry)), static_cast<const States&>(now));
        detail::check_states("foreach", detail::listed_nodes(step.second).size(), count);
        made.add(detail::listed_nodes(step.first));
        now = std::move(step.second);
      }
      return Step(detail::in_form<Out>(made.template stacked<X>(entries)), std::move(now));
    } else {
      const std::vector<X> initial = detail::listed_nodes(states);
      detail::BodyScope scope("foreach");
      std::vector<X> all = whole;
      all.insert(all.end(), initial.begin(), initial.end());
      const std::vector<X> own = scope.variables("foreach: data or a state", all);
      const auto between = own.begin() + static_cast<std::ptrdiff_t>(whole.size());
      const Step step = body(detail::in_form<Data>(std::vector<X>(own.begin(), between)),
                             detail::in_form<States>(std::vector<X>(between, own.end())));
      std::vector<X> outputs = detail::listed_nodes(step.first), next = detail::listed_nodes(step.second);
      detail::give_nodes(scope, outputs, next);
      scope.close();
      const X node = detail::make_foreach(scope.name(), whole, initial, own, outputs, next, name);
      const std::int64_t stacked = std::ssize(outputs);
      return Step(detail::in_form<Out>(detail::each_of(node, 0, stacked)),
                  detail::in_form<States>(detail::each_of(node, stacked, node.size())));
    }
  }
}

/// While condition(state) holds, at most max_iterations times: (output, state) = body(state). Gives the outputs of all
/// steps, stacked and filled up with zeros to max_iterations, and the last state, in the forms of foreach. A condition
/// is an array or symbol of one element.
///
/// ```cpp
/// auto [powers, last] = strop::while_loop([](auto x) { return x < 100; },
///                                         [](auto x) { return std::pair(x, x * 2); }, start, 8);
/// ```
///
/// On symbols, and on arrays in a traced function, it makes a node `_while_loop`; see foreach. Throws Error where
/// max_iterations is below 1, and where body returns another number of states.
template <class Condition, class Body, detail::OneOrSeveral States>
auto while_loop(const Condition& condition, const Body& body, const States& states, std::int64_t max_iterations,
                std::string_view name = {}) {
  using X = typename detail::NodeOf<States>::type;
  using Step = detail::result_of<Body, States>;
  static_assert(detail::is_step<Step, States>,
                "strop: the body of a loop takes what a step sees (of foreach an entry and the state, of while_loop "
                "the state) and returns std::pair(output, next state): one or a std::vector each, states in the form "
                "in which the loop was given them");
  if constexpr (detail::is_step<Step, States>) {
    using Out = typename Step::first_type;
    detail::check_most(max_iterations);
    const std::vector<X> initial = detail::listed_nodes(states);
    if constexpr (std::same_as<X, NDArray>) {
      if (detail::watching() != nullptr) {
        const auto run = [&](detail::TracedFlow::Body& one) {
          const States seen = detail::in_form<States>(one.in);
          if (one.which == 0) {
            one.outputs = {condition(seen)};
          } else {
            const Step step = body(seen);
            one.outputs = detail::listed_nodes(step.first);
            one.next = detail::listed_nodes(step.second);
          }
        };
        if (const std::optional<std::vector<X>> out =
                detail::traced_flow(detail::FlowKind::while_loop, initial, max_iterations, name, run)) {
          const std::int64_t stacked = std::ssize(*out) - std::ssize(initial);
          return Step(detail::in_form<Out>(detail::each_of(*out, 0, stacked)),
                      detail::in_form<States>(detail::each_of(*out, stacked, std::ssize(*out))));
        }
      }
      detail::CollectedSteps made("while_loop");
      States now = states;
      while (made.count() < max_iterations && detail::holds("while_loop", condition(static_cast<const States&>(now)))) {
        Step step = body(static_cast<const States&>(now));
        detail::check_states("while_loop", detail::listed_nodes(step.second).size(), initial.size());
        made.add(detail::listed_nodes(step.first));
        now = std::move(step.second);
      }
      return Step(detail::in_form<Out>(made.template stacked<X>(max_iterations)), std::move(now));
    } else {
      detail::BodyScope of_condition("while_loop_condition");
      const std::vector<X> seen = of_condition.variables("while_loop: a state", initial);
      std::vector<X> holds{condition(detail::in_form<States>(seen))}, none;
      detail::give_nodes(of_condition, holds, none);
      of_condition.close();
      detail::BodyScope scope("while_loop");
      const std::vector<X> own = scope.variables("while_loop: a state", initial);
      const Step step = body(detail::in_form<States>(own));
      std::vector<X> outputs = detail::listed_nodes(step.first), next = detail::listed_nodes(step.second);
      detail::give_nodes(scope, outputs, next);
      scope.close();
      const X node = detail::make_while(of_condition.name(), seen, holds[0], scope.name(), own, initial, outputs, next,
                                        max_iterations, name);
      const std::int64_t stacked = std::ssize(outputs);
      return Step(detail::in_form<Out>(detail::each_of(node, 0, stacked)),
                  detail::in_form<States>(detail::each_of(node, stacked, node.size())));
    }
  }
}

/// then() where the only element of `predicate` is not 0, else otherwise(). Both return one array or symbol, or a
/// std::vector of them.
///
/// On symbols, and on arrays in a traced function, both run once and become sub-graphs of a node `_cond`, which runs
/// one of them; what they give has the same number, shapes and types. The gradient is that of the branch that ran, and
/// zero where it did not read an input.
///
/// ```cpp
/// auto y = strop::cond(strop::sum(x) > 0, [&] { return x * 2; }, [&] { return x - 1; });
/// ```
template <detail::ArrayOrSymbol X, class Then, class Otherwise>
auto cond(const X& predicate, const Then& then, const Otherwise& otherwise, std::string_view name = {}) {
  using Out = detail::result_of<Then>;
  constexpr bool alike = detail::OneOrSeveral<Out> && std::same_as<Out, detail::result_of<Otherwise>>;
  static_assert(
      alike,
      "strop: both branches of cond take nothing and return the same: an array or a symbol, or a std::vector of them");
  if constexpr (alike) {
    if constexpr (std::same_as<X, NDArray>) {
      if (detail::watching() != nullptr) {
        const auto run = [&](detail::TracedFlow::Body& one) {
          one.outputs = detail::listed_nodes(one.which == 0 ? then() : otherwise());
        };
        if (const auto out = detail::traced_flow(detail::FlowKind::cond, {predicate}, 0, name, run))
          return detail::in_form<Out>(*out);
      }
      return detail::holds("cond", predicate) ? then() : otherwise();
    } else {
      const auto in_scope = [](detail::BodyScope& scope, const auto& branch) {
        std::vector<X> outputs = detail::listed_nodes(branch()), none;
        detail::give_nodes(scope, outputs, none);
        scope.close();
        return outputs;
      };
      detail::BodyScope of_predicate("cond_predicate");
      const std::vector<X> own = of_predicate.variables("cond: the predicate", {predicate});
      const X passed = identity(own[0]);
      of_predicate.close();
      detail::BodyScope of_then("cond_then");
      const std::vector<X> first = in_scope(of_then, then);
      detail::BodyScope of_else("cond_else");
      const std::vector<X> second = in_scope(of_else, otherwise);
      const X node = detail::make_cond(of_predicate.name(), own, passed, predicate, of_then.name(), first,
                                       of_else.name(), second, name);
      return detail::in_form<Out>(detail::each_of(node, 0, node.size()));
    }
  }
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/graph/control_impl.hpp>
#endif
