// SPDX-License-Identifier: Apache-2.0
/// \file
/// The object of g++, and the questions: one entry for all objects, with the kernels of each.
#include "operator.hpp"

#include <cstdio>

const strop::Entry& entry_of_gcc() { return bent.entry(); }

int main() {
  int wrong = 0;
  const auto check = [&](bool good, const char* what) {
    if (!good) std::printf("wrong: %s\n", what);
    wrong += good ? 0 : 1;
  };
  const strop::Entry& entry = entry_of_gcc();
  check(&entry == &entry_of_nvcc(), "g++ and nvcc have one entry");
  check(&entry == &entry_of_clang(), "g++ and clang have one entry");
  check(strop::detail::look_up("bent") == &entry, "it is the registry's");
  int found = 0;
  for (const strop::Entry* e : strop::detail::all_operators()) found += e->name == "Bent" ? 1 : 0;
  check(found == 1, "the registry lists it once");

  const std::vector<std::string_view> both = {"cpu", "gpu"};
  check(strop::detail::devices_of(entry) == both, "its devices are cpu and gpu");
  check(strop::detail::devices_of(*entry.gradient.entry) == both, "and those of its gradient");

  const strop::NDArray x = strop::array({-2, 4});
  check(bent(x).to_vector<float>() == std::vector<float>{-1, 4}, "it runs on the CPU");
  check(tanh_by_nvcc(x).to_vector<float>() == strop::tanh(x).to_vector<float>(), "the library's tanh is one as well");
  check(strop::detail::devices_of(strop::tanh.entry()) == both, "with the kernels of the object that calls it");
  check(strop::detail::devices_of(strop::exp.entry()) == std::vector<std::string_view>{"cpu"},
        "exp, which none calls, has none");
  try {
    const auto y = bent(x.to(strop::gpu(0)));
    check(y.to_vector<float>() == std::vector<float>{-1, 4}, "it runs on the GPU");
    std::puts("ran on gpu(0)");
  } catch (const strop::Error& error) {
    const std::string_view said = error.what();
    check(said.starts_with("strop: gpu(0) was asked for, but there is no CUDA device"), error.what());
  }
  return wrong;
}
