// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators as callables of Python: one class for all, made from their entries in the registry.
#include "schema.hpp"

#include <strop/core/list.hpp>
#include <strop/op/dispatch.hpp>

#include <structmember.h>
#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace strop::python {
namespace {

using detail::Index;
using detail::List;

struct OperatorObject {
  PyObject_HEAD vectorcallfunc call;
  const Entry* entry;
  Schema* schema;  // once it was called or looked at
  PyObject* name;
  bool symbolic;  // makes nodes also where no input is a symbol

  Schema& known() {
    if (schema == nullptr) schema = &schema_of(*entry);
    return *schema;
  }
};
PyTypeObject* operator_type = nullptr;
struct {
  PyObject *out, *name, *attributes, *null;
} keywords;

// --- calls ----------------------------------------------------------------------------------------------------------

/// The arguments of one call.
struct CallArguments {
  List<PyObject*, 8> inputs;  // null: left out
  std::optional<ParamBox> box;
  PyObject *out = nullptr, *name = nullptr, *attributes = nullptr;
  PyObject* type = nullptr;  // of the elements that a reduction adds up: NumPy's functions say it of any array
  std::vector<std::pair<PyObject*, PyObject*>> marks;  // attributes that are given as keywords
  bool symbolic = false;
  std::vector<std::pair<const Schema::Param*, PyObject*>> said;  // parameters, where a node may be made
  // What the inputs of lists are kept by, and they: code that runs meanwhile may empty the lists.
  std::vector<std::pair<nb::object, std::vector<PyObject*>>> lists;

  /// The elements of a list or tuple, as they are now.
  std::span<PyObject* const> elements_of(PyObject* list) {
    nb::object items = nb::steal(PySequence_Tuple(list));
    if (items.ptr() == nullptr) nb::raise_python_error();
    std::vector<PyObject*> elements;
    const Py_ssize_t count = count_of(items.ptr());
    for (Py_ssize_t i = 0; i < count; ++i) elements.push_back(element_of(items.ptr(), i));
    return lists.emplace_back(std::move(items), std::move(elements)).second;
  }
};

void take_input(const Schema& schema, CallArguments& call, Index at, PyObject* value, PyObject* name) {
  const bool symbol = !is_array(value) && is_symbol(value);
  if (!symbol && !is_array(value))
    refuse(Kind::type, schema.entry.snake, ": input '", view_of(name), "' is of type ", type_of(value),
           ", expected an NDArray", call.symbolic ? " or a Symbol" : "");
  if (at < call.inputs.size() && call.inputs[at] != nullptr)
    refuse(Kind::type, schema.entry.snake, ": input '", view_of(name), "' is given twice");
  call.symbolic = call.symbolic || symbol;
  while (call.inputs.size() <= at) call.inputs.push_back(nullptr);
  call.inputs[at] = value;
}

void take_param(const Schema& schema, CallArguments& call, const Schema::Param& param, PyObject* value) {
  if (value == keywords.null) return;
  if (!call.box) call.box.emplace(schema.entry.params);
  set_param(schema, param, *call.box, value);
  if (call.symbolic || call.inputs.empty()) call.said.emplace_back(&param, value);  // else it is a call on arrays
}

/// The parameters of a call as texts: what str() makes of them, where that says the same.
NamedTexts said_in(const Schema& schema, const CallArguments& call) {
  NamedTexts all;
  for (const auto& [param, value] : call.said) {
    const detail::ParamTable& table = *schema.entry.params;
    const detail::Field& field = table.fields[param->field];
    if (value == Py_None && !field.type->optional) continue;  // not given
    const std::string known = table.print(call.box->get(), param->field);
    const nb::object shown = nb::steal(PyObject_Str(value));
    if (shown.ptr() == nullptr) nb::raise_python_error();
    std::string text(view_of(shown.ptr()));
    ParamBox again(&table, call.box->get());
    const bool same = table.parse(again.get(), param->field, text) && table.print(again.get(), param->field) == known;
    all.push_back({std::string(field.name), same ? std::move(text) : known});
  }
  return all;
}

/// 1 input, 2 inputs.
std::string counted(auto count, std::string_view what) { return cat(count, ' ', what, count == 1 ? "" : "s"); }

void take_positional(const Schema& schema, CallArguments& call, PyObject* const* args, Py_ssize_t count) {
  if (schema.variadic) {
    const bool list = count == 1 && (PyList_Check(args[0]) || PyTuple_Check(args[0]));
    const std::span<PyObject* const> all =
        list ? call.elements_of(args[0]) : std::span(args, static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < all.size(); ++i)
      take_input(schema, call, static_cast<Index>(i), all[i], schema.inputs[std::min(i, schema.inputs.size() - 1)]);
    return;
  }
  const auto inputs = static_cast<Py_ssize_t>(schema.inputs.size());
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (i < inputs) {
      const auto at = static_cast<std::size_t>(i);
      if (args[i] != Py_None || !(call.symbolic || schema.arguments.inputs[at].optional))  // of a node a variable
        take_input(schema, call, i, args[i], schema.inputs[at]);
    } else if (i - inputs < static_cast<Py_ssize_t>(schema.fields)) {
      take_param(schema, call, schema.params[static_cast<std::size_t>(i - inputs)], args[i]);
    } else {
      refuse(Kind::type, schema.entry.snake, ": takes ", counted(inputs, "input"), " and ",
             counted(schema.fields, "parameter"), ", got ", counted(count, "argument"));
    }
  }
}

/// Says which keywords there are.
[[noreturn]] void refuse_keyword(const Schema& schema, PyObject* key) {
  std::vector<std::string_view> names;
  for (PyObject* input : schema.inputs) names.push_back(view_of(input));
  for (const Schema::Param& param : schema.params) names.push_back(view_of(param.name));
  refuse(Kind::type, schema.entry.snake, ": no argument '", view_of(key), "'",
         names.empty() ? "" : "; nearest: ", detail::list_nearest(view_of(key), names, 5));
}

/// The attributes of nodes that MXNet takes among an operator's parameters.
bool is_mark(std::string_view key) {
  for (const std::string_view known :
       {"ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "profiler_scope"})
    if (key == known) return true;
  return false;
}

/// attr= and the attributes that are keywords of their own, as texts.
nb::object attributes_of(const CallArguments& call) {
  const nb::handle given(call.attributes);
  if (call.marks.empty() || (given.is_valid() && !nb::isinstance<nb::dict>(given))) return nb::borrow(given);
  nb::dict all;
  if (given.is_valid()) all.update(given);
  for (const auto& [key, value] : call.marks) all[nb::handle(key)] = to_text(text_of(value));
  return all;
}

void take_keyword(const Schema& schema, CallArguments& call, PyObject* key, PyObject* value, Py_ssize_t positional) {
  for (std::size_t i = 0; i < schema.params.size(); ++i) {
    const Schema::Param& param = schema.params[i];
    if (!is_name(param.name, key)) continue;
    if (!schema.variadic && i < schema.fields && static_cast<Py_ssize_t>(schema.inputs.size() + i) < positional)
      refuse(Kind::type, schema.entry.snake, ": parameter '", view_of(key), "' is given twice");
    return take_param(schema, call, param, value);
  }
  for (std::size_t i = 0; i < schema.inputs.size(); ++i) {
    if (!is_name(schema.inputs[i], key)) continue;
    if (value == Py_None || value == keywords.null) return;
    if (schema.variadic && (PyList_Check(value) || PyTuple_Check(value))) {
      Index at = static_cast<Index>(i);
      for (PyObject* one : call.elements_of(value)) take_input(schema, call, at++, one, key);
      return;
    }
    return take_input(schema, call, static_cast<Index>(i), value, key);
  }
  if (is_name(keywords.out, key)) {
    call.out = value == Py_None ? nullptr : value;
    return;
  }
  if (is_name(keywords.name, key)) {
    call.name = value == Py_None ? nullptr : value;
    return;
  }
  if (is_name(keywords.attributes, key)) {
    call.attributes = value == Py_None ? nullptr : value;
    return;
  }
  const std::string_view text = view_of(key);
  if (text == "dtype" && schema.flow.reduces && !call.symbolic) {
    call.type = value == Py_None ? nullptr : value;
    return;
  }
  if (is_mark(text) || (text.starts_with("__") && text.ends_with("__"))) {
    call.marks.emplace_back(key, value);
    return;
  }
  if (schema.variadic && text.starts_with("arg")) {  // arg0, arg1, …
    std::int64_t at = 0;
    if (detail::parse_integer(text.substr(3), at) && at >= 0 && at < 1 << 16)
      return take_input(schema, call, at, value, key);
  }
  refuse_keyword(schema, key);
}

/// The inputs that a call with these parameters has, in its own order: those that were left out may stand before
/// others.
void place_inputs(const Schema& schema, CallArguments& call, const void* op) {
  bool gap = false;
  int given = 0;
  for (PyObject* one : call.inputs) {
    gap = gap || one == nullptr;
    given += one != nullptr ? 1 : 0;
  }
  if (!gap) return;
  const Signature signature = detail::signature_of(schema.entry, op, given);
  List<PyObject*, 8> placed;
  int used = 0;
  for (const std::string_view name : signature.inputs) {
    PyObject* found = nullptr;
    for (Index i = 0; i < call.inputs.size() && i < std::ssize(schema.inputs); ++i)
      if (call.inputs[i] != nullptr && view_of(detail::element(schema.inputs, i)) == name) found = call.inputs[i];
    if (found == nullptr && !call.symbolic) refuse(Kind::type, schema.entry.snake, ": input '", name, "' is missing");
    placed.push_back(found);
    used += found != nullptr ? 1 : 0;
  }
  if (used != given)
    refuse(Kind::type, schema.entry.snake, ": takes ", counted(signature.inputs.size(), "input"),
           " with these parameters, got ", given);
  call.inputs = placed;
}

/// The type that a reduction takes elements of this type in where none is said, as NumPy's do; null: in their own.
PyObject* type_of_reduction(const Entry& entry, Dtype dtype) {
  if (is_floating(dtype)) return nullptr;
  if (entry.name == "mean") return dtype_object(f64);
  return dtype == boolean && (entry.name == "sum" || entry.name == "prod") ? dtype_object(i64) : nullptr;
}

/// Masks of floating types as bools, for inputs of whole numbers. `casts` keeps them.
void take_masks(const Schema& schema, CallArguments& call, std::vector<nb::object>& casts) {
  for (Index i = 0; i < call.inputs.size() && i < 64; ++i) {
    PyObject* const given = call.inputs[i];
    if ((schema.entry.whole >> i & 1U) == 0 || (facts_of(given) & fact::truth) == 0) continue;
    if (!is_floating(array_of(given).dtype())) continue;
    casts.push_back(nb::handle(given).attr("astype")(nb::handle(dtype_object(boolean))));
    call.inputs[i] = casts.back().ptr();
  }
}

PyObject* call_operator(PyObject* callable, PyObject* const* args, std::size_t flags, PyObject* names) {
  return guarded([&]() -> PyObject* {
    auto* const self = reinterpret_cast<OperatorObject*>(callable);
    const Schema& schema = self->known();
    const Py_ssize_t positional = PyVectorcall_NARGS(flags);
    CallArguments call;
    call.symbolic = self->symbolic;
    take_positional(schema, call, args, positional);
    const Py_ssize_t named = names != nullptr ? count_of(names) : 0;
    for (Py_ssize_t i = 0; i < named; ++i)
      take_keyword(schema, call, element_of(names, i), args[positional + i], positional);
    const detail::ParamTable* const table = schema.entry.params;
    if (table != nullptr && table->checked && (call.box || !schema.any_default)) {
      const void* const object = call.box ? call.box->get() : schema.defaults.get();
      for (std::size_t i = 0; i < schema.fields; ++i)
        if (table->missing(object, i))
          refuse(Kind::type, schema.entry.snake, ": parameter '", table->fields[i].name, "' is missing");
      if (call.symbolic || schema.outputs < 0)
        detail::check_params(schema.entry.snake, *table, object);  // else the call
    }
    const void* const op = call.box ? call.box->get() : schema.defaults.get();
    place_inputs(schema, call, op);
    if (call.symbolic) {
      for (PyObject* one : call.inputs)
        if (one != nullptr && is_array(one))
          refuse(Kind::type, schema.entry.snake, ": an NDArray among Symbols, expected Symbols alone");
      const nb::object attributes = attributes_of(call);
      return make_symbol(schema.entry, op, said_in(schema, call), call.inputs.span(), self->name, call.name,
                         attributes.ptr());
    }
    for (const auto& mark : call.marks)  // other tools' are passed over
      if (is_mark(view_of(mark.first))) refuse_keyword(schema, mark.first);
    std::vector<nb::object> casts;
    if (schema.entry.whole != 0) take_masks(schema, call, casts);
    if (schema.flow.reduces && !call.inputs.empty()) {
      if (call.type == nullptr) call.type = type_of_reduction(schema.entry, array_of(call.inputs[0]).dtype());
      if (call.type != nullptr) {
        casts.push_back(nb::handle(call.inputs[0]).attr("astype")(nb::handle(call.type)));
        call.inputs[0] = casts.back().ptr();
      }
    }
    return run(schema, op, call.inputs.span(), call.out);
  });
}

// --- operators of arithmetic ----------------------------------------------------------------------------------------

struct BinaryNames {
  const char *broadcast, *same, *scalar, *reversed;
};
constexpr BinaryNames binary_names[] = {
#define STROP_NAMED(function, both, number, turned, ...) \
  {"broadcast_" #both, "elemwise_" #both, "_" #number "_scalar", "_" #turned "_scalar"},
#include <strop/ops/arithmetic.def>
    {"dot", "dot", nullptr, nullptr},
};

const Schema& operator_of(Binary which, const char* BinaryNames::* form) {
  static Schema* known[static_cast<std::size_t>(Binary::count)][4];
  const auto row = static_cast<std::size_t>(which);
  const std::size_t column = form == &BinaryNames::broadcast ? 0U
                             : form == &BinaryNames::same    ? 1U
                             : form == &BinaryNames::scalar  ? 2U
                                                             : 3U;
  if (known[row][column] == nullptr) known[row][column] = &schema_called(binary_names[row].*form);
  return *known[row][column];
}

PyObject* of_scalar(const Schema& schema, PyObject* array, const Scalar& value, PyObject* out) {
  ParamBox box(schema.entry.params);
  const detail::ParamTable& table = *schema.entry.params;
  if (is_of<Scalar>(table.fields[0].type, schema.entry.library))
    *static_cast<Scalar*>(table.at(table, box.get(), 0)) = value;
  else
    detail::set_param(schema.entry.snake, table, box.get(), "scalar", detail::Text<Scalar>::print(value));
  return run(schema, box.get(), {&array, 1}, out);
}

PyObject* make_operator(PyTypeObject*, PyObject* args, PyObject*) {
  return guarded([&]() -> PyObject* {
    const char* name = nullptr;
    PyObject* called = nullptr;
    int symbolic = 0;
    if (PyArg_ParseTuple(args, "sUp", &name, &called, &symbolic) == 0) return nullptr;
    const Entry& entry = detail::find_operator(name);
    PyObject* const made = new_object(operator_type);
    if (made == nullptr) return nullptr;
    auto* const self = reinterpret_cast<OperatorObject*>(made);
    self->call = call_operator;
    self->entry = &entry;
    self->schema = nullptr;
    self->name = Py_NewRef(called);
    self->symbolic = symbolic != 0;
    return made;
  });
}
void free_operator(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_DECREF(reinterpret_cast<OperatorObject*>(self)->name);
  free_object(type, self);
  Py_DECREF(type);
}
/// As functions do: found in a class it is a method.
PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object == nullptr || object == Py_None ? Py_NewRef(self) : new_method(self, object);
}
PyObject* show(PyObject* self) {
  return PyUnicode_FromFormat("<operator %U>", reinterpret_cast<OperatorObject*>(self)->name);
}
PyObject* get_symbolic(PyObject* self, void*) {
  return PyBool_FromLong(reinterpret_cast<OperatorObject*>(self)->symbolic ? 1 : 0);
}
PyObject* get_name(PyObject* self, void*) { return Py_NewRef(reinterpret_cast<OperatorObject*>(self)->name); }
template <Hook which>
PyObject* get_by_hook(PyObject* self, void*) {
  return guarded([&] { return call_hook(which, self).release().ptr(); });
}
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const auto* const op = reinterpret_cast<OperatorObject*>(self);
    const nb::object name = to_text(op->entry->name);
    return Py_BuildValue("(O(OOi))", operator_type, name.ptr(), op->name, op->symbolic ? 1 : 0);
  });
}

PyObject* get_description(PyObject* self, void*) {
  return guarded([&] { return describe(reinterpret_cast<OperatorObject*>(self)->known()).release().ptr(); });
}
PyObject* get_card(PyObject* self, void*) {
  return guarded([&] { return card_of(*reinterpret_cast<OperatorObject*>(self)->entry).release().ptr(); });
}
/// Whether it reads arrays, the first of which may stand before a dot.
PyObject* get_is_method(PyObject* self, void*) {
  const Entry& e = *reinterpret_cast<OperatorObject*>(self)->entry;
  return PyBool_FromLong(e.inputs > 0 && !e.mutates ? 1 : 0);
}

/// Whether it may have a way for sparse arrays: maps derive it, others have a rule.
PyObject* get_serves_sparse(PyObject* self, void*) {
  const Entry& e = *reinterpret_cast<OperatorObject*>(self)->entry;
  return PyBool_FromLong((e.is_map() && e.inputs != 0) || e.infer_storage != nullptr ? 1 : 0);
}

PyGetSetDef operator_members[] = {
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"__qualname__", get_name, nullptr, nullptr, nullptr},
    {"__doc__", get_by_hook<Hook::document>, nullptr, nullptr, nullptr},
    {"__signature__", get_by_hook<Hook::signature>, nullptr, nullptr, nullptr},
    {"is_method", get_is_method, nullptr, "Whether it takes a fixed number of arrays and writes none of them.",
     nullptr},
    {"serves_sparse", get_serves_sparse, nullptr, "Whether it may have a way for sparse arrays.", nullptr},
    {"description", get_description, nullptr, "What the registry knows of the operator.", nullptr},
    {"symbolic", get_symbolic, nullptr, "Whether it is of sym: it makes nodes also where no input is a symbol.",
     nullptr},
    {"card", get_card, nullptr, "What follows from that: gradient, storages, cost, and an example where there is one.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef operator_offsets[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperatorObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef operator_methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

template <class F>
constexpr PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

/// Every operator that programs call by name, with all its names.
nb::list list_operators() {
  nb::list all;
  for (const Entry* e : detail::all_operators()) {
    if (e->is_gradient()) continue;
    nb::list names;
    names.append(to_text(e->name));
    if (e->snake != e->name) names.append(to_text(e->snake));
    for (std::string_view alias : e->aliases)
      if (alias != e->snake) names.append(to_text(alias));
    all.append(names);
  }
  return all;
}

/// The device that the parameter `ctx` names; cpu(0) where there is none, or it says nothing.
Device device_said(const Entry& entry, const void* op) {
  const std::optional<std::size_t> field = entry.params != nullptr ? entry.params->find("ctx") : std::nullopt;
  const bool says =
      field && entry.params->fields[*field].type->kind == ParamKind::string;  // a program's own may be else
  const std::string text = says ? entry.params->print(op, *field) : std::string();
  return text.empty() ? cpu() : device_of(to_text(text).ptr());
}

/// Says of arrays that were written whether they are truths now. A number stays one.
void note_facts(PyObject* out, unsigned facts) {
  const auto note = [&](PyObject* one) { facts_of(one) = (facts_of(one) & fact::number) | (facts & fact::truth); };
  if (is_array(out)) return note(out);
  const Py_ssize_t count = PySequence_Size(out);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::object one = nb::steal(PySequence_GetItem(out, i));
    if (one.ptr() != nullptr && is_array(one.ptr())) note(one.ptr());
  }
}

/// Results of a call without arrays on a device: with them the operator runs there, with its random numbers.
void make_results(const Entry& entry, const void* op, Device device, std::span<NDArray> results) {
  const detail::Plan plan = detail::resolve(entry, op, {}, results, {});
  for (Index k = 0; k < std::ssize(results); ++k)
    detail::element(results, k) = NDArray(plan.shapes[k], plan.types[k], device, plan.storage(k));
}

}  // namespace

void set_param(const Schema& schema, const Schema::Param& param, ParamBox& box, PyObject* value) {
  const detail::ParamTable& table = *schema.entry.params;
  if (PyUnicode_Check(value) == 0) {
    if (value == Py_None && !table.fields[param.field].type->optional) return;  // not given
    if (param.store != nullptr && param.store(value, table.at(table, box.get(), param.field))) return;
  }
  try {
    detail::set_param(schema.entry.snake, table, box.get(), table.fields[param.field].name, text_of(value));
  } catch (const Refusal&) {
    throw;
  } catch (const Error& error) {
    throw Refusal(PyUnicode_Check(value) != 0 || PyNumber_Check(value) != 0 ? Kind::value : Kind::type, error.what());
  }
}

detail::Ref<ParamBox> params_of(const Schema& schema, const nb::dict& given) {
  detail::Ref<ParamBox> box(new ParamBox(schema.entry.params));
  for (const auto& [key, value] : given) {
    const auto named = [&](const Schema::Param& one) { return is_name(one.name, key.ptr()); };
    const auto param = std::ranges::find_if(schema.params, named);
    if (param == schema.params.end()) refuse_keyword(schema, key.ptr());
    set_param(schema, *param, *box, value.ptr());
  }
  if (schema.entry.params != nullptr) detail::check_params(schema.entry.snake, *schema.entry.params, box->get());
  return box;
}

PyObject* run(const Schema& schema, const void* op, std::span<PyObject* const> inputs, PyObject* out) {
  const Entry& entry = schema.entry;
  List<const NDArray*, 8> in;
  std::int64_t elements = 0;
  bool waits = inputs.empty(), known = schema.flow.makes;
  for (PyObject* one : inputs) {
    const NDArray& a = array_of(one);
    in.push_back(&a);
    elements += a.size();
    waits = waits || a.busy();
    known = known || facts_of(one) != 0 || a.ndim() == 0;
  }
  const auto [outputs, visible] = schema.outputs >= 0
                                      ? std::pair(schema.outputs, schema.visible)
                                      : detail::count_outputs(entry, op, static_cast<int>(inputs.size()));
  List<NDArray, 4> results(outputs);
  List<Request, 8> requests;
  if (out != nullptr) {
    const bool list = PyList_Check(out) || PyTuple_Check(out);
    const Py_ssize_t count = list ? PySequence_Size(out) : 1;
    if (count > outputs)
      refuse(Kind::value, entry.snake, ": 'out' has ", counted(count, "array"), ", expected at most ", outputs);
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* const one = !list ? out : PyList_Check(out) ? PyList_GetItem(out, i) : PyTuple_GetItem(out, i);
      if (!is_array(one))
        refuse(Kind::type, entry.snake, ": 'out' is of type ", type_of(one), ", expected an NDArray or a list of them");
      results[i] = array_of(one);
      requests.push_back(Request::write);
      waits = waits || results[i].busy();
    }
  } else if (inputs.empty()) {
    if (const Device device = device_said(entry, op); device != cpu()) make_results(entry, op, device, results.span());
  }
  if (any_abandoned) [[unlikely]]
    end_abandoned();
  if (detail::call_mode.recorder != nullptr) recorded_work.elements += elements + work_of_a_call;
  if ((waits || is_long(elements)) && takes_long(entry, op, in.span(), results.span())) {
    dispatch_apart(entry, op, in.span(), results.span(), requests.span());
  } else {
    const Unlocked others(waits || is_long(elements));
    detail::dispatch(entry, op, in.span(), results.span(), requests.span(), {});
  }
  tell_fallbacks();
  if (is_long(elements) && results[0].defined()) note_order(results[0]);
  const unsigned facts =
      known ? facts_after(schema.flow, entry, op, op == schema.defaults.get(), inputs, results[0]) : 0;
  if (out != nullptr) {
    if (schema.flow.truth != Flow::Truth::assigned) note_facts(out, facts);
    return Py_NewRef(out);
  }
  if (visible == 1) return wrap(std::move(results[0]), facts);
  PyObject* const list = PyList_New(visible);
  if (list == nullptr) nb::raise_python_error();
  for (int k = 0; k < visible; ++k) PyList_SetItem(list, k, wrap(std::move(results[k]), facts));
  return list;
}

Schema& schema_called(const char* name) {
  static std::map<const char*, Schema*> known;
  Schema*& found = known[name];
  if (found == nullptr) found = &schema_of(detail::find_operator(name));
  return *found;
}

PyObject* binary(Binary which, PyObject* a, PyObject* b, PyObject* out) {
  if (is_array(a) && is_array(b)) {
    const NDArray &x = array_of(a), &y = array_of(b);
    const bool same = (x.storage() != dense || y.storage() != dense) && x.shape() == y.shape();
    PyObject* const both[] = {a, b};
    const Schema& schema = operator_of(which, same ? &BinaryNames::same : &BinaryNames::broadcast);
    return run(schema, schema.defaults.get(), both, out);
  }
  const bool reversed = !is_array(a);
  PyObject *const array = reversed ? b : a, *const other = reversed ? a : b;
  const std::optional<Scalar> number =
      binary_names[static_cast<std::size_t>(which)].scalar == nullptr || is_array(other) ? std::nullopt
                                                                                         : scalar_of(other);
  if (number)
    return of_scalar(operator_of(which, reversed ? &BinaryNames::reversed : &BinaryNames::scalar), array, *number, out);
  const nb::object made = converted(other, array);
  if (made.ptr() == nullptr) Py_RETURN_NOTIMPLEMENTED;
  return reversed ? binary(which, made.ptr(), array, out) : binary(which, array, made.ptr(), out);
}

PyObject* unary(const char* name, PyObject* a) {
  const Schema& schema = schema_called(name);
  return run(schema, schema.defaults.get(), {&a, 1}, nullptr);
}

void add_operators(nb::module_& module) {
  PyType_Slot slots[] = {slot(Py_tp_new, make_operator),
                         slot(Py_tp_dealloc, free_operator),
                         slot(Py_tp_call, PyVectorcall_Call),
                         slot(Py_tp_descr_get, bind),
                         slot(Py_tp_repr, show),
                         slot(Py_tp_getset, operator_members),
                         slot(Py_tp_members, operator_offsets),
                         slot(Py_tp_methods, operator_methods),
                         {0, nullptr}};
  PyType_Spec spec{"strop._strop.Operator", static_cast<int>(sizeof(OperatorObject)), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};
  PyObject* const made = PyType_FromSpec(&spec);
  if (made == nullptr) nb::raise_python_error();
  operator_type = reinterpret_cast<PyTypeObject*>(made);
  module.attr("Operator") = nb::borrow(made);
  keywords = {interned("out").release().ptr(), interned("name").release().ptr(), interned("attr").release().ptr(),
              nullptr};
  module.def("_set_null", [](nb::object null) { keywords.null = null.release().ptr(); });
  module.def("list_operators", &list_operators, "The names of every operator, its own first.");
}

}  // namespace strop::python
