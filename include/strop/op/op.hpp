// SPDX-License-Identifier: Apache-2.0
/// \file
/// Op<T>: the callable of an operator. Naming it registers T; calling it runs T on arrays, symbols or numbers.
#pragma once
#include <strop/core/list.hpp>
#include <strop/op/diagnose.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/refused_call.hpp>
#include <strop/op/registry.hpp>
#include <strop/op/target.hpp>
#include <strop/op/tensor_entry.hpp>

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

#if defined(__CUDACC__)
namespace cuda {
/// What GPUs run of T. The headers that users are told of bring its definition, which stands above this layer
/// (cuda/enrol.hpp): a .cu file includes strop/strop.hpp or strop/op.hpp.
template <class T>
const detail::Kernels* kernels_of();
}  // namespace cuda
#endif

/// The library's way to declare a callable: it registers when it is called.
struct OnUse {};

namespace detail {

inline Target no_target() { return {nullptr, 0, Request::write}; }

/// An input of a call: an array or a symbol.
template <class N>
struct Given {
  const N* node;
  Given(const N& n) : node(&n) {}
};

Symbol make_node(const Entry& entry, const void* op, std::span<const Symbol> in, std::string_view name);

inline namespace STROP_ISA {
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
  Enroller() { enrol(slot<T>, EntryOf<T>::value); }
  static const Enroller instance;
};
template <class T>
inline const Enroller<T> Enroller<T>::instance{};

/// The parameters of T as this file of the program knows them, "float a, int b", and a line for each alias. File is a
/// type that no other file has, so that the linker leaves each file its own.
template <class T, class File>
struct SeenIn {
  template <class Say>
  static constexpr void say_fields(const Say& say) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((say(I == 0 ? "" : ", "), say(Text<std::remove_cvref_t<decltype(*field_address<I>(std::declval<T&>()))>>::name),
        say(" "), say(field_name<T, I>)),
       ...);
    }(std::make_index_sequence<field_count<T>>{});
  }
  template <class Say>
  static constexpr void say_aliases(const Say& say) {
    say("\n");
    for (std::string_view alias : stated_aliases<T>()) say(alias), say("\n");
  }
  /// How many letters it says.
  static constexpr std::size_t letters_of(const auto& what) {
    std::size_t n = 0;
    what([&](std::string_view words) { n += words.size(); });
    return n;
  }
  static constexpr std::size_t end = letters_of([](const auto& say) { say_fields(say); }),
                               size = end + letters_of([](const auto& say) { say_aliases(say); });
  static constexpr std::array<char, size> text = [] {
    std::array<char, size> out{};
    std::size_t n = 0;
    const auto write = [&](std::string_view words) {
      for (char c : words) out[n++] = c;
    };
    say_fields(write);
    say_aliases(write);
    return out;
  }();
  static constexpr std::string_view all{text.data(), size};
  static constexpr TypeSeen type{operator_name<T>(), lower_name<T>, all.substr(0, end),
                                 all.substr(end),    __BASE_FILE__, sizeof(T)};

  SeenIn() { see(slot<T>, type); }
  static const SeenIn instance;
};
template <class T, class File>
inline const SeenIn<T, File> SeenIn<T, File>::instance{};

/// The same for an operator of the library, when it is first called: what is never called is never built.
template <class T>
struct LibraryEnroller {
  static inline constinit std::atomic<bool> done{false};
  static void run() {
    if (done.load(std::memory_order_acquire)) return;
    enrol(slot<T>, LibraryEntryOf<T>::value);
    done.store(true, std::memory_order_release);
  }
};

#if defined(__CUDACC__)
/// Adds the GPU's kernels to T's slot when the program starts, also where the calls that the linker keeps are those of
/// an object that has none.
template <class T>
struct GpuEnroller {
  GpuEnroller() { slot<T>.cuda.store(cuda::kernels_of<T>(), std::memory_order_release); }
  static const GpuEnroller instance;
};
template <class T>
inline const GpuEnroller<T> GpuEnroller<T>::instance{};
#endif
}  // namespace STROP_ISA

namespace {  // NOLINT(google-build-namespaces): in every file another type is meant
struct ThisFile;
}  // namespace

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
  using Seen = Uses<&SeenIn<T, ThisFile>::instance>;
#if defined(__CUDACC__)
  using OnGpu = Uses<&GpuEnroller<T>::instance>;
#endif
};
template <class T, bool Library>
using Registers = typename RegistersIf<T, Library>::type;

/// Whether the program is linked with a library that has every operator of ours, whose kernels no file of the program
/// builds again then.
#if defined(STROP_OPERATORS_COMPILED)
inline constexpr bool operators_compiled = true;
#else
inline constexpr bool operators_compiled = false;
#endif

/// The entry in use. Before main has begun it may not be enrolled yet; where the machine runs none, it is refused.
template <class T, bool Library, bool Linked = Library && operators_compiled>
const Entry& entry_in_use() {
#if defined(__CUDACC__)
  if constexpr (!Library || AnyMap<T>) (void)&GpuEnroller<T>::instance;  // the others come by cuda::Enrolled
#endif
  if constexpr (!Library)
    (void)&Enroller<T>::instance;
  else if constexpr (!Linked)
    LibraryEnroller<T>::run();
  const Entry* entry = slot<T>.entry.load(std::memory_order_acquire);
  if (entry == nullptr) [[unlikely]] {
    if constexpr (Linked) {  // nothing of the entry is instantiated
      refuse_unlinked(operator_name<T>());
    } else {
      if constexpr (!Library) check_seen(slot<T>);
      return runnable(entry_for<T, Library>());
    }
  }
  return *entry;
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
template <class S>
inline constexpr bool is_number<number::Whole<S>> = true;
template <>
inline constexpr bool is_number<number::Jet> = true;
template <class S>
inline constexpr bool is_number<number::Certain<S>> = true;
template <class X>
concept AnyNumber = is_number<X>;

/// A number that is whole as any other.
template <class X>
struct UnwrappedNumber {
  using type = X;
};
template <class S>
struct UnwrappedNumber<number::Whole<S>> {
  using type = S;
};
template <class X>
using Unwrapped = typename UnwrappedNumber<X>::type;

/// Runs T and gives its visible outputs: an array, or several.
template <class T, bool Library>
auto run(const T& op, Inputs in, Target y, Site site) {
  static_assert(diagnose<T>());
  const Entry& entry = entry_in_use<T, Library>();
  if constexpr (!AnyMap<T> && StatesOutputCount<T>) {
    std::vector<NDArray> out(unsigned_size(TensorShape<T>::output_count(op)));
    run_into(entry, &op, in, y, site, out);
    out.resize(unsigned_size(TensorShape<T>::visible_count(op)));
    return out;
  } else if constexpr (Counts<T>::out == 1) {
    return run_one(entry, &op, in, y, site);
  } else {
    std::array<NDArray, unsigned_size(Counts<T>::out)> out;
    run_into(entry, &op, in, y, site, out);
    if constexpr (AnyMap<T>) {
      if constexpr (map_visible<T> == 1)
        return std::move(out[0]);
      else
        return std::vector<NDArray>(out.begin(), out.begin() + map_visible<T>);
    } else if constexpr (TensorShape<T>::visible == 1) {
      return std::move(out[0]);
    } else {
      return std::vector<NDArray>(out.begin(), out.begin() + TensorShape<T>::visible_count(op));
    }
  }
}

}  // namespace detail

/// The callable of operator T. `inline constexpr strop::Op<Quadratic> quadratic;` names it and thereby registers T.
///
/// Calls: `f(x…)`, `f(x…, {.a = 1})`, `f(x…, {.a = 1}, strop::into(y))`, `f(x…, strop::add_to(y))` on arrays; `f(s…)`,
/// `f(s…, {.a = 1}, "name")` on symbols; `f(k…)` on numbers. Operators with an open number of inputs take a list:
/// `f({a, b})`.
template <class T, class When = void>
class Op {
  using Array = detail::Given<NDArray>;
  using Var = detail::Given<Symbol>;
  using Site = detail::Site;

 public:
  static constexpr bool library = std::is_same_v<When, OnUse>;

  // Every number of inputs is written out: a parameter pack would belong to a class of its own, of which the library's
  // operators would make two thousand, and no deduced type takes `{.a = 1}`. Results that nobody keeps are worth a
  // warning, unless they lie in an array that is there or the operator writes its inputs: where both forms of a call
  // fit, the one that is no template is chosen.
#define STROP_EACH(...) __VA_ARGS__
#define STROP_CALLS(inputs, arrays, symbols)                                                                       \
  [[nodiscard]] auto operator()(STROP_EACH arrays, const T& p = {}, Site site = Site::current()) const             \
    requires(!MutatesInputs<T>)                                                                                    \
  {                                                                                                                \
    return on_arrays(std::array{STROP_EACH inputs}, p, detail::no_target(), site);                                 \
  }                                                                                                                \
  template <int = 0>                                                                                               \
  auto operator()(STROP_EACH arrays, const T& p = {}, Target y = detail::no_target(), Site site = Site::current()) \
      const {                                                                                                      \
    return on_arrays(std::array{STROP_EACH inputs}, p, y, site);                                                   \
  }                                                                                                                \
  auto operator()(STROP_EACH arrays, Target y, Site site = Site::current()) const {                                \
    return on_arrays(std::array{STROP_EACH inputs}, T{}, y, site);                                                 \
  }                                                                                                                \
  [[nodiscard]] auto operator()(STROP_EACH symbols, const T& p = {}, std::string_view name = {}) const {           \
    return on_symbols(std::array{STROP_EACH inputs}, p, name);                                                     \
  }
  STROP_CALLS((a.node), (Array a), (Var a))
  STROP_CALLS((a.node, b.node), (Array a, Array b), (Var a, Var b))
  STROP_CALLS((a.node, b.node, c.node), (Array a, Array b, Array c), (Var a, Var b, Var c))
  STROP_CALLS((a.node, b.node, c.node, d.node), (Array a, Array b, Array c, Array d), (Var a, Var b, Var c, Var d))
  STROP_CALLS((a.node, b.node, c.node, d.node, e.node), (Array a, Array b, Array c, Array d, Array e),
              (Var a, Var b, Var c, Var d, Var e))
  STROP_CALLS((a.node, b.node, c.node, d.node, e.node, f.node), (Array a, Array b, Array c, Array d, Array e, Array f),
              (Var a, Var b, Var c, Var d, Var e, Var f))
#undef STROP_CALLS
#undef STROP_EACH
  [[nodiscard]] auto operator()(const T& p = {}, Site site = Site::current()) const {
    return on_arrays(std::array<const NDArray*, 0>{}, p, detail::no_target(), site);
  }
  auto operator()(const T& p, Target y, Site site = Site::current()) const {
    return on_arrays(std::array<const NDArray*, 0>{}, p, y, site);
  }
  auto operator()(Target y, Site site = Site::current()) const { return (*this)(T{}, y, site); }

  /// Any number of inputs, as a list.
  [[nodiscard]] auto operator()(std::initializer_list<NDArray> in, const T& p = {}, Site site = Site::current()) const
    requires(!MutatesInputs<T>)
  {
    return on_list({in.begin(), in.size()}, p, detail::no_target(), site);
  }
  template <int = 0>
  auto operator()(std::initializer_list<NDArray> in, const T& p = {}, Target y = detail::no_target(),
                  Site site = Site::current()) const {
    return on_list({in.begin(), in.size()}, p, y, site);
  }
  [[nodiscard]] auto operator()(std::span<const NDArray> in, const T& p = {}, Site site = Site::current()) const
    requires(!MutatesInputs<T>)
  {
    return on_list(in, p, detail::no_target(), site);
  }
  template <int = 0>
  auto operator()(std::span<const NDArray> in, const T& p = {}, Target y = detail::no_target(),
                  Site site = Site::current()) const {
    return on_list(in, p, y, site);
  }
  [[nodiscard]] auto operator()(std::initializer_list<Symbol> in, const T& p = {}, std::string_view name = {}) const {
    return on_symbols(in, p, name);
  }
  [[nodiscard]] auto operator()(std::span<const Symbol> in, const T& p = {}, std::string_view name = {}) const {
    return on_symbols(in, p, name);
  }

  /// On numbers: the body itself. `strop::exp(1.0)` is a double, `strop::exp(1.0f)` a float.
  template <detail::AnyNumber... X>
    requires(sizeof...(X) > 0)
  [[nodiscard]] constexpr auto operator()(X... x) const {
    if constexpr ((std::is_arithmetic_v<X> && ...)) {
      using C = std::common_type_t<X...>;
      using R = std::conditional_t<std::is_floating_point_v<C>, C, double>;
      return detail::as_number<number::Num<R>>(on_numbers(number::Num<R>(x)...)).v;
    } else
      return on_numbers(x...);
  }

  /// Arguments that no other call takes.
#if defined(__clang__)
  template <class Bad = T>
  auto operator()(...) const {  // deduced, so that the sentence comes before what is wrong with the result
    detail::refuse_call<Bad>(std::make_index_sequence<detail::field_count<Bad>>{});
  }
#else
  template <class Bad = T, detail::Sentence = detail::call_sentence<Bad>()>
  void operator()(...) const = delete;
#endif

  // Naming Op<T> instantiates this, and so registers a user's operator.
  using Registered = detail::Registers<T, library>;

  /// The operator in the registry.
  static const Entry& entry() { return detail::entry_in_use<T, library>(); }

 private:
  template <std::size_t Count>
  static constexpr void check_count() {
    if constexpr (AnyMap<T>) static_assert(arity<T> == Count, "strop: the operator takes another number of inputs");
  }
  template <std::size_t Count>
  static auto on_arrays(const std::array<const NDArray*, Count>& in, const T& p, Target y, Site site) {
    check_count<Count>();
    return detail::run<T, library>(p, in, y, site);
  }
  static auto on_list(std::span<const NDArray> in, const T& p, Target y, Site site) {
    std::vector<const NDArray*> inputs;
    for (const NDArray& a : in) inputs.push_back(&a);
    return detail::run<T, library>(p, inputs, y, site);
  }
  // S is Symbol, looked at only where a call is instantiated: the layer that defines it comes later.
  template <class S, std::size_t Count>
  static S on_symbols(const std::array<const S*, Count>& in, const T& p, std::string_view name) {
    check_count<Count>();
    std::array<S, Count> nodes;
    for (std::size_t i = 0; i < Count; ++i) nodes[i] = *in[i];
    return on_symbols(nodes, p, name);
  }
  template <class List>
  static auto on_symbols(const List& in, const T& p, std::string_view name) {
    using detail::make_node;  // found when it is instantiated: until then nvcc finds its result incomplete
    return make_node(detail::entry_in_use<T, library>(), &p, {std::data(in), std::size(in)}, name);
  }

  /// An operator whose name means something else on numbers (max of two) says so by on_numbers; a map runs its body.
  template <class... X>
  static constexpr auto on_numbers(X... x) {
    if constexpr (requires { T::template on_numbers<X...>(x...); })
      return T::on_numbers(x...);
    else if constexpr (AnyMap<T> && detail::asks_whole<T> != 0)
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return T{}.forward(detail::NumberAt<T, I, detail::Unwrapped<X>>(x)...);
      }(std::index_sequence_for<X...>{});
    else
      return T{}.forward(x...);
  }
};

}  // namespace strop::inline v0
