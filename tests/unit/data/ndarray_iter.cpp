// SPDX-License-Identifier: Apache-2.0
/// \file
/// Batches of the rows of arrays: names, what becomes of the last rows, orders, sparse rows, places to go on from.
#include <strop/data/ndarray_iter.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace strop;
using testing::sentence;

namespace {

using Floats = std::vector<float>;
using Rows = std::vector<Floats>;
using Pads = std::vector<std::int64_t>;

/// The elements of the first array of each batch of an epoch.
Rows epoch(DataIter& batches) {
  Rows rows;
  for (const DataBatch& batch : batches) rows.push_back(batch.data[0].to_vector<float>());
  return rows;
}
Pads pads(DataIter& batches) {
  Pads out;
  for (const DataBatch& batch : batches) out.push_back(batch.pad);
  return out;
}
Floats flat(const Rows& rows) {
  Floats out;
  for (const Floats& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}
NDArray count_to(int n) { return arange(n); }

}  // namespace

TEST_CASE("the last rows fill up, are left out or roll over, as MXNet has it") {
  NDArrayIter padded(count_to(10), count_to(10) * 2, {.batch_size = 4});
  for (int again = 0; again < 2; ++again) {
    Pads index, fills;
    Rows labels;
    for (const DataBatch& batch : padded) {
      index.insert(index.end(), batch.index.begin(), batch.index.end());
      fills.push_back(batch.pad);
      labels.push_back(batch.label.at(0).to_vector<float>());
    }
    CHECK(index == Pads{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1});
    CHECK(fills == Pads{0, 0, 2});
    CHECK(labels.back() == Floats{16, 18, 0, 2});
  }
  NDArrayIter discarded(count_to(10), {.batch_size = 4, .last_batch_handle = "discard"});
  for (int again = 0; again < 2; ++again) CHECK(epoch(discarded) == Rows{{0, 1, 2, 3}, {4, 5, 6, 7}});

  NDArrayIter small(count_to(3), {.batch_size = 4, .last_batch_handle = "discard"});
  CHECK(sentence([&] { epoch(small); }) ==
        "NDArrayIter: an epoch has 3 records, which is no batch of 4, and the rest is discarded");
  NDArrayIter rolled(count_to(10), {.batch_size = 4, .last_batch_handle = LastBatch::roll_over});
  CHECK(epoch(rolled) == Rows{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(epoch(rolled) == Rows{{8, 9, 0, 1}, {2, 3, 4, 5}, {6, 7, 8, 9}});
  CHECK(epoch(rolled) == Rows{{0, 1, 2, 3}, {4, 5, 6, 7}});
  // So many rows of the epoch before are the first ones, as MXNet 1.9.1 counts.
  const auto check_pads = [](int count, std::int64_t size, const std::vector<Pads>& wanted) {
    NDArrayIter batches(count_to(count), {.batch_size = size, .last_batch_handle = "roll_over"});
    for (const Pads& want : wanted) CHECK(pads(batches) == want);
  };
  check_pads(11, 4, {{0, 0}, {3, 0, 0}, {2, 0, 0}, {1, 0, 0}});
  check_pads(9, 4, {{0, 0}, {1, 0}, {2, 0}, {3, 0, 0}});
  check_pads(5, 3, {{0}, {2, 0}, {1, 0}, {0}});
  check_pads(2, 5, {{}, {}, {4}, {}, {3}});
  NDArrayIter wrapped(count_to(10), {.batch_size = 25});
  Floats three_times(25);
  for (int i = 0; i < 25; ++i) three_times[static_cast<std::size_t>(i)] = static_cast<float>(i % 10);
  CHECK(epoch(wrapped) == Rows{three_times});
  CHECK(pads(wrapped) == Pads{15});
}

TEST_CASE("a reset in the middle of an epoch begins one with the first row") {
  for (const char* rule : {"pad", "discard", "roll_over"}) {
    NDArrayIter batches(count_to(10), {.batch_size = 4, .last_batch_handle = rule});
    CHECK(batches.next());
    batches.reset();
    batches.reset();
    CHECK(batches.next());
    CHECK(batches.batch().data[0].to_vector<float>() == Floats{0, 1, 2, 3});
  }
  NDArrayIter rolled(count_to(10), {.batch_size = 4, .last_batch_handle = "roll_over"});
  rolled.next();
  rolled.next();
  rolled.reset();  // all full batches were given, though nobody asked for the end
  CHECK(rolled.next());
  CHECK(rolled.batch().data[0].to_vector<float>() == Floats{8, 9, 0, 1});
}

TEST_CASE("arrays have names, types and shapes of their own") {
  const NDArray x = zeros({6, 2, 3}), mask = ones({6}, i64), y = zeros({6}, f16);
  NDArrayIter named({{"data", x}, {"mask", mask}}, {{"answer", y}}, {.batch_size = 4});
  CHECK(named.provide_data() == std::vector<DataDesc>{{"data", {4, 2, 3}, f32}, {"mask", {4}, i64}});
  CHECK(named.provide_label() == std::vector<DataDesc>{{"answer", {4}, f16}});
  CHECK(named.next());
  CHECK(named.batch().data[1].dtype() == i64);
  CHECK(named.batch().data[0].shape() == Shape{4, 2, 3});
  NDArrayIter listed({x, mask}, y, {.batch_size = 2});
  CHECK(listed.provide_data()[0].name == "_0_data");
  CHECK(listed.provide_data()[1].name == "_1_data");
  CHECK(listed.provide_label()[0].name == "softmax_label");
  NDArrayIter one(std::vector<NDArray>{x}, {}, {.data_name = "x"});
  CHECK(one.provide_data() == std::vector<DataDesc>{{"x", {1, 2, 3}, f32}});
  CHECK(one.provide_label().empty());
  NDArrayIter empty_label(x, NDArray());
  CHECK(empty_label.next());
  CHECK(empty_label.batch().label.empty());
  const NDArray large = array<std::int64_t>({(std::int64_t{1} << 53) + 1, 2});
  NDArrayIter whole(large, {.batch_size = 2});
  whole.next();
  CHECK(whole.batch().data[0].to_vector<std::int64_t>() == large.to_vector<std::int64_t>());
}

TEST_CASE("a batch is a copy of what the arrays hold when it is made") {
  const NDArray x = count_to(4).copy();
  NDArrayIter batches(x, {.batch_size = 2});
  batches.next();
  batches.batch().data[0].view<float, 1>()[0] = 7;
  CHECK(x.to_vector<float>() == Floats{0, 1, 2, 3});
  const NDArray kept = batches.batch().data[0];
  x.view<float, 1>()[2] = 5;
  batches.next();
  CHECK(batches.batch().data[0].to_vector<float>() == Floats{5, 3});
  CHECK(kept.to_vector<float>() == Floats{7, 1});
}

TEST_CASE("orders follow from the seed and the epoch, and have each row once") {
  const auto make = [](std::uint64_t seed) {
    return NDArrayIter(count_to(1000), count_to(1000), {.batch_size = 100, .shuffle = true, .seed = seed});
  };
  NDArrayIter a = make(1), b = make(1), other = make(2);
  const Floats sorted = count_to(1000).to_vector<float>();
  std::set<Floats> orders;
  for (int again = 0; again < 3; ++again) {
    Floats rows, labels;
    for (const DataBatch& batch : a) {
      for (const float x : batch.data[0].to_vector<float>()) rows.push_back(x);
      for (const float x : batch.label[0].to_vector<float>()) labels.push_back(x);
    }
    CHECK(rows == labels);
    CHECK(rows == flat(epoch(b)));
    orders.insert(rows);
    orders.insert(flat(epoch(other)));
    std::sort(rows.begin(), rows.end());
    CHECK(rows == sorted);
  }
  CHECK(orders.size() == 6);
  // Each order is as likely as any other: of 3 rows 6, of 6,000 draws about 1,000 each (deviation 29).
  NDArrayIter three(count_to(3), {.batch_size = 3, .shuffle = true, .seed = 7});
  std::map<Floats, int> counts;
  for (int again = 0; again < 6000; ++again) ++counts[flat(epoch(three))];
  CHECK(counts.size() == 6);
  for (const auto& [order, count] : counts) CHECK(std::abs(count - 1000) < 150);
}

TEST_CASE("rows of sparse arrays, as dense ones are") {
  std::mt19937 random(3);
  for (const Dtype type : {f32, f64, i32}) {
    std::vector<float> values(40 * 7);
    for (float& value : values) value = random() % 3 == 0 ? static_cast<float>(random() % 9 + 1) : 0.0f;
    for (int row : {0, 5, 39}) std::fill_n(values.begin() + row * 7, 7, 0.0f);
    const NDArray x = array(values, {40, 7}).to(type);
    for (const Storage storage : {csr, row_sparse})
      for (const char* rule : {"pad", "discard", "roll_over"})
        for (const bool shuffled : {false, true}) {
          const NDArrayParams params{.batch_size = 9, .shuffle = shuffled, .last_batch_handle = rule, .seed = 5};
          NDArrayIter sparse(x.to(storage), x, params), plain(x, params);
          for (int again = 0; again < 3; ++again) {
            for (const DataBatch& batch : sparse) {
              REQUIRE(plain.next());
              CHECK(batch.data[0].storage() == storage);
              CHECK(batch.data[0].dtype() == type);
              batch.data[0].check_format();
              const auto wanted = plain.batch().data[0].to_vector<float>();
              CHECK(batch.data[0].to_vector<float>() == wanted);
              CHECK(batch.label[0].to_vector<float>() == wanted);
              CHECK(batch.index == plain.batch().index);
            }
            CHECK_FALSE(plain.next());
            plain.reset();
          }
        }
  }
  const NDArray narrow = csr_matrix(array({1, 2}), array<std::int32_t>({1, 0}), array<std::int32_t>({0, 1, 2}), {2, 2});
  NDArrayIter kept(narrow, {.batch_size = 2});
  kept.next();
  CHECK(kept.batch().data[0].indices().dtype() == i32);
  for (const Storage storage : {csr, row_sparse}) {  // nothing is stored
    NDArrayIter nothing(zeros({3, 2}, storage), {.batch_size = 2});
    CHECK(nothing.next());
    CHECK(nothing.batch().data[0].nnz() == 0);
    CHECK(nothing.batch().data[0].to(dense).to_vector<float>() == Floats{0, 0, 0, 0});
  }
}

TEST_CASE("what was stopped after any batch goes on with the same ones") {
  for (const char* rule : {"pad", "discard", "roll_over"})
    for (const bool shuffled : {false, true})
      for (const int rows : {2, 10, 12}) {
        if (rows < 4 && rule == std::string_view("discard")) continue;  // no batch
        const auto make = [&] {
          return NDArrayIter(count_to(rows), {.batch_size = 4, .shuffle = shuffled, .last_batch_handle = rule});
        };
        struct Seen {
          Pads index;
          std::int64_t pad;
          bool operator==(const Seen&) const = default;
        };
        // Every batch of three epochs, and where it was before each, and before each end.
        NDArrayIter whole = make();
        std::vector<Seen> all;
        std::vector<std::pair<std::string, std::size_t>> places;
        for (int e = 0; e < 3; ++e) {
          for (places.emplace_back(whole.position(), all.size()); whole.next();
               places.emplace_back(whole.position(), all.size()))
            all.push_back({whole.batch().index, whole.batch().pad});
          whole.reset();
        }
        for (const auto& [place, from] : places) {
          NDArrayIter again = make();
          again.resume(place);
          CHECK(again.position() == place);
          std::vector<Seen> rest;
          for (int e = 0; e < 3; ++e) {
            while (again.next()) rest.push_back({again.batch().index, again.batch().pad});
            again.reset();
          }
          REQUIRE(rest.size() >= all.size() - from);
          rest.resize(all.size() - from);
          CHECK(std::equal(rest.begin(), rest.end(), all.begin() + static_cast<std::ptrdiff_t>(from)));
        }
      }
  NDArrayIter batches(count_to(4), {.batch_size = 2});
  for (const char* wrong : {"", "x", "0 0", "0 9 0 0 0", "0 0 2 0 0", "0 -1 0 0 0", "0 0 0 0 0 1"})
    CHECK(sentence([&] { batches.resume(wrong); }) == cat("NDArrayIter: \"", wrong, "\" is no position in this data"));
}

TEST_CASE("what cannot be given in batches is refused in one sentence") {
  const NDArray x = zeros({4, 2});
  CHECK(sentence([&] { NDArrayIter({}, x, {}); }) == "NDArrayIter: there is no data");
  CHECK(sentence([&] { NDArrayIter(x, zeros({1}), {}); }) == "NDArrayIter: softmax_label has 1 row, data has 4");
  CHECK(sentence([&] { NDArrayIter(x, {.batch_size = 0}); }) == "NDArrayIter: batch_size is 0, expected 1 or more");
  CHECK(sentence([&] { NDArrayIter(x, {.last_batch_handle = "keep"}); }) ==
        "NDArrayIter: last_batch_handle is \"keep\", expected pad, discard or roll_over");
  CHECK(sentence([&] { NDArrayIter(zeros({0, 2}), {.batch_size = 1}); }) == "NDArrayIter: data has no rows");
  CHECK(sentence([&] { NDArrayIter(zeros({}), {.batch_size = 1}); }) ==
        "NDArrayIter: data has no dimension, expected rows along the first one");
  CHECK(sentence([&] { NDArrayIter({x, NDArray()}, {}, {}); }) ==
        "NDArrayIter: _1_data is an empty handle, expected an array");
  CHECK(sentence([&] { NDArrayIter({{"a", x}, {"a", x}}, {}, {}); }) == "NDArrayIter: two arrays are called a");
  NDArrayIter moved(x, {.batch_size = 2});
  const NDArrayIter to(std::move(moved));
  CHECK(sentence([&] { moved.next(); }) == "DataIter: this iterator was moved to another one");  // NOLINT
}
