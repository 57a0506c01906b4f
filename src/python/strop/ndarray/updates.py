# SPDX-License-Identifier: Apache-2.0
"""AdamW's updates, whose operators take what gradients are multiplied with as an array: as functions that take a number as well,
and of several weights."""
from .. import _strop
from .._strop import NDArray
from . import _internal
from .ndarray import full

__all__ = ["adamw_update", "mp_adamw_update", "multi_adamw_update", "multi_mp_adamw_update"]


def _factor(rescale_grad, weight):
    return rescale_grad.as_in_context(weight.context) if isinstance(rescale_grad, NDArray) else full((1,), rescale_grad, weight.context)


def adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None, **kwargs):
    """A new weight by AdamW: eta times Adam's step, and the weight decay apart from it. The states mean and var are written."""
    return _internal._adamw_update(weight, grad, mean, var, _factor(rescale_grad, weight), lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd,
                                   clip_gradient=clip_gradient, out=out, name=name, **kwargs)


def mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0, clip_gradient=-1, out=None,
                    name=None, **kwargs):
    """adamw_update() of weight32, a float32 copy of the weight, from which the weight follows."""
    return _internal._mp_adamw_update(weight, grad, mean, var, weight32, _factor(rescale_grad, weight), lr=lr, eta=eta, beta1=beta1, beta2=beta2,
                                      epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name, **kwargs)


def multi_adamw_update(weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None, name=None, size=0, **kwargs):
    """adamw_update() of several weights, each with a rate, a weight decay and an eta of its own."""
    return _each(adamw_update, (weights, grads, mean, var), rescale_grad, lrs, wds, etas, out, size, kwargs)


def multi_mp_adamw_update(weights, grads, mean, var, weights32, rescale_grad, lrs, wds, etas, out=None, name=None, size=0, **kwargs):
    """mp_adamw_update() of several weights, each with a rate, a weight decay and an eta of its own."""
    return _each(mp_adamw_update, (weights, grads, mean, var, weights32), rescale_grad, lrs, wds, etas, out, size, kwargs)


def _each(update, arrays, rescale_grad, lrs, wds, etas, out, size, kwargs):
    """The update of each weight. Nothing is written before every list is known to be long enough."""
    size = size or len(arrays[0])
    into = [out] if isinstance(out, NDArray) else out
    if any(len(given) < size for given in (*arrays, lrs, wds, etas) + (() if into is None else (into,))):
        raise _strop.ValueError(f"multi_{update.__name__}: there are {size} weights, and a list is shorter")
    made = [update(*(of[i] for of in arrays), rescale_grad, lr=lrs[i], wd=wds[i], eta=etas[i], out=None if into is None else into[i], **kwargs)
            for i in range(size)]
    return out if out is not None else made[0] if size == 1 else made
