// SPDX-License-Identifier: Apache-2.0
/// \file
/// The functions of strop/library/layout.h as a library of operators has them: from C into its entries.
#pragma once
#include <strop/library/layout.h>
#include <strop/core/list.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/map_infer.hpp>
#include <strop/op/plan.hpp>
#include <strop/op/target.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/convert.hpp>

#include <cstddef>
#include <cstring>
#include <exception>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail::exported {

inline strop_text text_of(std::string_view text) { return {text.data(), static_cast<std::int64_t>(text.size())}; }
inline void put(strop_sink to, std::string_view text) {
  to.put(to.to, text.data(), static_cast<std::int64_t>(text.size()));
}

/// What f gives, or strop_failed and the sentence of what it throws.
template <class F>
std::int32_t guarded(strop_sink error, F f) noexcept {
  try {
    return f();
  } catch (const std::exception& failure) {
    put(error, failure.what());
  } catch (...) {
    put(error, "something that is no std::exception was thrown");
  }
  return strop_failed;
}

inline const Entry& entry_of(const strop_operator* self) { return *static_cast<const Entry*>(self->own); }

inline std::vector<Shape> shapes_of(std::int32_t count, const strop_shape* shapes) {
  std::vector<Shape> out;
  for (std::int32_t i = 0; i < count; ++i)
    out.push_back(shapes[i].rank < 0 ? Shape::unknown()
                                     : Shape(Span<const std::int64_t>(shapes[i].extent, shapes[i].rank)));
  return out;
}
inline void write_shape(std::string_view op, const Shape& shape, strop_shape& to) {
  to.rank = shape.has_rank() ? shape.ndim() : strop_unknown;
  if (to.rank > strop_most_dimensions)
    fail(op, ": a shape has ", to.rank, " dimensions, expected at most ", int{strop_most_dimensions});
  for (int k = 0; k < to.rank; ++k) to.extent[k] = shape[k];
}

// Parameters.
inline const ValueType& type_of(const strop_parameter* self) { return *static_cast<const ValueType*>(self->own); }
inline std::int32_t parse(const strop_parameter* self, void* value, strop_text text) {
  try {
    return type_of(self).parse(type_of(self), value, {text.data, static_cast<std::size_t>(text.size)}) ? strop_yes
                                                                                                       : strop_no;
  } catch (...) {
    return strop_no;
  }
}
inline void print(const strop_parameter* self, const void* value, strop_sink to) {
  put(to, type_of(self).print(type_of(self), value));
}
inline std::int32_t number(const strop_parameter* self, const void* value, double* number) {
  const ValueType& type = type_of(self);
  const std::optional<double> found = type.number != nullptr ? type.number(type, value) : std::nullopt;
  *number = found.value_or(0);
  return found ? strop_yes : strop_no;
}
inline std::int32_t missing(const strop_parameter* self, const void* value) {
  const ValueType& type = type_of(self);
  return type.missing != nullptr && type.missing(type, value) ? strop_yes : strop_no;
}
inline void construct(const strop_operator* self, void* object) {
  const ParamTable& table = *entry_of(self).params;
  table.construct(table, object);
}
inline void copy(const strop_operator* self, void* to, const void* from) {
  const ParamTable& table = *entry_of(self).params;
  table.copy(table, to, from);
}
inline void destroy(const strop_operator* self, void* object) {
  const ParamTable& table = *entry_of(self).params;
  table.destroy(table, object);
}
inline void* at(const strop_operator* self, void* object, std::int64_t parameter) {
  const ParamTable& table = *entry_of(self).params;
  return table.at(table, object, static_cast<std::size_t>(parameter));
}

inline std::int32_t signature(const strop_operator* self, const void* params, std::int32_t given,
                              const strop_signature* to, strop_sink error) {
  return guarded(error, [&]() -> std::int32_t {
    const Signature s = signature_of(entry_of(self), params, given);
    for (const std::string_view name : s.inputs) to->name(to->to, 0, text_of(name));
    for (const std::string_view name : s.outputs) to->name(to->to, 1, text_of(name));
    for (const int i : s.mutated) to->written(to->to, i);
    to->visible(to->to, s.visible);
    return strop_done;
  });
}

inline std::int32_t infer_shape(const strop_operator* self, const void* params, std::int32_t inputs, strop_shape* in,
                                std::int32_t outputs, strop_shape* out, strop_sink error) {
  return guarded(error, [&]() -> std::int32_t {
    const Entry& entry = entry_of(self);
    std::vector<Shape> x = shapes_of(inputs, in), y = shapes_of(outputs, out);
    const CallLabels named{entry, params, inputs};
    const CallNames names = named.names();
    Shapes shapes(names, x, y);
    entry.infer_shape(params, shapes);
    for (std::int32_t i = 0; i < inputs; ++i) write_shape(entry.snake, element(x, i), in[i]);
    for (std::int32_t i = 0; i < outputs; ++i) write_shape(entry.snake, element(y, i), out[i]);
    return strop_done;
  });
}

inline std::int32_t infer_type(const strop_operator* self, const void* params, std::int32_t inputs, std::int32_t* in,
                               std::int32_t outputs, std::int32_t* out, strop_sink error) {
  return guarded(error, [&]() -> std::int32_t {
    const auto read = [](std::int32_t count, const std::int32_t* types) {
      detail::List<std::optional<Dtype>> list(count);
      for (Index i = 0; i < list.size(); ++i)
        if (types[i] != strop_unknown) list[i] = static_cast<Dtype>(types[i]);
      return list;
    };
    const auto write = [](const List<std::optional<Dtype>>& list, std::int32_t* types) {
      for (Index i = 0; i < list.size(); ++i)
        types[i] = list[i] ? static_cast<std::int32_t>(*list[i]) : std::int32_t{strop_unknown};
    };
    const Entry& entry = entry_of(self);
    List<std::optional<Dtype>> x = read(inputs, in), y = read(outputs, out);
    const CallLabels named{entry, params, inputs};
    const CallNames names = named.names();
    Types types(names, x, y);
    entry.infer_type(params, types);
    write(x, in);
    write(y, out);
    return strop_done;
  });
}

inline std::int32_t infer_storage(const strop_operator* self, const void* params, std::int32_t inputs,
                                  const std::int32_t* in, std::int32_t outputs, std::int32_t* out, strop_sink error) {
  return guarded(error, [&]() -> std::int32_t {
    const Entry& entry = entry_of(self);
    std::vector<Storage> x;
    bool sparse = false;
    for (std::int32_t i = 0; i < inputs; ++i) {
      x.push_back(static_cast<Storage>(in[i]));
      sparse = sparse || x.back() != dense;
    }
    // What is written among the inputs may get another structure, which stays on this side.
    if (sparse && entry.mutates) return strop_no;
    detail::List<std::optional<Storage>> y(outputs);
    for (Index i = 0; i < y.size(); ++i)
      if (out[i] != strop_unknown) y[i] = static_cast<Storage>(out[i]);
    Storages storages(x, y, cpu());
    const bool native = entry.is_map() ? entry.facts.storage(params, storages) : entry.infer_storage(params, storages);
    for (Index i = 0; i < y.size(); ++i) out[i] = y[i] ? static_cast<std::int32_t>(*y[i]) : std::int32_t{strop_unknown};
    return native ? strop_yes : strop_no;
  });
}

inline std::uint64_t kept(const strop_operator* self, const void* params, std::int32_t dtype) {
  return entry_of(self).facts.kept(params, static_cast<Dtype>(dtype));
}
inline std::int32_t zero(const strop_operator* self, const void* params, std::int32_t dtype, std::uint64_t zeros) {
  return entry_of(self).facts.zero(params, static_cast<Dtype>(dtype), zeros) ? strop_yes : strop_no;
}
inline std::int32_t operations_of_element(const strop_operator* self, const void* params) {
  return entry_of(self).facts.operations(params);
}
inline std::int32_t integers_as_double(const strop_operator* self, const void* params) {
  return entry_of(self).facts.as_double(params) ? strop_yes : strop_no;
}
inline std::int32_t takes(const strop_operator* self, std::int32_t dtype) {
  return entry_of(self).takes(static_cast<Dtype>(dtype)) ? strop_yes : strop_no;
}
inline std::int32_t resources(const strop_operator* self, const void* params, std::int32_t inputs,
                              const strop_shape* in, std::int32_t* random, std::int64_t* temp_bytes, strop_sink error) {
  return guarded(error, [&]() -> std::int32_t {
    const Resources needed = entry_of(self).resources(params, shapes_of(inputs, in));
    *random = needed.random ? strop_yes : strop_no;
    *temp_bytes = needed.temp_bytes;
    return strop_done;
  });
}
inline std::int32_t operations(const strop_operator* self, const void* params, std::int32_t inputs,
                               const strop_shape* in, double* count, strop_sink error) {
  return guarded(error, [&]() -> std::int32_t {
    *count = entry_of(self).operations(params, shapes_of(inputs, in));
    return strop_done;
  });
}

inline std::int32_t make_state(const strop_operator* self, const void* params, std::int32_t inputs,
                               const strop_shape* in, std::int32_t train, void** state, strop_sink error) {
  return guarded(error, [&]() -> std::int32_t {
    Cpu ctx(cpu(), {}, train != 0);
    const Entry& entry = entry_of(self);
    const std::vector<Shape> shapes = shapes_of(inputs, in);
    if (entry.resources != nullptr && entry.resources(params, shapes).random) ctx.use_random(random::next(cpu()));
    const Ref<StateBox> made = entry.cpu.make_state(params, ctx, shapes);
    made->retain();
    *state = made.get();
    return strop_done;
  });
}
inline void free_state(const strop_operator*, void* state) {
  const StateBox* const box = static_cast<StateBox*>(state);
  if (box->drop()) delete box;
}

// Arrays over the memory of the program.
inline Ref<Buffer> memory_of(void* data, std::int64_t bytes) {
  return Ref(new Buffer(cpu(), bytes, data, [](void*, void*) noexcept {}, nullptr));
}
inline NDArray list_of(std::int64_t* data, std::int64_t count) {
  NDArray out = NDArray::shell(Shape{count}, i64);
  out.body().buffer = memory_of(data, count * 8);
  return out;
}
inline NDArray array_of(const strop_tensor& t) {
  if (t.shape == nullptr) return {};
  const Shape shape(Span<const std::int64_t>(t.shape, t.rank));
  const auto type = static_cast<Dtype>(t.dtype);
  const auto storage = static_cast<Storage>(t.storage);
  NDArray out = NDArray::shell(shape, type, cpu(), storage);
  if (storage == dense) {
    if (t.data != nullptr) out.body().buffer = memory_of(t.data, shape.size() * size_of(type));
  } else if (t.indices != nullptr) {
    const std::int64_t width = storage == csr ? 1 : shape.size(1, shape.ndim());
    out.body().buffer = memory_of(t.data, t.stored * width * size_of(type));
    out.body().indices = list_of(t.indices, t.stored).body_ref();
    if (storage == csr) out.body().indptr = list_of(t.indptr, shape[0] + 1).body_ref();
  } else {
    out.allocate_stored(0);
  }
  return out;
}
/// Copies the result of a call to where the program wants it, if it is not there.
inline void hand_over(const strop_call* call, const Entry& entry, std::int32_t k, const NDArray& made) {
  const strop_tensor& to = *call->out[k];
  if (is_found(entry, k) && made.allocated()) {
    const std::uint64_t reaches = offsetof(strop_call, make_found) + sizeof call->make_found;
    if (call->size < reaches)
      fail(entry.snake, ": has a result whose shape follows from the data, which a later strop loads");
    if (call->make_found(call->host, k, made.ndim(), made.shape().data()) != strop_done)
      fail(entry.snake, ": there is no memory for a result of shape ", made.shape());
  }
  const auto move = [](const NDArray& from, void* target) {
    const auto size = static_cast<std::size_t>(from.stored() * size_of(from.dtype()));
    if (size != 0 && from.bytes() != static_cast<const std::byte*>(target)) std::memcpy(target, from.bytes(), size);
  };
  if (made.storage() == dense) {
    if (to.data != nullptr) move(made, to.data);
    return;
  }
  const auto lies_at = [](const NDArray& list, const std::int64_t* there) {
    return list.pointer<const std::int64_t>() == there;
  };
  const bool in_place = to.stored == made.nnz() && to.data == made.bytes() && lies_at(made.indices(), to.indices) &&
                        (made.storage() != csr || lies_at(made.indptr(), to.indptr));
  if (in_place) return;
  if (call->make_room(call->host, k, made.nnz()) != strop_done) fail("there is no memory for a sparse result");
  move(made, to.data);
  move(made.indices(), to.indices);
  if (made.storage() == csr) move(made.indptr(), to.indptr);
}

inline std::int32_t run(const strop_operator* self, const strop_call* call, strop_sink error) {
  return guarded(error, [&]() -> std::int32_t {
    const Entry& entry = entry_of(self);
    std::vector<NDArray> in, out;
    std::vector<const NDArray*> pointers;
    std::vector<Request> requests;
    for (std::int32_t i = 0; i < call->inputs; ++i) in.push_back(array_of(*call->in[i]));
    for (const NDArray& a : in) pointers.push_back(&a);
    for (std::int32_t k = 0; k < call->outputs; ++k) {
      out.push_back(array_of(*call->out[k]));
      requests.push_back(static_cast<Request>(call->requests[k]));
      if (requests.back() == Request::add) adding();
    }
    Cpu ctx(cpu(), requests, call->train != 0);
    if (entry.resources != nullptr) {
      std::vector<Shape> shapes;
      for (const NDArray& a : in) shapes.push_back(a.defined() ? a.shape() : Shape{});
      ctx.reserve(entry.resources(call->params, shapes).temp_bytes);
    }
    std::optional<random::Stream> stream;
    if (call->random != 0) stream = random::Stream{call->random_seed, 0, call->random_call};
    ctx.use_random(stream);
    if (call->state != nullptr) ctx.use_state(static_cast<StateBox*>(call->state)->get());
    const Kernels::Run sparse = entry.cpu.run_sparse[entry.order], dense_run = entry.cpu.run[entry.order];
    bool any = dense_run == nullptr;
    for (const NDArray& a : in) any = any || a.storage() != dense;
    for (const NDArray& a : out) any = any || a.storage() != dense;
    (any && sparse != nullptr ? sparse : dense_run)({entry, call->params, pointers, out, requests}, ctx);
    for (std::int32_t k = 0; k < call->outputs; ++k)
      if (element(requests, k) != Request::null) hand_over(call, entry, k, element(out, k));
    return strop_done;
  });
}

// A gradient that is written with operators, as an operator: `own` is the entry whose gradient it is.
inline std::int32_t composed_signature(const strop_operator* self, const void*, std::int32_t given,
                                       const strop_signature* to, strop_sink) {
  for (std::int32_t i = 0; i < given; ++i) to->name(to->to, 0, text_of("argument"));
  for (std::int32_t i = 0; i < self->outputs; ++i) to->name(to->to, 1, text_of("gradient"));
  to->visible(to->to, self->outputs);
  return strop_done;
}
/// The shapes and types of gradients are those of the inputs: whoever asks for them says them.
inline std::int32_t composed_shape(const strop_operator*, const void*, std::int32_t inputs, strop_shape* in,
                                   std::int32_t outputs, strop_shape* out, strop_sink) {
  for (std::int32_t k = 0; k < outputs; ++k)
    if (out[k].rank == strop_unknown && inputs > 0) out[k] = in[0];
  return strop_done;
}
inline std::int32_t composed_type(const strop_operator*, const void*, std::int32_t inputs, std::int32_t* in,
                                  std::int32_t outputs, std::int32_t* out, strop_sink) {
  for (std::int32_t k = 0; k < outputs; ++k)
    if (out[k] == strop_unknown && inputs > 0) out[k] = in[0];
  return strop_done;
}
inline std::int32_t run_composed(const strop_operator* self, const strop_call* call, strop_sink error) {
  return guarded(error, [&]() -> std::int32_t {
    const Entry& entry = entry_of(self);
    const std::uint64_t reads = entry.gradient.in;
    const auto read = [&](std::int32_t i) { return reads == every || (i < 64 && (reads >> i & 1U) != 0); };
    std::int32_t kept = 0;
    for (std::int32_t i = 0; i < call->outputs; ++i) kept += read(i) ? 1 : 0;
    std::vector<NDArray> heads, in;
    std::int32_t next = call->inputs - kept;
    for (std::int32_t i = 0; i < next; ++i) heads.push_back(array_of(*call->in[i]));
    for (std::int32_t i = 0; i < call->outputs; ++i) {
      const strop_tensor& like = *call->out[i];  // the gradient of an input has its shape and type
      if (read(i))
        in.push_back(array_of(*call->in[next++]));
      else if (like.shape == nullptr)
        in.emplace_back();
      else
        in.push_back(
            NDArray::shell(Shape(Span<const std::int64_t>(like.shape, like.rank)), static_cast<Dtype>(like.dtype)));
    }
    const std::vector<NDArray> made = entry.gradient.compose(call->params, heads, in);
    for (std::int32_t k = 0; k < call->outputs; ++k) {
      if (call->requests[k] == 0) continue;
      const NDArray to = array_of(*call->out[k]);
      const auto at = static_cast<std::size_t>(k);
      if (at < made.size() && made[at].defined()) {
        const NDArray from = cast_storage(made[at], dense);
        if (from.shape() != to.shape())
          fail(entry.snake, ": the gradient of input ", k, " has shape ", from.shape(), ", expected ", to.shape());
        convert_elements(from.dtype(), from.bytes(), to.dtype(), to.bytes(), to.size());
      } else if (to.size() != 0) {
        detail::clear_bytes(to.bytes(), to.size() * size_of(to.dtype()));
      }
    }
    return strop_done;
  });
}

}  // namespace strop::inline v0::detail::exported
