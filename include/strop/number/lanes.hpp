// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lanes: registers of numbers on the compilers' own vector types, and Rep of them.
///
/// A lane's value depends on its own operands only, never on its neighbours or its position. The layers of this class,
/// each in a header of its own, replace one function of the vocabulary after the other by vector code; what none of
/// them replaces goes lane by lane through Rep of the plain number.
#pragma once
#include <strop/number/lanes_base.hpp>

#include <strop/number/lanes_gamma.hpp>

#ifndef STROP_NO_LANES
namespace strop::inline v0::number {

template <>
struct Rep<Vec<float>> : detail_lanes::GammaLanes<float> {};
template <>
struct Rep<Vec<double>> : detail_lanes::GammaDoubleLanes<double> {};

}  // namespace strop::inline v0::number
#endif
