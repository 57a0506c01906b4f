# SPDX-License-Identifier: Apache-2.0
"""Units that run over the steps of sequences, and what their outputs are compared with."""
import itertools

import numpy as np

from . import EXACT, FLOATS, case, given, of, places
from .elements import relu, sigmoid


def softmax(x, axis=-1):
    made = np.exp(x - x.max(axis, keepdims=True))
    return made / made.sum(axis, keepdims=True)


# --- softmax and losses, of which the results alone are here ---------------------------------------------------------
X, LABELS = of(3, 4, low=-1, high=1), places(4, 3)
case("softmax", lambda x: softmax(x / 2), X, temperature=2)
case("softmax", lambda x, n: np.stack([np.concatenate([softmax(row[:k]), np.zeros(4 - k)]) for row, k in zip(x, n.astype(int))]), X, given([2, 4, 1], dtype="int32"), types=FLOATS, use_length=True)
case("softmin", lambda x: softmax(-x, 0), X, axis=0)
case("log_softmax", lambda x: np.log(softmax(x)), X)
case("SoftmaxActivation", lambda x: softmax(x, 1), of(2, 3, 2, 2), types=FLOATS, mode="channel")
case("softmax_cross_entropy", lambda x, l: -np.log(softmax(x)[np.arange(3), l.astype(int)]).sum(keepdims=True), X, LABELS, types=FLOATS)
case("SoftmaxOutput", lambda x, l: softmax(x), X, LABELS, types=FLOATS)
case("SVMOutput", lambda x, l: x, X, LABELS, types=FLOATS)
case("LinearRegressionOutput", lambda x, l: x, X, X, types=FLOATS)
case("MAERegressionOutput", lambda x, l: x, X, X, types=FLOATS)
case("LogisticRegressionOutput", lambda x, l: sigmoid(x), X, X, types=FLOATS)


# --- RNN ------------------------------------------------------------------------------------------------------------
def rnn(mode, hidden, layers, both):
    """The layers of units, one step after the other; parameters lie as the operator has them."""
    gates = {"lstm": 4, "gru": 3}.get(mode, 1)
    directions = 2 if both else 1

    def step(x, h, c, w, r, b, d):
        one, two = w @ x + b, r @ h + d
        if mode == "lstm":
            i, f, g, o = np.split(one + two, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            return sigmoid(o) * np.tanh(c), c
        if mode == "gru":
            (r1, z1, n1), (r2, z2, n2) = np.split(one, 3), np.split(two, 3)
            n, z = np.tanh(n1 + sigmoid(r1 + r2) * n2), sigmoid(z1 + z2)
            return (1 - z) * n + z * h, c
        return (relu if mode == "rnn_relu" else np.tanh)(one + two), c

    def run(x, parameters, state, *cells):
        parts, widths = iter(np.split(parameters, np.cumsum(sizes(x.shape[2]))[:-1])), []
        for layer, _ in itertools.product(range(layers), range(directions)):
            width = hidden * directions if layer else x.shape[2]
            widths.append((next(parts).reshape(gates * hidden, width), next(parts).reshape(gates * hidden, hidden)))
        biases = [(next(parts), next(parts)) for _ in widths]
        h_out, c_out = np.zeros_like(state), np.zeros_like(state)
        for layer in range(layers):
            made = np.zeros((*x.shape[:2], directions * hidden))
            for way, n in itertools.product(range(directions), range(x.shape[1])):
                k = layer * directions + way
                h, c = state[k, n], cells[0][k, n] if cells else None
                for t in range(len(x))[::-1 if way else 1]:
                    h, c = step(x[t, n], h, c, *widths[k], *biases[k])
                    made[t, n, way * hidden:(way + 1) * hidden] = h
                h_out[k, n], c_out[k, n] = h, 0 if c is None else c
            x = made
        return [x, h_out, c_out][:3 if cells else 2]

    def sizes(inputs):
        widths = [hidden * directions if layer else inputs for layer in range(layers) for _ in range(directions)]
        return [gates * hidden * n for width in widths for n in (width, hidden)] + [gates * hidden] * (2 * len(widths))

    return run, sum(sizes(2))


for kind in ("rnn_relu", "rnn_tanh", "lstm", "gru"):
    for depth, two_ways in ((1, False), (2, True)):
        formula, count = rnn(kind, 3, depth, two_ways)
        states = of(depth * (1 + two_ways), 2, 3, low=-1, high=1)
        case("RNN", formula, of(4, 2, 2, low=-1, high=1), of(count, low=-0.5, high=0.5), *[states] * (2 if kind == "lstm" else 1), types=FLOATS,
             mode=kind, state_size=3, num_layers=depth, bidirectional=two_ways, state_outputs=True)


# --- CTC ------------------------------------------------------------------------------------------------------------
def ctc(data, labels, blank):
    """-log of the sum over all paths, each of which says its labels without repetitions and blanks."""
    steps, batch, classes = data.shape
    made = []
    for n in range(batch):
        p = softmax(data[:, n])
        said = [int(k) for k in labels[n] if k != (0 if blank == 0 else -1)]
        total = 0
        for path in itertools.product(range(classes), repeat=steps):
            if [k for k, _ in itertools.groupby(path) if k != blank] == said:
                total += np.prod(p[np.arange(steps), path])
        made.append(-np.log(total))
    return np.array(made)


case("CTCLoss", lambda x, l: ctc(x, l, 0), of(4, 3, 3, low=-1, high=1), given([[1, 2], [1, 1], [2, 0]]), types=FLOATS)
case("CTCLoss", lambda x, l: ctc(x, l, 2), of(4, 3, 3, low=-1, high=1), given([[0, 1], [1, 1], [1, -1]]), types=EXACT, blank_label="last")
