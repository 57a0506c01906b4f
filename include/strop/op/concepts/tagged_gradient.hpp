// SPDX-License-Identifier: Apache-2.0
/// \file
/// A tensor operator's gradient whose arguments say which tensors they are.
///
///  1. `void grad(strop::Cpu& ctx, …) const`, and the same with strop::Cuda&.
///  2. Every argument after ctx is tagged: `Head<"output", V>`, `In<"weight", V>`, `Out<"output", V>` of a view of
///     const, or `Grad<"data", V>` of a view to write (op/tags.hpp). What is not named is not kept; without a Head it
///     is a loss.
///  3. One Grad at least.
///  4. The names stand in `inputs` or `outputs`.
#pragma once
#include <strop/op/concepts/tensor.hpp>

namespace strop::inline v0 {

/// Clause 1.
template <class T>
concept HasGrad = detail::NamesGrad<T> && detail::grad_on_any<T>();

}  // namespace strop::inline v0
