// SPDX-License-Identifier: Apache-2.0
/// \file
/// The contract: what a struct has to be to be an operator, and what it may state.
///
/// A struct is recognised without instantiating its bodies: a decoy whose overload ties with the user's makes a call
/// ambiguous exactly when the user's member takes those arguments, and ambiguity is a soft failure.
#pragma once
#include <strop/number/num.hpp>
#include <strop/op/context.hpp>
#include <strop/op/infer.hpp>

#include <concepts>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {

template <class E>
struct CsrView;
template <class E>
struct RowSparseView;
template <class E>
class CsrResult;
template <class E>
class RowSparseResult;

namespace detail {

/// The number that recognition asks with.
using Probe = number::Num<double>;

struct Tie {};
struct AnyName {
  int forward, gradient, grad, grad_use_in, grad_use_out, grad_use_none, grad_use_in_out, make_state, resources,
      infer_shape, infer_type, infer_storage, inplace, mutates, inputs, outputs, aux, visible, input_count,
      output_count, visible_count, dtypes, aliases, doc, notes, range;
};
/// A member's name is ambiguous in here exactly when T has a member of that name, whatever its signature.
template <class T>
struct NamedMembers : T, AnyName {};

template <std::size_t, class U>
using Repeat = U;

// Two decoys, because one of the same signature as the user's member would hide it: the first ties with parameters by
// value, the second with references to const among them.
template <class T, class I>
struct MovingDecoy;
template <class T, class I>
struct CopyingDecoy;
#define STROP_DECOY(n, ...)                                 \
  template <class T>                                        \
  struct MovingDecoy<T, std::make_index_sequence<n>> : T {  \
    using T::forward;                                       \
    template <__VA_ARGS__>                                  \
    Tie forward(STROP_MOVED_##n) const;                     \
  };                                                        \
  template <class T>                                        \
  struct CopyingDecoy<T, std::make_index_sequence<n>> : T { \
    using T::forward;                                       \
    template <__VA_ARGS__>                                  \
    Tie forward(STROP_COPIED_##n) const;                    \
  };
#define STROP_MOVED_1 A&&
#define STROP_MOVED_2 A&&, B&&
#define STROP_MOVED_3 A&&, B&&, C&&
#define STROP_MOVED_4 A&&, B&&, C&&, D&&
#define STROP_MOVED_5 A&&, B&&, C&&, D&&, E&&
#define STROP_MOVED_6 A&&, B&&, C&&, D&&, E&&, F&&
#define STROP_COPIED_1 A
#define STROP_COPIED_2 A, B
#define STROP_COPIED_3 A, B, C
#define STROP_COPIED_4 A, B, C, D
#define STROP_COPIED_5 A, B, C, D, E
#define STROP_COPIED_6 A, B, C, D, E, F
STROP_DECOY(1, class A)
STROP_DECOY(2, class A, class B)
STROP_DECOY(3, class A, class B, class C)
STROP_DECOY(4, class A, class B, class C, class D)
STROP_DECOY(5, class A, class B, class C, class D, class E)
STROP_DECOY(6, class A, class B, class C, class D, class E, class F)
#undef STROP_MOVED_1
#undef STROP_COPIED_1
#undef STROP_MOVED_2
#undef STROP_COPIED_2
#undef STROP_MOVED_3
#undef STROP_COPIED_3
#undef STROP_MOVED_4
#undef STROP_COPIED_4
#undef STROP_MOVED_5
#undef STROP_COPIED_5
#undef STROP_MOVED_6
#undef STROP_COPIED_6
#undef STROP_DECOY

template <class T>
concept Plain = std::is_aggregate_v<T> && !std::is_final_v<T>;
template <class T>
concept NamesForward = Plain<T> && !requires { &NamedMembers<T>::forward; };

/// forward takes N numbers (by value or by reference to const), whatever its body does with them.
template <class T, std::size_t... I>
constexpr bool takes_numbers(std::index_sequence<I...> n) {
  return !requires(const MovingDecoy<T, decltype(n)>& op, Probe (*x)()) { op.forward((void(I), x())...); } ||
         !requires(const CopyingDecoy<T, decltype(n)>& op, Probe (*x)()) { op.forward((void(I), x())...); };
}

/// A tensor operator's member: the context of a device, then views.
template <class Ctx, class T, class... A>
std::type_identity<std::tuple<A...>> signature_on(void (T::*)(Ctx&, A...) const);

template <class T>
constexpr std::size_t find_arity() {
  if constexpr (!NamesForward<T>)
    return 0;
  else if constexpr (takes_numbers<T>(std::make_index_sequence<1>{}))
    return 1;
  else if constexpr (takes_numbers<T>(std::make_index_sequence<2>{}))
    return 2;
  else if constexpr (takes_numbers<T>(std::make_index_sequence<3>{}))
    return 3;
  else if constexpr (takes_numbers<T>(std::make_index_sequence<4>{}))
    return 4;
  else if constexpr (takes_numbers<T>(std::make_index_sequence<5>{}))
    return 5;
  else if constexpr (takes_numbers<T>(std::make_index_sequence<6>{}))
    return 6;
  else
    return 0;
}

template <class Y>
inline constexpr std::size_t result_count = 1;
template <class... Y>
inline constexpr std::size_t result_count<std::tuple<Y...>> = sizeof...(Y);

template <class T, class S, std::size_t... I>
constexpr auto forward_type(std::index_sequence<I...>)
    -> std::type_identity<decltype(std::declval<const T&>().forward(std::declval<Repeat<I, S>>()...))>;

}  // namespace detail

/// Numbers that forward takes; 0 for what is not a map.
template <class T>
inline constexpr std::size_t arity = detail::find_arity<T>();

namespace detail {
/// What forward returns for numbers S.
template <class T, class S>
using Result = typename decltype(forward_type<T, S>(std::make_index_sequence<arity<T>>{}))::type;
/// How many results a map has. Asks for the body, unless the map's shape is known without.
template <class T>
inline constexpr std::size_t results = result_count<Result<T, Probe>>;
}  // namespace detail

/// A map of N numbers:
///  1. an aggregate that is not final;
///  2. with `forward(x…) const` that takes N numbers, generic over the number (`auto`);
/// It is evaluated element by element, on every device.
template <class T, std::size_t N>
concept MapOfArity = arity<T> == N && N != 0;

/// A map of N numbers with M results (a std::tuple when M > 1). Asks for the body.
template <class T, std::size_t N, std::size_t M = 1>
concept MapOp = MapOfArity<T, N> && detail::result_count<detail::Result<T, detail::Probe>> == M;

template <class T>
concept UnaryOp = MapOfArity<T, 1>;
template <class T>
concept BinaryOp = MapOfArity<T, 2>;
template <class T>
concept AnyMap = arity<T> != 0;

namespace detail {
// Asked only of what is no map: naming a map's member for a type would instantiate its body.
#define STROP_ON_DEVICE(member)                                                \
  template <class T, class Ctx>                                                \
  constexpr bool member##_on() {                                               \
    if constexpr (AnyMap<T>)                                                   \
      return false;                                                            \
    else                                                                       \
      return requires { signature_on<Ctx>(&T::member); } || requires {         \
        signature_on<Ctx>(&T::template member<float>);                         \
      } || requires { signature_on<Ctx>(&T::template member<std::int64_t>); }; \
  }                                                                            \
  template <class T>                                                           \
  constexpr bool member##_on_any() {                                           \
    if constexpr (member##_on<T, Cpu>())                                       \
      return true;                                                             \
    else                                                                       \
      return member##_on<T, Cuda>();                                           \
  }
STROP_ON_DEVICE(forward)
STROP_ON_DEVICE(grad_use_in)
STROP_ON_DEVICE(grad_use_out)
STROP_ON_DEVICE(grad_use_none)
STROP_ON_DEVICE(grad_use_in_out)
STROP_ON_DEVICE(grad)
#undef STROP_ON_DEVICE
}  // namespace detail

/// A tensor operator: `forward(ctx, in…, out…) const` on views, for one device at least.
template <class T>
concept TensorOp = detail::NamesForward<T> && detail::forward_on_any<T>();

namespace detail {
template <class A>
inline constexpr bool is_sparse_view = false;
template <class E>
inline constexpr bool is_sparse_view<CsrView<E>> = true;
template <class E>
inline constexpr bool is_sparse_view<RowSparseView<E>> = true;
template <class E>
inline constexpr bool is_sparse_view<CsrResult<E>> = true;
template <class E>
inline constexpr bool is_sparse_view<RowSparseResult<E>> = true;
template <class... A>
constexpr bool any_sparse_view(std::type_identity<std::tuple<A...>>) {
  return (is_sparse_view<std::remove_cvref_t<A>> || ...);
}
/// forward takes sparse views of that device.
template <class T, class Ctx>
constexpr bool sparse_forward_on() {
  if constexpr (!forward_on<T, Ctx>())
    return false;
  else if constexpr (requires { signature_on<Ctx>(&T::forward); })
    return any_sparse_view(decltype(signature_on<Ctx>(&T::forward)){});
  else if constexpr (requires { signature_on<Ctx>(&T::template forward<float>); })
    return any_sparse_view(decltype(signature_on<Ctx>(&T::template forward<float>)){});
  else
    return any_sparse_view(decltype(signature_on<Ctx>(&T::template forward<std::int64_t>)){});
}
}  // namespace detail

/// Computes on sparse storages: `forward(ctx, in…, out…)` takes a CsrView, RowSparseView, CsrResult or RowSparseResult,
/// or there are overloads of `forward_sparse<E>(ctx, in…, out…)` on those and dense views, one per combination;
/// `static constexpr int sparse_tensors` says how many tensors these take.
template <class T>
concept SparseOp = requires {
  T::sparse_tensors;
} || (detail::NamesForward<T> && (detail::sparse_forward_on<T, Cpu>() || detail::sparse_forward_on<T, Cuda>()));

/// A plain struct that is one of these.
template <class T>
concept Operator = AnyMap<T> || TensorOp<T> || SparseOp<T>;

namespace detail {
/// A member of that name is there and is no parameter, which may have any name.
#define STROP_NAMES(Concept, member)                                       \
  template <class T>                                                       \
  concept Concept = Plain<T> && !requires { &NamedMembers<T>::member; } && \
                    !requires { requires std::is_member_object_pointer_v<decltype(&T::member)>; };
STROP_NAMES(NamesGradUseIn, grad_use_in)
STROP_NAMES(NamesGradUseOut, grad_use_out)
STROP_NAMES(NamesGradUseNone, grad_use_none)
STROP_NAMES(NamesGradUseInOut, grad_use_in_out)
STROP_NAMES(NamesGradient, gradient)
STROP_NAMES(NamesGrad, grad)
STROP_NAMES(NamesMakeState, make_state)
STROP_NAMES(NamesResources, resources)
STROP_NAMES(NamesInferShape, infer_shape)
STROP_NAMES(NamesInferType, infer_type)
STROP_NAMES(NamesInferStorage, infer_storage)
STROP_NAMES(NamesInplace, inplace)
STROP_NAMES(NamesMutates, mutates)
STROP_NAMES(NamesInputs, inputs)
STROP_NAMES(NamesOutputs, outputs)
STROP_NAMES(NamesAux, aux)
STROP_NAMES(NamesVisible, visible)
STROP_NAMES(NamesInputCount, input_count)
STROP_NAMES(NamesOutputCount, output_count)
STROP_NAMES(NamesVisibleCount, visible_count)
STROP_NAMES(NamesDtypes, dtypes)
STROP_NAMES(NamesAliases, aliases)
STROP_NAMES(NamesDoc, doc)
STROP_NAMES(NamesNotes, notes)
STROP_NAMES(NamesRange, range)
#undef STROP_NAMES

using NameList = std::span<const std::string_view>;
template <class T>
concept StatesAux = requires { NameList(T::aux); };
/// Names that follow from the parameters: `std::vector<std::string_view> inputs() const`, views of what lives for ever.
template <class T>
concept NamesInputsByCall = requires(const T& op) { std::vector<std::string_view>(op.inputs()); };
template <class T>
concept NamesOutputsByCall = requires(const T& op) { std::vector<std::string_view>(op.outputs()); };
/// A number, not a parameter of that name.
template <class T>
concept StatesVisible = requires {
  int{T::visible};
  requires !std::is_member_object_pointer_v<decltype(&T::visible)>;
};

/// What make_state gives when it takes N shapes.
template <class T, std::size_t... I>
auto state_type(std::index_sequence<I...>)
    -> std::type_identity<decltype(std::declval<const T&>().make_state(  // an alias that drops I confuses nvcc
        std::declval<Cpu&>(), (static_cast<void>(I), std::declval<const Shape&>())...))>;
/// How many shapes make_state takes; −1 where it cannot be called with shapes.
template <class T, int N = 0>
constexpr int state_shapes() {
  if constexpr (N > 6)
    return -1;
  else if constexpr (requires { state_type<T>(std::make_index_sequence<std::size_t{N}>{}); })
    return N;
  else
    return state_shapes<T, N + 1>();
}

// A stated gradient takes a head gradient per result; of an output, all of them.
template <class T, std::size_t... I, std::size_t... M>
constexpr bool map_grad_in(std::index_sequence<I...>, std::index_sequence<M...>) {
  return requires(const T& op, Repeat<M, Probe>... dy, Repeat<I, Probe>... x) { op.grad_use_in(dy..., x...); };
}
template <class T, std::size_t... M>
constexpr bool map_grad_out(std::index_sequence<M...>) {
  return requires(const T& op, Repeat<M, Probe>... dy, Repeat<M, Probe>... y) { op.grad_use_out(dy..., y...); };
}
template <class T, std::size_t... M>
constexpr bool map_grad_none(std::index_sequence<M...>) {
  return requires(const T& op, Repeat<M, Probe>... dy) { op.grad_use_none(dy...); };
}
template <class T, std::size_t... I, std::size_t... M>
constexpr bool map_grad_in_out(std::index_sequence<I...>, std::index_sequence<M...>) {
  return requires(const T& op, Repeat<M, Probe>... dy, Repeat<I, Probe>... x, Repeat<M, Probe>... y) {
    op.grad_use_in_out(dy..., x..., y...);
  };
}
template <class T>
using EachInput = std::make_index_sequence<arity<T>>;
template <class T>
using EachResult = std::make_index_sequence<results<T>>;
#define STROP_HAS_GRAD(member, of_a_map) \
  template <class T>                     \
  constexpr bool has_##member() {        \
    if constexpr (AnyMap<T>)             \
      return of_a_map;                   \
    else                                 \
      return member##_on_any<T>();       \
  }
STROP_HAS_GRAD(grad_use_in, (map_grad_in<T>(EachInput<T>{}, EachResult<T>{})))
STROP_HAS_GRAD(grad_use_in_out, (map_grad_in_out<T>(EachInput<T>{}, EachResult<T>{})))
STROP_HAS_GRAD(grad_use_out, map_grad_out<T>(EachResult<T>{}))
STROP_HAS_GRAD(grad_use_none, map_grad_none<T>(EachResult<T>{}))
#undef STROP_HAS_GRAD
}  // namespace detail

/// States its gradient from the head gradient and the inputs.
///  Map: `grad_use_in(dy…, x…)`, a dy for each result, one number or a tuple of one per input. Tensor:
///  `grad_use_in(ctx, dy…, in…, din…)`.
template <class T>
concept HasGradUseIn = detail::NamesGradUseIn<T> && detail::has_grad_use_in<T>();
/// From the head gradient and the output: `grad_use_out(dy…, y…)`; tensor `grad_use_out(ctx, dy…, out…, din…)`.
template <class T>
concept HasGradUseOut = detail::NamesGradUseOut<T> && detail::has_grad_use_out<T>();
/// From the head gradient alone: `grad_use_none(dy…)`; tensor `grad_use_none(ctx, dy…, din…)`.
template <class T>
concept HasGradUseNone = detail::NamesGradUseNone<T> && detail::has_grad_use_none<T>();
/// From everything: `grad_use_in_out(dy…, x…, y…)`; tensor `grad_use_in_out(ctx, dy…, in…, out…, din…)`.
template <class T>
concept HasGradUseInOut = detail::NamesGradUseInOut<T> && detail::has_grad_use_in_out<T>();
/// A tensor operator's gradient whose arguments are tagged with the tensors that they are: `grad(ctx, …)` with
/// `Head<"output", V>`, `In<"weight", V>`, `Out<"output", V>`, `Grad<"data", V>` (op/tags.hpp).
template <class T>
concept HasGrad = detail::NamesGrad<T> && detail::grad_on_any<T>();
/// `gradient(dy, x…)` written with operators: it works on arrays and on symbols, to any order.
template <class T>
concept GradComposes = detail::NamesGradient<T>;

/// Names of inputs and outputs: `static constexpr std::string_view inputs[] = {"data", "weight"};`. How many of them a
/// call of a tensor operator has may follow from the parameters: `int input_count() const`, `output_count`,
/// `visible_count`; the names as well: `std::vector<std::string_view> inputs() const`, `outputs`.
template <class T>
concept NamesArguments = requires { detail::NameList(T::inputs); } || requires { detail::NameList(T::outputs); } ||
                         detail::StatesAux<T> || detail::NamesInputsByCall<T> || detail::NamesOutputsByCall<T>;
/// Inputs that forward writes, by name: `static constexpr std::string_view mutates[] = {"moving_mean"};`, or `aux[]`,
/// whose names follow those of `inputs`.
template <class T>
concept MutatesInputs = requires { detail::NameList(T::mutates); } || detail::StatesAux<T>;
/// `static constexpr auto dtypes = strop::floating | strop::integral;`
template <class T>
concept ServesTypes = requires {
  requires std::convertible_to<decltype((T::dtypes)), DtypeSet>;
  requires !std::is_member_object_pointer_v<decltype(&T::dtypes)>;
};
/// `void infer_shape(strop::Shapes& shapes) const`: takes what is known of inputs and outputs and adds to it.
template <class T>
concept InfersShape = requires(const T& op, Shapes& shapes) {
  { op.infer_shape(shapes) } -> std::same_as<void>;
};
/// `void infer_type(strop::Types& types) const`
template <class T>
concept InfersType = requires(const T& op, Types& types) {
  { op.infer_type(types) } -> std::same_as<void>;
};
/// `bool infer_storage(strop::Storages& storages) const`: false asks for the dense fallback. A map's is asked where an
/// input is sparse, after the derivation; a storage that does not follow from the map's body is refused.
template <class T>
concept InfersStorage = requires(const T& op, Storages& storages) {
  { op.infer_storage(storages) } -> std::same_as<bool>;
};
/// `static constexpr strop::Share inplace[] = {{0, 0}};`: output may use the memory of input.
template <class T>
concept InplaceOption = requires { std::span<const Share>(T::inplace); };
/// `static constexpr strop::Resources resources{.random = true};`, or `strop::Resources resources(std::span<const
/// strop::Shape> inputs) const` where it depends on the shapes: random numbers, bytes of temporary space. The space is
/// taken before forward begins, so that a call that cannot have it fails before anything is written.
template <class T>
concept RequestsResource = requires { requires std::convertible_to<decltype((T::resources)), Resources>; } ||
                           requires(const T& op, std::span<const Shape> in) {
                             { op.resources(in) } -> std::convertible_to<Resources>;
                           };
/// A tensor operator that keeps more than tensors between forward and backward: `auto make_state(strop::Cpu& ctx, const
/// strop::Shape& input…) const`, a shape per input, makes it; forward and the gradient's member take it by reference
/// after ctx. A call has a state of its own; a node of a bound graph keeps one through all its runs.
template <class T>
concept HasState = detail::NamesMakeState<T> && detail::state_shapes<T>() >= 0;
/// Documentation that a struct states: `doc`, `aliases`, `notes`, `range`.
template <class T>
concept Documents =
    requires { T::doc; } || requires { T::aliases; } || requires { T::notes; } || requires { T::range; };

}  // namespace strop::inline v0
