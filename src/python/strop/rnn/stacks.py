# SPDX-License-Identifier: Apache-2.0
"""Cells of cells: one upon the other, and two that go through a sequence in both directions."""
from .. import symbol
from .cells import BaseRNNCell, as_asked, refuse, steps_of

__all__ = ["BidirectionalCell", "SequentialRNNCell"]


class _CellOfCells(BaseRNNCell):
    """States, weights and variables are those of its cells, one after the other."""

    def __init__(self, params):
        super().__init__("", params)
        self._override_cell_params = params is not None
        self._cells = []

    def _take(self, cell):
        if self._override_cell_params:
            if not cell._own_params:
                refuse(f"{type(self).__name__}: it was given params and so was a cell of it, or the cell has made its own; give them to the cells alone")
            cell.params._params.update(self.params._params)
        self.params._params.update(cell.params._params)
        self._cells.append(cell)

    @property
    def state_info(self):
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, **kwargs):  # pylint: disable=arguments-differ
        self._check_not_modified()
        return [state for cell in self._cells for state in cell.begin_state(**kwargs)]

    def _with_states(self, states):
        """(cell, its part of the states) of each cell."""
        at = 0
        for cell in self._cells:
            number = len(cell.state_info)
            yield cell, states[at:at + number]
            at += number

    def unpack_weights(self, args):
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args):
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args


class SequentialRNNCell(_CellOfCells):
    """A stack: each cell is given the output of the one added before."""

    def __init__(self, params=None):
        super().__init__(params)

    def add(self, cell):
        """Puts a cell upon the stack."""
        self._take(cell)

    def __call__(self, inputs, states):
        self._counter += 1
        after = []
        for cell, own in self._with_states(states):
            if isinstance(cell, BidirectionalCell):
                refuse("SequentialRNNCell: a BidirectionalCell of it has no single steps; call unroll()")
            inputs, own = cell(inputs, own)
            after += own
        return inputs, after

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        after = []
        for number, (cell, own) in enumerate(self._with_states(states), 1):
            inputs, own = cell.unroll(length, inputs=inputs, begin_state=own, layout=layout, merge_outputs=merge_outputs if number == len(self._cells) else None)
            after += own
        return inputs, after


class BidirectionalCell(_CellOfCells):
    """Two cells side by side, of which the second one goes from the last step to the first; outputs of a step are joined."""

    def __init__(self, l_cell, r_cell, params=None, output_prefix="bi_"):
        super().__init__(params)
        self._output_prefix = output_prefix
        for cell in (l_cell, r_cell):
            self._take(cell)

    def __call__(self, inputs, states):
        raise NotImplementedError("BidirectionalCell: it has no single steps; call unroll()")

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        inputs = steps_of(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        outputs, after = [], []
        for (cell, own), steps in zip(self._with_states(states), (inputs, list(reversed(inputs)))):
            output, own = cell.unroll(length, inputs=steps, begin_state=own, layout=layout, merge_outputs=merge_outputs)
            outputs.append(output)
            after.append(own)
        if merge_outputs is None:
            merge_outputs = all(isinstance(output, symbol.Symbol) for output in outputs)
        there, back = (as_asked(length, output, layout, bool(merge_outputs)) for output in outputs)
        if merge_outputs:
            back = symbol.reverse(back, axis=layout.find("T"))
            return symbol.Concat(there, back, dim=2, name=f"{self._output_prefix}out"), after
        return [symbol.Concat(*both, dim=1, name=f"{self._output_prefix}t{step}") for step, both in enumerate(zip(there, reversed(back)))], after
