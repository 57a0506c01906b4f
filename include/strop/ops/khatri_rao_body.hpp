// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/khatri_rao.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/khatri_rao.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace strop::inline v0 {

template <detail::Addable E>
inline void KhatriRao::forward(Cpu&, std::span<const View<const E, 2>> x, View<E, 2> y) const {
  const std::int64_t columns = y.shape()[1];
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, columns));
  parallel_for(y.shape()[0], grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      E* const to = y.data() + row * columns;
      std::fill_n(to, columns, E(1));
      std::int64_t rest = row;
      for (std::size_t k = x.size(); k-- > 0; rest /= x[k].shape()[0]) {
        const E* const from = x[k].data() + rest % x[k].shape()[0] * columns;
        for (std::int64_t j = 0; j < columns; ++j) to[j] *= from[j];
      }
    }
  });
}

}  // namespace strop::inline v0
