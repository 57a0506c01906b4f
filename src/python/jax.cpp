// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators in programs of JAX: one handler of XLA's foreign function interface serves all of them, by name.
#include "schema.hpp"
#include "xla.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <strop/autograd/backward.hpp>
#include <strop/op/gradient_roles.hpp>
#include <strop/op/map_run.hpp>
#include <strop/op/plan.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace strop::python {
namespace {

using detail::List;
using detail::Ref;

/// What stands between the parameters in an attribute.
constexpr char between = '\x1f';

/// The entry of an operator's gradient of that order, the operator itself for 0; null where there is none.
const Entry* entry_of_order(const Entry& entry, int order) {
  const Entry* e = &entry;
  for (; order > 0 && e != nullptr; --order) e = e->gradient.entry;
  return e;
}

// --- the handler ----------------------------------------------------------------------------------------------------

/// What one call runs. Programs that JAX has compiled, or read from a file, know it by text alone.
struct Prepared {
  const Entry* entry;  // of a map's gradient that gradient's
  Ref<ParamBox> params;
  int heads;  // of a recorded call that gives the inputs' gradients for so many of results; 0: the operator itself
};

Prepared prepare(std::string_view name, std::string_view what, std::string_view params) {
  const Entry& entry = detail::find_operator(name);
  std::vector<std::pair<std::string_view, std::string_view>> said;
  while (!params.empty()) {
    const std::string_view one = params.substr(0, params.find(between));
    params.remove_prefix(std::min(params.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    said.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  const bool transposed = what.starts_with("vjp");
  std::int64_t number = 0;
  if (!detail::parse_integer(what.substr(transposed ? 3 : 0), number) || number < 0 || number > 1 << 16)
    fail(name, ": '", what, "' is nothing that strop's handler does");
  const Entry* const run = transposed ? &entry : entry_of_order(entry, static_cast<int>(number));
  if (run == nullptr) fail(name, ": has no gradient of order ", what);
  return {run, detail::parse_params(entry, said), transposed ? static_cast<int>(number) : 0};
}

const Prepared& prepared(std::string_view name, std::string_view what, std::string_view params) {
  static std::map<std::string, Prepared, std::less<>> known;
  static detail::ForkMutex mutex;
  const std::string key = cat(name, between, what, between, params);
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, prepare(name, what, params)).first->second;
}

/// The same, at once where this thread has run it before: `place` tells the calls of a compiled program apart.
const Prepared& prepared_at(const void* place, std::string_view name, std::string_view what, std::string_view params) {
  struct Seen {
    std::string name, what, params;
    const Prepared* call = nullptr;
  };
  static thread_local Seen all[16];
  Seen& seen = all[reinterpret_cast<std::uintptr_t>(place) / 16 % 16];
  if (seen.call == nullptr || seen.name != name || seen.params != params || seen.what != what)
    seen = {std::string(name), std::string(what), std::string(params), &prepared(name, what, params)};
  return *seen.call;
}

/// The type of elements by XLA's number.
Dtype dtype_of(int number) {
  switch (number) {
    case 1:
      return boolean;
    case 2:
      return i8;
    case 4:
      return i32;
    case 5:
      return i64;
    case 6:
      return u8;
    case 10:
      return f16;
    case 11:
      return f32;
    case 12:
      return f64;
    case 16:
      return bf16;
    default:
      fail("strop: a buffer of XLA's type ", number,
           ", expected float16, bfloat16, float32, float64, uint8, int8, int32, int64 or bool");
  }
}
Shape shape_of(const xla::Buffer& buffer) {
  Shape shape;
  for (std::int64_t axis = 0; axis < buffer.rank; ++axis) shape.push_back(buffer.extents[axis]);
  return shape;
}
const xla::Buffer& buffer_of(const xla::Buffers& all, std::int64_t i) {
  return *static_cast<const xla::Buffer*>(all.buffers[i]);
}
/// An array over a buffer, which outlives it.
NDArray array_over(const xla::Buffer& buffer) {
  const Shape shape = shape_of(buffer);
  const Dtype dtype = dtype_of(buffer.dtype);
  NDArray made = NDArray::shell(shape, dtype);
  made.body().buffer = Ref(
      new detail::Buffer(cpu(), detail::byte_count(shape, dtype), buffer.data, [](void*, void*) noexcept {}, nullptr));
  return made;
}

/// Runs a map whose buffers are few elements of one shape and of the type that it computes in; false where they are
/// not.
bool run_at_once(const Prepared& call, const xla::Frame& frame) {
  constexpr std::int64_t most = 16;
  const auto [inputs, results] = std::pair(frame.arguments.size, frame.results.size);
  if (inputs < 1 || inputs + results > most || call.entry->whole != 0) return false;
  const xla::Buffer& first = buffer_of(frame.arguments, 0);
  const Dtype type = dtype_of(first.dtype);
  if (!is_floating(type) || detail::compute_type(*call.entry, call.params->get(), type) != type) return false;
  std::int64_t count = 1;
  for (std::int64_t axis = 0; axis < first.rank; ++axis) count *= first.extents[axis];
  if (count > detail::map_grain) return false;
  const void* x[most];
  void* y[most];
  const auto is_like = [&](const xla::Buffer& one) {
    return one.dtype == first.dtype &&
           std::equal(one.extents, one.extents + one.rank, first.extents, first.extents + first.rank);
  };
  for (std::int64_t i = 0; i < inputs + results; ++i) {
    const xla::Buffer& one = i < inputs ? buffer_of(frame.arguments, i) : buffer_of(frame.results, i - inputs);
    if (!is_like(one)) return false;
    if (i < inputs)
      x[i] = one.data;
    else
      y[i - inputs] = one.data;
  }
  (type == f32 ? call.entry->loops.f32 : call.entry->loops.f64)(call.params->get(), x, y, count);
  return true;
}

void run_tensors_on(const Prepared& call, const xla::Frame& frame) {
  const pause nothing_is_recorded;
  std::vector<NDArray> in;
  for (std::int64_t i = 0; i < frame.arguments.size; ++i) in.push_back(array_over(buffer_of(frame.arguments, i)));
  List<const NDArray*, 8> given;
  for (const NDArray& one : in) given.push_back(&one);
  const int count =
      detail::count_outputs(*call.entry, call.params->get(), static_cast<int>(frame.arguments.size)).first;
  List<NDArray, 4> out(count);
  List<Request, 4> requests;
  for (int k = 0; k < count; ++k) {  // those that no caller sees are made here
    if (k < frame.results.size) out[k] = array_over(buffer_of(frame.results, k));
    requests.push_back(Request::write);
  }
  detail::dispatch(*call.entry, call.params->get(), given.span(), out.span(), requests.span(), {});
}

void run_map_on(const Prepared& call, const xla::Frame& frame) {
  if (call.entry->outputs != frame.results.size) return run_tensors_on(call, frame);
  if (run_at_once(call, frame)) return;
  const auto operands = [](const xla::Buffers& buffers) {
    List<detail::MapOperand, 4> all;
    for (std::int64_t i = 0; i < buffers.size; ++i) {
      const xla::Buffer& one = buffer_of(buffers, i);
      all.push_back({static_cast<std::byte*>(one.data), dtype_of(one.dtype), shape_of(one), Request::write});
    }
    return all;
  };
  const auto in = operands(frame.arguments), out = operands(frame.results);
  detail::run_map(*call.entry, call.params->get(), out[0].shape, in.span(), out.span());
}

/// Arguments are the head gradients, then the inputs; results are the gradients of the inputs of floating types.
void run_transposed_on(const Prepared& call, const xla::Frame& frame) {
  std::vector<NDArray> all, heads;
  for (std::int64_t i = 0; i < frame.arguments.size; ++i) all.push_back(array_over(buffer_of(frame.arguments, i)));
  const auto visible = static_cast<std::size_t>(call.heads);
  const int inputs = static_cast<int>(frame.arguments.size) - call.heads;
  const int outputs = detail::count_outputs(*call.entry, call.params->get(), inputs).first;
  List<const NDArray*, 8> in;
  std::int64_t next = 0;
  for (std::size_t i = visible; i < all.size(); ++i) {
    in.push_back(&all[i]);
    if (!is_floating(all[i].dtype())) continue;
    const xla::Buffer& result = buffer_of(frame.results, next++);
    const NDArray gradient = array_over(result);
    detail::clear_bytes(result.data, gradient.size() * size_of(gradient.dtype()));  // where no gradient arrives
    const Ref<detail::Leaf> leaf(new detail::Leaf);
    leaf->request = GradRequest::write;
    leaf->gradient = gradient;
    detail::hang_leaf(all[i], leaf);
  }
  List<NDArray, 4> out(outputs);
  {
    const record history(false);
    detail::dispatch(*call.entry, call.params->get(), in.span(), out.span(), {}, {});
  }
  backward(std::span<const NDArray>(out.begin(), visible), std::span<const NDArray>(all.data(), visible));
}

xla::Error* answer_metadata(const xla::Frame& frame) {
  xla::Metadata& metadata = *reinterpret_cast<xla::MetadataExtension*>(frame.extensions)->metadata;
  // The structs above are those of every version 0: the host's own is the one that it takes.
  const bool known = frame.api != nullptr && frame.api->version.major == 0;
  metadata.version = {sizeof(xla::Version), nullptr, 0, known ? frame.api->version.minor : 1};
  metadata.traits = 0;
  return nullptr;
}

xla::Error* error_of(const xla::Frame& frame, xla::Code code, const char* message) {
  xla::ErrorArguments arguments{sizeof(xla::ErrorArguments), nullptr, message, code};
  return frame.api->create_error(&arguments);
}

/// The handler. It runs on threads of XLA's, which know nothing of Python.
xla::Error* handle(xla::Frame* frame) noexcept {
  if (frame->extensions != nullptr && frame->extensions->type == xla::metadata_extension)
    return answer_metadata(*frame);
  try {
    if (frame->struct_size < sizeof(xla::Frame) || frame->stage != xla::execute_stage)
      fail("strop: XLA calls a handler otherwise than its interface of version 0 says");
    std::string_view name, what, params;
    for (std::int64_t i = 0; i < frame->attributes.size; ++i) {
      if (frame->attributes.types[i] != xla::string_attribute) continue;
      const auto text = [](const void* bytes) {
        return std::string_view(static_cast<const xla::Bytes*>(bytes)->data,
                                static_cast<const xla::Bytes*>(bytes)->size);
      };
      const std::string_view key = text(frame->attributes.names[i]), value = text(frame->attributes.values[i]);
      if (key == "op") name = value;
      if (key == "what") what = value;
      if (key == "params") params = value;
    }
    const Prepared& call = prepared_at(frame->attributes.values, name, what, params);
    if (call.heads != 0)
      run_transposed_on(call, *frame);
    else
      call.entry->is_map() ? run_map_on(call, *frame) : run_tensors_on(call, *frame);
    return nullptr;
  } catch (const Error& error) {
    return error_of(*frame, xla::Code::invalid_argument, error.what());
  } catch (const std::exception& error) {
    return error_of(*frame, xla::Code::internal, error.what());
  }
}

// --- what Python asks when it traces --------------------------------------------------------------------------------

/// (the operator's name as it was asked for, its parameters as an attribute's text, whether it is a map).
nb::tuple describe_call(const char* name, const nb::dict& given) {
  const Schema& schema = schema_of(detail::find_operator(name));
  const Entry& entry = schema.entry;
  if (entry.mutates)
    refuse(Kind::type, "jax.op: ", entry.snake, " writes its inputs, which JAX's arrays do not permit");
  if (entry.found != 0) refuse(Kind::type, "jax.op: the shape of what ", entry.snake, " gives follows from its data");
  if (entry.cpu.make_state != nullptr)
    refuse(Kind::type, "jax.op: ", entry.snake, " keeps a state between forward and backward");
  const Ref<ParamBox> params = params_of(schema, given);
  std::string text;
  const std::size_t fields = entry.params != nullptr ? entry.params->fields.size() : 0;
  for (std::size_t i = 0; i < fields; ++i) {
    const std::string value = entry.params->print(params->get(), i);
    if (entry.params->missing(schema.defaults.get(), i) || value != entry.params->print(schema.defaults.get(), i))
      text += cat(text.empty() ? "" : std::string(1, between), entry.params->fields[i].name, "=", value);
  }
  return nb::make_tuple(to_text(name), to_text(text), entry.is_map());
}

/// [(shape, dtype)] of what a caller sees of a call on arrays of these shapes and types.
nb::list infer_call(const std::string& name, const std::string& params, const std::vector<Shape>& shapes,
                    const std::vector<Dtype>& types) {
  const Prepared& call = prepared(name, "0", params);
  const Entry& entry = *call.entry;
  const void* const op = call.params->get();
  if (entry.resources != nullptr && entry.resources(op, shapes).random)
    refuse(Kind::type, "jax.op: ", entry.snake, " draws random numbers, which JAX makes from keys");
  std::vector<NDArray> arrays;
  for (std::size_t i = 0; i < shapes.size(); ++i) arrays.emplace_back(shapes[i], types[i]);
  List<const NDArray*, 8> in;
  for (const NDArray& one : arrays) in.push_back(&one);
  const auto [outputs, visible] = detail::count_outputs(entry, op, static_cast<int>(in.size()));
  const List<NDArray, 4> out(outputs);
  const detail::Plan plan = detail::resolve(entry, op, in.span(), out.span(), {});
  nb::list all;
  for (int k = 0; k < visible; ++k)
    all.append(nb::make_tuple(nb::steal(shape_tuple(plan.shapes[k])), nb::borrow(dtype_object(plan.types[k]))));
  return all;
}

/// The gradient of that order of a map: (tensors that it takes, inputs that it gives gradients of). A tensor is (what,
/// position), where `what` is 0 for head gradients, 1 for inputs, 2 for outputs. Both are empty where the gradient is
/// 0. None where there is none.
nb::object gradient_of(const std::string& name, int order, int inputs, int outputs) {
  const Entry* const entry = entry_of_order(detail::find_operator(name), order);
  if (entry == nullptr || (entry->gradient.entry == nullptr && !entry->gradient.zero)) return nb::none();
  nb::list takes, gives;
  if (!entry->gradient.zero) {
    const detail::GradientRoles roles = detail::gradient_roles(entry->gradient, inputs, outputs);
    for (const detail::GradientArgument& one : roles.takes)
      takes.append(nb::make_tuple(one.role == detail::Role::head ? 0 : one.role == detail::Role::in ? 1 : 2, one.at));
    for (const int one : roles.gives) gives.append(one);
  }
  return nb::make_tuple(takes, gives);
}

/// Whether a tensor operator's results have a gradient: 0 none, 1 one that is 0 everywhere, 2 one.
int has_gradient(const std::string& name) {
  const detail::GradientRule& rule = detail::find_operator(name).gradient;
  return rule.entry != nullptr || rule.compose != nullptr ? 2 : rule.zero || rule.constant ? 1 : 0;
}

}  // namespace

void add_jax(nb::module_& module) {
  nb::module_ jax = module.def_submodule("_jax");
  jax.def("describe_call", &describe_call);
  jax.def("infer_call", &infer_call);
  jax.def("gradient_of", &gradient_of);
  jax.def("has_gradient", &has_gradient);
  jax.def("handler", [] { return nb::steal(PyCapsule_New(reinterpret_cast<void*>(&handle), nullptr, nullptr)); });
}

}  // namespace strop::python
