// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the program's operators run on the runtime's threads, read what the program wrote and are read by it, and
/// threads of the program share arrays: none of this is a race.
// expect: [3.5, 3.5]
// expect: [0.75, 0.75]
// expect: [7.5, 7.5]
#include <fmt/format.h>

#include <strop/strop.hpp>
#include <thread>

struct Mix {
  float part = 0.75f;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs * part + rhs * (1 - part); }
};
inline constexpr strop::Op<Mix> mix;

struct Twice {
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E> x, strop::View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
};
inline constexpr strop::Op<Twice> twice;

int main() {
  strop::set_asynchronous(true, 1000);
  const strop::NDArray x = strop::full({100000}, 1), y = strop::full({100000}, 4);
  for (int i = 0; i < 5; ++i) {
    strop::NDArray z = twice(mix(x, y));
    z.view<float>()[1] += 0;
    if (i == 4) fmt::print("{}\n", z.slice(0, 2));
  }
  x.attach_grad();
  {
    strop::record scope;
    mix(x, y).backward();
  }
  fmt::print("{}\n", x.grad().slice(0, 2));

  strop::NDArray last[2];
  const auto work = [&](int k) {
    for (int i = 0; i < 50; ++i) last[k] = twice(mix(strop::array({1, 1}), strop::array({4, 4}) + x.slice(0, 2)));
  };
  std::thread one(work, 0), two(work, 1);
  one.join();
  two.join();
  fmt::print("{}\n", last[0] + last[1] - 0.5);
}
