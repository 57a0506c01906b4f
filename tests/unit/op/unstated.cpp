// SPDX-License-Identifier: Apache-2.0
/// \file
/// What holds for an operator that does not state it: its inputs have one shape, and it draws no random numbers. The
/// same at every size.
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using strop::array, strop::into, strop::NDArray, strop::Op, strop::Shape, strop::zeros;
using testing::sentence;

namespace {

using Values = std::vector<double>;

/// y = x where mask is not 0, of any rank.
struct Masked {
  static constexpr std::string_view name = "unstated_masked", inputs[] = {"data", "mask"};
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E> x, strop::View<const E> mask, strop::View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = mask[i] != 0 ? x[i] : 0;
  }
  template <strop::Real E>
  void grad_use_in(strop::Cpu&, strop::View<const E> dy, strop::View<const E>, strop::View<const E> mask,
                   strop::View<E> dx, strop::View<E> dmask) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) {
      dx[i] = mask[i] != 0 ? dy[i] : 0;
      dmask[i] = 0;
    }
  }
};
constexpr Op<Masked> masked;

/// The sum of any number of vectors.
struct AddUp {
  static constexpr std::string_view name = "unstated_add_up";
  void forward(strop::Cpu&, std::span<const strop::View<const float, 1>> parts, strop::View<float, 1> y) const {
    for (float& sum : y) sum = 0;
    for (const auto& part : parts)
      for (std::int64_t i = 0; i < y.size(); ++i) y[i] += part[i];
  }
};
constexpr Op<AddUp> add_up;

/// Whole arrays, and one that is written.
struct Tally {
  static constexpr std::string_view name = "unstated_tally", inputs[] = {"data", "count"}, mutates[] = {"count"};
  void forward(strop::Cpu&, strop::View<const float> x, strop::View<float> count, strop::View<float> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = count[i] += x[i];
  }
};
constexpr Op<Tally> tally;

/// The same of several ranks, by its own rule.
struct Shifted {
  static constexpr std::string_view name = "unstated_shifted", inputs[] = {"data", "shift"};
  void infer_shape(strop::Shapes& s) const {
    if (s.in(0).known()) s.set_in(1, Shape{s.in(0)[1]});
    s.set_out(0, s.in(0));
  }
  void forward(strop::Cpu&, strop::View<const float, 2> x, strop::View<const float, 1> shift,
               strop::View<float, 2> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + shift[i % shift.size()];
  }
};
constexpr Op<Shifted> shifted;

void add_noise(strop::Cpu& ctx, strop::View<const float> x, strop::View<float> y) {
  const strop::random::Stream stream = ctx.random();
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + static_cast<float>(stream.uniform01(i));
}
struct Quiet {
  static constexpr std::string_view name = "unstated_quiet";
  void forward(strop::Cpu& ctx, strop::View<const float> x, strop::View<float> y) const { add_noise(ctx, x, y); }
};
constexpr Op<Quiet> quiet;
struct Announced {
  static constexpr std::string_view name = "unstated_announced";
  static constexpr strop::Resources resources{.random = true};
  void forward(strop::Cpu& ctx, strop::View<const float> x, strop::View<float> y) const { add_noise(ctx, x, y); }
};
constexpr Op<Announced> announced;
/// Whether it draws depends on the shapes.
struct Sometimes {
  static constexpr std::string_view name = "unstated_sometimes";
  strop::Resources resources(std::span<const Shape> in) const { return {.random = in[0].size() % 2 == 0}; }
  void forward(strop::Cpu& ctx, strop::View<const float> x, strop::View<float> y) const { add_noise(ctx, x, y); }
};
constexpr Op<Sometimes> sometimes;
/// Draws in its gradient.
struct NoisySlope {
  static constexpr std::string_view name = "unstated_noisy_slope";
  static constexpr strop::Resources resources{.random = true};
  void forward(strop::Cpu&, strop::View<const float> x, strop::View<float> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
  void grad_use_none(strop::Cpu& ctx, strop::View<const float> dy, strop::View<float> dx) const {
    add_noise(ctx, dy, dx);
  }
};
constexpr Op<NoisySlope> noisy_slope;

constexpr std::string_view not_announced =
    "ctx.random() of an operator that announces no random numbers; state static constexpr strop::Resources "
    "resources{.random = true}, which serves forward alone";
constexpr std::int64_t sizes[] = {0, 1, 10, 4096, std::int64_t{1} << 18, (std::int64_t{1} << 18) + 2};

}  // namespace

TEST_CASE("inputs of an operator without infer_shape have one shape") {
  const NDArray x = array({{1, 2, 3}, {4, 5, 6}}), mask = array({{1, 0, 1}, {0, 1, 1}});
  CHECK(masked(x, mask).to_vector<double>() == Values{1, 0, 3, 0, 5, 6});
  const auto refused = [](std::string_view op, std::string_view input, std::string_view given, std::string_view first,
                          std::string_view of_first) {
    return strop::cat(op, ": input '", input, "' has shape ", given, ", expected ", of_first, " like input '", first,
                      "', as the inputs of an operator without infer_shape have one shape");
  };
  for (const NDArray& other : {array({1, 0, 1}), array({{1, 0, 1}}), array({{1}, {0}}), array({1, 0, 1, 0, 1, 1})}) {
    const std::string sentence_of = refused("unstated_masked", "mask", strop::to_text(other.shape()), "data", "(2, 3)");
    CHECK(sentence([&] { (void)masked(x, other); }) == sentence_of);
    CHECK(sentence([&] { masked(x, other, into(zeros({2, 3}))); }) == sentence_of);
    CHECK(sentence([&] { (void)strop::invoke("unstated_masked", {x, other}, {}); }) == sentence_of);
    const auto traced = strop::trace_function([](const NDArray& a, const NDArray& b) { return masked(a, b); });
    CHECK(sentence([&] { traced(x, other); }).find(sentence_of) != std::string::npos);
  }
  CHECK(add_up({array({1, 2}), array({3, 4}), array({5, 6})}).to_vector<double>() == Values{9, 12});
  CHECK(sentence([] { (void)add_up({array({1, 2}), array({3, 4}), array({5})}); }) ==
        refused("unstated_add_up", "arg2", "(1,)", "arg0", "(2,)"));
  CHECK(sentence([&] { tally(x, zeros({3})); }) == refused("unstated_tally", "count", "(3,)", "data", "(2, 3)"));
  CHECK(shifted(x, array({1, 1, 1})).to_vector<double>() == Values{2, 3, 4, 5, 6, 7});
}

TEST_CASE("in a graph the shape of one input is that of the others") {
  const auto net = masked(strop::var("x"), strop::var("mask"));
  const auto shapes = net.infer_shape({{"mask", {2, 3}}});
  CHECK(shapes["x"] == Shape{2, 3});
  CHECK(shapes.outputs[0] == Shape{2, 3});
  CHECK(sentence([&] { net.infer_shape({{"x", {2, 3}}, {"mask", {3}}}); }).find("has shape (3,), expected (2, 3)") !=
        std::string::npos);
}

TEST_CASE("what an operator draws without announcing it is refused at every size") {
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    const NDArray x = zeros({n});
    const auto of = [](std::string_view op) { return strop::cat(op, ": ", not_announced); };
    CHECK(sentence([&] { quiet(x).to_vector<float>(); }) == of("unstated_quiet"));
    CHECK(sentence([&] { quiet(x, strop::add_to(zeros({n}))).to_vector<float>(); }) == of("unstated_quiet"));
    CHECK_NOTHROW(announced(x).to_vector<float>());
    if (n % 2 == 0)
      CHECK_NOTHROW(sometimes(x).to_vector<float>());
    else
      CHECK(sentence([&] { sometimes(x).to_vector<float>(); }) == of("unstated_sometimes"));
    auto run = quiet(strop::var("x")).bind(strop::cpu(), {{"x", x}});
    CHECK(sentence([&] { run.forward()[0].to_vector<float>(); }).find(not_announced) != std::string::npos);
    x.attach_grad();
    NDArray y;
    {
      const strop::record scope;
      y = noisy_slope(x);
    }
    CHECK(sentence([&] {
            y.backward();
            x.grad().to_vector<float>();
          }).find(not_announced) != std::string::npos);
    while (!sentence([] { strop::Engine::global().wait_all(); }).empty()) {  // each failure is told once more
    }
  }
}
