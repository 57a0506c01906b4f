// SPDX-License-Identifier: Apache-2.0
/// \file
/// A library of one operator, and with OTHER_VERSION one of times to come.
#include <strop/library/export.hpp>
#include <strop/strop.hpp>

namespace {

struct FutureOperator {
  constexpr auto forward(auto x) const { return x * 2; }
};
[[maybe_unused]] constexpr strop::Op<FutureOperator> future_operator;

}  // namespace

#if defined(OTHER_VERSION)
const strop_library* strop_operators() {
  static strop_library library = *strop::export_operators();
  library.version = 7;
  return &library;
}
#else
const strop_library* strop_operators() { return strop::export_operators(); }
#endif
