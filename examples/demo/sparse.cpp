// SPDX-License-Identifier: Apache-2.0
/// \file
/// `./run demo sparse [FILE [EPOCHS [PARTS]]]`: two models of sparse data learn from the package index of this machine,
/// or from a file of its form; under mpirun each worker has a part of every batch. One process with as many PARTS as
/// there would be workers has the same losses, to the last bit.
#include "../../src/progress.hpp"
#include "sparse_models.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace sparse_models;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Epochs with a falling rate and a line for each; `test` gives the share of packages of the test set that are right.
template <class Model, class Test>
void train(const Model& model, const NDArray& words, const NDArray& labels, Loss loss, float rate, int epochs,
           int parts, Test test) {
  Sharing sharing(parts);
  for (int e = 1; e <= epochs; ++e) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string title = "epoch " + std::to_string(e) + '/' + std::to_string(epochs);
    strop::command::Progress progress(title, words.shape()[0] / batch);
    const double mean =
        learn(model, words, labels, loss, rate * static_cast<float>(epochs + 1 - e) / static_cast<float>(epochs),
              sharing, [&] { progress.step(); });
    const double seconds = seconds_since(begin);
    progress.finish(fmt::format("loss {:.4f}  test accuracy {:.4f}  {:.2f} s", mean, test(), seconds));
  }
  if (sharing.store().num_workers() == 1) return;
  const strop::KVStore::Statistics all = sharing.store().statistics();
  fmt::print("each of {} workers sent about {:.1f} MB in {:.2f} s, of which the first waited {:.2f} s for others\n",
             sharing.parts(), static_cast<double>(all.sent) / 1e6, all.exchanging, all.waiting[0]);
}

/// Of 100: rows that are as the label says.
double share_right(const std::vector<std::int64_t>& found, const std::vector<std::int64_t>& expected) {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) right += found[i] == expected[i] ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(found.size());
}

void print_confusion(const std::vector<std::string>& names, const std::vector<std::int64_t>& found,
                     const std::vector<std::int64_t>& expected) {
  const auto shown = std::min<std::int64_t>(8, static_cast<std::int64_t>(names.size()));
  std::vector<std::int64_t> table(static_cast<std::size_t>(shown * (shown + 1)));
  for (std::size_t i = 0; i < found.size(); ++i)
    if (expected[i] < shown) ++table[static_cast<std::size_t>(expected[i] * (shown + 1) + std::min(found[i], shown))];
  fmt::print("\nconfusion of the largest sections (rows: what it is, columns: what was seen)\n{:>12}", "");
  for (std::int64_t k = 0; k < shown; ++k) fmt::print(" {:>10}", names[static_cast<std::size_t>(k)]);
  fmt::print(" {:>10}\n", "another");
  for (std::int64_t i = 0; i < shown; ++i) {
    fmt::print("{:>12}", names[static_cast<std::size_t>(i)]);
    for (std::int64_t k = 0; k <= shown; ++k)
      fmt::print(" {:>10}", table[static_cast<std::size_t>(i * (shown + 1) + k)]);
    fmt::print("\n");
  }
}

/// The same steps with a gradient that has every row.
void compare_with_dense(const Packages& packages) {
  const auto classes = static_cast<std::int64_t>(packages.sections.size());
  const PackageSet& data = packages.train;
  fmt::print("\none step of the linear model, with the gradient of its weight\n");
  for (const strop::Storage storage : {strop::row_sparse, strop::dense}) {
    const Linear model(data.words.shape()[1], classes, storage);
    constexpr int steps = 40;
    double bytes = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t b = step % (data.words.shape()[0] / batch);
      {
        strop::record scope;
        softmax_loss(model(data.words.slice(b * batch, (b + 1) * batch)),
                     data.sections.slice(b * batch, (b + 1) * batch));
      }
      const NDArray& weight = model.weight.value;
      strop::sgd_update(weight, weight.grad(), {.lr = 0.1f, .rescale_grad = 1.0f / batch}, strop::into(weight));
      const NDArray gradient = weight.grad();
      const auto rows = static_cast<double>(storage == strop::dense ? gradient.shape()[0] : gradient.nnz());
      bytes += rows * (static_cast<double>(classes) * 4 + (storage == strop::dense ? 0 : 8));
    }
    model.weight.value.wait();
    fmt::print("  {:<10}  {:8.3f} ms  {:10.1f} KB\n", storage == strop::dense ? "dense" : "row_sparse",
               seconds_since(begin) / steps * 1e3, bytes / steps / 1e3);
  }
}

int number_of(const char* what, const char* text, long most) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (*text == 0 || *end != 0 || number < 1 || number > most)
    strop::fail("demo sparse: '", text, "' is no number of ", what, ", expected 1 to ", most);
  return static_cast<int>(number);
}

/// The parts of each batch: one for each worker, where there are several.
int parts_of(int argc, char** argv) {
  const int asked = argc > 3 ? number_of("parts", argv[3], batch) : 1;
  if (!Sharing::is_under_mpirun()) {
    if (batch % asked != 0) strop::fail("demo sparse: a batch of ", batch, " has no ", asked, " equal parts");
    return asked;
  }
  const strop::KVStore workers = strop::KVStore::create("dist_sync");
  if (batch % workers.num_workers() != 0)
    strop::fail("demo sparse: a batch of ", batch, " has no ", workers.num_workers(),
                " equal parts, one for each worker");
  if (workers.rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr)
    strop::fail("demo sparse: /dev/null cannot be opened");
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const Packages packages = read_packages(argc > 1 ? argv[1] : "");
  const int epochs = argc > 2 ? number_of("epochs", argv[2], 1000) : 8;
  const int parts = parts_of(argc, argv);
  const PackageSet &data = packages.train, &tests = packages.test;
  const auto words = static_cast<std::int64_t>(packages.vocabulary.size()),
             classes = static_cast<std::int64_t>(packages.sections.size());
  fmt::print(
      "{} packages to learn from, {} to test (digest {:016x}); {} sections, {} words, {:.1f} of them a package\n",
      data.words.shape()[0], tests.words.shape()[0], packages.digest, classes, words,
      static_cast<double>(data.words.nnz()) / static_cast<double>(data.words.shape()[0]));
  strop::random::seed(1);

  fmt::print("\n-- 1. The section of a package: multinomial logistic regression\n");
  const Linear linear(words, classes);
  const std::vector<std::int64_t> expected = tests.sections.to_vector<std::int64_t>();
  std::vector<std::int64_t> found;
  train(linear, data.words, data.sections, softmax_loss, 0.6f, epochs, parts, [&] {
    found = strop::argmax(linear(tests.words), {.axis = 1}).to_vector<std::int64_t>();
    return share_right(found, expected);
  });
  print_confusion(packages.sections, found, expected);
  compare_with_dense(packages);

  fmt::print("\n-- 2. Whether it is a library: a line, and a factorization machine of 16 factors\n");
  const auto library = [&](const NDArray& sections) {
    NDArray is = strop::zeros(sections.shape());
    for (std::size_t s = 0; s < packages.sections.size(); ++s)
      if (packages.sections[s].starts_with("lib")) is = is + (sections == static_cast<float>(s));
    return is.reshape({-1, 1});
  };
  const NDArray train_labels = library(data.sections), test_labels = library(tests.sections);
  const std::vector<std::int64_t> is_library = test_labels.to_vector<std::int64_t>();
  const auto accuracy_of = [&](const auto& model) {
    return [&] { return share_right((model(tests.words) > 0).template to_vector<std::int64_t>(), is_library); };
  };
  const Linear line(words, 1);
  train(line, data.words, train_labels, logistic_loss, 0.5f, epochs, parts, accuracy_of(line));
  fmt::print("with factors\n");
  const Factors machine(words, 16);
  train(machine, data.words, train_labels, logistic_loss, 0.1f, epochs, parts, accuracy_of(machine));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
