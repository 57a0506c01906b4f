// SPDX-License-Identifier: Apache-2.0
/// \file
/// The element-wise operators: all headers of ops/elementwise, and the operators that arrays and symbols have with
/// them.
#pragma once
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/elementwise/activation.hpp>
#include <strop/ops/elementwise/amp.hpp>
#include <strop/ops/elementwise/broadcast.hpp>
#include <strop/ops/elementwise/compare.hpp>
#include <strop/ops/elementwise/contrib.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/elementwise/exponential.hpp>
#include <strop/ops/elementwise/hyperbolic.hpp>
#include <strop/ops/elementwise/identity.hpp>
#include <strop/ops/elementwise/power.hpp>
#include <strop/ops/elementwise/rounding.hpp>
#include <strop/ops/elementwise/scalar.hpp>
#include <strop/ops/elementwise/scatter.hpp>
#include <strop/ops/elementwise/select.hpp>
#include <strop/ops/elementwise/special.hpp>
#include <strop/ops/elementwise/sum.hpp>
#include <strop/ops/elementwise/trigonometric.hpp>
