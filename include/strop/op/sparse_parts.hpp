// SPDX-License-Identifier: Apache-2.0
/// \file
/// What calls need where an array is sparse: installed by what makes sparse arrays.
#pragma once
#include <strop/core/installed.hpp>
#include <strop/core/span.hpp>
#include <strop/op/map_infer.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/op/plan.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/structure.hpp>

namespace strop::inline v0::detail {

/// A sparse array with the same pattern and values of another type.
NDArray sparse_as(const NDArray& x, Dtype type);
/// Storages of a call's results, and with them its route, where an array is sparse or the operator states storages.
void choose_sparse_storages(Plan& plan, const void* op, const CallNames& names, Inputs in, Span<const Shape> in_shapes,
                            Span<const NDArray> out);

void run_sparse_map(const Entry& entry, const void* op, const MapStorage& how, Inputs in, Span<const int> mutated,
                    Span<NDArray> out, Span<const Request> requests);
void run_map_into_dense(const Entry& entry, const void* op, const MapStorage& how, Inputs in, Span<const NDArray> out,
                        Span<const Request> requests);

/// Throws Error, which names the argument, where the structure of an array that the call reads leads outside of it.
void check_structures(const Plan& plan, const void* op, Inputs in, Span<const NDArray> out);

/// Whether the kernels of T read indices of 32 and of 64 bits, each as it comes; said beside T. Others are given
/// indices of 64 bits.
template <class T>
inline constexpr bool reads_any_index = false;
/// Whether what a sparse result of T does not store is zero whatever values the inputs store; said beside T.
template <class T>
inline constexpr bool zero_unless_stored = false;

/// Whether an array of the call has indices of 32 bits.
inline bool has_narrow_indices(const Call& call) {
  const auto narrow = [](const NDArray& a) { return a.defined() && a.storage() != dense && has_narrow_indices(a); };
  for (const NDArray* a : call.inputs)
    if (narrow(*a)) return true;
  for (const NDArray& a : call.out)
    if (narrow(a)) return true;
  return false;
}
/// Runs a kernel that knows indices of 64 bits only: arrays that it reads are converted; in those that it writes the
/// indices become wide.
void run_on_wide_indices(const Call& call, Context& context, Kernels::Run run);

/// The functions by which dispatch reaches sparse arrays.
struct SparseParts {
  NDArray (*cast)(const NDArray& a, Storage storage) = &cast_storage;
  NDArray (*as_type)(const NDArray& a, Dtype type) = &sparse_as;
  NDArray (*add)(const NDArray& a, const NDArray& b) = &add_stored;
  void (*choose)(Plan& plan, const void* op, const CallNames& names, Inputs in, Span<const Shape> in_shapes,
                 Span<const NDArray> out) = &choose_sparse_storages;
  void (*run_map)(const Entry& entry, const void* op, const MapStorage& how, Inputs in, Span<const int> mutated,
                  Span<NDArray> out, Span<const Request> requests) = &run_sparse_map;
  void (*run_into_dense)(const Entry& entry, const void* op, const MapStorage& how, Inputs in, Span<const NDArray> out,
                         Span<const Request> requests) = &run_map_into_dense;
  void (*note_fallback)(const Plan& plan, const void* op, Inputs in, Site site) = &note_fallback_of;
  void (*structure)(const NDArray& a) = &check_structure;
  void (*check)(const Plan& plan, const void* op, Inputs in, Span<const NDArray> out) = &check_structures;
  void (*written)(const NDArray& a) = &structure_written;
  void (*allocate)(const NDArray& a, std::int64_t count) = [](const NDArray& a, std::int64_t count) {
    a.allocate_stored(count);
  };
};
inline constexpr SparseParts all_sparse_parts{};

/// Without them no array of the program is sparse, and no operator that it calls makes one: those that state storages
/// have the parts in their entries.
inline constinit Installed<const SparseParts> sparse_parts{&all_sparse_parts};
inline const SparseParts& for_sparse() { return sparse_parts.get("a sparse array"); }

/// The array itself where it is dense, else a dense copy.
inline NDArray dense_form(const NDArray& x) { return x.storage() == dense ? x : for_sparse().cast(x, dense); }

/// Throws Error, which begins with what `says` gives, where the structure of an array leads outside of it.
template <class Says>
void check_structure_of(const NDArray& a, Says says) {
  if (a.storage() == dense) return;
  try {
    for_sparse().structure(a);
  } catch (const CallError& error) {
    fail(says(), ": ", error.said());
  }
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/dispatch.hpp>
#endif
