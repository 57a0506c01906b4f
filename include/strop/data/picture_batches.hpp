// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures of any source as records of batches: each is decoded by a thread of the pool, straight into its row.
#pragma once
#include <strop/core/list.hpp>
#include <strop/data/batches.hpp>
#include <strop/data/image_record_params.hpp>
#include <strop/data/picture_row.hpp>
#include <strop/engine/pool.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// A picture that a batch is made of.
struct GatheredPicture {
  std::string record;                             // what its source read of it already
  std::int64_t number = -1, byte = 0, epoch = 0;  // number: in its source; -1 of an empty one
};

/// Where pictures come from, in an order of its own for each epoch.
template <class S>
concept PictureSource =
    requires(S& source, const S& said, GatheredPicture& one, std::string_view& bytes, float* label, std::string& room) {
      {
        source.take(Index{}, one)
      } -> std::same_as<bool>;  // the picture at that place of the epoch; false behind the last
      source.begin_epoch(std::int64_t{});
      source.rewind();
      said.open(one, label, bytes, room);  // its label and its bytes, which may lie in `room`; many threads call it
      { said.where(one) } -> std::convertible_to<std::string>;  // for sentences
    };

/// Pictures for Batches.
template <PictureSource Source>
class PictureBatches {
 public:
  template <class... Args>
  PictureBatches(std::string_view function, const ImageRecordParams& params, Args&&... source)
      : function_(function), params_(params), row_(function, params), source_(std::forward<Args>(source)...) {}

  void clear() { gathered_.clear(); }
  Index take(Index n) {
    for (Index got = 0; got < n; ++got) {
      GatheredPicture one;
      if (!source_.take(place_, one)) return got;
      one.epoch = epoch_;
      ++place_;
      gathered_.push_back(std::move(one));
    }
    return n;
  }
  void take_empty(Index n) { gathered_.resize(gathered_.size() + n); }
  void append_numbers(Index, Index count, List<std::int64_t>& to) const {
    for (const GatheredPicture& one : gathered_.span().last(count)) to.push_back(one.number);
  }
  void give(DataBatch& batch) const {
    const Index count = gathered_.size(), threads = std::min(params_.preprocess_threads, count);
    const NDArray data(provide_data(count)[0].shape, params_.dtype), label(provide_label(count)[0].shape, f32);
    std::byte* const rows = data.bytes();
    auto* const labels = label.pointer<float>();
    std::vector<std::exception_ptr> failures(unsigned_size(count));  // thrown in the order of the records
    parallel_for(count, threads == 0 ? 1 : (count + threads - 1) / threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        try {
          make(gathered_[k], rows + k * row_.bytes(), labels + k * params_.label_width);
        } catch (...) {
          failures[unsigned_size(k)] = std::current_exception();
        }
      }
    });
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
    batch.data.push_back(data);
    batch.label.push_back(label);
  }
  void begin_epoch(std::int64_t epoch) {
    epoch_ = epoch;
    source_.begin_epoch(epoch);
  }
  void rewind() {
    place_ = 0;
    source_.rewind();
  }
  std::vector<DataDesc> provide_data(Index size) const {
    const Shape& shape = params_.data_shape;
    return {{"data", {size, shape[0], shape[1], shape[2]}, params_.dtype}};
  }
  std::vector<DataDesc> provide_label(Index size) const {
    return {{"softmax_label", params_.label_width == 1 ? Shape{size} : Shape{size, params_.label_width}, f32}};
  }

 private:
  void make(const GatheredPicture& one, std::byte* row, float* label) const {
    if (one.number < 0) {
      clear_bytes(row, row_.bytes());
      std::fill_n(label, params_.label_width, 0.0F);
      return;
    }
    // Streams of one seed and call have no element in common with those of the order, whose numbers end below 2³³.
    constexpr std::uint64_t behind_order = std::uint64_t{1} << 40;
    const random::Stream draws{.seed = params_.seed,
                               .offset = behind_order + 4 * static_cast<std::uint64_t>(one.number),
                               .call = static_cast<std::uint64_t>(one.epoch)};
    try {
      std::string_view bytes;
      std::string room;
      source_.open(one, label, bytes, room);
      row_.make(bytes, draws, row);
    } catch (const Error& error) {
      fail(function_, ": ", source_.where(one), ": ", error.what());
    }
  }

  std::string function_;
  ImageRecordParams params_;
  PictureRow row_;
  Source source_;
  Index place_ = 0;
  std::int64_t epoch_ = 0;
  List<GatheredPicture> gathered_;
};

}  // namespace strop::inline v0::detail
