// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators as adaptors of other frameworks that are written in Python have them.
#pragma once
#include "schema.hpp"

#include <strop/host/call.hpp>
#include <strop/host/facts.hpp>
#include <strop/host/torch/schema.hpp>

#include <optional>
#include <string>

namespace strop::python {

/// An operator, with what is asked of it once.
struct HostOperator {
  explicit HostOperator(const std::string& name)
      : schema(schema_of(detail::find_operator(name))), facts(schema.entry), schemas(host::torch_schemas(facts)) {}
  const Entry& entry() const { return schema.entry; }

  const Schema& schema;
  const host::Facts facts;
  const host::TorchSchemas schemas;
  const host::Inferred inferred;
};

/// The parameters of one call, by their names, and whether it trains.
class HostParams {
 public:
  /// `said` is a dictionary, or null.
  HostParams(const HostOperator& op, PyObject* said);
  const void* get() const { return box_ ? box_->get() : op_.schema.defaults.get(); }
  bool is_default() const { return !box_; }
  bool train = false;

 private:
  void set(PyObject* key, PyObject* value);

  const HostOperator& op_;
  std::optional<ParamBox> box_;
};

/// The element type that an object of PyTorch stands for; none where it is no such object, or of a type that there is
/// not here.
std::optional<Dtype> torch_type_of(PyObject* object);

/// What strop/torch.py calls on tensors of PyTorch.
void add_torch(nb::class_<HostOperator>& operators, nb::module_& module);

inline std::int64_t elements_of(host::Tensors tensors) {
  std::int64_t all = 0;
  for (const host::Tensor& t : tensors) all += t.shape.size();
  return all;
}

}  // namespace strop::python
