// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators new and delete of a whole program, for one file of it, which says before it includes this what they ask:
/// `void* memory_for(std::size_t bytes, std::size_t alignment)`, which gives memory of std::aligned_alloc, or null
/// where there is none.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
/// Out of line: compilers that see both ends warn of `free` on what an operator new has given.
[[gnu::noinline]] void give_back(void* data) { std::free(data); }
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
void operator delete(void* data) noexcept { give_back(data); }
void operator delete(void* data, std::size_t) noexcept { give_back(data); }
void operator delete(void* data, const std::nothrow_t&) noexcept { give_back(data); }
void operator delete(void* data, std::align_val_t) noexcept { give_back(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { give_back(data); }
void operator delete(void* data, std::align_val_t, const std::nothrow_t&) noexcept { give_back(data); }
