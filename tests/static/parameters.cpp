// SPDX-License-Identifier: Apache-2.0
/// \file
/// A call may name any one parameter alone, without a warning. Compiling is passing.
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

}  // namespace
