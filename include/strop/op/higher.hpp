// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients on jets on the CPU: those of order 2 and 3, and those of order 1 out of which terms drop. One loop for all
/// operators, of which each brings its body on jets.
#pragma once
#include <strop/number/jet.hpp>
#include <strop/op/gradient.hpp>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {

/// A map on jets.
struct JetMap {
  void (*run)(const void* op, const number::Jet* in, number::Jet* out);
  int inputs, outputs;
  std::uint64_t whole;  // inputs of whole numbers, which nothing is differentiated by
};

/// The derived gradient of that order of a map, over n contiguous doubles, or floats: its numbers are those of
/// Gradient<T>, that many times, whose T states none: head gradients, then inputs. Order 0 is the map itself. A result
/// without memory is not wanted.
void higher_loop(const JetMap& map, int order, const void* op, const void* const* in, void* const* out, std::int64_t n,
                 bool floats);

/// What is differentiated at run time, and how often: down to a map whose gradient is stated, or that is none.
template <class T>
struct Differentiated {
  using type = T;
  static constexpr int order = 0;
};
template <class T>
  requires(!states_gradient<T>)
struct Differentiated<Gradient<T>> {
  using type = typename Differentiated<T>::type;
  static constexpr int order = Differentiated<T>::order + 1;
};

inline namespace STROP_ISA {

template <class T>
void run_on_jets(const void* object, const number::Jet* in, number::Jet* out) {
  const T& op = *static_cast<const T*>(object);
  const auto y = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return as_numbers<number::Jet>(op.forward(NumberAt<T, I, number::Jet>(in[I])...));
  }(std::make_index_sequence<arity<T>>{});
  for (std::size_t k = 0; k < results<T>; ++k) out[k] = y[k];
}

/// The loop of T, a gradient, on elements of type E: a few at a time.
template <class T, class E = double>
void jet_loop(const void* object, const void* const* in, void* const* out, std::int64_t n) {
  using D = Differentiated<T>;
  using Map = typename D::type;
  higher_loop({&run_on_jets<Map>, static_cast<int>(arity<Map>), static_cast<int>(results<Map>), whole_inputs<Map>},
              D::order, object, in, out, n, std::is_same_v<E, float>);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/higher_impl.hpp>
#endif
