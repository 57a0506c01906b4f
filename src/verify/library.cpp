// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rows that the command and the tests of operators start with: those of the library's operators.
#include "library.hpp"

namespace strop::inline v0::verify {

std::vector<Row>& rows() {
  static std::vector<Row> all = [] {
    std::vector<Row> list;
    add_map_rows(list);
    add_shape_rows(list);
    add_tensor_rows(list);
    add_layer_rows(list);
    add_linalg_rows(list);
    add_vision_rows(list);
    add_attention_rows(list);
    add_box_rows(list);
    add_detection_rows(list);
    add_rnn_rows(list);
    return list;
  }();
  return all;
}

}  // namespace strop::inline v0::verify
