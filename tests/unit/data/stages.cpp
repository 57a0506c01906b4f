// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any source as an iterator, iterators over iterators, reading ahead: order, ends, failures, forks.
#include <strop/data/stages.hpp>
#include <strop/strop.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace strop;
using test::Folder;
using test::put_file;
using test::sentence;

namespace {

using Integers = std::vector<std::int64_t>;

/// Batches of one number, 0, 1, 2 …; `broken`: the one that cannot be made. Without a place to go on from.
struct Counting {
  std::int64_t count, broken = -1, next_number = 0, epochs = 0;
  std::atomic<int>* made = nullptr;
  bool next(DataBatch& batch) {
    if (next_number == count) return false;
    if (next_number == broken) fail("Counting: number ", broken, " is broken");
    batch = {};
    batch.data.push_back(array(Integers{100 * epochs + next_number++}));
    if (made != nullptr) ++*made;
    return true;
  }
  void begin_epoch(bool) { next_number = 0, ++epochs; }
  std::vector<DataDesc> provide_data() const { return {{"count", {1}, i64}}; }
  std::vector<DataDesc> provide_label() const { return {}; }
};
static_assert(BatchSource<Counting>);
static_assert(!BatchSource<DataIter>);

Integers epoch(DataIter& batches) {
  Integers out;
  for (const DataBatch& batch : batches)
    for (const auto number : batch.data.at(0).to_vector<std::int64_t>()) out.push_back(number);
  return out;
}
NDArrayIter rows(int n, const NDArrayParams& params = {}) { return NDArrayIter(arange(0, n, i64), params); }

}  // namespace

TEST_CASE("any source of batches is an iterator, made ahead or not") {
  for (const std::int64_t ahead : {0, 1, 5}) {
    DataIter batches(Counting{.count = 3}, ahead);
    CHECK(batches.provide_data() == std::vector<DataDesc>{{"count", {1}, i64}});
    CHECK(epoch(batches) == Integers{0, 1, 2});
    CHECK(epoch(batches) == Integers{100, 101, 102});
    CHECK_FALSE(batches.next());
    CHECK_FALSE(batches.has_position());
    CHECK(sentence([&] { batches.position(); }) == "DataIter: this pipeline cannot say where it is");
    CHECK(sentence([&] { batches.resume("0"); }) == "DataIter: this pipeline cannot be resumed");
    DataIter moved(std::move(batches));
    CHECK(epoch(moved).size() == 3);
    DataIter broken(Counting{.count = 3, .broken = 2}, ahead);
    CHECK(broken.next());
    CHECK(broken.next());
    for (int again = 0; again < 2; ++again) CHECK(sentence([&] { broken.next(); }) == "Counting: number 2 is broken");
    broken.reset();
    CHECK(broken.next());
    CHECK(broken.batch().data[0].item<int>() == 100);
  }
  DataIter holds = rows(4, {.batch_size = 2});  // any iterator is one
  CHECK(epoch(holds) == Integers{0, 1, 2, 3});
}

TEST_CASE("an epoch of so many batches of another iterator") {
  ResizeIter more(rows(4, {.batch_size = 2}), 3);
  for (int again = 0; again < 2; ++again) CHECK(epoch(more) == Integers{0, 1, 2, 3, 0, 1});
  ResizeIter fewer(rows(6, {.batch_size = 2}), 2), going_on(rows(6, {.batch_size = 2}), 2, false);
  for (int again = 0; again < 2; ++again) CHECK(epoch(fewer) == Integers{0, 1, 2, 3});
  CHECK(epoch(going_on) == Integers{0, 1, 2, 3});
  CHECK(epoch(going_on) == Integers{4, 5, 0, 1});
  CHECK(more.provide_data() == std::vector<DataDesc>{{"data", {2}, i64}});
  CHECK(sentence([] { ResizeIter(rows(4), 0); }) == "ResizeIter: size is 0, expected 1 or more");
  ResizeIter nothing(DataIter(Counting{.count = 0}), 1);
  CHECK(sentence([&] { nothing.next(); }) == "ResizeIter: the iterator has no batches");
  CHECK_FALSE(ResizeIter(DataIter(Counting{.count = 1}), 1).has_position());
  for (const char* wrong : {"", "1", "9/0:0 0 0 0 0", "x/0:", "1/9:0 0 0"})
    CHECK(sentence([&] { more.resume(wrong); }).find("is no position in these batches") != std::string::npos);
}

TEST_CASE("batches of several iterators side by side, made ahead") {
  std::vector<DataIter> several;
  several.push_back(NDArrayIter(arange(10), arange(10) * 2, {.batch_size = 4}));
  several.push_back(NDArrayIter({{"x", arange(10) * 3}}, {}, {.batch_size = 4}));
  PrefetchingIter both(std::move(several), {.rename_data = {{{"data", "a"}}, {{"x", "b"}}}, .rename_label = {{}, {}}});
  CHECK(both.provide_data() == std::vector<DataDesc>{{"a", {4}, f32}, {"b", {4}, f32}});
  CHECK(both.provide_label() == std::vector<DataDesc>{{"softmax_label", {4}, f32}});
  for (int again = 0; again < 2; ++again) {
    Integers pads;
    for (const DataBatch& batch : both) {
      CHECK(allclose(batch.data[0] * 3, batch.data[1]));
      CHECK(allclose(batch.data[0] * 2, batch.label[0]));
      CHECK(batch.index.size() == 4);
      pads.push_back(batch.pad);
    }
    CHECK(pads == Integers{0, 0, 2});
  }
  const auto joined = [](DataIter first, DataIter second) {
    std::vector<DataIter> list;
    list.push_back(std::move(first));
    list.push_back(std::move(second));
    return PrefetchingIter(std::move(list));
  };
  PrefetchingIter uneven = joined(rows(4, {.batch_size = 2}), rows(2, {.batch_size = 2}));
  CHECK(uneven.next());
  CHECK(sentence([&] { uneven.next(); }) == "PrefetchingIter: one iterator has ended and another one has not");
  PrefetchingIter pads = joined(rows(4, {.batch_size = 2}), rows(1, {.batch_size = 2}));
  CHECK(sentence([&] { pads.next(); }) ==
        "PrefetchingIter: of one iterator 0 rows only fill the batch, of another one 1");
  PrefetchingIter broken = joined(DataIter(Counting{.count = 3}), DataIter(Counting{.count = 3, .broken = 1}));
  CHECK(broken.next());
  CHECK(sentence([&] { broken.next(); }) == "Counting: number 1 is broken");
  CHECK(sentence([&] { broken.next(); }) == "Counting: number 1 is broken");
  CHECK(sentence([] { PrefetchingIter(std::vector<DataIter>()); }) == "PrefetchingIter: there is no iterator");
  CHECK(sentence([] { PrefetchingIter(rows(4), {.rename_data = {{}, {}}}); }) ==
        "PrefetchingIter: rename_data has names for 2 iterators, there are 1");
}

TEST_CASE("stages over stages give the same batches as none, wherever they are stopped or reset") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 11; ++i) text += cat(i, '\n');
  put_file(folder / "a.csv", text);
  // What is made ahead of the caller, in two places, says nothing of what the caller has seen.
  const auto make = [&](int kind, std::int64_t ahead) -> DataIter {
    const CSVParams csv{.data_shape = {1}, .batch_size = 4, .prefetch_buffer = ahead};
    const NDArrayParams array{.batch_size = 4, .shuffle = true, .last_batch_handle = "roll_over"};
    DataIter inner = kind % 2 == 0 ? DataIter(CSVIter(folder / "a.csv", csv)) : DataIter(rows(11, array));
    if (kind / 2 == 1) inner = ResizeIter(std::move(inner), 4);
    return ahead == 0 ? std::move(inner) : DataIter(PrefetchingIter(std::move(inner), {.prefetch_buffer = ahead}));
  };
  for (int kind = 0; kind < 4; ++kind)
    for (const std::int64_t ahead : {1, 2, 7}) {
      std::mt19937 random(static_cast<unsigned>(kind));
      DataIter plain = make(kind, 0), staged = make(kind, ahead);
      for (int step = 0; step < 60; ++step) {
        if (random() % 5 == 0) plain.reset(), staged.reset();
        const bool more = plain.next();
        REQUIRE(staged.next() == more);
        if (!more) {
          plain.reset(), staged.reset();
          continue;
        }
        REQUIRE(staged.batch().index == plain.batch().index);
        CHECK(staged.batch().pad == plain.batch().pad);
        CHECK(staged.batch().data[0].to_vector<float>() == plain.batch().data[0].to_vector<float>());
        if (random() % 4 == 0) {
          DataIter again = make(kind, ahead);
          again.resume(staged.position());
          staged = std::move(again);
          again = make(kind, 0);
          again.resume(plain.position());
          plain = std::move(again);
        }
      }
    }
}

TEST_CASE("what is made ahead is no more than was asked for, and ends with the iterator") {
  std::atomic<int> made = 0;
  {
    DataIter batches(Counting{.count = 1000, .made = &made}, 3);
    batches.next();
    Engine::global().wait_all();
    CHECK(made == 4);
    batches.next();
  }
  CHECK(made <= 5);
  const int then = made;
  Engine::global().wait_all();
  CHECK(made == then);
}

TEST_CASE("both processes go on behind a fork while batches are made ahead") {
  if (detail::watches_threads) return;  // the thread sanitizer ends a child that starts threads
  const Folder folder;
  std::string text;
  for (int i = 0; i < 4000; ++i) text += cat(i, '\n');
  put_file(folder / "a.csv", text);
  CSVIter csv(folder / "a.csv", {.data_shape = {1}, .batch_size = 16});
  PrefetchingIter ahead(rows(4000, {.batch_size = 16, .shuffle = true}), {.prefetch_buffer = 4});
  NDArrayIter plain = rows(4000, {.batch_size = 16, .shuffle = true});
  const auto same = [&](int from, int to) {
    bool good = true;
    for (int k = from; k < to; ++k) {
      good = good && csv.next() && ahead.next() && plain.next();
      good = good && csv.batch().index[0] == 16 * k && ahead.batch().index == plain.batch().index;
    }
    return good;
  };
  CHECK(same(0, 10));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(same(10, 250) ? 0 : 1);
  CHECK(same(10, 250));
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("iterators over one array at once") {
  const NDArray x = arange(1000);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      PrefetchingIter batches(NDArrayIter(x, x, {.batch_size = 50, .shuffle = t % 2 == 0}));
      for (int again = 0; again < 3; ++again)
        for (const DataBatch& batch : batches) {
          const auto got = batch.data[0].to_vector<float>();
          for (std::size_t k = 0; k < got.size(); ++k) wrong += got[k] == static_cast<float>(batch.index[k]) ? 0 : 1;
        }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a resized epoch that is resumed at its end goes on with the next one") {
  const auto made = [] { return ResizeIter(rows(11, {.batch_size = 4}), 2); };
  ResizeIter whole = made();
  CHECK(whole.next());
  CHECK(whole.next());
  const std::string place = whole.position();
  ResizeIter again = made();
  again.resume(place);
  for (ResizeIter* one : {&whole, &again}) {
    CHECK(!one->next());
    one->reset();
    CHECK(one->next());
  }
  CHECK(again.batch().index == whole.batch().index);
}

TEST_CASE("a source is given an empty batch each time") {
  struct Counting {
    std::int64_t at = 0;
    bool next(DataBatch& batch) {
      if (at == 3) return false;
      batch.data.push_back(full({1}, static_cast<double>(++at)));
      if (at == 1) batch.pad = 1;
      return true;
    }
    bool last() const { return at == 3; }
    void begin_epoch(bool) { at = 0; }
    std::vector<DataDesc> provide_data() const { return {{"data", Shape{1}, f32}}; }
    std::vector<DataDesc> provide_label() const { return {}; }
  };
  for (const std::int64_t ahead : {0, 3}) {
    DataIter batches(Counting{}, ahead);
    CHECK(batches.next());
    batches.reset();
    for (int k = 1; k <= 3; ++k) {
      CHECK(batches.next());
      CHECK(batches.batch().data.size() == 1);
      CHECK(batches.batch().pad == (k == 1 ? 1 : 0));
    }
    CHECK(!batches.next());
  }
}
