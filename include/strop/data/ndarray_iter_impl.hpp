// SPDX-License-Identifier: Apache-2.0
/// \file
/// How batches of rows of arrays are made.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/data/array_rows.hpp>
#include <strop/data/batches.hpp>
#include <strop/data/ndarray_iter.hpp>
#include <strop/data/row_order.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

STROP_IMPL LastBatch::LastBatch(std::string_view name) : rule_(pad) {
  if (name == "discard")
    rule_ = discard;
  else if (name == "roll_over")
    rule_ = roll_over;
  else if (name != "pad")
    fail("NDArrayIter: last_batch_handle is \"", name, "\", expected pad, discard or roll_over");
}

STROP_IMPL ArraySources::ArraySources(const NDArray& array) {
  if (array.defined()) arrays_.emplace_back("", array);
}
STROP_IMPL ArraySources::ArraySources(std::vector<NDArray> arrays) {
  for (NDArray& array : arrays) arrays_.emplace_back("", std::move(array));
}

STROP_IMPL NamedArrays ArraySources::named(std::string_view name) const {
  NamedArrays named = arrays_;
  for (std::size_t i = 0; i < named.size(); ++i)
    if (named[i].first.empty()) named[i].first = named.size() == 1 ? std::string(name) : cat('_', i, '_', name);
  return named;
}

namespace detail {

/// Rows of arrays for Batches.
class ArrayRecords {
 public:
  ArrayRecords(const ArraySources& data, const ArraySources& label, const NDArrayParams& params)
      : data_(data.named(params.data_name)),
        label_(label.named(params.label_name)),
        order_(0, common_rows()),
        shuffled_(params.shuffle),
        seed_(params.seed) {
    for (NamedArrays* arrays : {&data_, &label_})
      for (auto& [name, array] : *arrays) array = with_rows(array);
    if (params.batch_size < 1) fail("NDArrayIter: batch_size is ", params.batch_size, ", expected 1 or more");
  }

  void clear() { numbers_.clear(); }
  Index take(Index n) {
    const Index got = std::min(n, left());
    append_numbers(place_, got, numbers_);
    place_ += got;
    return got;
  }
  void give(DataBatch& batch) const {
    for (const auto& [name, array] : data_) batch.data.push_back(take_rows(array, numbers_.span()));
    for (const auto& [name, array] : label_) batch.label.push_back(take_rows(array, numbers_.span()));
  }
  void rewind() { place_ = 0; }
  void begin_epoch(std::int64_t number) {
    if (shuffled_) order_.shuffle("NDArrayIter", seed_, number);
  }
  void append_numbers(Index from, Index count, List<std::int64_t>& to) const {
    for (Index k = from; k < from + count; ++k) to.push_back(order_[k]);
  }
  Index left() const { return order_.size() - place_; }
  bool has(std::int64_t number) const { return number < order_.size(); }
  void gather(Span<const std::int64_t> numbers) { numbers_.append(numbers); }
  std::vector<DataDesc> provide_data(Index size) const { return described(data_, size); }
  std::vector<DataDesc> provide_label(Index size) const { return described(label_, size); }

 private:
  static std::vector<DataDesc> described(const NamedArrays& arrays, Index size) {
    std::vector<DataDesc> out;
    for (const auto& [name, array] : arrays) {
      Shape shape = array.shape();
      shape[0] = size;
      out.push_back({name, shape, array.dtype()});
    }
    return out;
  }
  /// How many rows every array has.
  Index common_rows() const {
    if (data_.empty()) fail("NDArrayIter: there is no data");
    std::vector<std::string_view> names;
    for (const NamedArrays* arrays : {&data_, &label_})
      for (const auto& [name, array] : *arrays) {
        if (!array.defined()) fail("NDArrayIter: ", name, " is an empty handle, expected an array");
        if (array.ndim() == 0) fail("NDArrayIter: ", name, " has no dimension, expected rows along the first one");
        const Index rows = array.shape()[0], first = data_[0].second.shape()[0];
        if (rows != first)
          fail("NDArrayIter: ", name, " has ", rows, rows == 1 ? " row, " : " rows, ", data_[0].first, " has ", first);
        if (rows == 0) fail("NDArrayIter: ", name, " has no rows");
        if (std::find(names.begin(), names.end(), name) != names.end())
          fail("NDArrayIter: two arrays are called ", name);
        names.push_back(name);
      }
    return data_[0].second.shape()[0];
  }

  NamedArrays data_, label_;
  RowOrder order_;
  bool shuffled_;
  std::uint64_t seed_;
  Index place_ = 0;
  List<std::int64_t> numbers_;  // of the rows that are gathered
};

STROP_IMPL Rest rest_of(LastBatch rule) {
  return rule == LastBatch::pad ? Rest::pad : rule == LastBatch::discard ? Rest::discard : Rest::roll_over;
}

}  // namespace detail

STROP_IMPL NDArrayIter::NDArrayIter(const ArraySources& data, const ArraySources& label, const NDArrayParams& params)
    : DataIter("NDArrayIter", 0,
               new detail::StageOf<detail::Batches<detail::ArrayRecords>>(
                   "NDArrayIter", params.batch_size, detail::rest_of(params.last_batch_handle), data, label, params)) {}

}  // namespace strop::inline v0
