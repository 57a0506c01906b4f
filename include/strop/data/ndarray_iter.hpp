// SPDX-License-Identifier: Apache-2.0
/// \file
/// NDArrayIter: arrays as batches of their rows.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/data_iter.hpp>
#include <strop/tensor/named_arrays.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// What becomes of the last rows of an epoch where they do not fill a batch: `LastBatch::discard`, or its name.
class LastBatch {
 public:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // the rule `pad` is no use of the operator of that name
  enum Rule : std::uint8_t {
    pad,       ///< rows of the beginning fill the batch
    discard,   ///< they are left out
    roll_over  ///< the next epoch begins with them
  };
#pragma GCC diagnostic pop
  constexpr LastBatch(Rule rule) : rule_(rule) {}
  /// Error where there is no rule of that name.
  LastBatch(std::string_view name);
  LastBatch(const char* name) : LastBatch(std::string_view(name)) {}
  LastBatch(const std::string& name) : LastBatch(std::string_view(name)) {}
  constexpr operator Rule() const { return rule_; }

 private:
  Rule rule_;
};

namespace detail {
enum class Rest : std::uint8_t;
/// What Batches calls the rule.
Rest rest_of(LastBatch rule);
}  // namespace detail

/// Parameters of NDArrayIter: MXNet's names, order and defaults, then ours.
struct NDArrayParams {
  std::int64_t batch_size = 1;  ///< rows of a batch
  bool shuffle = false;         ///< every epoch has its rows in another order
  LastBatch last_batch_handle = LastBatch::pad;
  std::string data_name = "data";  ///< of the only array; of several `_0_data`, `_1_data`, …
  std::string label_name = "softmax_label";
  std::uint64_t seed = 0;  ///< the orders follow from it and from the number of the epoch
};

/// The arrays that an iterator gives rows of: one, a list, or a list with names, `{{"data", x}, {"mask", m}}`.
class ArraySources {
 public:
  ArraySources() = default;
  ArraySources(const NDArray& array);  // an empty handle: no array
  ArraySources(std::vector<NDArray> arrays);
  ArraySources(std::initializer_list<NDArray> arrays) : ArraySources(std::vector<NDArray>(arrays)) {}
  ArraySources(NamedArrays arrays) : arrays_(std::move(arrays)) {}
  ArraySources(std::initializer_list<NamedArrays::value_type> arrays) : arrays_(arrays) {}

  /// In their order, those without a name named after what they are.
  NamedArrays named(std::string_view name) const;

 private:
  NamedArrays arrays_;
};

/// Batches of the rows of arrays, of data and of labels side by side: dense, CSR or row-sparse, each with its own type.
/// Arrays of a device are copied to the CPU once. `last_batch_handle` says what becomes of rows that do not fill the
/// last batch. "pad" fills it with rows of the epoch's beginning, `pad` of them. "discard" leaves them out, and fewer
/// rows than batch_size are an error. With "roll_over" the next epoch begins with them, and `pad` says so, as the
/// original counts. A shuffled epoch has an order that follows from `seed` and from how many epochs began before, and
/// not from threads.
///
/// A batch is a copy, made when it is asked for: what is written to the arrays before is in it. Throws Error where
/// there is no data or no row, arrays differ in rows, two have one name, or batch_size is below 1.
///
/// Example: `for (auto& batch : NDArrayIter(x, y, {.batch_size = 32, .shuffle = true})) use(batch.data[0]);`
class NDArrayIter : public DataIter {
 public:
  NDArrayIter(const ArraySources& data, const ArraySources& label, const NDArrayParams& params);
  NDArrayIter(const ArraySources& data, const NDArrayParams& params) : NDArrayIter(data, ArraySources(), params) {}
  explicit NDArrayIter(const ArraySources& data) : NDArrayIter(data, ArraySources(), NDArrayParams{}) {}
  /// A template, so that braces are parameters: g++ takes them for arrays as well.
  template <std::convertible_to<ArraySources> L>
  NDArrayIter(const ArraySources& data, const L& label) : NDArrayIter(data, label, NDArrayParams{}) {}
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/ndarray_iter_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
