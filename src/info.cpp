// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop info`: what was built, and what it runs on.
#include "command.hpp"

#include <strop/strop.hpp>

#include <cstdio>

namespace strop::command {

std::string version() { return STROP_VERSION; }

int info() {
  std::printf("strop %s\n", version().c_str());
  int operators = 0;
  detail::Isa isa;  // the highest of the entries that this machine chose
  for (const Entry* e : detail::all_operators()) {
    operators += e->is_gradient() ? 0 : 1;
    if (isa.name.empty() || e->isa.level > isa.level) isa = e->isa;
  }
  std::string devices = "cpu";
  for (int i = 0; i < memory::gpu_count(); ++i) devices += cat(", gpu(", i, ')');
  std::printf(
      "operators        %d\ninstruction set  %.*s\nthreads          %d\ncompiler         "
      "%s\ndevices          %s\n",
      operators, static_cast<int>(isa.name.size()), isa.name.data(), num_threads(), __VERSION__, devices.c_str());
  const memory::Statistics use = memory::statistics(cpu());
  std::printf("memory           %lld bytes live, %lld at most\n", static_cast<long long>(use.live_bytes),
              static_cast<long long>(use.peak_bytes));
  return 0;
}

}  // namespace strop::command
