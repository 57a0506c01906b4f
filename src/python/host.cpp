// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators for adaptors of other frameworks that are written in Python (strop/torch.py): calls on memory that is said
/// by its address.
#include "schema.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <strop/host/call.hpp>
#include <strop/host/facts.hpp>
#include <strop/host/torch/schema.hpp>

#include <memory>
#include <string>
#include <vector>

namespace strop::python {
namespace {

/// A tensor as Python says it: (address, number of the type, shape); None where it is left out.
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

class HostOperator {
 public:
  explicit HostOperator(const std::string& name)
      : schema_(schema_of(detail::find_operator(name))), facts_(schema_.entry), schemas_(host::torch_schemas(facts_)) {}

  nb::dict about() const {
    nb::dict all;
    nb::list inputs, names;
    for (const Argument& a : facts_.arguments.inputs)
      inputs.append(nb::make_tuple(to_text(a.name), a.optional, a.variadic, a.written));
    for (const std::string& name : schemas_.names) names.append(to_text(name));
    all["inputs"] = inputs;
    all["names"] = names;
    all["forward"] = to_text(schemas_.forward);
    all["all"] = to_text(schemas_.all);
    all["gradient"] = to_text(schemas_.gradient);
    all["second_gradient"] = to_text(schemas_.second_gradient);
    all["visible"] = facts_.visible;
    all["outputs"] = facts_.outputs;
    all["constant"] = facts_.constant;
    all["variadic"] = facts_.variadic;
    all["map"] = facts_.entry.is_map();
    all["trains"] = facts_.trains;
    all["mutates"] = facts_.entry.mutates;
    all["differentiable"] = facts_.differentiable;
    all["refused"] = to_text(facts_.refused);
    return all;
  }

  /// The positions of the inputs that are there, in the order of the operator.
  nb::list placed(const nb::dict& params, const std::vector<bool>& given) const {
    const Params op(schema_, params);
    nb::list all;
    for (const std::size_t at : host::placed_inputs(facts_, op.get(), given)) all.append(at);
    return all;
  }
  int visible(const nb::dict& params, int inputs) const {
    const Params op(schema_, params);
    return detail::count_outputs(schema_.entry, op.get(), inputs).second;
  }
  /// (number of the type, shape) of each output.
  nb::list infer(const nb::dict& params, const nb::list& in) const {
    const Params op(schema_, params);
    nb::list all;
    for (const host::Tensor& t : host::infer(schema_.entry, op.get(), tensors_of(in)))
      all.append(nb::make_tuple(static_cast<int>(t.dtype), nb::steal(shape_tuple(t.shape))));
    return all;
  }
  void run(const nb::dict& params, const nb::list& in, const nb::list& out, bool train) const {
    const Params op(schema_, params);
    const std::vector<host::Tensor> inputs = tensors_of(in), outputs = tensors_of(out);
    const Unlocked others(is_long(elements(outputs) + elements(inputs)));
    host::run(schema_.entry, op.get(), inputs, outputs, train);
  }
  /// What the gradient reads: a bit per input, a bit per output.
  nb::tuple reads(const nb::dict& params, const nb::list& in) const {
    const Params op(schema_, params);
    const host::Reads reads = host::gradient_reads(schema_.entry, op.get(), tensors_of(in));
    return nb::make_tuple(reads.inputs, reads.outputs);
  }
  void differentiate(const nb::dict& params, const nb::list& heads, const nb::list& in, const nb::list& out,
                     const nb::list& gradients, bool train) const {
    const Params op(schema_, params);
    const std::vector<host::Tensor> x = tensors_of(in), y = tensors_of(out), dy = tensors_of(heads),
                                    dx = tensors_of(gradients);
    const Unlocked others(is_long(elements(x) + elements(y)));
    host::differentiate(schema_.entry, op.get(), {x, y, dy, dx, train});
  }
  void differentiate_again(const nb::dict& params, const nb::list& seconds, const nb::list& heads, const nb::list& in,
                           const nb::list& out, const nb::list& head_gradients, const nb::list& gradients,
                           bool train) const {
    const Params op(schema_, params);
    const std::vector<host::Tensor> x = tensors_of(in), y = tensors_of(out), dy = tensors_of(heads),
                                    coming = tensors_of(seconds), ddy = tensors_of(head_gradients),
                                    dx = tensors_of(gradients);
    const Unlocked others(is_long(elements(x) + elements(y)));
    host::differentiate_again(schema_.entry, op.get(), {x, y, dy, coming, ddy, dx, train});
  }

 private:
  /// The parameters of one call, by their names.
  class Params {
   public:
    Params(const Schema& schema, const nb::dict& said) : schema_(schema) {
      for (auto [key, value] : said) {
        if (!box_) box_.emplace(schema.entry.params);
        set_param(schema, param_called(key), *box_, value.ptr());
      }
    }
    const void* get() const { return box_ ? box_->get() : schema_.defaults.get(); }

   private:
    const Schema::Param& param_called(nb::handle key) const {
      for (const Schema::Param& param : schema_.params)
        if (is_name(param.name, key.ptr())) return param;
      refuse(Kind::type, schema_.entry.snake, ": no parameter '", view_of(key.ptr()), "'");
    }
    const Schema& schema_;
    std::optional<ParamBox> box_;
  };
  static std::int64_t elements(const std::vector<host::Tensor>& tensors) {
    std::int64_t all = 0;
    for (const host::Tensor& t : tensors) all += t.shape.size();
    return all;
  }

  const Schema& schema_;
  const host::Facts facts_;
  const host::TorchSchemas schemas_;
};

}  // namespace

void add_hosts(nb::module_& module) {
  nb::class_<HostOperator>(module, "_HostOperator")
      .def(nb::init<const std::string&>())
      .def_prop_ro("about", &HostOperator::about)
      .def("placed", &HostOperator::placed)
      .def("visible", &HostOperator::visible)
      .def("infer", &HostOperator::infer)
      .def("run", &HostOperator::run)
      .def("reads", &HostOperator::reads)
      .def("differentiate", &HostOperator::differentiate)
      .def("differentiate_again", &HostOperator::differentiate_again);
  module.def("_num_threads", [] { return num_threads(); });
  module.def("_set_num_threads", [](int threads) { set_num_threads(threads); });
}

}  // namespace strop::python
