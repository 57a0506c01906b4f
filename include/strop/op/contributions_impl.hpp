// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operator that adds contributions to a gradient, of the tape and in graphs.
#pragma once
#include <strop/core/config.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/gpu_map.hpp>
#include <strop/op/names.hpp>
#include <strop/op/sparse_parts.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/merged.hpp>

#include <concepts>
#include <vector>

namespace strop::inline v0::detail {

/// The most contributions that are added in one pass.
inline constexpr int most_summed = 4;

template <class V, int N>
void sum_loop(const void*, const void* const* in, void* const* out, std::int64_t n) {
  V* y = static_cast<V*>(out[0]);
  const V* x[std::size_t{N}];
  for (int k = 0; k < N; ++k) x[k] = static_cast<const V*>(in[k]);
  for (std::int64_t i = 0; i < n; ++i) {
    V total = x[0][i];
    for (int k = 1; k < N; ++k) total = static_cast<V>(total + x[k][i]);
    y[i] = total;
  }
}
template <int N>
void same_shape_signature(const void*, int, Signature& s) {
  fill_signature({}, {}, {}, N, 1, 1, s);
}

constexpr Entry plain_map(std::string_view name, std::string_view doc, int inputs, MapLoops loops) {
  Entry e;
  e.name = e.snake = e.qualified = name;
  e.doc = doc;
  e.library = e.same_shape = true;
  e.inputs = e.min_inputs = inputs;
  e.dtypes = any_dtype;
  e.loops = loops;
  e.facts.kept = [](const void*, Dtype) { return std::uint64_t{0}; };
  return e;
}

/// On a GPU the driver alone adds, so that no kernel has to be in the program.
STROP_IMPL void sum_on_gpu(const GpuMap& call, Cuda& ctx) {
  const memory::GpuDriver& driver = memory::detail::driver_for(ctx.device());
  const std::int64_t n = call.common.size();
  if (n == 0) return;
  const MapOperand& out = call.out[0];
  const bool add = out.request == Request::add;
  const auto add_to = [&](const std::byte* to, Index k) {
    driver.add(ctx.device(), call.dtype, to, call.in[k].data, out.data, n, ctx.stream());
  };
  Index first = add ? call.in.size() : -1;  // what lies in the result already
  for (Index k = 0; k < call.in.size() && !add; ++k)
    if (call.in[k].data == out.data) first = k;
  const bool apart = first < 0;
  if (apart) add_to(call.in[0].data, 1);
  for (Index k = apart ? 2 : 0; k < call.in.size(); ++k)
    if (k != first) add_to(out.data, k);
}
inline constexpr Kernels sum_launch{{&sum_on_gpu}};
template <int N>
inline constinit Slot sum_slot{.cuda = &sum_launch};

/// Each contribution has the gradient of the sum.
template <class V, int N>
std::vector<V> repeat_head(const void*, std::span<const V> dy, std::span<const V>) {
  return std::vector<V>(N, dy[0]);
}
/// `G` is Symbol, which who takes the entry has seen.
template <int N, class G>
constexpr Entry make_sum_entry() {
  constexpr std::string_view names[] = {"_grad_sum2", "_grad_sum3", "_grad_sum4"};
  constexpr std::string_view docs[] = {"The sum of two contributions to a gradient.",
                                       "The sum of three contributions to a gradient.",
                                       "The sum of four contributions to a gradient."};
  Entry e =
      plain_map(names[N - 2], docs[N - 2], N, {&sum_loop<float, N>, &sum_loop<double, N>, &sum_loop<std::int64_t, N>});
  e.signature = &same_shape_signature<N>;
  e.facts.operations = [](const void*) { return N - 1; };
  e.slot = &sum_slot<N>;
  e.facts.zero = [](const void*, Dtype, std::uint64_t zeros) { return zeros == (std::uint64_t{1} << N) - 1; };
  e.gradient.heads = 1;
  e.gradient.gives = (std::uint64_t{1} << N) - 1;
  e.gradient.compose = &repeat_head<NDArray, N>;
  e.gradient.compose_symbols = &repeat_head<G, N>;
  return e;
}
/// The sum of N contributions to one gradient, in one pass.
template <int N, class G = Symbol>
inline constexpr Entry sum_entry = make_sum_entry<N, G>();

inline bool is_sum(const Entry& entry) { return entry.name.starts_with("_grad_sum"); }

/// a + b, of the type of a; sparse where both are of one storage and type. What is recorded goes to the operator as it
/// is.
template <std::same_as<NDArray> A, class G = Symbol>
NDArray sum_of_contributions(const A& a, const A& b) {
  const Entry& entry = sum_entry<2, G>;
  A in[] = {a, b}, total;
  Dtype type = a.dtype();
  if (recording() != nullptr) {
    enrol(sum_slot<2>, entry);
  } else if (a.dtype() != b.dtype() || a.storage() != b.storage() || (a.storage() != dense && a.device() != cpu())) {
    if (a.dtype() != b.dtype()) {
      const bool wide = a.dtype() == f64 || b.dtype() == f64 || !is_floating(b.dtype()) || a.device() != cpu();
      type = !is_floating(type) ? i64 : wide ? f64 : f32;
    }
    for (A& x : in) x = as_type(dense_form(x), type);
  } else if (a.storage() != dense) {
    if (a.stored() == 0) return merged(b, true);
    if (b.stored() == 0) return merged(a, true);
  }
  const NDArray* const from[] = {&in[0], &in[1]};
  dispatch(entry, nullptr, from, {&total, 1});
  return as_type(total, a.dtype());
}

}  // namespace strop::inline v0::detail
