// SPDX-License-Identifier: Apache-2.0
/// \file
/// backward() and grad(): what arrives in which gradient, how often, and what is refused.
#include <strop/ops/dot.hpp>
#include <strop/ops/elementwise/broadcast.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <string>

using namespace strop;

namespace {

struct Product {
  static constexpr std::string_view name = "autograd_product";
  constexpr auto forward(auto x, auto y) const { return x * y; }
};
constexpr Op<Product> product;
struct Cube {
  static constexpr std::string_view name = "autograd_cube";
  constexpr auto forward(auto x) const { return x * x * x; }
};
constexpr Op<Cube> cube;
struct Double {
  static constexpr std::string_view name = "autograd_double";
  constexpr auto forward(auto x) const { return 2 * x; }
};
constexpr Op<Double> twice;
/// Both results from both numbers.
struct Turn {
  static constexpr std::string_view name = "autograd_turn";
  constexpr auto forward(auto x, auto y) const { return std::tuple(x + 2 * y, x * y); }
};
constexpr Op<Turn> turn;

NDArray leaf(const NDArray& x, GradRequest request = GradRequest::write) {
  x.attach_grad(request);
  return x;
}
/// Passes the head gradient on as it comes, and says where it lies; one that keeps it holds it as well.
struct Passing : Function {
  struct Seen {
    bool keeps = false;
    const void* at = nullptr;
    NDArray kept = {};
  };
  Seen& seen;
  explicit Passing(Seen& s) : seen(s) {}
  std::vector<NDArray> forward(std::span<const NDArray> in) override { return {in[0] * 1}; }
  std::vector<NDArray> backward(std::span<const NDArray> dy) override {
    seen.at = dy[0].bytes();
    if (seen.keeps) seen.kept = dy[0];
    return {dy[0]};
  }
};
NDArray passing(const NDArray& x, Passing::Seen& seen) { return apply<Passing>({x}, seen)[0]; }

/// Calls that are not handed to the engine, which holds their arrays until they have run.
struct AtOnce {
  AtOnce() { set_asynchronous(false); }
  AtOnce(const AtOnce&) = delete;
  AtOnce& operator=(const AtOnce&) = delete;
  ~AtOnce() { set_asynchronous(true, before); }
  const std::int64_t before = detail::order_from;
};

using testing::sentence;
bool equal(const NDArray& a, std::vector<double> b) { return a.to_vector<double>() == b; }

}  // namespace

TEST_CASE("what is known to be zero is not multiplied by an infinite derivative") {
  const NDArray x = array({0.0f, 4.0f});
  x.attach_grad();
  for (const bool other : {false, true}) {
    const record scope;
    const NDArray y = strop::sqrt(x), z = broadcast_greater(y, array({1.0f}));
    (other ? z + x : z).backward();
    CHECK(x.grad().to_vector<float>() == (other ? std::vector<float>{1, 1} : std::vector<float>{0, 0}));
  }
}

TEST_CASE("an array that is given twice gets both contributions") {
  const NDArray x = leaf(array({1, 2, 3}));
  {
    record scope;
    sum(product(x, x)).backward();
  }
  CHECK(equal(x.grad(), {2, 4, 6}));
  {
    record scope;
    sum(product(product(x, x), x)).backward();
  }
  CHECK(equal(x.grad(), {3, 12, 27}));
  const NDArray m = leaf(array({{1, 2}, {3, 4}}));
  {
    record scope;
    sum(dot(m, m)).backward();
  }
  CHECK(equal(m.grad(), {7, 11, 9, 13}));  // row sums of mᵀ … + column sums: (1·mᵀ + mᵀ·1)
}

TEST_CASE("write starts anew with each pass, add keeps adding, null takes nothing") {
  const NDArray x = leaf(array({1, 2})), y = leaf(array({3, 4}), GradRequest::add),
                z = leaf(array({5, 6}), GradRequest::null);
  for (int pass = 1; pass <= 3; ++pass) {
    record scope;
    sum(product(product(x, y), z)).backward();
    CHECK(equal(x.grad(), {15, 24}));
    CHECK(equal(y.grad(), {5.0 * pass, 12.0 * pass}));
  }
  CHECK(!z.grad().defined());
}

TEST_CASE("several results, several heads, head gradients") {
  const NDArray x = leaf(array({1, 2})), y = leaf(array({3, 4}));
  {
    record scope;
    const auto both = turn(x, y);
    backward({both[0], both[1]}, {array({1, 10}), array({100, 1000})});
  }
  CHECK(equal(x.grad(), {1 + 300, 10 + 4000}));
  CHECK(equal(y.grad(), {2 + 100, 20 + 2000}));
  {
    record scope;
    const auto both = turn(x, y);
    sum(both[1]).backward();  // of a result that nobody used the gradient is 0
  }
  CHECK(equal(x.grad(), {3, 4}));
  CHECK(sentence([&] {
          record scope;
          cube(x).backward(array({1, 2, 3}));
        }) == "backward: head gradient 0 has shape (3,), expected (2,)");
}

TEST_CASE("a broadcast input's gradient is summed back") {
  const NDArray x = leaf(array({{1, 2}, {3, 4}})), y = leaf(array({10, 20}));
  {
    record scope;
    sum(product(x, y)).backward();
  }
  CHECK(equal(x.grad(), {10, 20, 10, 20}));
  CHECK(equal(y.grad(), {4, 6}));
}

TEST_CASE("grad() gives new arrays and leaves .grad() alone; create_graph goes on to order 3") {
  const NDArray x = leaf(array({1, 2, -3}));
  record scope;
  const NDArray y = cube(x);
  const NDArray first = grad(y, {x}, {.create_graph = true})[0];
  CHECK(equal(first, {3, 12, 27}));
  const NDArray second = grad(first, {x}, {.create_graph = true})[0];
  CHECK(equal(second, {6, 12, -18}));
  const NDArray third = grad(second, {x}, {.create_graph = true})[0];
  CHECK(equal(third, {6, 6, 6}));
  CHECK(sentence([&] { (void)grad(third, {x}); }).find("(derived gradients exist to order 3)") != std::string::npos);
  CHECK(equal(x.grad(), {0, 0, 0}));
  CHECK(sentence([&] { (void)grad(y, {array({1})}); }) == "grad: variable 0, of shape (1,), has no attach_grad()");
}

TEST_CASE("a gradient of a gradient goes through a shared input") {
  const NDArray x = leaf(array({2, 3}));
  record scope;
  const NDArray g = grad(product(x, cube(x)), {x}, {.create_graph = true})[0];  // 4x³
  CHECK(equal(g, {32, 108}));
  CHECK(equal(grad(g, {x})[0], {48, 108}));  // 12x²
}

TEST_CASE("history is there once unless it is retained") {
  const NDArray x = leaf(array({1, 2}));
  record scope;
  const NDArray y = sum(cube(x));
  y.backward({}, true);
  y.backward();
  CHECK(equal(x.grad(), {3, 12}));
  CHECK(sentence([&] { y.backward(); }).find("was freed by an earlier backward; pass retain_graph = true to it") !=
        std::string::npos);
}

TEST_CASE("what a backward has freed is a constant for what is recorded later") {
  const NDArray x = leaf(array({1, 2}));
  NDArray h;
  {
    record scope;
    h = twice(x);
    sum(h).backward();
  }
  record scope;
  sum(product(h, x)).backward();
  CHECK(equal(x.grad(), {2, 4}));
  CHECK(sentence([&] { sum(cube(h)).backward(); }).find("was not computed while recording") != std::string::npos);
  const NDArray y = twice(x), first = sum(y), second = sum(cube(y));  // recorded before it is freed
  first.backward();
  CHECK(sentence([&] { second.backward(); }).find("was freed by an earlier backward") != std::string::npos);
}

TEST_CASE("nothing is recorded outside, under pause, or from arrays that ask for nothing") {
  const NDArray x = leaf(array({1, 2})), plain = array({1, 2});
  CHECK(sentence([&] { cube(x).backward(); }).find("was not computed while recording") != std::string::npos);
  record scope;
  CHECK(sentence([&] { cube(plain).backward(); }).find("was not computed while recording") != std::string::npos);
  NDArray y;
  {
    strop::pause inner;
    CHECK_FALSE(is_recording());
    y = cube(x);
  }
  CHECK(is_recording());
  CHECK(sentence([&] { y.backward(); }).find("was not computed while recording") != std::string::npos);
  CHECK(sentence([&] { cube(x).detach().backward(); }).find("was not computed while recording") != std::string::npos);
}

TEST_CASE("an input that backward needs may not be overwritten, one that it does not need may") {
  const NDArray x = leaf(array({1, 2}));
  record scope;
  NDArray y = cube(x), z = twice(x);
  {
    strop::pause inner;
    twice(x, into(x));
  }
  CHECK(sentence([&] { sum(y).backward(); }) ==
        "backward: input 0 of autograd_cube (shape (2,)) was overwritten after it was recorded");
  sum(z).backward();
  CHECK(equal(x.grad(), {2, 2}));
}

TEST_CASE("a view that may write counts as a write, one of constants does not") {
  constexpr std::string_view lent = ", or lent by view<E>(), which counts as a write unless E is const";
  const std::string refused =
      strop::cat("backward: input 0 of autograd_cube (shape (2,)) was overwritten after it was recorded", lent);
  const auto recorded = [](auto look) {
    const NDArray x = leaf(array({1, 2}));
    NDArray loss;
    {
      const record scope;
      loss = sum(cube(x));
    }
    look(x);
    const std::string said = sentence([&] { loss.backward(); });
    if (said.empty()) CHECK(equal(x.grad(), {3, 12}));
    return said;
  };
  CHECK(recorded([](const NDArray& x) { x.view<float, 1>()[0] = 100; }) == refused);
  CHECK(recorded([](const NDArray& x) { x.view<float>()[0] = 100; }) == refused);
  CHECK(recorded([](const NDArray& x) { x.slice(0, 1).view<float, 1>()[0] = 100; }) == refused);
  CHECK(recorded([](const NDArray& x) { x.reshape({2, 1}).view<float, 2>()(0, 0) = 100; }) == refused);
  CHECK(recorded([](const NDArray& x) { CHECK(x.view<const float, 1>()[1] == 2); }).empty());
  CHECK(recorded([](const NDArray& x) { CHECK(x.to_vector<float>()[1] == 2); }).empty());
  CHECK(recorded([](const NDArray& x) { x.copy().view<float, 1>()[0] = 100; }).empty());

  // Before it is recorded a view may write, and then the gradient is of what it wrote.
  const NDArray x = leaf(array({1, 2}));
  x.view<float, 1>()[0] = 3;
  {
    const record scope;
    sum(cube(x)).backward();
  }
  CHECK(equal(x.grad(), {27, 12}));
}

TEST_CASE("values and lists of a sparse input that views have written are noticed") {
  for (const bool values : {true, false}) {
    const NDArray x = leaf(array({{0, 1}, {2, 0}}).to(csr));
    NDArray loss;
    {
      const record scope;
      loss = sum(cube(x));
    }
    if (values)
      x.data().view<float, 1>()[0] = 100;
    else
      x.indices().view<std::int64_t, 1>()[0] = 0;
    CHECK(sentence([&] { loss.backward(); }).find("was overwritten after it was recorded") != std::string::npos);
  }
}

TEST_CASE("a sparse input that is overwritten later is remembered as it was") {
  const NDArray x = array({{2, 0}, {0, 3}}).to(strop::csr), other = array({{0, 7}, {7, 0}}).to(strop::csr);
  x.attach_grad();
  NDArray y;
  {
    strop::record scope;
    y = strop::square(x);
  }
  strop::square(other, strop::into(x));
  y.backward();
  CHECK(equal(x.grad().to(strop::dense), {4, 0, 0, 6}));
}

TEST_CASE("a call that would destroy what its own gradient needs is refused before it runs") {
  const NDArray x = leaf(array({1, 2}));
  record scope;
  const NDArray y = twice(x), made = zeros({2});
  CHECK(
      sentence([&] { cube(y, into(y)); }) ==
      "autograd_cube: its result overwrites input 0, which its gradient reads, while recording; let it make an array, "
      "or use strop::pause");
  CHECK(sentence([&] { cube(x, add_to(y)); }) ==
        "autograd_cube: its result is added to an array with a history, which is not recorded; add with + instead");
  CHECK(sentence([&] { twice(y, into(x)); }).find("overwrites an array with attach_grad() while recording") !=
        std::string::npos);
  CHECK(equal(y, {2, 4}));
  twice(y, into(y));  // linear: its gradient reads nothing
  cube(y, into(made));
  made.backward();
  CHECK(equal(x.grad(), {3 * 16 * 4, 3 * 64 * 4}));
}

TEST_CASE("the head gradient may be the array's own gradient") {
  const NDArray x = leaf(array({1, 2}));
  twice(x, into(x.grad()));
  record scope;
  cube(x).backward(x.grad());
  CHECK(equal(x.grad(), {6, 48}));
}

TEST_CASE("a gradient is computed in the memory of its head gradient where nobody else holds that") {
  const AtOnce calls;
  const NDArray x = leaf(array({1, 2, 3})), z = leaf(array({4, 5, 6}));
  Passing::Seen first, second, last;
  {
    const record scope;
    passing(twice(passing(cube(passing(twice(x), first)), second)), last).backward();
  }
  CHECK(last.at != nullptr);
  CHECK(second.at == last.at);
  CHECK(first.at == last.at);
  CHECK(equal(x.grad(), {48, 192, 432}));
  {  // of two gradients one
    const record scope;
    passing(product(passing(x, first), passing(z, second)), last).backward();
  }
  CHECK((first.at == last.at) != (second.at == last.at));
  CHECK(equal(x.grad(), {4, 5, 6}));
  CHECK(equal(z.grad(), {1, 2, 3}));
  const NDArray large = leaf(ones({1 << 14}));
  NDArray y = large;
  {
    const record scope;
    for (int i = 0; i < 8; ++i) y = twice(y);
  }
  memory::reset_peak(cpu());
  const std::int64_t before = memory::statistics(cpu()).live_bytes;
  y.backward();
  CHECK(memory::statistics(cpu()).peak_bytes - before < 2 * (4 << 14));  // one array for all of them
  CHECK(large.grad().to_vector<float>() == std::vector<float>(1 << 14, 256));
}

TEST_CASE("a head gradient that somebody else holds is not written over") {
  const AtOnce calls;
  const NDArray x = leaf(array({1, 2, 3})), z = leaf(array({4, 5, 6}));
  Passing::Seen first, last;
  const NDArray head = array({5, 6, 7});
  {
    const record scope;
    twice(passing(twice(x), first)).backward(head);
  }
  CHECK(first.at != head.bytes());
  CHECK(equal(head, {5, 6, 7}));
  CHECK(equal(x.grad(), {20, 24, 28}));
  last.keeps = true;
  {
    const record scope;
    passing(twice(passing(cube(x), first)), last).backward();
  }
  CHECK(first.at != last.at);
  CHECK(equal(last.kept, {1, 1, 1}));
  CHECK(equal(x.grad(), {6, 24, 54}));
  // Two nodes that were given the same array, of which the first to run must leave it to the other.
  struct Fork : Function {
    std::vector<NDArray> forward(std::span<const NDArray> in) override { return {in[0] + in[1]}; }
    std::vector<NDArray> backward(std::span<const NDArray> dy) override { return {dy[0], dy[0]}; }
  };
  {
    const record scope;
    apply<Fork>({twice(passing(twice(x), first)), cube(passing(twice(z), last))})[0].backward();
  }
  CHECK(equal(x.grad(), {4, 4, 4}));
  CHECK(equal(z.grad(), {6 * 64, 6 * 100, 6 * 144}));
  // A view shares the elements, and not the handle.
  struct Shows : Function {
    NDArray& own;
    explicit Shows(NDArray& o) : own(o) {}
    std::vector<NDArray> forward(std::span<const NDArray> in) override { return {in[0] * 1}; }
    std::vector<NDArray> backward(std::span<const NDArray> dy) override {
      own = dy[0] * 5;
      return {own.reshape({3})};
    }
  };
  NDArray own;
  {
    const record scope;
    apply<Shows>({twice(passing(x, first))}, own)[0].backward();
  }
  CHECK(first.at != own.bytes());
  CHECK(equal(own, {5, 5, 5}));
  CHECK(equal(x.grad(), {10, 10, 10}));
}

TEST_CASE("what a gradient does not need is let go") {
  const auto live = [] {
    Engine::global().wait_all();
    return memory::statistics(cpu()).live_bytes;
  };
  const NDArray x = leaf(random::uniform({256, 256}));
  const std::int64_t one = 256 * 256 * 4;
  record scope;
  const std::int64_t before = live();
  NDArray y = twice(twice(twice(x)));  // linear: no value between is kept
  CHECK(live() - before < 2 * one);
  y = NDArray();
  CHECK(live() - before < one / 2);
  y = cube(cube(x));  // the inner result is kept for the outer gradient
  CHECK(live() - before >= 2 * one);
  sum(y).backward();
  y = NDArray();
  CHECK(live() - before < one / 2);
}

TEST_CASE("a long history is walked and taken down without recursion") {
  const NDArray x = leaf(array({1}));
  {
    record scope;
    NDArray y = twice(x);
    for (int i = 0; i < 100000; ++i) y = product(y, array({1}));
    y.backward();
  }
  CHECK(equal(x.grad(), {2}));
}

TEST_CASE("custom functions") {
  struct Clip : Function {
    double limit;
    explicit Clip(double l) : limit(l) {}
    std::vector<NDArray> forward(std::span<const NDArray> in) override { return {in[0] * 1}; }
    std::vector<NDArray> backward(std::span<const NDArray> dy) override {
      CHECK(is_training());  // as forward was recorded
      std::vector<float> g = dy[0].to_vector<float>();
      for (float& v : g) v = std::min(v, static_cast<float>(limit));
      NDArray made = zeros(dy[0].shape());
      std::copy(g.begin(), g.end(), made.pointer<float>());
      return {made};
    }
  };
  const NDArray x = leaf(array({1, 2, 3}));
  {
    record scope;
    sum(cube(apply<Clip>({x}, 2.0)[0])).backward();
  }
  CHECK(equal(x.grad(), {2, 2, 2}));
  struct TooMany : Function {
    std::vector<NDArray> forward(std::span<const NDArray> in) override { return {in[0] * 1}; }
    std::vector<NDArray> backward(std::span<const NDArray> dy) override { return {dy[0], dy[0]}; }
  };
  record scope;
  CHECK(sentence([&] { sum(apply<TooMany>({x})[0]).backward(); }) ==
        "backward: the gradient of function returned 2 arrays for 1 inputs");
}

TEST_CASE("what a function keeps for backward is not overwritten without a word") {
  struct Square : Function {
    std::vector<NDArray> forward(std::span<const NDArray> in) override {
      save_for_backward({in[0]});
      return {in[0] * in[0]};
    }
    std::vector<NDArray> backward(std::span<const NDArray> dy) override { return {dy[0] * saved(0) * 2}; }
  };
  struct Forgets : Square {
    std::vector<NDArray> backward(std::span<const NDArray>) override { return {saved(1)}; }
  };
  const NDArray x = leaf(array({1, 2, 3}));
  record scope;
  const NDArray y = sum(apply<Square>({x})[0]), forgetful = sum(apply<Forgets>({x})[0]);
  y.backward({}, true);
  CHECK(equal(x.grad(), {2, 4, 6}));
  CHECK(sentence([&] { forgetful.backward(); }) ==
        "saved: 1 is not a place of the 1 arrays that save_for_backward was given");
  twice(x.detach(), into(x.detach()));
  CHECK(sentence([&] { y.backward(); }) ==
        "backward: array 0 that save_for_backward keeps (shape (3,)) was overwritten since");
}

TEST_CASE("views carry gradients to the array that they show") {
  const NDArray x = leaf(array({{1, 2}, {3, 4}}));
  {
    record scope;
    sum(cube(x[1])).backward();
  }
  CHECK(equal(x.grad(), {0, 0, 27, 48}));
  {
    record scope;
    sum(product(x.reshape({4}), array({1, 2, 3, 4}))).backward();
  }
  CHECK(equal(x.grad(), {1, 2, 3, 4}));
}

TEST_CASE("gradients of views are differentiated again") {
  const NDArray x = leaf(array({{1, 2}, {3, 4}}));
  {
    record scope;
    const NDArray first = grad(sum(cube(x[1])), {x}, {.create_graph = true})[0];
    CHECK(equal(first, {0, 0, 27, 48}));
    const NDArray second = grad(sum(cube(first)), {x}, {.create_graph = true})[0];  // 3 (3x²)² 6x
    CHECK(equal(second, {0, 0, 3 * 27 * 27 * 18, 3 * 48 * 48 * 24}));
    sum(first[1].slice(0, 1)).backward();
  }
  CHECK(equal(x.grad(), {0, 0, 18, 0}));
}

TEST_CASE("a failure in the middle leaves no half gradients behind") {
  struct Fails : Function {
    std::vector<NDArray> forward(std::span<const NDArray> in) override { return {in[0] * 1}; }
    std::vector<NDArray> backward(std::span<const NDArray>) override { throw std::runtime_error("no"); }
  };
  const NDArray x = leaf(array({1, 2}));
  record scope;
  const NDArray y = sum(cube(apply<Fails>({twice(x)})[0]));
  CHECK(sentence([&] { y.backward({}, true); }) == "no");
  CHECK(is_recording());
  CHECK(equal(x.grad(), {0, 0}));
}
