// SPDX-License-Identifier: Apache-2.0
/// \file
/// The module: making arrays, exchange with other libraries, files, gradients, random numbers, the engine.
#include "stable.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <strop/autograd/backward.hpp>
#include <strop/core/fork.hpp>
#include <strop/engine/trace.hpp>
#include <strop/memory/random.hpp>
#include <strop/op/fallback.hpp>
#include <strop/ops/cast.hpp>
#include <strop/tensor/create.hpp>
#include <strop/tensor/dlpack.hpp>
#include <strop/tensor/io.hpp>
#include <strop/tensor/sparse.hpp>
#include <strop/tensor/variable.hpp>

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::python {
namespace {

// --- memory of other libraries --------------------------------------------------------------------------------------

Dtype dtype_of_format(const char* format, Py_ssize_t width) {
  const std::string_view text = format == nullptr ? "B" : format;
  const char letter = text.empty() ? 'B' : text.back();
  const bool native =
      text.size() == 1 || (text.size() == 2 && (text[0] == '<' || text[0] == '=' || text[0] == '@' || text[0] == '|'));
  if (native) {
    if (letter == '?') return boolean;
    if (letter == 'e') return f16;
    if (letter == 'f') return f32;
    if (letter == 'd') return f64;
    if (letter == 'B') return u8;
    if (letter == 'b') return i8;
    if ((letter == 'i' || letter == 'l' || letter == 'q' || letter == 'n') && width == 4) return i32;
    if ((letter == 'i' || letter == 'l' || letter == 'q' || letter == 'n') && width == 8) return i64;
  }
  refuse(Kind::type, "strop: no array has elements of the buffer format '", text, "'");
}

/// A buffer of Python that is given back with the last array on it, from whichever thread.
struct HeldBuffer {
  Py_buffer view;
  explicit HeldBuffer(PyObject* object, int flags) {
    if (PyObject_GetBuffer(object, &view, flags) != 0) nb::raise_python_error();
  }
  ~HeldBuffer() { PyBuffer_Release(&view); }
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;
  Shape shape() const {
    Shape made;
    for (int i = 0; i < view.ndim; ++i) made.push_back(view.shape[i]);
    return made;
  }
};

/// A copy of the elements of any object with a buffer.
NDArray copy_of_buffer(nb::object object) {
  const HeldBuffer from(object.ptr(), PyBUF_STRIDED_RO | PyBUF_FORMAT);
  const Dtype dtype = dtype_of_format(from.view.format, from.view.itemsize);
  const NDArray made(from.shape(), dtype);
  detail::List<std::int64_t> strides(from.view.ndim + 1);
  for (int i = 0; i < from.view.ndim; ++i) strides[i] = from.view.strides[i];
  if (made.size() == 0) return made;
  const Unlocked others(is_long(made.size()));
  detail::gather_strided(static_cast<const std::byte*>(from.view.buf), made.shape(), strides.data(), size_of(dtype),
                         made.bytes());
  return made;
}

/// An array over the memory of an object with a buffer that is row-major. The caller knows that it may be written, also
/// where the object says otherwise.
NDArray share_buffer(nb::object object) {
  auto held = std::make_unique<HeldBuffer>(object.ptr(), PyBUF_C_CONTIGUOUS | PyBUF_FORMAT);
  const Dtype dtype = dtype_of_format(held->view.format, held->view.itemsize);
  if (reinterpret_cast<std::uintptr_t>(held->view.buf) % static_cast<std::uintptr_t>(size_of(dtype)) != 0)
    refuse(Kind::value, "from_numpy: the memory begins at an address that is no multiple of ", size_of(dtype),
           ", the size of an element; copy the array, or say zero_copy=False");
  NDArray made = NDArray::shell(held->shape(), dtype);
  // The buffer is given back by a capsule, which any thread can drop.
  void* const data = held->view.buf;
  const Py_ssize_t bytes = held->view.len;
  nb::object keeper = nb::capsule(held.release(), [](void* p) noexcept { delete static_cast<HeldBuffer*>(p); });
  const auto release = [](void* context, void*) noexcept { release_later(static_cast<PyObject*>(context)); };
  made.body().buffer = detail::Ref(new detail::Buffer(cpu(), bytes, data, release, keeper.ptr()));
  keeper.release();
  return made;
}

template <class Managed>
void drop_tensor(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;  // somebody took it
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

/// f(arrays…) of arrays whose elements it reads at once: waits for them as Ctrl-C permits, and lets other threads run
/// meanwhile where that is worth it.
template <class F, class... Arrays>
auto on_elements(F&& f, const Arrays&... arrays) {
  bool worth = false;
  for (const NDArray* const a : {&arrays...}) {
    if (!a->defined()) continue;
    wait_for(*a);
    worth = worth || a->busy() || is_long(a->size());
  }
  const Unlocked others(worth);
  return f(arrays...);
}

/// f(the array of an object) as an object that knows the same, of what `kept` names.
template <class F>
nb::object moved(nb::handle object, unsigned kept, F&& f) {
  if (!is_array(object.ptr()))
    refuse(Kind::type, "strop: an object of type ", type_of(object.ptr()), " is given, expected an NDArray");
  return nb::steal(wrap(f(array_of(object.ptr())), facts_of(object.ptr()) & kept));
}

/// The array that f(arrays…) makes, which copies what it needs besides: as on_elements, and Ctrl-C is heard also while
/// a long one computes.
template <class F, class... Arrays>
NDArray made_of_elements(F f, const Arrays&... arrays) {
  std::int64_t elements = 0;
  for (const NDArray* const a : {&arrays...}) elements += a->defined() ? a->size() : 0;
  if (elements < 1 << 20 || !hears_signals()) return on_elements(f, arrays...);
  (wait_for(arrays), ...);
  const auto made = std::make_shared<NDArray>();
  run_apart([made, f, arrays...] { *made = f(arrays...); });
  return *made;
}

nb::object to_capsule(const NDArray& a, bool versioned, bool writes) {
  if (writes && a.body().buffer) a.body().buffer->written();
  PyObject* made = nullptr;
  if (versioned) {
    made = PyCapsule_New(on_elements(&to_dlpack_versioned, a), "dltensor_versioned",
                         [](PyObject* c) { drop_tensor<dlpack::DLManagedTensorVersioned>(c, "dltensor_versioned"); });
  } else {
    made = PyCapsule_New(on_elements(&to_dlpack, a), "dltensor",
                         [](PyObject* c) { drop_tensor<dlpack::DLManagedTensor>(c, "dltensor"); });
  }
  if (made == nullptr) nb::raise_python_error();
  return nb::steal(made);
}

/// Refuses memory of the CPU that from_dlpack would copy: a program that writes into what it has shared would not find
/// out.
template <class Managed>
void check_shared(const Managed& managed) {
  const dlpack::DLTensor& tensor = managed.dl_tensor;
  if constexpr (requires { managed.version; })
    if (managed.version.major != 1) return;
  if (static_cast<int>(tensor.device.device_type) == detail::dlpack_cuda || tensor.ndim < 0 || tensor.ndim > 64 ||
      (tensor.ndim > 0 && tensor.shape == nullptr) || tensor.data == nullptr)
    return;  // which is refused, or cannot be looked at
  const Dtype dtype = detail::dtype_from_dlpack(tensor.dtype);
  Shape shape;
  for (int axis = 0; axis < tensor.ndim; ++axis) shape.push_back(tensor.shape[axis]);
  const std::int64_t bytes = detail::byte_count(shape, dtype);
  if (bytes == 0) return;
  const std::byte* const data = static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  bool read_only = false;
  if constexpr (requires { managed.flags; }) read_only = (managed.flags & 1) != 0;
  const char* const why = !detail::is_compact(tensor, shape) ? "are not row-major without gaps"
                          : reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(size_of(dtype)) != 0
                              ? "are not aligned to their size"
                          : read_only                                           ? "are read only"
                          : dtype == boolean && !detail::are_bools(data, bytes) ? "are bools other than 0 and 1"
                                                                                : nullptr;
  if (why != nullptr)
    refuse(Kind::value, "from_dlpack: the elements ", why,
           ", so that their memory cannot be shared; copy them, as array(x) does");
}

template <class Managed>
NDArray take_tensor(PyObject* capsule, const char* name, const char* used) {
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  check_shared(*managed);
  NDArray made = from_dlpack(managed);
  if (PyCapsule_SetName(capsule, used) != 0) nb::raise_python_error();
  return made;
}
NDArray from_capsule(nb::object capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0)
    return take_tensor<dlpack::DLManagedTensorVersioned>(capsule.ptr(), "dltensor_versioned",
                                                         "used_dltensor_versioned");
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") != 0)
    return take_tensor<dlpack::DLManagedTensor>(capsule.ptr(), "dltensor", "used_dltensor");
  refuse(Kind::value, "from_dlpack: the capsule holds no tensor, or somebody has taken it");
}

void add_memory(nb::module_& module) {
  module.def("copy_of_buffer", &copy_of_buffer);
  module.def("share_buffer", &share_buffer);
  module.def("to_capsule", &to_capsule, nb::arg("a"), nb::arg("versioned"), nb::arg("writes") = false);
  module.def("from_capsule", &from_capsule);
  module.def("empty", [](const Shape& shape, Dtype dtype, nb::object ctx, int storage) {
    const Device device = device_of(ctx.ptr());
    return NDArray(shape, dtype, device, static_cast<Storage>(storage));
  });
  module.def("full", [](const Shape& shape, nb::object value, Dtype dtype, nb::object ctx) {
    const std::optional<Scalar> number = scalar_of(value.ptr());
    if (!number) refuse(Kind::type, "full: the value is no number");
    return full(shape, *number, dtype, device_of(ctx.ptr()));
  });
  module.def("copy", [](nb::handle object) {
    return moved(object, ~0U,
                 [](const NDArray& a) { return made_of_elements([](const NDArray& x) { return x.copy(); }, a); });
  });
  module.def("reshape", [](nb::handle object, const Shape& shape) {
    return moved(object, fact::truth, [&](const NDArray& a) { return a.reshape(shape); });
  });
  module.def("slice", [](nb::handle object, std::int64_t begin, std::int64_t end) {
    return moved(object, fact::truth, [&](const NDArray& a) { return a.slice(begin, end); });
  });
  module.def("item", [](const NDArray& a) {
    wait_for(a);
    return is_floating(a.dtype()) ? nb::object(nb::float_(a.item<double>()))
                                  : nb::object(nb::int_(a.item<std::int64_t>()));
  });
  module.def("to_storage", [](const NDArray& a, int storage) {
    return made_of_elements([=](const NDArray& x) { return detail::cast_storage(x, static_cast<Storage>(storage)); },
                            a);
  });
  module.def("to_device", [](nb::handle object, nb::object ctx) {
    return moved(object, ~0U, [&](const NDArray& a) {
      const Device device = device_of(ctx.ptr());
      if (a.device() == device) return a;
      NDArray made = made_of_elements([=](const NDArray& x) { return detail::on_device(x, device); }, a);
      detail::record_copy<Device>(a, made);
      return made;
    });
  });
  module.def("same", [](const NDArray& a, const NDArray& b) { return a.is(b); });
  using Array = const NDArray&;
  module.def("csr_matrix", [](Array data, Array indices, Array indptr, const Shape& shape) {
    return made_of_elements([=](Array d, Array i, Array p) { return csr_matrix(d, i, p, shape); }, data, indices,
                            indptr);
  });
  module.def("csr_over", &detail::csr_over);  // of parts that sparse_array.py and check_format look at
  module.def("csr_from_coordinates", [](Array data, Array row, Array col, const Shape& shape) {
    return made_of_elements([=](Array d, Array r, Array c) { return csr_matrix(d, {.row = r, .col = c}, shape); }, data,
                            row, col);
  });
  module.def("row_sparse_array", [](Array data, Array indices, const Shape& shape) {
    return made_of_elements([=](Array d, Array i) { return row_sparse_array(d, i, shape); }, data, indices);
  });
  module.def("part", [](const NDArray& a, int which) {
    return which == 0 ? a.data() : which == 1 ? a.indices() : a.indptr();
  });
  module.def("check_format",
             [](const NDArray& a, bool full) { on_elements([&](Array x) { return x.check_format(full), true; }, a); });
  module.def("save", [](const Path& path, const NamedArrays& arrays) {
    std::int64_t elements = 0;
    for (const auto& one : arrays) elements += one.second.defined() ? one.second.size() : 0;
    if (elements >= 1 << 22 && hears_signals()) return run_apart([=] { save(path.text, arrays); });
    const Unlocked others(true);
    save(path.text, arrays);
  });
  module.def("load", [](const Path& path) {
    const auto loaded = std::make_shared<NamedArrays>();
    const auto work = [=] { *loaded = load(path.text); };
    if (hears_signals()) {
      run_apart(work);
    } else {
      const Unlocked others(true);
      work();
    }
    return *loaded;
  });
}

// --- gradients ------------------------------------------------------------------------------------------------------

/// A step that is written in Python: an object with _forward and _backward on lists of arrays.
class PythonFunction : public Function {
 public:
  explicit PythonFunction(nb::object object) : object_(std::move(object)) {}
  std::vector<NDArray> forward(std::span<const NDArray> in) override { return call("_forward", in); }
  std::vector<NDArray> backward(std::span<const NDArray> heads) override { return call("_backward", heads); }

 private:
  std::vector<NDArray> call(const char* name, std::span<const NDArray> arrays) const {
    const Locked python;
    if (object_.get() == nullptr) refuse(Kind::other, "Function: the program has ended");
    nb::list list;
    for (const NDArray& a : arrays) list.append(a);
    const nb::object function = nb::borrow(object_.get()).attr(name);
    const nb::object made =
        nb::steal(staying([&] { return PyObject_CallFunctionObjArgs(function.ptr(), list.ptr(), nullptr); }));
    if (made.ptr() == nullptr) nb::raise_python_error();
    return nb::cast<std::vector<NDArray>>(made);
  }
  const PythonStep counted_;
  Kept object_;
};

/// Runs a backward pass, which owns what it uses.
template <class F>
void differentiate(F pass) {
  if (any_abandoned) end_abandoned();
  const bool apart = recorded_work.take() && hears_signals();
  if (apart) return run_apart(pass);
  const Unlocked others(true);
  pass();
}

void add_gradients(nb::module_& module) {
  module.def("attach_grad", [](const NDArray& a, int request, int storage) {
    storage < 0 ? a.attach_grad(static_cast<GradRequest>(request))
                : a.attach_grad(static_cast<GradRequest>(request), static_cast<Storage>(storage));
  });
  module.def("mark_variable", [](const NDArray& a, const NDArray& gradient, int request) {
    if (gradient.defined() && (gradient.shape() != a.shape() || gradient.dtype() != a.dtype()))
      refuse(Kind::value, "mark_variables: a gradient of shape ", gradient.shape(), " and ", name_of(gradient.dtype()),
             " for an array of shape ", a.shape(), " and ", name_of(a.dtype()));
    auto* const leaf = new detail::Leaf;
    const detail::Ref<detail::GradientNode> owner(leaf);
    leaf->request = static_cast<GradRequest>(request);
    if (request != 0) leaf->gradient = gradient;
    detail::hang_leaf(a, owner);
  });
  module.def("version", [](const NDArray& a) { return detail::version_of(a); });  // which each write changes
  module.def("is_tracked", [](const NDArray& a) { return detail::is_tracked(a); });
  // Whether a backward pass has written the gradient since somebody said that he has seen it.
  module.def("is_fresh", [](const NDArray& a) {
    return a.body().leaf && static_cast<detail::Leaf*>(a.body().leaf.get())->pass != 0;
  });
  module.def("set_fresh", [](const NDArray& a, bool fresh) {
    if (!a.body().leaf) refuse(Kind::value, "_fresh_grad: the array has no gradient; say attach_grad() first");
    static_cast<detail::Leaf*>(a.body().leaf.get())->pass = fresh ? UINT64_MAX : 0;
  });
  module.def("detach",
             [](nb::handle object) { return moved(object, ~0U, [](const NDArray& a) { return a.detach(); }); });
  module.def("backward", [](const std::vector<NDArray>& heads, const std::vector<NDArray>& gradients, bool retain) {
    differentiate([=] { backward(heads, gradients, retain); });
    tell_fallbacks();
  });
  module.def("grad", [](const NDArray& head, const std::vector<NDArray>& variables,
                        const std::vector<NDArray>& gradients, bool create, bool retain) {
    const auto found = std::make_shared<std::vector<NDArray>>();
    differentiate([=] { *found = grad(head, variables, {gradients, create, retain}); });
    tell_fallbacks();
    return *found;
  });
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&Kept::end));
  module.def("apply_function", [](nb::object object, const std::vector<NDArray>& in) {
    return detail::apply_function(detail::Ref<Function>(new PythonFunction(std::move(object))), in);
  });
}

/// Lines of fallbacks that Python has not been told of, the last one first. Without a lock, which another thread could
/// hold when the process forks.
struct FallbackLine {
  std::string text;
  FallbackLine* before;
};
std::atomic<FallbackLine*> fallback_lines{nullptr};

/// Logs as ever, on whichever thread, and keeps lines of fallbacks for tell_fallbacks().
void log_and_keep(std::string_view message) noexcept {
  detail::log_to_stderr(message);
  if (message.find("): dense fallback for ") == message.npos) return;
  try {
    auto* const line = new FallbackLine{std::string(message), fallback_lines.load()};
    while (!fallback_lines.compare_exchange_weak(line->before, line)) {
    }
  } catch (const std::bad_alloc&) {  // then there is the line alone
  }
}

void add_system(nb::module_& module) {
  set_log_sink(&log_and_keep);
  module.def("seed", [](std::uint64_t number) { random::seed(number); });
  module.def("seed", [](std::uint64_t number, nb::object ctx) { random::seed(number, device_of(ctx.ptr())); });
  module.def("with_own_numbers", &with_own_numbers);
  module.def("wait_all", &wait_for_all);
  nb::class_<Trace>(module, "_Trace")
      .def(nb::new_([](const Path& path) { return std::make_unique<Trace>(path.text); }))
      .def("finish", &Trace::finish, nb::call_guard<nb::gil_scoped_release>());
  module.attr("large_call") = detail::large_call;
  module.def("set_asynchronous", [](bool on, std::int64_t from) { set_asynchronous(on, from); });
  module.def("set_fallback", [](int mode) { return static_cast<int>(set_fallback(static_cast<Fallback>(mode))); });
  module.def("fallbacks", [] {
    nb::list all;
    for (const FallbackRecord& one : fallbacks())
      all.append(nb::make_tuple(to_text(one.op), to_text(one.storages), to_text(one.params), one.count));
    return all;
  });
  module.def("clear_fallbacks", [] { clear_fallbacks(); });
}

}  // namespace

void tell_fallbacks() {
  if (fallback_lines.load(std::memory_order_relaxed) == nullptr) return;
  std::vector<std::string> lines;
  for (FallbackLine* line = fallback_lines.exchange(nullptr); line != nullptr;) {
    const std::unique_ptr<FallbackLine> one(std::exchange(line, line->before));
    lines.push_back(std::move(one->text));
  }
  for (; !lines.empty(); lines.pop_back()) call_hook(Hook::warn, to_text(lines.back()).ptr());
}

void add_exchange(nb::module_& module) {
  add_memory(module);
  add_gradients(module);
  add_system(module);
}

}  // namespace strop::python

NB_MODULE(_strop, module) {
  using namespace strop::python;
  make_errors(module);
  add_arrays(module);
  add_operators(module);
  add_symbols(module);
  add_custom(module);
  add_scopes(module);
  add_exchange(module);
  add_libraries(module);
  add_hosts(module);
  add_ufuncs(module);
  add_jax(module);
  add_kvstore(module);
  add_data(module);
  add_threads();
}
