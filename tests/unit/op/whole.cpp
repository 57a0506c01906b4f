// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps that take whole numbers beside floats: `strop::Integer auto`, in every form of a call.
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

using namespace strop;
using testing::sentence;
using Doubles = std::vector<double>;

namespace {

/// a·x² where the mask is not 0, x elsewhere.
struct Masked {
  float a = 2;
  static constexpr std::string_view name = "whole_masked", inputs[] = {"data", "mask"};
  constexpr auto forward(auto x, Integer auto mask) const { return where(mask, a * x * x, x); }
};
constexpr Op<Masked> masked;
/// x / (label // 2 + 1), 0 where the label is to be ignored; the label stands first.
struct Labelled {
  std::int64_t ignore = -1;
  static constexpr std::string_view name = "whole_labelled";
  constexpr auto forward(Integer auto label, auto x) const {
    return where(label == ignore || !(label >= 0), 0, x / (label / 2 + 1));
  }
};
constexpr Op<Labelled> labelled;
/// Two results, a product of what is whole, and a stated gradient: of x and y alone.
struct Stated {
  static constexpr std::string_view name = "whole_stated";
  constexpr auto forward(auto x, Integer auto k, auto y) const { return std::tuple(k * x * y, x + k); }
  constexpr auto grad_use_in(auto dz, auto dw, auto x, auto k, auto y) const {
    return std::tuple(dz * k * y + dw, dz * k * x);
  }
};
constexpr Op<Stated> stated;
/// Served on integers as well: everything is then exact.
struct Shifted {
  static constexpr std::string_view name = "whole_shifted";
  static constexpr auto dtypes = floating | integral;
  constexpr auto forward(auto x, Integer auto k) const { return x + k; }
};
constexpr Op<Shifted> shifted;
/// Whole numbers alone: the first input's type is the result's.
struct Halves {
  static constexpr std::string_view name = "whole_halves";
  constexpr auto forward(Integer auto k, Integer auto m) const { return where(m, k / 2, -k); }
};
constexpr Op<Halves> halves;
struct Composed {
  static constexpr std::string_view name = "whole_composed";
  constexpr auto forward(auto x, Integer auto k) const { return x * k; }
  auto gradient(const auto& dy, const auto& x, const auto& k) const {
    return std::tuple(Op<Composed>{}(dy, k), strop::zeros_like(x));
  }
};
constexpr Op<Composed> composed;

static_assert(BinaryOp<Masked> && MapOp<Stated, 3, 2> && Integer<std::int32_t> && Integer<bool> && !Integer<float>);
static_assert(check::value(Masked{3}, 2.0, 1) == 12 && check::value(Masked{3}, 2.0, 0) == 2);
static_assert(check::gradient(Masked{3}, 2.0, 1) == 12 && check::gradient(Masked{3}, 2.0, 0) == 1);
static_assert(check::value(Labelled{}, 5, 6.0) == 2 && check::value(Labelled{}, -1, 6.0) == 0);
static_assert(check::gradient(Stated{}, 3.0, 2.0, 5.0)[0] == 11 && check::gradient(Stated{}, 3.0, 2.0, 5.0)[1] == 6);
static_assert(check::storage(Masked{}, csr, dense) == csr && check::storage(Labelled{}, csr, csr) == csr &&
              check::storage(Labelled{}, csr, dense) == dense);
static_assert(check::keeps(Composed{}) == Keeps::in);
static_assert(check::type(Masked{}, f16, boolean) == f16 && check::type(Labelled{}, i64, f32) == f32 &&
              check::type(Halves{}, u8, i64) == u8);
static_assert(masked(3.0, 1) == 18 && masked(3.0f, 0) == 3.0f);

Doubles values(const NDArray& a) { return a.to(dense).to_vector<double>(); }
NDArray data() { return array<double>({1, 2, 3, 4}); }

}  // namespace

TEST_CASE("a map takes whole numbers of every type beside floats of every type") {
  for (const Dtype real : {f16, bf16, f32, f64})
    for (const Dtype whole : {boolean, u8, i8, i32, i64}) {
      CAPTURE(name_of(real));
      CAPTURE(name_of(whole));
      const NDArray x = data().to(real), mask = array({0, 1, 1, 0}).to(whole);
      CHECK(masked(x, mask).dtype() == real);
      CHECK(values(masked(x, mask)) == Doubles{1, 8, 18, 4});
      CHECK(values(invoke("whole_masked", {x, mask}, {{"a", "1"}})) == Doubles{1, 4, 9, 4});
      const NDArray y = zeros({4}, real);
      masked(x, mask, into(y));
      masked(x, mask, add_to(y));
      CHECK(values(y) == Doubles{2, 16, 36, 8});
      CHECK(values(masked(x.reshape({2, 2}), mask.slice(1, 3))) == Doubles{2, 8, 18, 32});
      CHECK(values(masked(x.slice(0, 1), mask)) == Doubles{1, 2, 2, 1});
    }
}

TEST_CASE("whole numbers are exact where floats of the result's type are not") {
  const NDArray labels = array<std::int64_t>({16777217, 16777216, -1, 9007199254740991});
  CHECK(values(labelled(labels, full({4}, 1), {.ignore = 16777217}))[0] == 0);
  CHECK(values(labelled(labels, full({4}, 1), {.ignore = 16777217}))[1] != 0);
  CHECK(values(labelled(labels, full({4}, 1), {.ignore = 9007199254740991}))[3] == 0);
  CHECK(values(labelled(labels, full({4}, 1), {.ignore = 9007199254740990}))[3] != 0);
  const NDArray large = array<std::int64_t>({9007199254740993, 1});
  CHECK(shifted(large, array<std::int32_t>({1, -1})).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{9007199254740994, 0});
  const NDArray k = array<std::uint8_t>({7, 200, 9});
  CHECK(halves(k, array<std::int64_t>({1, 1, 0})).dtype() == u8);
  CHECK(values(halves(k, array<std::int64_t>({1, 1, 0}))) == Doubles{3, 100, 247});
}

TEST_CASE("many elements, on threads, like few") {
  const NDArray x = random::uniform({300, 1000}), mask = (x > 0.5).to(i8), wide = mask.to(i32);
  const NDArray y = masked(x, mask), z = masked(x, wide);
  CHECK(allclose(y, where(x > 0.5, x * x * 2, x)));
  CHECK(allclose(y, z));
  CHECK(allclose(masked(x, mask.slice(0, 1)),
                 where(broadcast_to(mask.slice(0, 1).to(f32), {.shape = {300, 1000}}), x * x * 2, x)));
}

TEST_CASE("gradients are of what is no whole number") {
  for (const Dtype whole : {boolean, i8, i32}) {
    CAPTURE(name_of(whole));
    const NDArray x = data().to(f32), mask = array({0, 1, 1, 0}).to(whole);
    x.attach_grad();
    {
      record scope;
      sum(masked(x, mask)).backward();
    }
    CHECK(values(x.grad()) == Doubles{1, 8, 12, 1});
    const NDArray y = data().to(f32) + 1, k = array({2, 0, 1, 3}).to(whole == boolean ? i64 : whole);
    y.attach_grad();
    {
      record scope;
      const std::vector<NDArray> z = stated(x, k, y);
      (z[0] + z[1]).backward();
    }
    CHECK(values(x.grad()) == Doubles{5, 1, 5, 16});
    CHECK(values(y.grad()) == Doubles{2, 0, 3, 12});
    const NDArray row = array({1, 2});
    row.attach_grad();
    {
      record scope;
      sum(labelled(array<std::int32_t>({{0, 2}, {-1, 4}}), row)).backward();
    }
    CHECK(allclose(row.grad(), array({1, 0.5f + 1.0f / 3})));
    {
      record scope;
      composed(x, mask).backward();
    }
    CHECK(values(x.grad()) == Doubles{0, 1, 1, 0});
  }
  CHECK(check_gradient(masked, {data(), array<std::int32_t>({0, 1, 2, 0})}));
  CHECK(check_gradient(labelled, {array<std::int8_t>({0, 1, 2, -1}), data()}));
  CHECK(check_gradient(stated, {data(), array<bool>({true, false, true, true}), data()}));
}

TEST_CASE("gradients of higher order and along tangents") {
  const NDArray x = data(), mask = array<std::int32_t>({0, 1, 1, 0});
  x.attach_grad();
  {
    record scope;
    const NDArray first = grad(masked(x, mask), {x}, {.create_graph = true})[0];
    sum(first).backward();
  }
  CHECK(values(x.grad()) == Doubles{0, 4, 4, 0});
  const auto [y, dy] = jvp(masked, {x, mask}, {full({4}, 2, f64), {}});
  CHECK(values(y) == Doubles{1, 8, 18, 4});
  CHECK(values(dy) == Doubles{2, 16, 24, 2});
  const auto [z, dz] = jvp(labelled, {mask, x}, {{}, full({4}, 1, f64)});
  CHECK(values(z) == values(x));
  CHECK(values(dz) == Doubles{1, 1, 1, 1});
}

TEST_CASE("sparse arrays of either kind") {
  const NDArray x = array({{0, 2, 0}, {3, 0, 4}}), k = array<std::int32_t>({{1, 1, 0}, {0, 0, 5}});
  const Doubles both = values(masked(x, k));
  for (const Storage storage : {csr, row_sparse}) {
    CAPTURE(name_of(storage));
    const NDArray y = masked(x.to(storage), k.to(storage)), z = masked(x.to(storage), k);
    CHECK(y.storage() == storage);
    CHECK(z.storage() == storage);
    CHECK(values(y) == both);
    CHECK(values(z) == both);
    const NDArray leaf = x.to(storage);
    leaf.attach_grad();
    {
      record scope;
      sum(masked(leaf, k.to(storage))).backward();
    }
    CHECK(leaf.grad().storage() == storage);
    CHECK(values(leaf.grad()).back() == 16);
  }
}

TEST_CASE("graphs, traced functions and maps without a name") {
  const NDArray x = data().to(f32), mask = array<std::int32_t>({0, 1, 1, 0});
  const Symbol net = masked(var("data") * 2, var("mask"), {.a = 1}) + 1;
  CHECK(net.infer_type({{"data", f16}}).args == std::vector<Dtype>{f16, i32});
  CHECK(net.infer_type({{"data", f16}, {"mask", boolean}}).outputs == std::vector<Dtype>{f16});
  const NDArray gradient = zeros({4});
  auto run = net.bind(cpu(), {{"data", x}, {"mask", mask}}, {{"data", gradient}});
  CHECK(values(run.forward(true)[0]) == Doubles{3, 17, 37, 9});
  run.backward({full({4}, 1)});
  CHECK(values(gradient) == Doubles{2, 16, 24, 2});
  const Symbol read = Symbol::from_json(net.to_json());
  CHECK(values(read.bind(cpu(), {{"data", x}, {"mask", mask}}).forward()[0]) == Doubles{3, 17, 37, 9});
  const auto f = trace_function([](const NDArray& a, const NDArray& m) { return masked(a, m) * 2; });
  for (int i = 0; i < 3; ++i) CHECK(values(f(x, mask)) == Doubles{2, 16, 36, 8});
  CHECK(values(f(x, mask.to(boolean))) == Doubles{2, 16, 36, 8});
  const auto y = strop::map([](auto a, Integer auto m) { return where(m == 1 && a > 2, a, 0) + m; }, x, mask);
  CHECK(values(y) == Doubles{0, 1, 4, 0});
  CHECK(strop::map([](Integer auto m) { return m / 2; }, mask).dtype() == i32);
}

TEST_CASE("what differs and is not stated is refused, and how to convert is said") {
  const NDArray x = array({1, 2}), k = array<std::int32_t>({1, 0});
  CHECK(sentence([&] { (void)(x + k); }) ==
        "broadcast_add: input 'rhs' is int32, expected float32 like input 'lhs'; convert one of them with cast");
  CHECK(
      sentence([&] { (void)masked(x, x); }) ==
      "whole_masked: input 'mask' is float32, expected whole numbers, one of uint8, int8, int32, int64, bool; convert "
      "it with cast, a comparison as (x > 0).to(strop::boolean)");
  CHECK(values(masked(x, (x > 1).to(strop::boolean))) == Doubles{1, 8});
  CHECK(sentence([&] { (void)masked(k, k); }) ==
        "whole_masked: input 'data' is int32, expected one of float16, bfloat16, float32, float64");
  CHECK(sentence([&] { (void)stated(x, k, x.to(f64)); }) ==
        "whole_stated: input 'arg2' is float64, expected float32 like input 'arg0'; convert one of them with cast");
  CHECK(sentence([] { (void)check::type(Masked{}, f32, f32); }) == sentence([&] { (void)masked(x, x); }));
  const Arguments about = arguments_of(Op<Masked>::entry());
  CHECK(about.inputs[1].whole);
  CHECK_FALSE(about.inputs[0].whole);
}
