// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the calls of a KVStore are given: keys, and arrays for each of them.
#pragma once
#include <strop/core/list.hpp>
#include <strop/tensor/ndarray.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// The name of one array in a store: text or a whole number, the same kind for all keys of a store.
class Key {
 public:
  template <std::integral N>
    requires(!std::same_as<N, bool>)
  Key(N number) : text_(cat(number)), is_number_(true) {}
  Key(const char* text) : text_(text) {}
  Key(std::string_view text) : text_(text) {}
  Key(const std::string& text) : text_(text) {}

  /// The text, or the number in decimal.
  const std::string& text() const { return text_; }
  bool is_number() const { return is_number_; }
  friend bool operator==(const Key&, const Key&) = default;

 private:
  std::string text_;
  bool is_number_ = false;
};

/// One key, or several: `"w"`, `3`, `{"w", "b"}`, a vector of texts or numbers.
class Keys {
 public:
  template <class K>
    requires std::constructible_from<Key, const K&>
  Keys(const K& key) : keys_{Key(key)}, single_(true) {}
  Keys(std::initializer_list<Key> keys) : keys_(keys) {}
  template <class K>
    requires std::constructible_from<Key, const K&>
  Keys(const std::vector<K>& keys) {
    for (const K& key : keys) keys_.push_back(Key(key));
  }

  detail::Index size() const { return keys_.size(); }
  const Key& operator[](detail::Index i) const { return keys_[i]; }
  /// Whether it was given as one key and not as a list.
  bool is_single() const { return single_; }

 private:
  detail::List<Key> keys_;
  bool single_ = false;
};

/// Arrays for keys: one array, a list of arrays, or a list of lists.
///
/// Beside one key a list is all of that key's arrays, one of each device: `push("w", {g0, g1})`. Beside a list of keys
/// it has an element for each of them, an array or a list of arrays: `push({"w", "b"}, {{gw0, gw1}, {gb0, gb1}})`.
class KeyedArrays {
 public:
  /// The arrays of one key.
  class Item {
   public:
    Item(const NDArray& array) : arrays_{array} {}
    Item(std::initializer_list<NDArray> arrays) : arrays_(arrays), is_list_(true) {}
    Item(const std::vector<NDArray>& arrays) : arrays_(detail::Span<const NDArray>(arrays)), is_list_(true) {}
    detail::Span<const NDArray> arrays() const { return arrays_.span(); }
    bool is_list() const { return is_list_; }

   private:
    detail::List<NDArray, 2> arrays_;
    bool is_list_ = false;
  };

  KeyedArrays(const NDArray& array) : items_{Item(array)} {}
  KeyedArrays(std::initializer_list<Item> items) : items_(items) {}
  KeyedArrays(const std::vector<NDArray>& arrays) {
    for (const NDArray& a : arrays) items_.push_back(Item(a));
  }
  KeyedArrays(const std::vector<std::vector<NDArray>>& lists) {
    for (const std::vector<NDArray>& list : lists) items_.push_back(Item(list));
  }

  detail::Span<const Item> items() const { return items_.span(); }

 private:
  detail::List<Item> items_;
};

}  // namespace strop::inline v0
