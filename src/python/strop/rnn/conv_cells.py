# SPDX-License-Identifier: Apache-2.0
"""Cells whose layers are convolutions: inputs and states are images."""
import functools

from .. import symbol
from .cells import BaseRNNCell, GRUGates, LSTMGates, PlainGates, refuse

__all__ = ["BaseConvRNNCell", "ConvGRUCell", "ConvLSTMCell", "ConvRNNCell"]

_LEAKY = functools.partial(symbol.LeakyReLU, act_type="leaky", slope=0.2)


class BaseConvRNNCell(BaseRNNCell):
    """What cells of convolutions share. The convolution of states is filled up such that their extents stay, which odd
    kernels alone allow; input_shape is that of the input of one step, with the batch."""

    def __init__(self, input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate, i2h_weight_initializer,
                 h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, activation, prefix="", params=None, conv_layout="NCHW"):
        super().__init__(prefix, params)
        if any(extent % 2 == 0 for extent in h2h_kernel):
            refuse(f"{type(self).__name__}: h2h_kernel is {h2h_kernel}, expected odd extents")
        if conv_layout not in ("NCHW", "NCW", "NCDHW"):
            refuse(f"{type(self).__name__}: conv_layout is {conv_layout!r}, expected channels behind the batch, NCHW")
        self._num_hidden, self._activation, self._conv_layout = num_hidden, activation, conv_layout
        self._i2h = {"kernel": i2h_kernel, "stride": i2h_stride, "pad": i2h_pad, "dilate": i2h_dilate, "layout": conv_layout}
        pad = tuple(step * (extent - 1) // 2 for extent, step in zip(h2h_kernel, h2h_dilate))
        self._h2h = {"kernel": h2h_kernel, "stride": (1,) * len(h2h_kernel), "pad": pad, "dilate": h2h_dilate, "layout": conv_layout}
        made = symbol.Convolution(data=symbol.Variable("data"), num_filter=num_hidden, **self._i2h).infer_shape(data=input_shape)[1][0]
        self._state_shape = (0, *made[1:])
        self._iW, self._hW = self.params.get("i2h_weight", init=i2h_weight_initializer), self.params.get("h2h_weight", init=h2h_weight_initializer)
        self._iB, self._hB = self.params.get("i2h_bias", init=i2h_bias_initializer), self.params.get("h2h_bias", init=h2h_bias_initializer)

    @property
    def state_info(self):
        return [{"shape": self._state_shape, "__layout__": self._conv_layout}]

    def _layers(self, inputs, states, name):
        """The two convolutions of all gates."""
        filters = self._num_hidden * len(self._gate_names)
        return (symbol.Convolution(data=inputs, weight=self._iW, bias=self._iB, num_filter=filters, name=f"{name}i2h", **self._i2h),
                symbol.Convolution(data=states[0], weight=self._hW, bias=self._hB, num_filter=filters, name=f"{name}h2h", **self._h2h))


class ConvRNNCell(PlainGates, BaseConvRNNCell):
    """activation(W * x + b + W' * h + b'), where * is a convolution."""

    def __init__(self, input_shape, num_hidden, h2h_kernel=(3, 3), h2h_dilate=(1, 1), i2h_kernel=(3, 3), i2h_stride=(1, 1), i2h_pad=(1, 1),
                 i2h_dilate=(1, 1), i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer="zeros",
                 h2h_bias_initializer="zeros", activation=_LEAKY, prefix="ConvRNN_", params=None, conv_layout="NCHW"):
        super().__init__(input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate, i2h_weight_initializer,
                         h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, activation, prefix, params, conv_layout)


class ConvLSTMCell(LSTMGates, BaseConvRNNCell):
    """A long short-term memory of images."""

    _axis = {"axis": 1}  # which MXNet says in its nodes

    def __init__(self, input_shape, num_hidden, h2h_kernel=(3, 3), h2h_dilate=(1, 1), i2h_kernel=(3, 3), i2h_stride=(1, 1), i2h_pad=(1, 1),
                 i2h_dilate=(1, 1), i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer="zeros",
                 h2h_bias_initializer="zeros", activation=_LEAKY, prefix="ConvLSTM_", params=None, conv_layout="NCHW"):
        super().__init__(input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate, i2h_weight_initializer,
                         h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, activation, prefix, params, conv_layout)

    @property
    def state_info(self):
        return super().state_info * 2


class ConvGRUCell(GRUGates, BaseConvRNNCell):
    """A gated recurrent unit of images."""

    def __init__(self, input_shape, num_hidden, h2h_kernel=(3, 3), h2h_dilate=(1, 1), i2h_kernel=(3, 3), i2h_stride=(1, 1), i2h_pad=(1, 1),
                 i2h_dilate=(1, 1), i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer="zeros",
                 h2h_bias_initializer="zeros", activation=_LEAKY, prefix="ConvGRU_", params=None, conv_layout="NCHW"):
        super().__init__(input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate, i2h_weight_initializer,
                         h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, activation, prefix, params, conv_layout)
