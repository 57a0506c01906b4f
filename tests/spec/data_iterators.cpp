// SPDX-License-Identifier: Apache-2.0
// Iterators and files of records as the design page spells them.
// expect: arrays 4 of 10, pad 2
// expect: names data mask label
// expect: lines 2 of 3, pad 1
// expect: images 2 of 3
// expect: records abc defg, key 1: defg
#include <strop/strop.hpp>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

void write_file(const char* name, std::string_view text) {
  std::FILE* const file = std::fopen(name, "wb");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

}  // namespace

int main() {
  const auto data = strop::arange(0, 20).reshape({10, 2}), mask = strop::ones({10}, strop::u8);
  const auto label = strop::arange(0, 10);
  std::int64_t pad = 0, size = 0;
  for (auto& batch : strop::NDArrayIter(data, label, {.batch_size = 4, .shuffle = true}))
    pad += batch.pad, size = batch.data[0].shape()[0];
  fmt::print("arrays {} of 10, pad {}\n", size, pad);

  strop::NDArrayIter named({{"data", data}, {"mask", mask}}, {{"label", label}},
                           {.batch_size = 5, .last_batch_handle = "discard"});
  fmt::print("names {} {} {}\n", named.provide_data()[0].name, named.provide_data()[1].name,
             named.provide_label()[0].name);

  write_file("a.csv", "1,2,3\n4,5,6\n7,8,9\n");
  std::int64_t rows = 0;
  for (auto& batch : strop::CSVIter("a.csv", {.data_shape = {3}, .batch_size = 2}))
    rows = batch.data[0].shape()[0], pad = batch.pad;
  fmt::print("lines {} of 3, pad {}\n", rows, pad);

  using namespace std::string_view_literals;
  write_file("images", "\0\0\x08\x03\0\0\0\3\0\0\0\1\0\0\0\1abc"sv);
  write_file("labels", "\0\0\x08\x01\0\0\0\3\0\1\2"sv);
  std::int64_t images = 0;
  for (auto& batch : strop::MNISTIter("images", "labels", {.batch_size = 2})) images += batch.data[0].shape()[0];
  fmt::print("images {} of 3\n", images);

  {
    strop::RecordWriter out("b.rec", "b.idx");
    out.write("abc");
    out.write(std::string("defg"));
  }
  std::string all;
  for (auto& record : strop::RecordReader("b.rec")) all += " " + record;
  fmt::print("records{}, key 1: {}\n", all, strop::RecordReader("b.rec", {.index = "b.idx"}).read_idx(1));
}
