// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table by which the kernels of sparse work are chosen; it can be printed.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/config.hpp>

#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// What there is more than one kernel for.
enum class SparseWork : std::uint8_t { dense_product, transposed, csr_csr, on_pattern, numbering };
inline constexpr std::string_view sparse_work_names[] = {"csr . dense", "csr' . dense", "csr . csr",
                                                         "products at places", "numbering columns"};

/// How it is done.
enum class SparseKernel : std::uint8_t {
  products_first,
  ahead,
  in_registers,
  by_block,
  by_place,
  sums_of_parts,
  into_result,
  table,
  four_dots,
  dots,
  marks,
  bits,
  sorted
};
inline constexpr std::string_view sparse_kernel_names[] = {
    "products of many rows first, then their sums by masks",
    "sums in registers, rows asked for ahead",
    "sums in registers",
    "values sorted into blocks of columns, each summed in the cache",
    "rows listed by the place that they go to, sums in registers",
    "a table of sums for each part of the rows, added up",
    "row by row into the result",
    "counted with a bit a column, then a table of sums",
    "dot products, four at once",
    "dot products",
    "a mark for each column",
    "a bit for each column",
    "sorted"};

/// What a kernel is chosen by.
struct SparseSizes {
  std::int64_t width = 0;                ///< columns of the dense factor
  std::int64_t values = 0, columns = 1;  ///< how many values meet how many columns
  std::int64_t counted = 0;              ///< what the kernel counts: rows, values or columns
  bool adjacent = true;                  ///< the elements of a row of each dense factor follow each other
  std::int64_t bytes = 0, piece = 0;     ///< of the dense factor, and of what a kernel takes of one of its rows
  bool varied = false;                   ///< neighbouring rows of the CSR matrix are short, and rarely of equal length
};

/// A row of the table: it holds where each of its conditions does.
struct SparseRule {
  SparseWork work;
  SparseKernel kernel;
  std::int64_t least_sums = 0;  ///< columns times the width
  /// At least `values` for each `columns`.
  struct {
    std::int64_t values, columns;
  } filling = {0, 1};
  std::int64_t most_counted = std::numeric_limits<std::int64_t>::max();
  bool adjacent = false, varied = false;
  std::int64_t least_bytes = 0, most_piece = std::numeric_limits<std::int64_t>::max(), least_width = 0;

  constexpr bool has_condition() const {
    return least_sums != 0 || least_width != 0 || filling.values != 0 || adjacent || varied || least_bytes != 0 ||
           most_piece != std::numeric_limits<std::int64_t>::max() ||
           most_counted != std::numeric_limits<std::int64_t>::max();
  }
  constexpr bool holds(const SparseSizes& sizes) const {
    return static_cast<double>(sizes.width) * static_cast<double>(sizes.columns) >= static_cast<double>(least_sums) &&
           sizes.counted <= most_counted && (sizes.adjacent || !adjacent) && (sizes.varied || !varied) &&
           sizes.bytes >= least_bytes && sizes.piece <= most_piece && sizes.width >= least_width &&
           static_cast<double>(sizes.values) * static_cast<double>(filling.columns) >=
               static_cast<double>(sizes.columns) * static_cast<double>(filling.values);
  }
};

/// Of each kind of work the first row that holds is taken; the last one has no condition. The bounds are where two
/// kernels took the same time on the matrices of bench/sparse.cpp.
inline constexpr std::int64_t int32_most = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t narrow_bytes = 16, far_bytes = std::int64_t{16} << 20;
inline constexpr SparseRule sparse_rules[] = {
    {.work = SparseWork::dense_product,
     .kernel = SparseKernel::products_first,
     .varied = true,
     .most_piece = narrow_bytes},
    {.work = SparseWork::dense_product, .kernel = SparseKernel::ahead, .least_bytes = far_bytes},
    {SparseWork::dense_product, SparseKernel::in_registers},
    {.work = SparseWork::transposed,
     .kernel = SparseKernel::by_place,
     .least_sums = 1 << 20,
     .filling = {1, 4},
     .most_counted = int32_most,
     .least_width = 64},
    {SparseWork::transposed, SparseKernel::by_block, 1 << 20, {1, 4}, int32_most},
    {SparseWork::transposed, SparseKernel::sums_of_parts, 0, {1, 1}},
    {SparseWork::transposed, SparseKernel::into_result},
    {SparseWork::csr_csr, SparseKernel::table, 0, {1, 16}},
    {SparseWork::csr_csr, SparseKernel::sorted},
    {.work = SparseWork::on_pattern, .kernel = SparseKernel::four_dots, .adjacent = true},
    {SparseWork::on_pattern, SparseKernel::dots},
    {SparseWork::numbering, SparseKernel::marks, 0, {1, 2}, int32_most},
    {SparseWork::numbering, SparseKernel::bits, 0, {1, 512}},
    {SparseWork::numbering, SparseKernel::sorted},
};

/// What the table says.
constexpr SparseKernel sparse_kernel(SparseWork work, const SparseSizes& sizes) {
  const SparseRule* last = nullptr;
  for (const SparseRule& rule : sparse_rules) {
    if (rule.work != work) continue;
    last = &rule;
    if (rule.holds(sizes)) break;
  }
  return last->kernel;
}

static_assert(
    [] {
      for (std::size_t work = 0; work < std::size(sparse_work_names); ++work) {
        bool ends = false;
        for (const SparseRule& rule : sparse_rules)
          if (rule.work == static_cast<SparseWork>(work)) ends = !rule.has_condition();
        if (!ends) return false;
      }
      return std::size(sparse_kernel_names) == static_cast<std::size_t>(SparseKernel::sorted) + 1;
    }(),
    "each kind of work has a last row without a condition, and each kernel a name");

}  // namespace detail

/// The table by which the kernels of sparse work are chosen, as text: a line for each row, of each kind of work in the
/// order in which they are tried.
std::string sparse_kernels();

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/ops/sparse_kernels_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
