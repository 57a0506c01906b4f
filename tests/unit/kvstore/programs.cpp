// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random programs against a store of plain numbers, with arrays of every size on their way.
#include <doctest/doctest.h>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>
#include "kvstore/worker_programs.hpp"

#include <map>
#include <string>
#include <vector>

using namespace strop;

namespace {

using Floats = std::vector<float>;

/// Keys with numbers, and nothing else.
struct PlainStore {
  std::map<std::string, Floats> stored;
  bool updates = false;
  void push(const std::string& key, const std::vector<Floats>& values) {
    Floats total = values[0];
    for (std::size_t k = 1; k < values.size(); ++k)
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += values[k][i];
    Floats& at = stored[key];
    for (std::size_t i = 0; i < total.size(); ++i) at[i] = updates ? at[i] * 0.5F + total[i] : total[i];
  }
};

Floats drawn(testing::Draws& draws, std::int64_t n) {
  Floats made(static_cast<std::size_t>(n));
  for (float& v : made) v = static_cast<float>(draws.number());
  return made;
}

void compare(std::uint64_t seed) {
  testing::Draws draws(seed);
  KVStore kv = KVStore::create(seed % 2 == 0 ? "local" : "device");
  PlainStore plain;
  const std::map<std::string, std::int64_t> keys{{"one", 1}, {"some", 1000}, {"many", 300'000}, {"none", 0}};
  for (const auto& [key, n] : keys) {
    plain.stored[key] = drawn(draws, n);
    kv.init(key, array(plain.stored[key]));
  }
  for (int step = 0; step < 60; ++step) {
    auto at = keys.begin();
    std::advance(at, draws.below(4));
    const auto& [key, n] = *at;
    const std::int64_t what = draws.below(8);
    if (what == 0) {
      plain.updates = true;
      kv.set_updater(testing::decayed);
    } else if (what < 5) {
      std::vector<Floats> values;
      std::vector<NDArray> arrays;
      for (std::int64_t k = draws.below(6); k >= 0; --k) {
        values.push_back(drawn(draws, n));
        arrays.push_back(array(values.back()) * 1);  // pending, where it is large
      }
      plain.push(key, values);
      kv.push(key, arrays);
    } else {
      const NDArray a = zeros({n}), b = zeros({n});
      kv.pull(key, {a, b});
      REQUIRE(b.to_vector<float>() == plain.stored[key]);
    }
  }
  for (const auto& [key, n] : keys) {
    const NDArray out = zeros({n});
    kv.pull(key, out);
    REQUIRE(out.to_vector<float>() == plain.stored[key]);
  }
}

}  // namespace

TEST_CASE("random programs give what plain numbers give") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    compare(seed);
  }
}

TEST_CASE("with every call handed to the engine as well") {
  set_asynchronous(true, 0);
  for (std::uint64_t seed = 100; seed < 106; ++seed) {
    CAPTURE(seed);
    compare(seed);
  }
  set_asynchronous(true);
}

TEST_CASE("what fails on the way to a gradient is thrown where its weight is looked at, and a whole push heals it") {
  KVStore kv = KVStore::create();
  const std::int64_t n = 400'000;
  kv.init("w", zeros({n}));
  const NDArray bad = zeros({n}), good = ones({n}), out = zeros({n});
  Engine::global().push([] { fail("the data is gone"); }, {.writes = {bad.variable()}});
  kv.push("w", {good, bad});
  kv.pull("w", out);
  CHECK(testing::sentence([&] { out.wait(); }).find("the data is gone") != std::string::npos);
  kv.push("w", {good, good});
  kv.pull("w", out);
  CHECK(out.to_vector<float>() == Floats(static_cast<std::size_t>(n), 2));
}

TEST_CASE("a push reads what an array has when it is pushed") {
  KVStore kv = KVStore::create();
  const std::int64_t n = 500'000;
  kv.init("w", zeros({n}));
  const NDArray g = ones({n}), h = ones({n});
  kv.push("w", {g, h});
  elemwise_add(g, h, into(g));
  const NDArray out = zeros({n});
  kv.pull("w", out);
  CHECK(out.to_vector<float>() == Floats(static_cast<std::size_t>(n), 2));
}

TEST_CASE("foreign memory may be changed as soon as a push has returned") {
  KVStore kv = KVStore::create();
  const std::int64_t n = 500'000;
  Floats mine(static_cast<std::size_t>(n), 1);
  kv.init("w", zeros({n}));
  kv.push("w", {from_pointer(mine.data(), {n}), ones({n})});
  for (float& v : mine) v = 9;
  Floats out(mine.size());
  kv.pull("w", from_pointer(out.data(), {n}));
  CHECK(out == Floats(mine.size(), 2));
}

TEST_CASE("views are pulled into, and the rest of their memory stays") {
  KVStore kv = KVStore::create();
  kv.init("w", full({2, 300'000}, 7));
  const NDArray whole = ones({4, 300'000});
  kv.pull("w", whole.slice(1, 3));
  CHECK(whole[0].to_vector<float>() == Floats(300'000, 1));
  CHECK(whole[1].to_vector<float>() == Floats(300'000, 7));
  CHECK(whole[3].to_vector<float>() == Floats(300'000, 1));
}
