// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls on tensors of PyTorch, which are asked by their own methods: these are the same in every version, so that one
/// binary serves all. Behind strop/torch.py, which has what is not called often.
#include "host.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace strop::python {
namespace {

using detail::List;

/// What PyTorch's modules give, once strop/torch.py was imported; and the names that tensors are asked by.
struct {
  PyObject *tensor, *parameter;                // types
  PyObject *empty, *empty_like, *strided;      //
  PyObject *records, *threads, *modes;         // is_grad_enabled, get_num_threads, _len_torch_dispatch_stack
  PyObject *transforms, *profiles, *tangents;  // peek_interpreter_stack, _profiler_enabled, variables of forward_ad
  PyObject *apply, *nothing;                   // of what records a call in PyTorch's graph; a dictionary
  std::uint64_t below_autograd, plain;         // sets of dispatch keys
  std::array<PyObject*, 16> dtypes;            // by our number; null where there is none
} torch;
struct {
  PyObject *dtype, *shape, *is_cpu, *device, *layout, *requires_grad;
  PyObject *data_ptr, *is_contiguous, *contiguous, *is_neg, *copy_, *raw_repr, *current_level;
  PyObject* only_dtype;  // ("dtype",)
} names;

// --- questions ------------------------------------------------------------------------------------------------------

nb::object checked(PyObject* made) {
  if (made == nullptr) nb::raise_python_error();
  return nb::steal(made);
}
nb::object get(PyObject* object, PyObject* name) { return checked(PyObject_GetAttr(object, name)); }
nb::object ask(PyObject* object, PyObject* method) {
  return checked(PyObject_VectorcallMethod(method, &object, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
}
nb::object call(PyObject* function) { return checked(PyObject_Vectorcall(function, nullptr, 0, nullptr)); }
bool is_true(const nb::object& answer) {
  if (answer.ptr() == Py_True || answer.ptr() == Py_False) return answer.ptr() == Py_True;
  const int truth = PyObject_IsTrue(answer.ptr());
  if (truth < 0) nb::raise_python_error();
  return truth != 0;
}
std::int64_t number(const nb::object& answer) {
  const long long made = PyLong_AsLongLong(answer.ptr());
  if (made == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  return made;
}

/// Whether it is a tensor of PyTorch's own type: a subclass decides itself how it is called.
bool is_own(PyObject* object) {
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return type == torch.tensor || type == torch.parameter;
}

Dtype dtype_of(const HostOperator& op, PyObject* tensor) {
  const nb::object said = get(tensor, names.dtype);
  if (const std::optional<Dtype> type = torch_type_of(said.ptr())) return *type;
  fail(op.entry().snake, ": there are no elements of type ", text_of(said.ptr()));
}
Shape shape_in(PyObject* tuple) {
  Shape shape;
  for (Py_ssize_t i = 0; i < count_of(tuple); ++i) shape.push_back(PyLong_AsLongLong(element_of(tuple, i)));
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  return shape;
}
void* address_of(PyObject* tensor) {
  void* const data = PyLong_AsVoidPtr(ask(tensor, names.data_ptr).ptr());
  if (data == nullptr && PyErr_Occurred() != nullptr) nb::raise_python_error();
  return data;
}
host::Tensor shape_of_tensor(const HostOperator& op, PyObject* tensor) {
  return {shape_in(get(tensor, names.shape).ptr()), dtype_of(op, tensor), nullptr};
}

/// Tensors as the core takes them, row-major, and what keeps them.
struct Compact {
  List<nb::object, 4> held;
  List<host::Tensor, 4> described;

  void add(const HostOperator& op, PyObject* tensor) {
    if (!is_true(get(tensor, names.is_cpu)))
      fail(op.entry().snake, ": a tensor is on ", text_of(get(tensor, names.device).ptr()), ", expected cpu");
    held.push_back(is_true(ask(tensor, names.is_contiguous)) ? nb::borrow(tensor) : ask(tensor, names.contiguous));
    described.push_back(shape_of_tensor(op, tensor));
    described.back().data = address_of(held.back().ptr());
  }
  void add(host::Tensor shell) {
    held.push_back(nb::object());
    described.push_back(std::move(shell));
  }
  host::Tensors all() const { return {described.begin(), described.end()}; }
};

/// A new tensor of PyTorch's allocator; one of `like` that is as it has to be is the shorter way there.
nb::object new_tensor(host::Tensor& made, const Compact& like) {
  nb::object tensor;
  for (detail::Index i = 0; i < like.held.size() && !tensor.is_valid(); ++i) {
    PyObject* const one = like.held[i].ptr();
    if (one != nullptr && is_own(one) && like.described[i].dtype == made.dtype && like.described[i].shape == made.shape)
      tensor = checked(PyObject_Vectorcall(torch.empty_like, &one, 1, nullptr));
  }
  if (!tensor.is_valid()) {
    const nb::object shape = checked(shape_tuple(made.shape));
    PyObject* const both[] = {shape.ptr(), torch.dtypes.at(static_cast<std::size_t>(made.dtype))};
    tensor = checked(PyObject_Vectorcall(torch.empty, both, 1, names.only_dtype));
  }
  made.data = address_of(tensor.ptr());
  return tensor;
}

/// Has our loops use as many threads as PyTorch's.
void follow_threads() {
  if (const auto threads = static_cast<int>(number(call(torch.threads))); threads != num_threads())
    set_num_threads(threads);
}

// --- calls ----------------------------------------------------------------------------------------------------------

/// The tensors of a call, in the order of the operator.
struct Given {
  List<nb::object, 4> tensors;

  /// `args` from `first` on are those of the schema.
  Given(const HostOperator& op, const void* params, PyObject* args, Py_ssize_t first) {
    const std::vector<Argument>& inputs = op.facts.arguments.inputs;
    std::vector<bool> there;
    bool every = true;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Py_ssize_t at = first + static_cast<Py_ssize_t>(i);
      PyObject* const one = at < count_of(args) ? element_of(args, at) : Py_None;
      if (inputs[i].variadic) {
        const nb::object list = checked(PySequence_Tuple(one));
        for (Py_ssize_t k = 0; k < count_of(list.ptr()); ++k) tensors.push_back(nb::borrow(element_of(list.ptr(), k)));
        continue;
      }
      tensors.push_back(nb::borrow(one));
      every = every && one != Py_None;
    }
    if (every || op.facts.variadic) return;
    for (const nb::object& one : tensors) there.push_back(!one.is_none());
    List<nb::object, 4> placed;
    for (const std::size_t at : host::placed_inputs(op.facts, params, there)) placed.push_back(tensors[at]);
    tensors = std::move(placed);
  }
};

/// What a call gives back: one tensor, several, or a list of them.
nb::object results_of(const HostOperator& op, const List<nb::object, 4>& made, bool of_all) {
  const int said = of_all ? op.facts.outputs : op.facts.visible;
  if (said >= 0 && made.size() != said)
    fail(op.entry().snake, ": gives ", made.size(), " results with these parameters, and ", said,
         " without; the operator _all_", op.schemas.names.front(), " gives all that there are");
  if (said == 1) return made[0];
  nb::list list;
  for (const nb::object& one : made) list.append(one);
  return said < 0 ? nb::object(list) : nb::object(nb::tuple(list));
}

/// The call itself, on tensors of the CPU, at once.
nb::object compute(const HostOperator& op, const HostParams& params, const List<nb::object, 4>& tensors, bool of_all) {
  Compact in;
  for (const nb::object& one : tensors) in.add(op, one.ptr());
  std::vector<host::Tensor> out = op.inferred.results(op.entry(), params.get(), params.is_default(), in.all());
  List<nb::object, 4> made;
  for (host::Tensor& t : out) made.push_back(new_tensor(t, in));
  follow_threads();
  {
    const Unlocked others(is_long(elements_of(in.all()) + elements_of(out)));
    host::run(op.entry(), params.get(), in.all(), out, params.train);
  }
  const std::vector<Argument>& inputs = op.facts.arguments.inputs;
  for (detail::Index i = 0; op.entry().mutates && i < tensors.size() && std::cmp_less(i, inputs.size()); ++i) {
    PyObject* const both[] = {tensors[i].ptr(), in.held[i].ptr()};
    if (detail::element(inputs, i).written && both[0] != both[1])
      checked(PyObject_VectorcallMethod(names.copy_, both, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
  }
  return results_of(op, made, of_all);
}

/// Whether nothing but our kernel is to see a call: no mode, no transform, no profile.
bool is_unseen() {
  return number(call(torch.modes)) == 0 && call(torch.transforms).is_none() && !is_true(call(torch.profiles));
}

// --- kernels --------------------------------------------------------------------------------------------------------

/// A kernel of PyTorch's dispatcher. With `otherwise` it is the one of autograd: it is given the call's dispatch keys,
/// computes at once what nothing else is to see, and leaves the rest to `otherwise`.
struct Kernel {
  PyObject_HEAD const HostOperator* op;  // null once the interpreter ends
  PyObject *owner, *otherwise;
  bool of_all;
};
PyTypeObject* kernel_type = nullptr;

enum class Way { at_once, recorded, otherwise };
Way way_for(const Kernel& kernel, PyObject* args) {
  const HostOperator& op = *kernel.op;
  const nb::object keys = ask(element_of(args, 0), names.raw_repr);
  if ((PyLong_AsUnsignedLongLong(keys.ptr()) & torch.below_autograd) != torch.plain) return Way::otherwise;
  if (op.entry().mutates) return Way::otherwise;
  bool asked = false;
  const auto look = [&](PyObject* one) {
    if (one != Py_None && !is_own(one)) return false;
    asked = asked || (one != Py_None && is_true(get(one, names.requires_grad)));
    return true;
  };
  for (Py_ssize_t i = 1; i < count_of(args); ++i) {
    PyObject* const one = element_of(args, i);
    if (PyList_Check(one)) {
      for (Py_ssize_t k = 0; k < PyList_Size(one); ++k)
        if (!look(PyList_GetItem(one, k))) return Way::otherwise;
    } else if (!look(one)) {
      return Way::otherwise;
    }
  }
  PyObject* const level = PyDict_GetItemWithError(torch.tangents, names.current_level);
  if (level == nullptr || PyLong_AsLong(level) >= 0) return Way::otherwise;
  if (!asked || op.facts.constant || !is_true(call(torch.records))) return Way::at_once;
  return op.facts.differentiable ? Way::recorded : Way::otherwise;
}

/// The call, by what records it.
nb::object record(const Kernel& kernel, const HostParams& params, PyObject* args, PyObject* kwargs) {
  const Given given(*kernel.op, params.get(), args, 1);
  std::vector<PyObject*> all{kernel.owner, Py_None, kwargs == nullptr ? torch.nothing : kwargs,
                             kernel.of_all ? Py_True : Py_False};
  for (const nb::object& one : given.tensors) all.push_back(one.ptr());
  nb::object made = checked(PyObject_Vectorcall(torch.apply, all.data(), all.size(), nullptr));
  const int said = kernel.of_all ? kernel.op->facts.outputs : kernel.op->facts.visible;
  if (said == 1) return nb::borrow(element_of(made.ptr(), 0));
  return said < 0 ? checked(PySequence_List(made.ptr())) : made;
}

PyObject* run_kernel(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    const Kernel& kernel = *reinterpret_cast<Kernel*>(self);
    if (kernel.op == nullptr) {
      PyErr_SetString(PyExc_RuntimeError, "strop.torch: the interpreter is ending");
      return nullptr;
    }
    try {
      const Way way = kernel.otherwise == nullptr ? Way::at_once : way_for(kernel, args);
      if (way == Way::otherwise) return PyObject_Call(kernel.otherwise, args, kwargs);
      const HostParams params(*kernel.op, kwargs);
      if (way == Way::recorded) return record(kernel, params, args, kwargs).release().ptr();
      const Given given(*kernel.op, params.get(), args, kernel.otherwise == nullptr ? 0 : 1);
      return compute(*kernel.op, params, given.tensors, kernel.of_all).release().ptr();
    } catch (const Error& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
      return nullptr;
    }
  });
}

PyObject* make_kernel(PyTypeObject*, PyObject* args, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject *owner = nullptr, *core = nullptr, *otherwise = nullptr;
    int of_all = 0;
    if (PyArg_ParseTuple(args, "OOOp", &owner, &core, &otherwise, &of_all) == 0) return nullptr;
    PyObject* const made = new_object(kernel_type);
    if (made == nullptr) return nullptr;
    auto* const kernel = reinterpret_cast<Kernel*>(made);
    kernel->op = nb::inst_ptr<HostOperator>(core);
    kernel->owner = Py_NewRef(owner);  // which keeps the core
    kernel->otherwise = otherwise == Py_None ? nullptr : Py_NewRef(otherwise);
    kernel->of_all = of_all != 0;
    return made;
  });
}
PyObject* end_kernel(PyObject* self, PyObject*) {
  auto* const kernel = reinterpret_cast<Kernel*>(self);
  kernel->op = nullptr;
  Py_CLEAR(kernel->otherwise);
  Py_CLEAR(kernel->owner);
  Py_RETURN_NONE;
}
void free_kernel(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  auto* const kernel = reinterpret_cast<Kernel*>(self);
  Py_XDECREF(kernel->otherwise);
  Py_XDECREF(kernel->owner);
  free_object(type, self);
  Py_DECREF(type);
}
PyMethodDef kernel_methods[] = {{"end", end_kernel, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

template <class F>
constexpr PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

// --- what records a call --------------------------------------------------------------------------------------------

/// All results of a call, a tuple, on tensors in the operator's own order.
nb::tuple compute_all(const HostOperator& op, const nb::dict& said, const nb::tuple& tensors, bool of_all) {
  const HostParams params(op, said.ptr());
  List<nb::object, 4> given;
  for (const nb::handle one : tensors) given.push_back(nb::borrow(one));
  const nb::object made = compute(op, params, given, of_all);
  return is_own(made.ptr()) ? nb::make_tuple(made) : nb::tuple(made);
}

/// What the gradient of a call needs: (inputs and outputs to keep, what stands for the others, and the results that
/// have no gradient as they are whole numbers). What stands for them is a tuple of all: None of a tensor that is kept,
/// else its (type, shape, device). `needs`: of an input a gradient is asked.
nb::tuple keep(const HostOperator& op, const nb::dict& said, const nb::tuple& tensors, const nb::tuple& made,
               const nb::tuple& needs) {
  const HostParams params(op, said.ptr());
  List<host::Tensor, 4> in;
  for (const nb::handle one : tensors) in.push_back({{}, dtype_of(op, one.ptr()), nullptr});
  const host::Reads reads = host::gradient_reads(op.entry(), params.get(), {in.begin(), in.end()});
  nb::list kept, shells;
  const auto add = [&](const nb::handle tensor, bool is_kept) {
    if (is_kept) return kept.append(tensor), shells.append(nb::none());
    PyObject* const t = tensor.ptr();
    shells.append(nb::make_tuple(get(t, names.dtype), get(t, names.shape), get(t, names.device)));
  };
  // A result that is kept is a function of the inputs, which the second gradient goes back to.
  for (std::size_t i = 0; i < tensors.size(); ++i)
    add(tensors[i], host::Reads::has(reads.inputs, i) || (reads.outputs != 0 && is_true(nb::object(needs[i]))));
  nb::list constant;
  for (std::size_t k = 0; k < made.size(); ++k) {
    add(made[k], host::Reads::has(reads.outputs, k));
    const nb::object result = made[k];
    if (!is_floating(dtype_of(op, result.ptr()))) constant.append(result);
  }
  return nb::make_tuple(nb::tuple(kept), nb::tuple(shells), constant);
}

/// The gradients of a call's inputs, None where none is wanted. None alone where something else is to see the call.
nb::object gradients(const HostOperator& op, const nb::dict& said, const nb::tuple& heads, const nb::tuple& kept,
                     const nb::tuple& shells, std::size_t inputs, const nb::tuple& wanted) {
  if (is_true(call(torch.records)) || !is_unseen()) return nb::none();
  const auto is_plain = [](PyObject* one) {
    return is_own(one) && is_true(get(one, names.is_cpu)) && get(one, names.layout).ptr() == torch.strided &&
           !is_true(ask(one, names.is_neg));
  };
  for (const nb::handle one : heads)
    if (!one.is_none() && !is_plain(one.ptr())) return nb::none();
  for (const nb::handle one : kept)
    if (!is_plain(one.ptr())) return nb::none();
  const HostParams params(op, said.ptr());
  Compact in, out, coming;
  std::size_t next = 0;
  for (std::size_t i = 0; i < shells.size(); ++i) {
    Compact& to = i < inputs ? in : out;
    const nb::object shell = shells[i];
    if (shell.is_none()) {
      to.add(op, nb::object(kept[next++]).ptr());
    } else {
      PyObject* const t = shell.ptr();
      to.add({shape_in(element_of(t, 1)), torch_type_of(element_of(t, 0)).value_or(f32), nullptr});
    }
  }
  for (std::size_t k = 0; k < heads.size(); ++k) {
    const host::Tensor& like = detail::element(out.described, static_cast<detail::Index>(k));
    const nb::object head = heads[k];
    head.is_none() ? coming.add({like.shape, like.dtype, nullptr}) : coming.add(op, head.ptr());
  }
  nb::list made;
  List<host::Tensor, 4> to;
  for (std::size_t i = 0; i < inputs; ++i) {
    const host::Tensor& like = detail::element(in.described, static_cast<detail::Index>(i));
    to.push_back({like.shape, like.dtype, nullptr});
    const bool is_wanted = is_true(nb::object(wanted[i]));
    made.append(is_wanted ? new_tensor(to.back(), in) : nb::none());
  }
  follow_threads();
  {
    const Unlocked others(is_long(elements_of(in.all()) + elements_of(out.all())));
    host::differentiate(op.entry(), params.get(),
                        {in.all(), out.all(), coming.all(), {to.begin(), to.end()}, params.train});
  }
  return made;
}

/// Takes what it needs of PyTorch: its functions by their names, its types of elements by our numbers.
void begin(const nb::dict& given, const nb::dict& dtypes) {
  const auto of = [&](const char* name) { return nb::object(given[name]).release().ptr(); };
  torch.tensor = of("Tensor"), torch.parameter = of("Parameter"), torch.strided = of("strided");
  torch.empty = of("empty"), torch.empty_like = of("empty_like"), torch.records = of("is_grad_enabled");
  torch.threads = of("get_num_threads"), torch.modes = of("modes"), torch.transforms = of("transforms");
  torch.profiles = of("profiles"), torch.tangents = of("tangents"), torch.apply = of("apply");
  torch.nothing = PyDict_New();
  torch.below_autograd = nb::cast<std::uint64_t>(given["below_autograd"]);
  torch.plain = nb::cast<std::uint64_t>(given["plain"]);
  for (auto [dtype, which] : dtypes) torch.dtypes.at(nb::cast<std::size_t>(which)) = nb::borrow(dtype).release().ptr();
  const auto name = [](const char* text) { return PyUnicode_InternFromString(text); };
  names.dtype = name("dtype"), names.shape = name("shape"), names.is_cpu = name("is_cpu");
  names.device = name("device"), names.layout = name("layout"), names.requires_grad = name("requires_grad");
  names.data_ptr = name("data_ptr"), names.is_contiguous = name("is_contiguous");
  names.contiguous = name("contiguous"), names.is_neg = name("is_neg"), names.copy_ = name("copy_");
  names.raw_repr = name("raw_repr"), names.current_level = name("_current_level");
  names.only_dtype = PyTuple_Pack(1, names.dtype);
}

}  // namespace

std::optional<Dtype> torch_type_of(PyObject* object) {
  for (std::size_t i = 0; i < torch.dtypes.size(); ++i)
    if (torch.dtypes[i] == object && object != nullptr) return static_cast<Dtype>(i);
  return std::nullopt;
}

void add_torch(nb::class_<HostOperator>& operators, nb::module_& module) {
  operators.def("compute", &compute_all).def("keep", &keep).def("gradients", &gradients);
  PyType_Slot slots[] = {slot(Py_tp_new, make_kernel),
                         slot(Py_tp_dealloc, free_kernel),
                         slot(Py_tp_call, run_kernel),
                         {Py_tp_methods, kernel_methods},
                         {0, nullptr}};
  PyType_Spec spec{"strop._strop._TorchKernel", static_cast<int>(sizeof(Kernel)), 0, Py_TPFLAGS_DEFAULT, slots};
  kernel_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release().ptr());
  module.attr("_TorchKernel") = nb::borrow(reinterpret_cast<PyObject*>(kernel_type));
  module.def("_begin_torch", &begin);
}

}  // namespace strop::python
