// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scopes of autograd: `with record():` and its like, which stand around every recorded call.
#include "stable.hpp"

#include <strop/autograd/backward.hpp>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace strop::python {
namespace {

/// True or False, or a number as MXNet takes it.
bool switch_of(const char* function, const char* argument, const nb::object& given) {
  if (const std::optional<double> number = number_of(given.ptr())) return *number != 0;
  refuse(Kind::type, function, ": ", argument, " is ", text_of(given.ptr()), ", expected True or False");
}
bool set_recording(bool on) {
  const bool before = is_recording();
  const detail::Recorder* const recorder = on ? &detail::tape : nullptr;
  (detail::call_mode.tracer == nullptr ? detail::call_mode.recorder : detail::call_mode.recorded) = recorder;
  return before;
}
bool set_training(bool on) { return std::exchange(detail::call_mode.training, on); }

/// Sets how its thread's calls run, and puts back what was before; may be entered again while it is open.
struct ScopeObject {
  PyObject_HEAD int recording, training;  // −1: as it was
  std::string before;                     // of each time that it is open: bit 0 recording, bit 1 training
};
ScopeObject& own(PyObject* self) { return *reinterpret_cast<ScopeObject*>(self); }

/// None, True or False as −1, 1 or 0.
int mode_of(PyObject* object) { return object == Py_None ? -1 : PyObject_IsTrue(object); }

PyObject* make_scope(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *recording = nullptr, *training = nullptr;
  if (PyArg_UnpackTuple(args, "Scope", 2, 2, &recording, &training) == 0) return nullptr;
  PyObject* const self = new_object(type);
  if (self == nullptr) return nullptr;
  own(self).recording = mode_of(recording);
  own(self).training = mode_of(training);
  new (&own(self).before) std::string;
  return self;
}
void free_scope(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  std::destroy_at(&own(self).before);
  free_object(type, self);
  Py_DECREF(type);
}

PyObject* enter(PyObject* self, PyObject*) {
  return guarded([&] {
    ScopeObject& scope = own(self);
    scope.before.push_back(static_cast<char>((is_recording() ? 1 : 0) | (is_training() ? 2 : 0)));
    if (scope.recording >= 0) set_recording(scope.recording != 0);
    if (scope.training >= 0) set_training(scope.training != 0);
    return Py_NewRef(Py_None);
  });
}
PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  return guarded([&] {
    ScopeObject& scope = own(self);
    if (scope.before.empty()) refuse(Kind::other, "autograd: a scope is left that nobody entered");
    const int before = scope.before.back();
    scope.before.pop_back();
    if (scope.recording >= 0) set_recording((before & 1) != 0);
    if (scope.training >= 0) set_training((before & 2) != 0);
    return Py_NewRef(Py_None);
  });
}

PyMethodDef scope_methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(leave)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

template <class F>
constexpr PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace

void add_scopes(nb::module_& module) {
  PyType_Slot slots[] = {
      slot(Py_tp_new, make_scope),
      slot(Py_tp_dealloc, free_scope),
      slot(Py_tp_methods, scope_methods),
      slot(Py_tp_doc, const_cast<char*>("Scope(recording, training): how calls run while it is open; None leaves it.")),
      {0, nullptr}};
  PyType_Spec spec{"strop.autograd.Scope", static_cast<int>(sizeof(ScopeObject)), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* const made = PyType_FromSpec(&spec);
  if (made == nullptr) nb::raise_python_error();
  module.attr("Scope") = nb::steal(made);
  module.def("is_recording", [] { return is_recording(); }, "Whether this thread's calls are recorded.");
  module.def("is_training", [] { return is_training(); }, "Whether this thread's calls are those of training.");
  module.def(
      "set_recording",
      [](const nb::object& on) { return set_recording(switch_of("set_recording", "is_recording", on)); },
      nb::arg("is_recording").none(), "Switches recording on or off; what it was before.");
  module.def(
      "set_training", [](const nb::object& on) { return set_training(switch_of("set_training", "train_mode", on)); },
      nb::arg("train_mode").none(), "Switches training on or off; what it was before.");
}

}  // namespace strop::python
