// SPDX-License-Identifier: Apache-2.0
// reject-first GRAD_USE_INPUT: strop: an operator's member is called grad_use_in, not grad_use_input
// reject-first BACKWARD: strop: an operator's member is called grad_use_in, grad_use_out, grad_use_none, grad_use
// reject-first INFER_SHAPES: strop: an operator's member is called infer_shape, not infer_shapes
// reject-first IN_PLACE: strop: an operator's member is called inplace, not in_place
// reject-first INPUT: strop: an operator's member is called inputs, not input
// reject-first DTYPE: strop: an operator's member is called dtypes, not dtype
// reject-first CAPITAL: strop: an operator's member is called forward, not Forward
#include <strop/op/diagnose.hpp>

struct Bad {
#if defined(CONTROL)
  float input = 1;  // parameters, types and enumerators may have any name
  using output = float;
  enum Which { alias, note } which = alias;
  strop::Dtype dtype = strop::f32;
  constexpr auto compute(auto x) const { return x; }
#elif defined(GRAD_USE_INPUT)
  constexpr auto grad_use_input(auto dy, auto x) const { return dy * x; }
#elif defined(BACKWARD)
  constexpr auto backward(auto dy, auto x) const { return dy * x; }
#elif defined(INFER_SHAPES)
  void infer_shapes(strop::Shapes&) const {}
#elif defined(IN_PLACE)
  static constexpr strop::Share in_place[] = {{0, 0}};
#elif defined(INPUT)
  static constexpr std::string_view input[] = {"data"};
#elif defined(DTYPE)
  static constexpr auto dtype = strop::floating;
#endif
#if defined(CAPITAL)
  constexpr auto Forward(auto x) const { return x; }
#else
  constexpr auto forward(auto x) const { return x; }
#endif
};
static_assert(strop::diagnose<Bad>());
