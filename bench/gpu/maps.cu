// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps on a GPU: streams of large arrays beside a copy of the device's memory, and what the call of a small one costs.
/// Bounds: the copy's bandwidth; an empty launch.
#include <strop/strop.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Quadratic {
  float a = 1, b = 2, c = 3;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
constexpr strop::Op<Quadratic> quadratic;
struct Times {
  constexpr auto forward(auto x, auto y) const { return x * y; }
};
constexpr strop::Op<Times> times;
struct Heavy {
  constexpr auto forward(auto x) const { return x * tanh(log1p(exp(x))); }
};
constexpr strop::Op<Heavy> heavy;

const strop::Device gpu = strop::gpu(0);

void must(cudaError_t status) {
  if (status != cudaSuccess) strop::fail("bench: ", cudaGetErrorString(status));
}

/// The best of many rounds on the device's clock, in milliseconds.
double device_time(const auto& work) {
  cudaEvent_t begin{}, end{};
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  const cudaStream_t stream = strop::cuda::stream_of(gpu);
  std::vector<float> rounds(30);
  for (float& round : rounds) {
    must(cudaEventRecord(begin, stream));
    work();
    must(cudaEventRecord(end, stream));
    must(cudaEventSynchronize(end));
    must(cudaEventElapsedTime(&round, begin, end));
  }
  must(cudaEventDestroy(begin));
  must(cudaEventDestroy(end));
  return *std::min_element(rounds.begin(), rounds.end());
}

void stream(const char* what, strop::Dtype dtype, double copy, std::int64_t bytes, const auto& work) {
  const double rate = static_cast<double>(bytes) / device_time(work) / 1e6;
  std::printf("%-28s %-9s %8.0f GB/s  %4.2f of the copy\n", what, std::string(strop::name_of(dtype)).c_str(), rate,
              rate / copy);
}

void call(const char* what, const auto& work) {
  std::vector<double> rounds;
  for (int round = 0; round < 21; ++round) {
    constexpr int calls = 1000;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) work();
    rounds.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
                     calls);
    must(cudaStreamSynchronize(strop::cuda::stream_of(gpu)));  // the queue of launches has an end
  }
  std::sort(rounds.begin(), rounds.end());
  std::printf("%-38s %8.0f ns a call (median %.0f)\n", what, rounds.front(), rounds[rounds.size() / 2]);
}

struct Nothing {
  constexpr std::int64_t work() const { return 1; }
  constexpr void operator()(std::int64_t, std::int64_t) const {}
};

}  // namespace

int main() try {
  cudaDeviceProp properties{};
  must(cudaGetDeviceProperties(&properties, 0));
  std::printf("# %s\n", properties.name);
  const cudaStream_t queue = strop::cuda::stream_of(gpu);
  for (const strop::Dtype dtype : {strop::f32, strop::f16, strop::bf16, strop::f64}) {
    const std::int64_t bytes = std::int64_t{1} << 30, n = bytes / strop::size_of(dtype);
    const strop::NDArray x = strop::full({n}, 0.5, dtype, gpu), y = strop::full({n}, 2, dtype, gpu);
    const strop::NDArray out = strop::zeros({n}, dtype, gpu), dx = strop::zeros({n}, dtype, gpu);
    const double copy = 2.0 * static_cast<double>(bytes) / 1e6 / device_time([&] {
                          must(cudaMemcpyAsync(out.bytes(), x.bytes(), static_cast<std::size_t>(bytes),
                                               cudaMemcpyDeviceToDevice, queue));
                        });
    std::printf("%-28s %-9s %8.0f GB/s\n", "copy (cudaMemcpyAsync)", std::string(strop::name_of(dtype)).c_str(), copy);
    stream("quadratic", dtype, copy, 2 * bytes, [&] { quadratic(x, strop::into(out)); });
    stream("x tanh(log(1 + exp x))", dtype, copy, 2 * bytes, [&] { heavy(x, strop::into(out)); });
    stream("x y", dtype, copy, 3 * bytes, [&] { times(x, y, strop::into(out)); });
    stream("quadratic, added", dtype, copy, 3 * bytes, [&] { quadratic(x, strop::add_to(out)); });
    const Quadratic op;
    const strop::Entry& gradient = *quadratic.entry().gradient.entry;
    stream("quadratic's derived gradient", dtype, copy, 3 * bytes, [&] {
      strop::NDArray target[] = {dx};
      const strop::NDArray* const in[] = {&y, &x};
      strop::detail::dispatch(gradient, &op, in, std::span<strop::NDArray>(target, 1));
    });
    const strop::NDArray row = strop::full({1, 4096}, 2, dtype, gpu), rows = x.reshape({-1, 4096});
    const strop::NDArray wide = out.reshape({-1, 4096});
    stream("x y, y a row", dtype, copy, 2 * bytes, [&] { times(rows, row, strop::into(wide)); });
  }
  const strop::NDArray x = strop::ones({1}, gpu), y = strop::ones({1}, gpu), out = strop::ones({1}, gpu);
  call("an empty launch", [&] { strop::cuda::Launcher::launch(gpu, queue, nullptr, Nothing{}); });
  call("one element, into an array", [&] { times(x, y, strop::into(out)); });
  call("one element, a new array", [&] { (void)times(x, y); });
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
