// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps as ufuncs of NumPy, whose C interface is reached through its capsule when the first one is made: nothing of
/// NumPy is needed to build this, and one binary serves NumPy 1 and 2.
#include "schema.hpp"
#include "ufunc_loop.hpp"

#include <strop/op/infer_call.hpp>
#include <strop/op/plan.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace strop::python {
namespace {

using detail::Ref;

// --- NumPy's interface ----------------------------------------------------------------------------------------------
// All of it belongs to NumPy's binary interface since 1.0: positions in the table, numbers of types and identities, and
// the first fields of ufunc objects. Source: numpy/__ufunc_api.h, numpy/ufuncobject.h, numpy/ndarraytypes.h.

constexpr int place_of_type = 0, place_of_maker = 1;
using MakeUfunc = PyObject* (*)(UfuncFunction*, void* const* data, const char* types, int loops, int inputs,
                                int outputs, int identity, const char* name, const char* doc, int unused);
constexpr int identity_zero = 0, identity_one = 1, identity_none = -1, identity_reorderable = -2;

struct UfuncObject {
  PyObject_HEAD int inputs, outputs, operands, identity;
  UfuncFunction* functions;
  void* const* data;
  int loops, reserved;
  const char *name, *types, *doc;
  void* memory;     // which NumPy frees with the object
  PyObject* owner;  // which it lets go of
};

constexpr const char* capsule_name = "strop.ufunc";

/// The number of a type of elements; none for those that NumPy has not.
std::optional<char> number_of_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::boolean:
      return 0;
    case Dtype::i8:
      return 1;
    case Dtype::u8:
      return 2;
    case Dtype::i32:
      return 5;
    case Dtype::i64:
      return sizeof(long) == 8 ? 7 : 9;
    case Dtype::f32:
      return 11;
    case Dtype::f64:
      return 12;
    case Dtype::f16:
      return 23;
    default:
      return std::nullopt;
  }
}
/// As NumPy looks for the first loop whose types the operands have or can be brought to without loss.
constexpr Dtype search_order[] = {boolean, i8, u8, i32, i64, f16, f32, f64};

/// The table of NumPy's functions for ufuncs. Looked for by every thread that finds none yet: a lock of ours would be
/// held while an import waits for Python's.
void* const* numpy_table() {
  static std::atomic<void* const*> table{nullptr};
  if (void* const* const known = table.load()) return known;
  nb::object module;
  for (const char* const name : {"numpy._core._multiarray_umath", "numpy.core._multiarray_umath"}) try {
      module = nb::module_::import_(name);
      break;
    } catch (nb::python_error&) {  // the other one
    }
  if (!module.is_valid() || !nb::hasattr(module, "_UFUNC_API"))
    refuse(Kind::other, "ufunc: this NumPy has no _UFUNC_API, expected NumPy 1 or 2");
  const nb::object capsule = module.attr("_UFUNC_API");
  auto* const found = static_cast<void* const*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (found == nullptr) nb::raise_python_error();
  if (found[place_of_type] != nb::object(nb::module_::import_("numpy").attr("ufunc")).ptr())
    refuse(Kind::other, "ufunc: the table of this NumPy's ufuncs does not begin with their type");
  table.store(found);
  return found;
}

// --- what a ufunc is made of ----------------------------------------------------------------------------------------

/// All that a ufunc refers to, for as long as it lives.
struct Ufunc {
  const Entry& entry;
  Ref<ParamBox> params;
  std::string name, doc, types;
  std::deque<UfuncLoop> loops;
  std::vector<UfuncFunction> functions;
  std::vector<void*> data;
  int identity = identity_none;

  Ufunc(const Entry& e, Ref<ParamBox> with) : entry(e), params(std::move(with)), name(e.snake), doc(e.doc) {
    for (const auto& [key, value] : said()) doc += cat(doc.empty() ? "" : "\n\n", key, " is ", value, " here.");
    for (const Dtype type : search_order)
      if (e.dtypes.contains(type)) add_loops(type);
    if (loops.empty()) refuse(Kind::type, "ufunc: ", e.snake, " serves no type of elements that NumPy has");
    const bool reorders = e.inputs == 2 && e.outputs == 1 && is_reorderable();
    if (reorders) identity = is_identity(0) ? identity_zero : is_identity(1) ? identity_one : identity_reorderable;
    for (UfuncLoop& loop : loops) loop.reorders = reorders;
  }

  /// The parameters that are not as by default, with their values as text.
  NamedTexts said() const {
    NamedTexts all;
    if (entry.params == nullptr) return all;
    const ParamBox defaults(entry.params);
    for (std::size_t i = 0; i < entry.params->fields.size(); ++i) {
      const std::string value = entry.params->print(params->get(), i);
      if (entry.params->missing(defaults.get(), i) || value != entry.params->print(defaults.get(), i))
        all.push_back({std::string(entry.params->fields[i].name), value});
    }
    return all;
  }

 private:
  bool is_whole(int i) const { return (entry.whole >> i & 1U) != 0; }

  /// The loops on elements of that type; inputs of whole numbers come as bools and in 64 bits.
  void add_loops(Dtype type) {
    for (const Dtype whole : {boolean, i64}) {
      std::vector<std::optional<Dtype>> in(static_cast<std::size_t>(entry.inputs), type);
      std::vector<std::optional<Dtype>> out(static_cast<std::size_t>(entry.outputs));
      for (int i = 0; i < entry.inputs; ++i)
        if (is_whole(i)) in[static_cast<std::size_t>(i)] = whole;
      const detail::CallLabels labels{entry, params->get(), entry.inputs};
      const detail::CallNames names = labels.names();
      try {
        Types inferred(names, in, out);
        detail::infer_types(entry, params->get(), inferred);
      } catch (const Error&) {  // with these parameters the operator refuses the type
        return;
      }
      std::string numbers;
      std::vector<Dtype> known_in, known_out;
      for (const auto* list : {&in, &out})
        for (const std::optional<Dtype>& one : *list) {
          const std::optional<char> number = one ? number_of_type(*one) : std::nullopt;
          if (!number) return;
          (list == &in ? known_in : known_out).push_back(*one);
          if (known_out.size() <= static_cast<std::size_t>(entry.visible)) numbers += *number;
        }
      types += numbers;
      loops.emplace_back(entry, params->get(), known_in.data(), known_out.data());
      functions.push_back(&run_ufunc);
      data.push_back(&loops.back());
      if (entry.whole == 0) return;
    }
  }

  // Whether a reduction may begin with a number, or go over several axes in any order, follows from what the operator
  // gives for some numbers.
  static constexpr double samples[] = {-2.5, -1, 0, 0.75, 1, 3};

  double at(double a, double b) const {
    const Dtype type = entry.loops.f64 != nullptr ? f64 : entry.loops.f32 != nullptr ? f32 : i64;
    alignas(8) std::byte memory[3][8];
    detail::store_doubles(type, &a, memory[0], 1);
    detail::store_doubles(type, &b, memory[1], 1);
    const void* const in[] = {memory[0], memory[1]};
    void* const out[] = {memory[2]};
    const detail::MapLoop run = type == f64 ? entry.loops.f64 : type == f32 ? entry.loops.f32 : entry.loops.i64;
    run(params->get(), in, out, 1);
    double made = 0;
    detail::load_doubles(type == i64 && entry.loops.i64_gives_f64 ? f64 : type, memory[2], &made, 1);
    return made;
  }
  bool is_identity(double e) const {
    return std::ranges::all_of(samples, [&](double x) { return at(e, x) == x && at(x, e) == x; });
  }
  bool is_reorderable() const {
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), 1.0); };
    for (const double a : samples)
      for (const double b : samples)
        for (const double c : samples)
          if (!near(at(a, b), at(b, a)) || !near(at(at(a, b), c), at(a, at(b, c)))) return false;
    return true;
  }
};

nb::object make_ufunc(const char* name, const nb::dict& given) {
  const Schema& schema = schema_of(detail::find_operator(name));
  const Entry& entry = schema.entry;
  if (!entry.is_map())
    refuse(Kind::type, "ufunc: ", entry.snake, " does not work element by element, expected a map; call it on arrays");
  if (entry.mutates) refuse(Kind::type, "ufunc: ", entry.snake, " writes its inputs, expected a map that reads them");
  if (entry.inputs < 1) refuse(Kind::type, "ufunc: ", entry.snake, " has no input, expected a map of one at least");
  if (entry.inputs + entry.outputs > UfuncLoop::most)
    refuse(Kind::type, "ufunc: ", entry.snake, " has ", entry.inputs + entry.outputs, " tensors, expected at most ",
           UfuncLoop::most);
  auto made = std::make_unique<Ufunc>(entry, params_of(schema, given));
  const auto make = reinterpret_cast<MakeUfunc>(numpy_table()[place_of_maker]);
  const nb::object ufunc = nb::steal(make(made->functions.data(), made->data.data(), made->types.c_str(),
                                          static_cast<int>(made->loops.size()), entry.inputs, entry.visible,
                                          made->identity, made->name.c_str(), made->doc.c_str(), 0));
  if (!ufunc.is_valid()) nb::raise_python_error();
  auto* const object = reinterpret_cast<UfuncObject*>(ufunc.ptr());
  Ufunc* const owned = made.release();  // NumPy refers to it: from here on it is kept in any case
  PyObject* const owner = PyCapsule_New(owned, capsule_name, [](PyObject* capsule) {
    delete static_cast<Ufunc*>(PyCapsule_GetPointer(capsule, capsule_name));
  });
  if (owner == nullptr) nb::raise_python_error();
  if (object->data != owned->data.data() || object->doc != owned->doc.c_str() || object->owner != nullptr)
    refuse(Kind::other, "ufunc: the objects of this NumPy's ufuncs are laid out otherwise than those of NumPy 1 and 2");
  object->owner = owner;
  return ufunc;
}

/// (name of the operator, parameters) of a ufunc that was made here; None for others.
nb::object ufunc_of(nb::handle ufunc) {
  if (static_cast<const void*>(Py_TYPE(ufunc.ptr())) != numpy_table()[place_of_type]) return nb::none();
  PyObject* const owner = reinterpret_cast<UfuncObject*>(ufunc.ptr())->owner;
  if (owner == nullptr || PyCapsule_IsValid(owner, capsule_name) == 0) return nb::none();
  const auto* const made = static_cast<const Ufunc*>(PyCapsule_GetPointer(owner, capsule_name));
  nb::dict params;
  for (const auto& [key, value] : made->said()) params[to_text(key)] = to_text(value);
  return nb::make_tuple(to_text(made->entry.name), params);
}

}  // namespace

void add_ufuncs(nb::module_& module) {
  module.def("make_ufunc", &make_ufunc);
  module.def("ufunc_of", &ufunc_of);
}

}  // namespace strop::python
