# SPDX-License-Identifier: Apache-2.0
"""Optimizers over update operators of contrib."""
from .. import _strop, nd
from ..base import also
from .optimizer import Optimizer, register

__all__ = ["GroupAdaGrad"]


@register
class GroupAdaGrad(Optimizer):
    """The gradient over the root of the sum of its squares, of which each row has the mean."""

    def __init__(self, eps=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index, weight):
        if weight.ndim != 2:
            kind = also(_strop.ValueError, AssertionError)
            raise kind(f"GroupAdaGrad: a weight of shape {weight.shape}, expected a matrix")
        return nd.zeros((weight.shape[0], 1), weight.context, dtype=weight.dtype, stype=weight.stype)

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._begin(index)
        if wd != 0:
            raise also(_strop.ValueError, AssertionError)(
                f"GroupAdaGrad: a weight decay of {wd}, there is none")
        if grad.stype == "row_sparse":
            nd.contrib.group_adagrad_update(weight, grad, state, out=weight, lr=lr, epsilon=self.float_stable_eps, **self._given())
            return
        step = self._step(grad)
        state[:] = state + nd.mean(nd.square(step), axis=1, keepdims=True)
        weight[:] = weight - lr * step / nd.sqrt(state + self.float_stable_eps)
