// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop train`: what it refuses, and the same losses in both modes.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <strop/core/text.hpp>

#include "progress.hpp"
#include "shell.hpp"

using namespace strop;
using command_tests::Said, command_tests::strop_says;

namespace {

/// An idx file of bytes.
void put_idx(const std::string& path, const std::vector<std::uint32_t>& shape, const std::string& values) {
  std::string file{0, 0, 8, static_cast<char>(shape.size())};
  for (const std::uint32_t extent : shape)
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(extent >> shift & 255U);
  test::put_file(path, file + values);
}

/// Four files of small images: label i % 10 for image i.
void put_images(const test::Folder& folder, std::uint32_t train = 20, std::uint32_t tests = 10,
                std::uint32_t side = 4) {
  for (const bool part : {false, true}) {
    const std::uint32_t n = part ? tests : train;
    const std::string name = part ? "t10k" : "train";
    std::string pixels, labels;
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t k = 0; k < side * side; ++k) pixels += static_cast<char>(i * k % 251);
      labels += static_cast<char>(i % 10);
    }
    put_idx(folder / (name + "-images-idx3-ubyte").c_str(), {n, side, side}, pixels);
    put_idx(folder / (name + "-labels-idx1-ubyte").c_str(), {n}, labels);
  }
}

}  // namespace

TEST_CASE("train checks what it is given before it works") {
  const auto said = [](const test::Folder& folder, const std::string& more) {
    return strop_says(folder, "train --data . --epochs 1 --batch 10 " + more);
  };
  const test::Folder good;
  put_images(good);
  CHECK(said(good, "").code == 0);
  CHECK(said(good, "--activation leaky_relu").code == 0);
  CHECK(said(good, "--activation elemwise_add").has("elemwise_add takes 2 inputs, expected 1"));
  CHECK(said(good, "--activation clip").has("clip: parameter 'a_min' (double) is required"));
  CHECK(said(good, "--activation sum").has("makes shape (1,) of (2, 256)"));
  CHECK(said(good, "--plot no/such/p.svg").err == "strop: save(\"no/such/p.svg\"): No such file or directory\n");
  for (const char* rate : {"nan", "inf", "0", "-1"}) {
    CHECK(said(good, cat("--rate ", rate)).code == 2);
    CHECK(said(good, cat("--rate ", rate)).has("expected a number above 0"));
  }
  const Said far = said(good, "--rate 1e30");
  CHECK(far.code == 1);
  CHECK(far.has("try a smaller --rate"));
  CHECK(strop_says(good, "train --data . --batch 21").has("--batch is 21, more than the 20 images in ."));

  const auto refused = [&](const char* file, const std::vector<std::uint32_t>& shape, const std::string& values,
                           const char* why) {
    const test::Folder folder;
    put_images(folder);
    put_idx(folder / file, shape, values);
    const Said bad = said(folder, "");
    CAPTURE(bad.err);
    CHECK(bad.code == 1);
    CHECK(bad.has(why));
  };
  refused("train-labels-idx1-ubyte", {20}, std::string(19, '\1') + '\12',
          "label 19 is 10, expected a class from 0 to 9");
  refused("t10k-labels-idx1-ubyte", {10}, std::string(10, '\377'), "label 0 is 255, expected a class from 0 to 9");
  refused("train-labels-idx1-ubyte", {}, "1", "has shape (), expected a label for each of 20 images");
  refused("train-images-idx3-ubyte", {}, "1", "has shape (), expected images");
  refused("t10k-images-idx3-ubyte", {0, 4, 4}, "", "has shape (0, 4, 4), expected images");
  refused("t10k-images-idx3-ubyte", {10, 2, 2}, std::string(40, '\1'), "images have 16 pixels, those for testing 4");
  refused("train-images-idx3-ubyte", {0xffffffffU, 0xffffffffU, 0xffffffffU}, "", "an array cannot have shape");
}

TEST_CASE("train as a graph: the losses and the accuracy of training call by call") {
  const test::Folder folder;
  put_images(folder, 60, 26, 20);  // 26 are no whole number of batches
  for (const char* net : {"mlp", "lenet"}) {
    CAPTURE(net);
    std::vector<std::string> lines[2];
    for (const bool graph : {false, true}) {
      const Said said =
          strop_says(folder, cat("train --data . --epochs 2 --batch 10 --activation tanh --rate 0.01 --net ", net,
                                 graph ? " --mode graph" : " --mode eager"));
      CAPTURE(said.err);
      CHECK(said.code == 0);
      CHECK(said.out.find(graph ? "\nmode graph: " : "\nmode eager: ") != std::string::npos);
      CHECK(said.out.find(" MB beside the images\n") != std::string::npos);
      for (const char* epoch : {"epoch 1/2  loss ", "epoch 2/2  loss ", "  Trouser "}) {
        const std::size_t at = said.out.find(epoch);
        REQUIRE(at != std::string::npos);
        lines[graph ? 1 : 0].push_back(said.out.substr(at, said.out.find("  ", at + 20) - at));  // without the time
      }
    }
    CHECK(lines[0] == lines[1]);
    const Said both = strop_says(
        folder, cat("train --data . --epochs 2 --batch 10 --activation tanh --rate 0.01 --mode both --net ", net));
    CHECK(both.code == 0);
    CHECK(both.out.find("\nmode eager: ") < both.out.find("\nmode graph: "));
    const std::string apart = "losses of the two are apart by at most ";
    const std::size_t at = both.out.find(apart);
    REQUIRE(at != std::string::npos);
    CHECK(std::stod(both.out.substr(at + apart.size())) < 1e-5);
  }
  const auto refused = [&](const char* words, const char* why) {
    const Said said = strop_says(folder, cat("train --data . --batch 10 ", words));
    CHECK(said.code == 2);
    CHECK(said.err == why);
  };
  refused("--net vgg", "strop: train: --net is 'vgg', expected mlp or lenet\n");
  refused("--mode lazy", "strop: train: --mode is 'lazy', expected eager, graph or both\n");
  const test::Folder small;
  put_images(small);
  CHECK(strop_says(small, "train --data . --batch 10 --net lenet").err ==
        "strop: train: images have 16 pixels, and lenet takes square ones of 16 × 16 or more\n");
}

TEST_CASE("a progress bar is shorter than the terminal") {
  const std::string title = "epoch 10/10";
  CHECK(command::progress_line(title, 50, 80) == title + " [" + std::string(15, '#') + std::string(15, '.') + "]  50%");
  for (int columns = 0; columns < 100; ++columns)
    for (const std::int64_t percent : {0, 7, 100}) {
      const std::string line = command::progress_line(title, percent, columns);
      CHECK(static_cast<int>(line.size()) < std::max(columns, 1));
      if (columns > 6) CHECK(line.ends_with(cat(percent, '%')));
    }
}
