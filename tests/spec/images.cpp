// SPDX-License-Identifier: Apache-2.0
// skip-unless: /usr/lib*/*/libturbojpeg.so.0
// Pictures of a file of records as the design page spells them.
// expect: (32, 3, 224, 224) (32,), pad 0
// expect: (32, 3, 224, 224) (32,), pad 24
#include <strop/strop.hpp>

int main() {
  {
    strop::RecordWriter out("a.rec");
    for (int k = 0; k < 40; ++k) out.write(strop::pack_img({.label = k}, strop::full({240, 256, 3}, 6 * k, strop::u8)));
  }
  for (auto& batch : strop::ImageRecordIter(
           "a.rec", {.data_shape = {3, 224, 224}, .batch_size = 32, .rand_crop = true, .rand_mirror = true}))
    fmt::print("{} {}, pad {}\n", batch.data[0].shape(), batch.label[0].shape(), batch.pad);
}
