# SPDX-License-Identifier: Apache-2.0
"""Classes by their names, errors by theirs, and what else MXNet's base has for modules that stand on it."""
import json
import os
import subprocess
import sys

import pytest

import strop as mx
from strop import base, nd, registry, sym


class Shape:
    def __init__(self, sides=3, **more):
        self.sides, self.more = sides, more


register = registry.get_register_func(Shape, "shape")
alias = registry.get_alias_func(Shape, "shape")
create = registry.get_create_func(Shape, "shape")


@register
@alias("box", "Quad")
class Rectangle(Shape):
    pass


def test_classes_are_made_by_name():
    assert type(create("rectangle")) is type(create("RECTANGLE")) is type(create("box")) is type(create("quad")) is Rectangle
    assert create("box", 4, colour="red").more == {"colour": "red"} and create(shape="box", sides=5).sides == 5
    made = create({"shape": "box", "sides": 6})
    assert made.sides == 6 and create(made) is made
    assert create(json.dumps({"shape": "box", "sides": 7})).sides == 7 and create('["box", {"sides": 8}]').sides == 8
    known = registry.get_registry(Shape)
    known.clear()
    assert set(registry.get_registry(Shape)) == {"rectangle", "box", "quad"}


@pytest.mark.parametrize("call, kind, said", [
    (lambda: create("circle"), ValueError, "shape: none is called 'circle'; there are box, quad, rectangle"), (lambda: create(3), TypeError, "is no name"),
    (lambda: create(Rectangle(), 4), ValueError, "nothing is taken beside it"), (lambda: create('["box", {}]', sides=1), ValueError, "nothing is taken"),
    (lambda: create(), TypeError, "no name is given"), (lambda: register(dict), TypeError, "no class derived from Shape")])
def test_what_is_refused(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


def test_a_name_that_is_taken_goes_to_the_last(recwarn):
    class Box(Rectangle):
        pass

    assert register(Box) is Box and type(create("box")) is Box
    assert [str(one.message) for one in recwarn] == [f"shape: {__name__}.Box takes the name 'box' of {__name__}.Rectangle"]
    registry._REGISTRY[Shape]["box"] = Rectangle


def test_no_class_is_held_at_the_end():
    program = """
import atexit
known = []
atexit.register(lambda: print(registry.get_registry(int), len(known[0])))  # after what the import of the package has registered
from strop import metric, registry
registry.get_register_func(int, "number")(type("Whole", (int,), {}))
known.append(registry._REGISTRY[int])
print(*registry.get_registry(int))
"""
    said = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True, text=True).stdout
    assert said.split() == ["whole", "{}", "0"]


def test_metrics_and_initializers_are_registered_so():
    assert {"accuracy", "acc", "composite"} <= set(registry.get_registry(mx.metric.EvalMetric)) and "xavier" in registry.get_registry(mx.init.Initializer)
    both = mx.metric.create([mx.metric.create("acc"), "mse"])
    again = mx.metric.create(json.dumps(both.get_config()))
    assert [type(one) for one in again.metrics] == [mx.metric.Accuracy, mx.metric.MSE]
    assert type(mx.init.create({"initializer": "uniform", "scale": 0.5})) is mx.init.Uniform and type(mx.init.create('["zero", {}]')) is mx.init.Zero


def test_errors_have_names():
    @base.register_error
    class OutOfPaper(mx.Error):
        pass

    @mx.error.register("Jam")
    class Stuck(RuntimeError):
        pass

    assert base.error_types["OutOfPaper"] is OutOfPaper and base.error_types["Jam"] is Stuck and base.error_types["ValueError"] is ValueError
    assert base.register_error("Fire", KeyError) is base.error_types["Fire"] is KeyError
    assert issubclass(mx.error.InternalError, mx.MXNetError) and base.error_types["InternalError"] is mx.error.InternalError
    for name in ("OutOfPaper", "Jam", "Fire"):
        del base.error_types[name]


def test_properties_of_classes():
    class Settings(base.with_metaclass(base._MXClassPropertyMetaClass, object)):
        _depth = 1

        @base.classproperty
        def depth(cls):  # noqa: N805
            return cls._depth

        @depth.setter
        def depth(cls, value):  # noqa: N805
            cls._depth = value

        @base.classproperty
        def fixed(cls):  # noqa: N805
            return 7

    assert Settings.depth == Settings().depth == 1 and Settings.__mro__ == (Settings, object)
    Settings.depth = 4
    Settings().depth = Settings.depth + 1
    assert Settings.depth == Settings._depth == 5 and Settings.fixed == 7
    with pytest.raises(mx.Error, match="no setter"):
        Settings.fixed = 8
    Settings.other = 3
    assert Settings.other == 3


def test_documents_say_where_functions_stand(tmp_path):
    (tmp_path / "told.py").write_text('def f():\n    """Says f."""\n\n\nclass C:\n    def g(self):\n        """Says g."""\n\n    def h(self):\n        pass\n')
    program = ("import told, strop\nfor _ in range(2): strop.base.add_fileline_to_docstring('told')\n"
               "print(told.f.__doc__.split(), told.C.g.__doc__.split(), told.C.h.__doc__)")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env={**os.environ, "PYTHONPATH": ":".join(sys.path)}, check=True,
                          capture_output=True, text=True, timeout=60)
    at = tmp_path / "told.py"
    assert done.stdout.strip() == f"['Says', 'f.', 'From:{at}:1'] ['Says', 'g.', 'From:{at}:6'] None"
    assert base.build_param_doc(["a", "num_args", "b", "a"], ["int", "int", "float", "int"], ["how many", "", "", "again"]) == (
        "Parameters\n----------\na : int\n    how many\nb : float\n")
    assert base.data_dir_default().endswith(".mxnet")


def test_names_of_mxnet():
    from strop.io.io import DataBatch, NDArrayIter  # noqa: F401

    assert mx.io.NDArrayIter is NDArrayIter and mx.io.io.DataIter is mx.io.DataIter
    assert nd.ndarray.py_slice is slice
    x = nd.array([[1.0, 0], [2, 3]])
    x.attach_grad()
    with mx.autograd.record():
        y = nd.sparse.make_loss(x)
    y.backward()
    assert x.grad.asnumpy().tolist() == [[1, 1], [1, 1]]
    assert sym.sparse.make_loss(sym.var("x"), name="loss").list_outputs() == ["loss_output"]
