// SPDX-License-Identifier: Apache-2.0
/// \file
/// Fused maps: several maps as one, whose loop runs theirs one after the other on blocks that stay in the first cache.
#pragma once
#include <strop/core/list.hpp>
#include <strop/graph/node.hpp>

#include <string>

namespace strop::inline v0::detail {

/// One map's own loop within a fused one.
struct FusedStep {
  MapLoop loop = nullptr;
  const void* op = nullptr;
  int first = 0;  // of its operands: its inputs, then its outputs
  int inputs = 0, outputs = 0;
  bool gives_f64 = false;    // on integers: its results are doubles, which truncate as on store
  std::uint64_t rounds = 0;  // outputs that are read again as they would come back from memory, a bit each
};

/// What one call of a fused loop does to a block. Operands are numbers of places: the inputs of the fused map, its
/// outputs, blocks of its own, and last a block of zeros for what a derivative does not depend on.
struct FusedCode {
  List<FusedStep> steps;
  List<int> operands;
  int inputs = 0, outputs = 0, buffers = 0;
  Index block = 0;                     // elements
  bool rounds = false;                 // whether a step does
  bool cached = false;                 // its arrays stay in a cache
  Dtype stored = f32, computed = f32;  // the type of the arrays, and that of the loops
  List<int> last_read, first_written;  // steps, by input and by output
};

/// A map that is put into a fused one. Values are numbered: the inputs of the fused map, then the outputs of each
/// member.
struct FusedMember {
  Ref<Node> node;
  List<int> in;
  int first_out = 0;
  bool leads = false;   // to a gradient that is wanted
  bool costly = false;  // to compute again rather than to read its results
};

/// What a fused map is made of.
struct FusedParts {
  Dtype stored = f32;
  int inputs = 0;
  List<FusedMember> members;  // each behind those that it reads
  List<int> outputs;          // values
  std::uint64_t inner = 0;    // of outputs: those that the gradient alone reads, a bit each
  bool cached = false;        // arrays stay in a cache: the gradient reads values from there
  List<bool> wanted;          // of each value: whether it leads to a gradient that is wanted
};

/// The entry of a fused map and of its gradient. Where arrays stay in a cache, values that the gradient reads are
/// outputs of the map; elsewhere it computes them again from the inputs. Both entries belong to the nodes that have the
/// program as their parameters.
struct FusedProgram : Counted {
  Entry entry, gradient_entry;
  FusedCode forward, backward;
  List<Ref<ParamBox>> params;  // of the members
  std::string doc;
  List<std::string> output_names;
  int heads = 0;                // of the gradient
  List<std::uint64_t> sources;  // of each output: inputs that it was computed from
};

/// The parameters of a fused map.
struct FusedOp {
  Ref<FusedProgram> program;
};

/// Greatest numbers of what is fused: maps, values in all, inputs and outputs.
inline constexpr int most_fused_maps = 32, most_fused_values = 64, most_fused_inputs = 8, most_fused_outputs = 12;

/// Whether a map takes longer to compute than to read from a cache: it has a function such as exp.
bool is_costly(const Node& node);

/// The type that maps compute elements of `stored` in unless they say otherwise.
constexpr Dtype usual_compute_type(Dtype stored) { return !is_floating(stored) ? i64 : stored == f64 ? f64 : f32; }
/// The loop of a map for elements of that type where it computes in the usual one; null where it does not.
MapLoop usual_loop(const Entry& entry, const void* op, Dtype stored);

/// Whether a node is a fused map, and the inputs that a result was computed from: of other nodes all.
bool is_fused(const Node& node);
std::uint64_t sources_of(const Node& node, int output);

/// A node that does what the members do, without its inputs; null where they need more blocks than there is room for.
Ref<Node> fused_node(const FusedParts& parts);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/graph/passes/fused_map_impl.hpp>
#endif
