// SPDX-License-Identifier: Apache-2.0
/// \file
/// A format of one's own as batches: records of a reader, a parser from a record to arrays, and the stages between.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/core/params.hpp>
#include <strop/data/batches.hpp>
#include <strop/data/data_iter.hpp>
#include <strop/data/ndarray_iter.hpp>
#include <strop/data/readers.hpp>
#include <strop/engine/pool.hpp>
#include <strop/tensor/convert.hpp>

#include <concepts>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// What a record becomes: dense arrays of data and of labels, of the same shapes and types in every record.
struct Example {
  std::vector<NDArray> data, label;
};

/// A function from a record to arrays. Several threads call it at once.
template <class P>
concept RecordParser = requires(const P& parse, std::string_view record) {
  { parse(record) } -> std::convertible_to<Example>;
};

/// A format: a plain struct, its fields the parameters, with defaults, ranges and notes as an operator's. It says which
/// reader yields its records, `open()`, or `open(num_parts, part_index)` where that can read a part by itself, and what
/// a record becomes, `parse(record)`.
template <class F>
concept DataFormat = std::is_aggregate_v<F> && requires(const F& format, std::string_view record) {
  { format.parse(record) } -> std::convertible_to<Example>;
} && (requires(const F& format) {
  { format.open() } -> Reader;
} || requires(const F& format, std::int64_t n) {
  { format.open(n, n) } -> Reader;
});

/// How records become batches.
struct PipelineParams {
  std::int64_t batch_size = 1;  ///< records of a batch
  LastBatch last_batch_handle = LastBatch::pad;
  std::int64_t shuffle_window = 0;   ///< see Shuffled; 0: the records come as they stand
  std::uint64_t seed = 0;            ///< of the order
  std::int64_t num_parts = 1;        ///< of how many parts of the records
  std::int64_t part_index = 0;       ///< this one is read
  std::int64_t prefetch_buffer = 4;  ///< batches that are made ahead; 0: none
};

namespace detail {

/// Copies the arrays of an example into row `row` of a batch's; refuses others than the first example has.
inline void copy_row(const std::vector<NDArray>& arrays, const std::vector<DataDesc>& wanted,
                     const std::vector<NDArray>& to, Index row) {
  if (arrays.size() != wanted.size())
    fail(arrays.size(), arrays.size() == 1 ? " array" : " arrays", ", the first record has ", wanted.size());
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const NDArray& a = arrays[k];
    if (!a.defined()) fail(wanted[k].name, " is an empty handle");
    if (a.storage() != dense || a.dtype() != wanted[k].dtype || a.shape() != wanted[k].shape)
      fail(wanted[k].name, " is ", name_of(a.storage()), " ", name_of(a.dtype()), " of shape ", a.shape(),
           ", expected dense ", name_of(wanted[k].dtype), " of shape ", wanted[k].shape, " as the first record has");
    const std::int64_t bytes = a.size() * size_of(a.dtype());
    if (bytes > 0) copy_bytes(to[k].bytes() + row * bytes, a.bytes(), bytes);
  }
}

/// Records of a reader for Batches, parsed by all threads.
template <Reader R, RecordParser Parse>
class ParsedRecords {
 public:
  ParsedRecords(std::string_view name, R reader, Parse parse)
      : name_(name), reader_(std::move(reader)), parse_(std::move(parse)) {
    reader_.begin_epoch(0);
    reader_.rewind();
    std::string record;
    if (!reader_.read(record)) return;
    const Example first = example(record, reader_.number());
    describe(first.data, "data", data_);
    describe(first.label, "softmax_label", label_);
  }

  void clear() {
    records_.clear();
    numbers_.clear();
  }
  Index take(Index n) {
    for (Index got = 0; got < n; ++got) {
      std::string record;
      if (!reader_.read(record)) return got;
      records_.push_back(std::move(record));
      numbers_.push_back(reader_.number());
    }
    return n;
  }
  void append_numbers(Index, Index count, List<std::int64_t>& to) const { to.append(numbers_.span().last(count)); }
  void give(DataBatch& batch) const {
    batch.data = made(data_);
    batch.label = made(label_);
    parallel_for(records_.size(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const Example one = example(records_[k], numbers_[k]);
        try {
          copy_row(one.data, data_, batch.data, k);
          copy_row(one.label, label_, batch.label, k);
        } catch (const std::exception& error) {
          refuse(numbers_[k], error.what());
        }
      }
    });
  }
  void rewind() { reader_.rewind(); }
  void begin_epoch(std::int64_t epoch) { reader_.begin_epoch(epoch); }
  std::vector<DataDesc> provide_data(Index size) const { return in_batches(data_, size); }
  std::vector<DataDesc> provide_label(Index size) const { return in_batches(label_, size); }

 private:
  [[noreturn]] void refuse(std::int64_t number, const char* why) const { fail(name_, ": record ", number, ": ", why); }
  Example example(const std::string& record, std::int64_t number) const {
    try {
      return parse_(std::string_view(record));
    } catch (const std::exception& error) {
      refuse(number, error.what());
    }
  }
  static void describe(const std::vector<NDArray>& arrays, std::string_view name, std::vector<DataDesc>& to) {
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      if (!arrays[k].defined()) fail("an array of the first record is an empty handle");
      to.push_back(
          {arrays.size() == 1 ? std::string(name) : cat('_', k, '_', name), arrays[k].shape(), arrays[k].dtype()});
    }
  }
  static std::vector<DataDesc> in_batches(std::vector<DataDesc> rows, Index size) {
    for (DataDesc& one : rows) {
      Shape shape{size};
      for (int axis = 0; axis < one.shape.ndim(); ++axis) shape.push_back(one.shape[axis]);
      one.shape = shape == Shape{size, 1} ? Shape{size} : shape;
    }
    return rows;
  }
  std::vector<NDArray> made(const std::vector<DataDesc>& rows) const {
    std::vector<NDArray> out;
    for (const DataDesc& one : in_batches(rows, records_.size())) out.push_back(NDArray(one.shape, one.dtype));
    return out;
  }

  std::string name_;
  Numbered<R> reader_;
  Parse parse_;
  std::vector<DataDesc> data_, label_;  // of a record
  List<std::string> records_;           // that are gathered
  List<std::int64_t> numbers_;          // and which they are
};

}  // namespace detail

/// Batches of any reader's records, parsed by any function: arrays of all records one below the other, those of one
/// element as a vector. The reader may be one of stages, `Shuffled(Sharded(TextLines("a.txt"), 2, 0), 1000, 7)`; what
/// `params` say of parts and orders comes on top. Throws Error where a parameter is wrong, and, where a batch is asked
/// for, with the number of the record where it cannot be read or parsed, or has other arrays than the first one.
template <Reader R, RecordParser Parse>
DataIter batched(R reader, Parse parse, const PipelineParams& params, std::string_view name = "batched") {
  if (params.batch_size < 1) fail(name, ": batch_size is ", params.batch_size, ", expected 1 or more");
  if (params.shuffle_window < 0) fail(name, ": shuffle_window is ", params.shuffle_window, ", expected 0 or more");
  detail::check_part(name, params.num_parts, params.part_index);
  const detail::Rest rest = detail::rest_of(params.last_batch_handle);
  const auto made = [&]<class Last>(Last last) {
    using Records = detail::ParsedRecords<Last, Parse>;
    return DataIter(detail::Batches<Records>(name, params.batch_size, rest, name, std::move(last), std::move(parse)),
                    params.prefetch_buffer);
  };
  const auto shuffled = [&]<class Part>(Part part) {
    return params.shuffle_window > 0 ? made(Shuffled<Part>(std::move(part), params.shuffle_window, params.seed))
                                     : made(std::move(part));
  };
  return params.num_parts > 1 ? shuffled(Sharded<R>(std::move(reader), params.num_parts, params.part_index))
                              : shuffled(std::move(reader));
}

/// Batches of a format. Throws Error as batched() does, and where a parameter of the format is out of its range.
///
/// Example: `for (auto& batch : pipeline(Sensor{.path = "a.rec"}, {.batch_size = 32})) use(batch.data[0]);`
template <class F>
DataIter pipeline(const F& format, const PipelineParams& params = {}) {
  if constexpr (DataFormat<F>) {
    constexpr std::string_view name = detail::type_name<F>;
    detail::check_params(name, detail::param_table<F>, &format);
    auto parse = [format](std::string_view record) { return Example(format.parse(record)); };
    if constexpr (requires { format.open(params.num_parts, params.part_index); }) {
      detail::check_part(name, params.num_parts, params.part_index);
      PipelineParams rest = params;
      rest.num_parts = 1, rest.part_index = 0;
      return batched(format.open(params.num_parts, params.part_index), std::move(parse), rest, name);
    } else {
      return batched(format.open(), std::move(parse), params, name);
    }
  } else if constexpr (!std::is_aggregate_v<F>) {
    static_assert(!sizeof(F), "strop: a data format is a plain struct without constructors: its fields are parameters");
  } else if constexpr (!requires(std::string_view record) { Example(format.parse(record)); }) {
    static_assert(!sizeof(F),
                  "strop: a data format says what a record becomes: Example parse(std::string_view record) const");
  } else {
    static_assert(!sizeof(F),
                  "strop: a data format says which reader yields its records: open() const, or open(num_parts, "
                  "part_index) const, gives an object with bool read(std::string& record) and rewind()");
  }
}

}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
