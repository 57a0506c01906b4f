// SPDX-License-Identifier: Apache-2.0
/// \file
/// The CPU and GPUs.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/memory/gpu.hpp>
#include <strop/op/devices.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/device_work.hpp>

namespace strop::inline v0::detail {

STROP_IMPL void fail_without_kernel(const Entry& entry, Device device) {
  fail(entry.snake, ": has no kernel for ", to_text(device), " in this program",
       !entry.is_map()                 ? ""
       : entry.slot == nullptr         ? ", as forward mode has none"
       : gpu_kernels(entry) == nullptr ? "; name the operator in a .cu file"
                                       : ", as its parameters are not trivially copyable");
}

STROP_IMPL void run_map_on_gpu(const Entry& entry, const void* op, Device device, const Shape& common,
                               Span<const MapOperand> in, Span<const MapOperand> out) {
  const Kernels* const kernels = gpu_kernels(entry);
  const Kernels::Map run = kernels != nullptr ? kernels->map[entry.order] : nullptr;
  if (run == nullptr) fail_without_kernel(entry, device);
  List<Request, 8> requests(out.size());
  for (Index i = 0; i < out.size(); ++i) requests[i] = out[i].request;
  Cuda context(device, requests.span(), call_mode.training);
  context.use_stream(memory::detail::current_stream(device).handle());
  // A kernel loads operands of one type.
  Dtype stored = in.empty() ? out[0].dtype : stored_type(entry, in.size(), [&](Index i) { return in[i].dtype; });
  if (takes_as_double(entry, op, stored)) stored = f64;
  for (const MapOperand& x : in)
    if (!is_floating(stored) && x.dtype != stored) stored = i64;
  List<MapOperand, 4> x(in.size()), y(out.size());
  List<NDArray, 4> copies;
  const auto as_stored = [&](const MapOperand& given, bool read) {
    if (given.dtype == stored || given.data == nullptr)
      return MapOperand{given.data, stored, given.shape, given.request};
    copies.push_back(NDArray::fresh(given.shape, stored, device));
    const NDArray& copy = copies.back();
    if (read) convert_elements_on(device, given.dtype, given.data, stored, copy.bytes(), given.shape.size());
    return MapOperand{copy.bytes(), stored, given.shape, given.request};
  };
  for (Index i = 0; i < in.size(); ++i) x[i] = as_stored(in[i], true);
  for (Index k = 0; k < out.size(); ++k)
    y[k] = out[k].request == Request::null ? out[k] : as_stored(out[k], out[k].request == Request::add);
  run({entry, op, stored, common, x.span(), y.span()}, context);
  for (Index k = 0; k < out.size(); ++k)
    if (y[k].data != out[k].data)
      convert_elements_on(device, stored, y[k].data, out[k].dtype, out[k].data, out[k].shape.size());
}

STROP_IMPL void run_on_stream(const Plan& plan, Inputs in, Span<NDArray> out, void (*run)(void*), void* with) {
  DeviceWork work(plan.device);
  const auto writes = [&] {
    for (const NDArray& a : out) work.writes(a);
    for (int i : plan.mutated) work.writes(*in[i]);
  };
  for (const NDArray* a : in) work.reads(*a);
  writes();
  run(with);
  writes();  // what was made or replaced meanwhile
}

inline constexpr DeviceBackend cpu_backend{
    [](const Entry& entry) { return &entry.cpu; },
    [](const Entry& entry, const void* op, Device, const Shape& common, Span<const MapOperand> in,
       Span<const MapOperand> out) { run_map(entry, op, common, in, out); },
    [](Device device, Span<const Request> requests, void (*use)(void*, Context&), void* with) {
      Cpu context(device, requests, call_mode.training);
      use(with, context);
    },
    nullptr, true};

inline constexpr DeviceBackend gpu_backend{
    &gpu_kernels, &run_map_on_gpu,
    [](Device device, Span<const Request> requests, void (*use)(void*, Context&), void* with) {
      Cuda context(device, requests, call_mode.training);
      context.use_stream(memory::detail::current_stream(device).handle());
      use(with, context);
    },
    &run_on_stream, false};

STROP_IMPL const DeviceBackend& backend_of(Device device) {
  return device.kind == DeviceKind::gpu ? gpu_backend : cpu_backend;
}

STROP_IMPL Kernels::Run kernel_of(const Entry& entry, Device device, bool sparse) {
  const Kernels* const kernels = backend_of(device).kernels(entry);
  const auto order = static_cast<std::size_t>(entry.order);
  if (kernels != nullptr && order < std::size(kernels->run)) {
    if (sparse && kernels->run_sparse[order] != nullptr) return kernels->run_sparse[order];
    if (kernels->run[order] != nullptr) return kernels->run[order];
  }
  fail(entry.snake, ": has no kernel for ", device == cpu() ? "the CPU" : to_text(device),
       device == cpu() ? "" : " in this program");
}

STROP_IMPL bool serves_sparse(const Plan& plan) {
  if (backend_of(plan.device).defers || plan.route == Route::pattern) return true;
  // A gradient that is not zero where nothing is stored: nobody could convert what the call before it has kept.
  if (plan.entry->is_map() && plan.entry->order > 0) return true;
  const Kernels* const kernels = backend_of(plan.device).kernels(*plan.entry);
  return !plan.entry->is_map() && kernels != nullptr && !plan.dense_copies &&
         kernels->run_sparse[plan.entry->order] != nullptr;
}

}  // namespace strop::inline v0::detail
