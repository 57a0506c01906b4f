// SPDX-License-Identifier: Apache-2.0
/// \file
/// What Python's stable interface, which modules for 3.12 and later are built against, lacks or spells otherwise.
#pragma once
#include "python.hpp"

#include <string>

namespace strop::python {

#if defined(Py_LIMITED_API)
inline Py_ssize_t length_of(PyObject* text) { return PyUnicode_GetLength(text); }
inline Py_ssize_t count_of(PyObject* tuple) { return PyTuple_Size(tuple); }
inline PyObject* element_of(PyObject* tuple, Py_ssize_t i) { return PyTuple_GetItem(tuple, i); }
inline PyObject* new_object(PyTypeObject* type) { return PyType_GenericAlloc(type, 0); }
inline void free_object(PyTypeObject* type, PyObject* self) {
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
}
inline PyObject* new_method(PyObject* function, PyObject* self) {
  static PyObject* const type = nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
  PyObject* const both[] = {function, self};
  return PyObject_Vectorcall(type, both, 2, nullptr);
}
/// Whether this thread may call Python.
inline bool has_lock() { return PyThreadState_GetDict() != nullptr; }
/// A type's name, with its module unless that is the builtins'.
inline std::string type_of(PyObject* object) {
  const nb::handle type = nb::handle(object).type();
  const std::string module = text_of(nb::object(type.attr("__module__")).ptr());
  return (module == "builtins" ? "" : module + ".") + text_of(nb::object(type.attr("__qualname__")).ptr());
}
#else
inline Py_ssize_t length_of(PyObject* text) { return PyUnicode_GET_LENGTH(text); }
inline Py_ssize_t count_of(PyObject* tuple) { return PyTuple_GET_SIZE(tuple); }
inline PyObject* element_of(PyObject* tuple, Py_ssize_t i) { return PyTuple_GET_ITEM(tuple, i); }
inline PyObject* new_object(PyTypeObject* type) { return type->tp_alloc(type, 0); }
inline void free_object(PyTypeObject* type, PyObject* self) { type->tp_free(self); }
inline PyObject* new_method(PyObject* function, PyObject* self) { return PyMethod_New(function, self); }
/// Whether this thread may call Python.
inline bool has_lock() { return PyGILState_Check() != 0; }
/// A type's name, with its module unless that is the builtins'.
inline const char* type_of(PyObject* object) { return Py_TYPE(object)->tp_name; }
#endif

}  // namespace strop::python
