// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a call is decided.
#pragma once
#include <strop/core/config.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/devices.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/plan.hpp>

#include <utility>
#include <vector>

namespace strop::inline v0::detail {

STROP_IMPL CallNames CallLabels::names() const {
  CallNames names{entry.snake};
  names.call = this;
  names.describe = [](const void* self, std::vector<std::string_view>& inputs, std::vector<std::string_view>& outputs) {
    const auto& label = *static_cast<const CallLabels*>(self);
    Signature signature = signature_of(label.entry, label.op, label.given);
    inputs = std::move(signature.inputs);
    outputs = std::move(signature.outputs);
  };
  return names;
}

STROP_IMPL bool may_share(const Entry& entry, int i, int k) {
  if (entry.is_map()) return true;  // which writes an element after it has read it
  for (const Share& share : entry.inplace)
    if (share.input == i && share.output == k) return true;
  return false;
}

/// One plan in the making.
class Resolving {
 public:
  Resolving(const Entry& entry, const void* op, Inputs in, Span<const NDArray> out, Span<const Request> asked,
            const InferredResults* inferred, Plan& plan)
      : entry_(entry),
        op_(op),
        in_(in),
        out_(out),
        labels_{entry, op, static_cast<int>(in.size())},
        names_(labels_.names()),
        inferred_(inferred),
        plan_(plan) {
    plan.entry = &entry;
    plan.requests.resize(out.size());
    plan.asked = false;
    for (Index k = 0; k < out.size(); ++k) {
      Request request = k < asked.size() ? asked[k] : Request::write;
      if (request == Request::add && (!out[k].defined() || (out[k].storage() == dense && !out[k].allocated())))
        request = Request::write;  // there is nothing yet to add to
      plan.requests[k] = request;
      plan.asked = plan.asked || request != Request::null;
    }
  }

  void run() {
    if (entry_.params != nullptr && entry_.params->checked) check_params(entry_.snake, *entry_.params, op_);
    if (entry_.found != 0)
      leave_trace(entry_.snake, "the shape of its result follows from the data, which a graph does not know");
    check_arguments();
    infer();
    choose_storages();
    entry_.is_map() ? route_map() : route_tensors();
    if (entry_.resources != nullptr) plan_.resources = entry_.resources(op_, in_shapes_.span());
  }

 private:
  void check_arguments() {
    const auto given = static_cast<int>(in_.size());
    int wanted = entry_.inputs;
    // Names cost more than a small operator: only what may differ from call to call is asked for.
    if (entry_.mutates || entry_.min_inputs != entry_.inputs) {
      const Signature signature = signature_of(entry_, op_, given);
      for (int i : signature.mutated) plan_.mutated.push_back(i);
      if (entry_.min_inputs != entry_.inputs) wanted = static_cast<int>(signature.inputs.size());
    }
    if (given != wanted && entry_.inputs >= 0) {
      std::string list;
      for (std::string_view name : signature_of(entry_, op_, given).inputs) list += cat(list.empty() ? "" : ", ", name);
      fail(entry_.snake, ": takes ", wanted, wanted == 1 ? " input (" : " inputs (", list, "), ", given,
           given == 1 ? " was given" : " were given");
    }
    for (int i = 0; i < given; ++i) {
      const NDArray& a = in(i);
      if (!a.defined()) fail(entry_.snake, ": ", names_.input(i), " is a handle without an array");
      if (i == 0)
        plan_.device = a.device();
      else if (a.device() != plan_.device)
        fail(entry_.snake, ": ", names_.input(i), " is on ", to_text(a.device()), ", expected ", to_text(plan_.device),
             " like ", names_.input(0));
    }
    for (const NDArray& y : out_)
      if (y.defined() && given == 0) plan_.device = y.device();
    for (Index k = 0; k < out_.size(); ++k)
      if (out_[k].defined() && out_[k].device() != plan_.device)
        fail(entry_.snake, ": ", names_.output(static_cast<int>(k)), " is on ", to_text(out_[k].device()),
             ", the inputs are on ", to_text(plan_.device));
  }

  void infer() {
    const Index n = in_.size(), m = out_.size();
    List<std::optional<Dtype>, 4> in_types(n), out_types(m);
    in_shapes_.resize(n);
    plan_.shapes.resize(m);
    for (Index i = 0; i < n; ++i) in_shapes_[i] = in_[i]->shape(), in_types[i] = in_[i]->dtype();
    for (Index k = 0; k < m; ++k) {
      plan_.shapes[k] = out_[k].defined() ? out_[k].shape() : Shape::unknown();
      if (out_[k].defined()) out_types[k] = out_[k].dtype();
    }
    const bool in_double = n > 0 && computes_in_double(entry_, in_[0]->dtype());
    plan_.doubles = in_double;
    for (const NDArray* a : in_) plan_.doubles = plan_.doubles && a->storage() == dense;
    if (inferred_ != nullptr && plan_.doubles == in_double && are_inferred()) {
      for (Index k = 0; k < m; ++k) {
        plan_.shapes[k] = inferred_->shapes[k];
        out_types[k] = inferred_->types[k];
      }
    } else {
      Shapes shapes(names_, in_shapes_.span(), plan_.shapes.span());
      infer_shapes(entry_, op_, shapes);
      Types types(names_, in_types.span(), out_types.span());
      plan_.doubles ? infer_types(entry_, op_, types) : infer_kernel_types(entry_, op_, types);
    }
    plan_.types.resize(m);
    for (Index k = 0; k < m; ++k) {
      if (!plan_.shapes[k].known() && !is_found(entry_, k)) refuse_shape(static_cast<int>(k), plan_.shapes[k]);
      if (!out_types[k])
        fail(entry_.snake, ": the type of ", names_.output(static_cast<int>(k)),
             " does not follow from the inputs; state a dtype");
      plan_.types[k] = *out_types[k];
    }
  }

  /// Whether the arrays that are there are what was inferred.
  bool are_inferred() const {
    bool same = true;
    for (Index k = 0; k < out_.size(); ++k)
      same = same && (!out_[k].defined() ||
                      (out_[k].shape() == inferred_->shapes[k] && out_[k].dtype() == inferred_->types[k]));
    return same;
  }

  [[noreturn, gnu::cold]] void refuse_shape(int k, const Shape& shape) {
    for (int axis = 0; axis < shape.ndim(); ++axis)
      if (shape[axis] < 0)
        fail(entry_.snake, ": extent ", shape[axis], " of ", names_.output(k), " along axis ", axis,
             " is negative, or does not follow from the inputs");
    fail(entry_.snake, ": the shape of ", names_.output(k), " does not follow from the inputs");
  }

  void choose_storages() {
    const Index m = out_.size();
    bool sparse = false;
    for (const NDArray* a : in_) sparse = sparse || a->storage() != dense;
    plan_.storages.resize(m);
    for (Index k = 0; k < m; ++k)
      if (out_[k].defined()) sparse = *(plan_.storages[k] = out_[k].storage()) != dense || sparse;
    if (!sparse && entry_.sparse == nullptr) {
      for (std::optional<Storage>& storage : plan_.storages) storage = dense;
      return;
    }
    if (entry_.sparse != nullptr) sparse_parts.install(*entry_.sparse);
    plan_.sparse = sparse;
    for_sparse().choose(plan_, op_, names_, in_, in_shapes_.span(), out_);
  }

  void route_map() {
    if (plan_.route == Route::pattern || plan_.route == Route::into_dense) return;
    plan_.common = in_.empty() ? plan_.shapes[0] : in_shapes_[0];
    bool alike = !plan_.dense_copies;
    const Dtype stored = in_.empty() ? plan_.types[0] : stored_type_of(entry_, in_);
    const Dtype type = compute_type(entry_, op_, plan_.kernel_type(stored));
    for (Index i = 0; i < in_.size(); ++i) {
      if (i > 0 && in_shapes_[i] != plan_.common) alike = false;
      alike = alike && in_[i]->dtype() == type;
      broadcast_into(plan_.common, in_shapes_[i]);
    }
    for (Index k = 0; k < out_.size(); ++k)
      alike = alike && plan_.shapes[k] == plan_.common && plan_.types[k] == type && is_floating(type) &&
              (plan_.requests[k] == Request::write || plan_.requests[k] == Request::inplace);
    plan_.route = alike && plan_.mutated.empty() ? Route::contiguous : Route::blocks;
    plan_.loop = type == f32 ? entry_.loops.f32 : type == f64 ? entry_.loops.f64 : entry_.loops.i64;
  }

  void route_tensors() {
    plan_.route = Route::tensors;
    plan_.kernel = plan_.asked ? kernel_of(entry_, plan_.device, !plan_.dense_copies) : nullptr;
    const auto widens = [&](Dtype type) { return is_half(type) && entry_.takes != nullptr && !entry_.takes(type); };
    bool as_given = true;
    for (const NDArray* a : in_) {
      plan_.widens = plan_.widens || widens(a->dtype());
      as_given = as_given && a->storage() == dense;
    }
    for (Index k = 0; k < out_.size(); ++k) {
      plan_.widens = plan_.widens || widens(plan_.types[k]);
      as_given = as_given && plan_.storages[k] == dense && (!out_[k].defined() || out_[k].storage() == dense) &&
                 (plan_.requests[k] == Request::write || plan_.requests[k] == Request::inplace);
    }
    plan_.as_given = as_given && !plan_.widens && !plan_.doubles && entry_.found == 0;
  }

  const NDArray& in(int i) const { return *in_[i]; }

  const Entry& entry_;
  const void* op_;
  Inputs in_;
  Span<const NDArray> out_;
  CallLabels labels_;
  CallNames names_;
  List<Shape, 4> in_shapes_;
  const InferredResults* inferred_;
  Plan& plan_;
};

STROP_IMPL Plan resolve(const Entry& entry, const void* op, Inputs in, Span<const NDArray> out,
                        Span<const Request> requests, const InferredResults* inferred) {
  Plan plan;
  Resolving(entry, op, in, out, requests, inferred, plan).run();
  return plan;
}

STROP_IMPL void choose_sparse_storages(Plan& plan, const void* op, const CallNames& names, Inputs in,
                                       Span<const Shape> in_shapes, Span<const NDArray> out) {
  const Entry& entry = *plan.entry;
  List<Storage, 8> given(in.size());
  bool sparse = false;
  for (Index i = 0; i < in.size(); ++i) sparse = (given[i] = in[i]->storage()) != dense || sparse;
  const Dtype stored = in.empty() ? plan.types[0] : stored_type_of(entry, in);
  const StorageChoice choice =
      infer_storages(entry, op, {given.span(), in_shapes, plan.shapes.span(), plan.mutated.span(), stored, plan.device},
                     plan.storages.span());
  plan.map = choice.map;
  if (choice.into_dense || plan.map.storage != dense)
    plan.route = choice.into_dense ? Route::into_dense : Route::pattern;
  plan.dense_copies = choice.dense_copies;
  plan.why = choice.why;
  for (Index k = 0; k < out.size(); ++k)
    if (!out[k].defined() && plan.storages[k] == csr && plan.shapes[k].ndim() != 2)
      fail(entry.snake, ": ", names.output(static_cast<int>(k)), " would be csr with shape ", plan.shapes[k],
           ", expected 2 dimensions");
  for (const std::optional<Storage>& storage : plan.storages) sparse = sparse || storage != dense;
  if (sparse && !serves_sparse(plan))
    fail(entry.snake, ": ", storages_text(given.span(), plan.storages.span()), " was asked for on ",
         to_text(plan.device), ", where operators work on dense arrays; convert with to(strop::dense)");
}

STROP_IMPL void note_fallback_of(const Plan& plan, const void* op, Inputs in, Site site) {
  if (plan.why.empty() || !plan.asked) return;
  List<Storage, 8> storages(in.size());
  for (Index i = 0; i < in.size(); ++i) storages[i] = in[i]->storage();
  note_fallback(*plan.entry, op, storages_text(storages.span(), plan.storages.span()),
                cat(plan.why, ", on ", to_text(plan.device)), site);
}

}  // namespace strop::inline v0::detail
