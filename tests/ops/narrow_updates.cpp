// SPDX-License-Identifier: Apache-2.0
/// \file
/// Updates by row_sparse gradients of every width: the stored rows become what a dense update makes of them, bit for
/// bit, and the others stay; or all are updated, where the update is not lazy.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <strop/ops/sparse_optimizer.hpp>
#include <strop/ops/sparse_optimizer_body.hpp>
#include <strop/tensor/sparse.hpp>
#include <vector>

namespace {

using namespace strop;

template <class E>
NDArray drawn(const Shape& shape, int seed) {
  const NDArray x(shape, dtype_of<E>);
  std::mt19937 next(static_cast<unsigned>(seed));
  for (std::int64_t i = 0; i < x.size(); ++i) x.pointer<E>()[i] = static_cast<E>(next() % 2000) / E(1000);
  return x;
}

/// A gradient that stores rows 1, 4, 5, 8, … and the same rows of it in a dense one, whose others are zero.
template <class E>
struct Gradients {
  NDArray sparse, filled;
  std::vector<bool> stored;

  Gradients(std::int64_t rows, std::int64_t width, bool all) : stored(static_cast<std::size_t>(rows)) {
    filled = NDArray(Shape{rows, width}, dtype_of<E>);
    std::fill_n(filled.pointer<E>(), rows * width, E(0));
    std::vector<std::int64_t> at;
    for (std::int64_t row = 0; row < rows; ++row)
      if (all || row % 4 < 2) stored[static_cast<std::size_t>(row)] = true, at.push_back(row);
    const auto count = static_cast<std::int64_t>(at.size());
    const NDArray values = drawn<E>({count, width}, 3), numbers({count}, i64);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = at[static_cast<std::size_t>(i)];
      numbers.pointer<std::int64_t>()[i] = row;
      std::copy_n(values.pointer<E>() + i * width, width, filled.pointer<E>() + row * width);
    }
    sparse = row_sparse_array(values, numbers, {rows, width});
  }
};

template <class E>
void hold(std::int64_t rows, std::int64_t width, bool all, bool lazy) {
  const Gradients<E> gradients(rows, width, all);
  const Shape shape{rows, width};
  const NDArray weight = drawn<E>(shape, 1), first = drawn<E>(shape, 2), second = drawn<E>(shape, 4);
  const NDArray weights[] = {weight.copy(), weight.copy()}, firsts[] = {first.copy(), first.copy()},
                seconds[] = {second.copy(), second.copy()};
  const NDArray* const given[] = {&gradients.sparse, &gradients.filled};
  for (int k = 0; k < 2; ++k)
    adam_update(weights[k], *given[k], firsts[k], seconds[k],
                {.lr = 0.1f, .wd = 0.01f, .clip_gradient = 0.9f, .lazy_update = lazy}, into(weights[k]));
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool updated = !lazy || gradients.stored[static_cast<std::size_t>(row)];
    const auto differs = [&](const NDArray& now, const NDArray& dense, const NDArray& before) {
      const NDArray& wanted = updated ? dense : before;
      return std::memcmp(now.pointer<E>() + row * width, wanted.pointer<E>() + row * width,
                         static_cast<std::size_t>(width) * sizeof(E)) != 0;
    };
    wrong += differs(weights[0], weights[1], weight) || differs(firsts[0], firsts[1], first) ||
                     differs(seconds[0], seconds[1], second)
                 ? 1
                 : 0;
  }
  CHECK_MESSAGE(wrong == 0, rows, " rows of ", width, all ? ", all" : "", lazy ? ", lazy" : "");
}

}  // namespace

TEST_CASE_TEMPLATE("row_sparse gradients of every width update as dense ones do", E, float, double) {
  const int threads = num_threads();
  for (const int count : {1, 2}) {
    set_num_threads(count);
    for (const bool lazy : {true, false})
      for (const std::int64_t width : {1, 2, 3, 15, 17, 63, 64, 65, 1025}) {
        hold<E>(1, width, true, lazy);
        hold<E>(7, width, false, lazy);
        hold<E>(width < 100 ? 2501 : 40, width, false, lazy);
        hold<E>(40, width, true, lazy);
      }
    hold<E>(90001, 1, false, true);
    hold<E>(90001, 1, false, false);
  }
  set_num_threads(threads);
}
