// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a graph becomes before it is bound: fewer nodes, with the same results.
#pragma once
#include <strop/graph/symbol.hpp>

namespace strop::inline v0 {

/// The graph that bind() runs in place of a symbol with these arrays, to be looked at: common subexpressions are one,
/// constants are folded, and maps are fused (`net.attr("fused")` of such a node lists the maps that are in it). Outputs
/// and arguments are those of the symbol, and so are results, to the bit. Arguments that are named in `differentiated`
/// have gradients wanted of them. The symbol itself where the environment has STROP_FUSE=0, or where `args` do not
/// suit it.
Symbol optimized(const Symbol& symbol, Device device, const NamedArrays& args,
                 std::initializer_list<std::string_view> differentiated = {});
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/graph/passes/passes_impl.hpp>
#endif
