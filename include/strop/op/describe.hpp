// SPDX-License-Identifier: Apache-2.0
/// \file
/// What front ends read of an operator before there is a call: its arguments, and what a call costs.
#pragma once
#include <strop/op/registry.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// One input or output of an operator.
struct Argument {
  std::string_view name;
  std::string_view doc;   // what the struct's notes say of it
  bool written = false;   // an input that forward writes: an auxiliary state, a weight that an update changes
  bool optional = false;  // with some parameters there is none, or no caller sees it
  bool variadic = false;  // stands for any number of tensors
  bool hidden = false;    // an output that no caller ever sees
  bool whole = false;     // an input of whole numbers, bool to int64, whatever the type of the others
};

/// All arguments of an operator in their order, whatever its parameters are.
struct Arguments {
  std::vector<Argument> inputs, outputs;
};

/// The arguments of an operator without a call: those of a call with its defaults, and those that another value of a
/// bool, an enumeration or an optional parameter adds. An open list of inputs or outputs is one argument. Names are
/// valid as long as the operator is.
Arguments arguments_of(const Entry& entry);

/// What one call moves and computes.
struct Cost {
  std::int64_t bytes_read = 0, bytes_written = 0;
  /// Additions, multiplications and their like; a function such as exp counts as 16 of them. Of a map's gradient they
  /// are those of its body, or of the dual numbers that it is derived with, which compute the function's value along
  /// with its derivative; of results that are smaller than what they follow from, a sum. None where neither a body nor
  /// the operator says.
  std::optional<double> operations;
};

/// The cost of a call with these parameters (an object of the operator's type; of a gradient, `entry.gradient.entry`,
/// of the type that it belongs to) on dense arrays of known shapes and types: every input is read once, every output
/// and every input that is written is written once.
Cost cost_of(const Entry& entry, const void* op, std::span<const Shape> in, std::span<const Dtype> in_types,
             std::span<const Shape> out, std::span<const Dtype> out_types);

namespace detail {

/// Values of a parameter that may change which arguments there are, as text.
std::vector<std::string_view> telling_values(const ValueType& type);
/// An object with its defaults, one parameter as the text says, and some values for those that are required; null where
/// the operator refuses it.
Ref<ParamBox> try_params(const Entry& entry, std::string_view key = {}, std::string_view text = {});

}  // namespace detail
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/op/describe_impl.hpp>
#endif
