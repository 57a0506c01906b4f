// SPDX-License-Identifier: Apache-2.0
/// \file
/// The words of cuda/block.hpp as other compilers than nvcc see them: each asks the emulator, which checks.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/cuda/emulator.hpp>
#include <strop/cuda/pack.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

namespace strop::inline v0::cuda {

/// An array of the device: `size` elements at `data`, whatever the kernel's threads do with them.
template <class T>
class Global {
 public:
  using Element = std::remove_const_t<T>;
  Global() = default;
  constexpr Global(T* data, std::int64_t size) : data_(data), size_(size) {}
  constexpr T* data() const { return data_; }
  constexpr std::int64_t size() const { return size_; }
  /// Whether there is memory: an array that a caller leaves out has none.
  constexpr explicit operator bool() const { return data_ != nullptr; }
  T& operator[](std::int64_t i) const {
    detail::emulated_bounds("a global array", i, size_);
    return data_[i];
  }
  /// The pack of elements i, i + 1, …, at a multiple of 16 bytes.
  Pack<Element> load(std::int64_t i) const {
    detail::emulated_pack("a global array", i, size_, data_, sizeof(T));
    Pack<Element> pack;
    std::memcpy(pack.e, data_ + i, sizeof pack.e);
    return pack;
  }
  void store(std::int64_t i, const Pack<Element>& pack) const {
    detail::emulated_pack("a global array", i, size_, data_, sizeof(T));
    std::memcpy(data_ + i, pack.e, sizeof pack.e);
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// An element of shared memory: a number where it is read, an assignment where it is written.
template <class T>
class SharedElement {
 public:
  SharedElement(T& value, detail::SharedCell& cell, int i, int size) : value_(value), cell_(cell), i_(i), size_(size) {}
  SharedElement(const SharedElement&) = default;
  operator T() const {
    detail::emulated_read(cell_, i_, size_);
    return value_;
  }
  const SharedElement& operator=(T v) const {
    detail::emulated_write(cell_, i_, size_);
    value_ = v;
    return *this;
  }
  SharedElement& operator=(const SharedElement& from) {
    static_cast<const SharedElement&>(*this) = static_cast<T>(from);
    return *this;
  }
  const SharedElement& operator+=(T v) const { return *this = static_cast<T>(static_cast<T>(*this) + v); }
  const SharedElement& operator-=(T v) const { return *this = static_cast<T>(static_cast<T>(*this) - v); }
  const SharedElement& operator*=(T v) const { return *this = static_cast<T>(static_cast<T>(*this) * v); }
  /// The element itself, for an operation that nothing comes between.
  T& atomic() const {
    detail::emulated_atomic(cell_, i_, size_);
    return value_;
  }

 private:
  T& value_;
  detail::SharedCell& cell_;
  int i_, size_;
};

/// N elements that the threads of a block share. What they hold at first is not known.
template <class T, int N>
class Shared {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Shared() { std::memset(static_cast<void*>(data_), 0xa5, sizeof data_); }
  static constexpr int size() { return N; }
  SharedElement<T> operator[](int i) {
    detail::emulated_bounds("a shared array", i, N);
    return {data_[i], cells_[i], i, N};
  }
  Pack<T> load(int i) {
    detail::emulated_pack("a shared array", i, N, data_, sizeof(T));
    Pack<T> pack;
    for (int k = 0; k < Pack<T>::size; ++k) pack.e[k] = (*this)[i + k];
    return pack;
  }
  void store(int i, const Pack<T>& pack) {
    detail::emulated_pack("a shared array", i, N, data_, sizeof(T));
    for (int k = 0; k < Pack<T>::size; ++k) (*this)[i + k] = pack.e[k];
  }

 private:
  alignas(16) T data_[static_cast<std::size_t>(N)];
  detail::SharedCell cells_[static_cast<std::size_t>(N)];
};

/// A thread, in its block and its grid.
class Block {
 public:
  using Where = std::source_location;
  static constexpr std::uint32_t all_lanes = 0xffffffffU;

  /// The thread's number in its block, and how many there are.
  int thread() const { return detail::emulated_thread(); }
  int threads() const { return detail::emulated_threads(); }
  /// The block's number in the grid, and how many there are.
  std::int64_t index() const { return detail::emulated_block(); }
  std::int64_t blocks() const { return detail::emulated_blocks(); }
  /// The thread's number in its warp of 32, and the warp's in the block.
  int lane() const { return thread() % 32; }
  int warp() const { return thread() / 32; }

  /// A barrier of the block: every thread reaches it, and sees what the others wrote to memory before.
  void sync(const Where& where = Where::current()) const { detail::emulated_sync(where); }
  /// The same of the thread's warp.
  void sync_warp(const Where& where = Where::current()) const {
    (void)detail::emulated_exchange(detail::LaneExchange::barrier, 0, 0, all_lanes, where);
  }

  /// v of the lane `by` further on, or the thread's own where there is none. Every lane of the mask takes part.
  template <class T>
  T shuffle_down(T v, int by, std::uint32_t mask = all_lanes, const Where& where = Where::current()) const {
    return exchanged(detail::LaneExchange::down, v, by, mask, where);
  }
  /// v of the lane whose number differs in the bits of `with`.
  template <class T>
  T shuffle_xor(T v, int with, std::uint32_t mask = all_lanes, const Where& where = Where::current()) const {
    return exchanged(detail::LaneExchange::exclusive, v, with, mask, where);
  }
  /// v of one lane.
  template <class T>
  T broadcast(T v, int lane, std::uint32_t mask = all_lanes, const Where& where = Where::current()) const {
    return exchanged(detail::LaneExchange::broadcast, v, lane, mask, where);
  }
  /// A bit for each lane: whether it said yes.
  std::uint32_t ballot(bool yes, std::uint32_t mask = all_lanes, const Where& where = Where::current()) const {
    return static_cast<std::uint32_t>(
        detail::emulated_exchange(detail::LaneExchange::ballot, yes ? 1 : 0, 0, mask, where));
  }

  /// Each returns the element as it was before. Elements are of global or of shared memory; types: int32, uint32,
  /// int64, uint64, float, double. Integers wrap; of max and min NaN, where one takes part, is the result.
  template <class T>
  T atomic_add(T& to, std::type_identity_t<T> v) const {
    const T old = value_of(to);
    if constexpr (std::is_integral_v<T>)
      set(to, static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(v)));
    else
      set(to, old + v);
    return old;
  }
  template <class T>
  T atomic_max(T& to, std::type_identity_t<T> v) const {
    const T old = value_of(to);
    if (old == old && !(v <= old)) set(to, v);
    return old;
  }
  template <class T>
  T atomic_min(T& to, std::type_identity_t<T> v) const {
    const T old = value_of(to);
    if (old == old && !(v >= old)) set(to, v);
    return old;
  }
  /// Stores v where the element's bits are those of `expected`.
  template <class T>
  T atomic_cas(T& to, std::type_identity_t<T> expected, std::type_identity_t<T> v) const {
    const T old = value_of(to);
    if (std::memcmp(&old, &expected, sizeof old) == 0) set(to, v);
    return old;
  }
  template <class T>
  T atomic_add(SharedElement<T> to, std::type_identity_t<T> v) const {
    return atomic_add(to.atomic(), v);
  }
  template <class T>
  T atomic_max(SharedElement<T> to, std::type_identity_t<T> v) const {
    return atomic_max(to.atomic(), v);
  }
  template <class T>
  T atomic_min(SharedElement<T> to, std::type_identity_t<T> v) const {
    return atomic_min(to.atomic(), v);
  }
  template <class T>
  T atomic_cas(SharedElement<T> to, std::type_identity_t<T> expected, std::type_identity_t<T> v) const {
    return atomic_cas(to.atomic(), expected, v);
  }

  /// Copies the pack at from[i] to to[at] while the thread goes on. Nobody writes the source meanwhile.
  template <class T, int N, class From>
  void copy_async(Shared<T, N>& to, int at, const Global<From>& from, std::int64_t i) const {
    static_assert(std::is_same_v<T, std::remove_const_t<From>>);
    detail::emulated_pack("a global array", i, from.size(), from.data(), sizeof(T));
    detail::emulated_copy({[](void* array, int place, const void* bytes) {
                             Pack<T> pack;
                             std::memcpy(pack.e, bytes, sizeof pack.e);
                             static_cast<Shared<T, N>*>(array)->store(place, pack);
                           },
                           &to, at, from.data() + i});
  }
  /// The copies that this thread began since the last call become a group.
  void commit_copies() const { detail::emulated_commit(); }
  /// Waits until at most `Pending` of this thread's groups are under way. Others see the copies behind a barrier.
  template <int Pending = 0>
  void wait_copies() const {
    detail::emulated_wait_copies(Pending);
  }

 private:
  // Atomic for the thread sanitizer alone: threads of a block take turns.
  template <class T>
  static T value_of(T& from) {
    T v;
    __atomic_load(&from, &v, __ATOMIC_RELAXED);
    return v;
  }
  template <class T>
  static void set(T& to, T v) {
    __atomic_store(&to, &v, __ATOMIC_RELAXED);
  }
  template <class T>
  static T exchanged(detail::LaneExchange what, T v, int argument, std::uint32_t mask, const Where& where) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "strop: lanes exchange numbers of 4 or 8 bytes");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    bits = detail::emulated_exchange(what, bits, argument, mask, where);
    std::memcpy(&v, &bits, sizeof v);
    return v;
  }
};

}  // namespace strop::inline v0::cuda

#include <strop/core/pop_macros.def>
