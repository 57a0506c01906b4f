// SPDX-License-Identifier: Apache-2.0
/// \file
/// What calls from Python need of an operator's entry, read once: its arguments, and how its parameters are set.
#pragma once
#include "facts.hpp"
#include "stable.hpp"

#include <strop/core/numbers.hpp>
#include <strop/op/describe.hpp>
#include <strop/op/param_box.hpp>
#include <strop/ops/shape/bounds.hpp>

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace strop::python {

using detail::ParamBox;

// --- parameters -----------------------------------------------------------------------------------------------------

// store_value(object, to): sets a parameter from a value of Python; false where only its text can tell.
inline bool store_value(PyObject* from, bool& to) {
  if (PyBool_Check(from) == 0) return false;
  to = from == Py_True;
  return true;
}
template <std::integral V>
bool store_value(PyObject* from, V& to) {
  const std::optional<std::int64_t> whole = integer_of(from);
  if (!whole || (sizeof(V) == 8 && std::is_unsigned_v<V>)) return false;
  to = static_cast<V>(*whole);
  return static_cast<std::int64_t>(to) == *whole;
}
template <std::floating_point V>
bool store_value(PyObject* from, V& to) {
  const std::optional<double> number = number_of(from);
  if (!number) return false;
  to = static_cast<V>(*number);
  return std::isinf(to) == std::isinf(*number);
}
inline bool store_value(PyObject* from, Scalar& to) {
  const std::optional<Scalar> number = scalar_of(from);
  if (number) to = *number;
  return number.has_value();
}
inline bool store_value(PyObject* from, Shape& to) {
  std::optional<Shape> shape = shape_of(from);
  if (shape) to = std::move(*shape);
  return shape.has_value();
}
inline bool store_value(PyObject* from, Axes& to) {
  if (from == Py_None) return to.list.reset(), true;
  return store_value(from, to.list.emplace());
}
inline bool store_value(PyObject* from, Dtype& to) {
  if (PyUnicode_Check(from) != 0) return false;
  to = dtype_of_object(from);
  return true;
}
/// One number per axis, or None; a number alone is one axis.
template <bool needed>
bool store_value(PyObject* from, Bounds<needed>& to) {
  std::vector<std::optional<std::int64_t>> list;
  const auto add = [&](PyObject* one) {
    const std::optional<std::int64_t> bound = one == Py_None ? std::nullopt : integer_of(one);
    list.push_back(bound);
    return bound.has_value() || one == Py_None;
  };
  if (PyTuple_Check(from)) {  // what a tuple holds stays, whatever code an element of it runs
    for (Py_ssize_t i = 0; i < count_of(from); ++i)
      if (!add(element_of(from, i))) return false;
  } else if (from == Py_None || !add(from)) {
    return false;
  }
  to.value = std::move(list);
  return true;
}
inline bool store_value(PyObject* from, Numbers& to) {
  std::vector<double> list;
  const auto add = [&](PyObject* one) {
    const std::optional<double> number = number_of(one);
    if (number) list.push_back(*number);
    return number.has_value();
  };
  if (!add(from)) {
    if (PyUnicode_Check(from) != 0 || PySequence_Check(from) == 0) return false;
    const nb::object all = nb::steal(PySequence_Tuple(from));  // stays, whatever code an element of it runs
    if (all.ptr() == nullptr) return PyErr_Clear(), false;
    for (Py_ssize_t i = 0; i < count_of(all.ptr()); ++i)
      if (!add(element_of(all.ptr(), i))) return false;
  }
  to.list = std::move(list);
  return true;
}
template <class V>
bool store_value(PyObject* from, std::optional<V>& to) {
  if (from == Py_None) return to.reset(), true;
  return store_value(from, to.emplace());
}
template <class V>
bool store_value(PyObject* from, Required<V>& to) {
  return store_value(from, to.value.emplace());
}

using Store = bool (*)(PyObject*, void*);

/// Whether that is the type V. Operators that are built for several instruction sets have a copy of what is known of a
/// type for each set, and a double is called as a Scalar is; other libraries' types may be called the same.
template <class V>
bool is_of(const detail::ValueType* type, bool own) {
  const detail::ValueType& known = detail::value_type<V>;
  return type == &known || (own && type->kind == known.kind && type->optional == known.optional &&
                            type->required == known.required && type->name == known.name && type->size == known.size);
}
template <class V>
bool takes(const detail::ValueType* type, bool own, Store& store) {
  if (!is_of<V>(type, own)) return false;
  store = [](PyObject* from, void* to) { return store_value(from, *static_cast<V*>(to)); };
  return true;
}
template <class... V>
Store find_store(const detail::ValueType* type, bool own) {
  Store store = nullptr;
  ((takes<V>(type, own, store) || takes<std::optional<V>>(type, own, store) || takes<Required<V>>(type, own, store)) ||
   ...);
  if (store == nullptr) (void)(takes<Bounds<true>>(type, own, store) || takes<Bounds<false>>(type, own, store));
  return store;
}
/// How values of such a parameter are set without a text; null: by their text. `own`: of an operator of the library.
inline Store store_of(const detail::ValueType* type, bool own) {
  return find_store<bool, int, std::int64_t, float, double, Scalar, Shape, Axes, Dtype, Numbers>(type, own);
}

// --- what is known of an operator -----------------------------------------------------------------------------------

inline nb::object interned(std::string_view text) {
  PyObject* made = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (made == nullptr) nb::raise_python_error();
  PyUnicode_InternInPlace(&made);
  return nb::steal(made);
}

/// How many results every call gives, and how many of them are seen; none where that depends on the call. What bools,
/// enumerations and optional parameters change `arguments` says; numbers and lists are tried, and of operators that are
/// not the library's nobody knows what else they depend on.
inline std::optional<std::pair<int, int>> fixed_outputs(const Entry& e, const Arguments& arguments) {
  if (e.is_map() || e.params == nullptr || e.params->fields.empty()) return std::pair(e.outputs, e.visible);
  if (!e.library || e.inputs < 0) return std::nullopt;
  std::pair<int, int> count(0, 0);
  for (const Argument& a : arguments.outputs) {
    if (a.variadic || a.optional) return std::nullopt;
    ++count.first;
    if (!a.hidden) ++count.second;
  }
  for (const detail::Field& field : e.params->fields) {
    const ParamKind kind = field.type->kind;
    if (kind == ParamKind::flag || kind == ParamKind::enumeration || kind == ParamKind::real) continue;
    for (const std::string_view text : {"1", "2", "3", "(1, 2)", "(1, 2, 3)"}) try {
        const auto box = detail::try_params(e, field.name, text);
        if (box && detail::count_outputs(e, box->get(), e.inputs) != count) return std::nullopt;
      } catch (const Error&) {  // parameters that no call may have
      }
  }
  return count;
}

/// What calls need of an entry, read once. Lives as long as the process.
struct Schema {
  struct Param {
    PyObject* name;
    std::size_t field;
    Store store;
  };
  const Entry& entry;
  Arguments arguments;
  std::vector<PyObject*> inputs;
  std::vector<Param> params;  // the fields in their order, then their aliases
  std::size_t fields = 0;
  ParamBox defaults;
  bool variadic = false, any_default = true;
  int outputs = -1, visible = -1;  // where they do not depend on the call
  Flow flow;

  explicit Schema(const Entry& e) : entry(e), arguments(arguments_of(e)), defaults(e.params), flow(flow_of(e)) {
    for (const Argument& a : arguments.inputs) {
      inputs.push_back(interned(a.name).release().ptr());
      variadic = variadic || a.variadic;
    }
    if (e.params != nullptr) {
      fields = e.params->fields.size();
      for (std::size_t i = 0; i < fields; ++i) {
        const Store store = store_of(e.params->fields[i].type, e.library);
        params.push_back({interned(e.params->fields[i].name).release().ptr(), i, store});
        any_default = any_default && !e.params->missing(defaults.get(), i);
      }
      for (const ParamAlias& other : e.params->aliases)
        if (const std::optional<std::size_t> field = e.params->find(other.alias))
          params.push_back({interned(other.alias).release().ptr(), *field, params[*field].store});
    }
    if (const auto count = fixed_outputs(e, arguments)) std::tie(outputs, visible) = *count;
  }
};

/// Of a parameter or input: the same object where a call in a program spells it.
inline bool is_name(PyObject* known, PyObject* key) {
  return known == key || (length_of(known) == length_of(key) && PyUnicode_Compare(known, key) == 0);
}

inline Schema& schema_of(const Entry& entry) {
  static std::map<const Entry*, std::unique_ptr<Schema>> known;
  static detail::ForkMutex mutex;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Schema>& made = known[&entry];
  if (!made) made = std::make_unique<Schema>(entry);
  return *made;
}

/// Whether a call takes so long that it should not keep Ctrl-C from being heard, because it is computed at the call. It
/// waits before for what is pending on its arrays.
bool takes_long(const Entry& entry, const void* op, detail::Inputs in, detail::Span<const NDArray> out);
/// Runs the call by run_apart().
void dispatch_apart(const Entry& entry, const void* op, detail::Inputs in, detail::Span<NDArray> out,
                    detail::Span<const Request> requests);
/// Sets a parameter from a value of Python; None is the default where the parameter has no None.
void set_param(const Schema& schema, const Schema::Param& param, ParamBox& box, PyObject* value);
/// Runs the operator on arrays; `out` is one array, a list of them, or null.
PyObject* run(const Schema& schema, const void* op, std::span<PyObject* const> inputs, PyObject* out);
/// The parameters that a dictionary has, checked as those of a call.
detail::Ref<ParamBox> params_of(const Schema& schema, const nb::dict& given);
/// All that the entry says of the operator, for signatures, documents and stubs.
nb::dict describe(const Schema& schema);
/// The operator of a fixed name, looked up once.
Schema& schema_called(const char* name);

}  // namespace strop::python
