// SPDX-License-Identifier: Apache-2.0
/// \file
/// What every worker of a distributed store runs, threads and processes alike, and what one process makes of it.
#pragma once
#include <strop/strop.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace testing {

/// Numbers that every worker draws alike.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed * 2654435761U + 12345) {}
  std::int64_t below(std::int64_t n) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }
  /// Odd sixteenths and thirds, whose sums depend on their order.
  double number() { return static_cast<double>(below(2001) - 1000) / 48.0; }

 private:
  std::uint64_t state_;
};

inline strop::NDArray drawn_dense(Draws& draws, const strop::Shape& shape, strop::Dtype type) {
  std::vector<double> values(static_cast<std::size_t>(shape.size()));
  for (double& v : values) v = draws.number();
  return strop::array(values, shape).to(type);
}
/// Some rows of many, none of them now and then.
inline strop::NDArray drawn_rows(Draws& draws, const strop::Shape& shape, strop::Dtype type) {
  std::vector<std::int64_t> rows;
  const bool none = draws.below(5) == 0;
  for (std::int64_t r = 0; r < shape[0]; ++r)
    if (!none && draws.below(4) == 0) rows.push_back(r);
  const auto stored = static_cast<std::int64_t>(rows.size());
  if (stored == 0) return strop::zeros(shape, strop::row_sparse, type);
  return strop::row_sparse_array(drawn_dense(draws, {stored, shape[1]}, type), strop::array(rows), shape);
}

/// The same bits, of any storage.
inline bool same_bits(const strop::NDArray& a, const strop::NDArray& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && a.storage() == b.storage() &&
         a.to_vector<double>() == b.to_vector<double>() &&
         (a.storage() != strop::row_sparse || a.nnz() == 0 ||
          a.indices().to_vector<std::int64_t>() == b.indices().to_vector<std::int64_t>());
}

/// An update in which the order of pushes matters.
inline void decayed(const std::string&, const strop::NDArray& gradient, strop::NDArray& weight) {
  weight = weight * 0.5F + gradient;
}

/// Pushes of every worker in a random order of keys of many kinds. Throws where the store's arrays are not, bit for
/// bit, those of a store of one process that is pushed the arrays of all workers.
inline void run_random_program(strop::KVStore& kv, std::uint64_t seed, int steps, bool update) {
  struct Kind {
    const char* key;
    strop::Shape shape;
    strop::Dtype type;
    bool rows;
  };
  const Kind kinds[] = {{"bias", {3}, strop::f32, false},          {"halves", {257}, strop::f16, false},
                        {"weight", {70, 1001}, strop::f32, false}, {"wide", {600, 500}, strop::f32, false},
                        {"exact", {2049}, strop::f64, false},      {"counts", {5, 400}, strop::i32, false},
                        {"none", {0, 4}, strop::f32, false},       {"table", {60, 7}, strop::f32, true},
                        {"small table", {9, 1}, strop::f16, true}};
  const int workers = kv.num_workers();
  strop::KVStore one = strop::KVStore::create("local");
  Draws draws(seed);
  for (const Kind& k : kinds) {
    const strop::NDArray start = k.rows ? drawn_rows(draws, k.shape, k.type) : drawn_dense(draws, k.shape, k.type);
    one.init(k.key, start);
    // Worker 0's is taken.
    kv.init(k.key, kv.rank() == 0 ? start
                   : k.rows       ? strop::zeros(k.shape, strop::row_sparse, k.type)
                                  : strop::zeros(k.shape, k.type));
  }
  if (update) {
    kv.set_updater(decayed);
    one.set_updater(decayed);
  }
  for (int step = 0; step < steps; ++step) {
    const Kind& k = kinds[draws.below(static_cast<std::int64_t>(std::size(kinds)))];
    if (update && k.type == strop::i32) continue;  // half of a count is none
    std::vector<strop::NDArray> all;
    for (int w = 0; w < workers; ++w)
      all.push_back(k.rows ? drawn_rows(draws, k.shape, k.type) : drawn_dense(draws, k.shape, k.type));
    kv.push(k.key, all[static_cast<std::size_t>(kv.rank())], static_cast<int>(draws.below(3)));
    one.push(k.key, all);
  }
  for (const Kind& k : kinds) {
    strop::NDArray got = k.rows ? strop::zeros(k.shape, strop::row_sparse, k.type) : strop::zeros(k.shape, k.type),
                   expected = got.copy();
    if (k.rows) {
      const strop::NDArray ids = strop::arange(0, k.shape[0], strop::i64);
      kv.row_sparse_pull(k.key, got, ids);
      one.row_sparse_pull(k.key, expected, ids);
    } else {
      kv.pull(k.key, got);
      one.pull(k.key, expected);
    }
    if (!same_bits(got, expected))
      strop::fail("worker ", kv.rank(), " of ", workers, ", seed ", seed, ": key '", k.key,
                  "' is not what one process has");
  }
  kv.barrier();
}

/// Each worker of a dist_async store pushes at its own pace, and looks at what is there. Throws Error where a push was
/// lost, applied twice or not before a later pull of the worker that pushed it.
inline void run_counted_pushes(strop::KVStore& kv, int steps) {
  const strop::Shape small{3}, large{300, 700}, table{50, 4};
  const auto refuse = [&](const auto&... parts) { strop::fail("worker ", kv.rank(), ": ", parts...); };
  const auto key = [](const char* kind, int k) { return strop::cat(kind, k); };
  for (int k = 0; k < 4; ++k) {
    kv.init(key("small", k), strop::full(small, kv.rank() == 0 ? 0 : 7));
    kv.init(key("large", k), strop::zeros(large));
    kv.init(key("table", k), strop::zeros(table, strop::row_sparse));
  }
  kv.set_updater([](const std::string&, const strop::NDArray& g, strop::NDArray& w) { w = w + g; });
  const int own = steps * (kv.rank() + 1);
  int all = 0;
  for (int w = 0; w < kv.num_workers(); ++w) all += steps * (w + 1);
  const auto row = strop::array({0, 3 + kv.rank()}).to(strop::i64);
  const auto rows = strop::row_sparse_array(strop::ones({2, 4}), row, table);
  const auto seen = [&](const std::string& name, const strop::Shape& shape) {
    const strop::NDArray out = strop::zeros(shape);
    kv.pull(name, out);
    return static_cast<double>(out.to_vector<float>()[0]);
  };
  for (int i = 0; i < own; ++i) {
    const int k = i % 4;
    kv.push(key("small", k), strop::ones(small));
    kv.push(key("large", k), strop::ones(large));
    kv.push(key("table", k), rows);
    if (i % 3 == 0 && seen(key("large", k), large) < i / 4 + 1) refuse("a push of 'large", k, "' is not there");
    if (i % 3 == 1 && seen(key("small", k), small) < i / 4 + 1) refuse("a push of 'small", k, "' is not there");
  }
  kv.barrier();
  double smalls = 0, larges = 0, shared = 0, mine = 0;
  for (int k = 0; k < 4; ++k) {
    smalls += seen(key("small", k), small);
    larges += seen(key("large", k), large);
    const strop::NDArray out = strop::zeros(table, strop::row_sparse);
    kv.row_sparse_pull(key("table", k), out, row);
    shared += out.data().to_vector<float>()[0];
    mine += out.data().to_vector<float>()[4];
    strop::NDArray whole = strop::zeros(table);
    kv.pull(key("table", k), whole, 0, false);
    if (whole.to_vector<float>()[0] != out.data().to_vector<float>()[0])
      refuse("'table", k, "' is not what its rows are");
  }
  if (smalls != all || larges != all || shared != all || mine != own)
    refuse("there are ", smalls, ", ", larges, " and ", shared, " pushes, expected ", all, ", and ", mine,
           " of its own, expected ", own);
  kv.barrier();
}

}  // namespace testing
