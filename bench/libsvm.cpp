// SPDX-License-Identifier: Apache-2.0
/// \file
/// LibSVM text: a whole file as a matrix, and in batches that are read ahead. Counts are short numbers, measurements
/// long ones, which take other ways through the parser.
#include "measure.hpp"

#include <strop/data/libsvm.hpp>
#include <strop/data/libsvm_iter.hpp>
#include <strop/strop.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

constexpr std::int64_t features = 100000;

/// Lines of 40 ascending indices; for the peers it is kept where they look.
struct Text {
  std::string path;
  double bytes;

  Text(const char* name, bool counts) {
    const char* const folder = std::getenv("STROP_BENCH_DATA");
    path = ((folder != nullptr ? std::filesystem::path(folder) : std::filesystem::temp_directory_path()) /
            (std::string(name) + ".libsvm"))
               .string();
    std::uint64_t state = 1;
    const auto below = [&](std::uint64_t n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return (state >> 33) % n;
    };
    std::string text;
    while (text.size() < (std::size_t{8} << 20)) {
      text += std::to_string(below(2));
      for (std::uint64_t k = 0; k < 40; ++k) {
        text += ' ' + std::to_string(k * 2500 + below(2500)) + ':';
        text += counts ? std::to_string(1 + below(9)) : "0." + std::to_string(100000000 + below(900000000));
      }
      text += '\n';
    }
    std::ofstream(path, std::ios::binary) << text;
    bytes = static_cast<double>(text.size());
  }
  ~Text() {
    std::error_code ignored;
    if (std::getenv("STROP_BENCH_DATA") == nullptr) std::filesystem::remove(path, ignored);
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
};

template <class Work>
void row(const std::string& what, double bytes, Work work) {
  if (!bench::wanted(what) || bench::gave_line(what, work)) return;
  bench::Contest one, two;
  one.add(work), two.add(work);
  for (int pass = 0; pass < 3; ++pass) {
    strop::set_num_threads(1), one.run(2e8);
    strop::set_num_threads(2), two.run(2e8);
  }
  std::printf("%-40s %10.0f %10.0f\n", what.c_str(), 1e3 * bytes / one.best(0), 1e3 * bytes / two.best(0));
}

void read(const char* name, bool counts) {
  const Text text(name, counts);
  row(std::string(name) + ", whole", text.bytes,
      [&] { bench::touch(strop::load_libsvm(text.path, {.features = features}).data.bytes()); });
  strop::LibSVMIter batches(text.path, {.data_shape = {features}, .batch_size = 512, .round_batch = false});
  row(std::string(name) + ", batches of 512", text.bytes, [&] {
    for (auto& batch : batches) bench::touch(batch.data[0].bytes());
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  if (!bench::lines) std::printf("%-40s %10s %10s\n", "MB/s", "1 thread", "2 threads");
  read("counts", true);
  read("measurements", false);
}
