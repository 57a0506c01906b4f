// SPDX-License-Identifier: Apache-2.0
/// \file
/// A second file that calls the operator.
#include "operator.hpp"

strop::Array other(const strop::Array& x);
strop::Array other(const strop::Array& x) { return half(x); }
