// SPDX-License-Identifier: Apache-2.0
// The design page's spellings of stores and optimizers.
#include <strop/strop.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  const strop::NDArray w = strop::ones({2, 3}), g0 = strop::ones({2, 3}), g1 = strop::full({2, 3}, 2);
  strop::NDArray w0 = strop::zeros({2, 3}), w1 = strop::zeros({2, 3});

  auto kv = strop::KVStore::create("local");
  kv.init("w", w);
  kv.push("w", {g0, g1});
  kv.pull("w", {w0, w1});
  fmt::print("summed: {} {}\n", w0.to_vector<float>()[0], w1.to_vector<float>()[5]);
  // expect: summed: 3 3

  auto numbered = strop::KVStore::create("local");
  numbered.set_updater([](const std::string& key, const strop::NDArray& grad, strop::NDArray& weight) {
    fmt::print("key {}\n", key);
    weight = weight - 0.5 * grad;
  });
  numbered.init(7, w);
  numbered.pushpull(7, g1, w0);
  // expect: key 7
  fmt::print("updated: {}\n", w0.to_vector<float>()[0]);
  // expect: updated: 0

  auto trained = strop::KVStore::create("device");
  trained.set_optimizer(strop::optim::Sgd{.learning_rate = 0.1, .momentum = 0.9});
  trained.init("w", w);
  for (int step = 0; step < 2; ++step) trained.push("w", {g0, g0});
  trained.pull("w", w1);
  fmt::print("trained: {:.4f}\n", w1.to_vector<float>()[0]);
  // expect: trained: 0.4200
  trained.save_states("kvstore.states");
  trained.load_states("kvstore.states");
  std::remove("kvstore.states");
  fmt::print("worker {} of {}\n", kv.rank(), kv.num_workers());
  // expect: worker 0 of 1
  kv.barrier();

  auto rows = strop::KVStore::create("local");
  rows.init("e", strop::arange(0, 6).reshape({3, 2}).to(strop::row_sparse));
  strop::NDArray out = strop::zeros({3, 2}).to(strop::row_sparse);
  rows.row_sparse_pull("e", {out}, {strop::full({1}, 2, strop::i64)});
  fmt::print("rows {}, values {} {}\n", out.indices().to_vector<std::int64_t>()[0], out.data().to_vector<float>()[0],
             out.data().to_vector<float>()[1]);
  // expect: rows 2, values 4 5
}
