// SPDX-License-Identifier: Apache-2.0
// reject: strop: name is static constexpr std::string_view name
// reject: strop: aliases is static constexpr std::string_view aliases[] = {...}
// reject: strop: doc is static constexpr std::string_view doc
// reject: strop: notes is static constexpr strop::Note notes[] = {{name, text}, ...}
// reject: strop: range is static constexpr strop::Range range[] = {{parameter, low, high}, ...}
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
