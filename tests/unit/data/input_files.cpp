// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a path of an iterator names, and packed text: gzip, zstd, pipes, patterns, several files.
#include <sys/stat.h>
#include <strop/data/csv_iter.hpp>
#include <strop/data/input_files.hpp>
#include <strop/data/libsvm_iter.hpp>
#include <strop/strop.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

using namespace strop;
using test::Folder;
using test::from_hex;
using test::put_file;
using test::sentence;

namespace {

using Floats = std::vector<float>;

// One text, by gzip (with a name in its header) and by zstd, with its size in the header and without.
const std::string plain = "1,2\n3,4\n5,6\n";
const std::string gzip = from_hex("1f8b080836ac0b6b0003702e6373760033d431e232d631e132d531e302009fec98c80c000000");
const std::string zstd = from_hex("28b52ffd240c610000312c320a332c340a352c360ac16ce646");
const std::string zstd_stream = from_hex("28b52ffd0458610000312c320a332c340a352c360ac16ce646");

bool has_zstd() { return ::dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr; }

/// The first column of all rows, part after part.
Floats column(const std::string& path, std::int64_t parts = 1) {
  Floats all;
  for (std::int64_t part = 0; part < parts; ++part)
    for (const DataBatch& batch :
         CSVIter(path, {.data_shape = {2}, .batch_size = 1, .num_parts = parts, .part_index = part}))
      all.push_back(batch.data[0].to_vector<float>()[0]);
  return all;
}
std::string refusal(const std::string& path) {
  return sentence([&] { column(path); });
}

}  // namespace

TEST_CASE("packed text is read as what it was made of") {
  const Folder folder;
  const std::string at = folder / "a";
  std::vector<std::string> texts{plain, gzip};
  if (has_zstd()) texts.insert(texts.end(), {zstd, zstd_stream});
  for (const std::string& text : texts) {
    put_file(at, text);
    CHECK(column(at) == Floats{1, 3, 5});
    CHECK(column(at, 2) == Floats{1, 3, 5});
    if (text == plain) continue;
    put_file(at, text + text);  // several members or frames
    CHECK(column(at) == Floats{1, 3, 5, 1, 3, 5});
    for (std::size_t size = 5; size < text.size(); ++size) {
      put_file(at, text.substr(0, size));
      CAPTURE(size);
      const std::string why = refusal(at);
      CHECK(why.starts_with("CSVIter: \"" + at + "\": "));
    }
    for (std::size_t k = 4; k < text.size(); ++k) {  // whatever is damaged: a sentence, or the same text
      std::string damaged = text;
      damaged[k] = static_cast<char>(damaged[k] ^ 0x55);
      put_file(at, damaged);
      CAPTURE(k);
      Floats seen;
      const std::string why = sentence([&] { seen = column(at); });
      CHECK((why.starts_with("CSVIter: \"" + at + "\"") || seen == Floats{1, 3, 5}));
    }
  }
  if (has_zstd()) {  // a frame that is passed over begins the data, or stands in it
    put_file(at, from_hex("5a2a4d1803000000616263") + zstd + from_hex("502a4d1800000000") + zstd);
    CHECK(column(at) == Floats{1, 3, 5, 1, 3, 5});
  }
  put_file(at, gzip + "more");
  CHECK(refusal(at).ends_with("behind the gzip data are bytes that are none"));
  put_file(at, gzip + std::string(512, '\0'));  // as a tape pads
  CHECK(column(at) == Floats{1, 3, 5});
  put_file(at, "1,2\nx,4\n");
  CHECK(refusal(at).find("line 2, byte 1: ") != std::string::npos);
}

TEST_CASE("an error in packed text names the line of the text") {
  const Folder folder;
  put_file(folder / "a", "1 0:1\n2 9:1\n");
  put_file(folder / "b", from_hex("1f8b0800000000000203335430b032e43252b004920069471a460c000000"));
  const auto why = [&](const char* name) {
    return sentence([&] {
      for (const DataBatch& batch : LibSVMIter(folder / name, {.data_shape = {3}, .batch_size = 1})) (void)batch;
    });
  };
  for (const char* name : {"a", "b"})
    CHECK(why(name).find(cat("\"", folder / name, "\", line 2, byte 3: ")) != std::string::npos);
}

TEST_CASE("a path names a file, a folder, what a pattern matches, or several of these") {
  const Folder folder;
  const std::string base = folder / ".";
  put_file(folder / "1.csv", "1,0\n");
  put_file(folder / "2.csv", gzip);
  put_file(folder / "3.txt", "7,0\n");
  std::filesystem::create_directory(folder / "more");
  put_file(folder / "more/x", "8,0\n9,0\n");
  CHECK(column(folder / "*.csv") == Floats{1, 1, 3, 5});
  CHECK(column(folder / "[13].*") == Floats{1, 7});
  CHECK(column(folder / "?.csv", 3) == Floats{1, 1, 3, 5});
  CHECK(column(folder / "more") == Floats{8, 9});
  CHECK(column(cat(folder / "3.txt", ";", folder / "1.csv", ";", folder / "more")) == Floats{7, 1, 8, 9});
  CHECK(column(cat(folder / "mor?", ";", folder / "1.csv")) == Floats{8, 9, 1});
  std::filesystem::create_symlink("/nowhere", folder / "x*");  // a match that is a pattern again
  CHECK(refusal(folder / "x*") == cat("CSVIter: \"", folder / "x*", "\": No such file or directory"));
  put_file(folder / "a;b*", "4,0\n");  // a file of that name goes before what the name means elsewhere
  CHECK(column(folder / "a;b*") == Floats{4});
  CHECK(refusal(folder / "*.none").ends_with("no file matches this pattern"));
  CHECK(refusal(cat(folder / "1.csv", ";", folder / "nothing")) ==
        cat("CSVIter: \"", folder / "nothing", "\": No such file or directory"));
  CHECK(refusal(";") == "CSVIter: \";\": this names no file");
  CHECK(refusal("/dev/null") == "CSVIter: \"/dev/null\": this is no regular file and no pipe");
}

TEST_CASE("a pipe is read to its end, and its rows come in every epoch") {
  const Folder folder;
  const std::string path = folder / "pipe";
  for (const std::string* text : {&plain, &gzip}) {
    ::mkfifo(path.c_str(), 0600);
    std::thread writer([&] { put_file(path, *text); });
    CSVIter batches(path, {.data_shape = {2}, .batch_size = 3});
    writer.join();
    std::filesystem::remove(path);
    for (int epoch = 0; epoch < 2; ++epoch)
      for (const DataBatch& batch : batches) CHECK(batch.data[0].to_vector<float>() == Floats{1, 2, 3, 4, 5, 6});
  }
}
