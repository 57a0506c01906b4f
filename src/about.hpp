// SPDX-License-Identifier: Apache-2.0
/// \file
/// What was built, and what it takes of the machine it runs on: for the command and for Python.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/isa.hpp>
#include <strop/engine/threads.hpp>
#include <strop/memory/gpu.hpp>
#include <strop/op/registry.hpp>
#include <strop/tensor/element_loops.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace strop {

struct About {
  int operators = 0;
  std::string_view isa, loops;  // the instruction sets of operators and of the runtime's loops
  int threads = 0;
  std::vector<std::string> devices = {"cpu"};
};

inline About about() {
  About out;
  detail::Isa isa;  // the highest of the entries that this machine chose
  for (const Entry* const e : detail::all_operators()) {
    out.operators += e->is_gradient() ? 0 : 1;
    if (isa.name.empty() || e->isa.level > isa.level) isa = e->isa;
  }
  out.isa = isa.name;
  out.loops = detail::element_loops().isa.name;
  out.threads = num_threads();
  for (int i = 0; i < memory::gpu_count(); ++i) out.devices.push_back(cat("gpu(", i, ')'));
  return out;
}

}  // namespace strop
