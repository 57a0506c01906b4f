// SPDX-License-Identifier: Apache-2.0
/// \file
/// What gives a buffer an order of its own.
#pragma once
#include <strop/core/installed.hpp>
#include <strop/core/ref.hpp>
#include <strop/tensor/buffer.hpp>

namespace strop::inline v0::detail {

/// An order of a buffer's elements: a variable of the global engine.
Ref<Pending> order_on_engine();
/// The same for calls that may be handed over. Installed by what makes arrays of an extent that is not written out in
/// the program, and by what gives an array a variable: without either, calls are small and done at once.
inline constinit Installed<Ref<Pending>()> order_maker{&order_on_engine};

}  // namespace strop::inline v0::detail
