# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of networks of cells: files have the arrays of each gate, programs the packed ones."""
from ..model import load_checkpoint, save_checkpoint
from .cells import BaseRNNCell

__all__ = ["do_rnn_checkpoint", "load_rnn_checkpoint", "rnn_unroll", "save_rnn_checkpoint"]


def _listed(cells):
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def rnn_unroll(cell, length, inputs=None, begin_state=None, input_prefix="", layout="NTC"):  # pylint: disable=unused-argument
    """An older name of cell.unroll(); the prefix has no effect."""
    return cell.unroll(length, inputs, begin_state, layout)


def save_rnn_checkpoint(cells, prefix, epoch, symbol, arg_params, aux_params):
    """model.save_checkpoint() with the weights of one cell or several unpacked."""
    for cell in _listed(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells, prefix, epoch):
    """(symbol, arrays of the arguments, arrays of the states) of what save_rnn_checkpoint wrote."""
    symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _listed(cells):
        arg_params = cell.pack_weights(arg_params)
    return symbol, arg_params, aux_params


def do_rnn_checkpoint(cells, prefix, period=1):
    """A function to be called behind each epoch with its number, from 0, symbol and arrays, which saves a checkpoint of
    every period-th one."""
    period = max(1, int(period))

    def save(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)

    return save
