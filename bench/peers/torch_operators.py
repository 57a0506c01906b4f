# SPDX-License-Identifier: Apache-2.0
"""PyTorch in the cases of bench/operators.cpp, as bench/operators spells them; its values are compared with ours."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import torch  # noqa: E402
import torch.distributions as D  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from clock import show  # noqa: E402
from operators import arrays, table  # noqa: E402

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))


def recurrent(kind, parameters, inputs, hidden, layers, both):
    """The module with our operator's parameters: all matrices, then all biases."""
    module = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn_tanh": torch.nn.RNN}[kind](inputs, hidden, layers, bidirectional=both)
    names = [f"{{}}_l{layer}{way}" for layer in range(layers) for way in ("", "_reverse")[:1 + both]]
    with torch.no_grad():
        begin = 0
        for part in ("weight_{}h", "bias_{}h"):
            for name in names:
                for source in "ih":
                    to = getattr(module, name.format(part.format(source)))
                    to.copy_(parameters[begin:begin + to.numel()].reshape(to.shape))
                    begin += to.numel()
    return module


def optimizer(kind, gradient):
    """A function that makes a step of an optimizer of one parameter, and gives that."""
    weight = kind.param_groups[0]["params"][0]
    weight.grad = gradient

    def step():
        kind.step()
        return weight

    return step


def values(result):
    if not isinstance(result, torch.Tensor):
        return [result]
    if result.is_quantized:
        result = result.int_repr()
    return result.detach().numpy()


def listed(results):
    return list(results) if isinstance(results, (list, tuple)) else [results]


def compiled(expression, space):
    return eval(f"lambda: {expression}", space)  # pylint: disable=eval-used


def forward(case, space, found):
    work = compiled(case.torch, space)
    with torch.no_grad():
        results = listed(work())
        if case.compared:
            for k, result in enumerate(results):
                found.compare(case.name, f"result {k}", values(result), arrays.TYPES[case.inputs[0].dtype] if case.inputs else "f4")
        show(case.name, work, budget=0.01)
    return results


def backward(case, space, results, found):
    name = case.name + table.BACKWARD
    inputs = [space[table.letters(case.inputs)[i]] for i in case.grads]
    for one in inputs:
        one.requires_grad_()
    leaves = eval(case.leaves, space) if case.leaves else inputs  # pylint: disable=eval-used
    space["leaves"] = leaves
    space["heads"] = [torch.from_numpy(arrays.head_of(tuple(result.shape), "f4")).to(result.dtype) for result in results]
    if case.loss:
        text = f"torch.autograd.grad({case.loss}, leaves)"
    elif len(results) == 1:
        text = f"torch.autograd.grad({case.torch}, leaves, heads[0])"
    else:
        text = f"torch.autograd.grad(list({case.torch}), leaves, heads)"
    work = compiled(text, space)
    gradients = work()
    for i, leaf, gradient in zip(case.grads, leaves, gradients):
        if case.compared and leaf is space[table.letters(case.inputs)[i]]:
            found.compare(name, f"gradient {i}", values(gradient), arrays.TYPES[case.inputs[i].dtype])
    show(name, work, budget=0.01)


def main():
    found = arrays.Found()
    for case in table.load():
        if case.torch is None or not arrays.wanted(case.name):
            continue
        try:
            space = {"torch": torch, "F": F, "D": D, "recurrent": recurrent, "optimizer": optimizer}
            space.update({letter: torch.from_numpy(arrays.array(one, k)) for k, (letter, one) in enumerate(zip(table.letters(case.inputs), case.inputs))})
            for name, expression in case.ready.items():
                space[name] = eval(expression, space)  # pylint: disable=eval-used
            results = forward(case, space, found)
            if case.grads:
                backward(case, space, results, found)
        except (RuntimeError, TypeError, AttributeError, ValueError, NotImplementedError) as error:
            print(f"# torch: {case.name}: {str(error).splitlines()[0]}", flush=True)
    found.report("torch")


if __name__ == "__main__":
    main()
