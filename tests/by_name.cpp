// SPDX-License-Identifier: Apache-2.0
/// \file
/// A program that names no operator and links the compiled library with all of them (the option `operators`).
#include <doctest/doctest.h>
#include <strop/strop.hpp>

TEST_CASE("the compiled library has every operator, for programs that call them by name") {
  CHECK(strop::detail::all_operators().size() > 200);
  const strop::NDArray x = strop::array({{1, 2}, {3, 4}});
  CHECK(strop::invoke("softmax", {x}, {{"axis", "1"}}).shape() == strop::Shape{2, 2});
  x.attach_grad();
  {
    strop::record scope;
    strop::invoke("sum", {strop::invoke("square", {x})}).backward();
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{2, 4, 6, 8});
}
