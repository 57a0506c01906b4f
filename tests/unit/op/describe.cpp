// SPDX-License-Identifier: Apache-2.0
/// \file
/// What is known of an operator before there is a call: arguments, what may be computed in place, costs.
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <array>

using strop::Argument, strop::Arguments, strop::Cpu, strop::Op, strop::Shape, strop::View;

namespace {

std::string listed(const std::vector<Argument>& list) {
  std::string text;
  for (const Argument& a : list)
    text += strop::cat(text.empty() ? "" : ", ", a.name, a.written ? " written" : "", a.optional ? " optional" : "",
                       a.variadic ? " variadic" : "", a.hidden ? " hidden" : "");
  return text;
}

struct DescribePlain {
  float slope = 1;
  static constexpr strop::Note notes[] = {{"data", "what is squashed"}};
  constexpr auto forward(auto x) const { return x / (1 + slope * abs(x)); }
};
/// Which tensors there are depends on parameters, one of which has no default and a range without 1.
struct DescribeLayer {
  strop::Required<int> units = {};
  bool no_bias = false, with_mean = false;
  static constexpr strop::Range range[] = {{"units", 5, 9}};
  static constexpr std::string_view inputs[] = {"data", "weight", "bias", "state"},
                                    outputs[] = {"output", "mean", "seen"}, mutates[] = {"state"};
  static constexpr strop::Share inplace[] = {{0, 0}};
  int input_count() const { return 4; }
  int visible_count() const { return with_mean ? 2 : 1; }
  void infer_shape(strop::Shapes&) const {}
  double operations(std::span<const Shape> in) const { return 3.0 * static_cast<double>(in[0].size() + *units); }
  void forward(Cpu&, View<const float> /*x*/, View<const float> /*w*/, View<const float> /*b*/, View<float> /*state*/,
               View<float> /*y*/, View<float> /*mean*/, View<float> /*seen*/) const {}
};
struct DescribeOpen {
  void forward(Cpu&, std::span<const View<const float>>, View<float>) const {}
};
struct DescribeTwo {
  constexpr auto forward(auto x, auto y) const { return std::tuple(x + y, exp(x)); }
};
struct DescribeMasks {
  constexpr auto forward(auto x, auto y) const { return where((x > 0 && !(y < 1)) || x == y, x, y); }
};
struct DescribeCurve {
  constexpr auto forward(auto x) const { return tanh(x); }
};
constexpr Op<DescribeLayer> layer;
constexpr Op<DescribeOpen> open_list;

}  // namespace

TEST_CASE("arguments are known without a call") {
  const Arguments plain = strop::arguments_of(Op<DescribePlain>::entry());
  CHECK(listed(plain.inputs) == "data");
  CHECK(plain.inputs[0].doc == "what is squashed");
  CHECK(listed(plain.outputs) == "output");
  const Arguments many = strop::arguments_of(layer.entry());
  CHECK(listed(many.inputs) == "data, weight, bias, state written");
  CHECK(listed(many.outputs) == "output, mean optional, seen hidden");
  CHECK(listed(strop::arguments_of(open_list.entry()).inputs) == "args variadic");
  CHECK(listed(strop::arguments_of(strop::fully_connected.entry()).inputs) == "data, weight, bias optional");
  CHECK(listed(strop::arguments_of(strop::add_n.entry()).inputs) == "args variadic");
  CHECK(listed(strop::arguments_of(strop::take.entry()).inputs) == "a, indices");
}

TEST_CASE("a map says that its results may take the memory of its inputs") {
  const auto shares = Op<DescribeTwo>::entry().inplace;
  REQUIRE(shares.size() == 4);
  CHECK(shares[1].input == 0);
  CHECK(shares[1].output == 1);
  CHECK(shares[2].input == 1);
  CHECK(shares[2].output == 0);
  CHECK(layer.entry().inplace.size() == 1);
  const strop::NDArray x = strop::array({1, 2});
  Op<DescribePlain>{}(x, strop::into(x));
  CHECK(x.to_vector<float>() == std::vector<float>{0.5F, 2 / 3.0F});
}

TEST_CASE("the cost of a call is bytes and operations") {
  const std::array<Shape, 2> in{Shape{2, 3}, Shape{3}}, out{Shape{2, 3}, Shape{2, 3}};
  const std::array<strop::Dtype, 2> types{strop::f32, strop::f64};
  const DescribeTwo two;
  const strop::Cost map = strop::cost_of(Op<DescribeTwo>::entry(), &two, in, types, out, types);
  CHECK(map.bytes_read == 6 * 4 + 3 * 8);
  CHECK(map.bytes_written == 6 * 4 + 6 * 8);
  CHECK(map.operations == 6 * (1 + strop::number::function_operations));
  // abs, a product, a sum, a quotient; a slope of 1 needs no product, one of 0 leaves the quotient by a constant.
  const DescribePlain plain{.slope = 2}, unit, flat{.slope = 0};
  const auto of = [&](const DescribePlain& op) {
    return strop::cost_of(Op<DescribePlain>::entry(), &op, std::span(in).first(1), types, std::span(out).first(1),
                          types)
        .operations;
  };
  CHECK(of(plain) == 6 * 4);
  CHECK(of(unit) == 6 * 3);
  CHECK(of(flat) == 6 * 2);
  static_assert(strop::detail::counted_operations<float>(DescribeMasks{}) == 4);
  const strop::Dot dot;
  const std::array<Shape, 2> factors{Shape{2, 3}, Shape{3, 5}};
  const std::array<Shape, 1> product{Shape{2, 5}};
  const std::array<strop::Dtype, 2> floats{strop::f32, strop::f32};
  CHECK(strop::cost_of(strop::dot.entry(), &dot, factors, floats, product, floats).operations == 60);
  // Every axis in front of the last two is of the batch.
  const strop::BatchDot batched;
  const std::array<Shape, 2> batches{Shape{2, 3, 4, 5}, Shape{2, 3, 5, 7}};
  const std::array<Shape, 1> each{Shape{2, 3, 4, 7}};
  CHECK(strop::cost_of(strop::batch_dot.entry(), &batched, batches, floats, each, floats).operations ==
        2 * 2 * 3 * 4 * 5 * 7);
  // What an operator writes among its inputs counts as written as well; what states nothing has no operations.
  const std::array<Shape, 4> four{Shape{2}, Shape{2}, Shape{2}, Shape{7}};
  const std::array<Shape, 3> three{Shape{1}, Shape{1}, Shape{1}};
  const std::array<strop::Dtype, 4> same{strop::f32, strop::f32, strop::f32, strop::f32};
  const DescribeLayer five{.units = 5};
  const strop::Cost stated = strop::cost_of(layer.entry(), &five, four, same, three, std::span(same).first(3));
  CHECK(stated.bytes_written == 4 * (3 + 7));
  CHECK(stated.operations == 21);
  const DescribeOpen open;
  CHECK(!strop::cost_of(open_list.entry(), &open, factors, floats, product, floats).operations.has_value());
}

TEST_CASE("the cost of a gradient is bytes and operations as well") {
  const std::array<strop::Dtype, 5> floats{strop::f32, strop::f32, strop::f32, strop::f32, strop::f32};
  const auto of = [&](const strop::Entry& entry, const void* op, const std::vector<Shape>& takes,
                      const std::vector<Shape>& gives) {
    REQUIRE(entry.gradient.entry != nullptr);
    return strop::cost_of(*entry.gradient.entry, op, takes, std::span(floats).first(takes.size()), gives,
                          std::span(floats).first(gives.size()));
  };
  // Maps: the body, or that of the dual numbers. Stated: dy · s. Derived: tanh and cosh, its square, 1 / that, dy.
  const strop::MulScalar doubled{.scalar = 2};
  const strop::Cost stated = of(strop::mul_scalar.entry(), &doubled, {Shape{3}}, {Shape{3}});
  CHECK(stated.operations == 3);
  CHECK(stated.bytes_read == 12);
  CHECK(stated.bytes_written == 12);
  const DescribeCurve curve;
  CHECK(of(Op<DescribeCurve>::entry(), &curve, {Shape{4}, Shape{4}}, {Shape{4}}).operations ==
        4 * (2 * strop::number::function_operations + 3));
  // dy · y and dy · x; what was broadcast is summed.
  const strop::BroadcastMul product;
  CHECK(of(strop::broadcast_mul.entry(), &product, {Shape{2, 3}, Shape{2, 3}, Shape{2, 3}}, {Shape{2, 3}, Shape{2, 3}})
            .operations == 6 * 2);
  CHECK(of(strop::broadcast_mul.entry(), &product, {Shape{2, 3}, Shape{2, 3}, Shape{3}}, {Shape{2, 3}, Shape{3}})
            .operations == 6 * 3);
  // Products: one for each factor, and the sum for a bias.
  const strop::Dot dot;
  CHECK(of(strop::dot.entry(), &dot, {Shape{2, 5}, Shape{2, 3}, Shape{3, 5}}, {Shape{2, 3}, Shape{3, 5}}).operations ==
        2 * 60);
  const strop::BatchDot batched{.transpose_b = true};
  CHECK(of(strop::batch_dot.entry(), &batched, {Shape{4, 2, 5}, Shape{4, 2, 3}, Shape{4, 5, 3}},
           {Shape{4, 2, 3}, Shape{4, 5, 3}})
            .operations == 2 * 4 * 60);
  const strop::FullyConnected layer{.num_hidden = 5};
  CHECK(of(strop::fully_connected.entry(), &layer, {Shape{2, 5}, Shape{2, 3}, Shape{5, 3}},
           {Shape{2, 3}, Shape{5, 3}, Shape{5}})
            .operations == 2 * 60 + 10);
  // An operator that says nothing has none, and never a wrong number.
  const strop::LayerNorm norm;
  CHECK(!of(strop::layer_norm.entry(), &norm, {Shape{2, 3}, Shape{2, 3}, Shape{3}, Shape{2, 1}, Shape{2, 1}},
            {Shape{2, 3}, Shape{3}, Shape{3}})
             .operations.has_value());
}
