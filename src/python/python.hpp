// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the parts of the Python module share: arrays as Python objects, failures, values as text.
#pragma once
#include <nanobind/nanobind.h>
#include <strop/graph/node.hpp>
#include <strop/op/registry.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cxxabi.h>
#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace strop::python {

namespace nb = nanobind;

// --- failures -------------------------------------------------------------------------------------------------------

/// What kind of failure an Error is, beside being strop.Error.
enum class Kind : std::uint8_t { other, value, type, index, memory };

/// A failure that is one of Python's own kinds as well.
class Refusal : public Error {
 public:
  Refusal(Kind k, const std::string& text) : Error(text), kind(k) {}
  Kind kind;
};
template <class... Parts>
[[noreturn]] void refuse(Kind kind, const Parts&... parts) {
  throw Refusal(kind, cat(parts...));
}

/// Makes strop.Error and those that are Python's kinds as well, and hands them to the module.
void make_errors(nb::module_& module);
/// Sets Python's error to what is being thrown.
void set_error() noexcept;

/// Never returns. Where Python ends a thread that asks for its lock (daemon threads, once the program is over; before
/// Python 3.14) it unwinds the stack, which frames of C++ and of nanobind do not survive: the thread stays where it is.
[[noreturn]] void stay() noexcept;
/// f(), a function of Python's in which the thread may end.
template <class F>
auto staying(F&& f) {
  struct Frame {
    ~Frame() {
      if (!passed) stay();
    }
    bool passed = false;
  } frame;
  auto result = f();
  frame.passed = true;
  return result;
}

/// Runs f for a function that Python calls; what it throws becomes Python's error and `failed`.
template <class F, class R = PyObject*>
R guarded(F&& f, R failed = nullptr) noexcept {
  try {
    return f();
#if defined(__GLIBCXX__)
  } catch (const abi::__forced_unwind&) {  // in code of Python that was called from here
    stay();
#endif
  } catch (...) {
    set_error();
    return failed;
  }
}

// --- arrays ---------------------------------------------------------------------------------------------------------

/// What an object knows of its array beside the elements, as bits.
namespace fact {
/// It came from a comparison: as a key it is a mask, and it has & | ^ ~.
inline constexpr unsigned truth = 1;
/// One number by its shape in NumPy, which has no dimensions: v[i], x.sum(). Here it is of shape (1,), as in
/// MXNet.
inline constexpr unsigned number = 2;
}  // namespace fact

/// An array as Python sees it. Never without an array.
struct ArrayObject {
  PyObject_HEAD PyObject* weak;
  NDArray array;
  unsigned facts;
};

/// The type of dense arrays, of which those of sparse ones are subclasses.
PyTypeObject* array_type();
inline bool is_array(PyObject* object) { return PyObject_TypeCheck(object, array_type()) != 0; }
inline const NDArray& array_of(PyObject* object) { return reinterpret_cast<ArrayObject*>(object)->array; }
inline unsigned& facts_of(PyObject* array) { return reinterpret_cast<ArrayObject*>(array)->facts; }
/// A new object of the class that its storage asks for; None for a handle without an array.
PyObject* wrap(NDArray array, unsigned facts = 0);
void add_arrays(nb::module_& module);

/// self[key], and self[key] = value of a number, for a key of whole numbers and slices; null and false where it takes
/// more: Python has the rest.
PyObject* read_basic(PyObject* self, PyObject* key);
bool write_basic(PyObject* self, PyObject* key, PyObject* value);

/// An object of another type as an array of the type of `like`; null where it is none.
nb::object converted(PyObject* object, PyObject* like);

/// Whether a call on so many elements is worth letting other threads of Python run.
inline bool is_long(std::int64_t elements) { return elements > 1 << 14; }

/// Lets other threads of Python run while it lives, where that is worth it.
class Unlocked {
 public:
  explicit Unlocked(bool worth) : state_(worth ? PyEval_SaveThread() : nullptr) {}
  ~Unlocked() {
    if (state_ != nullptr) restore();
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  [[gnu::noinline]] void restore() {
    staying([this] { return PyEval_RestoreThread(state_), true; });
  }
  PyThreadState* state_;
};

/// Holds the lock of Python while it lives, on any thread.
class Locked {
 public:
  Locked() : state_(staying([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Waits for the elements while other threads run; Ctrl-C ends the wait.
void wait_for(const NDArray& array);
/// The same for everything that was asked for.
void wait_for_all();
/// Whether this thread is the one that Ctrl-C has to be heard on, and what it does may be done on another one.
bool hears_signals() noexcept;
/// Runs what takes long on a thread of its own, in this one's mode, while other threads of Python run. `work` owns what
/// it uses, as Ctrl-C ends the wait for it: then it goes on, and nobody looks at what it makes. For a thread that hears
/// signals.
void run_apart(std::function<void()> work);
/// A call that Ctrl-C ended still computes: what comes next waits for it, as Ctrl-C permits.
inline constinit std::atomic<bool> any_abandoned{false};
void end_abandoned();
/// Steps of histories, and states of operators, that are written in Python. What somebody wrote in Python runs on the
/// thread that asks for it: while one of them lives, no backward pass moves to a thread of its own.
inline constinit std::atomic<std::int64_t> python_steps{0};
struct PythonStep {
  PythonStep() noexcept { python_steps.fetch_add(1, std::memory_order_relaxed); }
  ~PythonStep() { python_steps.fetch_sub(1, std::memory_order_relaxed); }
  PythonStep(const PythonStep&) = delete;
  PythonStep& operator=(const PythonStep&) = delete;
};
/// What a call costs besides its elements, in elements.
constexpr std::int64_t work_of_a_call = 256;
/// About what this thread has recorded since its last backward pass: a pass over many elements, or many calls, takes
/// long.
struct RecordedWork {
  std::int64_t elements = 0;
  bool was_long = false;  // a pass of this thread
  /// Whether a pass is long enough for a thread of its own. What has recorded nothing since the last one goes through a
  /// history again, and nobody knows which.
  bool take() {
    const bool is_long = elements == 0 ? was_long : elements >= 1 << 20;
    elements = 0;
    was_long |= is_long;
    return is_long && python_steps.load(std::memory_order_relaxed) == 0;
  }
};
inline thread_local RecordedWork recorded_work;
/// Says that a call on this array was handed to the engine.
void note_order(const NDArray& array);
/// Gives an object back from any thread, also one that Python does not know.
void release_later(PyObject* object) noexcept;

/// An object that the core keeps. The end of the program lets go of all: a class of the program refers to all of its
/// variables, and so to the arrays and executors that keep its objects, which Python's collector does not see.
class Kept {
 public:
  Kept();
  explicit Kept(nb::object object) : Kept() { set(std::move(object)); }
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  void set(nb::object object);
  /// Null before it is set, and once the program has ended. For those who hold the lock of Python.
  PyObject* get() const { return object_; }
  /// Lets go of the objects of all.
  static void end();

 private:
  PyObject* object_ = nullptr;
};

// --- values ---------------------------------------------------------------------------------------------------------

/// Functions that the Python part of the package gives.
enum class Hook : std::uint8_t {
  getitem,
  setitem,
  repr,
  convert,
  empty,
  dtype_name,
  symbol,
  signature,
  document,
  custom,
  warn,
  count
};
PyObject* hook(Hook which);
/// What a hook returns for these arguments; throws where it raises.
template <class... Arguments>
nb::object call_hook(Hook which, Arguments... arguments) {
  PyObject* const list[] = {arguments...};
  PyObject* const function = hook(which);
  PyObject* const result = staying([&] { return PyObject_Vectorcall(function, list, sizeof...(arguments), nullptr); });
  if (result == nullptr) nb::raise_python_error();
  return nb::steal(result);
}

/// Has Python warn of the fallbacks that were logged since it was told last, if any; throws where warnings are errors.
void tell_fallbacks();

/// The type of elements that an object names: a NumPy type, a name.
Dtype dtype_of_object(PyObject* object);
/// How Python names it: numpy.float32, …; borrowed.
PyObject* dtype_object(Dtype dtype);
/// A number of any type; empty where the object is none.
std::optional<double> number_of(PyObject* object);
std::optional<Scalar> scalar_of(PyObject* object);
std::optional<std::int64_t> integer_of(PyObject* object);
/// The name of a file, in the bytes that the system has for it: of a text, bytes, or an object with __fspath__.
struct Path {
  std::string text;
};
/// Whole numbers of a sequence, or one alone.
std::optional<Shape> shape_of(PyObject* object);
/// A value as the text that parameters are read from.
std::string text_of(PyObject* object);
std::string_view view_of(PyObject* text);
inline nb::object to_text(std::string_view text) {
  return nb::steal(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}
PyObject* shape_tuple(const Shape& shape);
/// "cpu(0)", "gpu", a Context, None.
Device device_of(PyObject* object);

// --- operators and symbols ------------------------------------------------------------------------------------------

void add_operators(nb::module_& module);
/// What the command describes of an operator beside what its entry says: its gradient, storages, cost, and an example.
nb::dict card_of(const Entry& entry);
/// (what the function returns, whether it drew random numbers). They are those that come after seed(seed); the
/// program's stay as they are.
nb::tuple with_own_numbers(std::uint64_t seed, nb::callable function);
void add_symbols(nb::module_& module);
void add_custom(nb::module_& module);
void add_scopes(nb::module_& module);
void add_exchange(nb::module_& module);
void add_libraries(nb::module_& module);
void add_hosts(nb::module_& module);
void add_ufuncs(nb::module_& module);
void add_jax(nb::module_& module);
void add_kvstore(nb::module_& module);
void add_data(nb::module_& module);
/// Has waits hear signals, and forks wait without the lock of Python.
void add_threads();

/// The operators behind + and its like, of two arrays and of an array and a number.
enum class Binary : std::uint8_t {
#define STROP_NAMED(function, ...) function,
#include <strop/ops/arithmetic.def>
  matmul,
  count
};
/// a ∘ b, into `out` where it is not null; NotImplemented where an operand is none.
PyObject* binary(Binary which, PyObject* a, PyObject* b, PyObject* out = nullptr);
PyObject* unary(const char* name, PyObject* a);

bool is_symbol(PyObject* object);
/// A node of the operator: `inputs` are symbols or null for those that are left out, `said` the parameters that were
/// given, as text. Steals nothing.
PyObject* make_symbol(const Entry& entry, const void* op, NamedTexts said, std::span<PyObject* const> inputs,
                      PyObject* called, PyObject* name, PyObject* attributes);
/// Sets attributes of a new node, and of the variables that were made for it because `given` has no symbol for them.
void set_attributes(const Symbol& made, std::span<const Symbol> given, const nb::dict& attributes);

}  // namespace strop::python

namespace nanobind::detail {

/// Arrays as arguments and results of functions that nanobind binds.
template <>
struct type_caster<strop::NDArray> {
  NB_TYPE_CASTER(strop::NDArray, const_name("NDArray"))
  bool from_python(handle src, std::uint32_t, cleanup_list*) noexcept {
    if (src.is_none()) {
      value = {};
      return true;
    }
    if (!strop::python::is_array(src.ptr())) return false;
    value = strop::python::array_of(src.ptr());
    return true;
  }
  static handle from_cpp(const strop::NDArray& array, rv_policy, cleanup_list*) noexcept {
    return strop::python::guarded([&] { return strop::python::wrap(array); });
  }
};
template <>
struct type_caster<strop::python::Path> {
  NB_TYPE_CASTER(strop::python::Path, const_name("str | bytes | os.PathLike"))
  bool from_python(handle src, std::uint32_t, cleanup_list*) noexcept {
    PyObject* bytes = nullptr;
    if (PyUnicode_FSConverter(src.ptr(), &bytes) == 0) return PyErr_Clear(), false;
    const object held = steal(bytes);
    value.text.assign(PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes)));
    return true;
  }
  static handle from_cpp(const strop::python::Path& path, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeFSDefaultAndSize(path.text.data(), static_cast<Py_ssize_t>(path.text.size()));
  }
};
template <>
struct type_caster<strop::Dtype> {
  NB_TYPE_CASTER(strop::Dtype, const_name("type"))
  bool from_python(handle src, std::uint32_t, cleanup_list*) noexcept {
    try {
      value = strop::python::dtype_of_object(src.ptr());
      return true;
    } catch (...) {
      return false;
    }
  }
  static handle from_cpp(strop::Dtype dtype, rv_policy, cleanup_list*) noexcept {
    return handle(strop::python::dtype_object(dtype)).inc_ref();
  }
};
template <>
struct type_caster<strop::Shape> {
  NB_TYPE_CASTER(strop::Shape, const_name("tuple"))
  bool from_python(handle src, std::uint32_t, cleanup_list*) noexcept {
    try {
      const std::optional<strop::Shape> shape = strop::python::shape_of(src.ptr());
      if (shape) value = *shape;
      return shape.has_value();
    } catch (...) {
      return false;
    }
  }
  static handle from_cpp(const strop::Shape& shape, rv_policy, cleanup_list*) noexcept {
    return strop::python::shape_tuple(shape);
  }
};

}  // namespace nanobind::detail
