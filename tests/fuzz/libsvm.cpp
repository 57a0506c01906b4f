// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as LibSVM text: an Error, or rows in order that read back the same after they were written.
#include <strop/data/libsvm.hpp>
#include <strop/data/libsvm_reader.hpp>
#include <strop/strop.hpp>

#include <unistd.h>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace strop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 1) return 0;
  const LibSVMFormat format{.features = (bytes[0] & 1) != 0 ? 16 : 0,
                            .labels = (bytes[0] & 2) != 0 ? 2 : 1,
                            .one_based = (bytes[0] & 4) != 0,
                            .dtype = (bytes[0] & 8) != 0 ? f64 : f32};
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    const LibSVMData rows = detail::LibSVMReader("fuzz", "text", text, format).read_all();
    rows.data.check_format();
    if (rows.label.shape()[0] != rows.data.shape()[0]) std::abort();
    if ((bytes[0] & 16) == 0) return 0;
    static const std::string path = cat("/tmp/strop-fuzz-", ::getpid());
    save_libsvm(path, rows, format);
    const LibSVMData back = load_libsvm(path, {.features = rows.data.shape()[1],
                                               .labels = format.labels,
                                               .one_based = format.one_based,
                                               .dtype = format.dtype});
    ::unlink(path.c_str());
    if (back.data.nnz() != rows.data.nnz() || back.data.shape()[0] != rows.data.shape()[0]) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
