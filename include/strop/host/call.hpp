// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators as other frameworks call them: on memory that the framework owns, at once, on the calling thread. An
/// adaptor for a framework is written over these functions and the registry's entries, and knows no operator.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/op/entry.hpp>
#include <strop/op/param_box.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strop::inline v0::host {

/// A tensor of the framework: row-major elements on the CPU. `data` is null where nobody looks at the elements: an
/// input that a gradient does not read, a result that nobody wants.
struct Tensor {
  Shape shape;
  Dtype dtype = f32;
  void* data = nullptr;
};
using Tensors = std::span<const Tensor>;

/// What a gradient reads of its call, a bit per tensor; the rest may be given without elements.
struct Reads {
  std::uint64_t inputs = 0, outputs = 0;
  static bool has(std::uint64_t mask, std::size_t i) { return mask == detail::every || (i < 64 && (mask >> i & 1U)); }
};

/// Shapes and types of all outputs of a call, visible or not; an output whose shape follows from the data has no rank.
/// Throws Error where the inputs do not fit the operator.
std::vector<Tensor> infer(const Entry& entry, const void* op, Tensors in);

/// The same of one operator's calls, which remembers what it was told of maps with their default parameters on inputs
/// of one type and shape. Any thread may ask.
class Inferred {
 public:
  Inferred();
  std::vector<Tensor> results(const Entry& entry, const void* op, bool is_default, Tensors in) const;

 private:
  static constexpr std::uint8_t unknown = 0xff;
  mutable std::array<std::atomic<std::uint8_t>, 16> types_;  // of the one result, by that of the inputs
};

/// Computes a call into outputs that are there. `train`: as while recording for a gradient.
void run(const Entry& entry, const void* op, Tensors in, Tensors out, bool train);

/// What the gradient of a call on these inputs reads.
Reads gradient_reads(const Entry& entry, const void* op, Tensors in);

/// A gradient of a call: head gradients, one per output, and where the gradients of the inputs go. What has no data is
/// absent: a head gradient counts as zeros, and a gradient is not asked for.
struct Gradient {
  Tensors in, out, heads;
  Tensors gradients;
  bool train = true;
};
/// Computes the gradients of a call. Throws Error where the operator has none.
void differentiate(const Entry& entry, const void* op, const Gradient& call);

/// The gradient of that: `seconds` come to the gradients of the call, and go on to its head gradients and inputs. The
/// outputs count as what they are, functions of the inputs.
struct SecondGradient {
  Tensors in, out, heads, seconds;
  Tensors head_gradients, gradients;
  bool train = true;
};
void differentiate_again(const Entry& entry, const void* op, const SecondGradient& call);

/// The call on arrays of any storages, which may lie over memory of the framework. Its results, visible or not, are new
/// arrays, in the storages that follow from the inputs'.
std::vector<NDArray> run(const Entry& entry, const void* op, std::span<const NDArray> in, bool train);

/// The gradients of that call, which is computed once more: of the inputs that `wanted` says a storage of, in it; the
/// others are handles without an array. The inputs are the call's alone: they have no attach_grad().
std::vector<NDArray> differentiate(const Entry& entry, const void* op, std::span<const NDArray> in,
                                   std::span<const NDArray> heads, std::span<const std::optional<Storage>> wanted,
                                   bool train);

}  // namespace strop::inline v0::host

#if !defined(STROP_COMPILED)
#include <strop/host/call_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
