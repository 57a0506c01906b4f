// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays in one arena: calls on them are ordered, fail and are versioned as those on arrays of their own.
#include <strop/strop.hpp>
#include <strop/tensor/arena.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

using strop::Engine, strop::f32, strop::NDArray, strop::Shape;
using strop::detail::Arena, strop::detail::array_in, strop::detail::follow, strop::detail::Ref;
using testing::sentence;

namespace {

struct Triple {
  static constexpr std::string_view name = "arena_triple";
  constexpr auto forward(auto x) const { return 3 * x; }
};
constexpr strop::Op<Triple> triple;
struct Bomb {
  static constexpr std::string_view name = "arena_bomb";
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E> x, strop::View<E>) const {
    if (x[0] > 0) throw std::runtime_error("boom");
  }
};
constexpr strop::Op<Bomb> bomb;

constexpr std::int64_t rows = 1024, page = rows * 4;
Ref<Arena> arena_of(std::int64_t pages) { return Ref(new Arena(strop::cpu(), pages * page)); }
void fill(const NDArray& a, float value) {
  for (float& v : a.view<float>()) v = value;
}
std::vector<float> all(float value) { return std::vector<float>(static_cast<std::size_t>(rows), value); }
std::vector<float> values(const NDArray& a) { return a.to_vector<float>(); }
strop::detail::Buffer& buffer(const NDArray& a) { return *a.body().buffer; }

/// Every call is handed to the engine as long as it lives.
struct Handed {
  Handed() { strop::set_asynchronous(true, 0); }
  Handed(const Handed&) = delete;
  Handed& operator=(const Handed&) = delete;
  ~Handed() { strop::set_asynchronous(true, before); }
  const std::int64_t before = strop::detail::order_from;
};

/// Holds what is pushed on an array until it is opened.
struct Gate {
  explicit Gate(const NDArray& a, bool writes = true) {
    const auto wait = [this] {
      while (!open) std::this_thread::yield();
    };
    if (writes)
      Engine::global().push(wait, {.writes = {a.variable()}});
    else
      Engine::global().push(wait, {.reads = {a.variable()}});
  }
  std::atomic<bool> open{false};
};

}  // namespace

TEST_CASE("arena: parts are arrays, beside each other and at the same bytes") {
  const auto arena = arena_of(2);
  const NDArray a = array_in(arena, 0, {rows}, f32), b = array_in(arena, page, {rows / 2, 2}, f32);
  fill(a, 1);
  fill(b, 2);
  CHECK(values(triple(a)) == all(3));
  CHECK(values(a + b.reshape({rows})) == all(3));
  const NDArray again = array_in(arena, 0, {rows}, f32);
  CHECK(again.address() == a.address());
  triple(b.reshape({rows}), strop::into(again));
  CHECK(values(again) == all(6));
  CHECK(values(b.reshape({rows})) == all(2));
  CHECK(array_in(arena, 64, {0, 3}, f32).to_vector<float>().empty());
}

TEST_CASE("arena: the memory stays until the last part, in any order, and counts once") {
  strop::memory::release_cached(strop::cpu());
  const auto live = [] { return strop::memory::statistics(strop::cpu()).live_bytes; };
  const std::int64_t before = live();
  for (int order = 0; order < 6; ++order) {
    std::optional<Ref<Arena>> arena = arena_of(64);
    const std::int64_t taken = live() - before;
    CHECK(taken >= 64 * page);
    std::optional<NDArray> a = array_in(*arena, 0, {rows}, f32), b = array_in(*arena, 63 * page, {rows}, f32);
    CHECK(live() - before == taken);
    for (int step = 0; step < 3; ++step) {
      CHECK(live() - before == taken);
      const int which = (order % 2 == 0 ? step + order / 2 : 6 - step - order / 2) % 3;
      if (which == 0) arena.reset();
      if (which == 1) a.reset();
      if (which == 2) b.reset();
      if (a) fill(*a, 1);
      if (b) fill(*b, 2);
    }
    CHECK(live() == before);
  }
}

TEST_CASE("arena: what does not lie in it is refused") {
  const auto arena = arena_of(2);
  CHECK(sentence([&] { array_in(arena, page, {2 * rows}, f32); }) ==
        "arena: a part of 8192 bytes at 4096, expected to lie in 8192 bytes");
  CHECK(sentence([&] { Arena::part(arena, -64, 8); }) ==
        "arena: a part of 8 bytes at -64, expected to lie in 8192 bytes");
  CHECK(sentence([&] { Arena::part(arena, INT64_MAX - 63, 8); }).ends_with("expected to lie in 8192 bytes"));
  CHECK(sentence([&] { Arena::part(arena, 0, INT64_MAX); }).ends_with("expected to lie in 8192 bytes"));
  CHECK(sentence([&] { Arena::part(arena, 4, 8); }) == "arena: a part at byte 4, expected a multiple of 64");
}

TEST_CASE("arena: each part has an order of its own") {
  const auto arena = arena_of(2);
  const NDArray a = array_in(arena, 0, {rows}, f32), b = array_in(arena, page, {rows}, f32);
  fill(b, 1);
  Gate gate(a);
  CHECK(a.busy());
  CHECK_FALSE(b.busy());
  CHECK(values(triple(b)) == all(3));  // waits for nothing
  CHECK_FALSE(buffer(a).is_foreign());
  gate.open = true;
  a.wait();
}

TEST_CASE("arena: calls on parts are handed to the engine, and return before they have run") {
  const Handed handed;
  const auto arena = arena_of(2);
  NDArray a = array_in(arena, 0, {rows}, f32), b = array_in(arena, page, {rows}, f32);
  fill(a, 1);
  Gate gate(a);
  triple(a, strop::into(b));
  CHECK(b.busy());
  CHECK(buffer(b).version() == 1);
  CHECK_FALSE(buffer(b).is_ahead());  // no memory was taken for it
  gate.open = true;
  CHECK(values(b) == all(3));
}

TEST_CASE("arena: what goes while calls on it are pending keeps the memory until they have run") {
  const Handed handed;
  const NDArray result = strop::zeros({rows});
  std::optional<Gate> gate;
  {
    const auto arena = arena_of(1);
    const NDArray a = array_in(arena, 0, {rows}, f32);
    fill(a, 5);
    gate.emplace(a);
    triple(a, strop::into(result));
  }
  const NDArray other = strop::full({rows}, 9);  // would get the memory, were it free
  gate->open = true;
  CHECK(values(result) == all(15));
  CHECK(values(other) == all(9));
}

TEST_CASE("arena: a part that follows another waits for its writes and for who reads it") {
  for (const bool writes : {true, false}) {
    const Handed handed;
    const auto arena = arena_of(1);
    const NDArray a = array_in(arena, 0, {rows}, f32), b = array_in(arena, 0, {rows}, f32);
    const NDArray x = strop::full({rows}, 2), seen = strop::zeros({rows});
    fill(a, 1);
    const std::uint64_t filled = buffer(a).version();
    Gate gate(a, writes);
    triple(a, strop::into(seen));
    follow(buffer(b), buffer(a));
    triple(x, strop::into(b));
    CHECK(b.busy());
    CHECK(buffer(a).version() == filled);
    CHECK(buffer(b).version() == 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(*reinterpret_cast<const float*>(b.address()) == 1);  // the bytes are still those of `a`
    gate.open = true;
    CHECK(values(b) == all(6));
    CHECK(values(seen) == all(3));  // not 18: it read before the bytes were taken over
  }
}

TEST_CASE("arena: two values take turns at the same bytes, again and again") {
  const Handed handed;
  const auto arena = arena_of(2);
  const NDArray a = array_in(arena, 0, {rows}, f32), b = array_in(arena, 0, {rows}, f32);
  const NDArray sum = array_in(arena, page, {rows}, f32);
  fill(sum, 0);
  float expected = 0;
  for (int round = 1; round <= 50; ++round) {
    const NDArray x = strop::full({rows}, round);
    follow(buffer(a), buffer(b));
    triple(x, strop::into(a));
    strop::elemwise_add(sum, a, strop::into(sum));
    follow(buffer(b), buffer(a));
    strop::negative(x, strop::into(b));
    strop::elemwise_add(sum, b, strop::into(sum));
    expected += static_cast<float>(2 * round);
  }
  CHECK(values(sum) == all(expected));
}

TEST_CASE("arena: a failed value poisons no other part, and stays failed where it was") {
  const Handed handed;
  const auto arena = arena_of(2);
  const NDArray a = array_in(arena, 0, {rows}, f32), b = array_in(arena, 0, {rows}, f32);
  const NDArray beside = array_in(arena, page, {rows}, f32);
  const NDArray x = strop::full({rows}, 2);
  fill(beside, 1);
  bomb(x, strop::into(a));
  CHECK(sentence([&] { a.wait(); }).find("boom") != std::string::npos);
  CHECK(values(triple(beside)) == all(3));
  follow(buffer(b), buffer(a));
  triple(x, strop::into(b));
  CHECK(values(b) == all(6));
  CHECK(sentence([&] { a.wait(); }).find("boom") != std::string::npos);
  // The other way as well: what follows one that is on its way to fail.
  Gate gate(x);
  bomb(x, strop::into(b));
  follow(buffer(a), buffer(b));
  const NDArray y = strop::full({rows}, -1);
  triple(y, strop::into(a));
  gate.open = true;
  CHECK(values(a) == all(-3));
  CHECK(sentence([&] { b.wait(); }).find("boom") != std::string::npos);
  CHECK(sentence([] { Engine::global().wait_all(); }).find("boom") != std::string::npos);
  while (!sentence([] { Engine::global().wait_all(); }).empty()) {  // each failure is told once: that of the other part
  }
}

TEST_CASE("arena: what backward kept is checked by the part's own version") {
  const auto arena = arena_of(1);
  const NDArray a = array_in(arena, 0, {rows}, f32), b = array_in(arena, 0, {rows}, f32);
  fill(a, 2);
  const std::uint64_t a_before = buffer(a).version(), b_before = buffer(b).version();
  triple(a, strop::into(b));  // element by element in place
  CHECK(buffer(a).version() == a_before);
  CHECK(buffer(b).version() == b_before + 1);
}

TEST_CASE("arena: in foreign memory parts are foreign, and it is given back with the last one") {
  bool given_back = false;
  alignas(64) static float memory[256];
  {
    NDArray part;
    {
      const NDArray whole = strop::from_pointer(memory, {256}, [&](void*) { given_back = true; });
      part = array_in(Ref(new Arena(whole.body().buffer)), 64, {16}, f32);
    }
    CHECK(buffer(part).is_foreign());
    fill(part, 4);
    CHECK_FALSE(given_back);
  }
  CHECK(given_back);
  CHECK(memory[16] == 4);
  CHECK(memory[31] == 4);
  CHECK(memory[32] == 0);
}

TEST_CASE("arena: bytes of no live part are closed to the address sanitizer") {
  using strop::memory::detail::is_poisoned;
  const bool guarded = strop::memory::detail::guards_memory();
  const auto arena = arena_of(2);
  const std::byte* const first = arena->address();
  CHECK(is_poisoned(first) == guarded);
  NDArray a = array_in(arena, 0, {100}, f32), same = array_in(arena, 0, {50}, f32);
  NDArray b = array_in(arena, 448, {25}, f32);
  CHECK_FALSE(is_poisoned(first + 399));
  CHECK(is_poisoned(first + 400) == guarded);
  CHECK(is_poisoned(first + 447) == guarded);
  CHECK_FALSE(is_poisoned(first + 448));
  CHECK(is_poisoned(first + 548) == guarded);
  a = NDArray();
  CHECK_FALSE(is_poisoned(first + 199));
  CHECK(is_poisoned(first + 256) == guarded);
  same = NDArray();
  CHECK(is_poisoned(first) == guarded);
  CHECK_FALSE(is_poisoned(first + 448));
  b = NDArray();
  CHECK(is_poisoned(first + 448) == guarded);
}

TEST_CASE("arena: where memory runs out nothing is lost") {
  const auto live = [] { return strop::memory::statistics(strop::cpu()).live_bytes; };
  strop::memory::release_cached(strop::cpu());
  const std::int64_t before = live();
  strop::memory::inject_failures(1);
  CHECK_THROWS_AS(arena_of(100000), strop::Error);
  strop::memory::inject_failures(0);
  CHECK(live() == before);
}
