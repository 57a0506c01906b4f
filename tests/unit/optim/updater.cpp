// SPDX-License-Identifier: Apache-2.0
/// \file
/// Updater: factors by key and name, parameters from text, a program's own optimizers, what is refused.
#include <unit/sentence.hpp>
#include "training.hpp"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace strop::optim;
using strop::NDArray;
using testing::sentence;

namespace own {

/// A running mean of gradients, as a rule.
struct Heavy {
  double learning_rate = 0.5, decay = 0.5;
  constexpr auto rule(const Step& step, auto weight, auto grad, auto average) const {
    const auto next = decay * average + (1 - decay) * grad;
    return std::make_tuple(weight - step.lr * next, next);
  }
};
static_assert(std::get<0>(Heavy{}.rule({.lr = 0.5}, 1.0, 2.0, 4.0)) == -0.5);

/// No state, and only the new weight.
struct Plain {
  float learning_rate = 0.25f;
  constexpr auto rule(const Step& step, auto weight, auto grad) const { return weight - step.lr * grad; }
};

/// An update of arrays with states of its own shape, every parameter that is common, and a range.
struct Counting {
  double learning_rate = 1, floor = 0;
#include <strop/optim/common.def>
  static constexpr strop::Range range[] = {{"floor", 0, 1}};
  static inline std::vector<std::string> names;

  NDArray make_state(int i, const NDArray& weight) const { return strop::full({1}, 10 * (i + 1), weight.dtype()); }
  void update(const Step& step, NDArray& weight, const NDArray& grad, NDArray& first, NDArray& second) const {
    names.emplace_back(step.name);
    first = first + step.t;
    second = second + first;
    strop::sgd_update(weight, grad, {.lr = static_cast<float>(step.lr), .wd = static_cast<float>(step.wd)},
                      strop::into(weight));
  }
};

}  // namespace own

namespace {
/// What one update by a gradient of 1 makes of a weight of 1.
float updated(Updater& updater, const std::string& key) {
  NDArray w = strop::array({1});
  updater(key, strop::array({1}), w);
  return w.item<float>();
}
}  // namespace

TEST_CASE("factors of rates by key, and by the name that a key has") {
  Updater updater(Sgd{.learning_rate = 0.5, .param_idx2name = {{"0", "a_weight"}, {"1", "b_weight"}}});
  updater.set_lr_mult({{"a_weight", 0.5}, {"1", 0}, {"b_weight", 9}, {"w", 2}});
  CHECK(updated(updater, "0") == 0.75f);
  CHECK(updated(updater, "1") == 1);
  CHECK(updated(updater, "w") == 0);
  CHECK(updated(updater, "other") == 0.5f);
  updater.set_lr_mult({{"0", 1}});  // in place of those before, of keys that are there as well
  CHECK(updated(updater, "0") == 0.5f);
  CHECK(updated(updater, "1") == 0.5f);
}

TEST_CASE("weight decay goes by the names that keys have, as in MXNet") {
  const KeyNames names{{"0", "a_weight"}, {"1", "a_bias"}, {"2", "n_gamma"}, {"3", "n_beta"}};
  const Sgd sgd{.learning_rate = 0.5, .wd = 1, .param_idx2name = names};
  const float decayed = 0, plain = 0.5f;
  Updater updater(sgd);
  CHECK(updated(updater, "0") == decayed);
  CHECK(updated(updater, "1") == plain);
  CHECK(updated(updater, "2") == decayed);
  CHECK(updated(updater, "3") == plain);
  CHECK(updated(updater, "b_bias") == decayed);  // a key without a name
  updater.set_wd_mult({{"a_bias", 1}, {"0", 0}, {"b_bias", 0}});
  CHECK(updated(updater, "0") == plain);
  CHECK(updated(updater, "1") == decayed);
  CHECK(updated(updater, "3") == plain);
  CHECK(updated(updater, "b_bias") == plain);

  Updater lars(Lars{.learning_rate = 0.5, .eta = 1, .wd = 1, .param_idx2name = names});
  CHECK(updated(lars, "2") == plain);  // of LARS gamma has none
  CHECK(updated(lars, "0") == doctest::Approx(1 - 0.5 * (1.0 / (1 + 1)) * 2));
}

TEST_CASE("optimizers are values, and take parameters from text") {
  Optimizer sgd = Sgd{.learning_rate = 0.5, .momentum = 0.25};
  const Optimizer before = sgd;
  sgd.set("momentum", "0.75");
  sgd.set("clip_gradient", "2");
  sgd.set_learning_rate(0.1);
  CHECK(sgd.text() ==
        "sgd(learning_rate=0.1, momentum=0.75, lazy_update=True, wd=0, rescale_grad=1, clip_gradient=2, "
        "lr_scheduler=None, begin_num_update=0, multi_precision=False, param_idx2name={})");
  CHECK(sgd.learning_rate() == 0.1);
  CHECK(before.learning_rate() == 0.5);
  CHECK(before.text().find("momentum=0.25") != std::string::npos);
  CHECK(sentence([&] { sgd.set("momentun", "1"); }).find("momentum") != std::string::npos);
  CHECK(sentence([&] { sgd.set("momentum", "fast"); }).find("fast") != std::string::npos);
  CHECK(sgd.text().find("momentum=0.75") != std::string::npos);
}

TEST_CASE("optimizers by name") {
  for (const char* name :
       {"sgd", "nag", "signum", "adam", "adamax", "adagrad", "adadelta", "rmsprop", "ftrl", "ftml", "lamb", "lars"})
    CHECK(create(name).name() == name);
  CHECK(Optimizer(own::Heavy{}).name() == "heavy");
  CHECK(create("sgd", {{"momentum", "0.5"}, {"wd", "0.25"}}).text() ==
        Optimizer(Sgd{.momentum = 0.5, .wd = 0.25}).text());
  CHECK(sentence([] {
          create("adamm");
        }).starts_with("strop: optim::create(): there is no optimizer 'adamm', but adam, adamax"));
  CHECK(sentence([] { create("adam", {{"momentum", "0.5"}}); }).find("momentum") != std::string::npos);
}

TEST_CASE("a parameter that is changed counts from the next update on") {
  Updater updater(Sgd{.learning_rate = 0.5});
  CHECK(updated(updater, "w") == 0.5f);
  updater.set("rescale_grad", "0.5");
  CHECK(updated(updater, "w") == 0.75f);
  updater.set_learning_rate(1);
  CHECK(updated(updater, "w") == 0.5f);
  CHECK(updater.optimizer().learning_rate() == 1);
  CHECK(updater.learning_rate() == 1);
}

TEST_CASE("rules of a program") {
  Updater heavy(own::Heavy{}), plain(own::Plain{});
  NDArray w = strop::array({1, 2}), other = w.copy();
  heavy("w", strop::array({2, 4}), w);
  CHECK(w.to_vector<float>() == std::vector<float>{0.5, 1});
  heavy("w", strop::array({2, 0}), w);
  CHECK(w.to_vector<float>() == std::vector<float>{-0.25, 0.5});
  plain("w", strop::array({4, 8}), other);
  CHECK(other.to_vector<float>() == std::vector<float>{0, 0});
  NDArray wide = strop::array<double>({1});
  heavy("wide", strop::array<double>({1}), wide);
  CHECK(wide.item<double>() == 0.75);
}

TEST_CASE("updates of a program, with states of their own") {
  own::Counting::names.clear();
  Updater updater(own::Counting{.wd = 1, .begin_num_update = 2, .param_idx2name = {{"0", "a_bias"}}});
  NDArray w = strop::array({1, 1});
  updater("0", strop::array({1, 1}), w);
  updater("k", strop::array({1, 1}), w);
  CHECK(own::Counting::names == std::vector<std::string>{"a_bias", "k"});
  CHECK(w.to_vector<float>() == std::vector<float>{-1, -1});  // 0 without decay, then −1
  CHECK(sentence([] { Optimizer{own::Counting{.floor = 2}}; }) ==
        "counting: parameter 'floor' is 2, expected a value from 0 to 1");
}

TEST_CASE("what an update refuses") {
  Updater updater(Sgd{});
  NDArray w = strop::array({1, 2}), none;
  const NDArray g = strop::array({1, 2});
  CHECK(sentence([&] { updater("w", g, none); }) == "strop: update of 'w': the weight is no array");
  CHECK(sentence([&] { updater("a\nb", none, w); }) == "strop: update of 'a\\x0ab': the gradient is no array");
  CHECK(sentence([&] { updater("w", strop::array({1}), w); }) ==
        "strop: update of 'w': the gradient has shape (1,), the weight (2,)");
  CHECK(sentence([&] { updater("w", g.to(strop::f64), w); }) ==
        "strop: update of 'w': the gradient is float64, the weight float32");
  CHECK(updater.num_update() == 0);
  updater("w", g, w);
  updater.set("momentum", "0.5");
  CHECK(sentence([&] { updater("w", g, w); }) ==
        "strop: update of 'w': what is kept of it was made with other parameters of sgd: 0 states, expected 1");
}

TEST_CASE("keys are any text, and each has its own states and count") {
  Updater updater(Adam{.learning_rate = 1});
  const std::vector<std::string> keys{"", "w", std::string("a\0b", 3), "\xc3\xa9", std::string(300, 'k')};
  for (int t = 0; t < 2; ++t)
    for (const std::string& key : keys) CHECK(updated(updater, key) == doctest::Approx(0).epsilon(1e-5));
  CHECK(updater.num_update() == 2);
}

TEST_CASE("an update that is refused has changed nothing") {
  Updater updater(Adam{});
  NDArray whole = strop::ones({2}, strop::i32), w = strop::ones({2});
  CHECK_THROWS(updater("w", whole.copy(), whole));
  CHECK(updater.num_update() == 0);
  CHECK(updater.states() == Updater(Adam{}).states());
  updater("w", w.copy(), w);
  CHECK(updater.num_update() == 1);

  const Updater other = std::move(updater);
  CHECK(sentence([&] { (void)updater.num_update(); }) == "strop: this updater was moved to another one");  // NOLINT
  CHECK(other.num_update() == 1);
}

TEST_CASE("a schedule that does not begin at the rate is refused where the optimizer is made") {
  const strop::optim::FactorScheduler warm{
      .step = 10, .factor = 0.5, .base_lr = 0.1, .warmup_steps = 5, .warmup_begin_lr = 0.01};
  CHECK(sentence([&] {
          (void)Optimizer(Sgd{.learning_rate = 0.001, .lr_scheduler = warm});
        }).find("warmup_begin_lr is 0.01") != std::string::npos);
}
