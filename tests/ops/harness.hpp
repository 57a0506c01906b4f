// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the tests of operators share: one call, run in every way that the operator's entry claims to serve.
///
/// `battery(subject(op, {inputs}, params))` compares types, requests, in-place, views between sentinels, zero sizes,
/// sparse storages and the gradient; each check_… can be called alone. Nothing here is a template over the operator.
#pragma once
#include <doctest/doctest.h>
#include <strop/strop.hpp>

#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ops_test {

using strop::cat;
using strop::Dtype;
using strop::NDArray;
using strop::Request;
using strop::Shape;
using strop::Storage;
using Arrays = std::vector<NDArray>;

/// One call: an operator with its parameters and inputs. Inputs are dense, in any type; the battery converts them.
struct Subject {
  const strop::Entry* entry;
  std::shared_ptr<const void> params;
  Arrays in;

  std::string name() const { return std::string(entry->name); }
  const void* op() const { return params.get(); }
};

template <class T, class When>
Subject subject(const strop::Op<T, When>& op, Arrays in, T params = {}) {
  return {&op.entry(), std::make_shared<T>(std::move(params)), std::move(in)};
}

struct Tolerance {
  double rtol = 1e-5, atol = 1e-6;
};

// --- calling --------------------------------------------------------------------------------------------------------

/// Runs the operator on other inputs than the subject's own; gives all outputs.
inline Arrays call(const Subject& s, const Arrays& in, Arrays out = {}, std::vector<Request> requests = {}) {
  std::vector<const NDArray*> inputs;
  for (const NDArray& a : in) inputs.push_back(&a);
  const auto outputs =
      static_cast<std::size_t>(strop::detail::count_outputs(*s.entry, s.op(), static_cast<int>(in.size())).first);
  out.resize(outputs);
  requests.resize(outputs, Request::write);
  strop::detail::dispatch(*s.entry, s.op(), inputs, out, requests);
  return out;
}
inline Arrays call(const Subject& s) { return call(s, s.in); }

inline NDArray with_dtype(const NDArray& a, Dtype dtype) {
  NDArray y(a.shape(), dtype);
  strop::detail::convert_elements(a.dtype(), a.bytes(), dtype, y.bytes(), a.size());
  return y;
}
inline Arrays with_dtype(const Arrays& in, Dtype dtype) {
  Arrays out;
  for (const NDArray& a : in) out.push_back(with_dtype(a, dtype));
  return out;
}
inline std::vector<double> values(const NDArray& a) { return a.to_vector<double>(); }

// --- comparing ------------------------------------------------------------------------------------------------------

/// Where two arrays differ most, as text; empty where they agree. NaN equals NaN, an infinity itself.
inline std::string difference(const NDArray& got, const std::vector<double>& wanted, const Shape& shape,
                              Tolerance tolerance = {}) {
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
inline std::string difference(const NDArray& got, const NDArray& wanted, Tolerance tolerance = {}) {
  return difference(got, values(wanted), wanted.shape(), tolerance);
}

/// One assertion that says which operator, in which way, and what came.
inline void expect(const Subject& s, const std::string& way, const std::string& wrong) {
  CHECK_MESSAGE(wrong.empty(), s.name(), ", ", way, ": ", wrong);
}
inline void expect_same(const Subject& s, const std::string& way, const Arrays& got, const Arrays& wanted,
                        Tolerance tolerance = {}) {
  for (std::size_t k = 0; k < wanted.size(); ++k) expect(s, way, difference(got[k], wanted[k], tolerance));
}

/// The first output against literal values.
inline void check_values(const Subject& s, const std::vector<double>& wanted, Tolerance tolerance = {}) {
  const NDArray y = call(s)[0];
  CHECK_MESSAGE(y.size() == static_cast<std::int64_t>(wanted.size()), s.name());
  expect(s, "values", difference(y, wanted, y.shape(), tolerance));
}

/// The message of the strop::Error that the call throws.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const strop::Error& e) {
    return e.what();
  }
  return "no error";
}

// --- the battery ----------------------------------------------------------------------------------------------------

inline bool is_half(Dtype type) { return type == strop::f16 || type == strop::bf16; }
inline Tolerance tolerance_of(Dtype type) {
  if (type == strop::f64) return {1e-12, 1e-12};
  if (type == strop::f16) return {2e-3, 2e-3};
  if (type == strop::bf16) return {1.6e-2, 1.6e-2};
  return {2e-6, 1e-6};
}

/// Every type that the entry lists, against the same inputs in double. An integer result is the truncated one.
inline void check_dtypes(const Subject& s) {
  for (Dtype type : strop::all_dtypes) {
    if (!s.entry->dtypes.contains(type) || type == strop::f64) continue;
    const Arrays in = with_dtype(s.in, type);
    const Arrays y = call(s, in);
    if (!s.entry->dtypes.contains(strop::f64)) continue;
    const Arrays reference = call(s, with_dtype(in, strop::f64));
    for (std::size_t k = 0; k < y.size(); ++k) {
      CHECK_MESSAGE(y[k].dtype() == type, s.name(), " on ", strop::name_of(type));
      if (strop::is_floating(type)) {
        expect(s, cat("on ", strop::name_of(type)),
               difference(y[k], with_dtype(reference[k], type), tolerance_of(type)));
      } else {
        const NDArray whole = with_dtype(with_dtype(reference[k], strop::i64), type);
        expect(s, cat("on ", strop::name_of(type)), difference(y[k], whole, {0, 0}));
      }
    }
  }
}

/// Every type that the entry does not list is refused.
inline void check_refused_dtypes(const Subject& s) {
  for (Dtype type : strop::all_dtypes) {
    if (s.entry->dtypes.contains(type)) continue;
    const std::string message = error_of([&] { call(s, with_dtype(s.in, type)); });
    CHECK_MESSAGE(message.find(std::string(strop::name_of(type))) != std::string::npos, s.name(), " on ",
                  strop::name_of(type), ": ", message);
  }
}

/// write, add and null into arrays that exist.
inline void check_requests(const Subject& s, Tolerance tolerance = {}) {
  const Arrays fresh = call(s);
  Arrays targets, sums;
  for (const NDArray& y : fresh) {
    targets.push_back(strop::full(y.shape(), 77, y.dtype()));
    NDArray sum(y.shape(), strop::f64);
    const std::vector<double> x = values(y);
    for (std::size_t i = 0; i < x.size(); ++i) sum.pointer<double>()[i] = x[i] + 3;
    sums.push_back(sum);
  }
  expect_same(s, "into", call(s, s.in, targets), fresh, {0, 0});
  for (std::size_t k = 0; k < fresh.size(); ++k) targets[k] = strop::full(fresh[k].shape(), 3, fresh[k].dtype());
  expect_same(s, "add_to", call(s, s.in, targets, std::vector<Request>(fresh.size(), Request::add)), sums, tolerance);
  for (std::size_t k = 0; k < fresh.size(); ++k) targets[k] = strop::full(fresh[k].shape(), 5, fresh[k].dtype());
  const Arrays untouched = call(s, s.in, targets, std::vector<Request>(fresh.size(), Request::null));
  for (std::size_t k = 0; k < fresh.size(); ++k)
    expect(s, "null",
           difference(untouched[k], std::vector<double>(static_cast<std::size_t>(fresh[k].size()), 5.0),
                      fresh[k].shape(), {0, 0}));
}

/// An output in the memory of an input, where the operator allows it.
inline void check_inplace(const Subject& s) {
  const Arrays fresh = call(s);
  for (int i = 0; i < static_cast<int>(s.in.size()); ++i)
    for (int k = 0; k < static_cast<int>(fresh.size()); ++k) {
      const NDArray &x = s.in[static_cast<std::size_t>(i)], &y = fresh[static_cast<std::size_t>(k)];
      bool allowed = s.entry->is_map();
      for (const strop::Share& share : s.entry->inplace) allowed = allowed || (share.input == i && share.output == k);
      if (!allowed || !(x.shape() == y.shape()) || x.dtype() != y.dtype()) continue;
      Arrays in, out(fresh.size());
      for (const NDArray& a : s.in) in.push_back(a.copy());
      out[static_cast<std::size_t>(k)] = in[static_cast<std::size_t>(i)];
      expect_same(s, cat("output ", k, " in input ", i), call(s, in, out), fresh, {0, 0});
    }
}

/// A view of `a`'s shape between sentinels, at an odd offset; `whole` is the array around it.
struct Guarded {
  NDArray whole, view;
  explicit Guarded(const NDArray& a) : whole(strop::full({a.size() + 8}, 99, a.dtype())) {
    view = whole.slice(3, 3 + a.size()).reshape(a.shape());
    if (a.size() != 0)
      std::memcpy(view.bytes(), a.bytes(), static_cast<std::size_t>(a.size() * strop::size_of(a.dtype())));
  }
  bool intact() const {
    const std::vector<double> x = values(whole), sentinel = values(strop::full({1}, 99, whole.dtype()));
    for (std::size_t i = 0; i < x.size(); ++i)
      if ((i < 3 || i + 5 >= x.size()) && x[i] != sentinel[0]) return false;
    return true;
  }
};

/// Inputs and outputs that are views: the same results, nothing written beside them, inputs unchanged.
inline void check_views(const Subject& s) {
  const Arrays fresh = call(s);
  std::vector<Guarded> in, out;
  Arrays inputs, outputs;
  for (const NDArray& a : s.in) in.emplace_back(a), inputs.push_back(in.back().view);
  for (const NDArray& y : fresh)
    out.emplace_back(strop::zeros(y.shape(), y.dtype())), outputs.push_back(out.back().view);
  call(s, inputs, outputs);
  for (std::size_t k = 0; k < fresh.size(); ++k) {
    expect(s, "into a view", difference(outputs[k], fresh[k], {0, 0}));
    CHECK_MESSAGE(out[k].intact(), s.name(), " wrote beside output ", k);
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    CHECK_MESSAGE(in[i].intact(), s.name(), " wrote beside input ", i);
    if (!s.entry->mutates) expect(s, "its input", difference(inputs[i], s.in[i], {0, 0}));
  }
}

/// No elements, and no dimensions. For operators whose outputs have the shape of their inputs.
inline void check_zero_size(const Subject& s) {
  for (const Shape& shape : {Shape{0}, Shape{2, 0, 3}, Shape{}}) {
    Arrays in;
    for (const NDArray& a : s.in) {
      NDArray x(shape, a.dtype());
      if (shape.ndim() == 0 && a.size() != 0)
        std::memcpy(x.bytes(), a.bytes(), static_cast<std::size_t>(strop::size_of(a.dtype())));
      in.push_back(x);
    }
    for (const NDArray& y : call(s, in))
      CHECK_MESSAGE(y.shape() == shape, s.name(), " of shape ", strop::to_text(shape));
  }
}

/// Of a map: an element among many is, bit for bit, the element alone, whatever its place.
inline void check_places(const Subject& s) {
  constexpr std::int64_t n = 37;
  for (Dtype type : {strop::f32, strop::f64}) {
    if (!s.entry->dtypes.contains(type)) continue;
    Arrays many;
    for (const NDArray& a : s.in) {
      if (a.size() == 0) return;
      const NDArray from = with_dtype(a, type);
      NDArray x({n}, type);
      for (std::int64_t i = 0; i < n; ++i)
        std::memcpy(x.bytes() + i * strop::size_of(type), from.bytes() + (i % a.size()) * strop::size_of(type),
                    static_cast<std::size_t>(strop::size_of(type)));
      many.push_back(x);
    }
    const Arrays y = call(s, many);
    for (std::int64_t i = 0; i < n; ++i) {
      Arrays one;
      for (const NDArray& x : many) one.push_back(x.slice(i, i + 1));
      const Arrays alone = call(s, one);
      for (std::size_t k = 0; k < y.size(); ++k)
        CHECK_MESSAGE(std::memcmp(alone[k].bytes(), y[k].bytes() + i * strop::size_of(type),
                                  static_cast<std::size_t>(strop::size_of(type))) == 0,
                      s.name(), " at ", i);
    }
  }
}

/// Restores the way of fallbacks.
class QuietFallbacks {
 public:
  QuietFallbacks() { strop::set_fallback(strop::Fallback::silent); }
  ~QuietFallbacks() { strop::set_fallback(strop::Fallback::warn); }
};

/// Every combination of dense, CSR and row-sparse inputs of two dimensions: the dense result, in the storage that
/// follows from the body where the operator is a map, with a sound structure; also into a dense and added to a dense
/// array.
inline void check_sparse(const Subject& s, Tolerance tolerance = {}) {
  const QuietFallbacks quiet;
  const Arrays reference = call(s);
  std::size_t combinations = 1;
  for (std::size_t i = 0; i < s.in.size(); ++i) combinations *= 3;
  constexpr Storage kinds[] = {strop::dense, strop::csr, strop::row_sparse};
  for (std::size_t c = 1; c < combinations; ++c) {
    Arrays in;
    std::vector<Storage> storages;
    std::string way = "on";
    bool agree = true;
    std::size_t digits = c;
    for (const NDArray& a : s.in) {
      const Storage kind = kinds[digits % 3];
      digits /= 3;
      if (kind != strop::dense && a.ndim() != 2) return;
      in.push_back(strop::detail::cast_storage(a, kind));
      storages.push_back(kind);
      way += cat(' ', strop::name_of(kind));
      agree = agree && a.shape() == s.in[0].shape();
    }
    const Arrays y = call(s, in);
    for (std::size_t k = 0; k < y.size(); ++k) {
      if (s.entry->is_map() && agree) {
        const Dtype computed = strop::detail::compute_type(s.entry->loops, in[0].dtype());
        const Storage claimed = strop::detail::infer_map_storage(*s.entry, s.op(), computed, storages).storage;
        CHECK_MESSAGE(y[k].storage() == claimed, s.name(), ' ', way, " gave ", strop::name_of(y[k].storage()));
      }
      if (y[k].storage() != strop::dense) y[k].check_format();
      expect(s, way, difference(y[k], reference[k], tolerance));
      Arrays target(y.size());
      target[k] = strop::full(y[k].shape(), 2, y[k].dtype());
      call(s, in, target);
      expect(s, way + " into dense", difference(target[k], reference[k], tolerance));
    }
  }
}

/// backward against central differences, in double.
inline void check_gradient(const Subject& s, strop::GradientTolerance tolerance = {}) {
  const strop::GradientCheck result = strop::detail::compare_gradients(
      s.entry->snake, s.in, tolerance,
      [](const void* context, std::span<const NDArray> x) {
        const Subject& of = *static_cast<const Subject*>(context);
        return call(of, Arrays(x.begin(), x.end()));
      },
      &s);
  CHECK_MESSAGE(result.passed, result.text);
}

/// Which parts of the battery apply.
struct Parts {
  bool gradient = true;    // the inputs lie where the function is differentiable
  bool dtypes = true;      // the inputs are exact in every type that is served
  bool sparse = true;      // the values agree with zero · anything = zero
  bool same_shape = true;  // outputs have the shape of the inputs, whatever it is
};

inline void battery(const Subject& s, Parts parts = {}) {
  if (parts.dtypes) check_dtypes(s), check_refused_dtypes(s);
  check_requests(s);
  check_inplace(s);
  check_views(s);
  if (parts.same_shape) check_zero_size(s);
  if (parts.same_shape && s.entry->is_map()) check_places(s);
  if (parts.sparse) check_sparse(s);
  if (parts.gradient) check_gradient(s);
}

}  // namespace ops_test
