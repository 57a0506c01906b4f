// SPDX-License-Identifier: Apache-2.0
/// \file
/// A program that links the compiled library with every operator (the option `operators`) and so builds none itself.
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

// tests/tools/symbols.py looks whether this object has a kernel of theirs.
TEST_CASE("operators that are called as functions are the library's, on arrays and symbols") {
  const strop::NDArray x = strop::array({{1, 2}, {3, 4}});
  CHECK(strop::dot(x, x).to_vector<float>() == std::vector<float>{7, 10, 15, 22});
  x.attach_grad();
  {
    strop::record scope;
    strop::sum(strop::square(x)).backward();
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{2, 4, 6, 8});
  const strop::Symbol y = strop::tanh(strop::dot(strop::var("a"), strop::var("b")));
  CHECK(y.bind(strop::cpu(), {{"a", x}, {"b", x}}).forward()[0].shape() == strop::Shape{2, 2});
  CHECK(strop::exp(0.0) == 1);
}
