// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where there is no memory left: a history that is taken down, executors that share an arena.
#include <strop/strop.hpp>

#include <doctest/doctest.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

using namespace strop;

namespace {
constexpr int no_end = -1;
thread_local int left = no_end;  // requests that are still served

void* memory_for(std::size_t bytes, std::size_t alignment) {
  if (left == 0) return nullptr;
  if (left > 0) --left;
  return std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}
}  // namespace

#include <operator_new.hpp>

TEST_CASE("a long history goes without memory, and without recursion") {
  for (const int fan : {1, 2}) {
    NDArray x = array({1, 2});
    x.attach_grad();
    {
      record scope;
      for (int i = 0; i < 100'000; ++i) x = fan == 1 ? x * 0.5 : x * x;
    }
    x.wait();
    left = 0;
    x = NDArray();  // would end the process if it asked for memory
    left = no_end;
  }
  CHECK(left == no_end);
}

namespace {

/// x², which no pass joins with its neighbours.
struct Squared {
  static constexpr std::string_view name = "no_memory_squared";
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] * x[i];
  }
  template <Real E>
  void grad_use_in(Cpu&, View<const E> dy, View<const E> x, View<E> dx) const {
    for (std::int64_t i = 0; i < x.size(); ++i) dx[i] = 2 * dy[i] * x[i];
  }
};
constexpr Op<Squared> squared;

/// Whether `work` ends while so many requests for memory are served.
bool ends_with(int requests, auto work) {
  left = requests;
  try {
    work();
  } catch (const std::exception&) {
    left = no_end;
    return false;
  }
  left = no_end;
  return true;
}

}  // namespace

TEST_CASE("an executor whose run finds no memory left runs when there is some again") {
  bool moved = false, repeated = false;
  for (int requests = 0; !moved || !repeated; ++requests) {
    CAPTURE(requests);
    REQUIRE(requests < 1000);
    const NDArray x = array({1, 2}), dx = zeros({2});
    auto run = squared(squared(squared(var("x")))).bind(cpu(), {{"x", x}}, {{"x", dx}});
    auto larger = run.reshape({{"x", {4000}}});  // in an arena that the first one moves to when it runs next
    moved = ends_with(requests, [&] { run.forward(true); });
    run.forward(true);
    run.backward(ones({2}));
    CHECK(run.outputs()[0].to_vector<float>() == std::vector<float>{1, 256});
    CHECK(dx.to_vector<float>() == std::vector<float>{8, 1024});

    run.forward(true);
    larger.forward(true);
    const NDArray shown = run.outputs()[0];
    x.view<float>()[0] = 2;
    repeated = ends_with(requests, [&] { run.backward(ones({2})); });  // has to compute forward once more
    CHECK(run.outputs()[0].is(shown));
    CHECK(shown.to_vector<float>() == std::vector<float>{1, 256});
    run.backward(ones({2}));
    CHECK(dx.to_vector<float>() == std::vector<float>{1024, 1024});
    CHECK(run.forward()[0].to_vector<float>() == std::vector<float>{256, 256});
    CHECK(run.outputs()[0].is(shown));
  }
}
