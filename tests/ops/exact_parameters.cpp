// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every map of the library with each of its numbers at 0, 1 and −1: gradients of orders 1 to 3 are their limits, and
/// what is not kept for backward does not matter.
#include <strop/verify.hpp>

#include <doctest/doctest.h>
#include <strop/strop.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace strop;

namespace {

using Values = std::vector<double>;

/// One element of a loop over doubles.
Values run(const detail::MapLoop loop, const void* op, const Values& in, std::size_t results) {
  std::vector<const void*> x;
  for (const double& v : in) x.push_back(&v);
  Values y(results);
  std::vector<void*> to;
  for (double& v : y) to.push_back(&v);
  loop(op, x.data(), to.data(), 1);
  return y;
}

/// A map with parameters, and its gradients as loops.
struct Case {
  const Entry& entry;
  const void* op;
  std::string name;

  std::size_t inputs() const { return static_cast<std::size_t>(entry.inputs); }
  /// The gradient of that order where the map's inputs are x and all head gradients 1; none where there is no such
  /// gradient.
  Values gradient(int order, const Values& x) const {
    const Entry* at = &entry;
    Values in = x;
    for (int k = 0; k < order; ++k) {
      const detail::GradientRule& rule = at->gradient;
      if (rule.entry == nullptr || !rule.entry->is_map() || rule.entry->loops.f64 == nullptr) return {};
      const auto results = static_cast<std::size_t>(at->outputs);
      Values next(results, 1.0);
      if (rule.in != 0) next.insert(next.end(), in.begin(), in.end());
      if (rule.out != 0) {
        const Values y = run(at->loops.f64, op, in, results);
        next.insert(next.end(), y.begin(), y.end());
      }
      in = std::move(next);
      at = rule.entry;
    }
    return run(at->loops.f64, op, in, static_cast<std::size_t>(at->outputs));
  }
};

/// Places for n numbers.
std::vector<Values> places(std::size_t n) {
  const Values one = n < 3 ? Values{0, 1, -1, 0.5, -0.3, 2, 1000} : Values{0, 1, -0.5};
  std::vector<Values> all{{}};
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Values> longer;
    for (const Values& place : all)
      for (const double x : one) {
        longer.push_back(place);
        longer.back().push_back(x);
      }
    all = std::move(longer);
  }
  return all;
}

/// The gradient's values that tend to a limit at x where input i comes from one side, as they are a step away; NaN for
/// those that do not.
Values limits(const Case& c, int order, const Values& x, std::size_t i, double step) {
  Values near = x, nearer = x;
  near[i] += step;
  nearer[i] += step / 10;
  Values far = c.gradient(order, near);
  const Values close = c.gradient(order, nearer);
  for (std::size_t k = 0; k < far.size(); ++k)
    if (!(std::abs(far[k] - close[k]) <= 1e-3 * (1 + std::abs(far[k]))))
      far[k] = std::numeric_limits<double>::quiet_NaN();
  return far;
}

/// Where a map has a value, and its gradient one limit from both sides, the gradient has that value. Gives how many
/// were compared.
int compare_limits(const Case& c) {
  constexpr double step = 1e-6;
  int compared = 0;
  for (const Values& x : places(c.inputs())) {
    bool has_value = true;
    for (const double y : run(c.entry.loops.f64, c.op, x, static_cast<std::size_t>(c.entry.outputs)))
      has_value = has_value && std::isfinite(y);
    for (int order = 1; order <= 3 && has_value; ++order) {
      const Values got = c.gradient(order, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const Values low = limits(c, order, x, i, -step), high = limits(c, order, x, i, step);
        for (std::size_t k = 0; k < got.size(); ++k) {
          const double size = 1 + std::abs(low[k]) + std::abs(high[k]);
          if (!(std::abs(low[k] - high[k]) <= 1e-3 * size) || !std::isfinite(size)) continue;
          ++compared;
          if (std::abs(got[k] - (low[k] + high[k]) / 2) <= 3e-3 * size) continue;
          std::string at;
          for (const double place : x) at += cat(at.empty() ? "" : ", ", place);
          CHECK_MESSAGE(false, c.name, ", order ", order, ", result ", k, " at ", at, " along input ", i, ": ", got[k],
                        ", on both sides ", low[k], " and ", high[k]);
          return compared;
        }
      }
    }
  }
  return compared;
}

/// The gradient is the same to the bit whatever stands in the inputs that it does not keep.
void compare_kept(const Case& c) {
  const detail::MapFacts& facts = c.entry.facts;
  if (facts.kept == nullptr || c.entry.gradient.in == 0) return;
  const std::uint64_t kept = facts.kept(c.op, f64);
  const detail::MapLoop loop = c.entry.gradient.entry->loops.f64;
  const auto results = static_cast<std::size_t>(c.entry.outputs);
  for (const Values& x : places(c.inputs())) {
    Values read(results, 1.0), unread(results, 1.0);
    const Values y = run(c.entry.loops.f64, c.op, x, results);
    for (std::size_t i = 0; i < x.size(); ++i) {
      read.push_back(x[i]);
      unread.push_back((kept >> i & 1) != 0 ? x[i] : 0);
    }
    if (c.entry.gradient.out != 0)
      for (const double v : y) read.push_back(v), unread.push_back(v);
    const Values a = run(loop, c.op, read, x.size()), b = run(loop, c.op, unread, x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]) && kept != 0)) continue;
      CHECK_MESSAGE(false, c.name, " at ", x[0], ": gradient ", k, " is ", b[k], " by what is kept, else ", a[k]);
      return;
    }
  }
}

}  // namespace

TEST_CASE("maps of the library with numbers at 0, 1 and -1: gradients are limits, and need what is kept alone") {
  int cases = 0, compared = 0;
  std::vector<std::string> seen;
  for (const verify::Row& row : verify::rows()) {
    const verify::Subject s = row.subject(f64);
    const Entry& entry = *s.entry;
    if (!entry.is_map() || entry.mutates || entry.gradient.entry == nullptr || entry.gradient.of_loss() ||
        entry.loops.f64 == nullptr || entry.inputs > 3 || !row.parts.gradient)
      continue;
    const detail::ParamTable& table = *entry.params;
    const std::size_t fields = table.fields.size();
    for (std::size_t field = 0; field < std::max<std::size_t>(fields, 1); ++field)
      for (const char* value : {"0", "1", "-1"}) {
        detail::ParamBox op(&table, s.op());
        std::string name = row.op + (row.params.empty() ? "" : cat(" {", row.params, "}"));
        if (field < fields) {
          const std::string_view key = table.fields[field].name;
          const auto before = table.number(op.get(), field);
          if (!before) continue;
          try {
            detail::set_param(entry.name, table, op.get(), key, value);
          } catch (const Error&) {
            continue;  // out of range
          }
          name += cat(", ", key, " = ", value);
          if (row.op == "clip" && key == "a_max") continue;  // where both bounds are one number it is 1, as in MXNet
        }
        if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
        seen.push_back(name);
        const Case c{entry, op.get(), name};
        compared += compare_limits(c);
        compare_kept(c);
        ++cases;
      }
  }
  CHECK(cases > 150);
  CHECK(compared > 15000);
}
