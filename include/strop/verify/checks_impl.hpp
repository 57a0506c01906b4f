// SPDX-License-Identifier: Apache-2.0
/// \file
/// The checks of one call.
#pragma once
#include <strop/core/list.hpp>
#include <strop/op/infer_call.hpp>
#include <strop/verify/checks.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

namespace strop::inline v0::verify {
inline namespace helpers {

/// Runs on these very arrays, those that the operator writes included.
STROP_VERIFY_IMPL Arrays run(const Subject& s, const Arrays& in, Arrays out, std::vector<Request> requests) {
  std::vector<const NDArray*> inputs;
  Arrays whole(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool converts = takes_whole(*s.entry, i) && is_floating(in[i].dtype());
    if (converts) whole[i] = with_dtype(in[i], i32);
    inputs.push_back(converts ? &whole[i] : &in[i]);
  }
  const auto outputs =
      static_cast<std::size_t>(detail::count_outputs(*s.entry, s.op(), static_cast<int>(in.size())).first);
  out.resize(outputs);
  requests.resize(outputs, Request::write);
  if (s.random) random::seed(11);
  detail::dispatch(*s.entry, s.op(), inputs, out, requests);
  return out;
}

STROP_VERIFY_IMPL Tolerance tolerance_of(Dtype type, double loose) {
  if (type == f64) return {1e-12 * loose, 1e-12 * loose};
  if (type == f16) return {2e-3 * loose, 2e-3 * loose};
  if (type == bf16) return {1.6e-2 * loose, 1.6e-2 * loose};
  return {2e-6 * loose, 1e-6 * loose};
}

STROP_VERIFY_IMPL void expect_same(Findings& found, const Subject& s, std::string_view way, const Arrays& got,
                                   const Arrays& wanted, Tolerance tolerance) {
  for (std::size_t k = 0; k < wanted.size(); ++k) found.expect(s, way, difference(got[k], wanted[k], tolerance));
}

STROP_VERIFY_IMPL Arrays filled_like(const Arrays& arrays, double value) {
  Arrays out;
  for (const NDArray& a : arrays) out.push_back(full(a.shape(), value, a.dtype()));
  return out;
}

/// A view of `a`'s shape between sentinels, at an odd offset; `whole` is the array around it. A sparse array is itself.
struct Guarded {
  NDArray whole, view;
  explicit Guarded(const NDArray& a) {
    if (a.storage() != dense) {
      view = a.copy();
      return;
    }
    if (a.size() == 0) {
      view = NDArray(a.shape(), a.dtype());
      return;
    }
    whole = full({a.size() + 8}, 99, a.dtype());
    view = whole.slice(3, 3 + a.size()).reshape(a.shape());
    if (a.size() != 0) detail::copy_bytes(view.bytes(), a.bytes(), a.size() * size_of(a.dtype()));
  }
  bool intact() const {
    if (!whole.defined()) return true;
    const std::vector<double> x = values(whole), sentinel = values(full({1}, 99, whole.dtype()));
    for (std::size_t i = 0; i < x.size(); ++i)
      if ((i < 3 || i + 5 >= x.size()) && x[i] != sentinel[0]) return false;
    return true;
  }
};

}  // namespace helpers

STROP_VERIFY_IMPL Subject subject(std::string_view name, Arrays in, AttributeSpan params) {
  const Entry& entry = detail::find_operator(name);
  const auto box = std::make_shared<detail::Ref<detail::ParamBox>>(detail::parse_params(entry, params));
  return {&entry, std::shared_ptr<const void>(box, (*box)->get()), std::move(in)};
}

STROP_VERIFY_IMPL bool takes_whole(const Entry& entry, std::size_t i) { return i < 64 && (entry.whole >> i & 1U) != 0; }

STROP_VERIFY_IMPL void Findings::expect(const Subject& s, std::string_view way, const std::string& wrong) {
  ++checks;
  if (!wrong.empty()) failures.push_back(cat(s.entry->name, ", ", way, ": ", wrong));
}

STROP_VERIFY_IMPL std::string Findings::text() const {
  std::string out = cat(checks, " checks, ", failures.size(), " failed");
  for (const std::string& failure : failures) out += cat("\n  ", failure);
  return out;
}

STROP_VERIFY_IMPL void Findings::add(Findings&& found, std::string_view after) {
  checks += found.checks;
  for (std::string& failure : found.failures) failures.push_back(cat(failure, after));
}

STROP_VERIFY_IMPL Arrays call(const Subject& s, const Arrays& in, Arrays out, std::vector<Request> requests,
                              Arrays* states) {
  if (!s.entry->mutates) return run(s, in, std::move(out), std::move(requests));
  Arrays own = in;
  const std::vector<int> mutated = detail::signature_of(*s.entry, s.op(), static_cast<int>(in.size())).mutated;
  for (int i : mutated) strop::detail::element(own, i) = strop::detail::element(in, i).copy();
  out = run(s, own, std::move(out), std::move(requests));
  if (states != nullptr) {
    states->clear();
    for (int i : mutated) states->push_back(strop::detail::element(own, i));
  }
  return out;
}

STROP_VERIFY_IMPL NDArray with_dtype(const NDArray& a, Dtype dtype) {
  if (a.storage() != dense) return cast(a, {.dtype = dtype});
  NDArray y(a.shape(), dtype);
  detail::convert_elements(a.dtype(), a.bytes(), dtype, y.bytes(), a.size());
  return y;
}
STROP_VERIFY_IMPL Arrays with_dtype(const Arrays& in, Dtype dtype) {
  Arrays out;
  for (const NDArray& a : in) out.push_back(with_dtype(a, dtype));
  return out;
}
STROP_VERIFY_IMPL std::vector<double> values(const NDArray& a) { return a.to_vector<double>(); }

STROP_VERIFY_IMPL std::string difference(const NDArray& got, const std::vector<double>& wanted, const Shape& shape,
                                         Tolerance tolerance) {
  if (!(got.shape() == shape)) return cat("shape ", got.shape(), ", expected ", shape);
  const std::vector<double> x = values(got);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double a = x[i], b = wanted[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= tolerance.atol + tolerance.rtol * std::abs(b)))
      return cat("element ", i, " is ", a, ", expected ", b);
  }
  return {};
}
STROP_VERIFY_IMPL std::string difference(const NDArray& got, const NDArray& wanted, Tolerance tolerance) {
  return difference(got, values(wanted), wanted.shape(), tolerance);
}

STROP_VERIFY_IMPL void dtypes(Findings& found, const Subject& s, DtypeSet among, double loose) {
  if (!s.entry->dtypes.contains(f64)) return;
  for (Dtype type : all_dtypes) {
    if (!s.entry->dtypes.contains(type) || !among.contains(type) || type == f64) continue;
    const std::string way = cat("on ", name_of(type));
    const Arrays in = with_dtype(s.in, type);
    Arrays states, wanted_states;
    const Arrays y = call(s, in, {}, {}, &states);
    const Arrays wanted = call(s, with_dtype(in, f64), {}, {}, &wanted_states);
    const auto compare = [&](const NDArray& got, const NDArray& reference, bool beside) {
      // Types that follow the input's are its type, others stay what they are; what comes beside a half may be wider.
      Dtype expected = reference.dtype() == f64 && !s.in.empty() ? type : reference.dtype();
      if (detail::takes_as_double(*s.entry, s.op(), type)) expected = f64;
      if (beside && (expected == f16 || expected == bf16) && got.dtype() == f32) expected = f32;
      if (got.dtype() != expected)
        found.expect(s, way, cat("the result is ", name_of(got.dtype()), ", expected ", name_of(expected)));
      else if (is_floating(expected))
        found.expect(s, way, difference(got, with_dtype(reference, expected), tolerance_of(type, loose)));
      else {
        // Whole numbers stay exact and wrap; what was computed in double saturates.
        const std::string wrapped = difference(got, with_dtype(with_dtype(reference, i64), expected), {0, 0});
        const std::string saturated = difference(got, with_dtype(reference, expected), {0, 0});
        found.expect(s, way, wrapped.empty() || saturated.empty() ? "" : wrapped);
      }
    };
    for (std::size_t k = 0; k < y.size(); ++k) compare(y[k], wanted[k], k != 0);
    for (std::size_t k = 0; k < states.size(); ++k) compare(states[k], wanted_states[k], true);
  }
}

STROP_VERIFY_IMPL void refused_dtypes(Findings& found, const Subject& s) {
  if (s.in.empty()) return;
  for (Dtype type : all_dtypes) {
    // A gradient takes integers as double.
    if (s.entry->dtypes.contains(type) || detail::computes_in_double(*s.entry, type)) continue;
    const std::string message = error_of([&] {
      for (const NDArray& a : call(s, with_dtype(s.in, type))) a.wait();
    });
    found.expect(s, cat("on ", name_of(type)), message.find(name_of(type)) != std::string::npos ? "" : message);
  }
}

STROP_VERIFY_IMPL void requests(Findings& found, const Subject& s, Tolerance tolerance) {
  const Arrays fresh = call(s);
  const auto all = [&](Request request) { return std::vector<Request>(fresh.size(), request); };
  expect_same(found, s, "into", call(s, s.in, filled_like(fresh, 77)), fresh, {0, 0});
  const Arrays added = call(s, s.in, filled_like(fresh, 3), all(Request::add));
  const Arrays untouched = call(s, s.in, filled_like(fresh, 5), all(Request::null));
  for (std::size_t k = 0; k < fresh.size(); ++k) {
    std::vector<double> sum = values(fresh[k]);
    const bool truth = fresh[k].dtype() == boolean;
    for (double& x : sum) x = truth ? 1 : x + 3;
    // Beyond 2⁵³ a sum in double says nothing of whole numbers.
    const std::vector<double> got = values(added[k]);
    for (std::size_t i = 0; i < sum.size() && !is_floating(fresh[k].dtype()); ++i)
      if (std::abs(sum[i]) > 0x1p53) sum[i] = got[i];
    const bool half = fresh[k].dtype() == f16 || fresh[k].dtype() == bf16;
    found.expect(s, "add_to", difference(added[k], sum, fresh[k].shape(), half ? Tolerance{1e-2, 1e-2} : tolerance));
    const std::vector<double> five(strop::detail::unsigned_size(fresh[k].size()), truth ? 1.0 : 5.0);
    found.expect(s, "null", difference(untouched[k], five, fresh[k].shape(), {0, 0}));
  }
}

STROP_VERIFY_IMPL void inplace(Findings& found, const Subject& s) {
  const Arrays fresh = call(s);
  const std::vector<int> mutated = s.signature().mutated;
  for (int i = 0; i < static_cast<int>(s.in.size()); ++i)
    for (int k = 0; k < static_cast<int>(fresh.size()); ++k) {
      const NDArray &x = strop::detail::element(s.in, i), &y = strop::detail::element(fresh, k);
      bool allowed = s.entry->is_map() && std::find(mutated.begin(), mutated.end(), i) == mutated.end();
      for (const Share& share : s.entry->inplace) allowed = allowed || (share.input == i && share.output == k);
      if (!allowed || x.storage() != dense || !(x.shape() == y.shape()) || x.dtype() != y.dtype()) continue;
      Arrays in, out(fresh.size());
      for (const NDArray& a : s.in) in.push_back(a.copy());
      strop::detail::element(out, k) = strop::detail::element(in, i);
      expect_same(found, s, cat("output ", k, " in input ", i), run(s, in, out, {}), fresh, {0, 0});
    }
}

STROP_VERIFY_IMPL void views(Findings& found, const Subject& s) {
  Arrays states;
  const Arrays fresh = call(s, s.in, {}, {}, &states);
  std::vector<Guarded> in, out;
  Arrays inputs, outputs;
  for (const NDArray& a : s.in) in.emplace_back(a), inputs.push_back(in.back().view);
  for (const NDArray& y : fresh) out.emplace_back(zeros(y.shape(), y.dtype())), outputs.push_back(out.back().view);
  run(s, inputs, outputs, {});
  for (std::size_t k = 0; k < fresh.size(); ++k) {
    found.expect(s, "into a view", difference(outputs[k], fresh[k], {0, 0}));
    found.expect(s, "views", out[k].intact() ? "" : cat("wrote beside output ", k));
  }
  const std::vector<int> mutated = s.signature().mutated;
  for (std::size_t i = 0; i < in.size(); ++i) {
    found.expect(s, "views", in[i].intact() ? "" : cat("wrote beside input ", i));
    const NDArray* wanted = &s.in[i];
    for (std::size_t m = 0; m < mutated.size(); ++m)
      if (mutated[m] == static_cast<int>(i)) wanted = &states[m];
    found.expect(s, cat("input ", i, " after the call"), difference(inputs[i], *wanted, {0, 0}));
  }
}

STROP_VERIFY_IMPL void empty_axis(Findings& found, const Subject& s) {
  Arrays in;
  const std::int64_t extent = s.in.empty() || s.in[0].ndim() == 0 ? 0 : s.in[0].shape()[0];
  if (extent == 0) return;
  const QuietFallbacks quiet;
  for (const NDArray& a : s.in) {
    Shape shape = a.shape();
    if (shape.ndim() != 0 && shape[0] == extent) shape[0] = 0;
    in.push_back(shape == a.shape() ? a : NDArray(shape, a.dtype(), cpu(), a.storage()));
  }
  std::string wrong;
  try {
    for (const NDArray& y : call(s, in)) wrong = y.shape().known() ? wrong : "a result without a shape";
  } catch (const Error& error) {
    if (!std::string_view(error.what()).starts_with(s.entry->snake)) wrong = error.what();
  }
  found.expect(s, "with an empty first axis", wrong);
}

STROP_VERIFY_IMPL void zero_size(Findings& found, const Subject& s) {
  for (const Shape& shape : {Shape{0}, Shape{2, 0, 3}, Shape{}}) {
    Arrays in;
    for (const NDArray& a : s.in) {
      NDArray x(shape, a.dtype());
      if (shape.ndim() == 0 && a.size() != 0) detail::copy_bytes(x.bytes(), a.bytes(), size_of(a.dtype()));
      in.push_back(x);
    }
    for (const NDArray& y : call(s, in))
      found.expect(s, cat("of shape ", shape), y.shape() == shape ? "" : cat("the result has shape ", y.shape()));
  }
}

STROP_VERIFY_IMPL void places(Findings& found, const Subject& s) {
  constexpr std::int64_t n = 37;
  for (Dtype type : {f32, f64}) {
    if (!s.entry->dtypes.contains(type)) continue;
    const std::int64_t bytes = size_of(type);
    Arrays many;
    for (const NDArray& a : s.in) {
      if (a.size() == 0) return;
      const NDArray from = with_dtype(a, type);
      NDArray x({n}, type);
      for (std::int64_t i = 0; i < n; ++i)
        detail::copy_bytes(x.bytes() + i * bytes, from.bytes() + (i % a.size()) * bytes, bytes);
      many.push_back(x);
    }
    const Arrays y = call(s, many);
    for (std::int64_t i = 0; i < n; ++i) {
      Arrays one;
      for (const NDArray& x : many) one.push_back(x.slice(i, i + 1));
      const Arrays alone = call(s, one);
      for (std::size_t k = 0; k < y.size(); ++k) {
        const std::int64_t width = size_of(y[k].dtype());
        const bool same = std::memcmp(alone[k].bytes(), y[k].bytes() + i * width, static_cast<std::size_t>(width)) == 0;
        found.expect(s, cat("element ", i, " of many"), same ? "" : "differs from the element alone");
      }
    }
  }
}

STROP_VERIFY_IMPL void gradient(Findings& found, const Subject& s, GradientTolerance tolerance) {
  if (s.in.empty()) return;
  struct Bound {
    const Subject& s;
    std::vector<bool> varies;
  } bound{s, std::vector<bool>(s.in.size(), true)};
  for (int i : s.signature().mutated) strop::detail::element(bound.varies, i) = false;
  for (std::size_t i = 0; i < s.in.size(); ++i)
    if (takes_whole(*s.entry, i)) bound.varies[i] = false;
  Arrays in;
  for (std::size_t i = 0; i < s.in.size(); ++i)
    if (bound.varies[i]) in.push_back(s.in[i]);
  const GradientCheck result = detail::compare_gradients(
      s.entry->snake, true, in, tolerance,
      [](const void* context, std::span<const NDArray> x) {
        const Bound& with = *static_cast<const Bound*>(context);
        Arrays all;
        std::size_t next = 0;
        for (std::size_t i = 0; i < with.s.in.size(); ++i)
          all.push_back(with.varies[i]                  ? x[next++]
                        : takes_whole(*with.s.entry, i) ? with.s.in[i]
                                                        : with_dtype(with.s.in[i], f64));
        Arrays y = call(with.s, all);  // hidden outputs have no head gradient
        y.resize(static_cast<std::size_t>(
            detail::count_outputs(*with.s.entry, with.s.op(), static_cast<int>(all.size())).second));
        return y;
      },
      &bound);
  found.expect(s, "gradient", result.passed ? "" : result.text);
}

STROP_VERIFY_IMPL void second_gradient(Findings& found, const Subject& s, GradientTolerance tolerance) {
  const GradientCheck result = detail::compare_gradients(
      s.entry->snake, s.entry->whole == 0, s.in, tolerance,
      [](const void* context, std::span<const NDArray> x) {
        const Subject& with = *static_cast<const Subject*>(context);
        record scope;
        const NDArray y = call(with, {x.begin(), x.end()})[0];
        return detail::collect_gradients(square(y), x, {.create_graph = true});
      },
      &s);
  found.expect(s, "gradient of the gradient", result.passed ? "" : result.text);
}

STROP_VERIFY_IMPL void battery(Findings& found, const Subject& s, Parts parts) {
  if (parts.dtypes) dtypes(found, s, any_dtype, parts.loose), refused_dtypes(found, s);
  requests(found, s, {1e-5 * parts.loose, 1e-6 * parts.loose});
  inplace(found, s);
  gradient_inplace(found, s);
  views(found, s);
  if (parts.same_shape) zero_size(found, s);
  if (parts.same_shape && s.entry->is_map() && !s.entry->mutates) places(found, s);
  if (parts.sparse) sparse(found, s);
  if (parts.gradient) gradient(found, s);
}

}  // namespace strop::inline v0::verify
