// SPDX-License-Identifier: Apache-2.0
/// \file
/// Text of arrays: numbers, nested lists, what sparse arrays store.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/text.hpp>
#include <strop/tensor/print.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// Digits and exponent of `1.25e-07` as a number that people read: plain where it has up to 16 digits before the point
/// or 3 zeros behind it.
STROP_IMPL void append_plain(std::string& out, std::string_view scientific) {
  if (scientific.front() == '-') {
    out += '-';
    scientific.remove_prefix(1);
  }
  const std::size_t e = scientific.find('e');
  std::string digits(1, scientific.front());
  if (e > 2) digits += scientific.substr(2, e - 2);
  int exponent = 0;
  const char* from = scientific.data() + e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(from, scientific.data() + scientific.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    out += scientific;
  } else if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
  } else {
    const auto before = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() < before) digits.resize(before, '0');
    out.append(digits, 0, before);
    if (digits.size() > before) out.append(1, '.').append(digits, before);
  }
}

template <class Real>
void append_real(std::string& out, Real value) {
  if (value != value) {
    out += "nan";
  } else if (value - value != 0) {
    out += value < 0 ? "-inf" : "inf";
  } else {
    char buffer[40];
    append_plain(out,
                 {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr});
  }
}

/// The fewest digits that read back as the same 16-bit number.
template <class Small>
void append_small(std::string& out, Small value) {
  const auto wide = static_cast<float>(value);
  for (int precision = 0; precision < 5 && wide - wide == 0; ++precision) {
    char buffer[40];
    const char* end = std::to_chars(buffer, buffer + sizeof buffer, wide, std::chars_format::scientific, precision).ptr;
    float back = 0;
    parse_real({buffer, end}, back);
    if (Small(back).bits == value.bits) return append_plain(out, {buffer, end});
  }
  append_real(out, wide);
}

/// One element in its shortest form that reads back as the same number of its dtype.
STROP_IMPL void append_element(std::string& out, Dtype dtype, const std::byte* element) {
  visit(dtype, [&]<class E>() {
    const E value = *reinterpret_cast<const E*>(element);
    if constexpr (std::same_as<E, bool>)
      out += value ? "true" : "false";
    else if constexpr (std::integral<E>)
      out += cat(static_cast<std::int64_t>(value));
    else if constexpr (std::floating_point<E>)
      append_real(out, value);
    else
      append_small(out, value);
  });
}

/// Writes a dense array on the CPU, from `axis` on, `at` elements in.
struct DenseText {
  const NDArray& a;
  bool summarised;  // three entries at each end of an axis
  bool lines;       // a line for each row
  std::string& out;

  void write(int axis, std::int64_t at) {
    if (axis == a.ndim()) return append_element(out, a.dtype(), a.bytes() + at * size_of(a.dtype()));
    const std::int64_t count = a.shape()[axis], width = a.shape().size(axis + 1, a.ndim());
    out += '[';
    for (std::int64_t i = 0; i < count; ++i) {
      if (i != 0) separate(axis);
      if (summarised && i == 3 && count > 6) {
        out += "...";
        i = count - 3;
        separate(axis);
      }
      write(axis + 1, at + i * width);
    }
    out += ']';
  }
  void separate(int axis) {
    if (!lines || axis + 1 == a.ndim()) {
      out += ", ";
    } else {
      out.append(",")
          .append(static_cast<std::size_t>(a.ndim() - axis - 1), '\n')
          .append(static_cast<std::size_t>(axis + 1), ' ');
    }
  }
};

inline constexpr std::int64_t printed_elements = 1000;

/// Whether an array without elements has too many lists without elements to be written.
STROP_IMPL bool has_many_lists(const NDArray& a) {
  std::int64_t lists = 1;
  for (const std::int64_t extent : a.shape()) {
    if (extent == 0) return lists > printed_elements;
    lists = extent > printed_elements ? printed_elements + 1 : lists * extent;
    if (lists > printed_elements) lists = printed_elements + 1;
  }
  return false;
}

STROP_IMPL std::string dense_text(const NDArray& a) {
  std::string out;
  if (a.size() == 0 && has_many_lists(a)) return cat("[] of shape ", a.shape());
  const bool summarised = a.size() > printed_elements;
  DenseText{a, summarised, false, out}.write(0, 0);
  if (a.ndim() > 1 && a.size() != 0 && out.size() > 100) {
    out.clear();
    DenseText{a, summarised, true, out}.write(0, 0);
  }
  return out;
}

/// `csr(2, 2) {(0, 1): 1, (1, 0): 2}`, `row_sparse(3, 2) {1: [5, 6]}`: what is stored, and where.
STROP_IMPL std::string sparse_text(const NDArray& a) {
  std::string out = cat(name_of(a.storage()), a.shape(), " {");
  const NDArray values = a.data(), places = a.indices();
  const bool summarised = values.size() > printed_elements, by_row = a.storage() == csr;
  const IndexReader indices(places), indptr(by_row ? a.indptr() : places);
  for (std::int64_t k = 0, row = 0; k < a.nnz(); ++k) {
    if (k != 0) out += ", ";
    if (summarised && k == 3 && a.nnz() > 6) {
      out += "..., ";
      k = a.nnz() - 3;
    }
    if (by_row) {
      while (row + 1 < a.shape()[0] && k >= indptr[row + 1]) ++row;
      out += cat('(', row, ", ", indices[k], "): ");
      append_element(out, a.dtype(), a.bytes() + k * size_of(a.dtype()));
    } else {
      out += cat(indices[k], ": ");
      const NDArray stored = slice_rows(values, k, k + 1);
      Shape rest = values.shape();
      rest.erase(0);
      const NDArray one = view_as(stored, rest);
      DenseText{one, summarised, false, out}.write(0, 0);
    }
  }
  return out + '}';
}

STROP_IMPL std::string to_text(const NDArray& a) {
  if (!a.defined()) return "(no array)";
  const Body& body = a.body();
  if (!body.buffer || (body.storage != dense && !body.indices) || (body.storage == csr && !body.indptr))
    return cat(name_of(body.storage), strop::to_text(body.shape), " without memory");
  const NDArray here = on_device(a, cpu());
  here.wait();
  return here.storage() == dense ? dense_text(here) : sparse_text(here);
}

}  // namespace strop::inline v0::detail
