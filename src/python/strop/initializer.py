# SPDX-License-Identifier: Apache-2.0
"""What parameters begin with, by their names or as they say themselves."""
import json
import math
import re

import numpy as np

from . import _strop, nd, random, registry
from .base import also


class InitDesc(str):
    """The name of a parameter with its attributes."""

    def __new__(cls, name, attrs=None, global_init=None):
        made = super().__new__(cls, name)
        made.attrs = attrs or {}
        made.global_init = global_init
        return made


class Initializer:
    """Called with a name and an array, sets the array: weights by the class itself, others by the ends of their names."""

    _ends = (("weight", "weight"), ("bias", "bias"), ("gamma", "gamma"), ("beta", "beta"), ("min", "zero"), ("max", "one"),
             ("moving_mean", "zero"), ("running_mean", "zero"), ("moving_var", "one"), ("running_var", "one"),
             ("moving_inv_var", "zero"), ("moving_avg", "zero"))

    def __init__(self, **kwargs):
        self._kwargs = kwargs

    def set_verbosity(self, verbose=False, print_func=None):  # pylint: disable=unused-argument
        """MXNet's printing of what is set; it has no effect here."""
        return self

    def dumps(self):
        """The initializer as text, which create() reads."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __eq__(self, other):
        return type(self) is type(other) and self._kwargs == other._kwargs

    def __hash__(self):
        return hash(self.dumps())

    def __call__(self, desc, arr):
        if not isinstance(desc, str):
            raise _strop.TypeError(f"initializer: the name is of type {type(desc).__name__}, expected a string")
        if isinstance(desc, InitDesc) and desc.global_init is None:
            desc.global_init = self
        own = getattr(desc, "attrs", {}).get("__init__", "")
        if own:
            create(own)._init_weight(desc, arr)
            return
        if not isinstance(desc, InitDesc) and desc.startswith(("upsampling", "stn_loc")) and self._init_layer(desc, arr):
            return
        for end, how in self._ends:
            if desc.lower().endswith(end):
                getattr(self, f"_init_{how}")(desc, arr)
                return
        self._init_default(desc, arr)

    def _init_layer(self, name, arr):
        """Sets what mere names say of two kinds of layers, as MXNet's; whether they do."""
        if name.startswith("upsampling"):
            Bilinear()._init_weight(name, arr)
        elif name.endswith("weight"):
            self._init_zero(name, arr)
        elif name.endswith("bias"):
            arr[:] = np.array([1.0, 0, 0, 0, 1.0, 0])  # the transformation that changes nothing
        else:
            return False
        return True

    def init_weight(self, name, arr):
        """Sets the array as a weight, whatever its name is."""
        self._init_weight(name, arr)

    def _init_weight(self, name, arr):
        raise NotImplementedError

    def _init_zero(self, _, arr):
        arr[:] = 0.0

    def _init_one(self, _, arr):
        arr[:] = 1.0

    # Of MXNet's names: who derives a class says by them how biases and the like begin.
    _init_bias, _init_beta, _init_gamma = _init_zero, _init_zero, _init_one

    def _init_default(self, name, arr):
        raise _strop.ValueError(f"initializer: nothing says how {str(name)!r} begins; its name ends in none of weight, bias, gamma and beta, "
                                "so say it with var(..., init=...)")


register = registry.get_register_func(Initializer, "initializer")
alias = registry.get_alias_func(Initializer, "initializer")
create = registry.get_create_func(Initializer, "initializer")


@register
@alias("zeros")
class Zero(Initializer):
    """Zeros."""

    def _init_weight(self, _, arr):
        arr[:] = 0


@register
@alias("ones")
class One(Initializer):
    """Ones."""

    def _init_weight(self, _, arr):
        arr[:] = 1


@register
class Constant(Initializer):
    """One value, or the elements of an array."""

    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, _, arr):
        arr[:] = self.value

    def dumps(self):
        value = self.value.asnumpy().tolist() if hasattr(self.value, "asnumpy") else np.asarray(self.value).tolist()
        return json.dumps(["constant", {"value": value}])


@register
class Uniform(Initializer):
    """Uniform numbers from -scale to scale."""

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _, arr):
        random.uniform(-self.scale, self.scale, out=arr)


@register
class Normal(Initializer):
    """Normal numbers of deviation sigma."""

    def __init__(self, sigma=0.01):
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _, arr):
        random.normal(0, self.sigma, out=arr)


@register
class Orthogonal(Initializer):
    """A matrix of orthogonal rows or columns, times scale."""

    def __init__(self, scale=1.414, rand_type="uniform"):
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale, self.rand_type = scale, rand_type

    def _init_weight(self, _, arr):
        rows, columns = arr.shape[0], int(np.prod(arr.shape[1:]))
        drawn = random.uniform(-1.0, 1.0, (rows, columns)) if self.rand_type == "uniform" else random.normal(0.0, 1.0, (rows, columns))
        left, _, right = np.linalg.svd(drawn.asnumpy(), full_matrices=False)
        arr[:] = self.scale * (left if left.shape == (rows, columns) else right).reshape(arr.shape)


def _fans(name, shape):
    """How many inputs and outputs a weight connects."""
    if len(shape) < 2:
        raise _strop.ValueError(f"initializer: {str(name)!r} has shape {shape}, expected at least two axes")
    area = math.prod(shape[2:])
    return shape[1] * area, shape[0] * area


@register
class Xavier(Initializer):
    """Random numbers of scale sqrt(magnitude / factor), where the factor is the number of inputs, outputs or their mean."""

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type, self.factor_type, self.magnitude = rnd_type, factor_type, float(magnitude)

    def _init_weight(self, name, arr):
        inputs, outputs = _fans(name, arr.shape)
        factors = {"avg": (inputs + outputs) / 2.0, "in": inputs, "out": outputs}
        if self.factor_type not in factors or self.rnd_type not in ("uniform", "gaussian"):
            raise _strop.ValueError(f"Xavier: factor_type is {self.factor_type!r} and rnd_type {self.rnd_type!r}, expected avg, in or out and uniform or gaussian")
        scale = math.sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == "uniform":
            random.uniform(-scale, scale, out=arr)
        else:
            random.normal(0, scale, out=arr)


@register
class MSRAPrelu(Xavier):
    """Xavier for leaky rectifiers of that slope."""

    def __init__(self, factor_type="avg", slope=0.25):
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(Initializer):
    """The weights of an upsampling by a convolution."""

    def _init_weight(self, _, arr):
        height, width = arr.shape[2], arr.shape[3]
        factor = math.ceil(width / 2.0)
        centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        x = 1 - np.abs(np.arange(width) / factor - centre)
        y = 1 - np.abs(np.arange(height) / factor - centre)
        arr[:] = np.broadcast_to(np.outer(y, x), arr.shape)

    def _init_default(self, name, arr):
        """As MXNet's, the weights of arrays called upsampling… whatever their name ends in."""
        if not name.startswith("upsampling"):
            super()._init_default(name, arr)
        self._init_weight(name, arr)


@register
class LSTMBias(Initializer):
    """Zeros, but for the forget gate."""

    def __init__(self, forget_bias=1.0):
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, _, arr):
        values = np.zeros(arr.shape)
        hidden = arr.shape[0] // 4
        values[hidden:2 * hidden] = self.forget_bias
        arr[:] = values


@register
class FusedRNN(Initializer):
    """The vector of parameters of rnn.FusedRNNCell, which is given the same numbers: each gate's weights and biases by `init`,
    None for the initializer of the whole network; biases of what an LSTM forgets are forget_bias."""

    def __init__(self, init, num_hidden, num_layers, mode, bidirectional=False, forget_bias=1.0):
        init = create(init) if isinstance(init, str) else init
        super().__init__(init=None if init is None else init.dumps(), num_hidden=num_hidden, num_layers=num_layers, mode=mode,
                         bidirectional=bidirectional, forget_bias=forget_bias)
        self._init, self._mode, self._forget_bias = init, mode, forget_bias
        self._cell = num_hidden, num_layers, mode, bidirectional

    def _init_weight(self, desc, arr):
        from .rnn import FusedRNNCell  # which stands on this module

        general = getattr(desc, "global_init", None)
        if self._init is None and general is None:
            raise _strop.ValueError(f"FusedRNN: {str(desc)!r} has no initializer of the whole network, which has to set it where init is None")
        cell = FusedRNNCell(*self._cell, forget_bias=self._forget_bias, prefix="")
        parts = cell.unpack_weights({"parameters": arr})
        for name, part in parts.items():
            if self._mode == "lstm" and name.endswith("_f_bias"):
                part[:] = self._forget_bias
            else:
                (self._init or general)(InitDesc(name, global_init=general), part)
        arr[:] = cell.pack_weights(parts)["parameters"]


class Mixed:
    """Patterns and initializers: of a name the first pattern that it matches decides."""

    def __init__(self, patterns, initializers):
        if len(patterns) != len(initializers):
            raise also(_strop.ValueError, AssertionError)(f"Mixed: {len(patterns)} patterns and {len(initializers)} initializers")
        self.map = [(re.compile(p), i) for p, i in zip(patterns, initializers)]

    def __call__(self, name, arr):
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(name, arr)
                return
        raise _strop.ValueError(f"Mixed: no pattern matches {str(name)!r}; the last one may be '.*'")


class Load:
    """Arrays of a file or a dictionary; what they lack is left to default_init."""

    def __init__(self, param, default_init=None, verbose=False):
        param = nd.load(param) if isinstance(param, str) else param
        self.param = {name.split(":", 1)[-1] if name.startswith(("arg:", "aux:")) else name: a for name, a in param.items()}
        self.default_init = default_init

    def __call__(self, name, arr):
        if name in self.param:
            if self.param[name].shape != arr.shape:
                raise also(_strop.ValueError, AssertionError)(f"Load: {str(name)!r} has shape {self.param[name].shape} in the file, expected {arr.shape}")
            arr[:] = self.param[name]
        elif self.default_init is not None:
            self.default_init(name, arr)
        else:
            raise also(_strop.ValueError, AssertionError)(f"Load: {str(name)!r} is not in the file, and there is no default_init")
