// SPDX-License-Identifier: Apache-2.0
/// \file
/// `using namespace strop` beside the headers of C: what C has no name for is written as it is, what it has with the
/// namespace. Compiling is passing.
#include <math.h>
#include <stdlib.h>

#include <cmath>
#include <complex>
#include <strop/strop.hpp>

using namespace strop;

namespace {

struct Bend {
  float lift = 0;
  constexpr auto forward(auto x) const { return strop::tanh(x) * sigmoid(x) + lift; }
};
inline constexpr Op<Bend> bend;

static_assert(UnaryOp<Bend>);
static_assert(check::value(Bend{}, 0.0) == 0);

[[maybe_unused]] float everything() {
  NDArray x = zeros({2, 3});
  x.attach_grad();
  {
    record scope;
    sum(relu(x) + square(sigmoid(x)) + bend(x, {.lift = 1})).backward();
  }
  const NDArray y = softmax(dot(x, transpose(x))) + array({{1, 2}, {3, 4}});
  const Symbol z = fully_connected(var("data"), var("weight"), var("bias"), {.num_hidden = 2});
  return (strop::exp(y) + strop::abs(y) + strop::log(y)).to(csr)[0][0].item<float>() +
         static_cast<float>(std::exp(1.0)) + static_cast<float>(::abs(-1)) +
         static_cast<float>(z.list_arguments().size());
}

}  // namespace
