// SPDX-License-Identifier: Apache-2.0
/// \file
/// A shared library of operators of every kind, which another compiler's program loads.
#include <strop/library/export.hpp>
#include <strop/strop.hpp>

#include <string>
#include <vector>

using strop::Cpu, strop::Real, strop::View;

namespace {

/// A map: with b = 0 it keeps a sparse array's storage; its gradients are derived, of every order.
struct Curve {
  enum Kind : int { square, cube };
  strop::Required<float> a = {};
  float b = 0;
  Kind kind = square;
  std::string note = "a text that is longer than what a short string keeps";
  std::optional<int> more = {};
  static constexpr std::string_view aliases[] = {"library_curve"};
  static constexpr strop::Range range[] = {{"a", 0, 10}};
  static constexpr strop::ParamAlias param_aliases[] = {{"slope", "a"}};
  static constexpr strop::Note notes[] = {{"a", "the slope"}, {"data", "any numbers"}};
  static constexpr std::string_view doc = "a x^2 + b or a x^3 + b.";
  constexpr auto forward(auto x) const { return *a * (kind == square ? x * x : x * x * x) + b; }
};
[[maybe_unused]] constexpr strop::Op<Curve> curve;

/// Integers as double, where it is asked for.
struct Tenth {
  bool exact = false;
  static constexpr auto dtypes = strop::floating | strop::integral;
  bool integers_as_double() const { return !exact; }
  constexpr auto forward(auto x) const { return x / 10; }
};
[[maybe_unused]] constexpr strop::Op<Tenth> tenth;

/// A tensor operator with a stated gradient and a sentence of its own.
struct RowScale {
  float by = 2;
  static constexpr std::string_view inputs[] = {"data", "scale"};
  void infer_shape(strop::Shapes& s) const {
    s.expect_rank(0, 2);
    if (s.in(0).known()) s.set_in(1, {s.in(0)[0]});
    s.set_out(0, s.in(0));
  }
  double operations(std::span<const strop::Shape> in) const { return 2.0 * static_cast<double>(in[0].size()); }
  template <Real E>
  void forward(Cpu&, View<const E, 2> x, View<const E, 1> scale, View<E, 2> y) const {
    if (by < 0) strop::fail("row_scale: by is ", by, ", expected a number from 0");
    for (std::int64_t i = 0; i < x.shape()[0]; ++i)
      for (std::int64_t j = 0; j < x.shape()[1]; ++j) y(i, j) = E(by) * scale(i) * x(i, j);
  }
  template <Real E>
  void grad_use_in(Cpu&, View<const E, 2> dy, View<const E, 2> x, View<const E, 1> scale, View<E, 2> dx,
                   View<E, 1> dscale) const {
    for (std::int64_t i = 0; i < x.shape()[0]; ++i) {
      dscale(i) = 0;
      for (std::int64_t j = 0; j < x.shape()[1]; ++j) {
        dx(i, j) = E(by) * scale(i) * dy(i, j);
        dscale(i) += E(by) * x(i, j) * dy(i, j);
      }
    }
  }
};
[[maybe_unused]] constexpr strop::Op<RowScale> row_scale;

/// A tensor operator whose gradient is written with operators of the library, of one of two inputs.
struct Doubled {
  static constexpr std::string_view inputs[] = {"data", "ignored"}, gradient_reads[] = {"data"};
  template <Real E>
  void forward(Cpu&, View<const E, 1> x, View<const E, 1> /*ignored*/, View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = x(i) * x(i);
  }
  auto gradient(const auto& dy, const auto& x, const auto& /*ignored*/) const { return dy * x * 2; }
};
[[maybe_unused]] constexpr strop::Op<Doubled> doubled;

/// Keeps a state from forward to backward.
struct Largest {
  struct At {
    std::vector<std::int64_t> place = {};
  };
  void infer_shape(strop::Shapes& s) const { s.set_out(0, {1}); }
  At make_state(Cpu&, const strop::Shape& /*data*/) const { return {}; }
  void forward(Cpu&, At& at, View<const float, 1> x, View<float, 1> y) const {
    at.place = {0};
    for (std::int64_t i = 1; i < x.size(); ++i)
      if (x(i) > x(at.place[0])) at.place[0] = i;
    y(0) = x(at.place[0]);
  }
  void grad_use_none(Cpu&, At& at, View<const float, 1> dy, View<float, 1> dx) const {
    for (std::int64_t i = 0; i < dx.size(); ++i) dx(i) = i == at.place[0] ? dy(0) : 0;
  }
};
[[maybe_unused]] constexpr strop::Op<Largest> largest;

/// Draws from the program's random numbers.
struct Noise {
  static constexpr strop::Resources resources{.random = true};
  static constexpr bool zero_gradient = true;
  void forward(Cpu& ctx, View<const float, 1> x, View<float, 1> y) const {
    const strop::random::Stream stream = ctx.random();
    const auto space = ctx.temp<float>(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) space(i) = stream.uniform01(i);
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = space(i);
  }
};
[[maybe_unused]] constexpr strop::Op<Noise> noise;

/// Writes one of its inputs.
struct Decay {
  static constexpr std::string_view inputs[] = {"data", "state"}, mutates[] = {"state"};
  static constexpr bool zero_gradient = true;
  void forward(Cpu&, View<const float, 1> x, View<float, 1> state, View<float, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = state(i) = state(i) / 2 + x(i);
  }
};
[[maybe_unused]] constexpr strop::Op<Decay> decay;

/// Stored values above a bound, in a result whose size only the call knows.
struct Above {
  float bound = 0;
  static constexpr std::string_view inputs[] = {"data"};
  static constexpr int sparse_tensors = 2;
  static constexpr bool zero_gradient = true;
  bool infer_storage(strop::Storages& s) const { return s.in(0) == strop::csr && s.set_out(0, strop::csr); }
  template <Real E>
  void forward_sparse(Cpu&, strop::CsrView<const E> x, strop::CsrResult<E> y) const {
    std::vector<std::int64_t> kept;
    std::vector<std::int64_t> ends{0};
    for (std::int64_t i = 0; i < x.rows; ++i) {
      for (std::int64_t k = x.indptr[i]; k < x.indptr[i + 1]; ++k)
        if (x.data[k] > E(bound)) kept.push_back(k);
      ends.push_back(std::ssize(kept));
    }
    y.allocate(std::ssize(kept));
    for (std::int64_t k = 0; k < std::ssize(kept); ++k) {
      const std::int64_t from = kept[static_cast<std::size_t>(k)];
      y.data()[k] = x.data[from];
      y.indices()[k] = x.indices[from];
    }
    for (std::int64_t i = 0; i <= x.rows; ++i) y.indptr()[i] = ends[static_cast<std::size_t>(i)];
  }
};
[[maybe_unused]] constexpr strop::Op<Above> above;

/// Twice the stored rows, on whole arrays: in place it leaves them where they are.
struct Louder {
  static constexpr strop::Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;
  bool infer_storage(strop::Storages& s) const {
    return s.in(0) == strop::row_sparse && s.set_out(0, strop::row_sparse);
  }
  template <Real E>
  void forward(Cpu&, const strop::NDArray& x, strop::NDArray& y) const {
    if (y.nnz() != x.nnz() || y.pointer<E>() != x.pointer<const E>()) {
      y.allocate_stored(x.nnz());
      for (std::int64_t i = 0; i < x.nnz(); ++i)
        y.indices().pointer<std::int64_t>()[i] = x.indices().pointer<const std::int64_t>()[i];
    }
    for (std::int64_t i = 0; i < x.stored(); ++i) y.pointer<E>()[i] = 2 * x.pointer<const E>()[i];
  }
};
[[maybe_unused]] constexpr strop::Op<Louder> louder;

/// Any number of inputs, the names of which are numbered.
struct Longest {
  static constexpr bool zero_gradient = true;
  void infer_shape(strop::Shapes& s) const { s.set_out(0, {1}); }
  void forward(Cpu&, std::span<const View<const float, 1>> in, View<float, 1> y) const {
    y(0) = 0;
    for (const auto& x : in) y(0) = std::max(y(0), static_cast<float>(x.size()));
  }
};
[[maybe_unused]] constexpr strop::Op<Longest> longest;

}  // namespace

const strop_library* strop_operators() { return strop::export_operators(); }
