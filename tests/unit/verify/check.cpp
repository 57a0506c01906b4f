// SPDX-License-Identifier: Apache-2.0
/// \file
/// The suite of strop/verify.hpp on operators of a program: sound ones pass on inputs that it makes up, and each kind
/// of wrong one is found.
#include <strop/verify.hpp>

#include <doctest/doctest.h>
#include <cstdint>
#include <string>
#include <string_view>

using strop::Cpu, strop::NDArray, strop::Op, strop::Real, strop::Shape, strop::View;
namespace verify = strop::verify;

namespace {

// --- sound -----------------------------------------------------------------------------------------------------------

enum class Side { left, right };
struct Bend {
  static constexpr std::string_view name = "verify_bend";
  float lift = 0;
  bool twice = false;
  Side side = Side::left;
  constexpr auto forward(auto x) const { return (x * x + lift) * (twice ? 2 : 1) * (side == Side::left ? 1 : -1); }
};
constexpr Op<Bend> bend;
struct Blend {
  static constexpr std::string_view name = "verify_blend";
  constexpr auto forward(auto x, auto y) const { return x * y + 2 * x; }
};
constexpr Op<Blend> blend;
struct Chosen {  // by whole numbers, which stand first
  static constexpr std::string_view name = "verify_chosen";
  static constexpr auto dtypes = strop::floating | strop::integral;
  constexpr auto forward(strop::Integer auto label, auto x) const {
    return where(label > 3, 2 * x, x / (1 + abs(label)));
  }
};
constexpr Op<Chosen> chosen;

/// Shapes that follow from each other, and a parameter without a default.
struct Affine {
  static constexpr std::string_view name = "verify_affine", inputs[] = {"data", "scale", "shift"};
  strop::Required<int> times = {};
  void infer_shape(strop::Shapes& s) const {
    if (!s.in(0).known()) return;
    s.expect_rank(0, 2);
    s.set_in(1, {s.in(0)[1]});
    s.set_in(2, {s.in(0)[1]});
    s.set_out(0, s.in(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E, 2> x, View<const E, 1> scale, View<const E, 1> shift, View<E, 2> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const std::int64_t k = i % scale.size();
      y[i] = static_cast<E>(*times.value) * x[i] * scale[k] + shift[k];
    }
  }
  auto gradient(const auto& dy, const auto& x, const auto& scale, const auto&) const {
    const auto n = static_cast<double>(*times.value);
    return std::tuple(strop::broadcast_mul(dy, scale) * n, strop::sum(dy * x, {.axis = 0}) * n,
                      strop::sum(dy, {.axis = 0}));
  }
};
constexpr Op<Affine> affine;

// --- wrong -----------------------------------------------------------------------------------------------------------

struct WrongSlope {
  static constexpr std::string_view name = "verify_wrong_slope";
  constexpr auto forward(auto x) const { return x * x; }
  constexpr auto grad_use_in(auto dy, auto x) const { return dy * x; }
};
constexpr Op<WrongSlope> wrong_slope;
struct InPlace {  // says that it may, and reads what it has overwritten
  static constexpr std::string_view name = "verify_in_place";
  static constexpr strop::Share inplace[] = {{0, 0}};
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + x[x.size() - 1 - i];
  }
};
constexpr Op<InPlace> in_place;
struct GradientInPlace {  // the same of its gradient
  static constexpr std::string_view name = "verify_gradient_in_place";
  static constexpr strop::Share gradient_inplace[] = {{0, 0}};
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + x[x.size() - 1 - i];
  }
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i] + dy[dy.size() - 1 - i];
  }
};
constexpr Op<GradientInPlace> gradient_in_place;
struct WrongForm {  // of CSR: forgets the last value
  static constexpr std::string_view name = "verify_wrong_form";
  static constexpr int sparse_tensors = 2;
  bool infer_storage(strop::Storages& s) const { return s.in(0) == strop::csr && s.set_out(0, strop::csr); }
  template <Real E>
  void forward_sparse(Cpu&, strop::CsrView<const E> x, strop::CsrResult<E> y) const {
    y.allocate(x.nnz());
    for (std::int64_t k = 0; k < x.nnz(); ++k) {
      y.data()[k] = k + 1 == x.nnz() ? E(0) : x.data[k];
      y.indices()[k] = x.indices[k];
    }
    for (std::int64_t i = 0; i <= x.rows; ++i) y.indptr()[i] = x.indptr[i];
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
};
constexpr Op<WrongForm> wrong_form;
struct Untidy {  // looks at what its result held before
  static constexpr std::string_view name = "verify_untidy";
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = y[i] > E(76) && y[i] < E(78) ? x[i] + 1 : x[i];
  }
};
constexpr Op<Untidy> untidy;
struct Picky {
  static constexpr std::string_view name = "verify_picky";
  template <Real E>
  void forward(Cpu&, View<const E, 6>, View<E, 6>) const {}
};
constexpr Op<Picky> picky;

bool mentions(const verify::Findings& found, std::string_view text) {
  return found.text().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("verify: sound operators pass on inputs that are made up") {
  for (const verify::Findings& found :
       {verify::check(bend), verify::check(blend), verify::check(chosen), verify::check(affine)}) {
    CHECK_MESSAGE(found, found.text());
    CHECK(found.checks > 50);
  }
  CHECK(fmt::format("{}", verify::check("verify_blend")).ends_with(" checks, 0 failed"));
}

TEST_CASE("verify: rows are made up for every parameter, shape and rank that an operator takes") {
  const auto params = [](const strop::Entry& entry) {
    std::string all;
    for (const verify::Row& row : verify::random_rows(entry)) all += '{' + row.params + '}';
    return all;
  };
  const std::string bends = params(bend.entry());
  for (const std::string_view one : {"{}", "{lift=1}", "{twice=True}", "{side=right}"})
    CHECK_MESSAGE(bends.find(one) != std::string::npos, bends);
  CHECK(params(affine.entry()).starts_with("{times=1}"));
  bool broadcasts = false;
  for (const verify::Row& row : verify::random_rows(blend.entry()))
    broadcasts = broadcasts || !(row.in[0].shape == row.in[1].shape);
  CHECK(broadcasts);
}

TEST_CASE("verify: a wrong gradient, form, place or request is found and named") {
  const auto finds = [](const verify::Findings& found, std::string_view what) {
    CHECK_FALSE(found);
    CHECK_MESSAGE(mentions(found, what), found.text());
  };
  finds(verify::check(wrong_slope), "verify_wrong_slope, gradient");
  finds(verify::check(in_place), "verify_in_place, output 0 in input 0");
  finds(verify::check(gradient_in_place), "verify_gradient_in_place, gradient 0 in argument 0");
  finds(verify::check(wrong_form), "verify_wrong_form, on csr");
  finds(verify::check(untidy), "verify_untidy, into");
}

TEST_CASE("verify: rows of a program's own") {
  const NDArray x = strop::array({{1, 2}, {3, 4}});
  verify::Row row{"", "times=3", {verify::sample(x), verify::Sample{{2}}, verify::Sample{{2}, -1, 1}}};
  const verify::Findings given = verify::check(affine, {row});
  CHECK_MESSAGE(given, given.text());
  CHECK(verify::values(verify::sample(x).make(strop::f32, 0)) == std::vector<double>{1, 2, 3, 4});
  row.params = "times=three";
  CHECK(mentions(verify::check(affine, {row}), "{times=three}"));
  verify::rows().push_back({"verify_affine", "times=2", row.in});
  CHECK(verify::rows_of(affine.entry()).size() == 1);
  const verify::Findings known = verify::check(affine);
  CHECK_MESSAGE(known, known.text());
  verify::rows().pop_back();
  CHECK(mentions(verify::check(picky), "verify_picky: no inputs were found that it takes"));
}

TEST_CASE("verify: all operators of the program are found, and no others") {
  const verify::Findings found = verify::check_operators();
  CHECK_FALSE(found);
  for (const std::string_view name :
       {"verify_wrong_slope", "verify_in_place", "verify_gradient_in_place", "verify_wrong_form", "verify_untidy"})
    CHECK(mentions(found, name));
  for (const std::string_view name : {"verify_bend", "verify_blend", "verify_chosen", "verify_affine"})
    CHECK_FALSE(mentions(found, name));
}
