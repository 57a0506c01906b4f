// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compile-time unit tests of a tensor operator whose forward, and stated gradient, for the CPU the compiler can run:
/// constexpr members on views, whose loops, temporary space and parallel_for it follows (op/check.hpp has maps).
#pragma once
#include <strop/core/push_macros.def>

#include <strop/op/check_call.hpp>
#include <strop/op/sparse_result.hpp>
#include <strop/tensor/literal.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace check {

/// A small array of the compiler's. It lives as long as the expression that it is written in. (A template, so that a
/// program that has no such test makes nothing of it.)
template <class Element>
class TensorOf {
 public:
  TensorOf() = default;
  constexpr TensorOf(std::span<const std::int64_t> shape, std::vector<Element> elements)
      : shape_(shape.begin(), shape.end()), elements_(std::move(elements)) {}

  constexpr const std::vector<std::int64_t>& shape() const { return shape_; }
  constexpr std::int64_t size() const { return std::ssize(elements_); }
  constexpr Element operator[](std::int64_t i) const { return detail::element(elements_, i); }
  constexpr Element& operator[](std::int64_t i) { return detail::element(elements_, i); }
  friend constexpr bool operator==(const TensorOf& a, const TensorOf& b) {
    return a.shape_ == b.shape_ && a.elements_ == b.elements_;
  }

 private:
  std::vector<std::int64_t> shape_;
  std::vector<Element> elements_;
};
using Tensor = TensorOf<double>;

}  // namespace check

namespace detail {

/// check::Tensor, of which the compiler makes nothing before T is known.
template <class T>
using TensorFor = check::TensorOf<std::conditional_t<std::is_void_v<T>, T, double>>;

template <class Element>
constexpr void collect_literal(const Literal& from, std::size_t depth, std::vector<std::int64_t>& shape,
                               std::vector<Element>& elements) {
  if (from.is_list()) {
    if (depth == shape.size() && elements.empty()) shape.push_back(from.count());
    if (depth >= shape.size() || shape[depth] != from.count())
      fail("check::tensor: every list of one depth has as many members");
    for (const Literal& one : from) collect_literal(one, depth + 1, shape, elements);
  } else {
    if (depth != shape.size()) fail("check::tensor: every list of one depth has as many members");
    elements.push_back(static_cast<Element>(from.number().real));
  }
}

/// One parameter of a member: the elements that it views, and how it is made of an array of the compiler's.
template <class A>
struct EarlyArgument {
  static_assert(!sizeof(A),
                "strop: check::value and check::gradient evaluate members on strop::View and strop::DenseResult alone; "
                "what takes whole or sparse arrays, or lists, is tested by calls");
};
template <class X, int R>
struct EarlyArgument<View<X, R>> {
  using Element = std::remove_const_t<X>;
  struct Held {};
  static constexpr View<X, R> of(EarlyArray<Element>& a, Held&) {
    if (a.data() == nullptr) return {};
    if constexpr (R == any_rank) {
      return {a.data(), a.shape()};
    } else {
      if (std::ssize(a.shape()) != R) fail("check: an array has ", a.shape().size(), " dimensions, expected ", R);
      std::array<std::int64_t, static_cast<std::size_t>(R)> shape{};
      for (std::size_t k = 0; k < shape.size(); ++k) shape[k] = a.shape()[k];
      return {a.data(), shape};
    }
  }
};
template <class X, int R>
struct EarlyArgument<DenseResult<X, R>&> {
  using Element = X;
  using Held = DenseResult<X, R>;
  static constexpr Held& of(EarlyArray<X>& a, Held& held) { return held = Held(a); }
};
template <class X, int R>
struct EarlyArgument<DenseResult<X, R>> : EarlyArgument<DenseResult<X, R>&> {};
template <class A>
  requires requires { A::role; }
struct EarlyArgument<A> {
  using Element = typename EarlyArgument<typename A::Plain>::Element;
  using Held = typename EarlyArgument<typename A::Plain>::Held;
  static constexpr A of(EarlyArray<Element>& a, Held& held) { return {EarlyArgument<typename A::Plain>::of(a, held)}; }
};

template <class X>
constexpr void fill_early(EarlyArray<X>& to, const TensorFor<X>& from) {
  X* const data = to.allocate(from.shape());
  for (std::int64_t i = 0; i < from.size(); ++i) data[i] = convert<X>(from[i]);
}
template <class X>
constexpr TensorFor<X> tensor_of(const EarlyArray<X>& from) {
  std::vector<std::conditional_t<std::is_void_v<X>, X, double>> elements;
  for (std::int64_t i = 0; i < from.size(); ++i) elements.push_back(to_double(from.data()[i]));
  return {from.shape(), std::move(elements)};
}

/// Runs member M on arrays that `prepare(k, array)` gives for parameter k; all of them afterwards.
template <class M, class E, class T, class Prepare, class... A>
constexpr std::vector<TensorFor<T>> run_early(const T& op, Prepare prepare, std::type_identity<std::tuple<A...>>) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::tuple<EarlyArray<typename EarlyArgument<A>::Element>...> arrays;
    std::tuple<typename EarlyArgument<A>::Held...> held;
    (prepare(I, std::get<I>(arrays)), ...);
    Cpu ctx(cpu(), {}, false);
    M::template call<E>(op, ctx, EarlyArgument<A>::of(std::get<I>(arrays), std::get<I>(held))...);
    return std::vector<TensorFor<T>>{tensor_of(std::get<I>(arrays))...};
  }(std::index_sequence_for<A...>{});
}

/// The element type that a test of member M runs with: double where it serves it.
template <class M, class T>
using EarlyElement = std::conditional_t<Served<M, T>::generic && Served<M, T>::template serves<double>(), double,
                                        typename Served<M, T>::First>;

template <class T>
consteval bool runs_early() {
  static_assert(TensorOp<T> && forward_on<T, Cpu>(),
                "strop: check::value takes an operator with forward(strop::Cpu&, ...)");
  static_assert(!HasState<T>, "strop: check::value takes an operator without a state");
  return TensorOp<T> && forward_on<T, Cpu>() && !HasState<T>;
}

constexpr bool has_stated_shape(const std::vector<std::int64_t>& shape, const Shape& stated) {
  if (!stated.has_rank()) return true;
  if (std::ssize(shape) != stated.ndim()) return false;
  for (int axis = 0; axis < stated.ndim(); ++axis)
    if (stated[axis] >= 0 && stated[axis] != element(shape, axis)) return false;
  return true;
}

/// All outputs of forward.
template <class T>
constexpr std::vector<TensorFor<T>> outputs_early(const T& op, std::span<const TensorFor<T>> in) {
  using S = ServedForward<T>;
  using E = EarlyElement<Says<ForwardMember, T>, T>;
  std::vector<Shape> shapes;
  for (const TensorFor<T>& x : in) shapes.push_back(Shape(x.shape()));
  std::vector<Shape> made(count_results(op, in.size()), Shape::unknown());
  infer_stated_shape(op, names_for<T>(), shapes, std::span<Shape>(made));
  // Of each parameter the position of its tensor: inputs count from 0 on, outputs from −1 down.
  std::array<int, S::count> place{};
  int inputs = 0, writes = 0;
  for (std::size_t k = 0; k < S::count; ++k)
    place[k] = S::infos[k].writes && writes++ >= TensorShape<T>::mutated ? -1 - (writes - 1 - TensorShape<T>::mutated)
                                                                         : inputs++;
  const std::vector<TensorFor<T>> all = run_early<ForwardMember, E>(
      op,
      [&]<class X>(std::size_t k, EarlyArray<X>& array) {
        if (place[k] >= 0) {
          if (place[k] < std::ssize(in)) fill_early(array, in[static_cast<std::size_t>(place[k])]);
        } else if (!S::infos[k].found) {
          const Shape& shape = made[static_cast<std::size_t>(-1 - place[k])];
          array.allocate({shape.begin(), shape.end()});
        }
      },
      std::type_identity<SignatureFor<ForwardMember, T, E>>{});
  std::vector<TensorFor<T>> out;
  for (std::size_t k = 0; k < S::count; ++k) {
    if (place[k] >= 0) continue;
    const Shape& stated = made[static_cast<std::size_t>(-1 - place[k])];
    if (S::infos[k].found && !has_stated_shape(all[k].shape(), stated))
      fail("check: forward made a result of another shape than infer_shape says, or has not allocated it");
    out.push_back(all[k]);
  }
  return out;
}

/// Whether input i of forward is of floating numbers.
template <class T>
constexpr bool takes_reals(int i) {
  using S = ServedForward<T>;
  int writes = 0;
  for (const ArgInfo& info : S::infos) {
    if (info.writes && writes++ >= TensorShape<T>::mutated) continue;
    if (i-- == 0) return is_floating(info.follows ? dtype_of<EarlyElement<Says<ForwardMember, T>, T>> : info.dtype);
  }
  return false;
}

/// Which tensor a parameter of a gradient is.
struct EarlyRole {
  Role role = Role::head;
  int at = 0;
};
template <class T, class M>
constexpr auto early_roles() {
  using G = TensorGradient<T, M>;
  std::array<EarlyRole, G::S::count> roles{};
  std::vector<int> read;  // the inputs that are
  for (int i = 0; i < TensorShape<T>::inputs; ++i)
    if ((G::reads >> i & 1U) != 0) read.push_back(i);
  const int heads = G::member.of_heads, ins = heads + G::member.of_in, outs = ins + G::member.of_out;
  for (int k = 0; k < static_cast<int>(roles.size()); ++k) {
    const ArgInfo& info = G::infos[static_cast<std::size_t>(k)];
    EarlyRole& to = roles[static_cast<std::size_t>(k)];
    if (info.tagged)
      to = {info.role, info.at};
    else if (k < heads)
      to = {Role::head, k};
    else if (k < ins)
      to = {Role::in, element(read, k - heads)};
    else if (k < outs)
      to = {Role::out, k - ins};
    else
      to = {Role::grad, element(read, k - outs)};
  }
  return roles;
}

/// The gradients of the inputs for these head gradients; an empty tensor where an input has none.
template <class T>
constexpr std::vector<TensorFor<T>> gradients_early(const T& op, std::span<const TensorFor<T>> heads,
                                                    std::span<const TensorFor<T>> in) {
  using M = GradientMember<T>;
  std::vector<TensorFor<T>> out(in.size());
  if constexpr (!std::is_void_v<M>) {
    using E = EarlyElement<M, T>;
    const std::vector<TensorFor<T>> y = outputs_early(op, in);
    for (std::size_t k = 0; k < y.size() && k < heads.size(); ++k)
      if (heads[k].shape() != y[k].shape()) fail("check::gradient: a head gradient has another shape than the result");
    const auto roles = early_roles<T, M>();
    const auto at = [&roles](std::size_t k) { return static_cast<std::size_t>(roles[k].at); };
    const std::vector<TensorFor<T>> all = run_early<M, E>(
        op,
        [&]<class X>(std::size_t k, EarlyArray<X>& array) {
          if (roles[k].role == Role::head)
            fill_early(array, heads[at(k)]);
          else if (roles[k].role == Role::out)
            fill_early(array, y[at(k)]);
          else if (at(k) < in.size() && roles[k].role == Role::in)
            fill_early(array, in[at(k)]);
          else if (at(k) < in.size())
            array.allocate(in[at(k)].shape());
        },
        std::type_identity<SignatureFor<M, T, E>>{});
    for (std::size_t k = 0; k < roles.size(); ++k)
      if (roles[k].role == Role::grad && at(k) < in.size()) out[at(k)] = all[k];
  } else {  // zero everywhere
    for (std::size_t i = 0; i < in.size(); ++i)
      out[i] = {in[i].shape(), std::vector<double>(static_cast<std::size_t>(in[i].size()), 0.0)};
  }
  return out;
}

template <class T>
consteval bool differentiates_early() {
  static_assert(!GradComposes<T>,
                "strop: check::gradient takes an operator with a stated gradient on views: one that is written with "
                "operators is tested by check_gradient(op, {x})");
  static_assert(GradComposes<T> || HasZeroGradient<T> || !std::is_void_v<GradientMember<T>>,
                "strop: check::gradient takes an operator that states its gradient, and there is none");
  return runs_early<T>() && !GradComposes<T> && (HasZeroGradient<T> || !std::is_void_v<GradientMember<T>>);
}

/// One tensor, or all where there are several.
template <bool One, class Tensor>
constexpr auto one_or_all(std::vector<Tensor> all) {
  if constexpr (One)
    return all[0];
  else
    return all;
}

}  // namespace detail

namespace check {

/// A tensor of numbers, or lists of lists of them: `check::tensor({{1, 2}, {3, 4}})`.
template <class Element = double>
constexpr TensorOf<Element> tensor(const detail::Literal& literal) {
  std::vector<std::int64_t> shape;
  std::vector<Element> elements;
  detail::collect_literal(literal, 0, shape, elements);
  return {shape, std::move(elements)};
}

/// Whether two tensors have one shape and |a − b| ≤ atol + rtol·|b| everywhere.
template <class Element>
constexpr bool close(const TensorOf<Element>& a, const TensorOf<Element>& b, double rtol = 1e-9, double atol = 1e-12) {
  if (a.shape() != b.shape()) return false;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double off = a[i] < b[i] ? b[i] - a[i] : a[i] - b[i], size = b[i] < 0 ? -b[i] : b[i];
    if (!(off <= atol + rtol * size)) return false;
  }
  return true;
}

/// Head gradients, one per visible output, for check::gradient.
template <class Element>
struct HeadsOf {
  std::vector<TensorOf<Element>> of;
};
using Heads = HeadsOf<double>;
template <std::same_as<Tensor>... Dy>
constexpr Heads heads(const Dy&... dy) {
  return {{dy...}};
}

/// forward of a tensor operator on these inputs, in double where it serves it: a Tensor, or a std::vector of them where
/// there are several outputs. Inputs of integers are numbers as well: `check::tensor({0, 2})`.
template <detail::AnyTensorOp T, std::same_as<Tensor>... X>
constexpr auto value(const T& op, const X&... x) {
  static_assert(detail::takes_inputs<T>(sizeof...(X)), "strop: check::value takes a tensor for each input of forward");
  if constexpr (detail::runs_early<T>() && detail::takes_inputs<T>(sizeof...(X))) {
    const std::array<Tensor, sizeof...(X)> in{x...};
    std::vector<detail::TensorFor<T>> out = detail::outputs_early(op, std::span<const detail::TensorFor<T>>(in));
    out.resize(static_cast<std::size_t>(detail::TensorShape<T>::visible_count(op)));
    constexpr bool one = detail::Counts<T>::out == 1 && !detail::Counts<T>::open_out;
    return detail::one_or_all<one>(std::move(out));
  } else
    return Tensor();
}

/// The stated gradient of a tensor operator for these head gradients: a Tensor for one input, else a std::vector with
/// one per input, empty where an input has none.
template <detail::AnyTensorOp T, std::same_as<Tensor>... X>
constexpr auto gradient(const T& op, const Heads& heads, const X&... x) {
  static_assert(detail::takes_inputs<T>(sizeof...(X)),
                "strop: check::gradient takes a tensor for each input of forward");
  if constexpr (detail::differentiates_early<T>() && detail::takes_inputs<T>(sizeof...(X))) {
    const std::array<Tensor, sizeof...(X)> in{x...};
    constexpr bool one = sizeof...(X) == 1;
    return detail::one_or_all<one>(detail::gradients_early(op, heads.of, in));
  } else
    return Tensor();
}
/// The same, head gradients 1.
template <detail::AnyTensorOp T, std::same_as<Tensor>... X>
constexpr auto gradient(const T& op, const X&... x) {
  static_assert(detail::takes_inputs<T>(sizeof...(X)),
                "strop: check::gradient takes a tensor for each input of forward");
  if constexpr (detail::differentiates_early<T>() && detail::takes_inputs<T>(sizeof...(X))) {
    const std::array<Tensor, sizeof...(X)> in{x...};
    HeadsOf<std::conditional_t<std::is_void_v<T>, T, double>> ones;
    ones.of = detail::outputs_early(op, std::span<const detail::TensorFor<T>>(in));
    for (auto& head : ones.of)
      for (std::int64_t i = 0; i < head.size(); ++i) head[i] = 1;
    return gradient(op, ones, x...);
  } else
    return Tensor();
}

/// Whether the stated gradient of a tensor operator is what differences of its forward give at these inputs, for head
/// gradients that differ from element to element; inputs of integers are left as they are.
template <detail::AnyTensorOp T, std::same_as<Tensor>... X>
constexpr bool differentiates(const T& op, const X&... x) {
  static_assert(detail::takes_inputs<T>(sizeof...(X)),
                "strop: check::differentiates takes a tensor for each input of forward");
  if constexpr (detail::differentiates_early<T>() && detail::takes_inputs<T>(sizeof...(X))) {
    std::array<Tensor, sizeof...(X)> in{x...};
    std::vector<detail::TensorFor<T>> heads = detail::outputs_early(op, std::span<const detail::TensorFor<T>>(in));
    heads.resize(static_cast<std::size_t>(detail::TensorShape<T>::visible_count(op)));
    for (auto& head : heads)
      for (std::int64_t i = 0; i < head.size(); ++i) head[i] = 0.5 + static_cast<double>((i * 7919 + 13) % 101) / 101;
    const std::vector<detail::TensorFor<T>> stated =
        detail::gradients_early(op, std::span<const detail::TensorFor<T>>(heads), in);
    const auto weighted = [&] {
      const std::vector<detail::TensorFor<T>> y = detail::outputs_early(op, std::span<const detail::TensorFor<T>>(in));
      double sum = 0;
      for (std::size_t k = 0; k < heads.size(); ++k)
        for (std::int64_t i = 0; i < heads[k].size(); ++i) sum += heads[k][i] * y[k][i];
      return sum;
    };
    for (std::size_t k = 0; k < in.size(); ++k)
      for (std::int64_t i = 0; i < stated[k].size() && detail::takes_reals<T>(static_cast<int>(k)); ++i) {
        const double at = in[k][i], step = 1e-5;
        in[k][i] = at + step;
        const double above = weighted();
        in[k][i] = at - step;
        const double slope = (above - weighted()) / (2 * step), off = slope - stated[k][i];
        in[k][i] = at;
        if (!((off < 0 ? -off : off) <= 1e-6 + 1e-4 * (slope < 0 ? -slope : slope))) return false;
      }
    return true;
  } else
    return false;
}

}  // namespace check
}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
