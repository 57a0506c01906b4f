// SPDX-License-Identifier: Apache-2.0
/// \file
/// Schedules: their rates, their warm-ups, what they refuse, and where an optimizer has them begin.
#include <unit/sentence.hpp>
#include "training.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace strop::optim;
using doctest::Approx;
using testing::sentence;

namespace {
/// Lines that the library says, while an object lives.
struct Said {
  static inline std::vector<std::string> lines;
  strop::LogSink before = strop::set_log_sink([](std::string_view line) noexcept { lines.emplace_back(line); });
  Said() { lines.clear(); }
  ~Said() { strop::set_log_sink(before); }
};
}  // namespace

TEST_CASE("a factor after every so many updates") {
  const FactorScheduler s{.step = 3, .factor = 0.5, .stop_factor_lr = 0.2, .base_lr = 1};
  for (const auto& [n, rate] : std::vector<std::pair<int, double>>{
           {0, 1}, {1, 1}, {3, 1}, {4, 0.5}, {6, 0.5}, {7, 0.25}, {10, 0.2}, {1000000, 0.2}})
    CHECK(s(n) == rate);
  CHECK(FactorScheduler{.step = 1}(1 << 30) == 0.01);
  CHECK(FactorScheduler{.step = 2, .factor = 0.5, .base_lr = 1e-9}(1) == 1e-9);  // the floor is of what has fallen
}

TEST_CASE("a factor after each of some updates") {
  const MultiFactorScheduler s{.step = {2, 5}, .factor = 0.1, .base_lr = 1};
  CHECK(s(2) == 1);
  CHECK(s(3) == 0.1);
  CHECK(s(5) == 0.1);
  CHECK(s(6) == 0.1 * 0.1);
}

TEST_CASE("from one rate to another") {
  const PolyScheduler poly{.max_update = 10, .base_lr = 1, .pwr = 3, .final_lr = 0.1};
  CHECK(poly(0) == 1);
  CHECK(poly(4) == Approx(0.1 + 0.9 * std::pow(0.6, 3)));
  CHECK(poly(10) == 0.1);
  CHECK(poly(11) == 0.1);
  const CosineScheduler cosine{.max_update = 10, .base_lr = 1, .final_lr = 0.1};
  CHECK(cosine(0) == 1);
  CHECK(cosine(5) == Approx(0.55));
  CHECK(cosine(2) == Approx(0.1 + 0.9 * (1 + std::cos(0.2 * 3.14159265358979)) / 2));
  CHECK(cosine(99) == Approx(0.1));
}

TEST_CASE("warm-up") {
  const FactorScheduler linear{.step = 100, .base_lr = 1, .warmup_steps = 4, .warmup_begin_lr = 0.2};
  CHECK(linear(0) == 0.2);
  CHECK(linear(1) == Approx(0.4));
  CHECK(linear(3) == Approx(0.8));
  CHECK(linear(4) == 1);
  const PolyScheduler poly{.max_update = 14, .base_lr = 1, .pwr = 1, .warmup_steps = 4};
  CHECK(poly(2) == 0.5);
  CHECK(poly(4) == 1);
  CHECK(poly(9) == 0.5);
  const CosineScheduler constant{
      .max_update = 14, .base_lr = 1, .warmup_steps = 4, .warmup_begin_lr = 0.25, .warmup_mode = Warmup::constant};
  CHECK(constant(3) == 0.25);
  CHECK(constant(9) == Approx(0.5));
  const MultiFactorScheduler multi{.step = {6}, .factor = 0.5, .base_lr = 1, .warmup_steps = 4};
  CHECK(multi(1) == 0.25);
  CHECK(multi(7) == 0.5);
}

TEST_CASE("what schedules refuse, where they are given to an optimizer") {
  const auto said = [](const auto& s) { return sentence([&] { Schedule{s}; }); };
  CHECK(said(FactorScheduler{}) == "FactorScheduler: step is missing");
  CHECK(said(FactorScheduler{.step = 0}) == "FactorScheduler: step is 0, expected 1 or more");
  CHECK(said(FactorScheduler{.step = 1, .factor = 1.5}) == "FactorScheduler: factor is 1.5, expected at most 1");
  CHECK(said(FactorScheduler{.step = 1, .warmup_steps = -1}) ==
        "FactorScheduler: warmup_steps is -1, expected 0 or more");
  CHECK(said(FactorScheduler{.step = 1, .base_lr = 1, .warmup_begin_lr = 2}) ==
        "FactorScheduler: warmup_begin_lr is 2, expected at most base_lr, 1");
  CHECK(said(MultiFactorScheduler{}) ==
        "MultiFactorScheduler: step is empty, expected numbers of updates from 1 on that rise");
  CHECK(said(MultiFactorScheduler{.step = {3, 3}}) ==
        "MultiFactorScheduler: step has 3 behind 3, expected numbers from 1 on that rise");
  CHECK(said(PolyScheduler{}) == "PolyScheduler: max_update is missing");
  CHECK(said(CosineScheduler{.max_update = 0}) == "CosineScheduler: max_update is 0, expected 1 or more");
  CHECK(said(PolyScheduler{.max_update = 5, .warmup_steps = 5}) ==
        "PolyScheduler: warmup_steps is 5, expected less than max_update, 5");
}

TEST_CASE("where an optimizer has its schedule begin") {
  const FactorScheduler bare{.step = 1, .factor = 0.5}, based{.step = 1, .factor = 0.5, .base_lr = 8};
  Said said;
  CHECK(Optimizer(Sgd{.lr_scheduler = bare}).learning_rate(1) == 0.01);
  CHECK(Optimizer(Adam{.lr_scheduler = bare}).learning_rate(1) == 0.001);
  CHECK(Optimizer(Sgd{.learning_rate = 4, .lr_scheduler = bare}).learning_rate(2) == 2);
  CHECK(Optimizer(Sgd{.lr_scheduler = based}).learning_rate(2) == 4);
  CHECK(Said::lines.empty());
  CHECK(Optimizer(Sgd{.learning_rate = 4, .lr_scheduler = based}).learning_rate(1) == 4);
  CHECK(Said::lines == std::vector<std::string>{"sgd: learning_rate 4 goes before base_lr 8 of lr_scheduler"});
  CHECK(Optimizer(Sgd{.learning_rate = 4, .lr_scheduler = [](std::int64_t n) { return 1.0 / static_cast<double>(n); }})
            .learning_rate(4) == 0.25);
}

TEST_CASE("updates go by the largest count of any key") {
  Updater updater(Sgd{.lr_scheduler = FactorScheduler{.step = 2, .factor = 0.5, .base_lr = 1}, .begin_num_update = 1});
  auto a = strop::array({0}), b = strop::array({0});
  const auto g = strop::array({1});
  CHECK(updater.num_update() == 1);
  updater("a", g, a);
  CHECK(a.item<float>() == -1);
  updater("a", g, a);
  CHECK(a.item<float>() == -1.5f);
  CHECK(updater.num_update() == 3);
  updater("b", g, b);  // its first update, and the third of the training
  CHECK(b.item<float>() == -0.5f);
  CHECK(updater.learning_rate() == 0.5);
  CHECK(sentence([&] { updater.set_learning_rate(1); }) ==
        "strop: set_learning_rate(): the learning rate of sgd follows from lr_scheduler");
}
