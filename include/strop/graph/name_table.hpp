// SPDX-License-Identifier: Apache-2.0
/// \file
/// Positions of names, found without comparing each with each.
#pragma once
#include <strop/core/list.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// Names with their numbers: the first is 0. It refers to the names, which must outlive it.
class NameTable {
 public:
  NameTable() = default;
  explicit NameTable(const List<std::string_view>& names) {
    for (std::string_view name : names) add(name);
  }

  /// False where the name is there already; it has a number of its own all the same, which find() does not give.
  bool add(std::string_view name) {
    if (names_.size() * 2 >= slots_.size()) grow();
    names_.push_back(name);
    int& at = slots_[place(name)];
    const bool is_new = at < 0;
    if (is_new) at = static_cast<int>(names_.size()) - 1;
    return is_new;
  }
  /// The number of a name; −1 where it is none of them.
  int find(std::string_view name) const { return slots_.empty() ? -1 : slots_[place(name)]; }

 private:
  /// Where the name stands, or would stand.
  Index place(std::string_view name) const {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    const Index mask = slots_.size() - 1;
    Index at = static_cast<Index>(hash ^ hash >> 32) & mask;
    while (slots_[at] >= 0 && names_[slots_[at]] != name) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    slots_ = List<int>(slots_.empty() ? 32 : slots_.size() * 2, -1);
    for (int i = 0; i < static_cast<int>(names_.size()); ++i)
      if (int& at = slots_[place(names_[i])]; at < 0) at = i;
  }

  List<std::string_view> names_;
  List<int> slots_;
};

}  // namespace strop::inline v0::detail
