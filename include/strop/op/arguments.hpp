// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reads the signature of a tensor operator's member and calls it with arrays: ranks and element types checked, views
/// made.
#pragma once
#include <strop/op/concepts.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/names.hpp>
#include <strop/op/place.hpp>
#include <strop/op/sparse_result.hpp>
#include <strop/op/tags.hpp>
#include <strop/tensor/ndarray.hpp>

#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

namespace strop::inline v0::detail {

template <class A>
struct ArgOf {
  static_assert(
      !sizeof(A),
      "strop: forward takes (ctx, strop::View<const E, N> in..., strop::View<E, N> out...), std::span of such views, "
      "strop::CsrView / RowSparseView / CsrResult / RowSparseResult, strop::DenseResult<E, N>& for what has its shape "
      "from the data, or whole arrays (const strop::NDArray& in..., "
      "std::span<const strop::NDArray>, strop::NDArray& out..., std::span<strop::NDArray>)");
};
// Whole arrays, for an operator on several storages. Of a member that is a template for elements E they have the type
// E, else any type. NDArray by value stands inside a tag.
template <>
struct ArgOf<const NDArray&> {
  static constexpr ArgInfo info{.whole = true};
};
template <>
struct ArgOf<NDArray&> {
  static constexpr ArgInfo info{.writes = true, .whole = true};
};
template <>
struct ArgOf<NDArray> : ArgOf<const NDArray&> {};
template <>
struct ArgOf<std::span<const NDArray>> {
  static constexpr ArgInfo info{.variadic = true, .whole = true};
};
template <>
struct ArgOf<std::span<NDArray>> {
  static constexpr ArgInfo info{.writes = true, .variadic = true, .whole = true};
};
template <class E, int R>
struct ArgOf<View<E, R>> {
  static constexpr ArgInfo info{.writes = !std::is_const_v<E>, .rank = R, .dtype = dtype_of<E>};
};
template <class E, int R>
struct ArgOf<std::span<const View<E, R>>> {
  static constexpr ArgInfo info{.writes = !std::is_const_v<E>, .variadic = true, .rank = R, .dtype = dtype_of<E>};
};
template <class E>
struct ArgOf<CsrView<E>> {
  static constexpr ArgInfo info{.storage = csr, .rank = 2, .dtype = dtype_of<E>};
};
template <class E>
struct ArgOf<RowSparseView<E>> {
  static constexpr ArgInfo info{.storage = row_sparse, .dtype = dtype_of<E>};
};
template <class E>
struct ArgOf<CsrResult<E>&> {
  static constexpr ArgInfo info{.writes = true, .storage = csr, .rank = 2, .dtype = dtype_of<E>};
};
template <class E>
struct ArgOf<CsrResult<E>> : ArgOf<CsrResult<E>&> {};
template <class E>
struct ArgOf<RowSparseResult<E>&> {
  static constexpr ArgInfo info{.writes = true, .storage = row_sparse, .dtype = dtype_of<E>};
};
template <class E>
struct ArgOf<RowSparseResult<E>> : ArgOf<RowSparseResult<E>&> {};
template <class E, int R>
struct ArgOf<DenseResult<E, R>&> {
  static constexpr ArgInfo info{.writes = true, .found = true, .rank = R, .dtype = dtype_of<E>};
};
template <class E, int R>
struct ArgOf<DenseResult<E, R>> : ArgOf<DenseResult<E, R>&> {};
template <class A>
  requires requires { A::role; }
struct ArgOf<A> {
  static constexpr ArgInfo info = [] {
    ArgInfo i = ArgOf<typename A::Plain>::info;
    i.tagged = true;
    i.role = A::role;
    i.name = A::name;
    i.plain_writes = i.writes;
    i.writes = i.writes || i.role == Role::grad;
    return i;
  }();
};

template <class Tuple>
struct ArgInfos;
template <class... A>
struct ArgInfos<std::tuple<A...>> {
  static constexpr std::array<ArgInfo, sizeof...(A)> value{ArgOf<A>::info...};
};

// A member of an operator for the device of Ctx, by name: its signature for elements E (void: the member is no
// template of an element) and the call of it. A member that begins with `template <int = 0>` counts as no template; it
// is instantiated only where its operator is called.
#define STROP_MEMBER(Tag, member)                                                                                     \
  template <class Ctx>                                                                                                \
  struct Tag##On {                                                                                                    \
    using OnCuda = Tag##On<Cuda>;                                                                                     \
    template <class T>                                                                                                \
    static constexpr bool of() {                                                                                      \
      return member##_on<T, Ctx>();                                                                                   \
    }                                                                                                                 \
    template <class T, class E>                                                                                       \
    static constexpr bool has() {                                                                                     \
      if constexpr (std::is_void_v<E>)                                                                                \
        return requires { signature_on<Ctx>(&T::member); } || requires { signature_on<Ctx>(&T::template member<>); }; \
      else                                                                                                            \
        return requires { signature_on<Ctx>(&T::template member<E>); };                                               \
    }                                                                                                                 \
    template <class T, class E>                                                                                       \
    static constexpr auto signature() {                                                                               \
      if constexpr (!std::is_void_v<E>)                                                                               \
        return decltype(signature_on<Ctx>(&T::template member<E>)){};                                                 \
      else if constexpr (requires { signature_on<Ctx>(&T::member); })                                                 \
        return decltype(signature_on<Ctx>(&T::member)){};                                                             \
      else                                                                                                            \
        return decltype(signature_on<Ctx>(&T::template member<>)){};                                                  \
    }                                                                                                                 \
    template <class T, class... A>                                                                                    \
    static constexpr bool accepts(std::type_identity<std::tuple<A...>>) {                                             \
      return requires(const T& op, Ctx& ctx) { op.member(ctx, std::declval<A>()...); };                               \
    }                                                                                                                 \
    template <class E, class T, class... A>                                                                           \
    static constexpr void call(const T& op, Ctx& ctx, A&&... args) {                                                  \
      if constexpr (std::is_void_v<E>)                                                                                \
        op.member(ctx, args...);                                                                                      \
      else                                                                                                            \
        op.template member<E>(ctx, args...);                                                                          \
    }                                                                                                                 \
  };                                                                                                                  \
  using Tag = Tag##On<Cpu>;
STROP_MEMBER(ForwardMember, forward)
STROP_MEMBER(GradMember, grad)
STROP_MEMBER(GradUseInMember, grad_use_in)
STROP_MEMBER(GradUseOutMember, grad_use_out)
STROP_MEMBER(GradUseNoneMember, grad_use_none)
STROP_MEMBER(GradUseInOutMember, grad_use_in_out)
#undef STROP_MEMBER

/// The state that T's members may take after ctx.
template <class T>
struct StateTaken {
  using type = void;
};
template <HasState T>
struct StateTaken<T> {
  using type =
      typename decltype(state_type<T>(std::make_index_sequence<static_cast<std::size_t>(state_shapes<T>())>{}))::type;
};
template <class S, class Tuple>
struct WithoutState {
  using type = Tuple;
  static constexpr bool taken = false;
};
template <class S, class... A>
struct WithoutState<S, std::tuple<S&, A...>> {
  using type = std::tuple<A...>;
  static constexpr bool taken = true;
};

template <class M, class T, class E>
using Stateless = WithoutState<typename StateTaken<T>::type, typename decltype(M::template signature<T, E>())::type>;
/// The tensors that a member takes.
template <class M, class T, class E>
using SignatureFor = typename Stateless<M, T, E>::type;

/// The element types that a member serves, and which of its parameters follow the element type.
template <class M, class T>
struct Served {
  static constexpr bool generic = M::template has<T, float>() || M::template has<T, double>() ||
                                  M::template has<T, std::int64_t>() || M::template has<T, std::int32_t>() ||
                                  M::template has<T, std::uint8_t>() || M::template has<T, bool>();
  template <class E>
  static constexpr bool serves() {
    if constexpr (generic)
      return M::template has<T, E>();
    else
      return false;
  }
  static constexpr DtypeSet types = [] {
    DtypeSet set;
    if constexpr (generic)
      [&]<class... E>(std::type_identity<E>...) { ((set = serves<E>() ? set | DtypeSet(dtype_of<E>) : set), ...); }(
          std::type_identity<float>{}, std::type_identity<double>{}, std::type_identity<half>{},
          std::type_identity<bfloat16>{}, std::type_identity<std::uint8_t>{}, std::type_identity<std::int8_t>{},
          std::type_identity<std::int32_t>{}, std::type_identity<std::int64_t>{}, std::type_identity<bool>{});
    return set;
  }();
  /// Any type that is served, for what does not depend on it.
  using First = std::conditional_t<
      !generic, void,
      std::conditional_t<serves<float>(), float,
                         std::conditional_t<serves<double>(), double,
                                            std::conditional_t<serves<std::int64_t>(), std::int64_t, std::int32_t>>>>;
  /// Another one, where there is.
  template <class E>
  static constexpr bool other = serves<E>() && !std::is_same_v<E, First>;
  using OtherWhole = std::conditional_t<
      other<std::int32_t>, std::int32_t,
      std::conditional_t<other<std::uint8_t>, std::uint8_t, std::conditional_t<other<bool>, bool, First>>>;
  using Second = std::conditional_t<
      !generic, void,
      std::conditional_t<other<double>, double, std::conditional_t<other<std::int64_t>, std::int64_t, OtherWhole>>>;
  static constexpr auto infos = [] {
    auto list = ArgInfos<SignatureFor<M, T, First>>::value;
    constexpr auto others = ArgInfos<SignatureFor<M, T, Second>>::value;
    for (std::size_t k = 0; k < list.size(); ++k) {
      list[k].follows = list[k].whole;
      if constexpr (generic) list[k].follows |= list[k].dtype == dtype_of<First> && others[k].dtype == dtype_of<Second>;
    }
    return list;
  }();
  static constexpr std::size_t count = infos.size();
  /// Whether the member takes whole arrays of any type: it has some and is no template.
  static constexpr bool any_type = !generic && [] {
    for (const ArgInfo& info : infos)
      if (info.whole) return true;
    return false;
  }();
  static constexpr bool takes(Dtype type) { return any_type || types.contains(type); }
};

/// The member of the name M that says which tensors T takes: the CPU's, unless T has one for GPUs alone.
template <class M, class T>
using Says = std::conditional_t<M::template of<T>(), M, typename M::OnCuda>;

/// Whether T's member M for a GPU, if there is one, takes the tensors that M takes on the CPU.
template <class M, class T>
constexpr bool same_on_gpu() {
  using E = typename Served<M, T>::First;
  if constexpr (M::OnCuda::template has<T, E>())
    return std::is_same_v<SignatureFor<M, T, E>, SignatureFor<typename M::OnCuda, T, E>>;
  else  // not of the same kind: a template where the other is none
    return !M::OnCuda::template has<T, std::conditional_t<std::is_void_v<E>, float, void>>() &&
           !M::OnCuda::template accepts<T>(std::type_identity<SignatureFor<M, T, E>>{});
}

/// Makes the value of one parameter. Views of a variadic parameter live in `held` until the call returns.
template <class A>
struct Make {
  static A of(std::string_view, const Placed&);
};
template <class E, int R>
struct Make<View<E, R>> {
  struct Held {};
  static View<E, R> of(std::string_view op, const Placed& p, Held&) {
    if (p.array == nullptr || !p.array->defined() || (!p.array->allocated() && p.array->storage() == dense)) return {};
    p.check(op, ArgOf<View<E, R>>::info, *p.array);
    return view_of<E, R>(*p.array);
  }
};
template <class E, int R>
struct Make<std::span<const View<E, R>>> {
  using Held = std::vector<View<E, R>>;
  static std::span<const View<E, R>> of(std::string_view op, const Placed& p, Held& held) {
    for (Index i = 0; i < p.many(); ++i) {
      p.check(op, ArgOf<View<E, R>>::info, p[i]);
      held.push_back(view_of<E, R>(p[i]));
    }
    return held;
  }
};
template <class A>
  requires requires { A::role; }
struct Make<A> {
  using Plain = typename A::Plain;
  using Held = typename Make<Plain>::Held;
  static A of(std::string_view op, const Placed& p, Held& held) { return A{Make<Plain>::of(op, p, held)}; }
};
template <class E>
struct Make<CsrView<E>> {
  struct Held {};
  static CsrView<E> of(std::string_view op, const Placed& p, Held&) {
    p.check(op, ArgOf<CsrView<E>>::info, *p.array);
    return csr_view<E>(*p.array);
  }
};
template <class E>
struct Make<RowSparseView<E>> {
  struct Held {};
  static RowSparseView<E> of(std::string_view op, const Placed& p, Held&) {
    p.check(op, ArgOf<RowSparseView<E>>::info, *p.array);
    return row_sparse_view<E>(*p.array);
  }
};
/// A sparse result is a handle: by reference or by value it fills the same array.
template <class R>
struct MakeResult {
  using Held = R;
  static R& of(std::string_view op, const Placed& p, Held& held) {
    p.check(op, ArgOf<R>::info, *p.array);
    held = R(*p.array);
    return held;
  }
};
template <class E>
struct Make<CsrResult<E>&> : MakeResult<CsrResult<E>> {};
template <class E>
struct Make<CsrResult<E>> : MakeResult<CsrResult<E>> {};
template <class E>
struct Make<RowSparseResult<E>&> : MakeResult<RowSparseResult<E>> {};
template <class E>
struct Make<RowSparseResult<E>> : MakeResult<RowSparseResult<E>> {};

template <class E, int R>
struct Make<DenseResult<E, R>&> {
  using Held = DenseResult<E, R>;
  static Held& of(std::string_view op, const Placed& p, Held& held) {
    constexpr ArgInfo of_any_rank{.writes = true, .dtype = dtype_of<E>};
    p.check(op, of_any_rank, *p.array);
    return held = Held(*p.array);
  }
};
template <class E, int R>
struct Make<DenseResult<E, R>> : Make<DenseResult<E, R>&> {};

template <>
struct Make<const NDArray&> {
  using Held = NDArray;
  static const NDArray& of(std::string_view, const Placed& p, const Held& none) {
    return p.array != nullptr ? *p.array : none;
  }
};
template <>
struct Make<NDArray&> {
  using Held = NDArray;
  static NDArray& of(std::string_view, const Placed& p, Held& held) {
    if (p.array != nullptr) held = *p.array;
    return held;
  }
};
template <>
struct Make<std::span<const NDArray>> {
  using Held = std::vector<NDArray>;
  static std::span<const NDArray> of(std::string_view, const Placed& p, Held& held) {
    for (Index i = 0; i < p.many(); ++i) held.push_back(p[i]);
    return held;
  }
};
template <>
struct Make<std::span<NDArray>> {
  using Held = std::vector<NDArray>;
  static std::span<NDArray> of(std::string_view, const Placed& p, Held& held) {
    for (Index i = 0; i < p.many(); ++i) held.push_back(p[i]);
    return held;
  }
};
template <>
struct Make<NDArray> {
  struct Held {};
  static NDArray of(std::string_view, const Placed& p, Held&) { return p.array != nullptr ? *p.array : NDArray(); }
};

/// Calls member M of `op` for elements E with the placed arrays.
template <class M, class E, class T, class Ctx, class... A>
void call_member(const T& op, Ctx& ctx, std::string_view name, std::span<const Placed> placed,
                 std::type_identity<std::tuple<A...>>) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::tuple<typename Make<A>::Held...> held;
    // Braces: the arguments are made, and refused, in their order.
    std::tuple<A...> values{Make<A>::of(name, placed[I], std::get<I>(held))...};
    if constexpr (Stateless<M, T, E>::taken)
      M::template call<E>(op, ctx, *static_cast<typename StateTaken<T>::type*>(ctx.state()), std::get<I>(values)...);
    else
      M::template call<E>(op, ctx, std::get<I>(values)...);
  }(std::index_sequence_for<A...>{});
}

/// Calls member M for the element type `type`, or without one.
template <class M, class T, class Ctx>
void call_typed(const T& op, Ctx& ctx, std::string_view name, std::span<const Placed> placed, Dtype type) {
  if constexpr (!Served<M, T>::generic) {
    call_member<M, void>(op, ctx, name, placed, std::type_identity<SignatureFor<M, T, void>>{});
  } else {
    visit(type, [&]<class E>() {
      if constexpr (Served<M, T>::template serves<E>())
        call_member<M, E>(op, ctx, name, placed, std::type_identity<SignatureFor<M, T, E>>{});
      else
        fail_unserved(name, placed, Served<M, T>::types, dtype_of<E>);
    });
  }
}

}  // namespace strop::inline v0::detail
