// SPDX-License-Identifier: Apache-2.0
/// \file
/// Entries are constants also where users sanitize: g++ then takes no comparison of a function's address for one.
// flags: -fsanitize=address,undefined
#include <strop/ops/dot.hpp>
#include <strop/ops/moments.hpp>
#include <strop/strop.hpp>

namespace {

struct Ranged {
  float a = 1;
  std::optional<int> n = {};
  static constexpr strop::Range range[] = {{"a", 0, 2}, {.name = "n", .low = 1}};
  constexpr auto forward(auto x) const { return a * x; }
};
inline constexpr strop::Op<Ranged> ranged;

/// A map, a tensor operator, one that serves sparse arrays, one with hidden results, and their gradients.
[[maybe_unused]] void calls(const strop::NDArray& x) {
  (void)ranged(x);
  (void)strop::sum(x);
  (void)strop::dot(x, x);
  (void)strop::cast_storage(x, {.stype = strop::csr});
  (void)strop::moments(x);
}

}  // namespace
