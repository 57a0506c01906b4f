# SPDX-License-Identifier: Apache-2.0
"""Optimizers: what a step makes of a weight, its gradient and a state, mostly by the update operators."""
import atexit
import math
import os
import pickle
import warnings

import numpy as np

from .. import _strop, nd
from ..base import also, counted, warn_program

__all__ = ["AdaDelta", "AdaGrad", "Adam", "Adamax", "DCASGD", "FTML", "Ftrl", "NAG", "Nadam", "Optimizer", "RMSProp", "SGD", "SGLD", "Signum", "Test",
           "Updater", "ccSGD", "create", "get_updater", "register"]


class _FixedRate(_strop.Error, UserWarning):
    """What MXNet raises where a rate is set that a scheduler says."""


def register(cls):
    """Makes an optimizer known by its name in lower case."""
    Optimizer.opt_registry[cls.__name__.lower()] = cls
    return cls


class Optimizer:
    """What all optimizers share: rates, weight decay, their factors per weight, and the count of updates.

    Weights are known by an index, and by a name where param_idx2name has one. With multi_precision a weight of float16
    is updated in float32, of which the state keeps a copy.
    """

    opt_registry = {}
    aggregate_num = 0
    _unreached = ()  # names that the symbol says factors of, and no index has
    _master_last = False  # where the state of multi_precision has the copy of the weight, as MXNet's does

    def __init__(self, rescale_grad=1.0, param_idx2name=None, wd=0.0, clip_gradient=None, learning_rate=None, lr_scheduler=None,
                 sym=None, begin_num_update=0, multi_precision=False, param_dict=None, aggregate_num=0, use_fused_step=None):
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        if lr_scheduler is not None:
            if learning_rate is not None:
                lr_scheduler.base_lr = learning_rate
                lr_scheduler.warmup_final_lr = learning_rate
            learning_rate = lr_scheduler.base_lr
        self.lr = 0.01 if learning_rate is None else learning_rate
        self.wd = wd
        self.lr_mult, self.wd_mult = {}, {}
        self.begin_num_update = self.num_update = begin_num_update
        self._index_update_count = {}
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        if param_idx2name is not None and not isinstance(param_idx2name, dict):
            raise also(_strop.TypeError, AssertionError)("Optimizer: param_idx2name has to be a dictionary of indices and names")
        self.idx2name = dict(param_idx2name or {})
        self.sym_info = (sym.attr_dict(), sym.list_arguments()) if sym is not None else ()
        self.param_dict = param_dict or {}
        self.set_lr_mult({})
        self.set_wd_mult({})
        stated = {**self._from_symbol("__lr_mult__"), **self._from_symbol("__wd_mult__")}
        self._unreached = [name for name in stated if name not in set(self.idx2name.values())]

    @staticmethod
    def register(cls):  # pylint: disable=bad-staticmethod-argument
        """Makes an optimizer known by its name in lower case."""
        return register(cls)

    @staticmethod
    def create_optimizer(name, **kwargs):
        """A new optimizer of that name."""
        cls = Optimizer.opt_registry.get(name.lower())
        if cls is None:
            raise _strop.ValueError(f"optimizer: none is called {name!r}; there are {', '.join(sorted(Optimizer.opt_registry))}")
        return cls(**kwargs)

    def create_state(self, index, weight):
        """What the optimizer keeps of a weight between updates."""

    def update(self, index, weight, grad, state):
        """Updates a weight and its state by a gradient."""
        raise NotImplementedError

    def create_state_multi_precision(self, index, weight):
        """create_state(), with a copy of the weight in float32 where it is float16 and multi_precision is on."""
        if self.multi_precision and weight.dtype is np.float16:
            master = weight.astype(np.float32)
            own = self.create_state(index, master)
            return (own, master) if self._master_last else (master, own)
        return self.create_state(index, weight)

    def update_multi_precision(self, index, weight, grad, state):
        """update() of the copy in float32 where there is one, from which the weight follows."""
        if isinstance(index, (list, tuple)):
            for one in zip(index, weight, grad, state):
                self.update_multi_precision(*one)
            return
        if not self.multi_precision or weight.dtype is not np.float16:
            self.update(index, weight, grad, state)
            return
        own, master = state if self._master_last else state[::-1]
        self._update_mixed(index, weight, grad, own, master)

    def _update_mixed(self, index, weight, grad, own, master):
        """The update of a weight by its copy in float32."""
        self.update(index, master, grad.astype(np.float32), own)
        nd.cast(master, dtype=weight.dtype, out=weight)

    # --- rates --------------------------------------------------------------------------------------------------------
    @property
    def learning_rate(self):
        """The rate of the next update."""
        return self.lr_scheduler(self.num_update) if self.lr_scheduler is not None else self.lr

    def set_learning_rate(self, lr):
        """Sets the rate, where no scheduler does."""
        if self.lr_scheduler is not None:
            raise _FixedRate("set_learning_rate: the rate follows from lr_scheduler; it cannot be set")
        self.lr = lr

    def set_lr_mult(self, args_lr_mult):
        """Factors of the rate by index or name, beside those that symbols say as __lr_mult__."""
        self._warn_of_names("set_lr_mult", args_lr_mult)
        self.lr_mult = {**self._from_symbol("__lr_mult__"), **args_lr_mult}

    def set_wd_mult(self, args_wd_mult):
        """Factors of the weight decay by index or name. Weights whose names do not end in _weight or _gamma have none."""
        self._warn_of_names("set_wd_mult", args_wd_mult)
        names = {name: 0.0 for name in self.idx2name.values() if not name.endswith(("_weight", "_gamma"))}
        self.wd_mult = {**names, **self._from_symbol("__wd_mult__"), **args_wd_mult}

    def _warn_of_names(self, function, factors):
        """Says of names that no index has that their factors reach nobody."""
        strange = [name for name in factors if isinstance(name, str) and name not in set(self.idx2name.values())]
        if strange:
            warnings.warn(f"{function}: no index has the name {', '.join(map(repr, strange))}, so that nothing comes of it unless weights are updated by their "
                          "names; say param_idx2name={index: name} where the optimizer is made", stacklevel=3)

    def _from_symbol(self, key):
        if not self.sym_info:
            return {}
        attributes, names = self.sym_info
        return {name: float(attributes[name][key]) for name in names if key in attributes.get(name, {})}

    def _update_count(self, index):
        for one in index if isinstance(index, (list, tuple)) else [index]:
            self._index_update_count[one] = self._index_update_count.get(one, self.begin_num_update) + 1
            self.num_update = max(self._index_update_count[one], self.num_update)

    def _factor(self, index, factors, name):
        if index in self.param_dict:
            return getattr(self.param_dict[index], name)
        if index in factors:
            return factors[index]
        if self._unreached and index not in self.idx2name and not isinstance(index, str):
            warn_program(f"{type(self).__name__}: what the symbol says of {', '.join(map(repr, self._unreached))} as lr_mult or wd_mult reaches no weight that is updated "
                         f"as number {index!r}; say param_idx2name={{index: name}} where the optimizer is made")
            self._unreached = []  # once
        return factors.get(self.idx2name.get(index), 1.0)

    def _get_lr(self, index):
        return self.learning_rate * self._factor(index, self.lr_mult, "lr_mult")

    def _get_wd(self, index):
        return self.wd * self._factor(index, self.wd_mult, "wd_mult")

    def _get_lrs(self, indices):
        return [self._get_lr(index) for index in indices]

    def _get_wds(self, indices):
        return [self._get_wd(index) for index in indices]

    def _begin(self, index):
        """Counts the update: (rate, weight decay, how often the weight was updated)."""
        self._update_count(index)
        return self._get_lr(index), self._get_wd(index), self._index_update_count[index]

    def _given(self, **more):
        """The parameters that every update operator takes."""
        if self.clip_gradient:
            more["clip_gradient"] = self.clip_gradient
        return {"rescale_grad": self.rescale_grad, **more}

    def _step(self, grad, weight=None, wd=0.0):
        """The gradient rescaled, with weight decay where it is asked for, and clipped."""
        grad = grad * self.rescale_grad
        if weight is not None:
            grad = grad + weight * wd
        return nd.clip(grad, -self.clip_gradient, self.clip_gradient) if self.clip_gradient is not None else grad


create = Optimizer.create_optimizer
atexit.register(Optimizer.opt_registry.clear)  # a class refers to all variables of its program


def _zeros(weight, stype=None):
    return nd.zeros(weight.shape, weight.context, dtype=weight.dtype, stype=weight.stype if stype is None else stype)


def _aggregated(most):
    """How many weights an updater hands over at once."""
    return int(os.getenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", str(most)))


@register
class SGD(Optimizer):
    """w -= lr (g + wd w), or with momentum m = momentum m - lr (g + wd w), w += m."""

    _master_last = True

    def __init__(self, momentum=0.0, lazy_update=True, **kwargs):
        super().__init__(**kwargs)
        self.momentum, self.lazy_update = momentum, lazy_update
        self.aggregate_num = _aggregated(4)

    def create_state(self, index, weight):
        return _zeros(weight, None if self.lazy_update else "default") if self.momentum != 0.0 else None

    def update(self, index, weight, grad, state):
        self._update_all(*self._lists(index, weight, grad, state), mixed=False)

    def update_multi_precision(self, index, weight, grad, state):
        indices, weights, *rest = self._lists(index, weight, grad, state)
        self._update_all(indices, weights, *rest, mixed=self.multi_precision and weights[0].dtype is np.float16)

    @staticmethod
    def _lists(*arguments):
        return arguments if isinstance(arguments[0], (list, tuple)) else [[one] for one in arguments]

    def _update_all(self, indices, weights, grads, states, mixed):
        """All are counted first: a scheduler says one rate for them."""
        self._update_count(indices)
        lrs, wds = self._get_lrs(indices), self._get_wds(indices)
        self._scale(indices, weights, grads, lrs, wds)
        more = self._given(lazy_update=self.lazy_update)
        for weight, grad, state, lr, wd in zip(weights, grads, states, lrs, wds):
            given = {**more, "lr": lr, "wd": wd}
            own, masters = (state[0], [state[1]]) if mixed else (state, [])
            if own is None:
                (nd.mp_sgd_update if mixed else nd.sgd_update)(weight, grad, *masters, out=weight, **given)
            else:
                (nd.mp_sgd_mom_update if mixed else nd.sgd_mom_update)(weight, grad, own, *masters, out=weight, momentum=self._momentum(), **given)

    def _scale(self, indices, weights, grads, lrs, wds):  # pylint: disable=unused-argument
        """Changes the rates by what the weights and gradients are."""

    def _momentum(self):
        return self.momentum


@register
class ccSGD(SGD):  # pylint: disable=invalid-name
    """SGD by its old name."""


@register
class NAG(Optimizer):
    """SGD with Nesterov's momentum."""

    _master_last = True

    def __init__(self, momentum=0.0, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum

    def create_state(self, index, weight):
        return _zeros(weight) if self.momentum != 0.0 else None

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._begin(index)
        if state is None:
            nd.sgd_update(weight, grad, out=weight, **self._given(lr=lr, wd=wd))
        else:
            nd.nag_mom_update(weight, grad, state, out=weight, momentum=self.momentum, **self._given(lr=lr, wd=wd))

    def _update_mixed(self, index, weight, grad, own, master):
        lr, wd, _ = self._begin(index)
        if own is None:
            nd.mp_sgd_update(weight, grad, master, out=weight, **self._given(lr=lr, wd=wd))
        else:
            nd.mp_nag_mom_update(weight, grad, own, master, out=weight, momentum=self.momentum, **self._given(lr=lr, wd=wd))


@register
class Signum(Optimizer):
    """The sign of the gradient, or of its momentum."""

    def __init__(self, learning_rate=0.01, momentum=0.9, wd_lh=0.0, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum, self.wd_lh = momentum, wd_lh

    def create_state(self, index, weight):
        return _zeros(weight) if self.momentum != 0.0 else None

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._begin(index)
        if state is None:
            nd.signsgd_update(weight, grad, out=weight, **self._given(lr=lr, wd=wd))
        else:
            nd.signum_update(weight, grad, state, out=weight, momentum=self.momentum, wd_lh=self.wd_lh, **self._given(lr=lr, wd=wd))


@register
class Adam(Optimizer):
    """Means of the gradient and its square, both without their bias."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, lazy_update=True, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2, self.epsilon, self.lazy_update = beta1, beta2, epsilon, lazy_update

    def create_state(self, index, weight):
        stype = None if self.lazy_update else "default"
        return _zeros(weight, stype), _zeros(weight, stype)

    def _parameters(self, index):
        lr, wd, t = self._begin(index)
        lr *= math.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
        return self._given(lr=lr, wd=wd, beta1=self.beta1, beta2=self.beta2, epsilon=self.epsilon, lazy_update=self.lazy_update)

    def update(self, index, weight, grad, state):
        nd.adam_update(weight, grad, *state, out=weight, **self._parameters(index))

    def _update_mixed(self, index, weight, grad, own, master):
        nd.mp_adam_update(weight, grad, *own, master, out=weight, **self._parameters(index))


@register
class AdaGrad(Optimizer):
    """The gradient over the root of the sum of its squares."""

    def __init__(self, eps=1e-7, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index, weight):
        return _zeros(weight)

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._begin(index)
        if grad.stype == "row_sparse":
            nd.sparse.adagrad_update(weight, grad, state, out=weight, epsilon=self.float_stable_eps, **self._given(lr=lr, wd=wd))
            return
        step = self._step(grad)
        state[:] = state + nd.square(step)
        weight[:] = weight - lr * (step / nd.sqrt(state + self.float_stable_eps) + wd * weight)


@register
class AdaDelta(Optimizer):
    """Steps as large as those before them, relative to the gradient."""

    def __init__(self, rho=0.90, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.rho, self.epsilon = rho, epsilon

    def create_state(self, index, weight):
        return _zeros(weight), _zeros(weight)

    def update(self, index, weight, grad, state):
        _, wd, _ = self._begin(index)
        step = self._step(grad)
        squares, deltas = state
        squares[:] = self.rho * squares + (1 - self.rho) * step * step
        delta = nd.sqrt(deltas + self.epsilon) / nd.sqrt(squares + self.epsilon) * step
        deltas[:] = self.rho * deltas + (1 - self.rho) * delta * delta
        weight[:] = weight - delta - wd * weight


@register
class Adamax(Optimizer):
    """Adam with the greatest gradient in place of the mean of squares."""

    def __init__(self, learning_rate=0.002, beta1=0.9, beta2=0.999, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2 = beta1, beta2

    def create_state(self, index, weight):
        return _zeros(weight), _zeros(weight)

    def update(self, index, weight, grad, state):
        lr, wd, t = self._begin(index)
        step = self._step(grad, weight, wd)
        mean, greatest = state
        mean[:] = self.beta1 * mean + (1 - self.beta1) * step
        greatest[:] = nd.maximum(self.beta2 * greatest, nd.abs(step))
        weight[:] = weight - lr / (1 - self.beta1**t) * mean / greatest


@register
class Nadam(Optimizer):
    """Adam with Nesterov's momentum."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, schedule_decay=0.004, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2, self.epsilon, self.schedule_decay = beta1, beta2, epsilon, schedule_decay
        self.m_schedule = 1.0

    def create_state(self, index, weight):
        return _zeros(weight), _zeros(weight)

    def update(self, index, weight, grad, state):
        lr, wd, t = self._begin(index)
        step = self._step(grad, weight, wd)
        now = self.beta1 * (1 - 0.5 * 0.96 ** (t * self.schedule_decay))
        then = self.beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * self.schedule_decay))
        self.m_schedule *= now
        mean, squares = state
        mean[:] = self.beta1 * mean + (1 - self.beta1) * step
        squares[:] = self.beta2 * squares + (1 - self.beta2) * step * step
        ahead = (1 - now) * step / (1 - self.m_schedule) + then * mean / (1 - self.m_schedule * then)
        weight[:] = weight - lr * ahead / (nd.sqrt(squares / (1 - self.beta2**t)) + self.epsilon)


@register
class RMSProp(Optimizer):
    """The gradient over the root of the mean of its squares, centred or not."""

    def __init__(self, learning_rate=0.001, gamma1=0.9, gamma2=0.9, epsilon=1e-8, centered=False, clip_weights=None, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1, self.gamma2, self.epsilon, self.centered, self.clip_weights = gamma1, gamma2, epsilon, centered, clip_weights

    def create_state(self, index, weight):
        return tuple(_zeros(weight, "default") for _ in range(3 if self.centered else 1))

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._begin(index)
        given = self._given(lr=lr, wd=wd, gamma1=self.gamma1, epsilon=self.epsilon)
        if self.clip_weights:
            given["clip_weights"] = self.clip_weights
        if self.centered:
            nd.rmspropalex_update(weight, grad, *state, out=weight, gamma2=self.gamma2, **given)
        else:
            nd.rmsprop_update(weight, grad, *state, out=weight, **given)


@register
class Ftrl(Optimizer):
    """Follow the regularised leader: weights of small gradients are zero."""

    def __init__(self, lamda1=0.01, learning_rate=0.1, beta=1, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.lamda1, self.beta = lamda1, beta

    def create_state(self, index, weight):
        return _zeros(weight), _zeros(weight)

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._begin(index)
        nd.ftrl_update(weight, grad, *state, out=weight, lamda1=self.lamda1, beta=self.beta, **self._given(lr=lr, wd=wd))


@register
class FTML(Optimizer):
    """Follow the moving leader."""

    def __init__(self, beta1=0.6, beta2=0.999, epsilon=1e-8, **kwargs):
        super().__init__(**kwargs)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def create_state(self, index, weight):
        return _zeros(weight), _zeros(weight), _zeros(weight)

    def update(self, index, weight, grad, state):
        lr, wd, t = self._begin(index)
        given = {"clip_grad": self.clip_gradient} if self.clip_gradient else {}
        nd.ftml_update(weight, grad, *state, out=weight, lr=lr, wd=wd, t=t, rescale_grad=self.rescale_grad, beta1=self.beta1, beta2=self.beta2,
                       epsilon=self.epsilon, **given)


@register
class SGLD(Optimizer):
    """Langevin dynamics: half a step of SGD and normal noise of deviation sqrt(lr)."""

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._begin(index)
        noise = nd.random.normal(0, math.sqrt(lr), weight.shape, dtype=weight.dtype, ctx=weight.context)
        weight[:] = weight - lr / 2 * (self._step(grad) + wd * weight) + noise


@register
class DCASGD(Optimizer):
    """SGD that makes up for gradients of older weights."""

    def __init__(self, momentum=0.0, lamda=0.04, **kwargs):
        super().__init__(**kwargs)
        self.momentum, self.lamda = momentum, lamda

    def create_state(self, index, weight):
        return None if self.momentum == 0.0 else _zeros(weight), weight.copy()

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._begin(index)
        step = self._step(grad)
        momentum, before = state
        change = -lr * (step + wd * weight + self.lamda * step * step * (weight - before))
        if momentum is not None:
            momentum[:] = self.momentum * momentum + change
            change = momentum
        before[:] = weight
        weight[:] = weight + change


@register
class Test(Optimizer):
    """w += rescale_grad g, for tests; the state is the weight."""

    def create_state(self, index, weight):
        return _zeros(weight)

    def update(self, index, weight, grad, state):
        weight[:] = weight + grad * self.rescale_grad
        state[:] = weight


class Updater:
    """An optimizer with the states of all weights that it was called for."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.states = {}
        self.states_synced = {}

    @property
    def aggregate_updates(self):
        """Whether several weights are given to the optimizer at once."""
        return self.optimizer.aggregate_num > 0

    def __call__(self, index, grad, weight):
        several = isinstance(index, (list, tuple))
        indices, grads, weights = (index, grad, weight) if several else ([index], [grad], [weight])
        for one, w in zip(indices, weights):
            if one not in self.states:
                self.states[one] = self.optimizer.create_state_multi_precision(one, w)
                self.states_synced[one] = True
            elif not self.states_synced.get(one, True):  # of a file, and used for the first time
                self._compare(one, w)
                self.states_synced[one] = True
        most = self.optimizer.aggregate_num
        if not several or most <= 0:
            for one, g, w in zip(indices, grads, weights):
                self.optimizer.update_multi_precision(one, w, g, self.states[one])
            return
        by_type = {}
        for one in zip(indices, weights, grads):
            by_type.setdefault(one[1].dtype, []).append(one)
        for alike in by_type.values():
            for begin in range(0, len(alike), most):
                part, ws, gs = zip(*alike[begin:begin + most])
                self.optimizer.update_multi_precision(part, ws, gs, [self.states[one] for one in part])

    def _compare(self, index, weight):
        """Refuses a state of another optimizer: one array in place of several, or of another number of them."""
        found, made = (f"a tuple of {len(one)}" if isinstance(one, (list, tuple)) else "an array or None"
                       for one in (self.states[index], self.optimizer.create_state_multi_precision(index, weight)))
        if found != made:
            raise _strop.ValueError(f"{type(self.optimizer).__name__}: the state of weight {index!r} is {found}, expected {made}; it is another optimizer's")

    def get_states(self, dump_optimizer=False):
        """The states as bytes."""
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer else self.states)

    def set_states(self, states):
        """Takes states that get_states() gave. Others are a ValueError, and change nothing."""
        try:
            found = pickle.loads(states)
        except Exception as error:  # whatever a pickle raises that is cut off, or none
            raise _strop.ValueError(f"set_states: expected what get_states() gave, came {counted(len(states), 'byte')} that are no whole pickle: "
                                    f"{str(error) or type(error).__name__}") from error
        found, made = found if isinstance(found, tuple) and len(found) == 2 else (found, self.optimizer)
        if not isinstance(found, dict) or not isinstance(made, Optimizer):
            raise _strop.ValueError(f"set_states: expected what get_states() gave, came a pickle of type {type(found).__name__}")
        self.states, self.optimizer = found, made
        self.states_synced = dict.fromkeys(self.states, False)


def get_updater(optimizer):
    """A function of (index, gradient, weight) that updates the weight."""
    return Updater(optimizer)


