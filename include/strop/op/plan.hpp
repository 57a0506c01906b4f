// SPDX-License-Identifier: Apache-2.0
/// \file
/// Plan: all that a call decides before it touches an element. Resolving is pure, executing does what was resolved:
/// eager calls do both, deferred calls and graphs keep the plan and execute it.
#pragma once
#include <strop/core/list.hpp>
#include <strop/memory/small.hpp>
#include <strop/op/infer_call.hpp>
#include <strop/op/map_run.hpp>
#include <strop/op/mode.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace strop::inline v0::detail {

/// By which code a call runs.
enum class Route : std::uint8_t {
  contiguous,  // a map: the operator's loop over elements that lie as it wants them
  blocks,      // a map, block by block: broadcast, converted, added or reduced around the loop
  pattern,     // a map on the stored values of sparse inputs
  into_dense,  // a map of sparse inputs, read as they are, with dense results
  tensors      // an operator on tensors
};

/// What one call does. It refers to the entry and holds no array: the same plan serves every call on arrays of these
/// shapes, types and storages.
struct Plan : Counted, memory::Recycled<Plan> {
  const Entry* entry = nullptr;
  Device device = cpu();
  Route route = Route::tensors;
  bool dense_copies = false;  // sparse arrays go to the operator, and come from it, as dense copies
  bool widens = false;        // halves go to the operator, and come from it, as float32 copies
  bool doubles = false;       // of a gradient: so do integers, as double
  bool asked = true;          // whether any result is
  bool sparse = false;        // whether one of the arrays of the call is
  bool as_given = false;      // of Route::tensors: the kernel takes the call's own arrays, all dense, and overwrites
  MapStorage map;             // of Route::pattern and Route::into_dense
  std::string_view why;       // of a dense fallback: the reason; empty where there is none
  Shape common;               // of a map: what all operands broadcast to
  MapLoop loop = nullptr;     // of Route::contiguous
  Kernels::Run kernel = nullptr;  // of Route::tensors
  Resources resources;
  List<int, 2> mutated;       // positions of the inputs that are written
  List<Request, 4> requests;  // of each output, as are:
  List<Shape, 2> shapes;
  List<Dtype, 4> types;
  List<std::optional<Storage>, 4> storages;

  /// The type in which elements of this one are given to the kernel and come from it.
  Dtype kernel_type(Dtype type) const {
    return widens && is_half(type) ? f32 : doubles && !is_floating(type) ? f64 : type;
  }
  int outputs() const { return static_cast<int>(shapes.size()); }
  Storage storage(Index k) const { return *storages[k]; }
};

/// Shapes and types of a call's results, where they are known from elsewhere.
struct InferredResults {
  List<Shape, 2> shapes;
  List<Dtype, 4> types;
};

/// Decides a call. Of the arrays it reads shape, type, storage and device, and whether there are elements to add to:
/// shells will do, and an output that is an empty handle is one that the call is to make. The operator's
/// rules are asked for shapes and types that are not `inferred`. Throws Error where the arguments do not fit the
/// operator.
Plan resolve(const Entry& entry, const void* op, Inputs in, Span<const NDArray> out, Span<const Request> requests,
             const InferredResults* inferred = nullptr);

/// stored_type of arrays.
inline Dtype stored_type_of(const Entry& entry, Inputs in) {
  return stored_type(entry, in.size(), [&](Index i) { return in[i]->dtype(); });
}

/// What executing a plan needs besides arrays.
struct Execution {
  const void* op = nullptr;               // the operator's parameters
  Ref<StateBox>* state = nullptr;         // of an operator that keeps one; made where it is empty
  const random::Stream* drawn = nullptr;  // of a deferred call: what it drew when it was made
  bool deferred = false;
};

/// Computes the outputs, which are all there, at once: whoever may have to wait has waited.
void execute(const Plan& plan, const Execution& call, Inputs in, Span<NDArray> out);

/// Counts and reports the plan's dense fallback, or throws where fallbacks are errors; nothing where there is none.
void note_fallback_of(const Plan& plan, const void* op, Inputs in, Site site);

/// Whether output k of an operator may be computed in the memory of its input i.
bool may_share(const Entry& entry, int i, int k);

/// Names of a call's tensors for sentences, found out only where there is one to write.
struct CallLabels {
  const Entry& entry;
  const void* op;
  int given;
  CallNames names() const;
};

}  // namespace strop::inline v0::detail
