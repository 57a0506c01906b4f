// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a struct states besides forward: gradients of several results, inference on maps, aux, sparse results by value.
#include <strop/ops/reduce.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

using testing::sentence, strop::array, strop::NDArray, strop::Op, strop::csr, strop::dense;

namespace {

// x ↦ x³, 2x and the gradient, stated in every form.
struct Derived {
  static constexpr std::string_view name = "stated_derived";
  constexpr auto forward(auto x) const { return std::tuple(x * x * x, 2 * x); }
};
struct UseIn {
  static constexpr std::string_view name = "stated_use_in";
  constexpr auto forward(auto x) const { return std::tuple(x * x * x, 2 * x); }
  constexpr auto grad_use_in(auto dy, auto dz, auto x) const { return dy * 3 * x * x + dz * 2; }
};
struct UseOut {
  static constexpr std::string_view name = "stated_use_out";
  constexpr auto forward(auto x) const { return std::tuple(x * x * x, 2 * x); }
  constexpr auto grad_use_out(auto dy, auto dz, auto, auto z) const { return dy * 0.75f * z * z + dz * 2; }
};
struct UseInOut {
  static constexpr std::string_view name = "stated_use_in_out";
  constexpr auto forward(auto x) const { return std::tuple(x * x * x, 2 * x); }
  constexpr auto grad_use_in_out(auto dy, auto dz, auto x, auto, auto z) const { return dy * 1.5f * x * z + dz * 2; }
};
struct Linear {
  static constexpr std::string_view name = "stated_linear";
  constexpr auto forward(auto x, auto y) const { return std::tuple(x + y, 2 * x - y); }
  constexpr auto grad_use_none(auto da, auto db) const { return std::tuple(da + 2 * db, da - db); }
};
constexpr Op<Derived> derived;
constexpr Op<UseIn> use_in;
constexpr Op<UseOut> use_out;
constexpr Op<UseInOut> use_in_out;
constexpr Op<Linear> linear;
static_assert(strop::HasGradUseIn<UseIn> && strop::HasGradUseOut<UseOut> && strop::HasGradUseInOut<UseInOut> &&
              strop::HasGradUseNone<Linear>);
static_assert(strop::check::gradient(UseOut{}, 2) == 14 && strop::check::keeps(Linear{}) == strop::Keeps::none);

/// Gradients of order 1 and 2 of y + 10 · z in x, where (y, z) = f(x).
template <class F>
std::vector<std::vector<float>> slopes(F f) {
  NDArray x = array({2, 3});
  x.attach_grad();
  strop::record scope;
  const std::vector<NDArray> both = f(x);
  const NDArray first = strop::grad(strop::sum(both[0] + 10 * both[1]), {x}, {.create_graph = true})[0];
  const NDArray second = strop::grad(strop::sum(first), {x})[0];
  return {first.to_vector<float>(), second.to_vector<float>()};
}

// On sparse views, and nothing said of storages.
struct RowLengths {
  static constexpr std::string_view name = "stated_row_lengths";
  void infer_shape(strop::Shapes& s) const {
    if (s.in(0).has_rank()) s.set_out(0, {s.in(0)[0]});
  }
  template <strop::Real E>
  void forward(strop::Cpu&, strop::CsrView<const E> x, strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.rows; ++i) y[i] = static_cast<E>(x.indptr[i + 1] - x.indptr[i]);
  }
};
constexpr Op<RowLengths> row_lengths;
struct FirstOfRows {
  static constexpr std::string_view name = "stated_first_of_rows";
  template <strop::Real E>
  void forward(strop::Cpu&, strop::CsrView<const E> x, strop::CsrResult<E> y) const {
    y.allocate(x.rows);
    for (std::int64_t i = 0; i <= x.rows; ++i) y.indptr()[i] = i;
    for (std::int64_t i = 0; i < x.rows; ++i) y.data()[i] = E(i + 1), y.indices()[i] = 0;
  }
};
constexpr Op<FirstOfRows> first_of_rows;
// Parameters that are called like members.
struct Scaled {
  static constexpr std::string_view name = "stated_scaled";
  int visible = 3;
  double gradient = 2;
  float grad = 1;
  std::string doc = "a text";
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 1> x, strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] * static_cast<E>(visible * gradient) * static_cast<E>(grad);
  }
};
constexpr Op<Scaled> scaled;
struct Labelled {
  std::string name = "a text";
  bool same_shape = true, zero_gradient = true, accumulates = false;
  float sparse_tensors = 2;
  constexpr auto forward(auto x, auto y) const { return x * y * sparse_tensors; }
};
constexpr Op<Labelled> labelled;
// A statement that is false states nothing.
struct NotZero {
  static constexpr bool zero_gradient = false;
  constexpr auto forward(auto x) const { return x * x; }
};
constexpr Op<NotZero> not_zero;
// Several results, and a gradient that is written with operators.
struct LineAndSquare {
  constexpr auto forward(auto x) const { return std::tuple(2 * x, x * x); }
  template <class Node>
  auto gradient(std::span<const Node> dy, const Node& x) const {
    return dy[0] * 2 + dy[1] * x * 2;
  }
};
constexpr Op<LineAndSquare> line_and_square;
// One that looks at no value of its input.
struct Thrice {
  static constexpr strop::Keeps gradient_keeps = strop::Keeps::none;
  constexpr auto forward(auto x) const { return 3 * x; }
  auto gradient(const auto& dy, const auto& x) const { return strop::broadcast_like(dy, x) * 3; }
};
constexpr Op<Thrice> thrice;
// Names and numbers of tensors that follow from the parameters.
struct Copies {
  static constexpr std::string_view name = "stated_copies";
  std::int64_t n = 2;
  bool weight = false;
  auto output_count() const { return n; }
  std::vector<std::string_view> inputs() const {
    return weight ? std::vector<std::string_view>{"weight"} : std::vector<std::string_view>{"bias"};
  }
  void infer_shape(strop::Shapes& s) const {
    for (int i = 0; i < s.outputs(); ++i) s.set_out(i, s.in(0));
  }
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 1> x, std::span<const strop::View<E, 1>> ys) const {
    for (const auto& y : ys)
      for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
};
constexpr Op<Copies> copies;
static_assert(strop::NamesArguments<Copies>);
// A map with a result that is not seen, and a note on one that has its usual name.
struct Hidden {
  static constexpr std::string_view name = "stated_hidden";
  static constexpr int visible = 1;
  static constexpr strop::Note notes[] = {{"output1", "is not seen"}};
  constexpr auto forward(auto x) const { return std::tuple(x * 2, x + 1); }
};
constexpr Op<Hidden> hidden;
// A written input that stands before the one that is differentiated.
struct StateFirst {
  static constexpr std::string_view name = "stated_state_first", inputs[] = {"state", "x"}, mutates[] = {"state"};
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<E, 1> state, strop::View<const E, 1> x, strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      y[i] = x[i] * 3;
      state[i] += 1;
    }
  }
  template <strop::Real E>
  void grad_use_none(strop::Cpu&, strop::View<const E, 1> dy, strop::View<E, 1> dx) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i] * 3;
  }
};
constexpr Op<StateFirst> state_first;
// A typed view and then a list of whole arrays: scale · Σ parts.
struct ScaledSum {
  static constexpr std::string_view name = "stated_scaled_sum";
  void infer_shape(strop::Shapes& s) const { s.set_out(0, s.in(1)); }
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 1> scale, std::span<const NDArray> parts, strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < y.size(); ++i) {
      y[i] = 0;
      for (const NDArray& part : parts) y[i] += scale[0] * part.view<const E, 1>()[i];
    }
  }
  template <strop::Real E>
  void grad_use_in(strop::Cpu&, strop::View<const E, 1> dy, strop::View<const E, 1> scale,
                   std::span<const NDArray> parts, strop::View<E, 1> dscale, std::span<NDArray> dparts) const {
    dscale[0] = 0;
    for (std::size_t k = 0; k < parts.size(); ++k)
      for (std::int64_t i = 0; i < dy.size(); ++i) {
        dscale[0] += dy[i] * parts[k].view<const E, 1>()[i];
        dparts[k].view<E, 1>()[i] = dy[i] * scale[0];
      }
  }
};
constexpr Op<ScaledSum> scaled_sum;
// A list of views that stands before a view: Σ parts[k]² · scale², with a gradient that reads everything.
struct SquaredSum {
  static constexpr std::string_view name = "stated_squared_sum";
  template <strop::Real E>
  void forward(strop::Cpu&, std::span<const strop::View<const E, 1>> parts, strop::View<const E, 1> scale,
               strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < y.size(); ++i) {
      y[i] = 0;
      for (const auto& part : parts) y[i] += part[i] * part[i] * scale[i] * scale[i];
    }
  }
  template <strop::Real E>
  void grad_use_in_out(strop::Cpu&, strop::View<const E, 1> dy, std::span<const strop::View<const E, 1>> parts,
                       strop::View<const E, 1> scale, strop::View<const E, 1> y,
                       std::span<const strop::View<E, 1>> dparts, strop::View<E, 1> dscale) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) {
      dscale[i] = dy[i] * 2 * y[i] / scale[i];
      for (std::size_t k = 0; k < parts.size(); ++k) dparts[k][i] = dy[i] * 2 * parts[k][i] * scale[i] * scale[i];
    }
  }
};
constexpr Op<SquaredSum> squared_sum;
// Of a list that stands before inputs of names of their own, the last of which is written.
struct Counted {
  static constexpr std::string_view name = "stated_counted", inputs[] = {"parts", "scale", "state"},
                                    mutates[] = {"state"};
  void forward(strop::Cpu&, std::span<const strop::View<const float, 1>> parts, strop::View<const float, 1> scale,
               strop::View<float, 1> state, strop::View<float, 1> y) const {
    state[0] += static_cast<float>(parts.size());
    y[0] = scale[0];
    for (const auto& part : parts) y[0] += part[0];
  }
};
constexpr Op<Counted> counted;
// A list of results, and so of head gradients: x, x², x³, …
struct Powers {
  static constexpr std::string_view name = "stated_powers";
  std::int64_t n = 3;
  auto output_count() const { return n; }
  void infer_shape(strop::Shapes& s) const {
    for (int k = 0; k < s.outputs(); ++k) s.set_out(k, s.in(0));
  }
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 1> x, std::span<const strop::View<E, 1>> ys) const {
    for (std::int64_t i = 0; i < x.size(); ++i)
      for (std::size_t k = 0; k < ys.size(); ++k) ys[k][i] = k == 0 ? x[i] : ys[k - 1][i] * x[i];
  }
  template <strop::Real E>
  void grad_use_in_out(strop::Cpu&, std::span<const strop::View<const E, 1>> dys, strop::View<const E, 1> x,
                       std::span<const strop::View<const E, 1>> ys, strop::View<E, 1> dx) const {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      dx[i] = 0;
      for (std::size_t k = 0; k < ys.size(); ++k) dx[i] += dys[k][i] * static_cast<E>(k + 1) * ys[k][i] / x[i];
    }
  }
};
constexpr Op<Powers> powers;
// infer_storage that only a run can ask.
struct NotRowSparse {
  constexpr auto forward(auto x) const { return x * 2; }
  bool infer_storage(strop::Storages& s) const { return s.in(0) != strop::row_sparse; }
};
static_assert(strop::check::storage(NotRowSparse{}, csr) == csr);

}  // namespace

TEST_CASE("a stated gradient of a map with two results takes both head gradients, to order 2") {
  const std::vector<std::vector<float>> expected{{32, 47}, {12, 18}};
  CHECK(slopes(derived) == expected);
  CHECK(slopes(use_in) == expected);
  CHECK(slopes(use_out) == expected);
  CHECK(slopes(use_in_out) == expected);
  const NDArray x = array({2, 3}), y = array({5, 7});
  for (const auto& op : {strop::check_gradient(use_in, {x}), strop::check_gradient(use_out, {x}),
                         strop::check_gradient(use_in_out, {x}), strop::check_gradient(linear, {x, y})})
    CHECK(static_cast<bool>(op));
}

TEST_CASE("forward mode takes a stated gradient result by result") {
  const strop::Gradient<UseIn> gradient{};
  CHECK(gradient.forward(1.0, 0.0, 2.0) == 12);
  const auto [y, z, dy, dz] = strop::Tangent<UseIn>{}.forward(2.0, 5.0);
  CHECK((y == 8 && z == 4 && dy == 60 && dz == 10));
  const auto [a, b, da, db] = strop::Tangent<Linear>{}.forward(2.0, 3.0, 1.0, 10.0);
  CHECK((a == 5 && b == 1 && da == 11 && db == -8));
}

namespace {

struct Matrices {
  static constexpr std::string_view name = "stated_matrices";
  void infer_shape(strop::Shapes& s) const { s.expect_rank(0, 2); }
  constexpr auto forward(auto x) const { return 2 * x; }
};
struct SevenLong {
  static constexpr std::string_view name = "stated_seven_long";
  void infer_shape(strop::Shapes& s) const { s.set_out(0, {7}); }
  constexpr auto forward(auto x) const { return 2 * x; }
};
struct Doubles {
  static constexpr std::string_view name = "stated_doubles";
  void infer_type(strop::Types& t) const { t.set_out(0, strop::f64); }
  constexpr auto forward(auto x) const { return 2 * x; }
};
struct StaysDense {
  static constexpr std::string_view name = "stated_stays_dense";
  constexpr bool infer_storage(strop::Storages& s) const { return s.set_out(0, dense); }
  constexpr auto forward(auto x) const { return 2 * x; }
};
struct FallsBack {
  static constexpr std::string_view name = "stated_falls_back";
  constexpr bool infer_storage(strop::Storages&) const { return false; }
  constexpr auto forward(auto x) const { return 2 * x; }
};
struct StaysSparse {
  int add = 0;
  static constexpr std::string_view name = "stated_stays_sparse";
  constexpr bool infer_storage(strop::Storages& s) const { return s.set_out(0, s.in(0)); }
  constexpr auto forward(auto x) const { return 2 * x + add; }
};
constexpr Op<Matrices> matrices;
constexpr Op<SevenLong> seven_long;
constexpr Op<Doubles> doubles;
constexpr Op<StaysDense> stays_dense;
constexpr Op<FallsBack> falls_back;
constexpr Op<StaysSparse> stays_sparse;
static_assert(strop::check::storage(StaysDense{}, csr) == dense && strop::check::storage(FallsBack{}, csr) == dense &&
              strop::check::storage(StaysSparse{}, csr) == csr);

}  // namespace

TEST_CASE("infer_shape and infer_type of a map have their say after what is derived") {
  const NDArray x = array({1, 2});
  CHECK(strop::allclose(matrices(array({{1, 2}})), array({{2, 4}})));
  CHECK(sentence([&] { (void)matrices(x); }) == "stated_matrices: input 'data' has shape (2,), expected 2 dimensions");
  CHECK(sentence([&] { (void)seven_long(x); }) == "stated_seven_long: output 'output' has shape (2,), expected (7,)");
  CHECK(sentence([&] { (void)doubles(x); }) == "stated_doubles: output 'output' is float32, expected float64");
  CHECK(doubles(x.to(strop::f64)).dtype() == strop::f64);
  CHECK(seven_long(strop::var("x")).infer_shape({}).args == std::vector<strop::Shape>{{7}});
}

TEST_CASE("infer_storage of a map may say dense, or ask for dense copies; a storage that does not follow is refused") {
  const NDArray x = array({{0, 1}, {2, 0}}).to(csr), y = array({{0, 2}, {4, 0}});
  strop::set_fallback(strop::Fallback::silent);
  CHECK(stays_dense(x).storage() == dense);
  CHECK(strop::allclose(stays_dense(x), y));
  CHECK(falls_back(x).storage() == dense);
  CHECK(strop::allclose(falls_back(x), y));
  CHECK(stays_sparse(x).storage() == csr);
  CHECK(strop::allclose(stays_sparse(x), y));
  CHECK(sentence([&] { (void)stays_sparse(x, {.add = 1}); }) ==
        "stated_stays_sparse: infer_storage sets output 0 to csr, expected dense: the result is not zero where nothing "
        "is stored");
  CHECK(stays_dense(strop::var("x")).infer_storage({{"x", csr}}).outputs == std::vector<strop::Storage>{dense});
  strop::set_fallback(strop::Fallback::error);
  CHECK(strop::allclose(stays_dense(x), y));  // as it says
  CHECK(sentence([&] { (void)falls_back(x); }).find("infer_storage of the operator asks for dense arrays") !=
        std::string::npos);
  strop::set_fallback(strop::Fallback::warn);
}

namespace {

struct Running {
  static constexpr std::string_view name = "stated_running", inputs[] = {"data"}, aux[] = {"mean"};
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 1> x, strop::View<E, 1> mean, strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = x(i) - mean(i), mean(i) = x(i);
  }
};
struct Counting {
  static constexpr std::string_view name = "stated_state_first", inputs[] = {"data"}, aux[] = {"calls"};
  constexpr auto forward(auto x, auto calls) const { return std::tuple(x + calls, calls + 1); }
};
constexpr Op<Running> running;
constexpr Op<Counting> counting;
static_assert(strop::MutatesInputs<Running> && strop::NamesArguments<Running>);

template <class E>
void keep_above_bound(double bound, strop::CsrView<const E> x, strop::CsrResult<E>& y) {
  const auto above = [&](std::int64_t k) { return static_cast<double>(x.data(k)) > bound; };
  std::int64_t n = 0;
  for (std::int64_t k = 0; k < x.nnz(); ++k) n += above(k) ? 1 : 0;
  y.allocate(n);
  n = y.indptr()(0) = 0;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t k = x.indptr(i); k < x.indptr(i + 1); ++k)
      if (above(k)) y.data()(n) = x.data(k), y.indices()(n++) = x.indices(k);
    y.indptr()(i + 1) = n;
  }
}
struct KeepAbove {
  double bound = 0;
  static constexpr std::string_view name = "stated_keep_above";
  bool infer_storage(strop::Storages& s) const { return s.in(0) == csr && s.set_out(0, csr); }
  template <strop::Real E>
  void forward(strop::Cpu&, strop::CsrView<const E> x, strop::CsrResult<E> y) const {
    keep_above_bound<E>(bound, x, y);
  }
};
struct KeepAboveByReference {
  double bound = 0;
  static constexpr std::string_view name = "stated_keep_above_by_reference";
  bool infer_storage(strop::Storages& s) const { return s.in(0) == csr && s.set_out(0, csr); }
  template <strop::Real E>
  void forward(strop::Cpu&, strop::CsrView<const E> x, strop::CsrResult<E>& y) const {
    keep_above_bound<E>(bound, x, y);
  }
};
constexpr Op<KeepAbove> keep_above;
constexpr Op<KeepAboveByReference> keep_above_by_reference;
static_assert(strop::SparseOp<KeepAbove> && strop::SparseOp<KeepAboveByReference> && !strop::SparseOp<Running> &&
              !strop::SparseOp<Counting>);

}  // namespace

TEST_CASE("aux names inputs that forward writes, after those of inputs") {
  const NDArray x = array({3, 5}), mean = array({1, 1}), calls = strop::zeros({2});
  CHECK(strop::allclose(running(x, mean), array({2, 4})));
  CHECK(strop::allclose(mean, x));
  CHECK(strop::allclose(counting(x, calls), x));
  CHECK(strop::allclose(counting(x, calls), array({4, 6})));
  CHECK(running(strop::var("x")).list_auxiliary_states().size() == 1);
}

TEST_CASE("a sparse result is taken by value and by reference") {
  const NDArray x = array({{0, 1}, {2, 0}}).to(csr);
  for (const NDArray& y : {keep_above(x, {.bound = 1}), keep_above_by_reference(x, {.bound = 1})}) {
    CHECK(y.storage() == csr);
    CHECK(strop::allclose(y, array({{0, 0}, {2, 0}})));
  }
}

TEST_CASE("views of sparse arrays have indices of 64 bits, whatever the arrays have") {
  const std::vector<std::int32_t> columns{1, 0}, starts{0, 1, 2};
  const NDArray x = strop::csr_matrix({1, 2}, columns, starts, {2, 2});
  for (const NDArray& y : {keep_above(x, {.bound = 1}), keep_above_by_reference(x, {.bound = 1})}) {
    CHECK(y.indices().dtype() == strop::i64);
    CHECK(strop::allclose(y, array({{0, 0}, {2, 0}})));
  }
  CHECK(strop::allclose(row_lengths(x), array({1, 1})));
  CHECK(x.indices().dtype() == strop::i32);  // which nobody has written
}

TEST_CASE("storages follow from the views of forward") {
  const NDArray x = array({{0, 1}, {2, 3}}).to(csr);
  CHECK(row_lengths(x).to_vector<float>() == std::vector<float>{1, 2});
  CHECK(first_of_rows(x).storage() == csr);
  CHECK(strop::allclose(first_of_rows(x), array({{1, 0}, {2, 0}})));
  CHECK(first_of_rows(strop::var("data")).infer_storage({{"data", csr}}).outputs == std::vector{csr});
  CHECK(row_lengths(strop::var("data")).bind(strop::cpu(), {{"data", x}}).forward()[0].to_vector<float>() ==
        std::vector<float>{1, 2});
  CHECK(sentence([&] { first_of_rows(x, strop::into(strop::zeros({2, 2}))); }) ==
        "stated_first_of_rows: has no form for (csr) -> (dense)");
  CHECK(sentence([&] { (void)row_lengths(x.to(strop::dense)); }) ==
        "stated_row_lengths: input 'data' is dense, expected csr");
}

TEST_CASE("parameters may be called like members") {
  CHECK(scaled(array({1, 2}), {.visible = 4}).to_vector<float>() == std::vector<float>{8, 16});
  const NDArray x = array({3});
  x.attach_grad();
  {
    strop::record scope;
    strop::sum(labelled(x, array({1, 2}), {.name = "another"})).backward();  // broadcast, differentiated
  }
  CHECK(x.grad().item<float>() == 6);
}

TEST_CASE("gradients of maps as they are stated") {
  const NDArray x = array({1, 2});
  x.attach_grad();
  {
    strop::record scope;
    strop::sum(not_zero(x)).backward();
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{2, 4});
  {
    strop::record scope;
    const auto y = line_and_square(x);
    strop::sum(y[0] + y[1] * 10).backward();
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{22, 42});
  {
    strop::record scope;
    strop::sum(line_and_square(x)[1]).backward();  // the other head is zero
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{2, 4});
  CHECK(thrice.entry().gradient.in == 0);
  {
    strop::record scope;
    strop::sum(thrice(x)).backward();
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{3, 3});
}

TEST_CASE("names and numbers of tensors may follow from the parameters") {
  CHECK(copies(array({1, 2}), {.n = 3}).size() == 3);
  CHECK(sentence([] { (void)copies(NDArray(), {.weight = true}); }) ==
        "stated_copies: input 'weight' is a handle without an array");
  CHECK(sentence([] { (void)copies(NDArray()); }) == "stated_copies: input 'bias' is a handle without an array");
}

TEST_CASE("a map may have results that are not seen") {
  CHECK(hidden(array({1, 2})).to_vector<float>() == std::vector<float>{2, 4});
  CHECK(strop::invoke_all("stated_hidden", {array({1})}).size() == 1);
  const NDArray y = hidden(strop::var("data")).bind(strop::cpu(), {{"data", array({3})}}).forward()[0];
  CHECK(y.item<float>() == 6);
}

TEST_CASE("the gradient belongs to the inputs that are only read, wherever they stand") {
  const NDArray state = strop::zeros({2}), x = array({1, 2});
  x.attach_grad();
  {
    strop::record scope;
    strop::sum(state_first(state, x)).backward();
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{3, 3});
  CHECK(state.to_vector<float>() == std::vector<float>{1, 1});
}

TEST_CASE("lists of inputs and outputs stand beside single ones, in a stated gradient as in forward") {
  const NDArray scale = array({2}), a = array({1, 2}), b = array({3, 4}), c = array({5, 6}), pair = array({2, 3});
  CHECK(scaled_sum(scale, a, b, c).to_vector<float>() == std::vector<float>{18, 24});
  CHECK(scaled_sum(scale, a).to_vector<float>() == std::vector<float>{2, 4});
  CHECK(squared_sum(a, b, pair).to_vector<float>() == std::vector<float>{40, 180});
  for (const strop::GradientCheck& check :
       {strop::check_gradient(scaled_sum, {scale, a, b, c}), strop::check_gradient(scaled_sum, {scale, a}),
        strop::check_gradient(squared_sum, {a, b, pair}), strop::check_gradient(squared_sum, {c, pair}),
        strop::check_gradient(powers, {pair}), strop::check_gradient(powers, {pair}, {.n = 1})})
    CHECK_MESSAGE(check.passed, check.text);

  const NDArray state = strop::zeros({1}), one = array({1});
  CHECK(counted(one, one, one, array({5}), state).item<float>() == 8);
  CHECK(state.item<float>() == 3);
  CHECK(sentence([&] { (void)counted(one, one, array({{5}}), state); }).find("'scale'") != std::string::npos);
  const strop::Symbol node =
      counted({strop::var("a") + 1, strop::var("b") + 1, strop::var("s") + 1, strop::var("state")});
  CHECK(node.list_auxiliary_states() == std::vector<std::string>{"state"});

  auto run = scaled_sum(strop::var("scale"), strop::var("a"), strop::var("b"))
                 .bind(strop::cpu(), {{"scale", scale}, {"a", a}, {"b", b}},
                       {{"scale", strop::zeros({1})}, {"b", strop::zeros({2})}});
  run.forward(true);
  run.backward(pair);
  CHECK(run.grad("scale").item<float>() == 2 * 4 + 3 * 6);
  CHECK(run.grad("b").to_vector<float>() == std::vector<float>{4, 6});
}
