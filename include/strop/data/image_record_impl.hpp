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
  detail::RecordHeader head;
  if (record.size() < sizeof head)
    fail("unpack: the record has ", record.size(), " bytes, expected a header of ", sizeof head);
  std::memcpy(&head, record.data(), sizeof head);
  record.remove_prefix(sizeof head);
  if (head.flag == 0) return {{0, head.label, head.id, head.id2}, std::string(record)};
  const std::size_t bytes = std::size_t{head.flag} * sizeof(float);
  if (record.size() < bytes)
    fail("unpack: the record has ", record.size(), " bytes behind its header, expected a label of ", head.flag,
         " numbers, ", bytes, " bytes");
  std::vector<float> numbers(head.flag);
  std::memcpy(numbers.data(), record.data(), bytes);
  return {{head.flag, std::move(numbers), head.id, head.id2}, std::string(record.substr(bytes))};
}

}  // namespace strop::inline v0
