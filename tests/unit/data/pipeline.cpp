// SPDX-License-Identifier: Apache-2.0
/// \file
/// Formats of one's own, and stages over any reader, against a plain loop.
#include <strop/data/pipeline.hpp>
#include <strop/data/text_lines.hpp>
#include <strop/strop.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace strop;
using test::Folder;
using test::put_file;
using test::sentence;

namespace {

using Integers = std::vector<std::int64_t>;

/// Records of a byte that is the class and `width` bytes of samples.
struct Sensor {
  std::string path = "sensor.rec";
  std::int64_t width = 3;
  static constexpr Range range[] = {{"width", 1, 4096}};
  auto open() const { return RecordReader(path); }
  Example parse(std::string_view record) const {
    if (std::ssize(record) != width + 1) fail("it has ", record.size(), " bytes, expected ", width + 1);
    return {{array(std::vector<float>(record.begin() + 1, record.end()))}, {array<std::int32_t>({record[0]})}};
  }
};
static_assert(DataFormat<Sensor>);
static_assert(!DataFormat<Example>);

/// The same that reads a part by itself.
struct Parted {
  std::string path = "sensor.rec";
  auto open(std::int64_t parts, std::int64_t part) const {
    return RecordReader(path, {.num_parts = parts, .part_index = part});
  }
  Example parse(std::string_view record) const { return Sensor{}.parse(record); }
};
static_assert(DataFormat<Parted>);

/// The numbers 0, 1, 2 … as records.
struct Counting {
  std::int64_t count, next = 0;
  bool read(std::string& record) {
    if (next == count) return false;
    record = std::to_string(next++);
    return true;
  }
  void rewind() { next = 0; }
};
static_assert(Reader<Counting> && Reader<RecordReader> && Reader<TextLines>);
static_assert(Reader<Shuffled<Sharded<Counting>>>);
static_assert(!Reader<std::string>);

Example counted(std::string_view record) { return {{array(Integers{std::stoll(std::string(record))})}, {}}; }

template <class R>
Integers numbers_of(R& reader) {
  Integers out;
  for (std::string record; reader.read(record);) out.push_back(std::stoll(record));
  return out;
}

std::string sensor_file(const Folder& folder, int count) {
  const std::string path = folder / "a.rec";
  RecordWriter writer(path);
  for (int i = 0; i < count; ++i)
    writer.write(std::string{static_cast<char>(i % 5), static_cast<char>(i), 'x', static_cast<char>(i * 2)});
  return path;
}

}  // namespace

TEST_CASE("a format of one's own is a struct, and its batches are made as any") {
  const Folder folder;
  const std::string path = sensor_file(folder, 10);
  DataIter batches = pipeline(Sensor{.path = path}, {.batch_size = 4});
  CHECK(batches.provide_data() == std::vector<DataDesc>{{"data", {4, 3}, f32}});
  CHECK(batches.provide_label() == std::vector<DataDesc>{{"softmax_label", {4}, i32}});
  for (int epoch = 0; epoch < 2; ++epoch) {
    Integers labels, index;
    for (const DataBatch& batch : batches) {
      CHECK(batch.data[0].shape() == Shape{4, 3});
      for (const auto label : batch.label[0].to_vector<std::int64_t>()) labels.push_back(label);
      index.insert(index.end(), batch.index.begin(), batch.index.end());
    }
    CHECK(labels == Integers{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
    CHECK(index == Integers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1});
  }
  for (const std::int64_t parts : {1, 2, 3, 12}) {
    Integers all, own;
    for (std::int64_t part = 0; part < parts; ++part) {
      const PipelineParams params{
          .last_batch_handle = "discard", .shuffle_window = part, .num_parts = parts, .part_index = part};
      for (const DataBatch& batch : pipeline(Sensor{.path = path}, params)) all.push_back(batch.index[0]);
      for (const DataBatch& batch : pipeline(Parted{.path = path}, params))
        own.push_back(batch.data[0].to_vector<std::int64_t>()[0]);
    }
    std::sort(all.begin(), all.end());
    std::sort(own.begin(), own.end());
    CHECK(all == Integers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(own == all);
  }
}

TEST_CASE("stages over readers have each record once") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto count = static_cast<std::int64_t>(random() % 50), parts = static_cast<std::int64_t>(random() % 5 + 1),
               window = static_cast<std::int64_t>(random() % 20 + 1);
    Integers all;
    for (std::int64_t part = 0; part < parts; ++part) {
      Shuffled reader(Sharded(Counting{count}, parts, part), window, 7);
      for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
        reader.begin_epoch(epoch);
        reader.rewind();
        const Integers some = numbers_of(reader);
        Integers wanted, sorted = some;
        for (std::int64_t k = part; k < count; k += parts) wanted.push_back(k);
        std::sort(sorted.begin(), sorted.end());
        CHECK(sorted == wanted);
        for (std::size_t k = 0; k < some.size(); ++k)  // none comes before it can be in the window
          CHECK(some[k] <= part + parts * (static_cast<std::int64_t>(k) + window - 1));
        reader.rewind();
        CHECK(numbers_of(reader) == some);
        if (epoch == 0) all.insert(all.end(), some.begin(), some.end());
      }
    }
    std::sort(all.begin(), all.end());
    CHECK(static_cast<std::int64_t>(all.size()) == count);
  }
  CHECK(sentence([] { Shuffled(Counting{1}, 0, 0); }) == "Shuffled: window is 0, expected 1 or more");
  CHECK(sentence([] { Sharded(Counting{1}, 2, 2); }) == "Sharded: part_index is 2, expected one of 0 to 1");
}

TEST_CASE("random pipelines give what a plain loop gives, and go on after any batch") {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    const auto count = static_cast<std::int64_t>(random() % 40 + 1);
    const char* const rules[] = {"pad", "discard", "roll_over"};
    const PipelineParams params{.batch_size = static_cast<std::int64_t>(random() % 9 + 1),
                                .last_batch_handle = rules[random() % 3],
                                .shuffle_window = static_cast<std::int64_t>(random() % 3 * 5),
                                .seed = random(),
                                .num_parts = static_cast<std::int64_t>(random() % 3 + 1),
                                .part_index = 0,
                                .prefetch_buffer = static_cast<std::int64_t>(random() % 4)};
    // The plain loop: the records of each epoch, then what becomes of the rest.
    std::vector<Integers> wanted;
    Integers kept;
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      Integers rows = kept, own;
      if (params.shuffle_window > 0) {
        Shuffled reader(Sharded(Counting{count}, params.num_parts, 0), params.shuffle_window, params.seed);
        reader.begin_epoch(epoch);
        own = numbers_of(reader);
      } else {
        for (std::int64_t k = 0; k < count; k += params.num_parts) own.push_back(k);
      }
      rows.insert(rows.end(), own.begin(), own.end());
      const auto size = static_cast<std::size_t>(params.batch_size), rest = rows.size() % size;
      kept.clear();
      if (rest > 0 && params.last_batch_handle == LastBatch::pad)
        for (std::size_t k = 0; k < size - rest; ++k) rows.push_back(own[k % own.size()]);
      if (rest > 0 && params.last_batch_handle == LastBatch::roll_over)
        kept.assign(rows.end() - static_cast<std::ptrdiff_t>(rest), rows.end());
      for (std::size_t k = 0; k + size <= rows.size(); k += size)
        wanted.emplace_back(rows.begin() + static_cast<std::ptrdiff_t>(k),
                            rows.begin() + static_cast<std::ptrdiff_t>(k + size));
    }
    const auto make = [&] { return batched(Counting{count}, &counted, params); };
    DataIter batches = make();
    if (wanted.empty() && params.last_batch_handle == LastBatch::discard) {
      CHECK(sentence([&] { batches.next(); }).find(", and the rest is discarded") != std::string::npos);
      continue;
    }
    std::vector<Integers> found;
    std::vector<std::string> places;
    for (int epoch = 0; epoch < 3; ++epoch, batches.reset())
      while (batches.next()) {
        found.push_back(batches.batch().data[0].to_vector<std::int64_t>());
        CHECK(batches.batch().index == found.back());
        places.push_back(batches.position());
      }
    CHECK(found == wanted);
    for (std::size_t k = 0; k < places.size(); ++k) {
      DataIter again = make();
      again.resume(places[k]);
      for (std::size_t i = k + 1; i < found.size(); ++i) {
        while (!again.next()) again.reset();
        CHECK(again.batch().index == found[i]);
      }
    }
  }
}

TEST_CASE("records that are wrong are said with their number, again until a reset") {
  const Folder folder;
  const std::string path = folder / "a.rec";
  {
    RecordWriter writer(path);
    for (const char* record : {"abcd", "efgh", "ij", "klmn"}) writer.write(record);
  }
  for (const std::int64_t ahead : {0, 3}) {
    DataIter batches = pipeline(Sensor{.path = path}, {.batch_size = 2, .prefetch_buffer = ahead});
    CHECK(batches.next());
    for (int again = 0; again < 2; ++again)
      CHECK(sentence([&] { batches.next(); }) == "Sensor: record 2: it has 2 bytes, expected 4");
    CHECK(sentence([&] { batches.batch(); }) == "DataIter: there is no current batch; next() makes one");
    batches.reset();
    CHECK(batches.next());
  }
  CHECK(sentence([&] { pipeline(Sensor{.path = path, .width = 5}); }) ==
        "Sensor: record 0: it has 4 bytes, expected 6");
  CHECK(sentence([&] { pipeline(Sensor{.path = path, .width = 0}); }).find("width") != std::string::npos);
  CHECK(sentence([&] { pipeline(Sensor{.path = path}, {.batch_size = 0}); }) ==
        "Sensor: batch_size is 0, expected 1 or more");
  CHECK(sentence([&] { pipeline(Parted{.path = path}, {.num_parts = 0}); }) ==
        "Parted: num_parts is 0, expected 1 or more");
  CHECK(sentence([&] { pipeline(Sensor{.path = folder / "none"}); }).find("No such file") != std::string::npos);
  const auto uneven = [](std::string_view record) -> Example { return {{zeros({record == "2" ? 3 : 2})}, {}}; };
  DataIter other = batched(Counting{4}, uneven, {.batch_size = 4}, "uneven");
  CHECK(sentence([&] { other.next(); }) ==
        "uneven: record 2: data is dense float32 of shape (3,), expected dense float32 of shape (2,) as the first "
        "record has");
  DataIter nothing = batched(Counting{0}, &counted, {});
  CHECK_FALSE(nothing.next());
  CHECK(nothing.provide_data().empty());
}

TEST_CASE("the lines of a folder's files are records, in parts each once") {
  const Folder folder;
  std::filesystem::create_directory(folder / "text");
  put_file(folder / "text/a", "one\r\ntwo\n");
  put_file(folder / "text/b", "\nfour");
  const auto lines = [](TextLines reader) {
    std::vector<std::string> out;
    for (std::string line; reader.read(line);) out.push_back(line);
    return out;
  };
  const std::vector<std::string> all{"one", "two", "", "four"};
  CHECK(lines(TextLines(folder / "text")) == all);
  for (const std::int64_t parts : {2, 3, 20}) {
    std::vector<std::string> joined;
    for (std::int64_t part = 0; part < parts; ++part)
      for (const std::string& line : lines(TextLines(folder / "text", parts, part))) joined.push_back(line);
    CHECK(joined == all);
  }
  TextLines again(folder / "text");
  std::string line;
  again.read(line);
  TextLines moved(std::move(again));
  CHECK(moved.read(line));
  CHECK(line == "two");
  moved.rewind();
  CHECK(lines(std::move(moved)) == all);
  CHECK(sentence([&] { TextLines(folder / "none"); }) ==
        cat("TextLines: \"", folder / "none", "\": No such file or directory"));
}
