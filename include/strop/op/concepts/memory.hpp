// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an operator may do with the memory of its tensors, and what it needs besides.
///
///  1. `static constexpr strop::Share inplace[] = {{0, 0}};`: an output of a tensor operator may use the memory of an
///     input, by positions. A map's follow from its body.
///  2. `static constexpr strop::Share gradient_inplace[] = {{0, 0}};`: a gradient that a tensor operator states may use
///     the memory of an argument, by positions: that of the argument among those that the stated gradient reads, as
///     they stand behind ctx, and that of the gradient among those that it writes. Each element is written after the
///     last one has been read that depends on what stood there.
///  3. `static constexpr strop::Resources resources{.random = true};` of a tensor operator, or `strop::Resources
///     resources(std::span<const strop::Shape> inputs) const` where it depends on the shapes: random numbers, bytes of
///     temporary space. The space is taken before forward begins, so that a call that cannot have it fails before
///     anything is written.
///  4. `static constexpr bool accumulates = true;`, `gradient_accumulates`: forward, or the stated gradient, adds to
///     the outputs of a tensor operator where ctx asks for Request::add; elsewhere the framework adds.
///  5. `double operations(std::span<const strop::Shape> inputs) const` of a tensor operator: the additions,
///     multiplications and their like that a call makes, for whoever weighs calls against each other. A map's are
///     counted in its body.
///  6. `double gradient_operations(std::span<const strop::Shape> takes) const`, likewise of its stated gradient, from
///     the shapes of all that this takes: head gradients, inputs, outputs.
#pragma once
#include <strop/op/concepts/recognise.hpp>
#include <strop/op/context.hpp>
#include <strop/op/infer.hpp>

#include <concepts>
#include <span>

namespace strop::inline v0 {

/// Clause 1.
template <class T>
concept InplaceOption = requires { std::span<const Share>(T::inplace); };
/// Clause 2.
template <class T>
concept GradientInplaceOption = requires { std::span<const Share>(T::gradient_inplace); };
/// Clause 3.
template <class T>
concept RequestsResource = requires { requires std::convertible_to<decltype((T::resources)), Resources>; } ||
                           requires(const T& op, std::span<const Shape> in) {
                             { op.resources(in) } -> std::convertible_to<Resources>;
                           };
/// Clause 4.
template <class T>
concept Accumulates = requires { requires std::same_as<decltype(T::accumulates), const bool>; };
template <class T>
concept GradientAccumulates = requires { requires std::same_as<decltype(T::gradient_accumulates), const bool>; };

namespace detail {
/// Clause 5.
template <class T>
concept StatesOperations = NamesOperations<T> && requires(const T& op, std::span<const Shape> in) {
  { op.operations(in) } -> std::convertible_to<double>;
};
/// Clause 6.
template <class T>
concept StatesGradientOperations = NamesGradientOperations<T> && requires(const T& op, std::span<const Shape> takes) {
  { op.gradient_operations(takes) } -> std::convertible_to<double>;
};
}  // namespace detail

}  // namespace strop::inline v0
