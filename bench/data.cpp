// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reading data: lines of numbers, records, rows of arrays, pictures; beside each what the machine does at best, which
/// is to read the file, or to copy the rows.
#include "measure.hpp"

#include <strop/data/csv_iter.hpp>
#include <strop/data/image_record_iter.hpp>
#include <strop/strop.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

/// Where the files are made; for the peers they are kept where they look.
std::string place(const char* name) {
  const char* const folder = std::getenv("STROP_BENCH_DATA");
  return ((folder != nullptr ? std::filesystem::path(folder) : std::filesystem::temp_directory_path()) / name).string();
}
void remove_unless_kept(const std::string& path) {
  std::error_code ignored;
  if (std::getenv("STROP_BENCH_DATA") == nullptr) std::filesystem::remove(path, ignored);
}
void read_file(const std::string& path) {
  static std::vector<char> room(std::size_t{1} << 20);
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  while (file != nullptr && std::fread(room.data(), 1, room.size(), file) > 0) bench::touch(room.data());
  if (file != nullptr) std::fclose(file);
}

/// MB/s of `bytes` with one thread and with two, and what `best` does with one.
template <class Work, class Best>
void row(const std::string& what, double bytes, Work work, Best best) {
  if (!bench::wanted(what) || bench::gave_line(what, work)) return;
  bench::Contest one, two;
  one.add(work), one.add(best), two.add(work);
  for (int pass = 0; pass < 3; ++pass) {
    strop::set_num_threads(1), one.run(2e8);
    strop::set_num_threads(2), two.run(2e8);
  }
  std::printf("%-32s %10.0f %10.0f %10.0f\n", what.c_str(), 1e3 * bytes / one.best(0), 1e3 * bytes / two.best(0),
              1e3 * bytes / one.best(1));
}

void lines_of_numbers() {
  const std::string path = place("data.csv");
  std::uint64_t state = 1;
  std::string text;
  while (text.size() < (std::size_t{8} << 20))
    for (int k = 0; k < 10; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += "0." + std::to_string(100000 + (state >> 33) % 900000) + (k == 9 ? '\n' : ',');
    }
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  strop::CSVIter batches(path, {.data_shape = {10}, .batch_size = 1000, .round_batch = false});
  row(
      "lines of numbers", static_cast<double>(text.size()),
      [&] {
        for (auto& batch : batches) bench::touch(batch.data[0].bytes());
      },
      [&] { read_file(path); });
  remove_unless_kept(path);
}

void records() {
  const std::string path = place("data.rec");
  {
    strop::RecordWriter out(path);
    for (int k = 0; k < 1024; ++k) out.write(std::string(50000 + 13 * static_cast<std::size_t>(k), 'r'));
  }
  strop::RecordReader reader(path);
  row(
      "records", static_cast<double>(std::filesystem::file_size(path)),
      [&] {
        for (auto& record : reader) bench::touch(record.data());
      },
      [&] { read_file(path); });
  remove_unless_kept(path);
}

void rows_of_arrays() {
  constexpr std::int64_t count = 20000, width = 784;
  const strop::NDArray x = strop::random::uniform({count, width}), y = strop::arange(0, count);
  x.to_vector<float>();
  const std::size_t bytes = static_cast<std::size_t>(count * width) * sizeof(float), part = bytes / 50;
  strop::NDArrayIter batches(x, y, {.batch_size = count / 50});
  std::vector<char> to(part);
  row(
      "rows of arrays", static_cast<double>(bytes),
      [&] {
        for (auto& batch : batches) bench::touch(batch.data[0].bytes());
      },
      [&] {
        for (std::size_t k = 0; k < 50; ++k)
          std::memcpy(to.data(), x.bytes() + k * part, part), bench::touch(to.data());
      });
}

void pictures() {
  const std::string path = place("pictures.rec"), index = place("pictures.idx");
  try {
    strop::RecordWriter out(path, index);
    for (int k = 0; k < 64; ++k) {  // smooth, as photographs are, with a little noise
      const strop::NDArray coarse = strop::random::uniform({12, 16, 3}).to(strop::f32) * 255;
      const strop::NDArray small = strop::detail::as_type(coarse, strop::u8);
      out.write(strop::pack_img({.label = k % 10}, strop::image::resize(small, 500, 375, 2), 90));
    }
  } catch (const strop::Error& error) {
    if (!bench::lines) std::printf("pictures: SKIP, %s\n", error.what());
    return;
  }
  strop::ImageRecordIter batches(path, {.path_imgidx = index,
                                        .data_shape = {3, 224, 224},
                                        .batch_size = 32,
                                        .rand_crop = true,
                                        .rand_mirror = true,
                                        .mean_r = 123,
                                        .std_r = 58});
  row(
      "pictures, to arrays", 64.0 * 3 * 224 * 224 * sizeof(float),
      [&] {
        for (auto& batch : batches) bench::touch(batch.data[0].bytes());
      },
      [&] { read_file(path); });
  remove_unless_kept(path), remove_unless_kept(index);
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  if (!bench::lines) std::printf("%-32s %10s %10s %10s\n", "MB/s", "1 thread", "2 threads", "at best");
  lines_of_numbers();
  records();
  rows_of_arrays();
  pictures();
}
