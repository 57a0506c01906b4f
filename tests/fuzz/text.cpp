// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any text as a parameter of every type: refused, or a value whose text parses to the same again. The first byte says
/// which parameter.
#include <strop/core/params.hpp>
#include <strop/ops/shape/bounds.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace strop;

namespace {

enum class Mode { plain, leaky, default_ };
struct Everything {
  bool flag = false;
  std::int8_t small = 0;
  int count = 0;
  std::int64_t wide = 0;
  std::uint64_t size = 0;
  float rate = 0;
  double exact = 0;
  std::string word;
  Mode mode = Mode::plain;
  Dtype dtype = f32;
  Shape shape;
  Axes axis;
  Bounds<> begin;
  std::optional<Shape> maybe_shape;
  std::optional<double> maybe_real;
  Required<int> needed;
};
constexpr const detail::ParamTable& table = detail::param_table<Everything>;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t i = bytes[0] % table.fields.size();
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  Everything first, second;
  try {
    detail::set_param("fuzz", table, &first, table.fields[i].name, text);
  } catch (const Error&) {
    return 0;
  }
  const std::string printed = table.print(&first, i);
  detail::set_param("fuzz", table, &second, table.fields[i].name, printed);
  if (table.print(&second, i) != printed) std::abort();
  return 0;
}
