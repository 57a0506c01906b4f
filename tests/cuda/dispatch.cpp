// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays and maps on a GPU that the CPU plays: allocation, copies, dispatch, launch and kernels, without a device; and
/// on a device where there is one.
#include "checks.hpp"
#include "shim.hpp"

namespace {
struct Unknown {
  constexpr auto forward(auto x) const { return x + 1; }
};
constexpr strop::Op<Unknown> unknown;
}  // namespace

TEST_CASE("a device that the CPU plays does what the CPU does") {
  const shim::Device scope;
  const shim::Kernels<checks::Quadratic> quadratic;
  const shim::Kernels<checks::SoftHinge> soft_hinge;
  const shim::Kernels<checks::Weighted> weighted;
  const shim::Kernels<checks::SumAndProduct> sum_and_product;
  const shim::Kernels<checks::Squash> squash;
  const shim::Kernels<checks::Dropped> dropped;
  const shim::Kernels<checks::Softened> softened;
  const shim::Kernels<checks::Halved> halved;
  const shim::Kernels<checks::Shifted> shifted;
  const shim::Kernels<checks::Scaled> scaled;
  const shim::Kernels<checks::Decay> decay;
  const shim::Kernels<checks::Masked> masked;
  checks::everything(shim::device);
}

TEST_CASE("a map is one launch on the device's stream, and nobody waits for it") {
  const shim::Device scope;
  const shim::Kernels<checks::Quadratic> quadratic;
  const strop::NDArray x = strop::array({1, 2}).to(shim::device);
  shim::counts = {};
  const strop::NDArray y = checks::quadratic(x, {.a = 1});
  CHECK(shim::counts.launches == 1);
  CHECK(shim::counts.copies == 0);
  CHECK(shim::counts.waits == 0);
  y.wait();
  CHECK(shim::counts.waits == 1);
}

TEST_CASE("what runs where") {
  const shim::Kernels<checks::Quadratic> quadratic;
  {
    const shim::Device scope;
    CHECK(strop::memory::gpu_count() == 1);
  }
  using strop::detail::devices_of;
  CHECK(devices_of(checks::quadratic.entry()) == std::vector<std::string_view>{"cpu", "gpu"});
  CHECK(devices_of(*checks::quadratic.entry().gradient.entry) == std::vector<std::string_view>{"cpu", "gpu"});
  CHECK(devices_of(strop::sort.entry()) == std::vector<std::string_view>{"cpu"});
  // what adds the gradients of a fan-out needs no kernel in the program
  strop::detail::enrol_gradient_operators();
  CHECK(devices_of(*strop::detail::look_up("_grad_sum2")) == std::vector<std::string_view>{"cpu", "gpu"});
}

TEST_CASE("an operator without a kernel in the program is refused") {
  const shim::Device scope;
  const auto* const before = strop::detail::slot<Unknown>.cuda.exchange(nullptr);  // nvcc gave it one
  CHECK(checks::sentence([] { (void)unknown(strop::array({1}).to(shim::device)); }) ==
        "unknown: has no kernel for gpu(5) in this program; name the operator in a .cu file");
  strop::detail::slot<Unknown>.cuda.store(before);
}

TEST_CASE("a device without memory left is one sentence") {
  const shim::Device scope;
  strop::memory::set_limit(shim::device, 1 << 20);
  const std::string said = checks::sentence([] { strop::zeros({1 << 22}, shim::device); });
  CHECK(said.find("memory::allocate: gpu(5) is out of memory for 16777216 bytes") == 0);
  strop::memory::set_limit(shim::device, strop::memory::no_limit);
}

TEST_CASE("[gpu] a device does what the CPU does") { checks::everything(strop::gpu(0)); }

TEST_CASE("[gpu] a tensor operator with a kernel of its own") {
  checks::tensor_operator(strop::gpu(0), checks::row_softmax);
}

TEST_CASE("[gpu] large arrays: every block of a grid, sums of many pieces") {
  const strop::NDArray x = strop::arange(0, 3000001), y = strop::full({3000001}, 2);
  checks::same(checks::weighted(x.to(strop::gpu(0)), y.to(strop::gpu(0))), checks::weighted(x, y));
  checks::same_gradients(
      strop::gpu(0), [](const strop::NDArray& a, const strop::NDArray& b) { return checks::soft_hinge(a, b); },
      checks::numbers({1000, 513}, strop::f64), checks::numbers({513}, strop::f64, 7), strop::GradRequest::write);
}

TEST_CASE("[gpu] memory of the device is pooled; pinned memory is there") {
  const strop::Device gpu = strop::gpu(0);
  {
    const strop::NDArray x = strop::zeros({1 << 20}, gpu);
  }
  const auto before = strop::memory::statistics(gpu);
  {
    const strop::NDArray x = strop::zeros({1 << 20}, gpu);
  }
  CHECK(strop::memory::statistics(gpu).system_calls == before.system_calls);
  void* const pinned = strop::memory::allocate(strop::memory::pinned(), 4096);
  CHECK(pinned != nullptr);
  strop::memory::release(strop::memory::pinned(), pinned, 4096);
}

TEST_CASE("a GPU that is not there is refused in one sentence") {
  const strop::Device none = strop::gpu(40);
  const bool with_cuda = strop::memory::gpu_driver.load() != nullptr;  // an object of nvcc is in this program
  const auto refused = [&](auto call) {
    const std::string said = checks::sentence(call);
    CAPTURE(said);
    CHECK(said.find("gpu(40) was asked for") != std::string::npos);
    CHECK(said.find(with_cuda ? " CUDA device" : " no GPU") != std::string::npos);
    CHECK(said.find('\n') == std::string::npos);
  };
  refused([&] { (void)strop::array({1, 2}).to(none); });
  refused([&] { strop::zeros({2}, none); });
  refused([&] { strop::NDArray({2}, strop::f32, none); });
  refused([&] { strop::NDArray::shell({2}, strop::f32, none).wait(); });
}
