// SPDX-License-Identifier: Apache-2.0
/// \file
/// The schema by which PyTorch knows an operator, as text. Needs nothing of PyTorch.
#pragma once
#include <strop/host/facts.hpp>

#include <string>
#include <vector>

namespace strop::inline v0::host {

/// The schemas of an operator's functions in PyTorch: its own, and those that it is differentiated by. Tensors are
/// positional; parameters are keywords, with the operator's defaults.
struct TorchSchemas {
  std::vector<std::string> names;  // by which it is called: its name, its name in snake_case, its aliases
  /// "(Tensor data, *, float beta=1) -> Tensor": the arguments and results of its own function.
  std::string forward;
  /// The same with all outputs, those as well that callers do not see. Of an operator with hidden ones, or with a
  /// number that depends on its parameters.
  std::string all;
  /// "(Tensor?[] _heads, Tensor[] _inputs, Tensor[] _outputs, int[] _wanted, *, …) -> Tensor[]", and the same with
  /// `_seconds` before, by names that no parameter has. Empty without a gradient.
  std::string gradient, second_gradient;
};
TorchSchemas torch_schemas(const Facts& facts);

/// The type of a parameter in schemas: "float", "int[1]?", …
std::string torch_type(const detail::ValueType& type);
/// Whether PyTorch calls something by the name.
bool is_torch_name(std::string_view name);

}  // namespace strop::inline v0::host

#if !defined(STROP_COMPILED)
#include <strop/host/torch/schema_impl.hpp>
#endif
