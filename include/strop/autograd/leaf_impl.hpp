// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays that ask for their gradients.
#pragma once
#include <strop/autograd/tape.hpp>
#include <strop/core/config.hpp>
#include <strop/engine/sync.hpp>
#include <strop/tensor/create.hpp>

#include <utility>

namespace strop::inline v0 {
namespace detail {

/// Guards what hangs on arrays.
inline constinit SpinLock hanging;
STROP_IMPL void hang_leaf(const NDArray& array, const Ref<GradientNode>& leaf) {
  Body& body = array.body();
  Ref<GradientNode> before = leaf, history;  // which go when the lock is free again
  const Hold hold(hanging);
  std::swap(body.leaf, before);
  std::swap(body.gradient_node, history);
}

}  // namespace detail

STROP_IMPL void NDArray::attach_grad(GradRequest request, Storage storage) const {
  if (!defined()) fail("attach_grad: a handle without an array");
  auto* leaf = new detail::Leaf;
  const detail::Ref<detail::GradientNode> owner(leaf);
  leaf->request = request;
  if (request != GradRequest::null)
    leaf->gradient =
        storage == dense ? zeros(shape(), dtype(), device()) : NDArray(shape(), dtype(), device(), storage);
  detail::hang_leaf(*this, owner);
}

STROP_IMPL void NDArray::attach_grad(GradRequest request) const { attach_grad(request, defined() ? storage() : dense); }

STROP_IMPL NDArray NDArray::grad() const {
  if (!defined()) return {};
  detail::Ref<detail::GradientNode> leaf;
  {
    const detail::Hold hold(detail::hanging);
    leaf = body_->leaf;
  }
  return leaf ? static_cast<detail::Leaf*>(leaf.get())->gradient : NDArray();
}

}  // namespace strop::inline v0
