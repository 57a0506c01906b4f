// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compiled library: gradients and graphs.
#include <strop/source/graphs.hpp>
