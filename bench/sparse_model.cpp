// SPDX-License-Identifier: Apache-2.0
/// \file
/// Training on sparse data: an epoch of multinomial logistic regression on this machine's package index, in batches,
/// and logistic regression of single samples. Without an index the first is left out.
#include "../examples/demo/sparse_models.hpp"
#include "measure.hpp"

#include <algorithm>
#include <filesystem>

namespace {

using namespace sparse_models;

void save_for_peers(const char* part, const PackageSet& set) {
  if (const char* folder = std::getenv("STROP_BENCH_DATA"))
    strop::save((std::filesystem::path(folder) / (std::string("packages-") + part + ".npz")).string(),
                {{"data", set.words.data()},
                 {"indices", set.words.indices()},
                 {"indptr", set.words.indptr()},
                 {"shape", strop::array<std::int64_t>({set.words.shape()[0], set.words.shape()[1]})},
                 {"labels", set.sections}});
}

void epoch_of_packages() {
  if (!bench::wanted("epoch")) return;
  Packages packages;
  try {
    packages = read_packages("");
  } catch (const strop::Error& error) {
    std::printf("# %s\n", error.what());
    return;
  }
  save_for_peers("train", packages.train);
  save_for_peers("test", packages.test);
  constexpr int epochs = 8;
  const Linear model(static_cast<std::int64_t>(packages.vocabulary.size()),
                     static_cast<std::int64_t>(packages.sections.size()));
  double best = 1e300;
  for (int e = 0; e < epochs; ++e) {
    const auto begin = std::chrono::steady_clock::now();
    learn(model, packages.train.words, packages.train.sections, softmax_loss,
          0.6f * static_cast<float>(epochs - e) / epochs, [] {});
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count());
  }
  const strop::NDArray found = strop::argmax(model(packages.test.words), {.axis = 1});
  bench::line("epoch of the package index", best);
  std::printf("# strop: %d epochs in batches of %d, test accuracy %.4f (digest %016llx)\n", epochs,
              static_cast<int>(batch), strop::mean(found == packages.test.sections).item<float>(),
              static_cast<unsigned long long>(packages.digest));
}

/// Batches of one sample of 40 stored values, by the public calls alone.
void single_samples() {
  constexpr std::int64_t samples = 512, words = 1 << 20;
  std::vector<strop::NDArray> x, y;
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < samples; ++i) {
    strop::NDArray row = strop::zeros({40}, strop::i64), ones = strop::full({40}, 0.2f);
    for (std::int64_t k = 0; k < 40; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      row.pointer<std::int64_t>()[k] = k * (words / 40) + static_cast<std::int64_t>((state >> 33) % (words / 40));
    }
    x.push_back(strop::csr_matrix(ones, row, strop::array<std::int64_t>({0, 40}), {1, words}));
    y.push_back(strop::full({1, 1}, static_cast<float>(i % 2)));
  }
  const strop::NDArray weight = strop::zeros({words, 1});
  weight.attach_grad(strop::GradRequest::write, strop::row_sparse);
  bench::Contest contest;
  std::size_t at = 0;
  contest.add([&] {
    {
      strop::record scope;
      strop::logistic_regression_output(strop::dot(x[at], weight), y[at]).backward();
    }
    strop::sgd_update(weight, weight.grad(), {.lr = 0.1f}, strop::into(weight));
    at = (at + 1) % samples;
  });
  contest.run();
  bench::line("a sample of 40 stored values", contest.best(0));
  std::printf("# strop: %.0f samples a second at batch 1\n", 1e9 / contest.best(0));
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  if (bench::wanted("sample")) single_samples();
  epoch_of_packages();
}
