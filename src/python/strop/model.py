# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: a symbol and the arrays of its arguments and states in two files, as MXNet writes them.

``prefix-symbol.json`` is what ``Symbol.save`` writes, ``prefix-0003.params`` what ``nd.save`` writes of a dictionary, where
arguments are called ``arg:name`` and auxiliary states ``aux:name``. Either can be read by MXNet and its files here.
"""
import logging
from collections import namedtuple

from . import _strop, ndarray, symbol

__all__ = ["BatchEndParam", "load_checkpoint", "load_params", "save_checkpoint"]

BatchEndParam = namedtuple("BatchEndParams", ["epoch", "nbatch", "eval_metric", "locals"])
_KINDS = ("arg", "aux")


def _params_file(prefix, epoch):
    return f"{prefix}-{int(epoch):04d}.params"


def named_params(arg_params, aux_params):
    """One dictionary of both, as files have it: arg:name and aux:name."""
    return {f"{kind}:{name}": a for kind, arrays in zip(_KINDS, (arg_params, aux_params)) for name, a in (arrays or {}).items()}


def params_by_kind(function, path, found):
    """(arrays of the arguments, arrays of the states) of what a file of them has."""
    arg_params, aux_params = {}, {}
    if not isinstance(found, dict):
        raise _strop.ValueError(f"{function}: the arrays of {path} have no names, expected arg:name and aux:name")
    for key, a in found.items():
        kind, colon, name = key.partition(":")
        if not colon:
            raise _strop.ValueError(f"{function}: an array of {path} is called {key!r}, expected arg:name or aux:name")
        {"arg": arg_params, "aux": aux_params}.get(kind, {})[name] = a
    return arg_params, aux_params


def save_checkpoint(prefix, epoch, symbol, arg_params, aux_params, remove_amp_cast=True):  # pylint: disable=redefined-outer-name
    """Writes ``prefix-symbol.json``, where the symbol is not None, and the arrays to ``prefix-<epoch>.params``, whose number
    has four digits or more."""
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
    path = _params_file(prefix, epoch)
    ndarray.save(path, named_params(arg_params, aux_params))
    logging.info('Saved checkpoint to "%s"', path)


def load_params(prefix, epoch):
    """(arrays of the arguments, arrays of the states) of ``prefix-<epoch>.params``, by their names; arrays of other kinds,
    ``kind:name``, are passed over. A ValueError where a name has no kind."""
    path = _params_file(prefix, epoch)
    found = ndarray.load(path)
    if not found:
        logging.warning("Params file '%s' is empty", path)
        return {}, {}
    return params_by_kind("load_params", path, found)


def load_checkpoint(prefix, epoch):
    """(symbol, arrays of the arguments, arrays of the states) of what save_checkpoint wrote."""
    return (symbol.load(f"{prefix}-symbol.json"), *load_params(prefix, epoch))
