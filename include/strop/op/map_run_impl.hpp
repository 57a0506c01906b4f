// SPDX-License-Identifier: Apache-2.0
/// \file
/// The driver of maps.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/core/prefetch.hpp>
#include <strop/engine/pool.hpp>
#include <strop/memory/stream.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/map_run.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/element_loops.hpp>

#include <array>

namespace strop::inline v0::detail {

class MapRun {
 public:
  static constexpr int most = 24;
  static constexpr std::int64_t stage_bytes = 4096;

  MapRun(const Entry& entry, const void* op, const Shape& common, Span<const MapOperand> in, Span<const MapOperand> out)
      : op_(op), n_(common.size()), in_(static_cast<int>(in.size())), out_(static_cast<int>(out.size())) {
    if (in_ + out_ > most) fail(entry.snake, ": a map has at most ", most, " tensors");
    parts_.resize(in.size() + out.size());
    const Dtype stored =
        in.empty() ? out[0].dtype : stored_type(entry, in.size(), [&](Index i) { return in[i].dtype; });
    type_ = compute_type(entry, op, stored);
    loop_ = type_ == f32 ? entry.loops.f32 : type_ == f64 ? entry.loops.f64 : entry.loops.i64;
    result_ = type_ == i64 && entry.loops.i64_gives_f64 ? f64 : type_;
    nearest_ = result_ == i64 && entry.loops.leaves != nullptr && entry.loops.leaves(op, stored);
    for (int k = 0; k < in_; ++k) prepare(part(k), in[k], common, type_);
    for (int k = 0; k < out_; ++k) prepare_result(part(in_ + k), out[k], common);
    if (streams_ && (staged_ || !is_floating(type_))) {
      staged_ = true;
      for (int k = 0; k < out_; ++k) part(in_ + k).staged = part(in_ + k).staged || part(in_ + k).stream;
    }
    sums_.resize(sums_needed_);
  }

  void run() {
    if (n_ == 0) return finish_reductions();
    if (reduces_) {
      blocks(0, n_);
      return finish_reductions();
    }
    if (n_ <= map_grain) return staged_ ? blocks(0, n_) : direct(0, n_);
    parallel_for(n_, map_grain,
                 [this](std::int64_t begin, std::int64_t end) { staged_ ? blocks(begin, end) : direct(begin, end); });
  }

 private:
  struct Part {
    std::byte* data = nullptr;
    Dtype dtype = f32;
    std::int64_t size = 4;  // bytes of an element
    bool staged = false;    // goes through a block of the compute type
    bool whole = true;      // the common shape itself
    bool stream = false;
    Request request = Request::write;
    StridedIterator walk;
    std::int64_t sums = -1;  // of a result that is smaller than the common shape: where its sums begin
    std::int64_t elements = 0;
  };

  Part& part(int k) { return parts_[k]; }
  double* sums(const Part& p) { return sums_.begin() + p.sums; }

  void prepare(Part& p, const MapOperand& operand, const Shape& common, Dtype computed) {
    p.data = operand.data != nullptr ? operand.data : unread;
    p.dtype = operand.dtype;
    p.size = size_of(operand.dtype);
    p.request = operand.request;
    p.elements = operand.shape.size();
    p.whole = operand.shape == common;
    if (!p.whole) {
      p.walk = StridedIterator::of(common, operand.shape);
      p.whole = p.elements == n_ && p.walk.whole();
    }
    p.staged = !p.whole || p.dtype != computed;
    staged_ = staged_ || p.staged;
  }

  void prepare_result(Part& p, const MapOperand& operand, const Shape& common) {
    prepare(p, operand, common, result_);
    if (p.request == Request::null || p.request == Request::add) p.staged = true;
    if (!p.whole && p.request != Request::null) {
      reduces_ = true;
      p.sums = sums_needed_;
      sums_needed_ += p.elements;
    }
    if (p.whole && p.request == Request::write && n_ * p.size >= memory::stream_bytes) p.stream = streams_ = true;
    staged_ = staged_ || p.staged;
  }

  void direct(std::int64_t begin, std::int64_t end) {
    const void* x[most];
    void* y[most];
    for (int k = 0; k < in_; ++k) x[k] = part(k).data + begin * part(k).size;
    for (int k = 0; k < out_; ++k) y[k] = part(in_ + k).data + begin * part(in_ + k).size;
    past_caches = streams_;
    loop_(op_, x, y, end - begin);
    past_caches = false;
  }

  void blocks(std::int64_t begin, std::int64_t end) {
    alignas(64) std::byte stage[most][stage_bytes];
    alignas(64) std::byte raw[stage_bytes];
    const std::int64_t block = stage_bytes / 8 * (type_ == f32 ? 2 : 1);
    const void* x[most];
    void* y[most];
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t count = std::min(block, end - at);
      for (int k = 0; k < in_; ++k) {
        Part& p = part(k);
        x[k] = p.staged ? fetch(p, at, count, stage[k], raw) : p.data + at * p.size;
      }
      for (int k = 0; k < out_; ++k) {
        Part& p = part(in_ + k);
        y[k] = p.staged ? stage[in_ + k] : p.data + at * p.size;
      }
      if (streams_) prefetch(at + count, std::min(block, end - at - count));
      loop_(op_, x, y, count);
      for (int k = 0; k < out_; ++k)
        if (Part& p = part(in_ + k); p.staged) put(p, at, count, stage[in_ + k], raw);
    }
    if (streams_) memory::stream_end();
  }

  /// The next block's operands come from memory while this block's results go there.
  [[gnu::always_inline]] void prefetch(std::int64_t at, std::int64_t count) {
    for (int k = 0; k < in_; ++k)
      if (const Part& p = part(k); p.whole) prefetch_lines(p.data + at * p.size, count * p.size);
  }

  const void* fetch(const Part& p, std::int64_t at, std::int64_t count, std::byte* stage, std::byte* raw) const {
    const void* from = p.data + at * p.size;
    if (!p.whole) {
      std::byte* to = p.dtype == type_ ? stage : raw;
      switch (p.size) {
        case 1:
          expand<std::uint8_t>(p.walk, p.data, to, at, count);
          break;
        case 2:
          expand<std::uint16_t>(p.walk, p.data, to, at, count);
          break;
        case 4:
          expand<std::uint32_t>(p.walk, p.data, to, at, count);
          break;
        default:
          expand<std::uint64_t>(p.walk, p.data, to, at, count);
          break;
      }
      if (p.dtype == type_) return stage;
      from = raw;
    }
    if (type_ == i64)
      load_integers(p.dtype, from, reinterpret_cast<std::int64_t*>(stage), count);
    else
      convert_elements(p.dtype, from, type_, stage, count);
    return stage;
  }

  void put(Part& p, std::int64_t at, std::int64_t count, std::byte* stage, std::byte* raw) {
    if (p.request == Request::null) return;
    if (nearest_) bring_into(p.dtype, reinterpret_cast<std::int64_t*>(stage), count);
    if (!p.whole) {
      if (result_ == f32)
        reduce_into(p.walk, reinterpret_cast<const float*>(stage), sums(p), at, count);
      else if (result_ == f64)
        reduce_into(p.walk, reinterpret_cast<const double*>(stage), sums(p), at, count);
      else
        reduce_into(p.walk, reinterpret_cast<const std::int64_t*>(stage), sums(p), at, count);
      return;
    }
    std::byte* to = p.data + at * p.size;
    if (p.request == Request::add) {
      if (p.dtype == result_) return element_loops().add(result_, to, stage, to, count);
      convert_elements(p.dtype, to, result_, raw, count);
      element_loops().add(result_, raw, stage, raw, count);
      convert_elements(result_, raw, p.dtype, to, count);
    } else if (p.stream) {
      if (p.dtype != result_) convert_elements(result_, stage, p.dtype, raw, count);
      memory::stream_part(to, p.dtype != result_ ? raw : stage, count * p.size);
    } else if (result_ == i64 && !is_floating(p.dtype)) {
      store_integers(p.dtype, reinterpret_cast<const std::int64_t*>(stage), to, count);
    } else {
      convert_elements(result_, stage, p.dtype, to, count);
    }
  }

  static void bring_into(Dtype dtype, std::int64_t* values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) values[i] = nearest_integer(dtype, values[i]);
  }

  void finish_reductions() {
    for (int k = 0; k < out_; ++k) {
      Part& p = part(in_ + k);
      if (p.sums < 0 || p.request == Request::null) continue;
      if (p.request == Request::add)
        for (std::int64_t i = 0; i < p.elements; ++i) {
          double before = 0;
          convert_elements(p.dtype, p.data + i * p.size, f64, &before, 1);
          sums(p)[i] += before;
        }
      convert_elements(f64, sums(p), p.dtype, p.data, p.elements);
    }
  }

  const void* op_;
  std::int64_t n_;
  int in_, out_;
  Dtype type_ = f32, result_ = f32;
  MapLoop loop_ = nullptr;
  bool staged_ = false, streams_ = false, reduces_ = false;
  bool nearest_ = false;  // integers outside the results' type become its nearest; else they wrap
  std::int64_t sums_needed_ = 0;
  List<double, 1> sums_;
  List<Part, 4> parts_;
};

STROP_IMPL void run_map(const Entry& entry, const void* op, const Shape& common, Span<const MapOperand> in,
                        Span<const MapOperand> out) {
  MapRun(entry, op, common, in, out).run();
}

}  // namespace strop::inline v0::detail
