// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of recurrent networks.
#include "library.hpp"

namespace strop::inline v0::verify {

void add_rnn_rows(std::vector<Row>& rows) {
  const Sample data{{3, 2, 3}, -0.9, 0.9};
  const auto states = [](std::int64_t sets) { return Sample{{sets, 2, 4}, -0.9, 0.9}; };
  // Of `gates` gates: a layer of one direction, and two of two.
  const auto add = [&](const std::string& mode, std::int64_t gates, const std::string& more, Parts parts,
                       bool lengths = false) {
    const std::int64_t small = 4 * gates * (3 + 4 + 2), large = 2 * 4 * gates * ((3 + 4 + 2) + (8 + 4 + 2));
    for (const bool both : {false, true}) {
      const std::int64_t sets = both ? 4 : 1;
      std::vector<Sample> in{data, {{both ? large : small}, -0.5, 0.5}, states(sets)};
      if (mode == "lstm") in.push_back(states(sets));
      if (lengths) in.push_back(listed({2}, {2.5, 3.5}));
      const std::string size = both ? "num_layers=2; bidirectional=True" : "num_layers=1";
      rows.push_back(
          {"RNN", "mode=" + mode + "; state_size=4; " + size + more, std::move(in), parts, more.starts_with("; p=")});
    }
  };
  const Parts layer{.same_shape = false, .loose = 32};
  for (const std::string more : {"", "; state_outputs=True", "; p=0.5"}) {
    add("rnn_relu", 1, more, layer);
    add("rnn_tanh", 1, more, layer);
    add("lstm", 4, more, layer);
    add("gru", 3, more, layer);
  }
  add("lstm", 4, "; lstm_state_clip_min=-0.5; lstm_state_clip_max=0.25", layer);
  add("lstm", 4, "; use_sequence_length=True", layer, true);
  add("gru", 3, "; use_sequence_length=True", layer, true);
}

}  // namespace strop::inline v0::verify
