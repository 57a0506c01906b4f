// SPDX-License-Identifier: Apache-2.0
// reject-first NOTHING NUMBER: strop: an optimizer has a const member `rule(step, weight, grad, state...)` on numbers, generic
// reject-first SEVERAL: strop: an optimizer that updates with several numbers of states says by `int states() const` how
#include <strop/strop.hpp>

using strop::NDArray;
using strop::optim::Step;

struct Mine {
  double learning_rate = 0.1;
#if defined(CONTROL)
  int states() const { return learning_rate > 1 ? 1 : 0; }
  void update(const Step&, NDArray&, const NDArray&) const {}
  void update(const Step&, NDArray&, const NDArray&, NDArray&) const {}
#elif defined(NUMBER)
  float rule(const Step& step, float weight, float grad) const { return weight - float(step.lr) * grad; }
#elif defined(SEVERAL)
  void update(const Step&, NDArray&, const NDArray&) const {}
  void update(const Step&, NDArray&, const NDArray&, NDArray&) const {}
#endif
};
strop::optim::Optimizer optimizer();
strop::optim::Optimizer optimizer() { return Mine{}; }
