// SPDX-License-Identifier: Apache-2.0
/// \file
/// A history that is taken down where there is no memory left.
#include <strop/strop.hpp>

#include <doctest/doctest.h>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

using namespace strop;

namespace {
thread_local bool none_left = false;

void* memory_for(std::size_t bytes, std::size_t alignment) {
  return none_left ? nullptr : std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}
}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const data = memory_for(bytes, alignof(std::max_align_t))) return data;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return memory_for(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* const data = memory_for(bytes, static_cast<std::size_t>(alignment))) return data;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return memory_for(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete(void* data, const std::nothrow_t&) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t, const std::nothrow_t&) noexcept { std::free(data); }

TEST_CASE("a long history goes without memory, and without recursion") {
  for (const int fan : {1, 2}) {
    NDArray x = array({1, 2});
    x.attach_grad();
    {
      record scope;
      for (int i = 0; i < 100'000; ++i) x = fan == 1 ? x * 0.5 : x * x;
    }
    x.wait();
    none_left = true;
    x = NDArray();  // would end the process if it asked for memory
    none_left = false;
  }
  CHECK_FALSE(none_left);
}
