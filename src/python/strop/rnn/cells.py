# SPDX-License-Identifier: Apache-2.0
"""Cells: what one step of a recurrent network makes of an input and of the states behind the step before.

Nodes and parameters have MXNet's names, those that nobody names the numbers which follow from the order they are made in.
"""
from .. import _strop, initializer, nd, symbol
from ..base import also, counted

__all__ = ["BaseRNNCell", "GRUCell", "LSTMCell", "RNNCell", "RNNParams"]


def refuse(text):
    """Raises what MXNet raises as a failed assertion."""
    raise also(_strop.ValueError, AssertionError)(text)


def steps_of(length, inputs, layout):
    """The inputs step by step: a list as it is, a symbol cut along the axis that its layout calls T."""
    if inputs is None:
        refuse("unroll: there are no inputs; make variables of them first")
    if isinstance(inputs, symbol.Symbol):
        if len(inputs.list_outputs()) != 1:
            refuse(f"unroll: the input has {counted(len(inputs.list_outputs()), 'output')}, expected one symbol for all steps, or list(inputs) for one each")
        return list(symbol.split(inputs, axis=layout.find("T"), num_outputs=length, squeeze_axis=1))
    if length is not None and len(inputs) != length:
        refuse(f"unroll: {counted(len(inputs), 'input')} for {length} steps")
    return inputs


def joined(steps, layout):
    """One symbol of all steps, as its layout says; such a symbol as it is."""
    if isinstance(steps, symbol.Symbol):
        return steps
    axis = layout.find("T")
    return symbol.Concat(*[symbol.expand_dims(step, axis=axis) for step in steps], dim=axis)


def as_asked(length, outputs, layout, merge_outputs):
    """Outputs as a list or as one symbol; as they came where merge_outputs is None."""
    if merge_outputs is None:
        return outputs
    return joined(outputs, layout) if merge_outputs else steps_of(length, outputs, layout)


class RNNParams:
    """Variables by their names, made when one is first asked for: cells that are given the same ones share weights."""

    def __init__(self, prefix=""):
        self._prefix, self._params = prefix, {}

    def get(self, name, **kwargs):
        """The variable of that name behind the prefix; what else is given says how a new one is made."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.Variable(name, **kwargs)
        return self._params[name]


class BaseRNNCell:
    """What all cells share: derive, and write state_info and __call__(inputs, states), which returns the output and the
    new states of a step. Parameters are called by the prefix, or by that of the params they are shared with."""

    _cells = ()

    def __init__(self, prefix="", params=None):
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False  # whether another cell stands around this one, which is to be called instead
        self.reset()

    def reset(self):
        """Begins another graph: names of steps and states count from 0."""
        self._init_counter = self._counter = -1
        for cell in self._cells:
            cell.reset()

    def __call__(self, inputs, states):
        raise NotImplementedError

    def _next_name(self):
        """What names of the nodes of the next step begin with."""
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"

    @property
    def params(self):
        """The variables of this cell; whoever asks for them may share them."""
        self._own_params = False
        return self._params

    @property
    def state_info(self):
        """Shape and layout of each state, as a dictionary; 0 for the extent of the batch."""
        raise NotImplementedError

    @property
    def state_shape(self):
        """Shape of each state."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self):
        """What names of the gates' parts of a weight end in, in the order that they lie in."""
        return ()

    def _check_not_modified(self):
        if self._modified:
            refuse(f"begin_state: a modifier cell stands around this {type(self).__name__}; call that one instead")

    def begin_state(self, func=symbol.zeros, **kwargs):
        """The states before the first step, each made by func, which is given its name, its shape and layout and what is
        given here: ``func=sym.Variable`` makes states that are bound like inputs."""
        self._check_not_modified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            kwargs.update(info or {})
            states.append(func(name=f"{self._prefix}begin_state_{self._init_counter}", **kwargs))
        return states

    def _packed(self):
        """(name of an array, names of its gates' parts) of all that has parts."""
        for of in ("i2h", "h2h") if self._gate_names else ():
            for kind in ("weight", "bias"):
                yield f"{self._prefix}{of}_{kind}", [f"{self._prefix}{of}{gate}_{kind}" for gate in self._gate_names]

    def unpack_weights(self, args):
        """{name: array} with an array for each gate in place of this cell's weights and biases."""
        args = args.copy()
        for packed, parts in self._packed():
            whole, hidden = args.pop(packed), self._num_hidden
            args.update((part, whole[i * hidden:(i + 1) * hidden].copy()) for i, part in enumerate(parts))
        return args

    def pack_weights(self, args):
        """What unpack_weights was given, from what it returned."""
        args = args.copy()
        for packed, parts in self._packed():
            args[packed] = nd.concatenate([args.pop(part) for part in parts])
        return args

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """(outputs, states behind the last step) of so many steps. Inputs are a list of symbols of shape (batch, ...), or one
        of shape (batch, length, ...), for layout TNC (length, batch, ...). merge_outputs: whether outputs are such a symbol
        rather than a list; None leaves them as they come."""
        self.reset()
        inputs = steps_of(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in range(length):
            output, states = self(inputs[step], states)
            outputs.append(output)
        return as_asked(length, outputs, layout, merge_outputs), states

    def _get_activation(self, inputs, activation, **kwargs):
        """An activation by its name, or what a function makes of the inputs."""
        if isinstance(activation, str):
            return symbol.Activation(inputs, act_type=activation, **kwargs)
        return activation(inputs, **kwargs)


class _FullCell(BaseRNNCell):
    """Cells whose gates are sums of two layers, of the input and of the state."""

    def __init__(self, num_hidden, prefix, params, **bias):
        super().__init__(prefix, params)
        self._num_hidden = num_hidden
        self._iW, self._iB = self.params.get("i2h_weight"), self.params.get("i2h_bias", **bias)
        self._hW, self._hB = self.params.get("h2h_weight"), self.params.get("h2h_bias")

    @property
    def state_info(self):
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"}]

    def _layers(self, inputs, states, name):
        """The two layers of all gates."""
        units = self._num_hidden * len(self._gate_names)
        return (symbol.FullyConnected(data=inputs, weight=self._iW, bias=self._iB, num_hidden=units, name=f"{name}i2h"),
                symbol.FullyConnected(data=states[0], weight=self._hW, bias=self._hB, num_hidden=units, name=f"{name}h2h"))


class PlainGates:
    """A step without gates: the activation of the sum of the two layers is output and state."""

    @property
    def _gate_names(self):
        return ("",)

    def __call__(self, inputs, states):
        name = self._next_name()
        i2h, h2h = self._layers(inputs, states, name)
        output = self._get_activation(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


class LSTMGates:
    """A step of a long short-term memory: gates of the input, of what is forgotten, and of the output."""

    _activation = "tanh"
    _axis = {}  # what SliceChannel is told of the channels' axis

    @property
    def _gate_names(self):
        return ["_i", "_f", "_c", "_o"]

    def __call__(self, inputs, states):
        name = self._next_name()
        i2h, h2h = self._layers(inputs, states, name)
        parts = symbol.SliceChannel(i2h + h2h, num_outputs=4, name=f"{name}slice", **self._axis)
        enter, forget = (symbol.Activation(parts[i], act_type="sigmoid", name=name + "if"[i]) for i in range(2))
        content = self._get_activation(parts[2], self._activation, name=f"{name}c")
        leave = symbol.Activation(parts[3], act_type="sigmoid", name=f"{name}o")
        memory = symbol._internal._plus(forget * states[1], enter * content, name=f"{name}state")
        output = symbol._internal._mul(leave, self._get_activation(memory, self._activation), name=f"{name}out")
        return output, [output, memory]


class GRUGates:
    """A step of a gated unit, as cuDNN has it: the gate of resetting acts on the layer of the state, not on the state."""

    _activation = "tanh"

    @property
    def _gate_names(self):
        return ["_r", "_z", "_o"]

    def __call__(self, inputs, states):
        name = self._next_name()
        i2h, h2h = self._layers(inputs, states, name)
        i2h, h2h = (list(symbol.SliceChannel(layer, num_outputs=3, name=f"{name}_{of}_slice")) for of, layer in (("i2h", i2h), ("h2h", h2h)))
        reset, update = (symbol.Activation(i2h[i] + h2h[i], act_type="sigmoid", name=f"{name}_{'rz'[i]}_act") for i in range(2))
        content = self._get_activation(i2h[2] + reset * h2h[2], self._activation, name=f"{name}_h_act")
        output = symbol._internal._plus((1.0 - update) * content, update * states[0], name=f"{name}out")
        return output, [output]


class RNNCell(PlainGates, _FullCell):
    """activation(W x + b + W' h + b')."""

    def __init__(self, num_hidden, activation="tanh", prefix="rnn_", params=None):
        super().__init__(num_hidden, prefix, params)
        self._activation = activation


class LSTMCell(LSTMGates, _FullCell):
    """A long short-term memory: states are the output and the memory. The bias of what is forgotten begins with forget_bias."""

    def __init__(self, num_hidden, prefix="lstm_", params=None, forget_bias=1.0):
        super().__init__(num_hidden, prefix, params, init=initializer.LSTMBias(forget_bias=forget_bias))

    @property
    def state_info(self):
        return super().state_info * 2


class GRUCell(GRUGates, _FullCell):
    """A gated recurrent unit."""

    def __init__(self, num_hidden, prefix="gru_", params=None):
        super().__init__(num_hidden, prefix, params)

    def _layers(self, inputs, states, name):
        return super()._layers(inputs, states, f"{name}_")
