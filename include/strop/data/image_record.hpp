// SPDX-License-Identifier: Apache-2.0
/// \file
/// The header of records of images: labels and numbers before the bytes.
#pragma once
#include <strop/core/push_macros.def>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// The label of a record: one number, or a list of them, which may be of one.
class RecordLabel {
 public:
  RecordLabel() : RecordLabel(0) {}
  template <class N>
    requires std::is_arithmetic_v<N>
  RecordLabel(N number) : numbers_{static_cast<float>(number)}, is_list_(false) {}
  RecordLabel(std::initializer_list<float> numbers) : numbers_(numbers), is_list_(true) {}
  RecordLabel(std::vector<float> numbers) : numbers_(std::move(numbers)), is_list_(true) {}

  bool is_list() const { return is_list_; }
  std::int64_t size() const { return static_cast<std::int64_t>(numbers_.size()); }
  float operator[](std::int64_t i) const { return numbers_[static_cast<std::size_t>(i)]; }
  const std::vector<float>& numbers() const { return numbers_; }
  friend bool operator==(const RecordLabel&, const RecordLabel&) = default;

 private:
  std::vector<float> numbers_;
  bool is_list_;
};

/// What stands before the bytes of an image: MXNet's IRHeader.
struct IRHeader {
  /// How many numbers a list of labels has; 0: the label is one number. pack() passes over what stands here, and writes
  /// the length of the list.
  std::uint32_t flag = 0;
  RecordLabel label = {};
  std::uint64_t id = 0, id2 = 0;
  friend bool operator==(const IRHeader&, const IRHeader&) = default;
};

/// A record of a header and bytes, as MXNet packs them: flag, label, id and id2 in 24 bytes, a list of labels
/// behind them, then the bytes.
std::string pack(const IRHeader& header, std::string_view bytes);

/// The header and the bytes of a record that pack() made. Throws Error where the record is shorter than its header
/// says.
///
/// Example: `auto [header, bytes] = unpack(record); use(header.label[0]);`
std::pair<IRHeader, std::string> unpack(std::string_view record);

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/image_record_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
