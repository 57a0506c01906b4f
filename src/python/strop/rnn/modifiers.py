# SPDX-License-Identifier: Apache-2.0
"""Cells that change what other cells give or take."""
import contextlib
import numbers

from .. import symbol
from .cells import BaseRNNCell, as_asked, refuse
from .stacks import BidirectionalCell, SequentialRNNCell

__all__ = ["DropoutCell", "ModifierCell", "ResidualCell", "ZoneoutCell"]


class DropoutCell(BaseRNNCell):
    """Drops that part of the inputs; it has no state."""

    def __init__(self, dropout, prefix="dropout_", params=None):
        super().__init__(prefix, params)
        if not isinstance(dropout, numbers.Real):
            refuse(f"DropoutCell: dropout is of type {type(dropout).__name__}, expected a number")
        self.dropout = dropout

    @property
    def state_info(self):
        return []

    def __call__(self, inputs, states):
        return symbol.Dropout(data=inputs, p=self.dropout) if self.dropout > 0 else inputs, states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        inputs = as_asked(length, inputs, layout, merge_outputs)
        if isinstance(inputs, symbol.Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class ModifierCell(BaseRNNCell):
    """What cells around another cell share: derive, and write __call__. The other one is from then on called by this one alone."""

    def __init__(self, base_cell):
        super().__init__()
        base_cell._modified = True
        self.base_cell = base_cell

    @property
    def params(self):
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self):
        return self.base_cell.state_info

    @contextlib.contextmanager
    def _calling(self):
        """The cell inside, which may be called meanwhile."""
        self.base_cell._modified = False
        try:
            yield self.base_cell
        finally:
            self.base_cell._modified = True

    def begin_state(self, init_sym=symbol.zeros, **kwargs):  # pylint: disable=arguments-differ,arguments-renamed
        self._check_not_modified()
        kwargs.setdefault("func", init_sym)  # what a stack, whose other cells call it so, hands on
        with self._calling() as cell:
            return cell.begin_state(**kwargs)

    def unpack_weights(self, args):
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args):
        return self.base_cell.pack_weights(args)

    def __call__(self, inputs, states):
        raise NotImplementedError


def _has_two_directions(cell):
    return isinstance(cell, BidirectionalCell) or isinstance(cell, SequentialRNNCell) and any(map(_has_two_directions, cell._cells))


class ZoneoutCell(ModifierCell):
    """Keeps that part of outputs and of states as they were a step before, while training."""

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        from .fused import FusedRNNCell

        if isinstance(base_cell, FusedRNNCell):
            refuse("ZoneoutCell: a FusedRNNCell has no single steps; call unfuse() first")
        if _has_two_directions(base_cell):
            refuse("ZoneoutCell: a BidirectionalCell has no single steps; put a ZoneoutCell around each of its cells")
        super().__init__(base_cell)
        self.zoneout_outputs, self.zoneout_states = zoneout_outputs, zoneout_states

    def reset(self):
        super().reset()
        self.prev_output = None

    def __call__(self, inputs, states):
        def mixed(part, new, old):
            return symbol.where(symbol.Dropout(symbol.ones_like(new), p=part), new, old)

        output, after = self.base_cell(inputs, states)
        before = symbol.zeros((0, 0)) if self.prev_output is None else self.prev_output
        if self.zoneout_outputs:
            output = mixed(self.zoneout_outputs, output, before)
        if self.zoneout_states:
            after = [mixed(self.zoneout_states, new, old) for new, old in zip(after, states)]
        self.prev_output = output
        return output, after


class ResidualCell(ModifierCell):
    """Adds the inputs to the outputs."""

    @staticmethod
    def _sum(output, inputs):
        return symbol.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")

    def __call__(self, inputs, states):
        output, states = self.base_cell(inputs, states)
        return self._sum(output, inputs), states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        with self._calling() as cell:
            outputs, states = cell.unroll(length, inputs=inputs, begin_state=begin_state, layout=layout, merge_outputs=merge_outputs)
        merged = isinstance(outputs, symbol.Symbol) if merge_outputs is None else merge_outputs
        inputs = as_asked(length, inputs, layout, bool(merged))
        return self._sum(outputs, inputs) if merged else [self._sum(*both) for both in zip(outputs, inputs)], states
