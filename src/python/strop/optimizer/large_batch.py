# SPDX-License-Identifier: Apache-2.0
"""Optimizers for large batches: the rate of each weight follows from how large it and its gradient are."""
import math

import numpy as np

from .. import _strop, nd
from .optimizer import SGD, Optimizer, _aggregated, _zeros, register

__all__ = ["LAMB", "LARS", "LBSGD"]


def _norm(a):
    return float(nd.norm(a.astype(np.float32)).asscalar())


def _squares(arrays):
    """The sum of the squares of each."""
    return nd.multi_sum_sq(*(a if a.stype == "default" else a.data for a in arrays), num_arrays=len(arrays))


@register
class LARS(SGD):
    """SGD with momentum whose rate is eta |w| / (|g| + wd |w| + eps) times the given one, but for biases and the parameters of
    normalisation."""

    def __init__(self, momentum=0.0, lazy_update=True, eta=0.001, eps=0, momentum_correction=True, **kwargs):
        super().__init__(momentum, lazy_update, **kwargs)
        self.eta, self.eps, self.momentum_correction = eta, eps, momentum_correction
        self.last_lr = self.cur_lr = None

    def set_wd_mult(self, args_wd_mult):
        """Factors of the weight decay by index or name. Weights whose names do not end in _weight have none."""
        names = {name: 0.0 for name in self.idx2name.values() if not name.endswith("_weight")}
        self.wd_mult = {**names, **self._from_symbol("__wd_mult__"), **args_wd_mult}

    def _get_lrs(self, indices):
        base = self.learning_rate
        self.last_lr, self.cur_lr = (base if self.cur_lr is None else self.cur_lr), base
        return super()._get_lrs(indices)

    def _scale(self, indices, weights, grads, lrs, wds):
        at = [i for i, index in enumerate(indices) if not self.idx2name.get(index, str(index)).endswith(("gamma", "beta", "bias"))]
        if not at:
            return
        rates, decays = (nd.array([values[i] for i in at], weights[0].context) for values in (lrs, wds))
        squares = (_squares([arrays[i] for i in at]) for arrays in (weights, grads))
        scaled = nd.multi_lars(rates, *squares, decays, eta=self.eta, eps=self.eps, rescale_grad=self.rescale_grad)
        for i, rate in zip(at, scaled.asnumpy().tolist()):
            lrs[i] = rate

    def _momentum(self):
        """The momentum, which grows with the rate."""
        return self.momentum * self.cur_lr / self.last_lr if self.momentum_correction and self.last_lr else self.momentum


@register
class LBSGD(Optimizer):
    """SGD whose gradients are added up over batch_scale batches, with a rate that grows to batch_scale times the given one
    (linear, power2 or sqrt), or follows from how large weight and gradient are (lars)."""

    def __init__(self, momentum=0.0, multi_precision=False, warmup_strategy="linear", warmup_epochs=5, batch_scale=1, updates_per_epoch=32,
                 begin_epoch=0, num_epochs=60, **kwargs):
        super().__init__(multi_precision=multi_precision, **kwargs)
        if warmup_strategy not in ("linear", "power2", "sqrt", "lars"):
            raise _strop.ValueError(f"LBSGD: warmup_strategy is {warmup_strategy!r}, expected linear, power2, sqrt or lars")
        self.momentum, self.warmup_strategy, self.warmup_epochs, self.batch_scale = momentum, warmup_strategy, warmup_epochs, batch_scale
        self.updates_per_epoch, self.init_updates, self.num_epochs = updates_per_epoch, begin_epoch * updates_per_epoch, num_epochs
        self.cumgrads = {}  # by weight: (what was added up, how many batches there were)

    def create_state(self, index, weight):
        return _zeros(weight) if self.momentum != 0.0 else None

    def _grown(self, batches):
        length, most = self.warmup_epochs * self.updates_per_epoch, float(self.batch_scale)
        if batches >= length:
            return most
        if length <= 1:
            return 1.0
        done = batches / length
        return 1.0 + (most - 1) * {"linear": done, "power2": done * done, "sqrt": math.sqrt(done)}[self.warmup_strategy]

    @staticmethod
    def _balanced(weight, grad, wd):
        of_weight, of_grad = _norm(weight) ** 2, _norm(grad) ** 2
        return min(max(math.sqrt(of_weight / (of_grad + wd * of_weight + 1e-18)), 0.01), 100.0)

    def update(self, index, weight, grad, state):
        lr, wd = self._get_lr(index), self._get_wd(index)  # the rate of the update before
        self._update_count(index)
        total, batches = self.cumgrads.get(index, (None, self.init_updates))
        total, batches = grad if total is None else total + grad, batches + 1
        if batches % self.batch_scale:
            self.cumgrads[index] = total.copy() if total is grad else total, batches
            return
        self.cumgrads[index] = None, batches
        mean = total / self.batch_scale
        lr *= self._balanced(weight, mean, wd) if self.warmup_strategy == "lars" else self._grown(batches)
        given = self._given(lr=lr, wd=wd)
        if state is None:
            nd.sgd_update(weight, mean, out=weight, **given)
        else:
            nd.sgd_mom_update(weight, mean, state, out=weight, momentum=self.momentum, **given)


@register
class LAMB(Optimizer):
    """Adam whose step has the length of the weight, between two bounds: w -= lr (|w| / |u|) u with u = m / (sqrt(v) + eps) + wd w."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, lower_bound=None, upper_bound=None, bias_correction=True, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.lower_bound, self.upper_bound, self.bias_correction = lower_bound, upper_bound, bias_correction
        self.aggregate_num = max(1, min(45, _aggregated(45)))

    def create_state(self, index, weight):
        return _zeros(weight, "default"), _zeros(weight, "default")

    def update(self, index, weight, grad, state):
        if isinstance(index, (list, tuple)):
            for one in zip(index, weight, grad, state):
                self.update(*one)
            return
        first, second = self._phases(index)
        towards = nd.lamb_update_phase1(weight, grad, *state, **first)
        nd.lamb_update_phase2(weight, towards, weight.norm(), towards.norm(), out=weight, **second)

    def _update_mixed(self, index, weight, grad, own, master):
        first, second = self._phases(index)
        towards = nd.mp_lamb_update_phase1(weight, grad, *own, master, **first)
        nd.mp_lamb_update_phase2(weight, towards, master.norm(), towards.norm(), master, out=weight, **second)

    def _phases(self, index):
        """Counts the update: what the operators of both phases are given."""
        lr, wd, t = self._begin(index)
        bounds = {key: value for key, value in (("lower_bound", self.lower_bound), ("upper_bound", self.upper_bound)) if value}
        return self._given(wd=wd, t=t, beta1=self.beta1, beta2=self.beta2, epsilon=self.epsilon, bias_correction=self.bias_correction), {"lr": lr, **bounds}
