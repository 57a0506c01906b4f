# SPDX-License-Identifier: Apache-2.0
"""Every operator against NumPy, in every type that it serves: references/ has the formulas."""
import collections

import numpy as np
import pytest

import strop as mx
from references import CASES, FLOATS, TYPES, make

nd = mx.nd
# What has no formula there, and why.
WITHOUT = {}


def called(one, dtype, rng):
    """[the results of a call, then the inputs that it writes], and what the inputs were."""
    operator = mx._strop.Operator(one.name, one.name, False)
    kinds = [dtype if i.dtype in (None, "places") else i.dtype for i in one.inputs]
    arrays = [make(i, dtype, rng) for i in one.inputs]
    given = [nd.array(a, dtype=kind) for a, kind in zip(arrays, kinds)]
    given = [a if i.stype is None else a.tostype(i.stype) for a, i in zip(given, one.inputs)]
    with mx.autograd.train_mode() if one.train else mx.autograd.predict_mode():
        made = operator(*given, **one.params)
    written = [a for a, about in zip(given, operator.description["inputs"]) if about["written"]]
    return [a.asnumpy() for a in [*(made if isinstance(made, list) else [made]), *written]], [a.astype("f8") for a in arrays]


def name_of(one):
    return "-".join([one.name, *(f"{k}={v}" for k, v in one.params.items() if isinstance(v, (str, bool)))])


@pytest.mark.parametrize("one", CASES, ids=name_of)
def test_as_numpy_has_it(one):
    mx.random.seed(7)
    served = set(mx._strop.Operator(one.name, one.name, False).description["dtypes"] or TYPES) & set(one.types)
    assert served
    for dtype in sorted(served):
        made, arrays = called(one, dtype, np.random.default_rng(5))
        one.check(made, arrays, dtype)


def test_every_operator_has_a_reference():
    """A new operator has its formula in references/, or stands in WITHOUT with the reason."""
    own = {names[0] for names in mx._strop.list_operators() if not names[0].startswith("_grad_")}
    covered = {mx._strop.Operator(one.name, one.name, False).description["name"] for one in CASES}
    assert own - covered - set(WITHOUT) == set()
    assert not covered & set(WITHOUT) and set(WITHOUT) <= own
    types = collections.defaultdict(set)
    for one in CASES:
        types[one.name] |= set(one.types)
    assert all(kinds & {*FLOATS, "int32", "int64"} for kinds in types.values())
