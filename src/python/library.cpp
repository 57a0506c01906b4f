// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of shared libraries in Python: of those that are loaded by their path, and of modules that are libraries
/// of operators (strop/python.hpp); and what was built.
#include "../about.hpp"
#include "python.hpp"

#include <nanobind/stl/string.h>
#include <strop/library/load.hpp>
#include <strop/library/python_host.hpp>

#include <dlfcn.h>
#include <map>
#include <string>

namespace strop::python {
namespace {

nb::list load_operators(const std::string& path) {
  nb::list names;
  for (const std::string_view name : load_library(path).operators()) names.append(to_text(name));
  return names;
}

/// What Python makes modules of one library of.
struct LibraryModule : PyModuleDef {
  std::string path;
};

/// Loads the operators of a module that is being imported, and makes them its functions.
int fill_module(PyObject* module) {
  return guarded(
      [&] {
        const std::string& path = static_cast<const LibraryModule*>(PyModule_GetDef(module))->path;
        nb::list names;
        try {
          names = load_operators(path);
        } catch (const Error& error) {
          PyErr_SetImportError(to_text(error.what()).ptr(), nb::handle(module).attr("__name__").ptr(),
                               to_text(path).ptr());
          return -1;
        }
        nb::module_::import_("strop.library").attr("_fill_module")(nb::borrow(module), names);
        return 0;
      },
      -1);
}

PyModuleDef_Slot library_slots[] = {{Py_mod_exec, reinterpret_cast<void*>(&fill_module)}, {0, nullptr}};

/// What the PyInit function of a library of operators returns. The loader is given its path, as it would be for any
/// library: it checks the same things, and knows a library by its file.
PyObject* define_module(const strop_library* (*give)()) {
  return guarded([&] {
    Dl_info place{};
    if (::dladdr(reinterpret_cast<const void*>(give), &place) == 0 || place.dli_fname == nullptr)
      refuse(Kind::other, "strop: the module that is being imported lies in no file");
    // Definitions outlive the interpreter's modules.
    static std::map<std::string, LibraryModule>& known = *new std::map<std::string, LibraryModule>;
    LibraryModule& made = known[place.dli_fname];
    if (made.path.empty()) {
      made.m_base = PyModuleDef_Base PyModuleDef_HEAD_INIT;
      made.m_name = "operators";  // that of a module is the one that it is imported by
      made.m_slots = library_slots;
      made.path = place.dli_fname;
    }
    return PyModuleDef_Init(&made);
  });
}

detail::PythonHost host{sizeof host, &define_module};

nb::dict describe_build() {
  const About what = about();
  nb::list devices;
  for (const std::string& device : what.devices) devices.append(to_text(device));
  nb::dict all;
  all["operators"] = what.operators;
  all["instruction_set"] = to_text(what.isa);
  all["loops"] = to_text(what.loops);
  all["threads"] = what.threads;
  all["compiler"] = to_text(__VERSION__);
  all["devices"] = devices;
  return all;
}

}  // namespace

void add_libraries(nb::module_& module) {
  module.def("load_library", [](const Path& path) { return load_operators(path.text); });
  module.def("info", &describe_build);
  const std::string_view path = detail::python_host_name;
  PyObject* const capsule = PyCapsule_New(&host, detail::python_host_name, nullptr);
  if (capsule == nullptr) nb::raise_python_error();
  module.attr(path.substr(path.rfind('.') + 1).data()) = nb::steal(capsule);
}

}  // namespace strop::python
