// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls on memory of another framework: what they compute, what their gradients read, and what they refuse.
#include <strop/host/call.hpp>
#include <strop/host/facts.hpp>
#include <strop/host/torch/schema.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

using strop::f16, strop::f32, strop::f64, strop::i32, strop::Shape;
using testing::sentence;
namespace host = strop::host;

namespace {

struct Bend {
  static constexpr std::string_view name = "host_bend";
  float beta = 1;
  constexpr auto forward(auto x) const { return x / (1 + beta * abs(x)); }
};
constexpr strop::Op<Bend> bend;
struct Scaled {
  static constexpr std::string_view name = "host_scaled";
  constexpr auto forward(auto x, auto w) const { return 3 * x + w; }
};
constexpr strop::Op<Scaled> scaled;
struct Power {
  static constexpr std::string_view name = "host_power";
  constexpr auto forward(auto x) const { return exp(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * y; }
};
constexpr strop::Op<Power> power;
struct Draw {
  static constexpr std::string_view name = "host_draw";
  static constexpr strop::Resources resources{.random = true};
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 1> x, strop::View<E, 1> y) const {
    y[0] = x[0];
  }
};
constexpr strop::Op<Draw> draw;
enum class Mode { plain, squared };
struct Many {
  static constexpr std::string_view name = "host_many";
  static constexpr std::string_view inputs[] = {"data", "w"};
  strop::Required<int> n = {};
  Mode mode = Mode::squared;
  std::optional<float> limit = std::nullopt;
  Shape kernel = {1, 2};
  strop::Axes axis = {};
  strop::Dtype dtype = f16;
  strop::Scalar scalar = 2;
  bool on = true;
  void infer_shape(strop::Shapes& s) const { s.set_out(0, s.in(0)); }
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E> x, strop::View<const E>, strop::View<E> y) const {
    y[0] = x[0];
  }
};
constexpr strop::Op<Many> many;

template <class E>
host::Tensor on(std::vector<E>& data, const Shape& shape) {
  return {shape, strop::dtype_of<E>, data.data()};
}

}  // namespace

TEST_CASE("a call writes into memory that is there, at once") {
  std::vector<float> x{-0.5F, 0, 1.5F}, y(3);
  const Bend op{2};
  const std::vector<host::Tensor> in{on(x, {3})};
  const std::vector<host::Tensor> made = host::infer(bend.entry(), &op, in);
  REQUIRE(made.size() == 1);
  CHECK(made[0].shape == Shape{3});
  CHECK(made[0].dtype == f32);
  host::run(bend.entry(), &op, in, std::vector{on(y, {3})}, false);
  CHECK(y == std::vector<float>{-0.25F, 0, 0.375F});
}

TEST_CASE("large calls do not go to the engine") {
  std::vector<float> x(1 << 20, 1), y(x.size());
  const Bend op;
  host::run(bend.entry(), &op, std::vector{on(x, {1 << 20})}, std::vector{on(y, {1 << 20})}, false);
  CHECK(std::all_of(y.begin(), y.end(), [](float v) { return v == 0.5F; }));
}

TEST_CASE("tensors without elements and of one number") {
  std::vector<double> none, one{2}, y(1);
  const Bend op;
  host::run(bend.entry(), &op, std::vector{host::Tensor{{0, 3}, f64, nullptr}},
            std::vector{host::Tensor{{0, 3}, f64, nullptr}}, false);
  host::run(bend.entry(), &op, std::vector{on(one, {})}, std::vector{on(y, {})}, false);
  CHECK(y[0] == doctest::Approx(2.0 / 3));
}

TEST_CASE("gradients read what they need, and go where they are asked for") {
  const Scaled op;
  std::vector<double> heads{1, 2, 3, 4}, dx(4, 9), dw(2, 9);
  const std::vector<host::Tensor> in{{{2, 2}, f64, nullptr}, {{1, 2}, f64, nullptr}}, out{{{2, 2}, f64, nullptr}};
  CHECK(host::gradient_reads(scaled.entry(), &op, in).inputs == 0);
  host::differentiate(scaled.entry(), &op,
                      {in, out, std::vector{on(heads, {2, 2})}, std::vector{on(dx, {2, 2}), on(dw, {1, 2})}});
  CHECK(dx == std::vector<double>{3, 6, 9, 12});
  CHECK(dw == std::vector<double>{4, 6});
  // One alone; and what nothing comes to is zero.
  std::vector<double> only(2, 9);
  host::differentiate(scaled.entry(), &op,
                      {in, out, std::vector{on(heads, {2, 2})}, std::vector{in[0], on(only, {1, 2})}});
  CHECK(only == dw);
  host::differentiate(scaled.entry(), &op, {in, out, out, std::vector{on(dx, {2, 2}), on(dw, {1, 2})}});
  CHECK(dx == std::vector<double>(4));
  CHECK(dw == std::vector<double>(2));
}

TEST_CASE("second gradients, also through a result that is kept") {
  const Power op;
  std::vector<double> x{0.5, -1}, y{std::exp(0.5), std::exp(-1)}, head{2, 3}, second{5, 7}, dhead(2), dx(2);
  const std::vector<host::Tensor> in{on(x, {2})}, out{on(y, {2})};
  const host::Reads reads = host::gradient_reads(power.entry(), &op, in);
  CHECK(reads.inputs == 0);
  CHECK(reads.outputs == 1);
  host::differentiate_again(power.entry(), &op,
                            {in, out, std::vector{on(head, {2})}, std::vector{on(second, {2})},
                             std::vector{on(dhead, {2})}, std::vector{on(dx, {2})}});
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(dhead[i] == doctest::Approx(second[i] * y[i]));
    CHECK(dx[i] == doctest::Approx(second[i] * head[i] * y[i]));
  }
}

TEST_CASE("what does not fit is one sentence") {
  const Scaled op;
  std::vector<float> x(3), y(4);
  CHECK(sentence([&] { host::infer(scaled.entry(), &op, std::vector{on(x, {3}), on(y, {4})}); }) ==
        "host_scaled: input 'rhs' has shape (4,), which does not broadcast with (3,)");
  const Draw drawing;
  CHECK(sentence([&] { host::run(draw.entry(), &drawing, std::vector{on(x, {3})}, std::vector{on(y, {3})}, false); }) ==
        "host_draw: draws random numbers with these parameters, which are not those of the framework");
  CHECK(host::Facts(draw.entry()).refused.find("random") != std::string_view::npos);
}

TEST_CASE("facts and schemas") {
  const host::Facts facts(bend.entry());
  CHECK(facts.visible == 1);
  CHECK(facts.differentiable);
  CHECK(facts.refused.empty());
  const host::TorchSchemas bends = host::torch_schemas(facts);
  CHECK(bends.names == std::vector<std::string>{"host_bend"});
  CHECK(bends.forward == "(Tensor data, *, float beta=1.0) -> Tensor");
  CHECK(bends.all.empty());
  CHECK(bends.gradient ==
        "(Tensor?[] _heads, Tensor[] _inputs, Tensor[] _outputs, int[] _wanted, *, float beta=1.0) -> Tensor[]");
  const host::Facts others(many.entry());
  CHECK_FALSE(others.differentiable);
  CHECK(host::torch_schemas(others).forward ==
        "(Tensor data, Tensor w, *, int n, str mode=\"squared\", float? limit=None, int[1] kernel=[1, 2], "
        "int[1]? axis=None, ScalarType dtype=5, Scalar scalar=2, bool on=True) -> Tensor");
  const std::vector<const strop::Entry*> all = host::operators();
  CHECK(std::find(all.begin(), all.end(), &bend.entry()) != all.end());
  CHECK(sentence([&] { host::placed_inputs(others, nullptr, {true, false}); }) == "host_many: input 'w' is missing");
}

TEST_CASE("what was inferred is remembered by type, and for the shape at hand") {
  const host::Inferred inferred;
  const Bend op{2};
  std::vector<float> x(6);
  std::vector<double> z(2);
  for (int turn = 0; turn < 2; ++turn) {
    for (const Shape& shape : {Shape{6}, Shape{2, 3}}) {
      const auto made = inferred.results(bend.entry(), &op, true, std::vector{on(x, shape)});
      REQUIRE(made.size() == 1);
      CHECK(made[0].shape == shape);
      CHECK(made[0].dtype == f32);
    }
    CHECK(inferred.results(bend.entry(), &op, true, std::vector{on(z, {2})})[0].dtype == f64);
  }
  const Scaled sum;
  std::vector<float> w(3);
  CHECK(inferred.results(scaled.entry(), &sum, true, std::vector{on(x, {2, 3}), on(w, {3})})[0].shape == Shape{2, 3});
}

TEST_CASE("calls on arrays keep sparse storages, and give gradients in those that are asked for") {
  const strop::NDArray x = strop::array({{0, 1}, {-3, 0}}).to(strop::csr);
  const Bend op{1};
  const auto made = host::run(bend.entry(), &op, std::vector{x}, false);
  REQUIRE(made.size() == 1);
  CHECK(made[0].storage() == strop::csr);
  CHECK(strop::allclose(made[0], strop::array({{0, 0.5F}, {-0.75F, 0}})));
  const std::vector<strop::NDArray> heads{strop::array({{1, 1}, {1, 1}})};
  for (const strop::Storage storage : {strop::csr, strop::dense}) {
    const std::vector<std::optional<strop::Storage>> wanted{storage};
    const strop::NDArray given = strop::array({{0, 1}, {-3, 0}}).to(strop::csr);
    const auto gradient = host::differentiate(bend.entry(), &op, std::vector{given}, heads, wanted, true);
    REQUIRE(gradient.size() == 1);
    CHECK(gradient[0].storage() == storage);
    const float nothing = storage == strop::csr ? 0.0F : 1.0F;  // projected on what is stored, or all of it
    CHECK(strop::allclose(gradient[0], strop::array({{nothing, 0.25F}, {0.0625F, nothing}})));
  }
  const std::vector<std::optional<strop::Storage>> none{std::nullopt};
  CHECK_FALSE(host::differentiate(bend.entry(), &op, std::vector{x}, heads, none, true)[0].defined());
}
