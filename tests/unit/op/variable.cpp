// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays in the global engine: operators wait for what is pushed on an array, and take their turn.
#include <strop/ops/dot.hpp>
#include <strop/ops/dropout.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/strop.hpp>
#include <strop/tensor/dlpack.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using strop::array, strop::Engine, strop::NDArray, strop::Op;

namespace {

struct Twice {
  static constexpr std::string_view name = "variable_twice";
  constexpr auto forward(auto x) const { return 2 * x; }
};
constexpr Op<Twice> twice;
struct Add {
  static constexpr std::string_view name = "variable_add";
  constexpr auto forward(auto x, auto y) const { return x + y; }
};
constexpr Op<Add> add;
struct Walk {
  static constexpr std::string_view name = "variable_walk", inputs[] = {"x", "state"}, mutates[] = {"state"};
  constexpr auto forward(auto x, auto s) const { return std::tuple(x + s, s + 1); }
};
constexpr Op<Walk> walk;

struct Bomb {
  static constexpr std::string_view name = "variable_bomb";
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E> x, strop::View<E>) const {
    if (x[0] > 0) throw std::runtime_error("boom");
  }
};
constexpr Op<Bomb> bomb;
struct Noise {
  static constexpr std::string_view name = "variable_noise";
  template <strop::Real E>
  void forward(strop::Cpu& ctx, strop::View<const E> x, strop::View<E> y) const {
    const strop::random::Stream stream = ctx.random();
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + static_cast<E>(stream.uniform01(i));
  }
};
constexpr Op<Noise> noise;
/// The first element of each input.
struct Firsts {
  static constexpr std::string_view name = "variable_firsts";
  void infer_shape(strop::Shapes& s) const { s.set_out(0, {s.inputs()}); }
  template <strop::Real E>
  void forward(strop::Cpu&, std::span<const strop::View<const E, 1>> xs, strop::View<E, 1> y) const {
    for (std::size_t i = 0; i < xs.size(); ++i) y[static_cast<std::int64_t>(i)] = xs[i][0];
  }
};
constexpr Op<Firsts> firsts;

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
void fill(const NDArray& a, float value) {
  for (float& v : a.view<float>()) v = value;
}
std::vector<float> values(const NDArray& a) { return a.to_vector<float>(); }
using testing::sentence;

/// Hands calls on so many elements to the engine as long as it lives, and as the suite does afterwards.
struct From {
  explicit From(std::int64_t elements = std::int64_t{1} << 18) { strop::set_asynchronous(true, elements); }
  From(const From&) = delete;
  From& operator=(const From&) = delete;
  ~From() { strop::set_asynchronous(true, before); }
  const std::int64_t before = strop::detail::order_from;
};

}  // namespace

TEST_CASE("whoever looks at the elements waits for what is pushed on them") {
  const NDArray x = strop::zeros({3});
  const NDArray view = x.slice(1, 2), flat = x.reshape({1, 3});
  Engine::global().push([&] { nap(), fill(x, 7); }, {.writes = {x.variable()}});
  SUBCASE("to_vector") { CHECK(values(x) == std::vector<float>{7, 7, 7}); }
  SUBCASE("a view, made before") { CHECK(view.item<float>() == 7); }
  SUBCASE("another shape") { CHECK(flat.view<float, 2>()(0, 2) == 7); }
  SUBCASE("wait") {
    x.wait();
    CHECK(Engine::idle(x.variable()));
  }
  SUBCASE("copy") { CHECK(values(x.copy()) == std::vector<float>{7, 7, 7}); }
  SUBCASE("another storage") { CHECK(x.reshape({1, 3}).to(strop::csr).nnz() == 3); }
  SUBCASE("printing") { CHECK(fmt::format("{}", x) == "[7, 7, 7]"); }
  Engine::global().wait_all();
}

TEST_CASE("operators take their turn, and what follows from them takes its own") {
  const NDArray x = strop::zeros({4}), plain = array({1, 2, 3, 4});
  std::atomic<bool> go = false;
  Engine::global().push(
      [&] {
        while (!go) std::this_thread::yield();
        fill(x, 5);
      },
      {.writes = {x.variable()}});
  const NDArray a = twice(x), b = add(a, plain), c = add(b, x);
  CHECK_FALSE(Engine::idle(x.variable()));
  go = true;
  CHECK(values(c) == std::vector<float>{16, 17, 18, 19});
  CHECK(values(b) == std::vector<float>{11, 12, 13, 14});
  const NDArray s = strop::sum(strop::dot(x, plain));
  CHECK(s.item<float>() == 50);
}

TEST_CASE("results into an array wait for those who still read it") {
  const NDArray x = array({1, 2}), y = array({10, 20});
  std::vector<float> seen;
  Engine::global().push(
      [&] { nap(), seen.assign(y.address() ? y.view<float>().data() : nullptr, y.view<float>().data() + 2); },
      {.reads = {y.variable()}});
  twice(x, strop::into(y));
  CHECK(values(y) == std::vector<float>{2, 4});
  CHECK(seen == std::vector<float>{10, 20});
  twice(x, strop::add_to(y));
  CHECK(values(y) == std::vector<float>{4, 8});
}

TEST_CASE("who may write the elements waits for those who still read them") {
  const NDArray x = array({1, 2});
  float seen = 0;
  Engine::global().push([&] { nap(), seen = x.view<const float>()[0]; }, {.reads = {x.variable()}});
  CHECK(x.view<const float>()[1] == 2);  // meanwhile
  x.view<float>()[0] = 7;
  CHECK(seen == 1);
}

TEST_CASE("inputs that are written are in order as well") {
  const NDArray x = array({1, 1}), state = array({0, 10});
  Engine::global().push([&] { nap(), fill(state, 3); }, {.writes = {state.variable()}});
  const NDArray first = walk(x, state), second = walk(x, state);
  CHECK(values(second) == std::vector<float>{5, 5});
  CHECK(values(first) == std::vector<float>{4, 4});
  CHECK(values(state) == std::vector<float>{5, 5});
}

TEST_CASE("a failure reaches everything that depends on it, at each look, and a complete overwrite heals") {
  const NDArray x = array({1, 2}), other = array({3, 4});
  const NDArray out = strop::zeros({2});
  Engine::global().push([] { throw std::runtime_error("the disk is gone"); },
                        {.writes = {x.variable()}, .name = "read"});
  const NDArray y = twice(x), z = add(y, other);
  for (int look = 0; look < 2; ++look) {
    CHECK(sentence([&] { values(z); }).find("the disk is gone") != std::string::npos);
    CHECK(sentence([&] { values(x); }).find("the disk is gone") != std::string::npos);
  }
  twice(z, strop::add_to(out));
  CHECK(sentence([&] { values(out); }).find("the disk is gone") != std::string::npos);
  twice(other, strop::into(out));
  CHECK(values(out) == std::vector<float>{6, 8});
  twice(other, strop::into(x.slice(0, 2)));
  CHECK(values(x) == std::vector<float>{6, 8});
  CHECK(sentence([] { Engine::global().wait_all(); }).find("the disk is gone") != std::string::npos);
  Engine::global().wait_all();
}

TEST_CASE("an operator that fails in its turn says its name and where it was called") {
  const NDArray x = strop::zeros({2});
  Engine::global().push([&] { nap(); }, {.writes = {x.variable()}});
  CHECK(sentence([&] { (void)add(x, array({1, 2, 3})); }) ==
        "variable_add: input 'rhs' has shape (3,), which does not broadcast with (2,)");  // known at the call
  Engine::global().push([&] { nap(), fill(x, 1); }, {.writes = {x.variable()}});
  const NDArray y = bomb(x), z = twice(y);
  const std::string where = strop::cat(__FILE__, ':', __LINE__ - 1);
  for (int look = 0; look < 2; ++look) {
    CHECK(sentence([&] { values(y); }) == "boom [in operation 'variable_bomb', pushed at " + where + "]");
    CHECK(sentence([&] { values(z); }) == sentence([&] { values(y); }));
  }
  CHECK(sentence([] { Engine::global().wait_all(); }).find("boom") == 0);
  CHECK(sentence([] { Engine::global().wait_all(); }).empty());
}

TEST_CASE("a call that cannot wait its turn heals what it overwrites") {
  const NDArray x = strop::array({{1, 0}, {0, 2}}).to(strop::csr), w = strop::array({{1, 2}, {3, 4}});
  const NDArray out = strop::zeros({2, 2}), sum = strop::zeros({2, 2});
  for (const NDArray& a : {out, sum})
    Engine::global().push([] { throw std::runtime_error("no"); }, {.writes = {a.variable()}});
  CHECK(sentence([&] { strop::dot(x, w, {}, strop::add_to(sum)); }).find("no") == 0);
  strop::dot(x, w, {}, strop::into(out));
  CHECK(values(out) == std::vector<float>{1, 2, 6, 8});
  CHECK(sentence([&] { values(sum); }).find("no") == 0);
  for (int i = 0; i < 2; ++i) CHECK(sentence([] { Engine::global().wait_all(); }).find("no") == 0);
}

TEST_CASE("operators inside an operation happen at the call") {
  const NDArray x = array({1, 2}), y = strop::zeros({2});
  std::vector<float> seen;
  Engine::global().push(
      [&] {
        seen = values(twice(x));
        add(x, x, strop::into(y));
      },
      {.reads = {x.variable()}, .writes = {y.variable()}});
  CHECK(values(y) == std::vector<float>{2, 4});
  CHECK(seen == std::vector<float>{2, 4});
}

TEST_CASE("results are added to nothing where there is nothing yet") {
  const NDArray x = array({1, 2}), shell = NDArray::shell({2}, strop::f32);
  twice(x, strop::add_to(shell));
  CHECK(values(shell) == std::vector<float>{2, 4});
}

TEST_CASE("memory that overlaps in part is refused, also when it is foreign") {
  float memory[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const NDArray x = strop::from_pointer(memory, {8}), y = strop::from_pointer(memory + 1, {8});
  CHECK(sentence([&] { twice(x, strop::into(y)); }) ==
        "variable_twice: output 'output' overlaps the memory of input 'data' in part");
}

TEST_CASE("of many arrays each that overlaps a result is found, and neighbours are none") {
  constexpr std::int64_t count = 400;
  std::vector<float> memory(static_cast<std::size_t>(3 * count));
  std::vector<NDArray> xs;
  for (std::int64_t i = 0; i < count; ++i) {
    memory[static_cast<std::size_t>(2 * i)] = static_cast<float>(i);
    xs.push_back(strop::from_pointer(memory.data() + 2 * i, {2}));
  }
  firsts(xs, {}, strop::into(strop::from_pointer(memory.data() + 2 * count, {count})));
  CHECK(memory[static_cast<std::size_t>(2 * count + 399)] == 399);
  CHECK(sentence([&] { firsts(xs, {}, strop::into(strop::from_pointer(memory.data() + 2 * count - 1, {count}))); }) ==
        "variable_firsts: output 'output' overlaps the memory of input 'arg399' in part");
}

TEST_CASE("gradients through arrays in the engine") {
  const NDArray x = strop::zeros({2});
  x.attach_grad();
  Engine::global().push([&] { nap(), fill(x, 3); }, {.writes = {x.variable()}});
  {
    strop::record scope;
    strop::sum(add(twice(x), x) * x).backward();  // 3x²
  }
  CHECK(values(x.grad()) == std::vector<float>{18, 18});
}

TEST_CASE("backward notices what an operation in the engine has written since") {
  const auto square = [](const NDArray& x) {
    strop::record scope;
    return strop::sum(x * x);
  };
  const auto refused = [](const NDArray& y) {
    return sentence([&] { y.backward(); }).find("was overwritten after it was recorded") != std::string::npos;
  };
  for (const std::int64_t size : {std::int64_t{2}, std::int64_t{1} << 19}) {
    for (const bool bulk : {false, true}) {
      const NDArray x = strop::full({size}, 2);
      x.attach_grad();
      NDArray y = square(x);
      {
        std::optional<Engine::Bulk> gathers;
        if (bulk) gathers.emplace(Engine::global());
        Engine::global().push([=] { x.view<float, 1>()[0] = 100; }, {.writes = {x.variable()}});
        CHECK(refused(y));
      }
      y = square(x);  // what it records is what that operation writes
      Engine::global().push([=] { x.view<const float, 1>(); }, {.reads = {x.variable()}});
      y.backward();
      CHECK(values(x.grad())[0] == 200);
      Engine::global().push([=] { nap(), x.view<float, 1>()[0] = 50; }, {.writes = {x.variable()}});
      y = square(x);
      y.backward();
      CHECK(values(x.grad())[0] == 100);
      y = square(x);
      const auto step = Engine::global().prepare([=] { nap(); }, {.writes = {x.variable()}});
      step.push();
      CHECK(refused(y));
      Engine::global().wait_all();
    }
    const NDArray x = strop::full({size}, 2);
    x.attach_grad();
    const NDArray y = square(x);
    Engine another;
    const auto unsaid = another.variable();
    const NDArray seen = x;
    if (x.pending() == nullptr) {
      another.push([=] { seen.view<float, 1>()[0] = 100; }, {.writes = {unsaid}});
      another.wait(unsaid);
      CHECK(refused(y));
    }
  }
}

TEST_CASE("memory stays until what uses it is complete") {
  bool released = false;
  float memory[2] = {1, 2};
  std::atomic<bool> go = false;
  {
    const NDArray x = strop::from_pointer(memory, {2}, [&](void*) { released = true; });
    float* const at = x.view<float>().data();
    Engine::global().push(
        [&, at] {
          while (!go) std::this_thread::yield();
          at[0] = 5;
        },
        {.writes = {x.variable()}});
  }
  CHECK_FALSE(released);
  go = true;
  Engine::global().wait_all();
  CHECK(released);
  CHECK(memory[0] == 5);
  {
    const NDArray failed = strop::from_pointer(memory, {2}, [&](void*) { released = false; });
    Engine::global().push([] { throw std::runtime_error("no"); }, {.writes = {failed.variable()}});
  }
  CHECK(sentence([] { Engine::global().wait_all(); }).find("no") != std::string::npos);
  CHECK_FALSE(released);
}

TEST_CASE("operations that are handed to the engine give the same results") {
  const auto work = [] {
    strop::random::seed(3);
    const NDArray x = strop::random::uniform({300, 300}), w = strop::random::uniform({300, 300});
    x.attach_grad();
    NDArray y;
    {
      strop::record scope;
      y = strop::dot(add(twice(x), w), w);
      for (int i = 0; i < 4; ++i) y = add(y, strop::sum(twice(y), {.axis = {1}, .keepdims = true}));
      strop::mean(y).backward();
    }
    twice(y, strop::add_to(w));
    twice(w, strop::into(w));
    return std::vector<std::vector<float>>{values(y), values(x.grad()), values(w)};
  };
  const auto at_the_call = [&] {
    const From none(INT64_MAX);
    return work();
  }();
  const From some(1 << 15);
  for (int i = 0; i < 5; ++i) CHECK((work() == at_the_call));
}

TEST_CASE("large operations are handed to the engine, small ones where something is pending or a trace is written") {
  const From standard;
  const NDArray small = strop::full({4}, 1), big = strop::full({1 << 20}, 1);
  std::atomic<bool> go = false;
  Engine::global().push(
      [&] {
        while (!go) std::this_thread::yield();
      },
      {.writes = {big.variable()}});
  const NDArray result = twice(big);
  CHECK(result.pending() != nullptr);
  CHECK(twice(small).pending() == nullptr);
  CHECK(twice(result.slice(0, 4)).pending() != nullptr);
  go = true;
  result.wait();  // the operation reads `go`, which ends with this case
  {
    const From none(INT64_MAX);
    CHECK(twice(strop::full({1 << 20}, 1)).pending() == nullptr);
  }
  const std::string file = (std::filesystem::temp_directory_path() / "strop-trace-of-a-small-call.json").string();
  {
    const strop::Trace trace(file);
    CHECK(values(twice(small)) == std::vector<float>(4, 2));
  }
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(text.find("\"variable_twice\"") != std::string::npos);
  CHECK(text.find("float32 (4,) dense") != std::string::npos);
  std::filesystem::remove(file);
}

TEST_CASE("a call on foreign memory has been computed when it returns") {
  const From all(0);
  constexpr std::int64_t n = 1 << 18;
  std::vector<float> out(static_cast<std::size_t>(n));
  {
    std::vector<float> in(static_cast<std::size_t>(n), 3);
    twice(strop::from_pointer(in.data(), {n}), strop::into(strop::from_pointer(out.data(), {n})));
    CHECK(out.back() == 6);
    const NDArray far = add(strop::from_pointer(in.data(), {n}), twice(strop::full({n}, 1)));  // one is pending
    in.assign(in.size(), 0);
    CHECK(values(far).back() == 5);
  }
  const NDArray given = twice(strop::full({n}, 1)), read = twice(given);
  auto* const taken = strop::to_dlpack(given);
  static_cast<float*>(taken->dl_tensor.data)[0] = 9;
  CHECK(values(read)[0] == 4);
  taken->deleter(taken);
}

TEST_CASE("parallel loops of an operation do not wait for what it uses") {
  const NDArray x = strop::full({1 << 22}, 1), y = strop::zeros({1 << 22}, strop::f16);
  Engine::global().push([=] { strop::cast(x, {.dtype = strop::f16}, strop::into(y)); },
                        {.reads = {x.variable()}, .writes = {y.variable()}});
  CHECK(values(y).back() == 1);
}

TEST_CASE("what fails in its turn says where it was called") {
  const From all(0);
  const NDArray y = strop::take(array({1, 2}), array({5}), {.mode = strop::Take::raise});
  try {
    y.wait();
    FAIL("no failure");
  } catch (const std::exception& e) {
    CHECK(std::string(e.what()).starts_with("take: position 5 is outside an axis of extent 2 [pushed at "));
    CHECK(std::string(e.what()).find("variable.cpp:") != std::string::npos);
  }
  CHECK(sentence([] { Engine::global().wait_all(); }) == "take: position 5 is outside an axis of extent 2");
}

TEST_CASE("a program that never looks takes no more memory for it") {
  const NDArray x = strop::full({1 << 22}, 1);  // 16 MiB
  strop::memory::reset_peak(strop::cpu());
  NDArray y;
  for (int i = 0; i < 200; ++i) y = twice(x);
  CHECK(y.view<const float>()[7] == 2);
  CHECK(strop::memory::statistics(strop::cpu()).peak_bytes < std::int64_t{400} << 20);
}

TEST_CASE("who overwrites an array at once waits for its readers, and heals it") {
  const NDArray data = array({1, 2});
  const strop::Symbol net = twice(strop::var("data"));
  auto run = net.bind(strop::cpu(), {{"data", data}}, {}, strop::GradRequest::null, {});
  float seen = 0;
  Engine::global().push([&] { nap(), seen = data.view<const float>()[0]; }, {.reads = {data.variable()}});
  CHECK(values(run.forward(false, {{"data", array({5, 6})}})[0]) == std::vector<float>{10, 12});
  CHECK(seen == 1);
  Engine::global().push([] { throw std::runtime_error("no"); }, {.writes = {data.variable()}});
  CHECK(values(run.forward(false, {{"data", array({7, 8})}})[0]) == std::vector<float>{14, 16});
  CHECK(sentence([] { Engine::global().wait_all(); }) == "no");
}

TEST_CASE("an operation begins in the same mode on whichever thread") {
  const NDArray x = array({1, 2});
  x.attach_grad();
  bool recorded = true, trained = true;
  strop::record scope;
  Engine::global().push(
      [&] {
        recorded = strop::is_recording();
        trained = strop::is_training();
        twice(array({3, 4}), strop::into(x));  // while recording this would be refused
      },
      {.writes = {x.variable()}, .name = "load"});
  CHECK(values(x) == std::vector<float>{6, 8});
  CHECK_FALSE(recorded);
  CHECK_FALSE(trained);
  CHECK(strop::is_recording());
}

TEST_CASE("an operation waits for arrays that it did not say it uses") {
  const NDArray x = array({1, 2}), w = array({0, 0}), y = strop::zeros({2});
  Engine::global().push([&] { nap(), fill(w, 3); }, {.writes = {w.variable()}});
  Engine::global().push([&] { add(x, w, strop::into(y)); }, {.reads = {x.variable()}, .writes = {y.variable()}});
  CHECK(values(y) == std::vector<float>{4, 5});
}

TEST_CASE("an operator that has not said that it draws is refused where it waits its turn as well") {
  const NDArray x = strop::zeros({2});
  CHECK(sentence([&] { values(noise(x)); }).find("announces no random numbers") != std::string::npos);
  sentence([] { Engine::global().wait_all(); });
  Engine::global().push([&] { nap(); }, {.writes = {x.variable()}});
  CHECK(sentence([y = noise(x)] { values(y); }).find("announces no random numbers") != std::string::npos);
  CHECK(sentence([] { Engine::global().wait_all(); }).find("announces no random numbers") != std::string::npos);
}

TEST_CASE("random numbers come in the order of the calls") {
  const auto draw = [] {
    strop::random::seed(5);
    std::vector<std::vector<float>> all;
    std::vector<NDArray> arrays;
    const strop::train_mode scope;
    const NDArray many = strop::full({1 << 16}, 1), few = strop::full({16}, 1);
    for (int i = 0; i < 12; ++i) {
      arrays.push_back(strop::dropout(i % 3 == 2 ? few : many, {.p = 0.5F}));
      if (i % 4 == 3) arrays.push_back(strop::random::uniform({4}));
      if (i == 7) strop::random::seed(6);
    }
    for (const NDArray& a : arrays) all.push_back(values(a));
    return all;
  };
  const auto at_the_call = [&] {
    const From none(INT64_MAX);
    return draw();
  }();
  const From some(1 << 15);
  CHECK((draw() == at_the_call));
}

TEST_CASE("sparse arrays have no variable") {
  CHECK(sentence([] { strop::zeros({2, 2}, strop::csr).variable(); }) ==
        "variable: of a dense array only; a sparse one is computed at the call");
}
