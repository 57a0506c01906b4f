// SPDX-License-Identifier: Apache-2.0
/// \file
/// Batches of records that a test makes up: how they are filled, where epochs begin, what is thrown.
#include <doctest/doctest.h>
#include <strop/data/batches.hpp>
#include <strop/strop.hpp>

#include <algorithm>

using namespace strop;

namespace {

using Numbers = std::vector<std::int64_t>;

/// The numbers 10, 20, 30 …, of which a batch is their list; an empty one is 0.
struct Tens {
  /// `broken`: the record that cannot be read.
  explicit Tens(std::int64_t records, std::int64_t broken_record = -1) : count(records), broken(broken_record) {}

  void clear() { gathered.clear(); }
  detail::Index take(detail::Index n) {
    for (detail::Index k = 0; k < n; ++k, ++next) {
      if (next == count) return k;
      if (next == broken) fail("tens: record ", next, " is broken");
      gathered.push_back(10 * (next + 1));
    }
    return n;
  }
  void take_empty(detail::Index n) { gathered.insert(gathered.end(), static_cast<std::size_t>(n), 0); }
  void give(DataBatch& batch) const { batch.data.push_back(array(gathered)); }
  void rewind() { next = 0; }

  std::int64_t count, broken, next = 0;
  Numbers gathered;
};
static_assert(detail::RecordSource<Tens>);
static_assert(!detail::RecordSource<DataBatch>);

using Batches = detail::Batches<Tens>;

/// The records of a batch, their numbers and how many of them fill it; what stands behind the end of an epoch is empty.
struct Seen {
  Numbers records, index;
  std::int64_t pad = 0;
  bool operator==(const Seen&) const = default;
};
Seen next(Batches& batches) {
  DataBatch batch;
  if (!batches.next(batch)) return {};
  return {batch.data.at(0).to_vector<std::int64_t>(), batch.index, batch.pad};
}

}  // namespace

TEST_CASE("full batches, and an end that stays") {
  Batches batches("tens", 2, detail::Rest::rounded, 4);
  CHECK(next(batches) == Seen{{10, 20}, {0, 1}, 0});
  CHECK(next(batches) == Seen{{30, 40}, {2, 3}, 0});
  CHECK(next(batches) == Seen{});
  CHECK(next(batches) == Seen{});
  batches.begin_epoch(true);
  CHECK(next(batches) == Seen{{10, 20}, {0, 1}, 0});
}

TEST_CASE("records of the beginning fill the last batch, and the next epoch goes on behind them") {
  Batches batches("tens", 2, detail::Rest::rounded, 3);
  next(batches);
  CHECK(next(batches) == Seen{{30, 10}, {2, 0}, 1});
  CHECK(next(batches) == Seen{});
  batches.begin_epoch(true);
  CHECK(next(batches) == Seen{{20, 30}, {1, 2}, 0});
  CHECK(next(batches) == Seen{});
  batches.begin_epoch(true);
  CHECK(next(batches) == Seen{{10, 20}, {0, 1}, 0});
  // One that nobody has seen the end of begins anew, though the batch was made.
  next(batches);
  batches.begin_epoch(false);
  CHECK(next(batches) == Seen{{10, 20}, {0, 1}, 0});
}

TEST_CASE("a batch larger than all records has them several times") {
  Batches batches("tens", 5, detail::Rest::rounded, 2);
  CHECK(next(batches) == Seen{{10, 20, 10, 20, 10}, {0, 1, 0, 1, 0}, 3});
  batches.begin_epoch(true);
  CHECK(next(batches) == Seen{{20, 10, 20, 10, 20}, {1, 0, 1, 0, 1}, 4});
}

TEST_CASE("a batch that was filled to the very last record is followed by one from the first") {
  Batches batches("tens", 4, detail::Rest::rounded, 2);
  for (int epoch = 0; epoch < 3; ++epoch) {
    CHECK(next(batches) == Seen{{10, 20, 10, 20}, {0, 1, 0, 1}, 2});
    CHECK(next(batches) == Seen{});
    batches.begin_epoch(true);
  }
}

TEST_CASE("empty records fill the last batch where none are rounded") {
  Batches batches("tens", 2, detail::Rest::empty, 3);
  for (int epoch = 0; epoch < 2; ++epoch) {
    next(batches);
    CHECK(next(batches) == Seen{{30, 0}, {2, -1}, 1});
    CHECK(next(batches) == Seen{});
    batches.begin_epoch(true);
  }
}

TEST_CASE("no records are no batch") {
  for (const auto rest : {detail::Rest::rounded, detail::Rest::empty, detail::Rest::pad, detail::Rest::discard,
                          detail::Rest::roll_over}) {
    Batches batches("tens", 2, rest, 0);
    CHECK(next(batches) == Seen{});
    batches.begin_epoch(true);
    CHECK(next(batches) == Seen{});
  }
}

TEST_CASE("what a record that cannot be read leaves behind is in no batch") {
  Batches batches("tens", 2, detail::Rest::rounded, 4, 3);
  next(batches);
  CHECK_THROWS_WITH_AS(next(batches), "tens: record 3 is broken", Error);
  batches.begin_epoch(false);
  CHECK(next(batches) == Seen{{10, 20}, {0, 1}, 0});
}
