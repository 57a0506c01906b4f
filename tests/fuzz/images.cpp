// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as a picture: an Error, or an image that is resized and, as PNG, read back the same; and as a list of
/// pictures.
#include <strop/data/image_list.hpp>
#include <strop/strop.hpp>

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace strop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    const NDArray image = image::decode(text, {.flag = static_cast<int>(size % 2)});
    if (image.size() <= 1 << 18) {  // larger ones take long
      for (const int interp : {0, 1, 2, 3, 4})
        if (image::resize(image, 5, 7, interp).shape()[0] != 7) std::abort();
      const NDArray again = image::decode(image::encode(image, ".png"), {.flag = static_cast<int>(size % 2)});
      if (again.to_vector<std::uint8_t>() != image.to_vector<std::uint8_t>()) std::abort();
    }
  } catch (const Error&) {
  }
  static const std::string path = cat("/tmp/strop-fuzz-", ::getpid(), ".lst");
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  try {
    const ImageList list = read_image_list(path);
    write_image_list(path, list);
    if (read_image_list(path).items.size() != list.items.size()) std::abort();
  } catch (const Error&) {
  }
  ::unlink(path.c_str());
  return 0;
}
