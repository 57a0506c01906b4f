// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a call is recorded.
#pragma once
#include <strop/autograd/tape.hpp>
#include <strop/core/config.hpp>

namespace strop::inline v0::detail {

STROP_IMPL void TapeNode::take_down() noexcept {
  // Sources that nobody else holds wait in a chain for the outermost call, which deletes them one after the other.
  thread_local TapeNode* chain = nullptr;
  thread_local bool walking = false;
  const bool outermost = !walking;
  walking = true;
  for (TapeInput& in : inputs) {
    in.array = NDArray();
    if (in.leaf) continue;
    auto* const source = static_cast<TapeNode*>(in.source.release());
    if (source != nullptr && source->drop()) source->next_down = std::exchange(chain, source);
  }
  if (!outermost) return;
  while (chain != nullptr) delete std::exchange(chain, chain->next_down);
  walking = false;
}

STROP_IMPL void fill_input(TapeInput& to, const NDArray& from, bool kept) {
  const Body& body = from.body();
  if (body.leaf) {
    to.source = body.leaf;
    to.leaf = true;
  } else if (has_history(body)) {
    to.source = body.gradient_node;
    to.index = body.gradient_index;
  }
  to.kept = kept;
  // A sparse array gets other parts when it is overwritten: those of now are kept.
  to.array = !kept ? shell_of(from) : from.storage() == dense ? from : NDArray(Ref(new Body(body)));
  if (!kept && from.storage() != dense) {  // its gradient may be wanted at the stored positions alone
    to.array.body().indices = body.indices;
    to.array.body().indptr = body.indptr;
  }
  to.version = version_of(from);
}

STROP_IMPL void link_output(TapeNode& node, const Ref<GradientNode>& owner, Index k, const NDArray& out, bool kept) {
  TapeOutput& slot = node.outputs[k];
  slot.kept = kept;
  slot.array = kept ? out.detach() : shell_of(out);
  slot.version = version_of(out);
  out.body().gradient_node = owner;
  out.body().gradient_index = static_cast<std::int32_t>(k);
  out.body().leaf = nullptr;
}

STROP_IMPL void record_call(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, StateBox* state, Site) {
  if (!any_tracked(in)) {
    for (const NDArray& a : out)
      if (a.defined()) a.body().gradient_node = nullptr;
    return;
  }
  auto* node = new TapeNode;
  const Ref<GradientNode> owner(node);
  node->entry = &entry;
  node->training = call_mode.training;
  node->state = Ref(state);
  if (entry.params != nullptr && entry.params->size > 0) node->params = Ref(new ParamBox(entry.params, op));
  const std::uint64_t kept = recorded_inputs(entry, op, in);
  node->inputs.resize(in.size());
  for (Index i = 0; i < in.size(); ++i) fill_input(node->inputs[i], *in[i], in_mask(kept, i));
  node->outputs.resize(out.size());
  for (Index k = 0; k < out.size(); ++k) link_output(*node, owner, k, out[k], in_mask(entry.gradient.out, k));
}

STROP_IMPL void record_step(const Ref<Function>& function, Inputs in, Span<const NDArray> out) {
  auto* node = new TapeNode;
  const Ref<GradientNode> owner(node);
  node->function = function;
  node->training = call_mode.training;
  node->inputs.resize(in.size());
  for (Index i = 0; i < in.size(); ++i) fill_input(node->inputs[i], *in[i], false);
  node->outputs.resize(out.size());
  for (Index k = 0; k < out.size(); ++k) link_output(*node, owner, k, out[k], false);
}

}  // namespace strop::inline v0::detail
