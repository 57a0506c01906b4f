# SPDX-License-Identifier: Apache-2.0
"""Layers of cells as one operator, whose parameters are one vector."""
import math
import warnings

from .. import _strop, initializer, nd, symbol
from ..base import also, counted
from .cells import BaseRNNCell, GRUCell, LSTMCell, RNNCell, as_asked, joined, refuse
from .modifiers import DropoutCell
from .stacks import BidirectionalCell, SequentialRNNCell

__all__ = ["FusedRNNCell"]

_GATES = {"rnn_relu": [""], "rnn_tanh": [""], "lstm": ["_i", "_f", "_c", "_o"], "gru": ["_r", "_z", "_o"]}


class FusedRNNCell(BaseRNNCell):
    """All steps of some layers by the operator RNN: unrolled as a whole, never called step by step. dropout acts between
    layers; get_next_state says whether unroll() returns the states behind the last step."""

    def __init__(self, num_hidden, num_layers=1, mode="lstm", bidirectional=False, dropout=0.0, get_next_state=False, forget_bias=1.0,
                 prefix=None, params=None):
        if mode not in _GATES:
            raise also(_strop.ValueError, KeyError)(f"FusedRNNCell: mode is {mode!r}, expected one of {', '.join(_GATES)}")
        super().__init__(f"{mode}_" if prefix is None else prefix, params)
        self._num_hidden, self._num_layers, self._mode, self._bidirectional = num_hidden, num_layers, mode, bidirectional
        self._dropout, self._get_next_state = dropout, get_next_state
        self._directions = ["l", "r"] if bidirectional else ["l"]
        init = initializer.FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self.params.get("parameters", init=init)

    @property
    def state_info(self):
        shape = (len(self._directions) * self._num_layers, 0, self._num_hidden)
        return [{"shape": shape, "__layout__": "LNC"} for _ in range(2 if self._mode == "lstm" else 1)]

    @property
    def _gate_names(self):
        return _GATES[self._mode]

    def _parts(self, num_input):
        """(name, shape) of the gates' arrays in the order that they lie in: all weights, then all biases."""
        hidden = self._num_hidden
        for kind in ("weight", "bias"):
            for layer in range(self._num_layers):
                width = len(self._directions) * hidden if layer else num_input
                for direction in self._directions:
                    for of, columns in (("i2h", width), ("h2h", hidden)):
                        for gate in self._gate_names:
                            yield f"{self._prefix}{direction}{layer}_{of}{gate}_{kind}", (hidden, columns) if kind == "weight" else (hidden,)

    def _size(self, num_input):
        """How many parameters there are."""
        return sum(math.prod(shape) for _, shape in self._parts(num_input))

    def unpack_weights(self, args):
        args = args.copy()
        vector = args.pop(self._parameter.name)
        least, column = self._size(0), self._size(1) - self._size(0)
        num_input, rest = divmod(vector.size - least, column)
        if rest or num_input < 0:
            refuse(f"FusedRNNCell: {self._parameter.name} has {counted(vector.size, 'element')}, expected {least} and {column} for each feature of the input")
        at = 0
        for name, shape in self._parts(num_input):
            args[name] = vector[at:at + math.prod(shape)].reshape(shape).copy()
            at += math.prod(shape)
        return args

    def pack_weights(self, args):
        args = args.copy()
        first = args[f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"]
        arrays = []
        for name, shape in self._parts(first.shape[1]):
            if args[name].shape != shape:
                raise _strop.ValueError(f"FusedRNNCell: {name} has shape {args[name].shape}, expected {shape}")
            arrays.append(args.pop(name).reshape((-1,)))
        args[self._parameter.name] = nd.concatenate(arrays)
        return args

    def __call__(self, inputs, states):
        raise NotImplementedError("FusedRNNCell: it has no single steps; call unroll(), or unfuse() first")

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        if inputs is None:
            refuse("unroll: there are no inputs; make variables of them first")
        if not isinstance(inputs, symbol.Symbol) and length is not None and len(inputs) != length:
            refuse(f"unroll: {counted(len(inputs), 'input')} for {length} steps")
        axis = layout.find("T")
        if axis not in (0, 1):
            refuse(f"FusedRNNCell: layout is {layout!r}, expected TNC or NTC")
        inputs = joined(inputs, layout)
        if axis == 1:
            warnings.warn("FusedRNNCell: the layout is NTC; TNC spares two transpositions", stacklevel=2)
            inputs = symbol.swapaxes(inputs, dim1=0, dim2=1)
        states = self.begin_state() if begin_state is None else begin_state
        named = dict(zip(("state", "state_cell") if self._mode == "lstm" else ("state",), states))
        rnn = symbol.RNN(data=inputs, parameters=self._parameter, state_size=self._num_hidden, num_layers=self._num_layers,
                         bidirectional=self._bidirectional, p=self._dropout, state_outputs=self._get_next_state, mode=self._mode,
                         name=f"{self._prefix}rnn", **named)
        outputs, states = rnn, []
        if self._get_next_state:
            outputs, *states = list(rnn)[:1 + len(named)]
            for state in states:
                state._set_attr(__layout__="LNC")
        if axis == 1:
            outputs = symbol.swapaxes(outputs, dim1=0, dim2=1)
        return as_asked(length, outputs, layout, merge_outputs), states

    def unfuse(self):
        """A SequentialRNNCell of the same layers, which can be called step by step and has the same weights unpacked."""
        kinds = {"rnn_relu": lambda prefix: RNNCell(self._num_hidden, "relu", prefix), "rnn_tanh": lambda prefix: RNNCell(self._num_hidden, "tanh", prefix),
                 "lstm": lambda prefix: LSTMCell(self._num_hidden, prefix), "gru": lambda prefix: GRUCell(self._num_hidden, prefix)}
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            cells = [kinds[self._mode](f"{self._prefix}{direction}{layer}_") for direction in self._directions]
            stack.add(BidirectionalCell(*cells, output_prefix=f"{self._prefix}bi_l{layer}_") if self._bidirectional else cells[0])
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer}_"))
        return stack
