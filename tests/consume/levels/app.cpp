// SPDX-License-Identifier: Apache-2.0
// Says for which instruction set the runtime's own loops are that it takes here: of conversions, sums, random numbers;
// and a kernel, where the library brings them.
#include <strop/strop.hpp>
#include <strop/tensor/element_loops.hpp>

int main() {
  const strop::NDArray x = strop::array({1.5, 2.5});
  fmt::print("{}\n{}\n", strop::detail::element_loops().isa.name, x.to(strop::f16));
#if defined(STROP_OPERATORS_COMPILED)
  fmt::print("Cast for {}: {}\n", strop::detail::look_up("Cast")->isa.name,
             strop::invoke("Cast", {x}, {{"dtype", "int32"}}));
#endif
}
