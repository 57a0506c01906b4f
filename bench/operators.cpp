// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every operator of the registry that PyTorch or NumPy has, at sizes that users have: forward, and forward with
/// backward. Beside it stands what it takes to move its bytes and to do its operations. The table is bench/operators;
/// run.py hands it over as a file. With --peers the values are compared as well, and the report begins with the worst.
#include "measure.hpp"
#include "peak.hpp"

#include <strop/strop.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using strop::NDArray;

constexpr std::int64_t apart = 100003;  // as in bench/operators/table.py, with what stands there of inputs
constexpr int head_gradient = 9, samples = 256;
constexpr double budget = 1e7;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  if (text.empty()) return out;
  for (;;) {
    const std::size_t end = text.find(at);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

double number(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

/// Those that inputs are made of, from 0 to 1, of input i.
const float* uniform(std::int64_t n, int i) {
  static std::vector<float> made;
  const std::int64_t begin = i * apart;
  for (auto k = static_cast<std::uint32_t>(made.size()); k < begin + n; ++k) {
    std::uint32_t h = k * 0x9e3779b9U;
    h = (h ^ h >> 16) * 0x85ebca6bU;
    h = (h ^ h >> 13) * 0xc2b2ae35U;
    made.push_back(static_cast<float>((h ^ h >> 16) >> 8) / (1 << 24));
  }
  return made.data() + begin;
}

strop::Dtype type_called(std::string_view name) {
  using namespace strop;
  constexpr std::pair<std::string_view, Dtype> types[] = {{"f16", f16}, {"f32", f32}, {"f64", f64}, {"u8", u8},
                                                          {"i8", i8},   {"i32", i32}, {"i64", i64}};
  for (const auto& [known, type] : types)
    if (known == name) return type;
  throw strop::Error(strop::cat("operators: no type ", name));
}

/// What element k of n × n matrices is, of those kinds that are no list of numbers.
double of_matrix(std::string_view kind, std::int64_t k, std::int64_t n, const float* u) {
  const std::int64_t row = k / n % n, column = k % n, first = k - row * n - column;
  if (kind == "lower" && column > row) return 0;
  const double x = u[first + std::max(row, column) * n + std::min(row, column)];
  if (kind == "symmetric") return 2 * x - 1;
  const double part = 1 / static_cast<double>(n);
  return row == column ? 1 + x * part : (x - 0.5) * part;
}

/// Numbers between low and high, as those of input i.
NDArray spread(const strop::Shape& shape, strop::Dtype type, double low, double high, bool whole, int i) {
  const NDArray x(shape, type);
  const float* const u = uniform(x.size(), i);
  strop::visit(type, [&]<class E>() {
    E* const to = x.pointer<E>();
    for (std::int64_t k = 0; k < x.size(); ++k) {
      const double value = low + (high - low) * static_cast<double>(u[k]);
      to[k] = strop::convert<E>(whole ? std::floor(value) : value);
    }
  });
  return x;
}

/// Input i, as `f32:any:-1:1:4,5` says.
NDArray make(std::string_view text, int i) {
  const auto words = split(text, ':');
  std::vector<std::int64_t> extents;
  for (std::string_view extent : split(words[4], ',')) extents.push_back(static_cast<std::int64_t>(number(extent)));
  const strop::Shape shape(extents);
  const strop::Dtype type = type_called(words[0]);
  if (words[1] == "any" || words[1] == "whole")
    return spread(shape, type, number(words[2]), number(words[3]), words[1] == "whole" || !strop::is_floating(type), i);
  const NDArray x(shape, strop::f32);
  const float* const u = uniform(x.size(), i);
  for (std::int64_t k = 0; k < x.size(); ++k)
    x.pointer<float>()[k] = static_cast<float>(of_matrix(words[1], k, extents.back(), u));
  return x;
}

/// A row of the table.
struct Row {
  std::string name;
  const strop::Entry* entry = nullptr;
  strop::detail::Ref<strop::detail::ParamBox> params;
  std::vector<NDArray> in;
  std::vector<std::size_t> learnt, part;
  std::optional<std::size_t> into;
  bool train = false, loss = false;
  int outputs = 1, visible = 1;

  explicit Row(std::span<const std::string_view> words)
      : name(words[0]), entry(&strop::detail::find_operator(words[1])) {
    for (std::string_view one : split(words[2], ';')) in.push_back(make(one, static_cast<int>(in.size())));
    std::vector<std::pair<std::string_view, std::string_view>> settings;
    for (std::string_view one : split(words[3], '|'))
      settings.emplace_back(one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
    params = strop::detail::parse_params(*entry, settings);
    for (std::string_view one : split(words[4], ',')) learnt.push_back(static_cast<std::size_t>(number(one)));
    if (!words[5].empty()) into = static_cast<std::size_t>(number(words[5]));
    for (std::string_view one : split(words[6], ',')) part.push_back(static_cast<std::size_t>(number(one)));
    train = words[7].find("train") != std::string_view::npos;
    loss = words[7].find("loss") != std::string_view::npos;
    std::tie(outputs, visible) = strop::detail::count_outputs(*entry, params->get(), static_cast<int>(in.size()));
  }

  std::vector<NDArray> call() const {
    const NDArray* inputs[16];
    for (std::size_t i = 0; i < in.size(); ++i) inputs[i] = &in[i];
    std::vector<NDArray> out(static_cast<std::size_t>(outputs));
    if (into) out[0] = in[*into];
    strop::detail::dispatch(*entry, params->get(), {inputs, static_cast<std::int64_t>(in.size())}, out);
    out.resize(static_cast<std::size_t>(visible));
    return out;
  }
  std::vector<NDArray> forward() const {
    std::vector<NDArray> out = call();
    for (const NDArray& y : out) y.wait();
    return out;
  }
  void both(std::span<const NDArray> heads) const {
    std::vector<NDArray> out;
    {
      const strop::record scope;
      out = call();
    }
    strop::backward(out, heads);
    for (std::size_t i : learnt) in[i].grad().wait();
  }
};

double bytes_of(const NDArray& x) { return static_cast<double>(x.size() * strop::size_of(x.dtype())); }

/// What it takes at least: nanoseconds by the bytes of the inputs and results, each once, and by its operations.
std::pair<double, double> bounds(const Row& row, std::span<const NDArray> out, bool backward) {
  double in = 0, results = 0, gradients = 0, operations = 0;
  for (const NDArray& y : out) results += bytes_of(y);
  for (std::size_t i = 0; i < row.in.size(); ++i) {
    const bool in_part = std::find(row.part.begin(), row.part.end(), i) != row.part.end();
    in += in_part ? std::min(results, bytes_of(row.in[i])) : bytes_of(row.in[i]);
  }
  for (std::size_t i : row.learnt) gradients += bytes_of(row.in[i]);
  std::vector<strop::Shape> shapes;
  for (const NDArray& x : row.in) shapes.push_back(x.shape());
  if (row.entry->operations != nullptr)
    operations = row.entry->operations(row.params->get(), shapes);
  else if (row.entry->facts.operations != nullptr && !out.empty())
    operations = row.entry->facts.operations(row.params->get()) * static_cast<double>(out[0].size());
  if (backward) operations *= 1.0 + static_cast<double>(row.learnt.size());
  const bool wide = !row.in.empty() && row.in[0].dtype() == strop::f64;
  const double peak = (wide ? bench::peak<double>() : bench::peak<float>()) * strop::num_threads();
  return {bench::copying(in + (backward ? 2 * results + gradients : results)), operations / peak};
}

/// Some elements of what a case computed, for the peers to compare with.
void keep(std::ofstream& file, const std::string& name, const std::string& what, const NDArray& x) {
  if (!file.is_open()) return;
  x.wait();
  file << name << '\t' << what << '\t' << x.size();
  strop::visit(x.dtype(), [&]<class E>() {
    for (std::int64_t k = 0; k < std::min<std::int64_t>(x.size(), samples); ++k) {
      char text[32];
      const std::int64_t at = x.size() <= samples ? k : k * x.size() / samples;
      std::snprintf(text, sizeof text, "\t%.8g", strop::convert<double>(x.pointer<const E>()[at]));
      file << text;
    }
  });
  file << '\n';
}

template <class F>
void measure(const Row& row, const std::string& name, std::span<const NDArray> out, bool backward, F work) {
  bench::Contest contest;
  contest.add(work);
  contest.run(budget);
  const auto [bytes, operations] = bounds(row, out, backward);
  if (bench::lines) {
    bench::line(name, contest.best(0), contest.median(0));
    bench::bounds(name, bytes, operations);
  } else {
    std::printf("%-64s %11.2f %11.2f %11.2f %11.2f\n", name.c_str(), contest.best(0) / 1e3, contest.median(0) / 1e3,
                bytes / 1e3, operations / 1e3);
  }
}

void run(const Row& row, std::ofstream& found) {
  std::vector<NDArray> out;
  {
    const strop::train_mode mode(row.train);
    out = row.forward();
    for (std::size_t i = 0; i < out.size(); ++i) keep(found, row.name, "result " + std::to_string(i), out[i]);
    measure(row, row.name, out, false, [&] { row.forward(); });
  }
  if (row.learnt.empty()) return;
  std::vector<NDArray> heads;
  for (const NDArray& y : out) heads.push_back(spread(y.shape(), y.dtype(), 0.5, 1.5, false, head_gradient));
  if (row.loss) heads.clear();
  for (std::size_t i : row.learnt) row.in[i].attach_grad();
  const std::string name = row.name + ", backward";
  row.both(heads);
  for (std::size_t i : row.learnt) keep(found, name, "gradient " + std::to_string(i), row.in[i].grad());
  measure(row, name, out, true, [&] { row.both(heads); });
}

/// Operators of the registry that have no row: those that the table gives a reason for, and the others.
void missing(const std::set<const strop::Entry*>& asked,
             const std::vector<std::pair<std::string, std::string>>& reasons) {
  std::vector<std::pair<std::string, std::string>> lists;
  std::set<const strop::Entry*> told = asked;
  const auto add = [&](const std::string& reason, std::string_view name) {
    auto at = std::find_if(lists.begin(), lists.end(), [&](const auto& list) { return list.first == reason; });
    if (at == lists.end()) at = lists.insert(at, {reason, ""});
    at->second += ' ' + std::string(name);
  };
  for (const auto& [name, reason] : reasons)
    if (told.insert(&strop::detail::find_operator(name)).second) add(reason, name);
  std::size_t all = 0;
  for (const strop::Entry* entry : strop::detail::all_operators()) {
    if (entry->is_gradient()) continue;
    ++all;
    if (!told.contains(entry)) add("without a row", entry->name);
  }
  std::printf("# %zu operators, %zu of them in the table; the others:\n", all, asked.size());
  for (const auto& [reason, names] : lists) {
    const auto count = std::count(names.begin(), names.end(), ' ');
    std::printf("# %s, %td:%s\n", reason.c_str(), count, names.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  const char* const folder = std::getenv("STROP_BENCH_DATA");
  if (folder == nullptr) {
    std::fprintf(stderr, "operators: STROP_BENCH_DATA is not set; ./run bench operators sets it\n");
    return 1;
  }
  std::ifstream table(std::string(folder) + "/operators.txt");
  if (!table) {
    std::fprintf(stderr, "operators: %s/operators.txt is not there; ./run bench operators writes it\n", folder);
    return 1;
  }
  std::ofstream found;
  if (bench::lines) found.open(std::string(folder) + "/operators-found.txt");
  if (!bench::lines)
    std::printf("microseconds with %d threads\n%-64s %11s %11s %11s %11s\n", strop::num_threads(), "", "best", "median",
                "bytes", "operations");
  std::set<const strop::Entry*> asked;
  std::vector<std::pair<std::string, std::string>> reasons;
  for (std::string text; std::getline(table, text);) {
    const auto words = split(text, '\t');
    if (words[0] == "-") {
      reasons.emplace_back(words[1], words[2]);
      continue;
    }
    asked.insert(&strop::detail::find_operator(words[1]));
    if (!bench::wanted(words[0])) continue;
    try {
      run(Row(words), found);
    } catch (const strop::Error& error) {
      std::printf("# %s: %s\n", std::string(words[0]).c_str(), error.what());
    }
  }
  missing(asked, reasons);
}
