// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as symbol files: an Error or a symbol that can be looked at, and that is the same when written and read
/// again.
#include <strop/graph/symbol.hpp>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

using namespace strop;

namespace {

struct Map {
  float a = 0;
  bool flag = false;
  Axes axes = {};
  Required<int> n = {};
  static constexpr ParamUpgrade upgrades[] = {{"axes", "-1", "None", 905}};
  constexpr auto forward(auto x) const { return a * x; }
};
/// As many outputs as its parameter says
struct Split {
  int num_outputs = 1;
  int output_count() const { return num_outputs; }
  void infer_shape(Shapes&) const {}
  template <Real E>
  void forward(Cpu&, View<const E>, std::span<const View<E>>) const {}
};
/// As many inputs as it is given
struct Join {
  void infer_shape(Shapes&) const {}
  template <Real E>
  void forward(Cpu&, std::span<const View<const E>>, View<E>) const {}
};
/// Writes an input
struct State {
  static constexpr std::string_view inputs[] = {"data", "mean"};
  static constexpr std::string_view mutates[] = {"mean"};
  template <Real E>
  void forward(Cpu&, View<const E>, View<E>, View<E>) const {}
};
constexpr Op<Map> map_operator;
constexpr Op<Split> split_operator;
constexpr Op<Join> join_operator;
constexpr Op<State> state_operator;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const bool named = (map_operator.entry(), split_operator.entry(), join_operator.entry(), true);
  static_cast<void>(named && !state_operator.entry().name.empty());
  try {
    const Symbol net = Symbol::from_json({reinterpret_cast<const char*>(bytes), size});
    if (net.list_arguments().size() + net.list_outputs().size() == 0) std::abort();
    std::string text;
    try {
      text = net.to_json();
    } catch (const Error&) {
      return 0;  // attributes that a file of ours takes for parameters
    }
    if (Symbol::from_json(text).to_json() != text) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
