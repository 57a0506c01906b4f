// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop bench`: bytes a second of operators, beside a copy of the same run.
#include "card.hpp"
#include "command.hpp"
#include "operator.hpp"
#include "progress.hpp"
#include "words.hpp"

#include <strop/strop.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace strop::command {
namespace {

constexpr std::int64_t elements = 1 << 20;  // that inputs are scaled to

/// The shortest of some rounds, each long enough for the clock.
double seconds_of(const auto& work) {
  const auto timed = [&](std::int64_t times) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < times; ++i) work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double total = timed(1), best = total;
  const auto times = static_cast<std::int64_t>(std::clamp(2e-4 / best, 1.0, 1000.0));
  for (int round = 0; round < 7 && total < 0.5; ++round) {
    const double seconds = timed(times);
    total += seconds;
    best = std::min(best, seconds / static_cast<double>(times));
  }
  return best;
}

std::int64_t bytes_of(const NDArray& a) {
  std::int64_t bytes = a.stored() * size_of(a.dtype());
  if (a.storage() != dense) bytes += a.indices().size() * size_of(a.indices().dtype());
  if (a.storage() == csr) bytes += a.indptr().size() * size_of(a.indptr().dtype());
  return bytes;
}

/// What of a row's inputs grows: every extent, so that equal ones stay equal; their first axis; that of the first
/// input; or nothing. The first that the operator takes is measured.
enum class Growth { all, rows, first, none };

std::vector<verify::Sample> grown(std::vector<verify::Sample> in, Growth how) {
  const verify::Sample* largest = nullptr;
  int axes = 0;  // of the largest, that can grow
  for (const verify::Sample& sample : in)
    if (largest == nullptr || sample.shape.size() > largest->shape.size()) largest = &sample;
  if (largest == nullptr || largest->shape.size() == 0 || how == Growth::none) return in;
  for (const std::int64_t extent : largest->shape) axes += extent > 1 ? 1 : 0;
  const double room = static_cast<double>(elements) / static_cast<double>(largest->shape.size());
  const auto factor = static_cast<std::int64_t>(how == Growth::all ? std::pow(room, 1.0 / std::max(axes, 1)) : room);
  for (verify::Sample& sample : in) {
    for (int k = 0; k < sample.shape.ndim(); ++k)
      if (sample.shape[k] > 1 && (how == Growth::all || k == 0)) sample.shape[k] *= std::max<std::int64_t>(factor, 1);
    if (how == Growth::first) break;
  }
  return in;
}

/// Gives the other inputs the shapes that follow from the first one's.
bool follow_first(const Entry& e, const void* op, std::vector<verify::Sample>& in) {
  if (in.empty() || e.infer_shape == nullptr) return false;
  const auto outputs = detail::count_outputs(e, op, static_cast<int>(in.size())).first;
  std::vector<Shape> shapes(in.size(), Shape::unknown()), out(static_cast<std::size_t>(outputs), Shape::unknown());
  shapes[0] = in[0].shape;
  const detail::CallNames names{e.snake};
  Shapes known(names, shapes, out);
  e.infer_shape(op, known);
  bool changed = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!shapes[i].known()) return false;
    changed = changed || shapes[i] != in[i].shape;
    in[i].shape = shapes[i];
  }
  return changed;
}

/// A call that works.
struct Case {
  const Entry* entry;
  detail::Ref<detail::ParamBox> params;
  verify::Arrays in, out;

  void run() {
    std::vector<const NDArray*> inputs;
    for (const NDArray& a : in) inputs.push_back(&a);
    detail::dispatch(*entry, params->get(), inputs, out, {});
    for (const NDArray& y : out) y.wait();
  }
};

/// The call of an operator's first row with these parameters in place of its own, on inputs as large as they may be.
Case case_of(const Entry& e, const CallWords& words) {
  const verify::Row row = verify::rows_of(e).front();
  const auto stated = row.attributes();
  Settings settings(stated.begin(), stated.end());
  for (const auto& [key, value] : words.params) settings = with(std::move(settings), key, value);
  Case call{&e, params_of(e, views_of(settings)), {}, {}};
  const Dtype type = e.dtypes.contains(f32) ? f32 : i64;
  std::string why;
  const auto works = [&](const std::vector<verify::Sample>& samples) {
    try {
      call.in.clear();
      for (const verify::Sample& sample : samples)
        call.in.push_back(sample.make(type, static_cast<int>(call.in.size())));
      const int outputs = detail::count_outputs(e, call.params->get(), static_cast<int>(call.in.size())).first;
      call.out.assign(static_cast<std::size_t>(outputs), NDArray());
      call.run();
      return true;
    } catch (const Error& error) {
      why = error.what();
      return false;
    }
  };
  const auto follows = [&](std::vector<verify::Sample>& samples) {
    try {
      return follow_first(e, call.params->get(), samples);
    } catch (const Error&) {
      return false;
    }
  };
  for (const Growth how : {Growth::all, Growth::rows, Growth::first, Growth::none}) {
    std::vector<verify::Sample> samples = grown(row.in, how);
    if (works(samples) || (follows(samples) && works(samples))) return call;
  }
  throw Error(why);
}

}  // namespace

int bench(const std::string& name, const std::vector<std::string>& words) {
  const CallWords given("bench", words);
  if (!given.files.empty() || !given.target.empty())
    throw WrongCall(cat("bench: '", detail::printable(given.files.empty() ? given.target : given.files[0], 100),
                        "' is no parameter; after the operator it takes --PARAMETER VALUE"));
  std::vector<const Entry*> entries = operators_to("bench", name);
  if (name.empty()) std::erase_if(entries, [](const Entry* e) { return e->is_gradient(); });

  const NDArray from = full({elements}, 1), to({elements}, f32);
  const double copy = static_cast<double>(bytes_of(from) + bytes_of(to)) /
                      seconds_of([&] { strop::detail::copy_bytes(to.bytes(), from.bytes(), bytes_of(to)); });
  const verify::QuietFallbacks quiet;
  Progress progress("bench", std::ssize(entries));
  std::vector<std::string> lines;
  int failures = 0;
  for (const Entry* e : entries) {
    try {
      Case call = case_of(*e, given);
      const double seconds = seconds_of([&] { call.run(); });
      std::int64_t bytes = 0;
      std::string shapes;
      for (const NDArray& a : call.in) bytes += bytes_of(a), shapes += cat(shapes.empty() ? "" : " ", a.shape());
      for (const NDArray& a : call.out) bytes += a.defined() ? bytes_of(a) : 0;
      if (!call.out.empty()) shapes += cat(shapes.empty() ? "" : " ", "-> ", call.out[0].shape());
      const double rate = static_cast<double>(bytes) / seconds;
      lines.push_back(fmt::format("{:<28} {:>10.1f} {:>10.2f} {:>7.0f}%  {}", e->snake, seconds * 1e6, rate * 1e-9,
                                  100 * rate / copy, shapes));
    } catch (const Error& error) {
      if (!name.empty()) throw;
      ++failures;
      lines.push_back(error.what());
    }
    progress.step();
  }
  progress.finish(
      fmt::format("{} operators; a copy of {} float32 moves {:.1f} GB/s", entries.size(), elements, copy * 1e-9));
  std::printf("%-28s %10s %10s %8s  %s\n", "operator", "us", "GB/s", "of copy", "shapes");
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  return failures == 0 ? 0 : 1;
}

}  // namespace strop::command
