// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an operator's forward is given besides its tensors: the device's context, temporary space, random numbers,
/// requests.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/dtype.hpp>
#include <strop/core/shape.hpp>
#include <strop/core/span.hpp>
#include <strop/memory/random.hpp>
#include <strop/tensor/ndarray.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace strop::inline v0 {

/// What is to happen to an output: nothing, overwrite, overwrite memory that an input shares, or add.
enum class Request : std::uint8_t { null = 0, write = 1, inplace = 2, add = 3 };

/// What a call needs besides its tensors.
struct Resources {
  bool random = false;          // takes numbers from the device's random stream
  std::int64_t temp_bytes = 0;  // temporary space, in bytes
};

/// What every device's context has.
class Context {
 public:
  /// Whether the call is part of training (Dropout drops, BatchNorm uses the batch's statistics).
  bool train = false;

  /// The request of output i (of a gradient: of its i-th input gradient). `add` arrives only at operators that say
  /// `accumulates`; the others write to a fresh array that is added for them.
  constexpr Request request(int i = 0) const {
    return i < static_cast<int>(requests_.size()) ? requests_[i] : Request::write;
  }

  /// Temporary space, uninitialised, until the operator returns. Any number of them. `temp<E>({m, n})` and
  /// `temp<E>(view.shape())` have the rank of what they are given; `temp<E>(Shape)` is a view of any rank.
  template <class E, std::size_t Rank>
  constexpr View<E, static_cast<int>(Rank)> temp(const std::array<std::int64_t, Rank>& shape) {
    return {space<E>(shape), shape};
  }
  template <class E, std::size_t Rank>
  constexpr View<E, static_cast<int>(Rank)> temp(const std::int64_t (&shape)[Rank]) {
    return temp<E>(std::to_array(shape));
  }
  template <class E>
  constexpr View<E, 1> temp(std::int64_t count) {
    return temp<E>(std::array{count});
  }
  template <class E>
  constexpr View<E> temp(std::span<const std::int64_t> shape) {
    if (std::is_constant_evaluated()) return {space<E>(shape), shape};
    return kept_space<E>(shape);
  }
  template <class E>
  View<E> temp(const Shape& shape) {
    return temp<E>(std::span<const std::int64_t>(shape.begin(), shape.end()));
  }

  /// A stream of random numbers of its own: element i is a function of seed, call and i alone; up to 65536 in a call.
  /// What a call draws follows from the order of the calls, also where it waits its turn, so an operator says that it
  /// draws: `resources` with `random`; without them this is an Error. A stated gradient draws nothing: it reads what
  /// forward drew from an output, which need not be a visible one.
  random::Stream random() {
    if (!drawn_)
      refuse_random(
          " of an operator that announces no random numbers; state static constexpr strop::Resources "
          "resources{.random = true}, which serves forward alone");
    if (streams_ == 1 << 16) refuse_random(": a call has at most 65536 streams");
    random::Stream stream = *drawn_;
    stream.offset = static_cast<std::uint64_t>(streams_++) << 48;  // each longer than any array
    return stream;
  }

  // For the dispatcher.
  constexpr Context(Device device, detail::Span<const Request> requests, bool training)
      : train(training), device_(device), requests_(requests) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  constexpr ~Context() {
    while (spaces_ != nullptr) {
      const Space* const space = spaces_;
      spaces_ = space->next;
      delete space;
    }
  }
  Device device() const { return device_; }
  /// Takes the space that the operator said it needs, so that what follows cannot fail for want of it.
  void reserve(std::int64_t bytes) {
    if (bytes <= 0) return;
    const NDArray kept = NDArray::fresh(Shape{bytes}, u8, device_);
    spaces_ = new KeptSpace(kept, spaces_);
    next_ = kept.bytes();
    left_ = bytes;
  }
  /// The stream of the call; without one it may draw none.
  void use_random(const std::optional<random::Stream>& stream) { drawn_ = stream; }
  void use_state(void* state) { state_ = state; }
  void* state() const { return state_; }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_random(std::string_view why) {
    throw detail::CallError(cat(detail::CallError::speaker, "ctx.random()", why));
  }
  /// Temporary space: a list, since not every library's vector may be a member where the compiler runs an operator.
  struct Space {
    const Space* next;
    constexpr explicit Space(const Space* others) : next(others) {}
    constexpr virtual ~Space() = default;
  };
  struct KeptSpace final : Space {
    NDArray array;
    KeptSpace(NDArray kept, const Space* others) : Space(others), array(std::move(kept)) {}
  };
  /// Space while the compiler runs an operator.
  template <class E>
  struct EarlySpace final : Space {
    E* elements;
    constexpr EarlySpace(std::int64_t n, const Space* others)
        : Space(others), elements(new E[static_cast<std::size_t>(n)]{}) {}
    constexpr ~EarlySpace() override { delete[] elements; }
  };
  /// Space that `kept`, if there is one, owns or outlives.
  template <class E>
  constexpr E* space(std::span<const std::int64_t> shape) {
    if (std::is_constant_evaluated()) {
      std::int64_t n = 1;
      for (std::int64_t extent : shape) n *= extent;
      auto* const made = new EarlySpace<E>(n, spaces_);
      spaces_ = made;
      return made->elements;
    }
    return space<E>(shape, {});
  }
  template <class E>
  View<E> kept_space(std::span<const std::int64_t> shape) {
    const NDArray kept = NDArray::shell(Shape(shape), dtype_of<E>, device_);  // the view refers to its extents
    return {space<E>(shape, kept), kept.shape()};
  }
  template <class E>
  E* space(std::span<const std::int64_t> shape, NDArray kept) {
    std::int64_t bytes = sizeof(E);
    for (std::int64_t extent : shape) bytes = detail::checked_product(bytes, extent, "ctx.temp()");
    std::byte* const reserved = take(bytes);
    if (reserved == nullptr && !kept.defined()) kept = NDArray::shell(Shape(shape), dtype_of<E>, device_);
    if (reserved == nullptr) kept.allocate();
    if (kept.defined()) spaces_ = new KeptSpace(kept, spaces_);
    return reinterpret_cast<E*>(reserved != nullptr ? reserved : kept.bytes());
  }
  /// A piece of the reserved space, or null when that is used up.
  std::byte* take(std::int64_t bytes) {
    constexpr std::int64_t line = 64;
    const std::int64_t whole = (bytes + line - 1) / line * line;
    if (bytes <= 0 || bytes > left_) return nullptr;
    std::byte* const piece = next_;
    next_ += whole;
    left_ -= whole;
    return piece;
  }

  Device device_;
  void* state_ = nullptr;
  const Space* spaces_ = nullptr;
  std::byte* next_ = nullptr;
  std::int64_t left_ = 0;
  detail::Span<const Request> requests_;
  std::optional<random::Stream> drawn_;
  std::int32_t streams_ = 0;
};

/// The CPU: forward(Cpu&, …) runs on the calling thread and may use strop::parallel_for.
class Cpu : public Context {
 public:
  using Context::Context;
};

/// A CUDA device: forward(Cuda&, …) queues kernels on its stream (a cudaStream_t) and returns; see strop::cuda::launch.
class Cuda : public Context {
 public:
  using Context::Context;
  void* stream() const { return stream_; }
  void use_stream(void* stream) { stream_ = stream; }

 private:
  void* stream_ = nullptr;
};

}  // namespace strop::inline v0
