// SPDX-License-Identifier: Apache-2.0
/// \file
/// NumPy's `.npy` files: one dense array, versions 1 to 3, either byte order, either order of axes.
#pragma once
#include <strop/core/list.hpp>
#include <strop/tensor/format/elements.hpp>
#include <strop/tensor/ndarray.hpp>
#include <strop/tensor/strided.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

// A file: "\x93NUMPY", version (major, minor), length of the header (u16 in version 1, u32 later), the header: a Python
// dictionary with 'descr' (byte order, kind, size: '<f4'), 'fortran_order' and 'shape'; then the elements.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// What a header says.
struct NpyHeader {
  bool big_endian = false, fortran_order = false;
  char kind = 0;  // f, i, u, b, V (bfloat16), S (bytes)
  std::int64_t width = 0;
  Shape shape;
};

/// Reads the dictionary of a header: strings, True, False and tuples of whole numbers.
class NpyDictionary {
 public:
  NpyDictionary(const Input& in, std::string_view text) : in_(in), text_(text) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr")
        descr(header), has_descr = true;
      else if (key == "fortran_order")
        header.fortran_order = boolean(), has_order = true;
      else if (key == "shape")
        tuple(header.shape), has_shape = true;
      else
        in_.refuse(cat("the header has the unknown key '", excerpt(key), "'"));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr || !has_order || !has_shape) in_.refuse("the header lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

 private:
  void spaces() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t'))
      text_.remove_prefix(1);
  }
  bool accept(char c) {
    spaces();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) in_.refuse(cat("the header is not a dictionary as expected: '", c, "' is missing"));
  }
  std::string_view string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) in_.refuse("the header has a string without an end");
    const std::string_view out = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return out;
  }
  bool boolean() {
    spaces();
    const bool yes = text_.starts_with("True");
    if (!yes && !text_.starts_with("False")) in_.refuse("'fortran_order' is neither True nor False");
    text_.remove_prefix(yes ? 4 : 5);
    return yes;
  }
  std::int64_t whole() {
    spaces();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0) in_.refuse("'shape' is not a tuple of extents");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    accept('L');  // written by Python 2
    return value;
  }
  void tuple(Shape& shape) {
    shape = {};
    expect('(');
    while (!accept(')')) {
      if (shape.ndim() == most_dimensions) in_.refuse(cat("'shape' has more than ", most_dimensions, " extents"));
      shape.push_back(whole());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }
  void descr(NpyHeader& header) {
    spaces();
    if (text_.starts_with('[') || text_.starts_with('('))
      in_.refuse("records (a structured dtype) are not supported: save each field as an array");
    const std::string_view name = string();
    std::string_view rest = name;
    if (!rest.empty() && std::string_view("<>=|").find(rest.front()) != std::string_view::npos) {
      header.big_endian = rest.front() == '>';
      rest.remove_prefix(1);
    }
    if (rest == "bfloat16") rest = "V2";
    if (!rest.empty()) {
      header.kind = rest.front();
      rest.remove_prefix(1);
    }
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), header.width);
    const std::int64_t w = header.width;
    const bool whole = header.kind == 'i' || header.kind == 'u';
    const bool known = (whole && (w == 1 || w == 2 || w == 4 || w == 8)) ||
                       (header.kind == 'f' && (w == 2 || w == 4 || w == 8)) || (header.kind == 'b' && w == 1) ||
                       (header.kind == 'V' && w == 2) || (header.kind == 'S' && w >= 0 && w < 1 << 20);
    if (error != std::errc{} || end != rest.data() + rest.size() || !known)
      in_.refuse(cat("dtype '", excerpt(name), "' is none of ours: floats of 2, 4 and 8 bytes, integers and bool are"));
  }

  const Input& in_;
  std::string_view text_;
};

inline NpyHeader read_npy_header(Input& in) {
  if (in.left() < 10 || in.text(6, "the header") != npy_magic) in.refuse("this is not a .npy file");
  const auto major = in.number<std::uint8_t>("the header"), minor = in.number<std::uint8_t>("the header");
  if (major < 1 || major > 3) in.refuse(cat("version ", major, ".", minor, " of the format is unknown"));
  const std::int64_t length =
      major == 1 ? in.number<std::uint16_t>("the header") : in.number<std::uint32_t>("the header");
  if (length > 1 << 20) in.refuse(cat("the header has ", length, " bytes"));
  const std::string text = in.text(length, "the header");
  return NpyDictionary(in, text).read();
}

/// The dtype that holds all values of a file's: 16-bit integers widen to 32, unsigned 32-bit and 64-bit ones to 64.
inline Dtype npy_dtype(const NpyHeader& h) {
  if (h.kind == 'f') return h.width == 2 ? f16 : h.width == 4 ? f32 : f64;
  if (h.kind == 'V') return bf16;
  if (h.kind == 'b') return boolean;
  if (h.width == 1) return h.kind == 'u' ? u8 : i8;
  return h.width == 8 || (h.width == 4 && h.kind == 'u') ? i64 : i32;
}

inline void swap_bytes(std::byte* bytes, std::int64_t size, std::int64_t width) {
  for (std::int64_t at = 0; at < size; at += width)
    for (std::int64_t i = 0; i < width / 2; ++i) std::swap(bytes[at + i], bytes[at + width - 1 - i]);
}

/// Integers that we have no dtype for, widened into `to`.
inline void widen_integers(Input& in, const NpyHeader& h, const detail::List<std::byte>& from, const NDArray& to) {
  const std::int64_t n = to.size();
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t bits = 0;
    detail::copy_bytes(&bits, from.data() + i * h.width, h.width);
    if (h.kind == 'u' && bits >> 63 != 0) in.refuse(cat("the uint64 value ", std::to_string(bits), " exceeds int64"));
    auto value = static_cast<std::int64_t>(bits);
    if (h.kind == 'i' && h.width == 2) value = static_cast<std::int16_t>(bits);
    if (to.dtype() == i64)
      to.pointer<std::int64_t>()[i] = value;
    else
      to.pointer<std::int32_t>()[i] = static_cast<std::int32_t>(value);
  }
}

/// The array whose axes are those of `a`, which has them in reverse, the other way round.
inline NDArray reverse_axes(const NDArray& a) {
  Shape shape = a.shape();
  std::reverse(shape.begin(), shape.end());
  NDArray out(shape, a.dtype());
  std::vector<std::int64_t> strides;
  std::int64_t stride = size_of(a.dtype());
  for (std::int64_t extent : shape) {  // the first axis of the result is contiguous in `a`
    strides.push_back(stride);
    stride *= extent;
  }
  gather_strided(a.bytes(), shape, strides.data(), size_of(a.dtype()), out.bytes());
  return out;
}

/// The array of a `.npy` file. uint64 is refused where a value exceeds int64.
inline NDArray read_npy(Input& in) {
  const NpyHeader h = read_npy_header(in);
  if (h.kind == 'S') in.refuse("an array of strings is none of ours");
  Shape shape = h.shape;
  if (h.fortran_order) std::reverse(shape.begin(), shape.end());
  const Dtype dtype = npy_dtype(h);
  const bool direct = h.width == size_of(dtype) && !(h.kind == 'u' && h.width == 8);
  NDArray a;
  if (direct) {
    a = read_array(in, shape, dtype, "the elements");
    if (h.big_endian) swap_bytes(a.bytes(), a.size() * h.width, h.width);
  } else {
    described_bytes(in, shape, i64, "the array");
    const std::int64_t bytes = shape.size() * h.width;
    in.require(bytes, "the elements");
    detail::List<std::byte> values(bytes);
    in.read(values.data(), bytes, "the elements");
    if (h.big_endian) swap_bytes(values.data(), bytes, h.width);
    a = NDArray(shape, dtype);
    widen_integers(in, h, values, a);
  }
  return h.fortran_order && a.ndim() > 1 ? reverse_axes(a) : a;
}

inline std::string_view npy_descr(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return "<f4";
    case Dtype::f64:
      return "<f8";
    case Dtype::f16:
      return "<f2";
    case Dtype::bf16:
      return "<V2";  // as the ml_dtypes package writes it; plain NumPy sees two opaque bytes
    case Dtype::u8:
      return "|u1";
    case Dtype::i8:
      return "|i1";
    case Dtype::i32:
      return "<i4";
    case Dtype::i64:
      return "<i8";
    case Dtype::boolean:
      break;
  }
  return "|b1";
}

/// The bytes in front of the elements of a file, padded so that the elements begin at a multiple of 64.
inline std::string npy_header(std::string_view descr, const Shape& shape) {
  std::string dictionary = cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (");
  for (int i = 0; i < shape.ndim(); ++i)
    dictionary += cat(i == 0 ? "" : " ", shape[i], i == 0 || i + 1 < shape.ndim() ? "," : "");
  dictionary += "), }";
  const bool wide = dictionary.size() + 11 + 63 > 65535;
  const std::size_t fixed = wide ? 12 : 10;
  dictionary.append(63 - (fixed + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string out = cat(npy_magic, wide ? '\x02' : '\x01', '\x00');
  for (std::size_t i = 0; i < (wide ? 4U : 2U); ++i) out += static_cast<char>(dictionary.size() >> (8 * i) & 255);
  return out + dictionary;
}

inline void write_npy(Output& out, const NDArray& given) {
  if (given.storage() != dense)
    out.refuse(cat("a .npy file holds a dense array, this one is ", name_of(given.storage()), ": use .npz or .params"));
  check_dimensions(out, given.shape());
  const NDArray a = dense_on_host(given);
  a.wait();
  out.write(npy_header(npy_descr(a.dtype()), a.shape()));
  out.write(a.bytes(), a.size() * size_of(a.dtype()));
}

}  // namespace strop::inline v0::detail
