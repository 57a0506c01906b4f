// SPDX-License-Identifier: Apache-2.0
/// \file
/// Op<T>: the callable of an operator. Naming it registers T; calling it runs T on arrays, symbols or numbers.
#pragma once
#include <strop/core/few.hpp>
#include <strop/op/diagnose.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/registry.hpp>
#include <strop/op/tensor_entry.hpp>

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#if defined(__CUDACC__)
#include <strop/cuda/enrol.hpp>
#endif

namespace strop::inline v0 {

// In a call, `{}` stands for the parameters and for nothing else: whatever may stand beside them has a constructor.

/// Where results go: `strop::into(y)` overwrites y, `strop::add_to(y)` adds to it.
struct Into {
  std::vector<NDArray> arrays;
  Request request;
  Into(std::vector<NDArray> ys, Request r) : arrays(std::move(ys)), request(r) {}
};
/// A single array as target; what into() of one array gives. Without one a call makes its result.
struct IntoOne {
  const NDArray* array;
  Request request;
  IntoOne(const NDArray* y, Request r) : array(y), request(r) {}
};
inline IntoOne into(const NDArray& y) { return {&y, Request::write}; }
inline IntoOne add_to(const NDArray& y) { return {&y, Request::add}; }
/// Several outputs, in their order; an empty handle lets the operator make one.
inline Into into(std::vector<NDArray> ys) { return {std::move(ys), Request::write}; }
inline Into add_to(std::vector<NDArray> ys) { return {std::move(ys), Request::add}; }

/// The library's way to declare a callable: it registers when it is called.
struct OnUse {};

namespace detail {

inline IntoOne anew() { return {nullptr, Request::write}; }

/// An input of a call: an array or a symbol.
template <class N>
struct Given {
  const N* node;
  Given(const N& n) : node(&n) {}
};

Symbol make_node(const Entry& entry, const void* op, std::span<const Symbol> in, std::string_view name);

/// Symbol, looked at only where a call is instantiated: the layer that defines it comes later.
template <class T>
struct SymbolOf {
  using type = Symbol;
};

inline namespace STROP_ISA {
#if defined(__AVX512F__)
inline constexpr int isa_level = 3;
inline bool isa_runs_here() { return __builtin_cpu_supports("avx512f"); }
#elif defined(__AVX2__)
inline constexpr int isa_level = 2;
inline bool isa_runs_here() { return __builtin_cpu_supports("avx2"); }
#else
inline constexpr int isa_level = 1;
inline bool isa_runs_here() { return true; }
#endif

template <class T, bool Library>
const Entry& entry_for() {
  if constexpr (Library)
    return LibraryEntryOf<T>::value;
  else
    return EntryOf<T>::value;
}

/// Puts the entry of a user's T into its slot when the program starts: the only thing that happens before main.
template <class T>
struct Enroller {
  Enroller() { enrol(slot<T>, EntryOf<T>::value, isa_level, isa_runs_here()); }
  static const Enroller instance;
};
template <class T>
inline const Enroller<T> Enroller<T>::instance{};

/// The same for an operator of the library, when it is first called: what is never called is never built.
template <class T>
struct LibraryEnroller {
  static inline constinit std::atomic<bool> done{false};
  static void run() {
    if (done.load(std::memory_order_acquire)) return;
    enrol(slot<T>, LibraryEntryOf<T>::value, isa_level, isa_runs_here());
    done.store(true, std::memory_order_release);
  }
};

#if defined(__CUDACC__)
/// Adds the GPU's kernels to T's slot when the program starts, also where the calls that the linker keeps are those of
/// an object that has none.
template <class T>
struct GpuEnroller {
  GpuEnroller() { slot<T>.cuda.store(cuda::launch_of<T>(), std::memory_order_release); }
  static const GpuEnroller instance;
};
template <class T>
inline const GpuEnroller<T> GpuEnroller<T>::instance{};
#endif
}  // namespace STROP_ISA

/// A type whose naming makes the enroller of a user's operator come to life.
template <const auto* Instance>  // not a reference, which nvcc hands on to the host compiler as a pointer
struct Uses {};
template <class T, bool Library>
struct RegistersIf {
  using type = void;
};
template <class T>
struct RegistersIf<T, false> {
  static_assert(diagnose<T>());
  using type = Uses<&Enroller<T>::instance>;
#if defined(__CUDACC__)
  using OnGpu = Uses<&GpuEnroller<T>::instance>;
#endif
};
template <class T, bool Library>
using Registers = typename RegistersIf<T, Library>::type;

/// The entry in use; before main has begun it may not be enrolled yet.
template <class T, bool Library>
const Entry& entry_in_use() {
#if defined(__CUDACC__)
  (void)&GpuEnroller<T>::instance;
#endif
  if constexpr (Library)
    LibraryEnroller<T>::run();
  else
    (void)&Enroller<T>::instance;
  const Entry* entry = slot<T>.entry.load(std::memory_order_acquire);
  return entry != nullptr ? *entry : entry_for<T, Library>();
}

/// A number of the library, or a plain one.
template <class X>
inline constexpr bool is_number = std::is_arithmetic_v<X>;
template <class R>
inline constexpr bool is_number<number::Num<R>> = true;
template <class S>
inline constexpr bool is_number<number::Dual<S>> = true;
template <class R>
inline constexpr bool is_number<number::Facts<R>> = true;
template <class S>
inline constexpr bool is_number<number::Mask<S>> = true;
template <class X>
concept AnyNumber = is_number<X>;

/// Runs a call of `out.size()` outputs, the first of them into `targets`.
inline void run_into(const Entry& entry, const void* op, Inputs in, std::span<const NDArray> targets, Request request,
                     Site site, std::span<NDArray> out) {
  if (targets.size() > out.size())
    fail(entry.snake, ": ", targets.size(), " arrays were given for ", out.size(), " outputs");
  for (std::size_t i = 0; i < targets.size(); ++i) out[i] = targets[i];
  Few<Request, 8> requests(targets.size());
  for (Request& r : requests) r = request;
  dispatch(entry, op, in, out, requests, site);
}

/// Runs T and gives its visible outputs: an array, or several.
template <class T, bool Library>
auto run(const T& op, Inputs in, std::span<const NDArray> targets, Request request, Site site) {
  static_assert(diagnose<T>());
  const Entry& entry = entry_in_use<T, Library>();
  if constexpr (AnyMap<T>) {
    constexpr std::size_t outputs = results<T> - stated_mutated<T>().size();
    std::array<NDArray, outputs> out;
    if constexpr (outputs == 1) {
      if (!targets.empty()) out[0] = targets[0];
      dispatch(entry, &op, in, out, {&request, 1}, site);
      return std::move(out[0]);
    } else {
      run_into(entry, &op, in, targets, request, site, out);
      return std::vector<NDArray>(out.begin(), out.end());
    }
  } else if constexpr (requires { op.output_count(); }) {
    std::vector<NDArray> out(static_cast<std::size_t>(op.output_count()));
    run_into(entry, &op, in, targets, request, site, out);
    out.resize(static_cast<std::size_t>(TensorShape<T>::visible_count(op)));
    return out;
  } else {
    std::array<NDArray, static_cast<std::size_t>(TensorShape<T>::outputs)> out;
    run_into(entry, &op, in, targets, request, site, out);
    if constexpr (TensorShape<T>::visible == 1)
      return std::move(out[0]);
    else
      return std::vector<NDArray>(out.begin(), out.begin() + TensorShape<T>::visible_count(op));
  }
}

/// The calls with N inputs. The pack belongs to the class, so that `{.a = 1}` stays a plain T.
template <class T, bool Library, class I>
struct Calls;
template <class T, bool Library, std::size_t... I>
struct Calls<T, Library, std::index_sequence<I...>> {
  static constexpr std::size_t count = sizeof...(I);

  auto operator()(Repeat<I, Given<NDArray>>... in, const T& p = {}, IntoOne y = anew(),
                  Site site = Site::current()) const {
    check_count();
    const std::array<const NDArray*, count> inputs{in.node...};
    return detail::run<T, Library>(
        p, inputs, y.array == nullptr ? std::span<const NDArray>() : std::span<const NDArray>(y.array, 1), y.request,
        site);
  }
  auto operator()(Repeat<I, Given<NDArray>>... in, IntoOne y, Site site = Site::current()) const {
    return (*this)(in..., T{}, y, site);
  }
  auto operator()(Repeat<I, Given<NDArray>>... in, const T& p, const Into& y, Site site = Site::current()) const {
    check_count();
    const std::array<const NDArray*, count> inputs{in.node...};
    return detail::run<T, Library>(p, inputs, y.arrays, y.request, site);
  }
  typename SymbolOf<T>::type operator()(Repeat<I, Given<Symbol>>... in, const T& p = {},
                                        std::string_view name = {}) const
    requires(count != 0)
  {
    check_count();
    return make_node(entry_in_use<T, Library>(), &p, std::array<Symbol, count>{*in.node...}, name);
  }

 private:
  static constexpr void check_count() {
    if constexpr (AnyMap<T>) static_assert(arity<T> == count, "strop: the operator takes another number of inputs");
  }
};

}  // namespace detail

/// The callable of operator T. `inline constexpr strop::Op<Quadratic> quadratic;` names it and thereby registers T.
///
/// Calls: `f(x…)`, `f(x…, {.a = 1})`, `f(x…, {.a = 1}, strop::into(y))`, `f(x…, strop::add_to(y))` on arrays; `f(s…)`,
/// `f(s…, {.a = 1}, "name")` on symbols; `f(k…)` on numbers. Operators with an open number of inputs take a list:
/// `f({a, b})`.
template <class T, class When = void>
struct Op : detail::Calls<T, std::is_same_v<When, OnUse>, std::make_index_sequence<0>>,
            detail::Calls<T, std::is_same_v<When, OnUse>, std::make_index_sequence<1>>,
            detail::Calls<T, std::is_same_v<When, OnUse>, std::make_index_sequence<2>>,
            detail::Calls<T, std::is_same_v<When, OnUse>, std::make_index_sequence<3>>,
            detail::Calls<T, std::is_same_v<When, OnUse>, std::make_index_sequence<4>>,
            detail::Calls<T, std::is_same_v<When, OnUse>, std::make_index_sequence<5>>,
            detail::Calls<T, std::is_same_v<When, OnUse>, std::make_index_sequence<6>> {
  static constexpr bool library = std::is_same_v<When, OnUse>;
  using detail::Calls<T, library, std::make_index_sequence<0>>::operator();
  using detail::Calls<T, library, std::make_index_sequence<1>>::operator();
  using detail::Calls<T, library, std::make_index_sequence<2>>::operator();
  using detail::Calls<T, library, std::make_index_sequence<3>>::operator();
  using detail::Calls<T, library, std::make_index_sequence<4>>::operator();
  using detail::Calls<T, library, std::make_index_sequence<5>>::operator();
  using detail::Calls<T, library, std::make_index_sequence<6>>::operator();

  /// Any number of inputs, as a list.
  auto operator()(std::initializer_list<NDArray> in, const T& p = {}, IntoOne y = detail::anew(),
                  detail::Site site = detail::Site::current()) const {
    return (*this)(std::span<const NDArray>(in.begin(), in.size()), p, y, site);
  }
  auto operator()(std::span<const NDArray> in, const T& p = {}, IntoOne y = detail::anew(),
                  detail::Site site = detail::Site::current()) const {
    std::vector<const NDArray*> inputs;
    for (const NDArray& a : in) inputs.push_back(&a);
    return detail::run<T, library>(
        p, inputs, y.array == nullptr ? std::span<const NDArray>() : std::span<const NDArray>(y.array, 1), y.request,
        site);
  }
  typename detail::SymbolOf<T>::type operator()(std::initializer_list<typename detail::SymbolOf<T>::type> in,
                                                const T& p = {}, std::string_view name = {}) const {
    return (*this)(std::span<const Symbol>(in.begin(), in.size()), p, name);
  }
  typename detail::SymbolOf<T>::type operator()(std::span<const Symbol> in, const T& p = {},
                                                std::string_view name = {}) const {
    using detail::make_node;
    return make_node(detail::entry_in_use<T, library>(), &p, in, name);
  }

  /// On numbers: the body itself. `strop::exp(1.0)` is a double, `strop::exp(1.0f)` a float.
  template <detail::AnyNumber... X>
    requires(sizeof...(X) > 0)
  constexpr auto operator()(X... x) const {
    if constexpr ((std::is_arithmetic_v<X> && ...)) {
      using C = std::common_type_t<X...>;
      using R = std::conditional_t<std::is_floating_point_v<C>, C, double>;
      return detail::as_number<number::Num<R>>(on_numbers(number::Num<R>(x)...)).v;
    } else
      return on_numbers(x...);
  }

  // Naming Op<T> instantiates this, and so registers a user's operator.
  using Registered = detail::Registers<T, library>;

  /// The operator in the registry.
  static const Entry& entry() { return detail::entry_in_use<T, library>(); }

 private:
  /// An operator whose name means something else on numbers (max of two) says so by on_numbers; a map runs its body.
  template <class... X>
  static constexpr auto on_numbers(X... x) {
    if constexpr (requires { T::template on_numbers<X...>(x...); })
      return T::on_numbers(x...);
    else
      return T{}.forward(x...);
  }
};

}  // namespace strop::inline v0
