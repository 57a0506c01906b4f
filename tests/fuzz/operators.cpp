// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as a call of an operator: its row of src/verify with other shapes, types, storages and parameters, forward
/// and backward, through the public calls: an Error that begins with a name, or results whose shapes can be counted.
/// Memory is short, so that a call that only asks for much of it is refused at once.
#include <strop/strop.hpp>
#include <strop/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <vector>

using namespace strop;

namespace {

bool is_short = false;  // while a call runs

bool is_refused(std::size_t bytes) { return is_short && bytes > std::size_t{1} << 22; }

void* memory_for(std::size_t bytes, std::size_t alignment) {
  if (is_refused(bytes)) return nullptr;
  return std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}

}  // namespace

// The C++ library's memory is as short as the arrays'.
#include "../operator_new.hpp"

namespace {

/// The input's bytes as choices; zeros when they are used up.
class Choices {
 public:
  Choices(const std::uint8_t* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}
  bool any() const { return at_ != end_; }
  unsigned byte() { return at_ == end_ ? 0U : *at_++; }
  /// A number below n.
  std::size_t below(std::size_t n) {
    const unsigned high = n > 256 ? byte() : 0U;
    return (high << 8 | byte()) % n;
  }
  bool one_in(unsigned n) { return byte() % n == n - 1; }
  std::int64_t integer() {
    static constexpr std::int64_t odd[] = {0,
                                           1,
                                           -1,
                                           2,
                                           -2,
                                           3,
                                           4,
                                           5,
                                           7,
                                           8,
                                           -3,
                                           -4,
                                           16,
                                           63,
                                           1000,
                                           INT32_MAX,
                                           INT32_MIN,
                                           1LL << 31,
                                           1LL << 40,
                                           1LL << 61,
                                           1LL << 62,
                                           INT64_MAX,
                                           INT64_MIN,
                                           INT64_MAX - 1,
                                           -(1LL << 40),
                                           10'000'000'000,
                                           65537};
    return one_in(8) ? static_cast<std::int8_t>(byte()) : odd[below(std::size(odd))];
  }
  std::string word() {
    static constexpr const char* words[] = {"None",    "True",    "False",   "nan",   "inf",  "-inf",
                                            "1e300",   "0.5",     "-0.5",    "1e-30", "csr",  "row_sparse",
                                            "default", "float16", "float64", "int64", "bool", "uint8"};
    return words[below(std::size(words))];
  }
  std::string list() {
    std::string text = "(";
    for (std::size_t n = below(5); n-- > 0;) text += one_in(6) ? "None, " : cat(integer(), ", ");
    return text + ")";
  }

 private:
  const std::uint8_t *at_, *end_;
};

std::string value_for(Choices& choices, const detail::Field& field) {
  switch (field.type->kind) {
    case ParamKind::enumeration:
      return std::string(field.type->words[choices.below(field.type->words.size())]);
    case ParamKind::shape:
    case ParamKind::axes:
    case ParamKind::bounds:
      return choices.one_in(4) ? cat(choices.integer()) : choices.list();
    case ParamKind::flag:
      return choices.one_in(2) ? "True" : "False";
    case ParamKind::integer:
      return choices.one_in(8) ? "None" : cat(choices.integer());
    default:
      break;
  }
  return choices.one_in(3) ? choices.word() : cat(choices.integer());
}

Shape changed(Choices& choices, Shape shape) {
  if (choices.one_in(6)) shape.insert(static_cast<int>(choices.below(static_cast<std::size_t>(shape.ndim()) + 1)), 1);
  if (choices.one_in(6) && shape.ndim() > 0)
    shape.erase(static_cast<int>(choices.below(static_cast<std::size_t>(shape.ndim()))));
  if (shape.ndim() > 0 && choices.one_in(3)) {
    const auto axis = choices.below(static_cast<std::size_t>(shape.ndim()));
    shape[axis] = static_cast<std::int64_t>(choices.below(6));
    if (shape[axis] == 0 && shape.ndim() > 1 && choices.one_in(2))
      shape[(axis + 1) % static_cast<std::size_t>(shape.ndim())] = std::int64_t{1} << choices.below(63);
  }
  return shape;
}

NDArray made(Choices& choices, verify::Sample sample, Dtype type, int salt) {
  sample.shape = changed(choices, sample.shape);
  if (choices.one_in(10)) type = all_dtypes[choices.below(std::size(all_dtypes))];
  Storage storage = sample.storage;
  if (choices.one_in(4)) storage = static_cast<Storage>(choices.below(3));
  if ((storage == csr && sample.shape.ndim() != 2) || sample.shape.ndim() == 0) storage = dense;
  if (storage != dense && choices.one_in(8)) {  // of which much more is said than stored
    for (std::int64_t& extent : sample.shape)
      extent = choices.one_in(3) ? std::int64_t{1} << choices.below(40) : extent;
    if (storage == csr && sample.shape[0] > 1000) sample.shape[0] = 3;
    return NDArray(sample.shape, type, cpu(), storage);
  }
  sample.storage = storage;
  NDArray a = sample.make(type, salt);
  if (storage == dense && choices.one_in(4)) {  // positions far outside, extremes of integers, NaN
    for (std::int64_t i = 0; i < a.size() && choices.any(); ++i) {
      const double value =
          choices.one_in(9) ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(choices.integer());
      detail::convert_elements(f64, &value, type, a.bytes() + i * size_of(type), 1);
    }
  }
  return a;
}

void call(Choices& choices) {
  const std::vector<verify::Row>& rows = verify::rows();
  const verify::Row& row = rows[choices.below(rows.size())];
  const Entry& entry = detail::find_operator(row.op);

  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto& [key, text] : row.attributes()) settings.emplace_back(key, text);
  if (entry.params != nullptr && !entry.params->fields.empty())
    for (std::size_t n = choices.below(4); n-- > 0;) {
      const detail::Field& field = entry.params->fields[choices.below(entry.params->fields.size())];
      std::erase_if(settings, [&](const auto& setting) { return setting.first == field.name; });
      settings.emplace_back(field.name, value_for(choices, field));
    }
  const std::vector<std::pair<std::string_view, std::string_view>> params(settings.begin(), settings.end());

  const Dtype type = choices.one_in(3) ? all_dtypes[choices.below(std::size(all_dtypes))] : f32;
  std::vector<NDArray> in;
  for (const verify::Sample& sample : row.in) in.push_back(made(choices, sample, type, static_cast<int>(in.size())));
  if (choices.one_in(30) && !in.empty()) in.pop_back();
  if (choices.one_in(30) && !in.empty()) in.push_back(in[0]);

  const bool backward = choices.one_in(2);
  if (backward)
    for (const NDArray& a : in)
      if (is_floating(a.dtype()) && choices.one_in(2))
        a.attach_grad(choices.one_in(3) ? GradRequest::add : GradRequest::write);
  std::vector<NDArray> out;
  {
    record scope;
    out = detail::invoke_entry(entry, in, params, {});
  }
  for (const NDArray& y : out) {
    y.wait();
    if (y.storage() != dense) y.check_format();
    if (y.shape().size() < 0) std::abort();
    static_cast<void>(detail::to_text(y));
  }
  if (!backward || out.empty()) return;
  const std::size_t head = choices.below(out.size());
  out[head].backward();
  for (const NDArray& a : in)
    if (NDArray gradient = a.grad(); gradient.defined()) static_cast<void>(detail::to_text(gradient));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const bool quiet = [] {
    set_fallback(Fallback::silent);
    set_num_threads(1);
    memory::set_limit(cpu(), std::int64_t{1} << 24);
    return static_cast<void>(verify::rows()), true;
  }();
  static_cast<void>(quiet);
  Choices choices(bytes, size);
  try {
    struct Short {
      Short() { is_short = true; }
      ~Short() { is_short = false; }
    };
    const Short scope;
    call(choices);
  } catch (const Error& error) {
    const std::string_view said = error.what();
    if (said.empty() || said.find(':') == std::string_view::npos) std::abort();
  } catch (const std::bad_alloc&) {
  }
  return 0;
}
