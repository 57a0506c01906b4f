// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parameters without a warning: a call may name any one alone, and their types may be optional wherever the struct
/// stands. Compiling is passing.
#include <strop/ops/moments.hpp>
#include <strop/ops/reduce.hpp>

namespace {

[[maybe_unused]] void named_alone() {
  (void)strop::Sum{.exclude = true};
  (void)strop::Mean{.exclude = true};
  (void)strop::Prod{.exclude = true};
  (void)strop::Nansum{.exclude = true};
  (void)strop::Nanprod{.exclude = true};
  (void)strop::Max{.exclude = true};
  (void)strop::Min{.exclude = true};
  (void)strop::Norm{.keepdims = true};
  (void)strop::Argmax{.keepdims = true};
  (void)strop::Argmin{.keepdims = true};
  (void)strop::Moments{.keepdims = true};
  (void)strop::ReduceGradient{.mean = true};
}

struct Maybe {
  std::optional<float> t = {};
  constexpr auto forward(auto x) const { return x; }
};
static_assert(strop::diagnose<Maybe>() && strop::detail::param_table<Maybe>.fields.size() == 1);

}  // namespace
