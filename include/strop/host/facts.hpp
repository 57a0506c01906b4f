// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an adaptor for another framework asks of an operator before there is a call: its tensors, how many results it
/// has, and whether calls from outside serve it at all.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/op/describe.hpp>

#include <string>
#include <vector>

namespace strop::inline v0::host {

/// Facts of an operator, read once.
struct Facts {
  const Entry& entry;
  Arguments arguments;
  bool variadic = false;        // its last input stands for any number of tensors
  int outputs = -1;             // where every call gives as many; else −1
  int visible = -1;             // of them, those that a call with the default parameters shows
  bool differentiable = false;  // has a gradient, which may be zero
  bool constant = false;        // its results are constants: no gradient is asked of what they were computed from
  bool trains = false;          // its results in training are others: it keeps statistics among its inputs
  /// Why no framework calls it, as the end of a sentence; empty where it may.
  std::string_view refused;

  explicit Facts(const Entry& e);
  std::string_view name() const { return entry.name; }
};

/// The inputs that a call has, in the operator's own order, of those that its arguments name: `given` says which are
/// there. Throws Error where one is missing or one too many is there. With a variadic operator the list is as given.
std::vector<std::size_t> placed_inputs(const Facts& facts, const void* op, const std::vector<bool>& given);

/// The operators of the program, or of those alone that lie in the same file as `anchor`: sorted by name, gradients
/// left out.
std::vector<const Entry*> operators(const void* anchor = nullptr);

}  // namespace strop::inline v0::host

#if !defined(STROP_COMPILED)
#include <strop/host/facts_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
