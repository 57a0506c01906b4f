# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python that raise: the exception arrives, says where, and keeps what it holds."""
import copy
import pickle
import subprocess
import sys
import traceback

import pytest

import strop as mx
from strop import nd, sym



class Troubled(mx.operator.CustomOp):
    def __init__(self, where):
        self.where = where

    def forward(self, is_train, req, in_data, out_data, aux):
        if self.where == "forward":
            raise LookupError("on the way")
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        raise LookupError("on the way back")


@mx.operator.register("troubled")
class TroubledProp(mx.operator.CustomOpProp):
    def __init__(self, where):
        super().__init__()
        self.where = where

    def infer_shape(self, in_shape):
        if self.where == "infer_shape":
            raise LookupError("no shape")
        return (in_shape, in_shape * 2, []) if self.where == "count" else (in_shape, in_shape, [])

    def infer_type(self, in_type):
        if self.where == "infer_type":
            raise LookupError("no type")
        return in_type, in_type, []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        if self.where == "create":
            raise LookupError("no operator")
        return Troubled(self.where)


@pytest.mark.parametrize("where", ["infer_shape", "infer_type", "create", "forward", "backward"])
def test_failures_in_a_graph_say_where(where):
    def work():
        run = sym.Custom(sym.var("x") * 2, op_type="troubled", where=where).simple_bind(mx.cpu(), x=(2,))
        run.forward(is_train=True)
        run.backward(nd.ones((2,)))

    with pytest.raises(LookupError) as caught:
        work()
    assert isinstance(caught.value, mx.MXNetError)
    assert f"in {'create_operator' if where == 'create' else where}\n" in "".join(traceback.format_tb(caught.value.__traceback__))


class Own(LookupError):
    """Has more than arguments, and counts its calls of __init__."""

    calls = 0

    def __init__(self, number, *, hint):
        super().__init__(f"number {number}")
        self.number, self.hint = number, hint
        Own.calls += 1


class Slots(OSError):
    __slots__ = ("place", "unset")

    def __init__(self, place):
        super().__init__(2, "is not there", place)
        self.place = place


class Narrow(Exception):
    def __new__(cls, one, *, other):
        return super().__new__(cls, one)

    def __init__(self, one, *, other):
        super().__init__()


class Alone(Exception):
    """Of which no class can be derived."""

    def __init_subclass__(cls, **_):
        raise RuntimeError("nobody derives")


RAISED = {
    "file": lambda: open("/nothing/like/this", encoding="utf-8"),
    "unicode": lambda: b"\xff".decode(),
    "key": lambda: {}["there"],
    "import": lambda: __import__("nothing_like_this"),
    "stop": lambda: next(iter(())),
    "runtime": lambda: (_ for _ in ()).throw(RuntimeError("late")),
    "recursion": lambda: (_ for _ in ()).throw(RecursionError("deep")),
    "plain": lambda: (_ for _ in ()).throw(Exception("plain")),
    "syntax": lambda: compile("a b", "here.py", "exec"),
    "several": lambda: (_ for _ in ()).throw(ExceptionGroup("both", [KeyError(1), ValueError(2)])),
    "exit code": lambda: subprocess.run([sys.executable, "-c", "raise SystemExit(3)"], check=True),
    "attributes": lambda: (_ for _ in ()).throw(Own(7, hint="less")),
    "slots": lambda: (_ for _ in ()).throw(Slots("x")),
    "assertion": lambda: (_ for _ in ()).throw(AssertionError),
}


def kept(error):
    """What an exception holds: its fields and what it prints."""
    names = ("errno", "strerror", "filename", "encoding", "object", "start", "reason", "name", "path", "msg", "lineno", "text", "message", "number", "hint", "place",
             "returncode", "cmd")
    held = {name: getattr(error, name) for name in names if hasattr(error, name)}
    return {**held, "str": str(error)} if str(error) else held


class Coded(Exception):
    """Says itself how it is made again, as by a class of its own."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code, self.made = code, "by __init__"

    def __reduce__(self):
        return (self.__class__, (self.code, self.args[0]))


class CodedByProtocol(Coded):
    def __reduce_ex__(self, protocol):
        return (self.__class__, (self.code, self.args[0]))


class CodedWithState(Coded):
    def __reduce__(self):
        return (self.__class__, (self.code, self.args[0]), {"made": "by its state"})


def rebuilt(kind, *given):
    return kind(*given)


class CodedByFunction(Coded):
    def __reduce__(self):
        return (rebuilt, (type(self), self.code, self.args[0]))


@pytest.mark.parametrize("kind", [Coded, CodedByProtocol, CodedWithState, CodedByFunction])
def test_failures_that_say_how_they_are_pickled(kind):
    def step():
        raise kind(7, "seven")

    Raising.step = step
    error = raised(lambda: nd.Custom(nd.ones((2,)), op_type="raising"))
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(error))))):
        assert isinstance(again, kind) and isinstance(again, mx.MXNetError) and type(again).__name__ == kind.__name__
        want = pickle.loads(pickle.dumps(kind(7, "seven")))
        assert vars(again) == vars(want) and again.args == want.args == ("seven",) and str(again) == "seven"


class Raising(mx.operator.CustomOp):
    step = None

    def forward(self, is_train, req, in_data, out_data, aux):
        Raising.step()


@mx.operator.register("raising")
class RaisingProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Raising()


def raised(step):
    with pytest.raises(Exception) as caught:
        step()
    return caught.value


@pytest.mark.parametrize("step", RAISED.values(), ids=RAISED)
def test_failures_keep_what_they_hold(step):
    want, Own.calls = raised(step), 0
    Raising.step = step
    net = sym.Custom(sym.var("x"), op_type="raising").simple_bind(mx.cpu(), x=(2,))
    for call in (lambda: nd.Custom(nd.ones((2,)), op_type="raising"), net.forward):
        error = raised(call)
        assert isinstance(error, type(want)) and isinstance(error, mx.MXNetError)
        assert type(error).__name__ == type(want).__name__ and {**kept(error), **kept(want)} == kept(error)
        assert repr(error.args) == repr(want.args) or not want.args and "Traceback" in error.args[0]
        assert "in forward\n" in "".join(traceback.format_tb(error.__traceback__)) and type(error.__cause__) is type(want)
        again = pickle.loads(pickle.dumps(error))  # as a pool's worker reports it
        assert isinstance(again, type(want)) and isinstance(again, mx.MXNetError) and {**kept(error), "place": 0} == {**kept(again), "place": 0}  # (what lies in slots Python leaves out)
        if isinstance(want, ExceptionGroup):
            assert list(map(repr, error.exceptions)) == list(map(repr, want.exceptions))
    assert Own.calls == (2 if isinstance(want, Own) else 0)


@pytest.mark.parametrize("made", [lambda: Narrow(1, other=2), lambda: Alone("by itself")], ids=["narrow", "alone"])
def test_failures_that_cannot_be_errors_are_what_they_are(made):
    def step():
        raise error

    error, Raising.step = made(), step
    with pytest.raises(type(error)):
        nd.Custom(nd.ones((2,)), op_type="raising")
    with pytest.raises(type(error)):
        sym.Custom(sym.var("x"), op_type="raising").simple_bind(mx.cpu(), x=(2,)).forward()


def test_a_prop_may_fail_before_it_is_told_enough():
    class Unsure(mx.operator.CustomOpProp):
        def list_arguments(self):
            return ["data", "weight"]

        def infer_shape(self, in_shape):
            if not all(in_shape):
                raise Alone("of what?")
            return in_shape, [in_shape[0]]

    mx.operator.register("unsure")(Unsure)
    net = sym.Custom(sym.var("x"), sym.var("w"), op_type="unsure")
    assert net.infer_shape(w=(3,)) == (None, None, None) and net.infer_shape(x=(2,), w=(3,))[1] == [(2,)]


def test_what_a_prop_says_is_checked():
    with pytest.raises(ValueError, match="infer_shape gives lists of 1, 2, 0, expected 1"):
        sym.Custom(sym.var("x"), op_type="troubled", where="count").infer_shape(x=(2,))
    with pytest.raises(TypeError):
        sym.Custom(sym.var("x"), op_type="troubled")  # `where` is missing
