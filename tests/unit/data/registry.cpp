// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every iterator of the registry: epochs, batches, parts, orders, positions, errors; and how a program adds its own.
#include <strop/data/iterators.hpp>
#include <strop/strop.hpp>
#include <unit/data/pictures.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace strop;
using test::Folder;
using test::put_file;
using test::sentence;

namespace registry_test {

/// A byte that is the class, then `width` bytes.
struct Sensor {
  static constexpr std::string_view doc = "Samples of a sensor";
  static constexpr Note notes[] = {{"path", "the file of records"}, {"width", "samples of a record"}};
  static constexpr Range range[] = {{"width", 1, 4096}};
  Required<std::string> path = {};
  std::int64_t width = 3;
  auto open() const { return RecordReader(*path); }
  Example parse(std::string_view record) const {
    if (std::ssize(record) != width + 1) fail("it has ", record.size(), " bytes, expected ", width + 1);
    return {{array(std::vector<float>(record.begin() + 1, record.end()))}, {array({record[0]})}};
  }
};
inline constexpr Iterator<Sensor> sensor;

/// Numbers from 0 on, made in a way of its own.
struct Counter {
  struct Params {
    std::int64_t batch_size = 2;
  };
  std::int64_t count = 10;
  struct Source {
    std::int64_t size, count, at = 0;
    bool next(DataBatch& batch) {
      if (at + size > count) return false;
      batch = {};
      batch.data.push_back(arange(static_cast<double>(at), static_cast<double>(at + size)));
      for (std::int64_t k = 0; k < size; ++k) batch.index.push_back(at + k);
      at += size;
      return true;
    }
    void begin_epoch(bool) { at = 0; }
    std::vector<DataDesc> provide_data() const { return {{"data", {size}, f32}}; }
    std::vector<DataDesc> provide_label() const { return {}; }
  };
  DataIter batches(const Params& params) const { return DataIter(Source{params.batch_size, count}); }
};
inline constexpr Iterator<Counter> counter;

}  // namespace registry_test

namespace {

using registry_test::counter;
using registry_test::sensor;
using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr std::int64_t rows = 10;

/// What an iterator is opened with so that it has `rows` rows, row k with label k.
struct Row {
  std::string_view name;
  std::string_view source;  // the parameter that names the file
  Settings (*made)(const Folder& folder);
  bool whole = true;              // what does not fill a batch is given as well
  std::string_view shuffle = "";  // the parameter and value that shuffle
};

Settings made_csv(const Folder& folder) {
  std::string data, labels;
  for (std::int64_t k = 0; k < rows; ++k) data += cat(k, ",", 2 * k, "\n"), labels += cat(k, "\n");
  put_file(folder / "a.csv", data);
  put_file(folder / "b.csv", labels);
  return {{"data_csv", folder / "a.csv"}, {"data_shape", "(2,)"}, {"label_csv", folder / "b.csv"}};
}
Settings made_libsvm(const Folder& folder) {
  std::string data;
  for (std::int64_t k = 0; k < rows; ++k) data += cat(k, " ", k % 3, ":1.5\n");
  put_file(folder / "a.libsvm", data);
  return {{"data_libsvm", folder / "a.libsvm"}, {"data_shape", "(3,)"}};
}
Settings made_idx(const Folder& folder) {
  std::string images("\0\0\x08\x03\0\0\0\x0a\0\0\0\1\0\0\0\2", 16), labels("\0\0\x08\x01\0\0\0\x0a", 8);
  for (char k = 0; k < rows; ++k) images += {k, k}, labels += k;
  put_file(folder / "images", images);
  put_file(folder / "labels", labels);
  return {{"image", folder / "images"}, {"label", folder / "labels"}, {"shuffle", "False"}};
}
Settings made_records(const Folder& folder) {
  RecordWriter out(folder / "a.rec", folder / "a.idx");
  for (std::int64_t k = 0; k < rows; ++k)
    out.write(pack({.label = static_cast<float>(k), .id = static_cast<std::uint64_t>(k)}, test::png_rgb));
  return {{"path_imgrec", folder / "a.rec"}, {"path_imgidx", folder / "a.idx"}, {"data_shape", "(3, 4, 5)"}};
}
Settings made_pictures(const Folder& folder) {
  for (std::int64_t k = 0; k < rows; ++k) {
    const std::string name = cat("class ", k);
    std::filesystem::create_directory(folder / name.c_str());
    put_file(folder / (name + "/x.PNG").c_str(), test::png_rgb);
  }
  return {{"path_root", folder / "."}, {"data_shape", "(3, 4, 5)"}};
}
Settings made_arrays(const Folder& folder) {
  save(folder / "a.npy", arange(0, 3 * rows).reshape({rows, 3}));
  save(folder / "b.npy", arange(0, rows));
  return {{"data", folder / "a.npy"}, {"label", folder / "b.npy"}};
}
Settings made_sensor(const Folder& folder) {
  RecordWriter out(folder / "sensor.rec");
  for (char k = 0; k < rows; ++k) out.write(std::string{k, 'a', 'b', 'c'});
  return {{"path", folder / "sensor.rec"}};
}

const Row table[] = {
    {.name = "CSVIter", .source = "data_csv", .made = &made_csv},
    {.name = "ImageFolderIter", .source = "path_root", .made = &made_pictures, .shuffle = "shuffle"},
    {.name = "ImageRecordIter", .source = "path_imgrec", .made = &made_records, .shuffle = "shuffle"},
    {.name = "LibSVMIter", .source = "data_libsvm", .made = &made_libsvm},
    {.name = "MNISTIter", .source = "image", .made = &made_idx, .whole = false, .shuffle = "shuffle"},
    {.name = "NDArrayIter", .source = "data", .made = &made_arrays, .shuffle = "shuffle"},
    {.name = "Sensor", .source = "path", .made = &made_sensor, .shuffle = "shuffle_window"},
};

DataIter opened(std::string_view name, const Settings& settings) {
  const std::vector<std::pair<std::string_view, std::string_view>> views(settings.begin(), settings.end());
  return open_iter(name, views);
}
Settings with(Settings settings, const std::string& key, const std::string& value) {
  std::erase_if(settings, [&](const auto& one) { return one.first == key; });
  settings.emplace_back(key, value);
  return settings;
}
/// The labels of an epoch, without those that only fill the last batch.
std::vector<float> labels_of(DataIter& batches) {
  std::vector<float> all;
  for (const DataBatch& batch : batches) {
    const std::vector<float> some = batch.label[0].to(dense).to(f32).to_vector<float>();
    all.insert(all.end(), some.begin(), some.end() - batch.pad);
  }
  return all;
}
std::vector<float> numbers(std::int64_t from, std::int64_t to) {
  std::vector<float> all;
  for (std::int64_t k = from; k < to; ++k) all.push_back(static_cast<float>(k));
  return all;
}
bool takes(const IteratorEntry& entry, std::string_view key) {
  return entry.source->find(key).has_value() || entry.batching->find(key).has_value();
}
/// Runs f for every row of the table whose iterator can be used here.
void for_each_iterator(void (*f)(const Row& row, const IteratorEntry& entry, const Settings& settings)) {
  for (const Row& row : table) {
    if (row.name.starts_with("Image") && !test::decodes_pictures()) continue;
    CAPTURE(row.name);
    const Folder folder;
    f(row, detail::find_iterator(row.name), row.made(folder));
  }
}

}  // namespace

TEST_CASE("every iterator of the registry has a row here, a document, and a note of each parameter") {
  std::vector<std::string_view> known{"Counter"};  // which reads nothing
  for (const Row& row : table) known.push_back(row.name);
  std::sort(known.begin(), known.end());
  std::vector<std::string_view> there;
  for (const IteratorEntry* entry : detail::all_iterators()) {
    there.push_back(entry->name);
    CAPTURE(entry->name);
    CHECK(entry->custom == (entry->name == "Sensor" || entry->name == "Counter"));
    if (entry->name == "Counter") continue;
    CHECK_FALSE(entry->doc.empty());
    for (const IteratorParam& param : detail::params_of_iterator(*entry)) {
      CAPTURE(param.name);
      CHECK_FALSE(param.doc.empty());
      CHECK_FALSE(param.doc.ends_with("."));
    }
    for (const Note& note : entry->notes) {
      CAPTURE(note.name);
      CHECK(takes(*entry, note.name));
    }
  }
  CHECK(there == known);
}

TEST_CASE("batches have the shapes that are provided, and each epoch has every row") {
  for_each_iterator([](const Row& row, const IteratorEntry&, const Settings& settings) {
    for (const std::int64_t size : {1, 3, 5}) {
      CAPTURE(size);
      DataIter batches = opened(row.name, with(settings, "batch_size", cat(size)));
      const std::vector<DataDesc> data = batches.provide_data(), label = batches.provide_label();
      CHECK(data.size() == 1);
      CHECK(label.size() == 1);
      std::int64_t first = 0;  // with round_batch the next epoch goes on behind the rows that filled the last batch
      for (int epoch = 0; epoch < 3; ++epoch) {
        std::vector<std::int64_t> index;
        std::int64_t filled = 0;
        for (const DataBatch& batch : batches) {
          CHECK(batch.data[0].shape() == data[0].shape);
          CHECK(batch.data[0].dtype() == data[0].dtype);
          CHECK(batch.label[0].shape() == label[0].shape);
          CHECK(batch.label[0].dtype() == label[0].dtype);
          CHECK(std::ssize(batch.index) == size);
          const std::vector<float> said = batch.label[0].to(dense).to_vector<float>();
          for (std::size_t k = 0; k < said.size(); ++k) CHECK(said[k] == static_cast<float>(batch.index[k]));
          index.insert(index.end(), batch.index.begin(), batch.index.end() - batch.pad);
          filled = batch.pad;
        }
        const std::int64_t end = row.whole ? rows : rows / size * size;
        REQUIRE(std::ssize(index) == end - first);
        for (std::int64_t k = first; k < end; ++k) CHECK(index[static_cast<std::size_t>(k - first)] == k);
        const bool goes_on = row.name != "NDArrayIter" && row.name != "Sensor" && row.whole;
        first = goes_on ? filled : 0;
      }
    }
  });
}

TEST_CASE("parts lose and repeat no row") {
  for_each_iterator([](const Row& row, const IteratorEntry& entry, const Settings& settings) {
    if (!takes(entry, "num_parts")) return;
    for (const std::int64_t parts : {1, 2, 3, 7}) {
      CAPTURE(parts);
      std::vector<float> all;
      for (std::int64_t part = 0; part < parts; ++part) {
        DataIter batches = opened(
            row.name, with(with(with(settings, "num_parts", cat(parts)), "part_index", cat(part)), "batch_size", "1"));
        const std::vector<float> some = labels_of(batches);
        all.insert(all.end(), some.begin(), some.end());
      }
      std::sort(all.begin(), all.end());
      CHECK(all == numbers(0, rows));
    }
    for (const char* const part : {"-1", "2"})
      CHECK(sentence([&] {
              opened(row.name, with(with(with(settings, "batch_size", "1"), "num_parts", "2"), "part_index", part));
            }).find("part_index") != std::string::npos);
  });
}

TEST_CASE("an order follows from the seed, and not from what is made ahead") {
  for_each_iterator([](const Row& row, const IteratorEntry& entry, const Settings& settings) {
    if (row.shuffle.empty()) return;
    const Settings shuffled =
        with(with(settings, std::string(row.shuffle), row.shuffle == "shuffle" ? "True" : "5"), "batch_size", "5");
    const auto two_epochs = [&](const Settings& with_seed) {
      DataIter batches = opened(row.name, with_seed);
      std::vector<float> first = labels_of(batches);
      const std::vector<float> second = labels_of(batches);
      first.insert(first.end(), second.begin(), second.end());
      return first;
    };
    const std::vector<float> one = two_epochs(with(shuffled, "seed", "1"));
    std::vector<float> sorted(one.begin(), one.begin() + rows);
    CHECK(sorted != numbers(0, rows));
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == numbers(0, rows));
    CHECK(one == two_epochs(with(shuffled, "seed", "1")));
    CHECK(one != two_epochs(with(shuffled, "seed", "2")));
    if (takes(entry, "prefetch_buffer"))
      CHECK(one == two_epochs(with(with(shuffled, "seed", "1"), "prefetch_buffer", "0")));
  });
}

TEST_CASE("stopped at any batch and resumed, the same batches follow") {
  for_each_iterator([](const Row& row, const IteratorEntry&, const Settings& settings) {
    Settings given = with(with(settings, "batch_size", "3"), "seed", "4");
    if (row.shuffle.empty()) given.pop_back();
    if (!row.shuffle.empty()) given = with(given, std::string(row.shuffle), row.shuffle == "shuffle" ? "True" : "4");
    const auto indices = [](DataIter& batches, int count) {
      std::vector<std::vector<std::int64_t>> all;
      for (int k = 0; k < count; ++k) {
        while (!batches.next()) batches.reset();
        all.push_back(batches.batch().index);
      }
      return all;
    };
    DataIter serial = opened(row.name, given);
    const auto whole = indices(serial, 12);
    for (int stop = 0; stop < 9; ++stop) {
      DataIter first = opened(row.name, given), again = opened(row.name, given);
      const auto before = indices(first, stop);
      again.resume(first.position());
      auto all = before;
      for (auto& one : indices(again, 12 - stop)) all.push_back(one);
      CHECK(all == whole);
    }
    const std::string refused = sentence([&] { serial.resume("elsewhere"); });
    CHECK(refused.find("elsewhere") != std::string::npos);
    CHECK(sentence([&] { (void)serial.next(); }) == refused);  // what was made ahead is gone: it has no place
    serial.resume(opened(row.name, given).position());
    CHECK(indices(serial, 12) == whole);
  });
}

TEST_CASE("what is wrong is one sentence that names the iterator") {
  for_each_iterator([](const Row& row, const IteratorEntry&, const Settings& settings) {
    const std::string source(row.source), name(row.name);
    CHECK(sentence([&] {
            opened(row.name, with(settings, "batch_sise", "1"));
          }).find(name + ": no parameter 'batch_sise'; it has batch_size") != std::string::npos);
    CHECK(sentence([&] {
            opened(row.name, with(settings, "batch_size", "many"));
          }).find(name + ": parameter 'batch_size' is 'many', expected a long") != std::string::npos);
    CHECK(sentence([&] { opened(row.name, with(settings, "batch_size", "0")); }).find("batch_size is 0") !=
          std::string::npos);
    Settings without = settings;
    std::erase_if(without, [&](const auto& one) { return one.first == source; });
    CHECK(sentence([&] {
            opened(row.name, without);
          }).find(cat(name, ": parameter '", source, "' (string) is required")) != std::string::npos);
    const std::string missing =
        sentence([&] { opened(row.name, with(with(settings, "batch_size", "1"), source, "/nowhere/at.all")); });
    CHECK(missing.find("/nowhere/at.all") != std::string::npos);
    CHECK(missing.find("No such file") != std::string::npos);
    Settings twice = settings;
    twice.push_back(settings[0]);
    CHECK(sentence([&] { opened(row.name, twice); }).find("is given twice") != std::string::npos);
  });
  CHECK(sentence([] { open_iter("CSVItr", {}); }).find("no iterator 'CSVItr'; nearest: CSVIter") != std::string::npos);
}

TEST_CASE("a program's own iterator is called by its name, as a value, and refused with a sentence") {
  const Folder folder;
  const Settings settings = made_sensor(folder);
  std::vector<float> labels;
  for (const DataBatch& batch : sensor({.path = settings[0].second}, {.batch_size = 4}))
    for (const float label : batch.label[0].to_vector<float>()) labels.push_back(label);
  CHECK(labels == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1});
  CHECK(sentence([] { sensor({}); }) == "Sensor: parameter 'path' (string) is required");
  CHECK(sentence([&] { opened("Sensor", with(settings, "width", "5000")); }) ==
        "Sensor: parameter 'width' is 5000, expected a value from 1 to 4096");
  CHECK(sentence([&] { opened("Sensor", with(settings, "last_batch_handle", "keep")); }) ==
        "Sensor: parameter 'last_batch_handle' is 'keep', expected one of {'pad', 'discard', 'roll_over'}");
  CHECK(sentence([&] {
          opened("Sensor", with(settings, "width", "4"));
        }).find("Sensor: record 0: it has 4 bytes, expected 5") != std::string::npos);

  std::vector<float> seen;
  for (const DataBatch& batch : open_iter("Counter", {{"count", "5"}, {"batch_size", "2"}}))
    for (const float one : batch.data[0].to_vector<float>()) seen.push_back(one);
  CHECK(seen == numbers(0, 4));
  std::int64_t batches = 0;
  for (const DataBatch& batch : counter()) batches += std::ssize(batch.data);
  CHECK(batches == 5);
}
