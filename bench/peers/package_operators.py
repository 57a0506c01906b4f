# SPDX-License-Identifier: Apache-2.0
"""Our Python package in the cases of bench/operators.cpp."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from clock import show  # noqa: E402
from operators import arrays, table  # noqa: E402

import strop as mx  # noqa: E402
from strop import autograd, nd  # noqa: E402


def function(name):
    """The operator of that name, where the package has it."""
    module, short = mx._register.place(name) or ("", name.removeprefix("_np_"))
    return getattr(getattr(nd, module) if module else nd, short)


def called(case):
    arguments = [*table.letters(case.inputs), *(f"{name}={value!r}" for name, value in case.params.items())]
    if case.into is not None:
        arguments.append(f"out={table.letters(case.inputs)[case.into]}")
    return f"call({', '.join(arguments)})"


def waiting(several):
    """The end of a statement: its result is there, as it is for the peers."""
    return "for y in z:\n    y.wait_to_read()" if several else "z.wait_to_read()"


def main():
    for case in table.load():
        if not arrays.wanted(case.name):
            continue
        try:
            space = {"call": function(case.operator), "autograd": autograd}
            for k, (letter, one) in enumerate(zip(table.letters(case.inputs), case.inputs)):
                values = arrays.array(one, k)
                space[letter] = nd.array(values, dtype=values.dtype)
            call = called(case)
            with autograd.train_mode() if case.train else autograd.predict_mode():
                results = eval(call, space)  # pylint: disable=eval-used
                several = isinstance(results, list)
                show(case.name, f"z = {call}\n{waiting(several)}", space, budget=0.01)
            if not case.grads:
                continue
            results = results if several else [results]
            learnt = [table.letters(case.inputs)[i] for i in case.grads]
            for letter in learnt:
                space[letter].attach_grad()
            space["heads"] = [nd.array(arrays.head_of(y.shape, "f4"), dtype=y.dtype) for y in results]
            end = "z.backward()" if case.loss else "autograd.backward(z, heads)" if several else "z.backward(heads[0])"
            ready = "\n".join(f"{letter}.grad.wait_to_read()" for letter in learnt)
            show(case.name + table.BACKWARD, f"with autograd.record():\n    z = {call}\n{end}\n{ready}", space, budget=0.01)
        except (mx.Error, AttributeError, TypeError) as error:
            print(f"# package: {case.name}: {str(error).splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
