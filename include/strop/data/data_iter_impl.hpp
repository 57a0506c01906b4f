// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a DataIter holds its pipeline.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/data/data_iter.hpp>
#include <strop/data/read_ahead.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace strop::inline v0 {

/// The pipeline, reading ahead of it, and what the caller sees.
struct DataIter::State {
  /// A batch, and what the pipeline said when it was made.
  struct Item {
    DataBatch batch;
    bool last = false;
    std::string position;
  };
  struct Make {
    detail::BatchStage* from;
    bool operator()(Item& item) const {
      if (!from->next(item.batch)) return false;
      item.last = from->last();
      item.position = from->position();
      return true;
    }
  };
  State(const char* called, std::int64_t depth, std::unique_ptr<detail::BatchStage> pipeline)
      : name(called), stage(std::move(pipeline)), ahead(called, static_cast<std::size_t>(depth), Make{stage.get()}) {
    current.position = stage->position();
  }

  const char* name;
  std::unique_ptr<detail::BatchStage> stage;
  Item current;
  bool begun = false, ended = false, there = false;  // there: a batch is current
  std::exception_ptr refused;                        // why it was not resumed: it has no place then
  detail::ReadAhead<Item, Make> ahead;               // last: it stops before what it reads is gone
};

STROP_IMPL DataIter::DataIter(const char* name, std::int64_t prefetch_buffer, detail::BatchStage* stage) {
  std::unique_ptr<detail::BatchStage> owned(stage);
  if (prefetch_buffer < 0 || prefetch_buffer > 1024)
    fail(name, ": prefetch_buffer is ", prefetch_buffer, ", expected 0 to 1024");
  state_ = new State(name, prefetch_buffer, std::move(owned));
}
STROP_IMPL DataIter::DataIter(DataIter&& from) noexcept : state_(std::exchange(from.state_, nullptr)) {}
STROP_IMPL DataIter& DataIter::operator=(DataIter&& from) noexcept {
  std::swap(state_, from.state_);
  return *this;
}
STROP_IMPL DataIter::~DataIter() { delete state_; }

STROP_IMPL DataIter::State& DataIter::state() const {
  if (state_ == nullptr) fail("DataIter: this iterator was moved to another one");
  return *state_;
}

STROP_IMPL bool DataIter::next() {
  State& s = state();
  if (s.refused) std::rethrow_exception(s.refused);
  s.begun = true;
  s.there = s.ended = false;  // where making the batch throws, there is none, and the end was not seen
  s.there = s.ahead.next(s.current);
  s.ended = !s.there;
  return s.there;
}

STROP_IMPL DataBatch& DataIter::batch() const {
  if (!state().there) fail(state_->name, ": there is no current batch; next() makes one");
  return state_->current.batch;
}

STROP_IMPL void DataIter::reset() {
  const State& s = state();
  if (s.begun) begin_epoch(s.ended || (s.there && s.current.last));
}
STROP_IMPL void DataIter::begin_epoch(bool seen) {
  State& s = state();
  s.there = false;
  s.ahead.restart([&] { s.stage->begin_epoch(seen); });
  s.refused = nullptr;
  s.begun = s.ended = false;
  s.current.position = s.stage->position();
}
STROP_IMPL bool detail::Upstream::last() const { return of_.state().there && of_.state().current.last; }

STROP_IMPL std::vector<DataDesc> DataIter::provide_data() const { return state().stage->provide_data(); }
STROP_IMPL std::vector<DataDesc> DataIter::provide_label() const { return state().stage->provide_label(); }

STROP_IMPL bool DataIter::has_position() const { return !state().current.position.empty(); }
STROP_IMPL std::string DataIter::position() const {
  if (!has_position()) fail(state_->name, ": this pipeline cannot say where it is");
  return state_->current.position;
}

STROP_IMPL void DataIter::resume(std::string_view position) {
  State& s = state();
  s.there = s.ended = false;
  s.begun = true;  // until it has been resumed
  try {
    s.ahead.restart([&] {
      if (!s.stage->resume(position)) fail(s.name, ": this pipeline cannot be resumed");
    });
  } catch (...) {  // what was made ahead is gone
    s.refused = std::current_exception();
    throw;
  }
  s.refused = nullptr;
  s.begun = false;
  s.current.position = s.stage->position();
}

STROP_IMPL DataIter::iterator DataIter::begin() {
  reset();
  iterator first(this);
  return ++first;
}

}  // namespace strop::inline v0
