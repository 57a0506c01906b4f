// SPDX-License-Identifier: Apache-2.0
/// \file
/// The type of arrays in Python: what must be fast or needs memory; everything else is written in Python.
#include "stable.hpp"

#include <strop/tensor/cast.hpp>

#include <structmember.h>
#include <cstddef>
#include <cstring>

namespace strop::python {
namespace {

PyTypeObject* dense_type = nullptr;
PyObject* classes[3];  // by the number of the storage

NDArray& own(PyObject* self) { return reinterpret_cast<ArrayObject*>(self)->array; }

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  auto* const object = reinterpret_cast<ArrayObject*>(self);
  if (object->weak != nullptr) PyObject_ClearWeakRefs(self);
  object->array.~NDArray();
  free_object(type, self);
  Py_DECREF(type);
}

PyObject* make_nothing(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "NDArray: arrays are made by array(), zeros(), empty() and their like");
  return nullptr;
}

// --- members --------------------------------------------------------------------------------------------------------

PyObject* get_shape(PyObject* self, void*) { return shape_tuple(own(self).shape()); }
PyObject* get_dtype(PyObject* self, void*) { return Py_NewRef(dtype_object(own(self).dtype())); }
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(own(self).ndim()); }
PyObject* get_size(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromLongLong(own(self).size()); });
}
PyObject* get_storage(PyObject* self, void*) { return PyLong_FromLong(static_cast<long>(own(self).storage())); }
PyObject* get_device(PyObject* self, void*) {
  const Device device = own(self).device();
  return Py_BuildValue("(ii)", static_cast<int>(device.kind), static_cast<int>(device.id));
}
PyObject* get_facts(PyObject* self, void*) { return PyLong_FromUnsignedLong(facts_of(self)); }
int set_facts(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        const std::optional<std::int64_t> facts = value != nullptr ? integer_of(value) : std::nullopt;
        if (!facts) refuse(Kind::type, "_facts: expected a whole number");
        facts_of(self) = static_cast<unsigned>(*facts);
        return 0;
      },
      -1);
}
PyObject* get_grad(PyObject* self, void*) {
  return guarded([&] { return wrap(own(self).grad()); });
}
PyObject* get_pointer(PyObject* self, void*) {
  return guarded([&] {
    const NDArray& a = own(self);
    wait_for(a);
    if (a.allocated()) a.body().buffer->lend();  // __array_interface__: who has the address may write
    return PyLong_FromVoidPtr(a.bytes());
  });
}

PyGetSetDef members[] = {
    {"shape", get_shape, nullptr, "The extents, outermost first.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements, as NumPy's.", nullptr},
    {"ndim", get_ndim, nullptr, "How many dimensions it has.", nullptr},
    {"size", get_size, nullptr, "How many elements it has, stored or not.", nullptr},
    {"_storage", get_storage, nullptr, nullptr, nullptr},
    {"_device", get_device, nullptr, nullptr, nullptr},
    {"_pointer", get_pointer, nullptr, nullptr, nullptr},
    {"_facts", get_facts, set_facts, nullptr, nullptr},
    {"grad", get_grad, nullptr, "The gradient buffer, of an array with attach_grad(); else None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef offsets[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

// --- numbers --------------------------------------------------------------------------------------------------------

template <Binary which>
PyObject* of_two(PyObject* a, PyObject* b) {
  return guarded([&] { return binary(which, a, b); });
}
PyObject* power_of(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return of_two<Binary::power>(a, b);
}
template <Binary which>
PyObject* in_place(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    PyObject* const made = binary(which, a, b, own(a).storage() == dense ? a : nullptr);
    return made;
  });
}
PyObject* in_place_power(PyObject* a, PyObject* b, PyObject*) { return in_place<Binary::power>(a, b); }
PyObject* negated(PyObject* a) {
  return guarded([&] { return unary("negative", a); });
}
PyObject* absolute(PyObject* a) {
  return guarded([&] { return unary("abs", a); });
}

/// The only element; refuses an array of any other size.
double only_element(PyObject* self, const char* what) {
  const NDArray& a = own(self);
  if (a.size() != 1) refuse(Kind::value, what, ": an array of shape ", a.shape(), ", expected one element");
  wait_for(a);
  return a.item<double>();
}
PyObject* as_float(PyObject* self) {
  return guarded([&] { return PyFloat_FromDouble(only_element(self, "float()")); });
}
PyObject* as_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const double value = only_element(self, "int()");
    if (is_floating(own(self).dtype())) return PyLong_FromDouble(value);
    return PyLong_FromLongLong(own(self).item<std::int64_t>());
  });
}
PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (is_floating(own(self).dtype()))
      refuse(Kind::type, "index: an array of ", name_of(own(self).dtype()), ", expected integers");
    only_element(self, "index");
    return PyLong_FromLongLong(own(self).item<std::int64_t>());
  });
}
int as_bool(PyObject* self) {
  return guarded(
      [&] {
        if (own(self).size() == 0) return 0;
        if (own(self).size() != 1)
          refuse(Kind::value, "bool(): the truth value of an array of shape ", own(self).shape(),
                 " is not one value; compare its elements, or take asscalar()");
        return only_element(self, "bool()") != 0 ? 1 : 0;
      },
      -1);
}

PyObject* compare(PyObject* a, PyObject* b, int how) {
  return guarded([&] {
    switch (how) {
      case Py_EQ:
        return binary(Binary::equal, a, b);
      case Py_NE:
        return binary(Binary::not_equal, a, b);
      case Py_GT:
        return binary(Binary::greater, a, b);
      case Py_GE:
        return binary(Binary::greater_equal, a, b);
      case Py_LT:
        return binary(Binary::lesser, a, b);
      default:
        return binary(Binary::lesser_equal, a, b);
    }
  });
}
Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(self) >> 4); }
PyObject* repr(PyObject* self) {
  return guarded([&] { return call_hook(Hook::repr, self).release().ptr(); });
}

// --- indices --------------------------------------------------------------------------------------------------------

Py_ssize_t length(PyObject* self) {
  return guarded(
      [&] {
        if (own(self).ndim() == 0) refuse(Kind::type, "len(): an array without dimensions has no length");
        return static_cast<Py_ssize_t>(own(self).shape()[0]);
      },
      Py_ssize_t{-1});
}
/// What a row knows of what the array knows: one number where the array has one dimension.
unsigned facts_of_row(PyObject* self) {
  return (facts_of(self) & fact::truth) | (own(self).ndim() == 1 ? fact::number : 0);
}
PyObject* row_of(PyObject* self, std::int64_t i) {
  const NDArray& a = own(self);
  if (a.ndim() == 0) refuse(Kind::index, "[", i, "]: an array without dimensions has no first axis");
  const std::int64_t rows = a.shape()[0];
  if (i < -rows || i >= rows) refuse(Kind::index, "[", i, "] is outside the first axis of shape ", a.shape());
  return wrap(a[i], facts_of_row(self));
}
PyObject* item(PyObject* self, Py_ssize_t i) {
  return guarded([&] { return row_of(self, i); });
}
PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&] {
    const NDArray& a = own(self);
    if (a.storage() == dense) {
      if (PyLong_CheckExact(key))
        if (const std::optional<std::int64_t> i = integer_of(key)) return row_of(self, *i);
      if (PySlice_Check(key) && a.ndim() > 0) {
        Py_ssize_t begin = 0, end = 0, step = 0;
        if (PySlice_Unpack(key, &begin, &end, &step) != 0) nb::raise_python_error();
        const Py_ssize_t count = PySlice_AdjustIndices(a.shape()[0], &begin, &end, step);
        if (step == 1) return wrap(a.slice(begin, begin + count), facts_of(self) & fact::truth);
      }
      if (PyObject* const made = read_basic(self, key)) return made;
    }
    return call_hook(Hook::getitem, self, key).release().ptr();
  });
}
int assign(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(
      [&] {
        if (value == nullptr) refuse(Kind::type, "del: elements of an array cannot be deleted");
        const unsigned facts = facts_of(self);  // what is written into a mask is an element of a mask
        if (!write_basic(self, key, value)) call_hook(Hook::setitem, self, key, value);
        facts_of(self) = facts;
        return 0;
      },
      -1);
}
PyObject* iterate(PyObject* self) {
  return guarded([&] {
    if (own(self).ndim() == 0) refuse(Kind::type, "iter(): an array without dimensions has no elements to go through");
    return PySeqIter_New(self);
  });
}

// --- memory ---------------------------------------------------------------------------------------------------------

/// The extents and strides that a view of the buffer protocol refers to.
struct Layout {
  Py_ssize_t shape[64], strides[64];
};

const char* format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return "f";
    case Dtype::f64:
      return "d";
    case Dtype::f16:
      return "e";
    case Dtype::u8:
      return "B";
    case Dtype::i8:
      return "b";
    case Dtype::i32:
      return "i";
    case Dtype::i64:
      return "q";
    case Dtype::boolean:
      return "?";
    default:
      return "H";
  }
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(
      [&] {
        const NDArray& a = own(self);
        if (a.storage() != dense || a.device().kind != DeviceKind::cpu || a.dtype() == bf16 || a.ndim() > 64) {
          PyErr_SetString(PyExc_BufferError,
                          "an NDArray has a buffer where it is dense, on the CPU and of a type that NumPy knows; "
                          "asnumpy() copies any");
          return -1;
        }
        const auto asks_for = [&](int order) { return (flags & order) == order; };
        int long_axes = 0;
        for (const std::int64_t extent : a.shape()) long_axes += extent > 1 ? 1 : 0;
        if (asks_for(PyBUF_F_CONTIGUOUS) && !asks_for(PyBUF_C_CONTIGUOUS) && long_axes > 1 && a.size() != 0) {
          PyErr_SetString(PyExc_BufferError,
                          "the elements of an NDArray are row-major; one of several dimensions has no buffer in "
                          "Fortran's order");
          return -1;
        }
        wait_for(a);
        if (!a.allocated()) a.allocate();
        a.body().buffer->lend();
        const bool number = (facts_of(self) & fact::number) != 0;
        auto* const layout = static_cast<Layout*>(PyMem_Malloc(sizeof(Layout)));
        if (layout == nullptr) throw std::bad_alloc();
        Py_ssize_t stride = size_of(a.dtype());
        for (int i = a.ndim(); i-- > 0;) {
          layout->shape[i] = a.shape()[i];
          layout->strides[i] = stride;
          stride *= a.shape()[i];
        }
        view->buf = a.bytes();
        view->obj = Py_NewRef(self);
        view->itemsize = size_of(a.dtype());
        view->len = a.size() * view->itemsize;
        view->readonly = 0;
        view->ndim = number ? 0 : a.ndim();
        view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? const_cast<char*>(format_of(a.dtype())) : nullptr;
        view->shape = (flags & PyBUF_ND) == PyBUF_ND && !number ? layout->shape : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES && !number ? layout->strides : nullptr;
        view->suboffsets = nullptr;
        view->internal = layout;
        return 0;
      },
      -1);
}
void release_buffer(PyObject*, Py_buffer* view) { PyMem_Free(view->internal); }

/// A NumPy array with a copy of the elements.
PyObject* to_numpy(PyObject* self, PyObject*) {
  return guarded([&] {
    const NDArray& a = own(self);
    detail::leave_trace("asnumpy()");
    wait_for(a);
    const nb::object shape = nb::steal(shape_tuple(a.shape()));
    const nb::object made = call_hook(Hook::empty, shape.ptr(), dtype_object(a.dtype()));
    Py_buffer view;
    if (PyObject_GetBuffer(made.ptr(), &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) != 0) nb::raise_python_error();
    struct Release {
      Py_buffer& view;
      ~Release() { PyBuffer_Release(&view); }
    } release{view};
    const bool plain = a.storage() == dense && a.device().kind == DeviceKind::cpu;
    const Unlocked others(!plain || a.busy() || is_long(a.size()));
    a.wait();
    const NDArray source = detail::dense_on_host(a);
    if (source.allocated())
      detail::copy_bytes(view.buf, source.bytes(), view.len);
    else
      detail::clear_bytes(view.buf, view.len);
    return made.inc_ref().ptr();
  });
}
PyObject* wait_to_read(PyObject* self, PyObject*) {
  return guarded([&] {
    wait_for(own(self));
    return Py_NewRef(Py_None);
  });
}

PyMethodDef methods[] = {
    {"asnumpy", to_numpy, METH_NOARGS,
     "asnumpy()\n--\n\nA NumPy array with a copy of the elements, dense where the array is sparse."},
    {"wait_to_read", wait_to_read, METH_NOARGS,
     "wait_to_read()\n--\n\nWaits until the elements are there; raises what failed on the way."},
    {nullptr, nullptr, 0, nullptr}};

template <class F>
constexpr PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

PyTypeObject* make_type() {
  PyType_Slot slots[] = {slot(Py_tp_dealloc, dealloc),
                         slot(Py_tp_new, make_nothing),
                         slot(Py_tp_getset, members),
                         slot(Py_tp_members, offsets),
                         slot(Py_tp_methods, methods),
                         slot(Py_tp_repr, repr),
                         slot(Py_tp_hash, hash),
                         slot(Py_tp_richcompare, compare),
                         slot(Py_tp_iter, iterate),
                         slot(Py_tp_doc, const_cast<char*>("An array of numbers: dense, CSR or row-sparse.")),
                         slot(Py_nb_add, of_two<Binary::add>),
                         slot(Py_nb_subtract, of_two<Binary::subtract>),
                         slot(Py_nb_multiply, of_two<Binary::multiply>),
                         slot(Py_nb_true_divide, of_two<Binary::divide>),
                         slot(Py_nb_remainder, of_two<Binary::modulo>),
                         slot(Py_nb_matrix_multiply, of_two<Binary::matmul>),
                         slot(Py_nb_power, power_of),
                         slot(Py_nb_inplace_add, in_place<Binary::add>),
                         slot(Py_nb_inplace_subtract, in_place<Binary::subtract>),
                         slot(Py_nb_inplace_multiply, in_place<Binary::multiply>),
                         slot(Py_nb_inplace_true_divide, in_place<Binary::divide>),
                         slot(Py_nb_inplace_remainder, in_place<Binary::modulo>),
                         slot(Py_nb_inplace_power, in_place_power),
                         slot(Py_nb_negative, negated),
                         slot(Py_nb_absolute, absolute),
                         slot(Py_nb_float, as_float),
                         slot(Py_nb_int, as_int),
                         slot(Py_nb_index, as_index),
                         slot(Py_nb_bool, as_bool),
                         slot(Py_sq_length, length),
                         slot(Py_sq_item, item),
                         slot(Py_mp_length, length),
                         slot(Py_mp_subscript, subscript),
                         slot(Py_mp_ass_subscript, assign),
                         slot(Py_bf_getbuffer, get_buffer),
                         slot(Py_bf_releasebuffer, release_buffer),
                         {0, nullptr}};
  PyType_Spec spec{"strop.ndarray.NDArray", static_cast<int>(sizeof(ArrayObject)), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* const made = PyType_FromSpec(&spec);
  if (made == nullptr) nb::raise_python_error();
  return reinterpret_cast<PyTypeObject*>(made);
}

}  // namespace

PyTypeObject* array_type() { return dense_type; }

PyObject* wrap(NDArray array, unsigned facts) {
  if (!array.defined()) return Py_NewRef(Py_None);
  auto* const type = reinterpret_cast<PyTypeObject*>(classes[static_cast<std::size_t>(array.storage())]);
  PyObject* const made = new_object(type);
  if (made == nullptr) nb::raise_python_error();
  auto* const object = reinterpret_cast<ArrayObject*>(made);
  object->weak = nullptr;
  object->facts = facts;
  new (&object->array) NDArray(std::move(array));
  return made;
}

nb::object converted(PyObject* object, PyObject* like) {
  if (PyObject_CheckBuffer(object) == 0 || PyBytes_Check(object) || PyByteArray_Check(object)) return {};
  return call_hook(Hook::convert, object, like);
}

void add_arrays(nb::module_& module) {
  dense_type = make_type();
  for (PyObject*& one : classes) one = reinterpret_cast<PyObject*>(dense_type);
  module.attr("NDArray") = nb::borrow(reinterpret_cast<PyObject*>(dense_type));
  module.def("_set_class", [](int storage, nb::object type) { classes[storage] = type.release().ptr(); });
}

}  // namespace strop::python
