// SPDX-License-Identifier: Apache-2.0
/// \file
/// Files of records: as MXNet writes them, cut and damaged ones, keys, parts, what an exception or a fork leaves.
#include <strop/data/image_record.hpp>
#include <strop/data/record_file.hpp>
#include <strop/strop.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace strop;
using test::content_of;
using test::Folder;
using test::from_hex;
using test::put_file;
using test::sentence;

namespace {

using Texts = std::vector<std::string>;

const std::string mark = from_hex("0a23d7ce");
const Texts records{
    "", "a", "abcd", mark, mark + mark + mark + "xy", "ab" + mark, "abcd" + mark + "efgh" + mark, "0123456789"};
/// What MXIndexedRecordIO of mxnet 1.9.1 writes of them, with the keys 0, 2, 4, …
const std::string written = from_hex(
    "0a23d7ce00000000"
    "0a23d7ce0100000061000000"
    "0a23d7ce0400000061626364"
    "0a23d7ce000000200a23d7ce00000060"
    "0a23d7ce000000200a23d7ce000000400a23d7ce000000400a23d7ce0200006078790000"
    "0a23d7ce0600000061620a23d7ce0000"
    "0a23d7ce04000020616263640a23d7ce04000040656667680a23d7ce00000060"
    "0a23d7ce0a000000303132333435363738390000");
const char index_text[] = "0\t0\n2\t8\n4\t20\n6\t32\n8\t48\n10\t84\n12\t100\n14\t132\n";

Texts all(RecordReader& reader) {
  Texts out;
  for (auto& record : reader) out.push_back(record);
  return out;
}
std::string refusal(const std::string& path) {
  return sentence([&] {
    RecordReader reader(path);
    all(reader);
  });
}
/// Bytes of few kinds, so that the mark stands everywhere.
std::string made_up(std::mt19937& random) {
  std::string text(random() % 40, '\0');
  for (char& c : text) c = mark[random() % 4];
  for (unsigned k = 0; k < random() % 4 && text.size() >= 4; ++k) text.replace(random() % (text.size() - 3), 4, mark);
  return text;
}

}  // namespace

TEST_CASE("files that MXNet writes are read, and written byte for byte") {
  const Folder folder;
  const std::string path = folder / "a.rec", index = folder / "a.idx";
  put_file(path, written);
  put_file(index, index_text);
  RecordReader reader(path, index);
  CHECK(all(reader) == records);
  CHECK(all(reader) == records);
  for (std::size_t k = records.size(); k-- > 0;) {
    CHECK(reader.keys().at(k) == static_cast<std::int64_t>(2 * k));
    CHECK(reader.read_idx(reader.keys()[k]) == records[k]);
  }
  std::string record;
  reader.seek(8);
  CHECK(reader.tell() == 48);
  CHECK(reader.read(record));
  CHECK(record == records[4]);
  CHECK(reader.tell() == 84);
  RecordWriter writer(folder / "b.rec", folder / "b.idx");
  for (std::size_t k = 0; k < records.size(); ++k) writer.write_idx(static_cast<std::int64_t>(2 * k), records[k]);
  CHECK(writer.tell() == static_cast<std::int64_t>(written.size()));
  CHECK(content_of(folder / "b.rec").empty());  // in its place when it is whole
  writer.close();
  CHECK(content_of(folder / "b.rec") == written);
  CHECK(content_of(folder / "b.idx") == index_text);
  CHECK(sentence([&] { writer.write("x"); }).find("it is closed") != std::string::npos);
  {
    RecordWriter numbered(folder / "c.rec", folder / "c.idx");
    numbered.write("one");
    numbered.write(std::vector<unsigned char>{'t', 'w', 'o'});
    numbered.write_idx(7, "seven");
    numbered.write(std::string("eight"));
  }
  CHECK(content_of(folder / "c.idx") == "0\t0\n1\t12\n7\t24\n8\t40\n");
  RecordReader numbered(folder / "c.rec", {.index = folder / "c.idx"});
  CHECK(all(numbered) == Texts{"one", "two", "seven", "eight"});
  put_file(folder / "c.idx",
           "\xEF\xBB\xBF"
           "5\t24\r\n5\t40");  // a byte order mark; of two the last one
  CHECK(RecordReader(folder / "c.rec", folder / "c.idx").read_idx(5) == "eight");
  put_file(folder / "empty", "");
  RecordReader empty(folder / "empty");
  CHECK(all(empty).empty());
}

TEST_CASE("any bytes come back, in parts each once") {
  const Folder folder;
  std::mt19937 random(4);
  for (int round = 0; round < 20; ++round) {
    Texts texts;
    const std::string path = folder / "a.rec";
    {
      RecordWriter writer(path);
      for (auto k = random() % 60; k > 0; --k) {
        texts.push_back(random() % 10 == 0 ? std::string(random() % 1000000, 'x') + mark : made_up(random));
        writer.write(texts.back());
      }
    }
    RecordReader reader(path);
    CHECK(all(reader) == texts);
    for (const std::int64_t parts : {2, 3, 7, 100}) {
      Texts joined;
      for (std::int64_t part = 0; part < parts; ++part) {
        RecordReader some(path, {.num_parts = parts, .part_index = part});
        for (std::string& record : some) joined.push_back(record);
        std::string behind;
        CHECK_FALSE(some.read(behind));
      }
      CHECK(joined == texts);
    }
    // Stopped before any record, and gone on with there.
    std::string record;
    for (std::size_t k = 0; k <= texts.size(); ++k) {
      reader.rewind();
      for (std::size_t i = 0; i < k; ++i) reader.read(record);
      RecordReader again(path);
      again.seek_byte(reader.tell());
      for (std::size_t i = k; i < texts.size(); ++i) {
        CHECK(again.read(record));
        CHECK(record == texts[i]);
      }
      CHECK_FALSE(again.read(record));
    }
  }
}

TEST_CASE("what is cut or damaged anywhere is refused where it is") {
  const Folder folder;
  const std::string path = folder / "a.rec";
  const std::vector<std::size_t> borders{0, 8, 20, 32, 48, 84, 100, 132, 152};
  for (std::size_t size = 0; size < written.size(); ++size) {
    put_file(path, std::string_view(written).substr(0, size));
    const std::string why = refusal(path);
    std::size_t begin = 0, count = 0;
    for (const std::size_t border : borders)
      if (border <= size) begin = border, ++count;
    if (begin == size)
      CHECK(why.empty());
    else
      CHECK(why == cat("RecordReader: \"", path, "\", byte ", begin,
                       ": the file ends within the record that begins there, at byte ", size));
    RecordReader reader(path);
    std::string record;
    for (std::size_t k = 0; k + 1 < count; ++k) {
      CHECK(reader.read(record));
      CHECK(record == records[k]);
    }
  }
  const auto damaged = [&](std::size_t byte, char to) {
    std::string text = written;
    text[byte] = to;
    put_file(path, text);
    const std::string why = refusal(path), begins = cat("RecordReader: \"", path, "\", byte ");
    REQUIRE(why.starts_with(begins));
    return why.substr(begins.size());
  };
  CHECK(damaged(8, 1) == "8: there is no record, which begins with the bytes 0a 23 d7 ce");
  CHECK(damaged(15, 0x40) == "8: this is a part of a record whose first part is missing");
  CHECK(damaged(56, 1) == "56: a part of the record at byte 48 is missing");
  CHECK(damaged(63, 0) == "56: a part of the record at byte 48 is missing");
  CHECK(damaged(12, '\xff') == "8: the file ends within the record that begins there, at byte 152");
  CHECK(refusal(folder / "none") == cat("RecordReader: \"", folder / "none", "\": No such file or directory"));
  CHECK(refusal(folder / ".") == cat("RecordReader: \"", folder / ".", "\": Is a directory"));
  CHECK(refusal("/dev/null") == "RecordReader: \"/dev/null\": this is no regular file");
}

TEST_CASE("keys, places and parts that are not there") {
  const Folder folder;
  const std::string path = folder / "a.rec", index = folder / "a.idx";
  put_file(path, written);
  put_file(index, index_text);
  RecordReader plain(path), keyed(path, index);
  CHECK(sentence([&] { plain.keys(); }) == cat("RecordReader: \"", path, "\": no index was named, which has the keys"));
  CHECK(sentence([&] { keyed.read_idx(1); }) == cat("RecordReader: \"", index, "\" has no key 1"));
  for (const std::int64_t byte : {-4, 2, 156})
    CHECK(sentence([&] { plain.seek_byte(byte); }) ==
          cat("RecordReader: \"", path, "\": no record begins at byte ", byte));
  RecordReader half(path, {.index = index, .num_parts = 2, .part_index = 0});
  CHECK(half.read_idx(14) == "0123456789");
  CHECK(sentence([&] { half.seek(14); }) ==
        cat("RecordReader: \"", index, "\": the record of key 14, at byte 132, is not in the part that is read"));
  for (const char* line : {"1", "1 8", "x\t8", "1\t-8", "1\t8\t9"}) {
    put_file(index, cat("0\t0\n", line, "\n"));
    CHECK(sentence([&] { RecordReader(path, index); }) == cat("RecordReader: \"", index, "\", line 2: '",
                                                              line == std::string("1\t8\t9") ? "1\\x098\\x099"
                                                              : line == std::string("x\t8")  ? "x\\x098"
                                                              : line == std::string("1\t-8") ? "1\\x09-8"
                                                                                             : line,
                                                              "' is no key, tabulator and byte"));
  }
  put_file(index, "3\t152\n");
  CHECK(sentence([&] { RecordReader(path, index).read_idx(3); }) ==
        cat("RecordReader: \"", index, "\": key 3 begins at the end of \"", path, "\""));
  CHECK(sentence([&] { RecordReader(path, {.num_parts = 0}); }) == "RecordReader: num_parts is 0, expected 1 or more");
  CHECK(sentence([&] { RecordWriter(folder / "none/a.rec"); }) ==
        cat("RecordWriter(\"", folder / "none/a.rec", "\"): No such file or directory"));
  RecordWriter writer(folder / "b.rec");
  CHECK(sentence([&] { writer.write_idx(1, "x"); }) ==
        cat("RecordWriter(\"", folder / "b.rec", "\"): no index was named, to which the key would go"));
  writer.write("y");
  RecordWriter moved(std::move(writer));
  CHECK(sentence([&] { writer.close(); }) == "RecordWriter: this writer was moved to another one");  // NOLINT
  moved.close();
  RecordReader back(folder / "b.rec");
  CHECK(all(back) == Texts{"y"});
}

TEST_CASE("an exception leaves the old file, and so does another process") {
  const Folder folder;
  const std::string path = folder / "a.rec";
  put_file(path, written);
  CHECK_THROWS_AS(
      [&] {
        RecordWriter writer(path, folder / "a.idx");
        writer.write("new");
        throw std::runtime_error("interrupted");
      }(),
      std::runtime_error);
  CHECK(content_of(path) == written);
  CHECK(folder.files() == 1);
  RecordReader reader(path);
  std::string record;
  for (int k = 0; k < 3; ++k) reader.read(record);
  {
    RecordWriter writer(path);
    writer.write("new");
    const pid_t child = ::fork();
    if (child == 0) {
      // The reader goes on where it was, without moving it for the parent; the writer is the parent's.
      const bool reads = reader.read(record) && record == records[3];
      const bool refused =
          sentence([&] { writer.write("x"); }).find("of which this one is a fork") != std::string::npos;
      {
        const RecordWriter own = std::move(writer);
      }
      ::_exit(reads && refused ? 0 : 1);
    }
    int status = -1;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(content_of(path) == written);
    CHECK(reader.read(record));
    CHECK(record == records[3]);
  }
  RecordReader fresh(path);
  CHECK(all(fresh) == Texts{"new"});
  CHECK(folder.files() == 1);
}

TEST_CASE("several readers over one file at once") {
  const Folder folder;
  const std::string path = folder / "a.rec";
  Texts texts;
  {
    RecordWriter writer(path);
    for (int k = 0; k < 5000; ++k) {
      texts.push_back(cat(k, k % 7 == 0 ? mark : "x"));
      writer.write(texts.back());
    }
  }
  std::vector<std::thread> threads;
  Texts found[4];
  for (Texts& own : found)
    threads.emplace_back([&] {
      RecordReader reader(path);
      own = all(reader);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Texts& own : found) CHECK(own == texts);
}

TEST_CASE("headers of images as MXNet packs them") {
  CHECK(pack({7, 4.5, 12, 3}, "rest") == from_hex("00000000000090400c00000000000000030000000000000072657374"));
  CHECK(pack({.label = {1, 2.5}, .id = 12, .id2 = 3}, "rest") ==
        from_hex("02000000000000000c0000000000000003000000000000000000803f0000204072657374"));
  CHECK(pack({.label = std::vector<float>{3}, .id = std::uint64_t{1} << 40, .id2 = 1}, "") ==
        from_hex("01000000000000000000000000010000010000000000000000004040"));
  for (const IRHeader& header : {IRHeader{0, 4.5, 12, 3}, IRHeader{2, {1, 2.5}, 12, 3}, IRHeader{1, {3}, 1, 2}}) {
    const std::string packed = pack(header, "rest");
    const auto [found, bytes] = unpack(packed);
    CHECK(found == header);
    CHECK(bytes == "rest");
    for (std::size_t size = 0; size < packed.size() - 4; ++size)
      CHECK(sentence([&] { unpack(std::string_view(packed).substr(0, size)); }).starts_with("unpack: the record has "));
  }
}
