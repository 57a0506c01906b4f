// SPDX-License-Identifier: Apache-2.0
/// \file
/// The long way through the door.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/few.hpp>
#include <strop/op/add_impl.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/gpu_map.hpp>
#include <strop/op/map_infer.hpp>
#include <strop/op/map_run.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/op/turn_impl.hpp>
#include <strop/tensor/sparse.hpp>

#include <algorithm>
#include <optional>
#include <type_traits>

namespace strop::inline v0::detail {

STROP_IMPL NDArray dense_form(const NDArray& x) { return x.storage() == dense ? x : cast_storage(x, dense); }

/// A sparse array with the same pattern and values of another type.
STROP_IMPL NDArray sparse_as(const NDArray& x, Dtype type) {
  const NDArray values(Shape{x.stored()}, type, x.device());
  convert_elements_on(x.device(), x.dtype(), x.bytes(), type, values.bytes(), x.stored());
  NDArray y = NDArray::shell(x.shape(), type, x.device(), x.storage());
  y.body().buffer = values.body().buffer;
  y.body().indices = x.body().indices;
  y.body().indptr = x.body().indptr;
  return y;
}

STROP_IMPL void take_for_writing(const NDArray& a, bool whole) {
  Pending* const order = a.pending();
  if (order == nullptr || !order->busy()) return;
  if (whole) order->run({}, {&order, 1}, "overwrite", {}, Ref<Pending::Work>(new Pending::Work));
  order->wait(true);
}

STROP_IMPL void deliver(const NDArray& given, const NDArray& target, Request request) {
  NDArray made = given;
  if (target.storage() == dense) take_for_writing(target, overwrites(target, request));
  if (request == Request::add) {
    NDArray total(target.shape(), target.dtype(), target.device());
    const NDArray before = dense_form(target), after = dense_form(made);
    add_elements(before, after, total);
    made = total;
  }
  if (made.storage() != target.storage()) made = cast_storage(made, target.storage());
  if (target.storage() == dense) {
    if (made.dtype() != target.dtype()) made = on_device(made, target.device());
    if (made.device() == target.device())
      convert_elements_on(target.device(), made.dtype(), made.bytes(), target.dtype(), target.bytes(), target.size());
    else
      memory::detail::copy_bytes(target.device(), target.bytes(), made.device(), made.bytes(),
                                 target.size() * size_of(target.dtype()));
    return;
  }
  if (made.dtype() != target.dtype()) made = sparse_as(made, target.dtype());
  Body& body = target.body();
  body.buffer = made.body().buffer;
  body.offset = made.body().offset;
  body.indices = made.body().indices;
  body.indptr = made.body().indptr;
}

/// One call in the making. Everything that is not a small dense map goes through here, out of line.
class Dispatch {
 public:
  Dispatch(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out, std::span<const Request> requests,
           Site site, Ref<StateBox>* state, const Turn* turn = nullptr)
      : entry_(entry),
        op_(op),
        in_(in),
        out_(out),
        requests_(out.size()),
        shapes_(out.size()),
        types_(out.size()),
        storages_(out.size()),
        site_(site),
        state_(state),
        turn_(turn) {
    for (std::size_t i = 0; i < out.size(); ++i) requests_[i] = i < requests.size() ? requests[i] : Request::write;
  }

  void run() {
    check_params_needed();
    describe();
    check_arguments();
    infer();
    make_outputs();
    bool asked = false;
    for (Request r : requests_) asked = asked || r != Request::null;
    if (!asked) return;
    Standing standing;
    for (const NDArray* a : in_) standing.see(*a);
    for (const NDArray& a : out_) standing.see(a);
    if (standing.busy || (is_handed_over(standing.elements) && !standing.foreign)) {
      if (may_wait_its_turn()) return run_in_turn(standing.foreign);
      take_outputs();
    }
    if (entry_.is_map())
      run_as_map();
    else
      run_as_tensors();
  }

 private:
  /// What is not dense has its structure only once it is computed; a state belongs to the call.
  bool may_wait_its_turn() const {
    for (const NDArray* a : in_)
      if (a->storage() != dense) return false;
    for (const NDArray& a : out_)
      if (a.storage() != dense) return false;
    if (call_mode.operation != nullptr) return false;
    return state_ == nullptr && entry_.make_state == nullptr && device_.kind == DeviceKind::cpu;
  }
  void run_in_turn(bool completes) {
    std::optional<random::Stream> drawn;
    if (resources().random) drawn = random::next(device_);  // in the order of the calls, not of the turns
    push_turn(entry_, Ref<Turn>(new Turn(entry_, op_, in_, out_, requests_, drawn)), signature_.mutated, site_,
              completes);
  }
  /// Waits until the call may write at once. What is overwritten is whole again, whatever failed before.
  void take_outputs() const {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const Pending* const order = out_[i].pending();
      bool whole = order != nullptr && overwrites(out_[i], requests_[i]);
      for (const NDArray* a : in_) whole = whole && a->pending() != order;
      take_for_writing(out_[i], whole);
    }
    for (int i : signature_.mutated) take_for_writing(in(i), false);
  }

  void check_params_needed() const {
    if (entry_.params != nullptr && entry_.params->checked) check_params(entry_.snake, *entry_.params, op_);
  }

  void describe() {
    names_.op = entry_.snake;
    names_.call = this;
    names_.describe = [](const void* call, std::vector<std::string_view>& inputs,
                         std::vector<std::string_view>& outputs) {
      Signature signature = static_cast<const Dispatch*>(call)->full_signature();
      inputs = std::move(signature.inputs);
      outputs = std::move(signature.outputs);
    };
    // Names cost more than a small operator: only what may differ from call to call is asked for.
    if (entry_.mutates || entry_.min_inputs != entry_.inputs) signature_ = full_signature();
  }

  Signature full_signature() const { return signature_of(entry_, op_, static_cast<int>(in_.size())); }

  void check_arguments() {
    const auto given = static_cast<int>(in_.size()),
               wanted = entry_.min_inputs == entry_.inputs ? entry_.inputs : static_cast<int>(signature_.inputs.size());
    if (given != wanted && entry_.inputs >= 0) {
      std::string list;
      const Signature signature = full_signature();
      for (std::string_view name : signature.inputs) list += cat(list.empty() ? "" : ", ", name);
      fail(entry_.snake, ": takes ", wanted, wanted == 1 ? " input (" : " inputs (", list, "), ", given,
           given == 1 ? " was given" : " were given");
    }
    device_ = cpu();
    for (int i = 0; i < given; ++i) {
      const NDArray& a = in(i);
      if (!a) fail(entry_.snake, ": ", names_.input(i), " is a handle without an array");
      if (i == 0)
        device_ = a.device();
      else if (a.device() != device_)
        fail(entry_.snake, ": ", names_.input(i), " is on ", to_text(a.device()), ", expected ", to_text(device_),
             " like ", names_.input(0));
    }
    for (int i : signature_.mutated)
      if (in(i).storage() == dense && !in(i).allocated())
        fail(entry_.snake, ": ", names_.input(i), " has no memory, and the operator writes it");
    check_mutated();
    for (NDArray& a : out_)
      if (a && given == 0) device_ = a.device();
  }

  void infer() {
    const std::size_t n = in_.size(), m = out_.size();
    Few<Shape, 4> in_shapes(n);
    Few<std::optional<Dtype>, 4> in_types(n), out_types(m);
    for (std::size_t i = 0; i < n; ++i) in_shapes[i] = in_[i]->shape(), in_types[i] = in_[i]->dtype();
    for (std::size_t i = 0; i < m; ++i) {
      shapes_[i] = out_[i] ? out_[i].shape() : Shape::unknown();
      if (out_[i]) out_types[i] = out_[i].dtype();
    }
    Shapes shapes(names_, in_shapes, shapes_);
    Types types(names_, in_types, out_types);
    if (entry_.infer_shape != nullptr)
      entry_.infer_shape(op_, shapes);
    else
      infer_map_shape(entry_, shapes);
    if (entry_.infer_type != nullptr)
      entry_.infer_type(op_, types);
    else
      infer_map_type(entry_, types);
    for (std::size_t i = 0; i < m; ++i) {
      if (!shapes_[i].known())
        fail(entry_.snake, ": the shape of ", names_.output(static_cast<int>(i)), " does not follow from the inputs");
      if (!out_types[i])
        fail(entry_.snake, ": the type of ", names_.output(static_cast<int>(i)),
             " does not follow from the inputs; state a dtype");
    }
    for (std::size_t i = 0; i < m; ++i) types_[i] = *out_types[i];
    infer_storage();
  }

  void infer_storage() {
    Few<Storage, 8> in(in_.size());
    bool sparse = false;
    for (std::size_t i = 0; i < in_.size(); ++i) {
      in[i] = in_[i]->storage();
      sparse = sparse || in[i] != dense;
    }
    for (std::size_t i = 0; i < out_.size(); ++i)
      if (out_[i] && out_[i].storage() != dense) sparse = true, storages_[i] = out_[i].storage();
    if (entry_.infer_storage != nullptr) {
      Few<std::optional<Storage>, 4> out(out_.size());
      for (std::size_t i = 0; i < out_.size(); ++i)
        if (out_[i]) out[i] = out_[i].storage();
      Storages storages(in, out, device_);
      const bool native = entry_.infer_storage(op_, storages);
      for (std::size_t i = 0; i < out.size(); ++i) {
        storages_[i] = out[i].value_or(dense);
        sparse = sparse || storages_[i] != dense;
      }
      if (!native && sparse && !entry_.dense_form) fail(entry_.snake, ": has no form for ", describe_storages(in));
      if (!native && sparse) {
        why_ = "no rule of the operator serves these storages";
        dense_run_ = true;
      }
    } else if (entry_.is_map() && sparse) {
      const Dtype computed = compute_type(entry_.loops, in_.empty() ? types_[0] : in_[0]->dtype());
      how_ = infer_map_storage(entry_, op_, computed, in);
      why_ = how_.why;
      for (std::size_t i = 0; i < in_.size(); ++i)
        if (in[i] != dense && in_[i]->shape() != shapes_[0])
          how_.storage = dense, why_ = "a sparse input would be broadcast";
      for (std::size_t i = 0; i < out_.size(); ++i)
        if (!in_.empty() && how_.storage != dense && shapes_[i] != shapes_[0])
          how_.storage = dense, why_ = "a sparse result would be reduced";
      for (int i : signature_.mutated)
        if (how_.storage != dense && this->in(i).shape() != shapes_[0])
          how_.storage = dense, why_ = "a written input would be broadcast";
      for (std::size_t i = 0; i < out_.size(); ++i) {
        if (!out_[i])
          storages_[i] = how_.storage;
        else if (out_[i].storage() != how_.storage && why_.empty())
          why_ = "the result's storage differs from the array's that is to hold it";
      }
      dense_run_ = how_.storage == dense;
    } else if (sparse) {
      why_ = "the operator works on dense arrays";
      dense_run_ = true;
    }
    if (device_.kind == DeviceKind::gpu && sparse)
      fail(entry_.snake, ": ", describe_storages(in), " was asked for on ", to_text(device_),
           ", where operators work on dense arrays; convert with to(strop::dense)");
    if (!why_.empty()) note_fallback(entry_, op_, describe_storages(in), why_, site_);
  }

  std::string describe_storages(std::span<const Storage> in) const {
    std::string text = "(";
    for (std::size_t i = 0; i < in.size(); ++i) text += cat(i == 0 ? "" : ", ", name_of(in[i]));
    text += ") -> (";
    for (std::size_t i = 0; i < storages_.size(); ++i) text += cat(i == 0 ? "" : ", ", name_of(storages_[i]));
    return text + ")";
  }

  void make_outputs() {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      if (requests_[i] == Request::add && (!out_[i] || (out_[i].storage() == dense && !out_[i].allocated())))
        requests_[i] = Request::write;  // there is nothing yet to add to
      if (!out_[i]) {
        if (storages_[i] == csr && shapes_[i].ndim() != 2)
          fail(entry_.snake, ": ", names_.output(static_cast<int>(i)), " would be csr with shape ", shapes_[i],
               ", expected 2 dimensions");
        out_[i] = NDArray::shell(shapes_[i], types_[i], device_, storages_[i]);
        if (storages_[i] == dense) {
          if (requests_[i] != Request::null) out_[i].allocate();
        }
        continue;
      }
      if (out_[i].device() != device_)
        fail(entry_.snake, ": ", names_.output(static_cast<int>(i)), " is on ", to_text(out_[i].device()),
             ", the inputs are on ", to_text(device_));
      if (!out_[i].allocated() && out_[i].storage() == dense && requests_[i] != Request::null) out_[i].allocate();
      check_overlap(static_cast<int>(i));
    }
  }

  /// An output may be an input only as a whole, and where the operator allows it: a map, which writes an element after
  /// it has read it, or one that says so. Nothing else lies in memory that is written.
  void check_overlap(int k) {
    const NDArray& y = out(k);
    if (requests_[static_cast<std::size_t>(k)] == Request::null) return;
    const std::span<const std::byte> memory = memory_of(y);
    for (int j = 0; j < k; ++j)
      if (requests_[static_cast<std::size_t>(j)] != Request::null &&
          (y.is(out(j)) || overlap(memory, memory_of(out(j)))))
        fail(entry_.snake, ": ", names_.output(k), " overlaps the memory of ", names_.output(j));
    for (int i : signature_.mutated)
      if (y.is(in(i)) || overlap(memory, memory_of(in(i))))
        fail(entry_.snake, ": ", names_.output(k), " overlaps the memory of ", names_.input(i),
             ", which the operator writes");
    if (y.storage() != dense) return;
    for (int i = 0; i < static_cast<int>(in_.size()); ++i) {
      const NDArray& x = in(i);
      if (x.storage() != dense || !overlap(memory, memory_of(x))) continue;
      const bool same = x.address() == y.address() && x.shape() == y.shape() && x.dtype() == y.dtype();
      bool allowed = entry_.is_map();
      for (const Share& share : entry_.inplace) allowed = allowed || (share.input == i && share.output == k);
      if (same && allowed) continue;
      fail(entry_.snake, ": ", names_.output(k), " overlaps the memory of ", names_.input(i),
           same ? ", which this operator cannot compute in place" : " in part");
    }
  }
  void check_mutated() const {
    for (int i : signature_.mutated) {
      const std::span<const std::byte> memory = memory_of(in(i));
      for (int j = 0; j < static_cast<int>(in_.size()); ++j)
        if (j != i && (in(i).is(in(j)) || overlap(memory, memory_of(in(j)))))
          fail(entry_.snake, ": ", names_.input(i), ", which the operator writes, overlaps the memory of ",
               names_.input(j));
    }
  }

  const NDArray& in(int i) const { return *in_[static_cast<std::size_t>(i)]; }
  NDArray& out(int i) const { return out_[static_cast<std::size_t>(i)]; }

  void run_as_map() {
    if (how_.storage != dense) {
      Few<NDArray, 4> fresh(out_.size());
      Few<Request, 8> requests(out_.size());
      for (std::size_t i = 0; i < out_.size(); ++i) {
        const bool apart = needs_fresh(i, how_.storage);
        fresh[i] = apart ? NDArray::shell(shapes_[i], types_[i], device_, how_.storage) : out_[i];
        requests[i] = apart ? Request::write : requests_[i];
      }
      run_sparse_map(entry_, op_, how_, in_, signature_.mutated, fresh, requests);
      settle(fresh);
      return;
    }
    const bool on_gpu = device_.kind == DeviceKind::gpu;
    Few<NDArray, 4> inputs(in_.size()), results(out_.size());
    Few<MapOperand, 4> x(in_.size()), y(out_.size() + signature_.mutated.size());
    Shape common;
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const NDArray* a = in_[i];
      broadcast_into(common, a->shape());
      if (a->storage() == dense && !a->allocated()) {  // an input that a derived gradient does not read
        static constexpr double nothing = 0;
        auto* const unread = reinterpret_cast<std::byte*>(const_cast<double*>(&nothing));
        x[i] = {on_gpu ? nullptr : unread, a->dtype(), Shape{}, Request::write};
        continue;
      }
      inputs[i] = dense_form(*a);
      x[i] = {inputs[i].bytes(), a->dtype(), a->shape(), Request::write};
    }
    if (in_.empty()) common = shapes_[0];
    for (std::size_t i = 0; i < out_.size(); ++i) {
      NDArray target = out_[i];
      Request request = requests_[i];
      if (request != Request::null && target.storage() != dense)
        target = NDArray(shapes_[i], types_[i], device_), request = Request::write;
      y[i] = {target.bytes(), types_[i], shapes_[i], request};
      results[i] = std::move(target);
    }
    std::size_t next = out_.size();
    for (int i : signature_.mutated) {
      const auto k = static_cast<std::size_t>(i);
      y[next++] = {inputs[k].bytes(), in(i).dtype(), in(i).shape(), Request::write};
    }
    if (on_gpu)
      run_map_on_gpu(entry_, op_, device_, common, x, y);
    else
      run_map(entry_, op_, common, x, y);
    for (int i : signature_.mutated)  // states that were given sparse go back
      if (const NDArray& state = inputs[static_cast<std::size_t>(i)]; !state.is(in(i)))
        deliver(state, in(i), Request::write);
    settle(results);
  }

  void run_as_tensors() {
    const CudaLaunch::Run run_on_gpu = device_.kind == DeviceKind::gpu ? kernel_of_gpu() : nullptr;
    if (run_on_gpu == nullptr && entry_.run_cpu == nullptr) fail(entry_.snake, ": has no kernel for the CPU");
    const bool widen = needs_widening();
    Few<NDArray, 4> inputs(in_.size()), results(out_.size());
    Few<Request, 8> requests(out_.size());
    Few<const NDArray*, 8> pointers(in_.size());
    for (std::size_t i = 0; i < in_.size(); ++i) {
      inputs[i] = entry_.sparse_forms && !dense_run_ ? *in_[i] : dense_form(*in_[i]);
      if (widen) inputs[i] = widened(inputs[i]);
      pointers[i] = &inputs[i];
    }
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const Storage storage = dense_run_ ? dense : storages_[i];
      const bool half = widen && is_half(types_[i]);
      // A kernel that adds to its own input would read what it has written.
      const bool adds = requests_[i] == Request::add, once = adds && entry_.accumulates && !is_input(out_[i]);
      const bool apart = needs_fresh(i, storage) || (adds && !once) || half;
      requests[i] = apart && requests_[i] != Request::null ? Request::write : requests_[i];
      if (requests_[i] == Request::null && entry_.skips_null)
        results[i] = NDArray::shell(shapes_[i], types_[i], device_);
      else if (apart || requests_[i] == Request::null)
        results[i] = NDArray(shapes_[i], half ? f32 : types_[i], device_, storage);
      else {
        if (out_[i].storage() != dense && !out_[i].allocated()) out_[i].allocate_stored(0);
        results[i] = out_[i];
      }
    }
    const Call call{entry_, op_, pointers, results, requests};
    if (run_on_gpu != nullptr) {
      Cuda context(device_, requests, call_mode.training);
      context.use_stream(memory::detail::driver_for(device_).stream(device_));
      prepare_context(context);
      run_on_gpu(call, context);
    } else {
      Cpu context(device_, requests, call_mode.training);
      prepare_context(context);
      entry_.run_cpu(call, context);
    }
    for (int i : signature_.mutated) {  // states that were given as halves or sparse go back
      const auto k = static_cast<std::size_t>(i);
      if (!inputs[k].is(in(i))) deliver(inputs[k], in(i), Request::write);
    }
    settle(results);
  }

  CudaLaunch::Run kernel_of_gpu() const {
    const CudaLaunch* const launch = launch_of(entry_);
    if (launch == nullptr || launch->run[entry_.order] == nullptr) fail_without_kernel(entry_, device_);
    return launch->run[entry_.order];
  }

  void read_shapes(Few<Shape, 4>& shapes) const {
    shapes.resize(in_.size());
    for (std::size_t i = 0; i < in_.size(); ++i) shapes[i] = in_[i]->shape();
  }
  /// What the operator says that it needs.
  Resources resources() const {
    if (entry_.resources == nullptr) return {};
    Few<Shape, 4> shapes;
    read_shapes(shapes);
    return entry_.resources(op_, shapes);
  }

  /// Temporary space and random numbers that the operator announces, and its state.
  template <class Ctx>
  void prepare_context(Ctx& context) {
    const Resources needed = resources();
    context.reserve(needed.temp_bytes);
    if (turn_ != nullptr)
      context.use_random(turn_->drawn());
    else if (needed.random)
      context.use_random(random::next(device_));
    if (state_ == nullptr) return;
    if (!*state_ && entry_.make_state != nullptr) {
      Few<Shape, 4> shapes;
      read_shapes(shapes);
      if constexpr (std::is_same_v<Ctx, Cuda>)
        *state_ = launch_of(entry_)->make_state(op_, context, shapes);
      else
        *state_ = entry_.make_state(op_, context, shapes);
    }
    if (!*state_) fail(entry_.snake, ": forward has not run, so there is no state");
    context.use_state((*state_)->get());
  }

  /// Halves reach an operator on float and double as converted copies.
  bool needs_widening() const {
    if (entry_.takes == nullptr) return false;
    for (const NDArray* a : in_)
      if (is_half(a->dtype()) && !entry_.takes(a->dtype())) return true;
    for (Dtype type : types_)
      if (is_half(type) && !entry_.takes(type)) return true;
    return false;
  }
  static NDArray widened(const NDArray& x) {
    if (!is_half(x.dtype())) return x;
    if (x.storage() != dense) return sparse_as(x, f32);
    if (!x.allocated()) return NDArray::shell(x.shape(), f32, x.device());
    return as_type(x, f32);
  }

  bool is_input(const NDArray& y) const {
    for (const NDArray* x : in_)
      if (x->storage() == dense && x->allocated() && x->address() == y.address()) return true;
    return false;
  }
  bool needs_fresh(std::size_t i, Storage made) const {
    return requests_[i] != Request::null &&
           (out_[i].storage() != made || (requests_[i] == Request::add && made != dense));
  }

  /// Brings results that were computed apart into the arrays that were asked for.
  void settle(std::span<NDArray> results) {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      if (requests_[i] == Request::null) continue;
      if (!results[i].is(out_[i])) deliver(results[i], out_[i], requests_[i]);
      if (out_[i].body().buffer) out_[i].body().buffer->written();
    }
    for (int i : signature_.mutated)
      if (in(i).body().buffer) in(i).body().buffer->written();
  }

  const Entry& entry_;
  const void* op_;
  Inputs in_;
  std::span<NDArray> out_;
  Few<Request, 8> requests_;
  Few<Shape, 4> shapes_;
  Few<Dtype, 8> types_;
  Few<Storage, 8> storages_;
  Site site_;
  Ref<StateBox>* state_;
  Signature signature_;
  CallNames names_;
  Device device_;
  MapStorage how_;
  std::string_view why_;
  bool dense_run_ = false;
  const Turn* turn_;  // where the call has waited for its turn
};

STROP_IMPL void Turn::run_now() {
  const ModeScope mode(nullptr, training_);
  Few<const NDArray*, 8> in(in_.size());
  for (std::size_t i = 0; i < in_.size(); ++i) in[i] = &in_[i];
  Dispatch(entry_, params_.get(), in, out_, requests_, {}, nullptr, this).run();
}

STROP_IMPL void dispatch_fully(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out,
                               std::span<const Request> requests, Site site, Ref<StateBox>* state) {
  Dispatch(entry, op, in, out, requests, site, state).run();
}

STROP_IMPL void dispatch_with_state(const Entry& entry, const void* op, Inputs in, std::span<NDArray> out,
                                    std::span<const Request> requests, Site site, Ref<StateBox>* state) {
  Ref<StateBox> own;
  if (state == nullptr) state = &own;
  dispatch_fully(entry, op, in, out, requests, site, state);
  if (call_mode.recorder != nullptr) call_mode.recorder->record(entry, op, in, out, state->get());
}

}  // namespace strop::inline v0::detail
