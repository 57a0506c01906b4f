// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop info`: what was built, and what it runs on; how matrix products and
/// convolutions of some shapes and sparse work are computed.
#include "about.hpp"
#include "command.hpp"
#include "products.hpp"

#include <strop/strop.hpp>

#include <cstdio>

namespace strop::command {

std::string version() { return STROP_VERSION; }

namespace {

const detail::ProductKernels& product_kernels() {
  const detail::ProductKernels* const kernels = detail::product_kernels.load();
  if (kernels == nullptr) fail("info: this program has no kernels of matrix products");
  return *kernels;
}

/// The routes of float32 products by shape, each from the function that chooses them, of the kernels that are taken.
int products() {
  const detail::ProductKernels& kernels = product_kernels();
  struct Row {
    std::int64_t m, n, k;
    bool a_transposed, b_transposed;
  };
  static constexpr Row rows[] = {
      {16, 16, 16, false, false},     {64, 64, 64, false, false},     {128, 128, 128, false, false},
      {256, 256, 256, false, false},  {512, 512, 512, false, false},  {1024, 1024, 1024, false, false},
      {16, 1024, 1024, false, false}, {64, 1024, 1024, false, false}, {4096, 64, 576, false, false},
      {128, 256, 784, false, true},   {256, 784, 128, true, false},   {128, 10, 256, false, true},
      {10, 256, 128, true, false},    {128, 256, 10, false, false},   {1, 256, 784, false, true},
      {256, 784, 1, true, false},     {1024, 1, 1024, false, false},  {1, 1024, 1024, false, false},
      {4096, 1, 4096, false, false}};
  std::printf("%-22s kernels of %s: tiles of at most %d x %lld; A', B': stored transposed\n", "m x n x k, float32",
              std::string(kernels.isa.name).c_str(), kernels.rows, static_cast<long long>(kernels.cols));
  for (const Row& r : rows) {
    const std::string what = cat(r.m, 'x', r.n, 'x', r.k, r.a_transposed ? " A'" : "", r.b_transposed ? " B'" : "");
    const std::string_view how = kernels.route(r.m, r.n, r.k, r.a_transposed, r.b_transposed);
    std::printf("%-22s %.*s\n", what.c_str(), static_cast<int>(how.size()), how.data());
  }
  return 0;
}

/// The same of float32 convolutions and their gradients.
int convolutions() {
  const detail::ProductKernels& kernels = product_kernels();
  static constexpr detail::ConvolutionShape rows[] = {
      {32, 1, 20, 1, 5, 1, 1, 0, 28},    {32, 20, 50, 1, 5, 1, 1, 0, 12},  {8, 3, 64, 1, 7, 2, 1, 3, 224},
      {8, 64, 64, 1, 3, 1, 1, 1, 56},    {8, 64, 128, 1, 3, 2, 1, 1, 56},  {8, 128, 128, 1, 3, 1, 1, 1, 28},
      {8, 256, 256, 1, 3, 1, 1, 1, 14},  {8, 512, 512, 1, 3, 1, 1, 1, 7},  {1, 512, 512, 1, 3, 1, 1, 1, 7},
      {8, 64, 256, 1, 1, 1, 1, 0, 56},   {8, 256, 512, 1, 1, 2, 1, 0, 56}, {8, 64, 64, 1, 3, 1, 2, 2, 28},
      {8, 128, 128, 32, 3, 1, 1, 1, 28}, {8, 64, 64, 64, 3, 1, 1, 1, 56},  {8, 64, 64, 64, 3, 2, 1, 1, 112}};
  std::printf("%-48s kernels of %s\n%-48s %-24s %-24s %s\n", "float32", std::string(kernels.isa.name).c_str(),
              "images x channels x extent, filters x kernel", "result", "gradient of data", "gradient of weight");
  for (const detail::ConvolutionShape& r : rows) {
    const std::string what =
        cat(r.images, 'x', r.channels, 'x', r.extent, 'x', r.extent, ", ", r.filters, 'x', r.kernel, 'x', r.kernel,
            r.stride > 1 ? cat(", stride ", r.stride) : "", r.dilate > 1 ? cat(", dilate ", r.dilate) : "",
            r.pad > 0 ? cat(", pad ", r.pad) : "", r.groups > 1 ? cat(", ", r.groups, " groups") : "");
    std::printf("%-48s", what.c_str());
    using enum detail::ConvolutionPart;
    for (const detail::ConvolutionPart part : {result, data_gradient, weight_gradient}) {
      const std::string how(kernels.convolution(r, part));
      part == weight_gradient ? std::printf(" %s\n", how.c_str()) : std::printf(" %-24s", how.c_str());
    }
  }
  return 0;
}

}  // namespace

int info(Question question) {
  if (question == Question::products) return products();
  if (question == Question::convolutions) return convolutions();
  if (question == Question::kernels) {
    std::fputs(sparse_kernels().c_str(), stdout);
    return 0;
  }
  std::printf("strop %s\n", version().c_str());
  const About what = about();
  std::string devices;
  for (const std::string& device : what.devices) devices += cat(devices.empty() ? "" : ", ", device);
  std::printf(
      "operators        %d\ninstruction set  %s\nruntime's loops  %s\nthreads          %d\ncompiler         "
      "%s\ndevices          %s\n",
      what.operators, std::string(what.isa).c_str(), std::string(what.loops).c_str(), what.threads, __VERSION__,
      devices.c_str());
  const memory::Statistics use = memory::statistics(cpu());
  std::printf("memory           %lld bytes live, %lld at most\n", static_cast<long long>(use.live_bytes),
              static_cast<long long>(use.peak_bytes));
  return 0;
}

}  // namespace strop::command
