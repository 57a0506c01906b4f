// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values of Python as values of parameters, and failures as exceptions of Python.
#include "stable.hpp"

#include <strop/core/text.hpp>

#include <unistd.h>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace strop::python {
namespace {

PyObject* errors[5];
/// Errors of files, by what the system says of them: kinds of OSError.
struct FileKind {
  int number;
  const char* name;
  PyObject* const* kind;
  PyObject* error = nullptr;
};
FileKind file_kinds[] = {{ENOENT, "FileNotFoundError", &PyExc_FileNotFoundError},
                         {EACCES, "PermissionError", &PyExc_PermissionError},
                         {EISDIR, "IsADirectoryError", &PyExc_IsADirectoryError},
                         {ENOTDIR, "NotADirectoryError", &PyExc_NotADirectoryError},
                         {ENOSPC, "OSError", &PyExc_OSError},
                         {EIO, "OSError", &PyExc_OSError},
                         {EROFS, "OSError", &PyExc_OSError},
                         {EFBIG, "OSError", &PyExc_OSError},
                         {EDQUOT, "OSError", &PyExc_OSError},
                         {EMFILE, "OSError", &PyExc_OSError},
                         {ENAMETOOLONG, "OSError", &PyExc_OSError},
                         {ELOOP, "OSError", &PyExc_OSError}};
PyObject* hooks[static_cast<std::size_t>(Hook::count)];
PyObject* dtype_objects[13];  // by the number of the type
PyObject* known_dtypes;       // what named a type before

PyObject* new_error(nb::module_& module, const char* name, const char* doc, PyObject* bases) {
  PyObject* const made = PyErr_NewExceptionWithDoc(name, doc, bases, nullptr);
  if (made == nullptr) nb::raise_python_error();
  const std::string_view full = name;
  module.attr(std::string(full.substr(full.rfind('.') + 1)).c_str()) = nb::borrow(made);
  return made;
}

/// Which of Python's kinds a failure of the library is.
Kind kind_of(const Error& error) {
  const std::string_view what = error.what();
  if (what.starts_with("memory::allocate: ")) return Kind::memory;
  // Of a position among the values of an array, as detail::bring_inside says it.
  return what.find(" is outside an axis of extent ") != what.npos ? Kind::index : Kind::value;
}

/// What sentences of the library call otherwise in Python.
struct Spelling {
  std::string_view said, here;
};
constexpr Spelling spellings[] = {
    {"; use strop::pause", "; do it in autograd.pause()"},
    {", or use strop::pause", ", or do it in autograd.pause()"},
    {"to(strop::dense)", "tostype('default')"},
    {"to(strop::boolean)", "astype('bool')"},
    {"to(strop::cpu())", "as_in_context(cpu())"},
    {"strop::set_fallback", "set_fallback"},
    {": no .cu file with strop is in it", ": it is built without CUDA"},
    {"; name the operator in a .cu file", ""},
    {"; the library's join where the program calls them, or all together with #include <strop/ops/all.hpp>", ""},
    {". Operators of the library join when they are called, or all together with #include <strop/ops/all.hpp>", ""},
    {"strop::", "strop."}};

struct Noun {
  std::string_view several, one;
};
constexpr Noun nouns[] = {{"arguments", "argument"},
                          {"arrays", "array"},
                          {"axes", "axis"},
                          {"bytes", "byte"},
                          {"columns", "column"},
                          {"dimensions", "dimension"},
                          {"elements", "element"},
                          {"entries", "entry"},
                          {"extents", "extent"},
                          {"gradients", "gradient"},
                          {"head gradients", "head gradient"},
                          {"inputs", "input"},
                          {"labels", "label"},
                          {"numbers", "number"},
                          {"outputs", "output"},
                          {"parameters", "parameter"},
                          {"positions", "position"},
                          {"results", "result"},
                          {"rows", "row"},
                          {"states", "state"},
                          {"steps", "step"}};
/// 1 input, where a sentence that counts says 1 inputs.
void say_one(std::string& text) {
  for (std::size_t at = text.find("1 "); at != text.npos; at = text.find("1 ", at + 2)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    if (before != ' ' && before != '(') continue;
    for (const auto& [several, one] : nouns) {
      const std::size_t end = at + 2 + several.size();
      const bool whole = end >= text.size() || std::isalpha(static_cast<unsigned char>(text[end])) == 0;
      if (whole && std::string_view(text).substr(at + 2).starts_with(several)) {
        text.replace(at + 2, several.size(), one);
        break;
      }
    }
  }
}

/// A sentence of the library as Python says it. Bytes that are no text, as of the name of a file, are written \xff.
nb::object sentence_of(const char* what) {
  std::string text = what;
  for (const auto& [said, here] : spellings)
    for (std::size_t at = text.find(said); at != text.npos; at = text.find(said, at + here.size()))
      text.replace(at, said.size(), here);
  say_one(text);
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

void set_error(Kind kind, const char* what) {
  const nb::object text = sentence_of(what);
  if (text.ptr() != nullptr) PyErr_SetObject(errors[static_cast<std::size_t>(kind)], text.ptr());
}

/// Sets an error of a file, where that is what the sentence ends with; its number and words are members.
bool set_file_error(std::string_view what) {
  // What the system's loader says ends like that as well, of another library that this one needs.
  if (what.find("' cannot be loaded: ") != what.npos) return false;
  const bool missing = what.ends_with("there is no such file");
  for (const FileKind& one : file_kinds) {
    const char* const words = std::strerror(one.number);
    if (!(missing && one.number == ENOENT) && !what.ends_with(cat(": ", words))) continue;
    const nb::object text = sentence_of(what.data());
    const nb::object made = nb::steal(PyObject_CallFunctionObjArgs(one.error, text.ptr(), nullptr));
    if (made.ptr() == nullptr) return true;
    const std::size_t from = what.find_first_of("'\""), to = what.rfind(from != what.npos ? what[from] : '"');
    made.attr("errno") = one.number;
    made.attr("strerror") = words;
    if (from < to && to != what.npos)
      made.attr("filename") =
          nb::steal(PyUnicode_DecodeFSDefaultAndSize(what.data() + from + 1, static_cast<Py_ssize_t>(to - from - 1)));
    PyErr_SetObject(one.error, made.ptr());
    return true;
  }
  return false;
}

}  // namespace

void make_errors(nb::module_& module) {
  errors[0] = new_error(
      module, "strop.Error",
      "What strop raises: one sentence that names the operator, the argument, what was expected and what came.",
      PyExc_RuntimeError);
  const auto both = [&](const char* name, PyObject* kind) {
    const nb::object bases = nb::make_tuple(nb::borrow(errors[0]), nb::borrow(kind));
    return new_error(module, name, "An Error that is one of Python's own kind as well.", bases.ptr());
  };
  errors[1] = both("strop.error.ValueError", PyExc_ValueError);
  errors[2] = both("strop.error.TypeError", PyExc_TypeError);
  errors[3] = both("strop.error.IndexError", PyExc_IndexError);
  errors[4] = both("strop.error.MemoryError", PyExc_MemoryError);
  // They say their sentence, not "[Errno 2] …".
  const nb::object shown = nb::borrow(reinterpret_cast<PyObject*>(PyExc_BaseException)).attr("__str__");
  for (FileKind& one : file_kinds) {
    const std::string name = cat("strop.error.", one.name);
    for (const FileKind& other : file_kinds)
      if (other.error != nullptr && name == cat("strop.error.", other.name)) one.error = other.error;
    if (one.error != nullptr) continue;
    one.error = both(name.c_str(), *one.kind);
    nb::handle(one.error).attr("__str__") = shown;
  }
  known_dtypes = PyDict_New();
  module.def("_set_hook", [](int which, nb::object function) { hooks[which] = function.release().ptr(); });
  module.def("_set_dtype", [](int number, nb::object type) {
    if (PyDict_SetItem(known_dtypes, type.ptr(), nb::int_(number).ptr()) != 0) nb::raise_python_error();
    dtype_objects[number] = type.release().ptr();
  });
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error&) {
      python::set_error();
    }
  });
}

void set_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Refusal& error) {
    set_error(error.kind, error.what());
  } catch (const Error& error) {
    if (!set_file_error(error.what())) set_error(kind_of(error), error.what());
  } catch (const std::bad_alloc&) {
    set_error(Kind::memory, "strop: no memory is left");
  } catch (const std::exception& error) {
    set_error(Kind::other, error.what());
  } catch (...) {
    set_error(Kind::other, "strop: an unknown failure");
  }
}

PyObject* hook(Hook which) {
  PyObject* const function = hooks[static_cast<std::size_t>(which)];
  if (function == nullptr) refuse(Kind::other, "strop: the package is not imported; import strop, not strop._strop");
  return function;
}

PyObject* dtype_object(Dtype dtype) { return dtype_objects[static_cast<std::size_t>(dtype)]; }

Dtype dtype_of_object(PyObject* object) {
  if (PyObject* const known = PyDict_GetItemWithError(known_dtypes, object))
    return static_cast<Dtype>(PyLong_AsLong(known));
  PyErr_Clear();  // what has no hash
  const nb::object name = call_hook(Hook::dtype_name, object);
  Dtype dtype = f32;
  if (!detail::parse_dtype(view_of(name.ptr()), dtype))
    refuse(Kind::type, "strop: no array has elements of ", view_of(name.ptr()),
           "; there are float16, bfloat16, float32, float64, uint8, int8, int32, int64 and bool");
  if (PyDict_SetItem(known_dtypes, object, nb::int_(static_cast<int>(dtype)).ptr()) != 0) PyErr_Clear();
  return dtype;
}

std::optional<double> number_of(PyObject* object) {
  double value = 0;
  if (PyFloat_Check(object)) return PyFloat_AsDouble(object);
  if (PyLong_Check(object)) {
    value = PyLong_AsDouble(object);
  } else {
    if (PyUnicode_Check(object) || PyBytes_Check(object) || PyNumber_Check(object) == 0 ||
        PySequence_Check(object) != 0)
      return std::nullopt;
    const nb::object made = nb::steal(PyNumber_Float(object));
    if (made.ptr() != nullptr) value = PyFloat_AsDouble(made.ptr());
  }
  if (PyErr_Occurred() == nullptr) return value;
  PyErr_Clear();
  return std::nullopt;
}

std::optional<Scalar> scalar_of(PyObject* object) {
  if (PyFloat_Check(object)) return Scalar(PyFloat_AsDouble(object));
  if (PyLong_Check(object) || (PyIndex_Check(object) != 0 && PySequence_Check(object) == 0))
    if (const std::optional<std::int64_t> whole = integer_of(object)) return Scalar(*whole);
  const std::optional<double> number = number_of(object);  // beyond 64 bits as well
  return number ? std::optional(Scalar(*number)) : std::nullopt;
}

std::optional<std::int64_t> integer_of(PyObject* object) {
  long long value = 0;
  if (PyLong_Check(object)) {
    value = PyLong_AsLongLong(object);
  } else {
    if (PyIndex_Check(object) == 0) return std::nullopt;
    const nb::object made = nb::steal(PyNumber_Index(object));
    value = made.ptr() != nullptr ? PyLong_AsLongLong(made.ptr()) : -1;
  }
  if (value != -1 || PyErr_Occurred() == nullptr) return value;
  PyErr_Clear();
  return std::nullopt;
}

std::optional<Shape> shape_of(PyObject* object) {
  if (const std::optional<std::int64_t> one = integer_of(object)) return Shape{*one};
  if (PyUnicode_Check(object) || PySequence_Check(object) == 0) return std::nullopt;
  const nb::object list = nb::steal(PySequence_Fast(object, ""));
  if (list.ptr() == nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  Shape shape;
  const Py_ssize_t count = PySequence_Size(list.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::object item = nb::steal(PySequence_GetItem(list.ptr(), i));
    const std::optional<std::int64_t> extent = item.ptr() != nullptr ? integer_of(item.ptr()) : std::nullopt;
    if (!extent) {
      PyErr_Clear();
      return std::nullopt;
    }
    shape.push_back(*extent);
  }
  return shape;
}

std::string_view view_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const from = PyUnicode_AsUTF8AndSize(text, &size);
  if (from == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_UnicodeError) == 0) nb::raise_python_error();
    PyErr_Clear();
    const nb::object shown = nb::steal(PyObject_ASCII(text));
    if (shown.ptr() == nullptr) nb::raise_python_error();
    refuse(Kind::value, "strop: ", view_of(shown.ptr()), " is no text: it has half of a character");
  }
  return {from, static_cast<std::size_t>(size)};
}

std::string text_of(PyObject* object) {
  if (PyUnicode_Check(object)) return std::string(view_of(object));
  if (PyFloat_Check(object)) return detail::print_real(PyFloat_AsDouble(object));
  if (PyTuple_Check(object) || PyList_Check(object)) {
    struct Nesting {  // a list may contain itself
      Nesting() {
        if (Py_EnterRecursiveCall(" in the text of a parameter") != 0) nb::raise_python_error();
      }
      ~Nesting() { Py_LeaveRecursiveCall(); }
    } nesting;
    const Py_ssize_t count = PySequence_Size(object);
    std::string text = "(";
    for (Py_ssize_t i = 0; i < count; ++i) {
      const nb::object item = nb::steal(PySequence_GetItem(object, i));
      if (item.ptr() == nullptr) nb::raise_python_error();
      text += cat(i == 0 ? "" : ", ", text_of(item.ptr()));
    }
    return text += count == 1 ? ",)" : ")";
  }
  if (object == Py_None || PyBool_Check(object) || PyLong_Check(object)) {
    const nb::object text = nb::steal(PyObject_Str(object));
    if (text.ptr() == nullptr) nb::raise_python_error();
    return std::string(view_of(text.ptr()));
  }
  if (PyType_Check(object) || PyDict_Contains(known_dtypes, object) == 1)
    return std::string(name_of(dtype_of_object(object)));
  PyErr_Clear();
  if (std::string_view(type_of(object)).starts_with("numpy.bool"))
    return PyObject_IsTrue(object) == 1 ? "True" : "False";
  if (const std::optional<std::int64_t> whole = integer_of(object)) return cat(*whole);
  if (const std::optional<double> number = number_of(object)) return detail::print_real(*number);
  if (PyObject_HasAttrString(object, "itemsize") != 0 && PyObject_HasAttrString(object, "kind") != 0)
    return std::string(name_of(dtype_of_object(object)));  // a numpy.dtype
  // An array, of whichever library: what is printed of one has gaps.
  if (PyObject_HasAttrString(object, "tolist") != 0) {
    if (is_array(object) && (facts_of(object) & fact::number) != 0)
      return is_floating(array_of(object).dtype())
                 ? detail::print_real(nb::cast<double>(nb::float_(nb::handle(object))))
                 : cat(nb::cast<std::int64_t>(nb::int_(nb::handle(object))));
    const nb::object list = nb::steal(PyObject_CallMethod(object, "tolist", nullptr));
    if (list.ptr() == nullptr) nb::raise_python_error();
    return text_of(list.ptr());
  }
  if (PyRange_Check(object)) {
    const nb::object all = nb::steal(PySequence_Tuple(object));
    if (all.ptr() == nullptr) nb::raise_python_error();
    return text_of(all.ptr());
  }
  const nb::object text = nb::steal(PyObject_Str(object));
  if (text.ptr() == nullptr) nb::raise_python_error();
  return std::string(view_of(text.ptr()));
}

PyObject* shape_tuple(const Shape& shape) {
  PyObject* const made = PyTuple_New(shape.ndim());
  if (made == nullptr) return nullptr;
  for (int i = 0; i < shape.ndim(); ++i) PyTuple_SetItem(made, i, PyLong_FromLongLong(shape[i]));
  return made;
}

Device device_of(PyObject* object) {
  if (object == nullptr || object == Py_None) return cpu();
  const std::string text = text_of(object);
  const std::size_t bracket = text.find('(');
  const std::string_view kind = std::string_view(text).substr(0, bracket);
  std::int64_t id = 0;
  const bool numbered = bracket != std::string::npos;
  const bool sound =
      !numbered || (text.ends_with(')') &&
                    detail::parse_integer(std::string_view(text).substr(bracket + 1, text.size() - bracket - 2), id));
  if (!sound || id < 0 || id > INT16_MAX ||
      (kind != "cpu" && kind != "gpu" && kind != "cpu_pinned" && kind != "cpu_shared"))
    refuse(Kind::value, "strop: '", text, "' is no context, expected cpu(0), gpu(0) or another number");
  return kind == "gpu" ? gpu(static_cast<int>(id)) : cpu(static_cast<int>(id));
}

}  // namespace strop::python
