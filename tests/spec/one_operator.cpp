// SPDX-License-Identifier: Apache-2.0
// A program of one operator on dense arrays that are written out: what it cannot need is not built into it
// (strop/core/installed.hpp).
// expect: [2, 8, 18]
// emits: strop::v0::detail::dispatch(
// emits-nothing-of: strop::v0::Engine, detail::Core::, detail::Workers, detail::Gathering, detail::FailureState
// emits-nothing-of: detail::OnEngine, detail::Tracer, write_trace, trace_push
// emits-nothing-of: detail::cast_storage, allocate_stored, run_sparse_map, infer_storages, note_fallback, FallbackLog
// emits-nothing-of: detail::add_elements
// emits-nothing-of: detail::TapeNode, detail::BackwardPass, strop::v0::Symbol, strop::v0::Executor, detail::Zip
#include <strop/strop.hpp>

struct Twice {
  float power = 1;
  constexpr auto forward(auto x) const { return 2 * pow(x, power); }
};
inline constexpr strop::Op<Twice> twice;

int main() {
  const auto y = twice(strop::array({1, 2, 3}), {.power = 2});
  const auto* at = y.view<float, 1>().data();
  std::printf("[%g, %g, %g]\n", static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2]));
}
