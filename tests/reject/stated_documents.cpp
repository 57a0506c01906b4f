// SPDX-License-Identifier: Apache-2.0
// reject: strop: name is static constexpr std::string_view name
// reject: strop: aliases is static constexpr std::string_view aliases[] = {...}
// reject: strop: doc is static constexpr std::string_view doc
// reject: strop: notes is static constexpr strop::Note notes[] = {{name, text}, ...}
// reject: strop: range is static constexpr strop::Range range[] = {{parameter, low, high}, ...}
// reject: strop: param_aliases is static constexpr strop::ParamAlias param_aliases[] = {{alias, parameter}, ...}
// reject: strop: param_aliases gives {alias, parameter}: names that are no parameters for ones that are
// reject: strop: upgrades is static constexpr strop::ParamUpgrade upgrades[] = {{parameter, from, to, until}, ...}
// reject: strop: upgrades names something that is no parameter of the operator
// reject: strop: integers_as_double is a map's bool integers_as_double() const; a tensor operator says its types with
// reject: strop: operations is a tensor operator's double operations(std::span<const strop::Shape> inputs) const;
// reject: strop: gradient_operations is a tensor operator's double gradient_operations(std::span<const strop::Shape>
#include <strop/op/diagnose.hpp>

struct Named {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  static constexpr std::string_view name = "named";
#else
  static constexpr int name = 1;
#endif
};
static_assert(strop::diagnose<Named>());

struct Called {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  static constexpr std::string_view aliases[] = {"called"};
#else
  static constexpr std::string_view aliases = "called";
#endif
};
static_assert(strop::diagnose<Called>());

struct Told {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  static constexpr std::string_view doc = "Twice as much.";
#else
  std::string_view doc() const { return "Twice as much."; }
#endif
};
static_assert(strop::diagnose<Told>());

struct Noted {
  float a = 1;
  constexpr auto forward(auto x) const { return a * x; }
#if defined(CONTROL)
  static constexpr strop::Note notes[] = {{"a", "The slope."}};
#else
  static constexpr std::string_view notes = "a: the slope";
#endif
};
static_assert(strop::diagnose<Noted>());

struct Bounded {
  float a = 1;
  constexpr auto forward(auto x) const { return a * x; }
#if defined(CONTROL)
  static constexpr strop::Range range[] = {{"a", 0, 1}};
#else
  static constexpr double range[] = {0, 1};
#endif
};
static_assert(strop::diagnose<Bounded>());

struct AlsoCalled {
  float a = 1;
  constexpr auto forward(auto x) const { return a * x; }
#if defined(CONTROL)
  static constexpr strop::ParamAlias param_aliases[] = {{"b", "a"}};
#else
  static constexpr std::string_view param_aliases[] = {"b"};
#endif
};
static_assert(strop::diagnose<AlsoCalled>());

struct CalledAsAnother {
  float a = 1, b = 1;
  constexpr auto forward(auto x) const { return a * x + b; }
#if defined(CONTROL)
  static constexpr strop::ParamAlias param_aliases[] = {{"c", "a"}};
#else
  static constexpr strop::ParamAlias param_aliases[] = {{"b", "a"}};
#endif
};
static_assert(strop::diagnose<CalledAsAnother>());

struct Upgraded {
  float a = 1;
  constexpr auto forward(auto x) const { return a * x; }
#if defined(CONTROL)
  static constexpr strop::ParamUpgrade upgrades[] = {{"a", "0", "1", 900}};
#else
  static constexpr std::string_view upgrades[] = {"a"};
#endif
};
static_assert(strop::diagnose<Upgraded>());

struct UpgradesNothing {
  float a = 1;
  constexpr auto forward(auto x) const { return a * x; }
#if defined(CONTROL)
  static constexpr strop::ParamUpgrade upgrades[] = {{"a", "0", "1", 900}};
#else
  static constexpr strop::ParamUpgrade upgrades[] = {{"b", "0", "1", 900}};
#endif
};
static_assert(strop::diagnose<UpgradesNothing>());

struct IntegersAsNumber {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  bool integers_as_double() const { return true; }
#else
  int integers_as_double() const { return 1; }
#endif
};
static_assert(strop::diagnose<IntegersAsNumber>());

struct GradientCountedAsNumber {
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E> x, strop::View<E> y) const;
#if defined(CONTROL)
  double gradient_operations(std::span<const strop::Shape>) const { return 1; }
#else
  static constexpr double gradient_operations = 1;
#endif
};
static_assert(strop::diagnose<GradientCountedAsNumber>());

struct Counted {
  void forward(strop::Cpu&, strop::View<const float, 1>, strop::View<float, 1>) const {}
#if defined(CONTROL)
  double operations(std::span<const strop::Shape> in) const { return static_cast<double>(in[0].size()); }
#else
  double operations() const { return 1; }
#endif
};
static_assert(strop::diagnose<Counted>());
