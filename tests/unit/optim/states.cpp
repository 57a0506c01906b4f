// SPDX-License-Identifier: Apache-2.0
/// \file
/// States as bytes and as files: training goes on from them bit for bit; what is damaged is refused by a sentence.
#include <unit/sentence.hpp>
#include <unit/tensor/format/bytes.hpp>
#include "training.hpp"

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

using namespace strop::optim;
using namespace optim_test;
using strop::NDArray;
using test::Folder;
using testing::sentence;

namespace {

struct Weights {
  NDArray dense = as_array(first_weight(6), {3, 2}), half = as_array(first_weight(5), {5}, strop::f16),
          sparse = as_array(first_weight(6), {3, 2}).to(strop::row_sparse);
  Weights copy() const { return {dense.copy(), half.copy(), sparse.copy()}; }
  std::vector<std::vector<float>> values() const {
    return {dense.to_vector<float>(), half.to_vector<float>(), sparse.to_vector<float>()};
  }
};
void train(Updater& updater, Weights& w, int from, int to) {
  for (int t = from; t < to; ++t) {
    updater("dense", as_array(gradients(6, t), {3, 2}), w.dense);
    updater(std::string("ha\0lf", 5), as_array(gradients(5, t), {5}, strop::f16), w.half);
    updater("sparse",
            strop::row_sparse_array(as_array(gradients(2, t), {1, 2}), strop::array(std::vector<std::int64_t>{t % 3}),
                                    {3, 2}),
            w.sparse);
  }
}

/// Training that is cut in the middle gives what an undisturbed one does, to the bit.
void goes_on(const Optimizer& optimizer) {
  CAPTURE(optimizer.name());
  Weights w;
  Updater updater(optimizer);
  train(updater, w, 1, 4);
  const std::string bytes = updater.states();
  Weights again = w.copy();
  train(updater, w, 4, 8);

  Updater other(optimizer);
  Weights gone;
  train(other, gone, 1, 2);  // what it has is replaced
  other.set_states(bytes);
  CHECK(other.states() == bytes);
  CHECK(other.num_update() == 3);
  train(other, again, 4, 8);
  CHECK(again.values() == w.values());
  CHECK(other.states() == updater.states());
}

std::string states_of_one() {
  Updater updater(Adam{});
  NDArray w = strop::array({1, 2});
  updater("w", strop::array({1, 2}), w);
  return updater.states();
}
std::string refusal(const std::string& bytes) {
  Updater updater(Adam{});
  NDArray w = strop::array({1, 2});
  updater("mine", strop::array({1, 2}), w);
  const std::string before = updater.states();
  const std::string said = sentence([&] { updater.set_states(bytes); });
  CHECK(updater.states() == before);
  return said;
}

}  // namespace

TEST_CASE("training goes on from states bit for bit") {
  const FactorScheduler falling{.step = 2, .factor = 0.5};
  strop::set_fallback(strop::Fallback::silent);
  goes_on(Sgd{.momentum = 0.9, .lr_scheduler = falling, .multi_precision = true});
  goes_on(Adam{.wd = 0.01, .lr_scheduler = CosineScheduler{.max_update = 6}, .multi_precision = true});
  goes_on(Nag{.momentum = 0.9});
  goes_on(RMSProp{.centered = true});
  goes_on(Lars{.momentum = 0.9, .lr_scheduler = falling, .multi_precision = true});
  goes_on(AdaDelta{.multi_precision = true});
  goes_on(Sgd{});
  strop::set_fallback(strop::Fallback::warn);
}

TEST_CASE("the same states are the same bytes, whatever the order of keys") {
  const auto bytes = [](const std::vector<std::string>& keys) {
    Updater updater(Sgd{.momentum = 0.5});
    for (const std::string& key : keys) {
      NDArray w = strop::array({1, 2});
      updater(key, strop::array({1, 2}), w);
    }
    return updater.states();
  };
  CHECK(bytes({"a", "b"}) == bytes({"b", "a"}));
  CHECK(bytes({}) == Updater(Sgd{}).states());
}

TEST_CASE("damaged states") {
  const std::string good = states_of_one();
  CHECK(sentence([&] { Updater(Adam{}).set_states(good); }).empty());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    CAPTURE(i);
    CHECK(refusal(bad).starts_with("strop: states of an updater: "));
    CHECK(refusal(good.substr(0, i)).starts_with("strop: states of an updater: "));
  }
  CHECK(refusal("") == "strop: states of an updater: these bytes are none, or their beginning is damaged");
  CHECK(refusal(good.substr(0, 12)) == "strop: states of an updater: they are cut off after 12 bytes");
  CHECK(refusal(good.substr(0, good.size() - 1)) ==
        strop::cat("strop: states of an updater: there are ", good.size() - 25, " bytes behind the header, which says ",
                   good.size() - 24));
  CHECK(refusal(good + "x").find("bytes behind the header") != std::string::npos);
  std::string bad = good;
  bad[good.size() - 1] ^= 1;
  CHECK(refusal(bad) == "strop: states of an updater: they are damaged: the CRC differs");
  bad = good;
  bad[8] = 2;
  CHECK(refusal(bad) == "strop: states of an updater: they are of version 2, expected 1");
  CHECK(sentence([&] { Updater(Sgd{}).set_states(good); }) ==
        "strop: states of an updater: they are of adam, the optimizer is sgd");
}

TEST_CASE("bytes with the right sum that nobody wrote") {
  const auto framed = [](const test::Bytes& rest) {
    test::Bytes whole;
    const auto size = static_cast<std::int64_t>(rest.text.size());
    whole.put("strop-st").put(std::uint32_t{1}).put(strop::detail::crc32(0, rest.text.data(), size));
    return whole.put(static_cast<std::uint64_t>(size)).put(rest.text).text;
  };
  const auto begun = [](std::uint64_t keys) {
    test::Bytes rest;
    return rest.put(std::uint64_t{4}).put("adam").put(std::int64_t{1}).put(keys);
  };
  CHECK(refusal(framed(test::Bytes().put(~std::uint64_t{0}))).find("the optimizer's name is longer") !=
        std::string::npos);
  CHECK(refusal(framed(begun(5))).find("ends within a key") != std::string::npos);
  CHECK(refusal(framed(begun(0).put("x"))).find("1 bytes follow the last state") != std::string::npos);
  test::Bytes many = begun(1);
  many.put(std::uint64_t{0}).put(std::int64_t{1}).put(0.5).put(std::uint8_t{0}).put(std::uint32_t{5});
  CHECK(refusal(framed(many)).find("a key has 5 states") != std::string::npos);
  test::Bytes twice = begun(2);
  for (int i = 0; i < 2; ++i)
    twice.put(std::uint64_t{1}).put("w").put(std::int64_t{1}).put(0.5).put(std::uint8_t{0}).put(std::uint32_t{0});
  CHECK(refusal(framed(twice)).find("a key stands there twice") != std::string::npos);
}

TEST_CASE("files of states") {
  const Folder folder;
  const std::string path = folder / "sgd.states";
  Updater updater(Sgd{.momentum = 0.5}), other(Sgd{.momentum = 0.5}), adam(Adam{});
  NDArray w = strop::array({1, 2});
  updater("w", strop::array({1, 2}), w);
  updater.save(path);
  other.load(path);
  CHECK(other.states() == updater.states());
  CHECK(sentence([&] { adam.load(path); }).find("they are of sgd, the optimizer is adam") != std::string::npos);
  CHECK(sentence([&] { other.load(path + "s"); }).find("No such file") != std::string::npos);
  CHECK(sentence([&] { updater.save(folder / "none/f"); }).find("No such file") != std::string::npos);
  std::ofstream(path, std::ios::binary) << "half";
  CHECK(sentence([&] { other.load(path); }).find("these bytes are none") != std::string::npos);
  CHECK(other.states() == updater.states());
  updater.save(path);  // over what is there
  Updater third(Sgd{.momentum = 0.5});
  third.load(path);
  CHECK(third.states() == updater.states());
}
