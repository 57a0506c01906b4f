// SPDX-License-Identifier: Apache-2.0
// Says for which instruction set the runtime's own loops are that it takes here: of conversions, sums, random numbers.
#include <strop/strop.hpp>
#include <strop/tensor/element_loops.hpp>

int main() { fmt::print("{}\n{}\n", strop::detail::element_loops().isa.name, strop::array({1.5, 2.5}).to(strop::f16)); }
