// SPDX-License-Identifier: Apache-2.0
/// \file
/// DataIter: any pipeline that makes batches, as a range of them, read ahead where that is asked for.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/batch.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// What makes batches, one after the other: the end of a pipeline, which a DataIter holds. Beside what is asked for
/// here it may say
/// - `last()`: whether the batch that was made last is known to end the epoch;
/// - `position()`, a text, and `resume(text)`: where it is, and to go on there.
template <class S>
concept BatchSource = requires(S& source, const S& said, DataBatch& batch, bool seen) {
  { source.next(batch) } -> std::same_as<bool>;  // makes the next batch; false at the end of the epoch
  source.begin_epoch(seen);                      // the next epoch; `seen`: all batches of the one before were given
  { said.provide_data() } -> std::convertible_to<std::vector<DataDesc>>;
  { said.provide_label() } -> std::convertible_to<std::vector<DataDesc>>;
};

namespace detail {

/// A BatchSource of some type.
class BatchStage {
 public:
  BatchStage() = default;
  BatchStage(const BatchStage&) = delete;
  BatchStage& operator=(const BatchStage&) = delete;
  virtual ~BatchStage() = default;
  virtual bool next(DataBatch& batch) = 0;
  virtual bool last() const = 0;
  virtual void begin_epoch(bool seen) = 0;
  virtual std::string position() const = 0;  // empty: it cannot say
  virtual bool resume(std::string_view position) = 0;
  virtual std::vector<DataDesc> provide_data() const = 0;
  virtual std::vector<DataDesc> provide_label() const = 0;
};

template <BatchSource S>
class StageOf final : public BatchStage {
 public:
  template <class... Args>
  explicit StageOf(Args&&... args) : source_(std::forward<Args>(args)...) {}
  bool next(DataBatch& batch) override { return source_.next(batch); }
  bool last() const override {
    if constexpr (requires { source_.last(); })
      return source_.last();
    else
      return false;
  }
  void begin_epoch(bool seen) override { source_.begin_epoch(seen); }
  std::string position() const override {
    if constexpr (requires { source_.position(); })
      return source_.position();
    else
      return {};
  }
  bool resume([[maybe_unused]] std::string_view position) override {
    if constexpr (requires { source_.resume(position); }) {
      source_.resume(position);
      return true;
    } else {
      return false;
    }
  }
  std::vector<DataDesc> provide_data() const override { return source_.provide_data(); }
  std::vector<DataDesc> provide_label() const override { return source_.provide_label(); }

 private:
  S source_;
};

class Upstream;

}  // namespace detail

/// Batches of any pipeline, one after the other, in epochs. A range-for gives the batches of an epoch, the next one
/// those of the next epoch. What making a batch throws is thrown where the batch is asked for, and again until reset()
/// or resume(). It may be moved; one thread at a time uses it.
class DataIter {
 public:
  /// The batches of a BatchSource, of which up to `prefetch_buffer` are made ahead, by the engine.
  template <BatchSource S>
  explicit DataIter(S source, std::int64_t prefetch_buffer = 0)
      : DataIter("DataIter", prefetch_buffer, new detail::StageOf<S>(std::move(source))) {}
  DataIter(DataIter&& from) noexcept;
  DataIter& operator=(DataIter&& from) noexcept;
  ~DataIter();

  /// Makes the next batch the current one; false at the end of the epoch.
  bool next();
  /// The current batch, which the next call of next() replaces; what it was assigned to stays.
  DataBatch& batch() const;
  /// Begins the next epoch; before the first batch of one it does nothing.
  void reset();

  /// Names, shapes and types of the arrays of a batch, in their order.
  std::vector<DataDesc> provide_data() const;
  std::vector<DataDesc> provide_label() const;

  /// Where the iterator is, behind the current batch, as a text for resume(). Error where the pipeline cannot say, of
  /// which has_position() tells.
  std::string position() const;
  bool has_position() const;
  /// Goes on where position() was asked for, of an iterator with the same parameters over the same data, in another
  /// process as well: the same batches follow. Error where the text is no such position.
  void resume(std::string_view position);

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = DataBatch;
    using difference_type = std::ptrdiff_t;
    using pointer = DataBatch*;
    using reference = DataBatch&;
    explicit iterator(DataIter* of) : of_(of) {}
    reference operator*() const { return of_->batch(); }
    pointer operator->() const { return &of_->batch(); }
    iterator& operator++() {
      more_ = of_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) { return !i.more_; }

   private:
    DataIter* of_;
    bool more_ = true;
  };
  /// The batches of an epoch: of the first one, or of the next.
  iterator begin();
  std::default_sentinel_t end() const { return {}; }

 protected:
  /// `name`, a literal, begins the sentences of errors. Owns the stage.
  DataIter(const char* name, std::int64_t prefetch_buffer, detail::BatchStage* stage);

 private:
  friend class detail::Upstream;
  struct State;
  State& state() const;
  void begin_epoch(bool seen);
  State* state_ = nullptr;
};

namespace detail {

/// The iterator that a stage takes its batches from. A stage that is made ahead itself knows of the end of an epoch
/// before it was given: whoever resets says what was seen.
class Upstream {
 public:
  explicit Upstream(DataIter of) : of_(std::move(of)) {}
  DataIter& operator*() { return of_; }
  const DataIter& operator*() const { return of_; }
  DataIter* operator->() { return &of_; }
  const DataIter* operator->() const { return &of_; }
  void begin_epoch(bool seen) { of_.begin_epoch(seen); }
  /// Whether the current batch is known to end the epoch.
  bool last() const;

 private:
  DataIter of_;
};

}  // namespace detail
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/data_iter_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
