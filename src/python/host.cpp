// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators for adaptors of other frameworks that are written in Python (strop/torch.py): calls on memory that is said
/// by its address.
#include "host.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace strop::python {

HostParams::HostParams(const HostOperator& op, PyObject* said) : op_(op) {
  if (said == nullptr) return;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(said, &at, &key, &value) != 0;) {
    const nb::object kept = nb::borrow(value);  // whatever code runs meanwhile
    set(key, value);
  }
}

void HostParams::set(PyObject* key, PyObject* value) {
  if (op_.facts.trains && view_of(key) == "training") {
    train = PyObject_IsTrue(value) == 1;
    return;
  }
  for (const Schema::Param& param : op_.schema.params) {
    if (!is_name(param.name, key)) continue;
    if (!box_) box_.emplace(op_.entry().params);
    const std::optional<Dtype> type = torch_type_of(value);
    const nb::object name = type ? to_text(name_of(*type)) : nb::object();
    return set_param(op_.schema, param, *box_, type ? name.ptr() : value);
  }
  refuse(Kind::type, op_.entry().snake, ": no parameter '", view_of(key), "'");
}

namespace {

/// A tensor as Python says it: (address, number of the type, shape); the address is 0 where nobody looks at elements.
host::Tensor tensor_of(PyObject* said) {
  host::Tensor made;
  made.data = PyLong_AsVoidPtr(element_of(said, 0));
  made.dtype = static_cast<Dtype>(PyLong_AsLong(element_of(said, 1)));
  PyObject* const shape = element_of(said, 2);
  for (Py_ssize_t i = 0; i < count_of(shape); ++i) made.shape.push_back(PyLong_AsLongLong(element_of(shape, i)));
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  return made;
}
std::vector<host::Tensor> tensors_of(const nb::list& list) {
  std::vector<host::Tensor> all;
  all.reserve(list.size());
  for (nb::handle one : list) all.push_back(tensor_of(one.ptr()));
  return all;
}

nb::dict about(const HostOperator& op) {
  nb::dict all;
  nb::list inputs, names;
  for (const Argument& a : op.facts.arguments.inputs)
    inputs.append(nb::make_tuple(to_text(a.name), a.optional, a.variadic, a.written));
  for (const std::string& name : op.schemas.names) names.append(to_text(name));
  all["inputs"] = inputs;
  all["names"] = names;
  all["forward"] = to_text(op.schemas.forward);
  all["all"] = to_text(op.schemas.all);
  all["gradient"] = to_text(op.schemas.gradient);
  all["second_gradient"] = to_text(op.schemas.second_gradient);
  all["visible"] = op.facts.visible;
  all["outputs"] = op.facts.outputs;
  all["constant"] = op.facts.constant;
  all["variadic"] = op.facts.variadic;
  all["map"] = op.entry().is_map();
  all["mutates"] = op.entry().mutates;
  all["sparse"] = op.entry().is_map() || op.entry().infer_storage != nullptr;
  all["differentiable"] = op.facts.differentiable;
  all["refused"] = to_text(op.facts.refused);
  return all;
}

/// The positions of the inputs that are there, in the order of the operator.
nb::list placed(const HostOperator& op, const nb::dict& said, const std::vector<bool>& given) {
  const HostParams params(op, said.ptr());
  nb::list all;
  for (const std::size_t at : host::placed_inputs(op.facts, params.get(), given)) all.append(at);
  return all;
}
int visible(const HostOperator& op, const nb::dict& said, int inputs) {
  const HostParams params(op, said.ptr());
  return detail::count_outputs(op.entry(), params.get(), inputs).second;
}
/// (number of the type, shape) of each output.
nb::list infer(const HostOperator& op, const nb::dict& said, const nb::list& in) {
  const HostParams params(op, said.ptr());
  nb::list all;
  for (const host::Tensor& t : host::infer(op.entry(), params.get(), tensors_of(in)))
    all.append(nb::make_tuple(static_cast<int>(t.dtype), nb::steal(shape_tuple(t.shape))));
  return all;
}
/// What the gradient reads: a bit per input, a bit per output.
nb::tuple reads(const HostOperator& op, const nb::dict& said, const nb::list& in) {
  const HostParams params(op, said.ptr());
  const host::Reads reads = host::gradient_reads(op.entry(), params.get(), tensors_of(in));
  return nb::make_tuple(reads.inputs, reads.outputs);
}
void differentiate(const HostOperator& op, const nb::dict& said, const nb::list& heads, const nb::list& in,
                   const nb::list& out, const nb::list& gradients) {
  const HostParams params(op, said.ptr());
  const std::vector<host::Tensor> x = tensors_of(in), y = tensors_of(out), dy = tensors_of(heads),
                                  dx = tensors_of(gradients);
  const Unlocked others(is_long(elements_of(x) + elements_of(y)));
  host::differentiate(op.entry(), params.get(), {x, y, dy, dx, params.train});
}
void differentiate_again(const HostOperator& op, const nb::dict& said, const nb::list& seconds, const nb::list& heads,
                         const nb::list& in, const nb::list& out, const nb::list& head_gradients,
                         const nb::list& gradients) {
  const HostParams params(op, said.ptr());
  const std::vector<host::Tensor> x = tensors_of(in), y = tensors_of(out), dy = tensors_of(heads),
                                  coming = tensors_of(seconds), ddy = tensors_of(head_gradients),
                                  dx = tensors_of(gradients);
  const Unlocked others(is_long(elements_of(x) + elements_of(y)));
  host::differentiate_again(op.entry(), params.get(), {x, y, dy, coming, ddy, dx, params.train});
}

std::vector<NDArray> arrays_of(const nb::list& list) {
  std::vector<NDArray> all;
  for (const nb::handle one : list) all.push_back(one.is_none() ? NDArray() : array_of(one.ptr()));
  return all;
}
nb::list wrapped(std::vector<NDArray> arrays) {
  nb::list all;
  for (NDArray& one : arrays) all.append(nb::steal(wrap(std::move(one))));
  return all;
}
/// Results on arrays of any storages.
nb::list run_arrays(const HostOperator& op, const nb::dict& said, const nb::list& in) {
  const HostParams params(op, said.ptr());
  return wrapped(host::run(op.entry(), params.get(), arrays_of(in), params.train));
}
/// Gradients of a call on them: `wanted` has the number of a storage for each input, −1 for none.
nb::list differentiate_arrays(const HostOperator& op, const nb::dict& said, const nb::list& heads, const nb::list& in,
                              const std::vector<int>& wanted) {
  const HostParams params(op, said.ptr());
  std::vector<std::optional<Storage>> storages;
  for (const int one : wanted) storages.push_back(one < 0 ? std::nullopt : std::optional(static_cast<Storage>(one)));
  return wrapped(
      host::differentiate(op.entry(), params.get(), arrays_of(in), arrays_of(heads), storages, params.train));
}

}  // namespace

void add_hosts(nb::module_& module) {
  nb::class_<HostOperator> operators(module, "_HostOperator");
  operators.def(nb::init<const std::string&>())
      .def_prop_ro("about", &about)
      .def("placed", &placed)
      .def("visible", &visible)
      .def("infer", &infer)
      .def("reads", &reads)
      .def("differentiate", &differentiate)
      .def("differentiate_again", &differentiate_again)
      .def("run_arrays", &run_arrays)
      .def("differentiate_arrays", &differentiate_arrays);
  add_torch(operators, module);
  module.def("_num_threads", [] { return num_threads(); });
  module.def("_set_num_threads", [](int threads) { set_num_threads(threads); });
}

}  // namespace strop::python
