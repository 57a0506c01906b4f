// SPDX-License-Identifier: Apache-2.0
/// \file
/// The tables of rows of the library's operators, by family.
#pragma once
#include <strop/verify/rows.hpp>

namespace strop::inline v0::verify {

void add_map_rows(std::vector<Row>& rows);
void add_shape_rows(std::vector<Row>& rows);
void add_tensor_rows(std::vector<Row>& rows);
void add_layer_rows(std::vector<Row>& rows);
void add_linalg_rows(std::vector<Row>& rows);
void add_vision_rows(std::vector<Row>& rows);
void add_attention_rows(std::vector<Row>& rows);
void add_box_rows(std::vector<Row>& rows);
void add_detection_rows(std::vector<Row>& rows);
void add_rnn_rows(std::vector<Row>& rows);

}  // namespace strop::inline v0::verify
