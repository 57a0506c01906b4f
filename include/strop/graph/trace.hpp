// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions on arrays that run once, leave a graph behind, and are replayed from then on.
#pragma once
#include <strop/core/ref.hpp>
#include <strop/op/mode.hpp>
#include <strop/tensor/ndarray.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// The graphs of one function.
struct TracedGraphs;
void retain_traced_graphs(const TracedGraphs* traces);
void drop_traced_graphs(const TracedGraphs* traces) noexcept;
TracedGraphs* new_traced_graphs(Site site);

/// Calls `run(with, arguments)`, and leaves its graph in `traces`, or replays the graph that suits the arguments.
using TracedCall = std::vector<NDArray> (*)(void* with, std::span<const NDArray> arguments);
std::vector<NDArray> call_traced(TracedGraphs& traces, std::span<const NDArray> arguments, TracedCall run, void* with);
enum class Replay { any, by_calls, eager };
/// How many graphs there are, how many of them are replayed call by call, or how often the function has none.
std::size_t count_traced_graphs(const TracedGraphs& traces, Replay replay);

/// A share of the graphs of a function.
class TracedGraphsRef {
 public:
  explicit TracedGraphsRef(Site site) : traces_(new_traced_graphs(site)) { retain_traced_graphs(traces_); }
  TracedGraphsRef(const TracedGraphsRef& other) : traces_(other.traces_) { retain_traced_graphs(traces_); }
  TracedGraphsRef& operator=(TracedGraphsRef other) noexcept {
    std::swap(traces_, other.traces_);
    return *this;
  }
  ~TracedGraphsRef() { drop_traced_graphs(traces_); }
  TracedGraphs& get() const { return *traces_; }

 private:
  TracedGraphs* traces_;
};

template <class R>
inline constexpr bool is_array_tuple = false;
template <class... A>
inline constexpr bool is_array_tuple<std::tuple<A...>> = (std::same_as<A, NDArray> && ...);
template <class A, class B>
inline constexpr bool is_array_tuple<std::pair<A, B>> = std::same_as<A, NDArray> && std::same_as<B, NDArray>;
template <std::size_t N>
inline constexpr bool is_array_tuple<std::array<NDArray, N>> = true;

/// What a traced function may return.
template <class R>
concept Arrays = std::same_as<R, NDArray> || std::same_as<R, std::vector<NDArray>> || is_array_tuple<R>;

template <class R>
std::vector<NDArray> as_list(R&& results) {
  using Plain = std::remove_cvref_t<R>;
  if constexpr (std::same_as<Plain, NDArray>)
    return {std::forward<R>(results)};
  else if constexpr (std::same_as<Plain, std::vector<NDArray>>)
    return std::forward<R>(results);
  else
    return std::apply([](const auto&... each) { return std::vector<NDArray>{each...}; }, results);
}
template <class R>
R from_list(std::vector<NDArray> list) {
  if constexpr (std::same_as<R, NDArray>)
    return std::move(list[0]);
  else if constexpr (std::same_as<R, std::vector<NDArray>>)
    return list;
  else
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return R{std::move(list[I])...};
    }(std::make_index_sequence<std::tuple_size_v<R>>{});
}

}  // namespace detail

/// What trace_function returns: call it like the function. Copies share the graphs. One call at a time runs a graph;
/// another thread waits for it.
template <class G>
class TracedFunction {
 public:
  explicit TracedFunction(G function, detail::Site site = {}) : function_(std::move(function)), traces_(site) {}

  template <std::same_as<NDArray>... X>
  auto operator()(const X&... x) const {
    static_assert(std::is_invocable_v<const G&, const X&...>,
                  "strop: a traced function takes as many arrays as it is called with, and is const");
    if constexpr (std::is_invocable_v<const G&, const X&...>) {
      using R = std::remove_cvref_t<std::invoke_result_t<const G&, const X&...>>;
      static_assert(detail::Arrays<R>,
                    "strop: a traced function returns an array, or a std::vector, std::tuple, std::pair or std::array "
                    "of them");
      if constexpr (detail::Arrays<R>) {
        const auto run = [](void* with, std::span<const NDArray> in) {
          return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return detail::as_list((*static_cast<const G*>(with))(in[I]...));
          }(std::index_sequence_for<X...>{});
        };
        const std::array<NDArray, sizeof...(X)> in{x...};
        return detail::from_list<R>(
            detail::call_traced(traces_.get(), in, run, const_cast<void*>(static_cast<const void*>(&function_))));
      }
    }
  }

  /// How many graphs there are: one for each set of shapes, types, storages, devices and modes that it was called with.
  std::size_t graphs() const { return detail::count_traced_graphs(traces_.get(), detail::Replay::any); }
  /// How many of them are replayed call by call: they draw or write in an order that a bound graph does not keep, are
  /// on several devices, or have a history that only calls have. The log says which, once.
  std::size_t graphs_by_calls() const { return detail::count_traced_graphs(traces_.get(), detail::Replay::by_calls); }
  /// For how many sets there is none, since the function does what a graph cannot: it runs at each call.
  std::size_t without_graph() const { return detail::count_traced_graphs(traces_.get(), detail::Replay::eager); }

 private:
  G function_;
  detail::TracedGraphsRef traces_;
};

/// A function on arrays that runs once for each set of shapes, types, storages and devices of its arguments, and for
/// recording and training or not; from then on its graph is replayed.
///
/// ```cpp
/// auto f = strop::trace_function([&](const strop::NDArray& x) { return strop::tanh(strop::dot(x, w)); });
/// f(x);  // runs the function
/// f(x);  // replays its graph
/// ```
///
/// It takes arrays and returns an array, or a vector, tuple, pair or std::array of them; results are those of the
/// function itself, new arrays at each call, and differentiable where the call is recorded. Arrays from outside, such
/// as `w`, are read as they are at each call, by the handle that they had at the first; arrays that the function makes
/// without an operator (`zeros`, `array`) are made once. What the function does besides calling operators happens at
/// the first call only. Operators that write an input (`mutates`) may write arrays from outside. Within another traced
/// function it becomes part of that one's graph.
///
/// No graph has what reads elements, writes into arrays that are there already (`into`, `+=`), draws with
/// random::uniform, or calls an Executor, a Function or backward(): a function that does runs at each call instead. It
/// says so in the log, once, with the line (STROP_TRACE_LOG=0 silences that).
template <class G>
TracedFunction<std::remove_cvref_t<G>> trace_function(G&& function, detail::Site site = detail::Site::current()) {
  return TracedFunction<std::remove_cvref_t<G>>(std::forward<G>(function), site);
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/graph/trace_impl.hpp>
#endif
