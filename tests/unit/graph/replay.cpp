// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a run of a bound graph asks the system for once it has run before, which is nothing, and what binding does.
#include <strop/core/sanitizer.hpp>
#include <strop/engine/engine.hpp>

#include "operators.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

using namespace graph_tests;

namespace {
std::atomic<std::int64_t> requests_made{0}, bytes_asked{0};

void* memory_for(std::size_t bytes, std::size_t alignment) {
  ++requests_made;
  bytes_asked += static_cast<std::int64_t>(bytes);
  return std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}
}  // namespace

#include <operator_new.hpp>

namespace {
/// Has calls enqueued as the program does, once the test that says otherwise has ended.
struct UsualCalls {
  ~UsualCalls() {
    set_asynchronous(true, std::getenv("STROP_TEST_ASYNCHRONOUS") != nullptr ? 0 : strop::detail::large_call);
  }
};
}  // namespace

TEST_CASE("a graph of many parameters runs again and again without a request for memory") {
  if (strop::detail::guards_memory()) return;  // nothing is kept to be used again, so that misuse is seen
  Symbol net = var("data");
  for (int layer = 0; layer < 30; ++layer) net = squash(dense_layer(net, {.num_hidden = 4}, cat("fc", layer)));
  net = loss(net, {}, "loss");
  const UsualCalls restore;
  for (const bool handed_over : {false, true}) {
    CAPTURE(handed_over);
    set_asynchronous(handed_over, 0);
    Executor run = net.simple_bind(cpu(), {{"data", {2, 4}}, {"loss_label", {2, 4}}});
    CHECK(run.args().size() == 62);
    for (const auto& [name, array] : run.args()) quadratic(array, {.c = 0.1f}, into(array));
    const auto step = [&] {
      run.forward(true);
      run.backward();
      Engine::global().wait_all();  // every block of the engine is back
    };
    for (int i = 0; i < 3; ++i) step();
    const std::int64_t before = requests_made;
    for (int i = 0; i < 5; ++i) step();
    CHECK(requests_made - before == 0);
    CHECK(run.grad("fc0_weight").to_vector<double>()[0] != 0);
  }
}

TEST_CASE("backward with the same head gradient again asks for no memory, with another one computes with that") {
  Symbol net = var("x");
  for (int i = 0; i < 8; ++i) net = squash(dense_layer(net, {.num_hidden = 4}, cat("fc", i)));
  const UsualCalls restore;
  for (const bool handed_over : {false, true}) {
    CAPTURE(handed_over);
    set_asynchronous(handed_over, 0);
    Executor run = net.simple_bind(cpu(), {{"x", {2, 4}}});
    for (const auto& [name, array] : run.args()) quadratic(array, {.c = 0.1f}, into(array));
    const auto gradient_for = [&](const NDArray& head) {
      run.forward(true);
      run.backward(head);
      Engine::global().wait_all();
      return run.grad("x").to_vector<double>();
    };
    const NDArray one = ones({2, 4}), two = full({2, 4}, 2);
    const std::vector<double> of_one = gradient_for(one);
    CHECK(of_one[0] != 0);
    gradient_for(one);
    const std::int64_t before = requests_made;
    for (int i = 0; i < 5; ++i) {
      run.forward(true);
      run.backward(one);
      Engine::global().wait_all();
    }
    if (!strop::detail::guards_memory()) CHECK(requests_made - before == 0);
    const auto doubled = [&](const std::vector<double>& of) {
      for (std::size_t i = 0; i < of.size(); ++i) CHECK(of[i] == doctest::Approx(2 * of_one[i]).epsilon(1e-5));
    };
    doubled(gradient_for(two));  // prepared for `one`
    doubled(gradient_for(two));
    doubled(gradient_for(full({2, 4}, 2)));  // which is let go of
    CHECK(gradient_for(one) == of_one);
    quadratic(two, {.c = 4}, into(two));  // the same array with other elements
    CHECK(gradient_for(two) != of_one);
    for (std::size_t i = 0; i < of_one.size(); ++i)
      CHECK(gradient_for(two)[i] == doctest::Approx(4 * of_one[i]).epsilon(1e-5));
  }
}

TEST_CASE("binding asks for as much memory a node of a long chain as of a short one, and in few requests") {
  if (strop::detail::guards_memory()) return;
  const auto bytes_of_node = [](std::int64_t nodes) {
    Symbol net = var("x");
    for (std::int64_t i = 0; i < nodes; ++i) net = turned(net);
    const NDArray x = ones({3}), dx = zeros({3});
    const std::int64_t bytes = bytes_asked, requests = requests_made;
    const Executor run = net.bind(cpu(), {{"x", x}}, {{"x", dx}});
    CHECK((requests_made - requests) / nodes < 40);
    return (bytes_asked - bytes) / nodes;
  };
  const std::int64_t few = bytes_of_node(1 << 10), many = bytes_of_node(1 << 13);
  CHECK(few < 9000);
  CHECK(many < few + few / 4);  // lists that double end anywhere between
}
