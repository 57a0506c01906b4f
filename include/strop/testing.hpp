// SPDX-License-Identifier: Apache-2.0
/// \file
/// What unit tests of operators and graphs are written with: random shapes and arrays of any storage and density,
/// forward and backward of symbols against expected arrays, gradients of symbols against differences, agreement between
/// devices. Random numbers are those of `strop::random`: `strop::random::seed(7)` first makes a test repeat itself.
///
/// ```cpp
/// strop::random::seed(7);
/// const auto x = strop::testing::random_array(strop::testing::random_shape(2, 5), strop::csr);
/// const auto net = quadratic(strop::var("data"), {.a = 1, .b = 2});
/// CHECK(strop::testing::check_forward(net, {x}, {expected}));
/// ```
#pragma once
#include <strop/core/push_macros.def>

#include <strop/strop.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace strop::inline v0::testing {

/// A shape of `rank` extents, each from 1 to `most`. Throws Error for a negative rank, or `most` below 1.
Shape random_shape(int rank, std::int64_t most = 10);

/// How random_array makes elements.
struct RandomArray {
  double low = -1, high = 1;  // stored elements are uniform in [low, high)
  double density = -1;        // part of the elements (of the rows: row_sparse) that is stored; below 0: drawn as well
  Dtype dtype = f32;
};

/// An array of random numbers, in any storage. A sparse one stores each element, each row if it is row-sparse, with the
/// probability `density`; of a dense one those are the elements other than zero where a density is given. Throws Error
/// for a density above 1, and as `to(storage)` does.
NDArray random_array(const Shape& shape, Storage storage = dense, const RandomArray& how = {});

/// What a check found. `if (result)` is true where all agrees; printed, it says what does not, and by how much.
struct Check {
  std::string wrong;
  explicit operator bool() const { return wrong.empty(); }
  friend std::string text_of(const Check& check) { return check.wrong.empty() ? "all agrees" : check.wrong; }
};

struct CheckTolerance {
  double rtol = 1e-5, atol = 1e-6;
};

/// The outputs of a symbol bound to these arrays, for the arguments and then the auxiliary states in the order of their
/// lists, against the expected ones: same shapes, any storages, |a − b| ≤ atol + rtol·|b|. Throws Error where the
/// numbers of arrays differ from those of the symbol's lists.
Check check_forward(const Symbol& symbol, const std::vector<NDArray>& inputs, const std::vector<NDArray>& expected,
                    CheckTolerance tolerance = {});

/// The gradients of the arguments for these head gradients (1 everywhere, without any), against the expected ones; an
/// argument whose expected gradient is an empty handle is asked for none. With `request` add they are added to ones.
Check check_backward(const Symbol& symbol, const std::vector<NDArray>& inputs, const std::vector<NDArray>& heads,
                     const std::vector<NDArray>& expected, CheckTolerance tolerance = {},
                     GradRequest request = GradRequest::write);

/// Gradients of a symbol's arguments against central differences, in double, at these arrays: `check_gradient(op, …)`
/// of a symbol. Auxiliary states start each run as they are given.
GradientCheck check_gradient(const Symbol& symbol, const std::vector<NDArray>& inputs,
                             GradientTolerance tolerance = {});

/// Where and in which type check_consistency runs a symbol.
struct Place {
  Device device = cpu();
  Dtype dtype = f32;
};

/// Whether outputs and gradients of a symbol agree between devices and types: bound at each place to the same random
/// arrays of these shapes (others follow), against the place of the widest type. The tolerance of each is that of the
/// narrower type unless given.
Check check_consistency(const Symbol& symbol, const NamedShapes& shapes, const std::vector<Place>& places,
                        CheckTolerance tolerance = {0, 0});

}  // namespace strop::inline v0::testing

template <>
struct fmt::formatter<strop::testing::Check> : strop::detail::TextFormatter<strop::testing::Check> {};

#include <strop/testing_impl.hpp>

#include <strop/core/pop_macros.def>
