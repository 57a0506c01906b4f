// SPDX-License-Identifier: Apache-2.0
/// \file
/// How headers of records are packed.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/data/image_record.hpp>

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {
static_assert(std::endian::native == std::endian::little, "records are written for little-endian machines");
/// As it lies in a record: without gaps, for all fields are aligned.
struct RecordHeader {
  std::uint32_t flag;
  float label;
  std::uint64_t id, id2;
};
static_assert(sizeof(RecordHeader) == 24);

/// The parts of a record, within its bytes. The sentence of an error names no function.
struct RecordParts {
  RecordHeader head;
  std::string_view labels, bytes;

  explicit RecordParts(std::string_view record) {
    if (record.size() < sizeof head)
      fail("the record has ", record.size(), " bytes, expected a header of ", sizeof head);
    std::memcpy(&head, record.data(), sizeof head);
    record.remove_prefix(sizeof head);
    const std::size_t size = std::size_t{head.flag} * sizeof(float);
    if (record.size() < size)
      fail("the record has ", record.size(), " bytes behind its header, expected a label of ", head.flag, " numbers, ",
           size, " bytes");
    labels = record.substr(0, size), bytes = record.substr(size);
  }
  std::int64_t label_count() const { return head.flag == 0 ? 1 : head.flag; }
  void copy_label(float* to) const {
    if (head.flag == 0)
      *to = head.label;
    else
      std::memcpy(to, labels.data(), labels.size());
  }
};
}  // namespace detail

STROP_IMPL std::string pack(const IRHeader& header, std::string_view bytes) {
  const RecordLabel& label = header.label;
  if (label.is_list() && label.size() > INT64_C(0xffffffff))
    fail("pack: a label of ", label.size(), " numbers, which 32 bits cannot count");
  const detail::RecordHeader head{label.is_list() ? static_cast<std::uint32_t>(label.size()) : 0,
                                  label.is_list() ? 0 : label[0], header.id, header.id2};
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  if (label.is_list())
    out.append(reinterpret_cast<const char*>(label.numbers().data()), label.numbers().size() * sizeof(float));
  return out.append(bytes);
}

STROP_IMPL std::pair<IRHeader, std::string> unpack(std::string_view record) {
  const auto parts = [&] {
    try {
      return detail::RecordParts(record);
    } catch (const Error& error) {
      fail("unpack: ", error.what());
    }
  }();
  IRHeader header{parts.head.flag, parts.head.label, parts.head.id, parts.head.id2};
  if (parts.head.flag > 0) {
    std::vector<float> numbers(parts.head.flag);
    parts.copy_label(numbers.data());
    header.label = std::move(numbers);
  }
  return {std::move(header), std::string(parts.bytes)};
}

}  // namespace strop::inline v0
