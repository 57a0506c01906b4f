// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop train`: an MLP or LeNet on Fashion-MNIST, with any unary operator as activation.
#include "command.hpp"
#include "operator.hpp"
#include "picture.hpp"
#include "progress.hpp"
#include "train_network.hpp"
#include "train_workers.hpp"

#include <strop/data/idx.hpp>
#include <strop/memory/allocator.hpp>
#include <strop/strop.hpp>
#include <strop/tensor/format/file.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace strop::command {
namespace {

constexpr int classes = 10;
constexpr int timed_batches = 20;  // from which it is said how long the training takes
constexpr const char* labels[classes] = {"T-shirt", "Trouser", "Pullover", "Dress", "Coat",
                                         "Sandal",  "Shirt",   "Sneaker",  "Bag",   "Boot"};

Images read_images(const std::string& folder, const std::string& part) {
  const auto path = [&](const char* kind) {
    const std::string plain = cat(folder, '/', part, '-', kind, "-ubyte"), packed = plain + ".gz";
    std::FILE* file = std::fopen(packed.c_str(), "rb");
    if (file == nullptr) return plain;
    std::fclose(file);
    return packed;
  };
  const std::string image_file = path("images-idx3"), label_file = path("labels-idx1");
  const NDArray raw = load_idx(image_file), names = load_idx(label_file);
  if (raw.ndim() < 2 || raw.size() == 0)
    fail("train: ", image_file, " has shape ", raw.shape(), ", expected images of one pixel or more");
  const std::int64_t n = raw.shape()[0];
  if (names.shape() != Shape{n})
    fail("train: ", label_file, " has shape ", names.shape(), ", expected a label for each of ", n, " images");
  const std::vector<double> values = names.to_vector<double>();
  for (std::size_t i = 0; i < values.size(); ++i)  // they are indices from here on
    if (!(values[i] >= 0 && values[i] < classes) || values[i] != std::floor(values[i]))
      fail("train: ", label_file, ": label ", i, " is ", values[i], ", expected a class from 0 to ", classes - 1);
  return {raw.reshape({n, -1}).to(f32) / 255.0, names.to(f32)};
}

/// Rows of the images in another order; behind the last the first again.
void gather(const Images& from, const strop::detail::List<std::int64_t>& order, std::int64_t begin, const Images& to) {
  const std::int64_t count = to.pixels.shape()[0], width = from.pixels.shape()[1];
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = order[(begin + i) % order.size()];
    strop::detail::copy_bytes(to.pixels.pointer<float>() + i * width, from.pixels.pointer<float>() + row * width,
                              width * std::int64_t{sizeof(float)});
    to.classes.pointer<float>()[i] = from.classes.pointer<float>()[row];
  }
}

/// The activation called `name`, which has to work on one array without parameters and to keep its shape.
const Entry& activation_called(const std::string& name) {
  const Entry& entry = operator_called(name);
  const auto params = params_of(entry);
  const std::size_t inputs = detail::signature_of(entry, params->get(), 1).inputs.size();
  if (inputs != 1)
    throw WrongCall(cat("train: the activation ", entry.snake, " takes ", inputs, " inputs, expected 1"));
  const Shape shape{2, 256};
  if (const Shape made = detail::invoke_entry(entry, std::array{zeros(shape)}, {}, {})[0].shape(); made != shape)
    throw WrongCall(
        cat("train: the activation ", entry.snake, " makes shape ", made, " of ", shape, ", expected the same shape"));
  return entry;
}

void check_options(const TrainOptions& options) {
  if (options.epochs < 1) throw WrongCall(cat("train: --epochs is ", options.epochs, ", expected 1 or more"));
  if (options.batch < 1) throw WrongCall(cat("train: --batch is ", options.batch, ", expected 1 or more"));
  if (!(options.rate > 0) || !std::isfinite(options.rate))
    throw WrongCall(cat("train: --rate is ", options.rate, ", expected a number above 0"));
  if (!std::isfinite(options.momentum))
    throw WrongCall(cat("train: --momentum is ", options.momentum, ", expected a finite number"));
  if (!options.plot.empty()) {
    const detail::Output place(options.plot);  // refused before the work where it cannot be written
  }
  if (options.batch % options.parts != 0)
    throw WrongCall(cat("train: --batch is ", options.batch, ", expected a multiple of --parts, ", options.parts));
  if (options.checkpoint.empty() && (options.resume || options.checkpoint_every != 1))
    throw WrongCall(cat("train: ", options.resume ? "--resume" : "--checkpoint-every",
                        " needs --checkpoint, which says how the files are called"));
  if (!options.checkpoint.empty() && options.mode == "both")
    throw WrongCall("train: --checkpoint is of one training, and --mode both is two");
  if (options.net != "mlp" && options.net != "lenet")
    throw WrongCall(cat("train: --net is '", detail::printable(options.net, 100), "', expected mlp or lenet"));
  if (options.mode != "eager" && options.mode != "graph" && options.mode != "both")
    throw WrongCall(
        cat("train: --mode is '", detail::printable(options.mode, 100), "', expected eager, graph or both"));
}

/// The class of each image, a batch at a time; each worker finds a share of them.
std::vector<std::int64_t> predict(Network& network, const Images& images, const Images& batch, Workers& workers) {
  const std::int64_t count = images.pixels.shape()[0], begin = count * workers.rank() / workers.count(),
                     end = count * (workers.rank() + 1) / workers.count();
  strop::detail::List<std::int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const NDArray found = zeros({count});
  for (std::int64_t at = begin; at < end; at += batch.pixels.shape()[0]) {
    gather(images, order, at, batch);
    const NDArray scores = network.recognise();
    for (const float score : scores.to_vector<float>())
      if (!std::isfinite(score)) fail("train: the scores are no finite numbers; try a smaller --rate");
    const std::vector<float> classes_of = argmax(scores, {.axis = 1}).to_vector<float>();
    std::copy_n(classes_of.begin(), std::min<std::int64_t>(scores.shape()[0], end - at), found.pointer<float>() + at);
  }
  return workers.sum("classes that were found", {found}).to_vector<std::int64_t>();
}

/// How a training went.
struct Training {
  std::string mode, title;
  std::vector<double> losses, accuracies;  // of each epoch
  std::vector<std::int64_t> found;         // classes of the images for testing, after the last one
  double seconds = 0;
  std::int64_t most_bytes = 0;  // beside the images
  std::string exchanged;        // of several workers
};

std::string in_epochs(int count) { return cat(count, count == 1 ? " epoch" : " epochs"); }

/// What --progress says, every five seconds.
class Pace {
 public:
  explicit Pace(bool says) : says_(says) {}
  void step(Progress& bar, const std::string& where, std::int64_t images, SharedWeights* shared) {
    images_ += images;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
    if (!says_ || seconds < 5) return;
    std::string line = cat(where, "  ", std::round(static_cast<double>(images_) / seconds), " images/s");
    if (shared != nullptr)
      if (const std::string slow = shared->slowest(); !slow.empty()) line += "  " + slow;
    bar.say(line);
    since_ = std::chrono::steady_clock::now();
    images_ = 0;
  }

 private:
  bool says_;
  std::int64_t images_ = 0;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// The sum of −log p of the right classes of a batch.
double loss_of(const NDArray& probabilities, const Images& batch) {
  const float* const p = probabilities.pointer<float>();
  double total = 0;
  for (std::int64_t i = 0; i < batch.classes.shape()[0]; ++i) {
    const double right = p[i * classes + static_cast<std::int64_t>(batch.classes.pointer<float>()[i])];
    total -= std::log(right < 1e-12 ? 1e-12 : right);  // one that is not a number stays
  }
  return total;
}

/// Trains a network from its first parameters on; every training of the same options draws the same numbers.
Training train_in(const std::string& mode, TrainOptions options, const Entry& activation, const Images& images,
                  const Images& tests, Workers& workers) {
  options.mode = mode;
  memory::reset_peak(cpu());
  const std::int64_t beside = memory::statistics(cpu()).live_bytes;
  random::seed(options.seed);
  const int parts = workers.parts(), size = options.batch / parts;  // of the part of a batch that is computed at once
  const Images batch{NDArray({size, images.pixels.shape()[1]}), NDArray({size})};
  Network network(options, activation, batch, classes);
  const std::int64_t count = images.pixels.shape()[0], batches = count / options.batch;
  Training out{mode, network.title(), {}, {}, {}, 0, 0, {}};
  const Checkpoints checkpoints(options, count);
  const int done = options.resume ? checkpoints.load(workers, network, out.losses, out.accuracies) : 0;
  std::optional<SharedWeights> shared;
  if (!workers.type().empty()) shared.emplace(workers, options, network, batches);
  if (done != 0) shared->load_states(checkpoints.path(done, "states"));
  const bool first = workers.is_first();
  Pace pace(options.progress && first);
  if (first)
    std::printf("%lld images, %lld for testing; %s with %s, batch %d, rate %g, momentum %g, mode %s\n",
                static_cast<long long>(count), static_cast<long long>(tests.pixels.shape()[0]), out.title.c_str(),
                std::string(activation.snake).c_str(), options.batch, options.rate, options.momentum, mode.c_str());
  strop::detail::List<std::int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (workers.are_several() && first) std::printf("%d workers, store %s\n", workers.count(), workers.type().c_str());
  if (options.resume && first)
    std::printf("%s\n", done != 0
                            ? cat("goes on from ", checkpoints.path(done, "params")).c_str()
                            : cat("there is no checkpoint ", options.checkpoint, "-0001.params or later").c_str());
  if (done == options.epochs) out.found = predict(network, tests, batch, workers);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const auto begin = std::chrono::steady_clock::now();
    const random::Stream stream = random::next();
    for (std::int64_t i = count - 1; i > 0; --i)
      std::swap(order[i], order[static_cast<std::uint64_t>(stream.bits(i)) * static_cast<std::uint64_t>(i + 1) >> 32]);
    if (epoch < done) continue;  // the order of the images follows from those before
    const double rate = rate_of(options, epoch);
    std::vector<NDArray> losses;  // of the batches, of each part of this worker's
    for (int part = 0; part < workers.own_parts(); ++part) losses.push_back(zeros({batches}, f64));
    Progress progress(cat("epoch ", epoch + 1, '/', options.epochs), batches);
    for (std::int64_t b = 0; b < batches; ++b) {
      if (!workers.takes(b)) continue;
      for (int part = 0; part < workers.own_parts(); ++part) {
        gather(images, order, b * options.batch + (workers.first_part() + part) * size, batch);
        const NDArray probabilities = network.gradients();
        if (shared) shared->add_part();
        losses[static_cast<std::size_t>(part)].pointer<double>()[b] = loss_of(probabilities, batch);
      }
      shared ? shared->step() : network.step(static_cast<float>(rate), static_cast<float>(options.momentum));
      if (!first) continue;
      progress.step();
      pace.step(progress, cat("epoch ", epoch + 1, '/', options.epochs, "  batch ", b + 1, '/', batches), options.batch,
                shared ? &*shared : nullptr);
      if (epoch == done && workers.wait_for_each_other() && b + 1 == timed_batches) {
        const double so_far = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const double whole = so_far / timed_batches * static_cast<double>(batches * (options.epochs - done));
        progress.say(cat("about ", std::ceil(whole), " s for ", in_epochs(options.epochs - done)));
      }
    }
    if (shared) shared->settle();
    const std::vector<double> of_batches = workers.sum("losses", losses).to_vector<double>();
    const double total = std::accumulate(of_batches.begin(), of_batches.end(), 0.0);
    const double loss = total / static_cast<double>(batches * options.batch);
    if (!std::isfinite(loss)) fail("train: the loss is not a number in epoch ", epoch + 1, "; try a smaller --rate");
    out.found = predict(network, tests, batch, workers);
    std::int64_t right = 0;
    for (std::size_t i = 0; i < out.found.size(); ++i)
      right += out.found[i] == static_cast<std::int64_t>(tests.classes.pointer<float>()[i]) ? 1 : 0;
    out.losses.push_back(loss);
    out.accuracies.push_back(static_cast<double>(right) / static_cast<double>(out.found.size()));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    out.seconds += seconds;
    if (checkpoints.are_due(epoch + 1))
      checkpoints.save(epoch + 1, network, *shared, first, out.losses, out.accuracies);
    if (!first) continue;
    progress.finish(cat("loss ", std::round(loss * 1e4) / 1e4, "  test accuracy ",
                        std::round(out.accuracies.back() * 1e4) / 1e4, "  ", std::round(seconds * 10) / 10, " s"));
  }
  out.most_bytes = memory::statistics(cpu()).peak_bytes - beside;
  if (shared && workers.are_several()) out.exchanged = shared->exchanged();
  return out;
}

void print_confusion(const std::vector<std::int64_t>& found, const Images& tests) {
  std::int64_t table[classes][classes] = {};
  for (std::size_t i = 0; i < found.size(); ++i) ++table[static_cast<int>(tests.classes.pointer<float>()[i])][found[i]];
  std::printf("\nconfusion (rows: what it is, columns: what was seen)\n%10s", "");
  for (const char* label : labels) std::printf(" %8s", label);
  std::printf("\n");
  for (int i = 0; i < classes; ++i) {
    std::printf("%10s", labels[i]);
    for (int k = 0; k < classes; ++k) std::printf(" %8lld", static_cast<long long>(table[i][k]));
    std::printf("\n");
  }
}

/// How far the losses of two trainings are apart: the difference over the larger of them, at most; NaN where one
/// of the losses is none.
double apart(const Training& a, const Training& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.losses.size(); ++i)
    if (a.losses[i] != b.losses[i]) {
      const double difference = std::abs(a.losses[i] - b.losses[i]) / std::max(a.losses[i], b.losses[i]);
      if (std::isnan(difference)) return difference;
      most = std::max(most, difference);
    }
  return most;
}

}  // namespace

int train(const TrainOptions& options) {
  const Entry& activation = activation_called(options.activation);
  check_options(options);
  const Images images = read_images(options.data, "train"), tests = read_images(options.data, "t10k");
  if (tests.pixels.shape()[1] != images.pixels.shape()[1])
    fail("train: images have ", images.pixels.shape()[1], " pixels, those for testing ", tests.pixels.shape()[1]);
  if (options.batch > images.pixels.shape()[0])
    throw WrongCall(cat("train: --batch is ", options.batch, ", more than the ", images.pixels.shape()[0],
                        " images in ", options.data));
  Workers workers(options);
  std::vector<Training> trainings;
  for (const char* mode : {"eager", "graph"})
    if (options.mode == mode || options.mode == "both")
      trainings.push_back(train_in(mode, options, activation, images, tests, workers));
  if (!workers.is_first()) return 0;
  const Training& last = trainings.back();
  print_confusion(last.found, tests);
  std::printf("\ntest accuracy %.4f after %s, best %.4f\n", last.accuracies.back(), in_epochs(options.epochs).c_str(),
              *std::max_element(last.accuracies.begin(), last.accuracies.end()));
  std::vector<Curve> curves;
  for (const Training& one : trainings) {
    std::printf("mode %s: %.1f s, at most %.1f MB beside the images\n", one.mode.c_str(), one.seconds,
                static_cast<double>(one.most_bytes) / 1e6);
    if (!one.exchanged.empty()) std::printf("%s\n", one.exchanged.c_str());
    const std::string in = trainings.size() == 1 ? "" : cat(", ", one.mode);
    curves.push_back({cat("training loss", in), one.losses});
    curves.push_back({cat("test accuracy", in), one.accuracies});
  }
  if (trainings.size() == 2)
    std::printf("losses of the two are apart by at most %.1e of themselves\n", apart(trainings[0], trainings[1]));
  if (!options.plot.empty()) {
    draw_curves(options.plot, cat(last.title, ", ", activation.snake), curves);
    std::printf("picture: %s\n", options.plot.c_str());
  }
  return 0;
}

}  // namespace strop::command
