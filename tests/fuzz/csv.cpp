// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as lines of numbers: an Error, or as many numbers as the rows have.
#include <strop/data/csv_iter.hpp>
#include <strop/data/csv_rows.hpp>
#include <strop/strop.hpp>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

using namespace strop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 1) return 0;
  const Dtype types[] = {f32, f64, i32, i64};
  const detail::CSVText format{.width = bytes[0] % 4 + 1, .dtype = types[bytes[0] / 4 % 4]};
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    detail::LineReader<detail::CSVText> lines(format, "fuzz", "text", text);
    detail::CSVRows rows;
    const detail::Index count = lines.read(std::numeric_limits<detail::Index>::max(), rows);
    if (rows.count() != count || rows.reals.size() + rows.wholes.size() != count * format.width) std::abort();
    if (format.array(rows, {count, format.width}).size() != count * format.width) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
