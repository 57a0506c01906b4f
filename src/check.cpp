// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop check` and `strop bench`: operators against what their entries claim, and against the copy bandwidth.
#include "command.hpp"
#include "progress.hpp"

#include <strop/strop.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace strop::command {
namespace {

/// Numbers on which most functions are defined: in (0.1, 0.9), no two alike.
NDArray sample(const Shape& shape, Dtype type, int salt) {
  NDArray x(shape, f64);
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.pointer<double>()[i] = 0.1 + 0.8 * std::fmod(0.6180339887 * static_cast<double>(i + 1 + 17 * salt), 1.0);
  if (type == f64) return x;
  NDArray y(shape, type);
  if (!is_floating(type))
    for (std::int64_t i = 0; i < x.size(); ++i) x.pointer<double>()[i] = std::floor(1 + 8 * x.pointer<double>()[i]);
  detail::convert_elements(f64, x.bytes(), type, y.bytes(), x.size());
  return y;
}

struct Findings {
  int checks = 0;
  std::vector<std::string> failures;
  void expect(bool ok, std::string what) {
    ++checks;
    if (!ok) failures.push_back(std::move(what));
  }
};

bool near(const NDArray& a, const NDArray& b, double tolerance) {
  if (a.shape() != b.shape()) return false;
  const auto x = a.to_vector<double>(), y = b.to_vector<double>();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(x[i] == y[i] || (x[i] != x[i] && y[i] != y[i]) || std::abs(x[i] - y[i]) <= tolerance * (1 + std::abs(y[i]))))
      return false;
  return true;
}

std::vector<NDArray> call(const Entry& e, const void* op, std::span<const NDArray> in, std::vector<NDArray> out = {},
                          Request request = Request::write) {
  std::vector<const NDArray*> pointers;
  for (const NDArray& a : in) pointers.push_back(&a);
  out.resize(static_cast<std::size_t>(e.outputs));
  const std::vector<Request> requests(out.size(), request);
  detail::dispatch(e, op, pointers, out, requests);
  return out;
}

/// A map: every type it claims against double, add against write, in place, zero size, sparse against dense, gradient
/// against differences.
Findings check_map(const Entry& e) {
  Findings f;
  detail::ParamBox params(e.params);
  const Shape shape{7, 9};
  const auto inputs = [&](Dtype type) {
    std::vector<NDArray> in;
    for (int i = 0; i < e.inputs; ++i) in.push_back(sample(shape, type, i));
    return in;
  };
  for (const Dtype type : all_dtypes) {
    if (!e.dtypes.contains(type) || e.mutates) continue;
    const std::string what = cat(e.snake, " on ", name_of(type));
    const std::vector<NDArray> in = inputs(type), y = call(e, params.get(), in);
    if (is_floating(type) && e.dtypes.contains(f64)) {
      std::vector<NDArray> wide;
      for (const NDArray& a : in) {
        NDArray w(shape, f64);
        detail::convert_elements(type, a.bytes(), f64, w.bytes(), a.size());
        wide.push_back(w);
      }
      f.expect(near(y[0], call(e, params.get(), wide)[0],
                    type == f64   ? 1e-14
                    : type == f32 ? 1e-5
                    : type == f16 ? 2e-3
                                  : 2e-2),
               what + ": differs from the computation in double");
    }
    std::vector<NDArray> sums;
    for (const NDArray& a : y) sums.push_back(a.copy());
    call(e, params.get(), in, sums, Request::add);
    for (std::size_t k = 0; k < y.size(); ++k) {
      const auto once = y[k].to_vector<double>(), twice = sums[k].to_vector<double>();
      bool ok = true;
      for (std::size_t i = 0; i < once.size() && is_floating(type); ++i)
        ok = ok && (once[i] != once[i] || std::abs(twice[i] - 2 * once[i]) <= 2e-2 * (1 + std::abs(once[i])));
      f.expect(ok, what + ": add is not write plus what was there");
    }
    std::vector<NDArray> over = inputs(type);
    call(e, params.get(), over, {over[0]});
    f.expect(near(over[0], y[0], 0), what + ": in place differs");
    std::vector<NDArray> none;
    for (int i = 0; i < e.inputs; ++i) none.push_back(NDArray(Shape{0, 3}, type));
    f.expect(call(e, params.get(), none)[0].size() == 0, what + ": an array without elements");
  }
  const Dtype computed = e.dtypes.contains(f32) ? f32 : f64;
  if (e.dtypes.contains(computed) && e.inputs <= 3 && e.facts.zero != nullptr && !e.mutates) {
    for (const Storage storage : {csr, row_sparse})
      for (std::uint64_t set = 1; set < (std::uint64_t{1} << e.inputs); ++set) {
        if (!e.facts.zero(params.get(), computed, set)) continue;
        std::vector<NDArray> in, flat;
        for (int i = 0; i < e.inputs; ++i) {
          NDArray x = sample(shape, computed, i);
          if ((set >> i & 1U) != 0) {
            for (std::int64_t k = 0; k < x.size(); ++k)
              if ((k / 9 + k % 9 + i) % 3 != 0)
                std::memset(x.bytes() + k * size_of(computed), 0, static_cast<std::size_t>(size_of(computed)));
            flat.push_back(x);
            x = detail::cast_storage(x, storage);
          } else {
            flat.push_back(x);
          }
          in.push_back(x);
        }
        const NDArray y = call(e, params.get(), in)[0], d = call(e, params.get(), flat)[0];
        f.expect(y.storage() == storage,
                 cat(e.snake, ": the result of ", name_of(storage), " is not ", name_of(storage)));
        // Zero times anything is zero: where the dense computation has a NaN (0/0), the sparse one stores nothing.
        const auto sparse_values = y.to_vector<double>(), dense_values = d.to_vector<double>();
        bool ok = true;
        for (std::size_t i = 0; i < dense_values.size(); ++i)
          ok = ok && (dense_values[i] != dense_values[i] ||
                      std::abs(sparse_values[i] - dense_values[i]) <= 1e-5 * (1 + std::abs(dense_values[i])));
        f.expect(ok, cat(e.snake, " on ", name_of(storage), ": differs from the dense computation"));
        y.check_format();
      }
  }
  if (e.dtypes.contains(f64) && e.gradient.entry != nullptr && !e.mutates) {
    const std::vector<NDArray> in = inputs(f64);
    struct Bound {
      const Entry& entry;
      const void* op;
    } bound{e, params.get()};
    const GradientCheck check = detail::compare_gradients(
        e.snake, in, {.rtol = 1e-4, .atol = 1e-5},
        [](const void* c, std::span<const NDArray> x) {
          const Bound& with = *static_cast<const Bound*>(c);
          return call(with.entry, with.op, x);
        },
        &bound);
    f.expect(check.passed, check.text);
  }
  return f;
}

double seconds_of(const auto& work) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

std::vector<const Entry*> chosen(const std::string& name) {
  if (!name.empty()) return {&detail::find_operator(name)};
  std::vector<const Entry*> out;
  for (const Entry* e : detail::all_operators())
    if (!e->is_gradient() && e->is_map() && (e->params == nullptr || !e->params->checked)) out.push_back(e);
  return out;
}

}  // namespace

int check(const std::string& name) {
  const std::vector<const Entry*> entries = chosen(name);
  if (!name.empty() && !entries[0]->is_map())
    fail("check: ", entries[0]->snake, " is no map; its rows are in the test suite");
  Progress progress("check", std::ssize(entries));
  int checks = 0;
  std::vector<std::string> failures;
  for (const Entry* e : entries) {
    try {
      Findings found = check_map(*e);
      checks += found.checks;
      for (std::string& failure : found.failures) failures.push_back(std::move(failure));
    } catch (const Error& error) {
      failures.push_back(cat(e->snake, ": ", error.what()));
    }
    progress.step();
  }
  progress.finish(cat(entries.size(), " operators, ", checks, " checks, ", failures.size(), " failed"));
  for (const std::string& failure : failures) std::printf("  %s\n", failure.c_str());
  return failures.empty() ? 0 : 1;
}

int bench(const std::string& name) {
  const std::int64_t n = 1 << 20;
  const std::vector<const Entry*> entries = chosen(name);
  if (!name.empty() && !entries[0]->is_map()) fail("bench: ", entries[0]->snake, " is no map");
  NDArray from = sample({n}, f32, 0), to(Shape{n}, f32);
  const double copy = 8.0 * static_cast<double>(n) /
                      seconds_of([&] { std::memcpy(to.bytes(), from.bytes(), static_cast<std::size_t>(n) * 4); });
  std::printf("%-28s %10s %8s   (%lld float32, copy %.1f GB/s)\n", "operator", "GB/s", "of copy",
              static_cast<long long>(n), copy * 1e-9);
  for (const Entry* e : entries) {
    if (!e->dtypes.contains(f32) || e->mutates || e->outputs != 1) continue;
    detail::ParamBox params(e->params);
    std::vector<NDArray> in;
    for (int i = 0; i < e->inputs; ++i) in.push_back(sample({n}, f32, i));
    const std::vector<NDArray> out{NDArray(Shape{n}, f32)};
    const double bytes = 4.0 * static_cast<double>(n) * (e->inputs + 1);
    const double rate = bytes / seconds_of([&] { call(*e, params.get(), in, out); });
    std::printf("%-28s %10.1f %7.0f%%\n", std::string(e->snake).c_str(), rate * 1e-9, 100 * rate / copy);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace strop::command
