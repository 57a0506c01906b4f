// SPDX-License-Identifier: Apache-2.0
/// \file
/// Entry: everything the library knows of one operator, as constants and function pointers. One per operator.
#pragma once
#include <strop/core/isa.hpp>
#include <strop/core/params.hpp>
#include <strop/core/span.hpp>
#include <strop/fwd.hpp>
#include <strop/op/context.hpp>
#include <strop/op/gradient.hpp>
#include <strop/op/infer.hpp>
#include <strop/op/state.hpp>

#include <atomic>
#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

struct Entry;

/// The inputs and outputs of one call, which may depend on its parameters.
struct Signature {
  std::vector<std::string_view> inputs, outputs;  // inputs include those that are written (auxiliary states)
  std::vector<int> mutated;                       // positions in `inputs` of those that forward writes
  int visible = 1;                                // outputs that a caller sees
};

/// One call on its way: what an operator's kernels are given. Outputs exist; what is not dense is as inferred.
struct Call {
  const Entry& entry;
  const void* params;
  detail::Span<const NDArray* const> inputs;
  detail::Span<NDArray> out;
  detail::Span<const Request> requests;
  const NDArray& in(int i) const { return *inputs[i]; }
  int in_count() const { return static_cast<int>(inputs.size()); }
  Request request(int i) const { return requests[i]; }
};

namespace detail {

struct Slot;
struct GpuMap;
struct SparseParts;

/// What one kind of device runs of an operator: the CPU's stand in the entry, one of another kind in the slot.
struct Kernels {
  using Map = void (*)(const GpuMap&, Cuda&);
  using Run = void (*)(const Call&, Context&);
  using MakeState = Ref<StateBox> (*)(const void* op, Context&, std::span<const Shape> in);
  static constexpr int orders = 5;  // of an operator of a shared library, the gradient of its third gradient as well
  Map map[orders] = {};             // of a map: forward, and its gradients of order 1, 2, … (the CPU's: MapLoops)
  Run run[orders] = {};             // of a tensor operator, on dense arrays: forward, its gradient, …
  Run run_sparse[orders] = {};      // the same, on the storages that infer_storage answers with true
  MakeState make_state = nullptr;
  constexpr bool runs(int order) const {
    return map[order] != nullptr || run[order] != nullptr || run_sparse[order] != nullptr;
  }
};

/// A map over n contiguous elements: `in` and `out` point to elements of the kernel's own type.
using MapLoop = void (*)(const void* op, const void* const* in, void* const* out, std::int64_t n);
/// Whether loops on this thread had better write results past the caches.
inline constinit thread_local bool past_caches = false;

/// The loops of a map, by the type they compute in. Integers of every width go through i64, halves through f32.
struct MapLoops {
  MapLoop f32 = nullptr, f64 = nullptr, i64 = nullptr;
  bool i64_gives_f64 = false;  // the integer loop's results are floating: they truncate on store
  /// Whether the integer loop's results may lie outside this type and are then its nearest number; else they wrap.
  bool (*leaves)(const void* op, Dtype) = nullptr;
};

/// What a map derives from its body.
struct MapFacts {
  std::uint64_t (*kept)(const void* op, Dtype compute) = nullptr;  // inputs that the gradient reads, a bit each
  int (*operations)(const void* op) = nullptr;                     // of an element, a function as function_operations
  bool (*zero)(const void* op, Dtype compute,
               std::uint64_t zeros) = nullptr;           // all results are 0 when these inputs are
  bool (*storage)(const void* op, Storages&) = nullptr;  // what the struct states besides
  bool (*as_double)(const void* op) = nullptr;           // whether it takes integers as double
};

/// One bit per tensor; `every` where their number depends on the call.
inline constexpr std::uint64_t every = ~std::uint64_t{0};

/// How the gradient is had: by an operator of head gradients, inputs and outputs (in this order), or composed.
struct GradientRule {
  const Entry* entry = nullptr;
  std::uint64_t heads = 0, in = 0, out = 0;  // what it takes, a bit per tensor
  std::uint64_t gives = 0;                   // inputs whose gradients it makes
  std::vector<NDArray> (*compose)(const void* op, std::span<const NDArray> dy, std::span<const NDArray> in) = nullptr;
  std::vector<Symbol> (*compose_symbols)(const void* op, std::span<const Symbol> dy,
                                         std::span<const Symbol> in) = nullptr;
  /// Beside `compose`: the gradient as an array that broadcasts to the input's shape.
  NDArray (*spread)(const void* op, const NDArray& dy, const Shape& x) = nullptr;
  bool zero = false;      // the derivative is 0 wherever it exists
  bool constant = false;  // results have no history: no gradient is asked of what they were computed from

  /// A loss head's: it reads no head gradient, and counts wherever a gradient is asked of what was computed from it.
  constexpr bool of_loss() const { return entry != nullptr && heads == 0; }
};

}  // namespace detail

/// An operator in the registry. A constant; function pointers that are null say that the operator does not state it.
struct Entry {
  std::string_view name, snake, qualified;
  std::span<const std::string_view> aliases;
  std::span<const std::string_view> template_names;  // which it shares with others of its template
  std::string_view doc;
  std::span<const Note> notes;
  const detail::ParamTable* params = nullptr;
  bool library = false;
  detail::Isa isa;  // that the kernels are built for

  // Arguments. `inputs` is the greatest number of them, −1 where it is open.
  int min_inputs = 1, inputs = 1, outputs = 1, visible = 1;
  void (*signature)(const void* op, int given, Signature&) = nullptr;

  DtypeSet dtypes;
  bool same_shape = false;  // a map that does not broadcast
  bool mutates = false;     // writes some of its inputs
  bool accumulates = false;
  bool skips_null = false;  // an output that nobody asks for comes without memory
  std::span<const Share> inplace;

  // A map.
  std::uint64_t whole = 0;  // inputs of whole numbers, whatever the type of the others; a bit each
  detail::MapLoops loops;
  detail::MapFacts facts;

  // A tensor operator.
  void (*infer_shape)(const void* op, Shapes&) = nullptr;
  void (*infer_type)(const void* op, Types&) = nullptr;
  bool (*infer_storage)(const void* op, Storages&) = nullptr;
  bool structural = false;  // what a sparse result does not store is zero whatever values the inputs store
  const detail::SparseParts* sparse = nullptr;  // with an infer_storage that may make sparse arrays of dense ones
  std::uint64_t found = 0;  // outputs whose shapes follow from the data, so that forward makes them; a bit each
  detail::Kernels cpu;
  bool (*takes)(Dtype) = nullptr;
  Resources (*resources)(const void* op, std::span<const Shape> in) = nullptr;

  detail::GradientRule gradient;

  // Where .cu files put what GPUs run: the slot of the operator, and of which order this entry is its gradient.
  const detail::Slot* slot = nullptr;
  int order = 0;

  // What a call costs besides memory: operations of a tensor operator on inputs of these shapes, where it says so.
  double (*operations)(const void* op, std::span<const Shape> in) = nullptr;
  // The file of a type that no other file can name; two such types of one printed name are two operators.
  std::string_view file;

  /// Whether it is for gradients alone: in the registry only where somebody enrols it, and hidden from front ends.
  bool is_gradient() const { return name.starts_with("_backward_"); }
  bool is_map() const { return loops.f32 != nullptr || loops.f64 != nullptr || loops.i64 != nullptr; }
};

namespace detail {

/// What one file of the program knows of an operator's type: two files may mean two types by one name, which the linker
/// takes for one.
struct TypeSeen {
  std::string_view name, snake, fields;
  std::string_view aliases;  // each between line ends
  std::string_view file;
  std::size_t size;
};

/// One per operator and program: the entry built for the widest instruction set that this machine runs, with the
/// CPU's kernels, and those of GPUs, which a .cu file in which the operator is named fills in.
struct Slot {
  std::atomic<const Entry*> entry{nullptr};
  std::atomic<const Kernels*> cuda{nullptr};
  std::atomic<Slot*> next{nullptr};
  std::atomic<bool> listed{false};
  std::atomic<const TypeSeen*> seen{nullptr};
  std::atomic<const TypeSeen*> other{nullptr};  // a second type of that name: neither is called
};

/// How often an operator was taken back, which the index of names has to know besides what was added.
inline constinit std::atomic<std::uint64_t> registry_withdrawn{0};

/// All operators of the program, newest first. Nothing is allocated, the order of initialisation does not matter.
inline constinit std::atomic<Slot*> registry_head{nullptr};

/// Puts a slot into the registry, once.
inline void list_slot(Slot& slot) {
  if (slot.listed.exchange(true)) return;
  Slot* head = registry_head.load();
  do slot.next.store(head);
  while (!registry_head.compare_exchange_weak(head, &slot));
}

/// Puts an entry that this machine runs into its slot when it is the best so far, and the slot into the registry once.
inline void enrol(Slot& slot, const Entry& entry) {
  if (!runs_here(entry.isa) || slot.other.load() != nullptr) return;
  const Entry* before = slot.entry.load();
  while ((before == nullptr || preferred(entry.isa, before->isa)) &&
         !slot.entry.compare_exchange_weak(before, &entry)) {
  }
  list_slot(slot);
}

/// Notes what a file of the program knows of the type. Where another one knows another type, neither is called.
inline void see(Slot& slot, const TypeSeen& type) {
  const TypeSeen* first = nullptr;
  if (slot.seen.compare_exchange_strong(first, &type)) return;
  if (first->fields == type.fields && first->size == type.size) return;
  slot.other.store(&type);
  slot.entry.store(nullptr);
  registry_withdrawn.fetch_add(1);
  list_slot(slot);
}
/// Throws Error where two files of the program mean two types by the name.
void check_seen(const Slot& slot);

/// Takes a slot's operator out of look-up. Calls, tapes and graphs that hold the entry keep it: it must stay valid.
inline void withdraw(Slot& slot) {
  slot.entry.store(nullptr);
  registry_withdrawn.fetch_add(1);
}
/// Puts an operator that was taken back, and was listed before, into look-up again.
inline void restore(Slot& slot, const Entry& entry) {
  slot.entry.store(&entry);
  registry_withdrawn.fetch_add(1);
}

template <class T>
inline constinit Slot slot{};

/// The entry itself, where the machine runs it.
inline const Entry& runnable(const Entry& entry) {
  if (!runs_here(entry.isa)) refuse_isa(entry.snake, entry.isa);
  return entry;
}

/// Whether forward finds the shape of output k.
constexpr bool is_found(const Entry& entry, Index k) { return k < 64 && (entry.found >> k & 1U) != 0; }

/// Names and numbers of the tensors of a call with these parameters on `given` inputs.
inline Signature signature_of(const Entry& entry, const void* op, int given) {
  Signature signature;
  if (entry.signature != nullptr) entry.signature(op, given, signature);
  return signature;
}

/// What GPUs run of the entry's operator; null where no .cu file of the program names it.
inline const Kernels* gpu_kernels(const Entry& entry) {
  return entry.slot != nullptr ? entry.slot->cuda.load(std::memory_order_acquire) : nullptr;
}

/// Where the program can run the operator.
inline std::vector<std::string_view> devices_of(const Entry& entry) {
  std::vector<std::string_view> out;
  if (entry.is_map() || entry.cpu.runs(entry.order)) out.push_back("cpu");
  if (const Kernels* const gpu = gpu_kernels(entry); gpu != nullptr && gpu->runs(entry.order)) out.push_back("gpu");
  return out;
}

}  // namespace detail
}  // namespace strop::inline v0
