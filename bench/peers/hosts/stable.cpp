// SPDX-License-Identifier: Apache-2.0
// softsign on PyTorch's stable ABI, by hand; its gradient is registered from Python.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <cmath>

namespace {

using torch::stable::Tensor;

Tensor forward(Tensor given) {
  const Tensor x = torch::stable::contiguous(given);
  Tensor made = torch::stable::empty_like(x);
  const auto* const in = static_cast<const float*>(x.data_ptr());
  auto* const y = static_cast<float*>(made.data_ptr());
  for (std::int64_t i = 0; i < x.numel(); ++i) y[i] = in[i] / (1 + std::abs(in[i]));
  return made;
}
Tensor backward(Tensor heads, Tensor given) {
  const Tensor dy = torch::stable::contiguous(heads), x = torch::stable::contiguous(given);
  Tensor made = torch::stable::empty_like(x);
  const auto *const in = static_cast<const float*>(x.data_ptr()), *const head =
                                                                      static_cast<const float*>(dy.data_ptr());
  auto* const dx = static_cast<float*>(made.data_ptr());
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const float d = 1 + std::abs(in[i]);
    dx[i] = head[i] / (d * d);
  }
  return made;
}

}  // namespace

STABLE_TORCH_LIBRARY(stable_by_hand, m) {
  m.def("softsign(Tensor x) -> Tensor");
  m.def("softsign_backward(Tensor dy, Tensor x) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(stable_by_hand, CPU, m) {
  m.impl("softsign", TORCH_BOX(&forward));
  m.impl("softsign_backward", TORCH_BOX(&backward));
}
