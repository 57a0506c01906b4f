// SPDX-License-Identifier: Apache-2.0
// flags: -Werror=unused-result -Werror=unused-value
// reject-first RECORD PAUSE TRAIN PREDICT: discard
// reject-first RECORD(g++): it records while it lives: give it a name
// reject-first OPERATOR OPERATOR_SYMBOL OPERATOR_LIST SUM MAP FUNCTION: discard
// reject-first COMPARE(g++): discard
// reject-first COMPARE(clang++): equality comparison result unused
// reject-first ALLCLOSE CHECK_GRADIENT: discard
#include <strop/strop.hpp>

struct Twice {
  constexpr auto forward(auto x) const { return 2 * x; }
};
inline constexpr strop::Op<Twice> twice;

void use(const strop::NDArray& x, const strop::Symbol& s);
void use(const strop::NDArray& x, const strop::Symbol& s) {
  (void)s;
#if defined(CONTROL)
  strop::record scope;
  twice(x, strop::into(x));
  twice(x, {}, strop::add_to(x));
  strop::broadcast_add(x, x, strop::into(x));
  strop::add_n({x, x}, {}, strop::into(x));
  const auto kept = twice(x) + 1;
  (void)strop::allclose(kept, x);
  strop::NDArray y = x;
  y += x;
  x.to(strop::gpu(0));  // which is refused where there is none
  x.reshape({-1});
  strop::invoke("sgd_update", {x, x}, {{"lr", "1"}});  // an operator that is called by its name may write its inputs
#elif defined(RECORD)
  strop::record{};
#elif defined(PAUSE)
  strop::pause{};
#elif defined(TRAIN)
  strop::train_mode{};
#elif defined(PREDICT)
  strop::predict_mode{};
#elif defined(OPERATOR)
  twice(x);
#elif defined(OPERATOR_SYMBOL)
  twice(s);
#elif defined(OPERATOR_LIST)
  strop::add_n({x, x});
#elif defined(SUM)
  strop::sum(x, {.axis = 0});
#elif defined(MAP)
  strop::map([](auto a) { return a; }, x);
#elif defined(COMPARE)
  x == x;
#elif defined(FUNCTION)
  strop::maximum(x, 1);
#elif defined(ALLCLOSE)
  strop::allclose(x, x);
#elif defined(CHECK_GRADIENT)
  strop::check_gradient(twice, {x});
#endif
}
