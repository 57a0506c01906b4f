# SPDX-License-Identifier: Apache-2.0
"""Layers of networks: products with weights, windows, normalisations."""
import itertools

import numpy as np

from . import EXACT, FLOATS, case, of, property_of


def windows(x, kernel, stride, dilate, pad, filling=0.0):
    """(batch, channels, places of the kernel..., windows...) of images of one or two axes."""
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in pad)), constant_values=filling)
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], kernel, stride, dilate)]
    made = np.empty((*x.shape[:2], *kernel, *counts))
    for at in itertools.product(*map(range, kernel)):
        cut = tuple(slice(a * d, a * d + s * (n - 1) + 1, s) for a, d, s, n in zip(at, dilate, stride, counts))
        made[(slice(None), slice(None), *at)] = x[(slice(None), slice(None), *cut)]
    return made


def convolution(x, w, b, stride, dilate, pad, groups):
    kernel, made = w.shape[2:], []
    for part, weights in zip(np.split(x, groups, 1), np.split(w, groups)):
        seen = windows(part, kernel, stride, dilate, pad)
        made.append(np.tensordot(weights, seen, axes=(range(1, w.ndim), range(1, w.ndim))).swapaxes(0, 1))
    return np.concatenate(made, 1) + b.reshape(-1, *[1] * len(kernel))


def deconvolution(x, w, stride, pad, adj):
    (batch, channels, *extents), (_, filters, *kernel) = x.shape, w.shape
    made = np.zeros((batch, filters, *((n - 1) * s + k + a for n, s, k, a in zip(extents, stride, kernel, adj))))
    for at in np.ndindex(*extents):
        cut = tuple(slice(i * s, i * s + k) for i, s, k in zip(at, stride, kernel))
        made[(slice(None), slice(None), *cut)] += np.tensordot(x[(slice(None), slice(None), *at)], w, 1)
    inside = tuple(slice(p, n - p) for p, n in zip(pad, made.shape[2:]))
    return made[(slice(None), slice(None), *inside)]


case("FullyConnected", lambda x, w, b: x.reshape(2, -1) @ w.T + b, of(2, 3, 2), of(4, 6), of(4), num_hidden=4, types=FLOATS)
case("FullyConnected", lambda x, w: x @ w.T, of(2, 3, 2), of(4, 2), num_hidden=4, flatten=False, no_bias=True, types=FLOATS)
for name in ("Convolution", "Convolution_v1"):
    case(name, lambda x, w, b: convolution(x, w, b, (2, 1), (1, 2), (1, 2), 2), of(2, 4, 5, 6), of(6, 2, 3, 2), of(6), types=FLOATS, kernel=(3, 2), stride=(2, 1), dilate=(1, 2), pad=(1, 2),
         num_filter=6, num_group=2)
case("Convolution", lambda x, w, b: convolution(x, w, b, (2,), (1,), (1,), 1), of(2, 3, 7), of(4, 3, 3), of(4), types=FLOATS, kernel=(3,), stride=(2,), pad=(1,), num_filter=4)
case("Deconvolution", lambda x, w: deconvolution(x, w, (2, 1), (1, 0), (1, 0)), of(2, 3, 3, 4), of(3, 2, 3, 2), types=FLOATS, kernel=(3, 2), stride=(2, 1), pad=(1, 0), adj=(1, 0), num_filter=2)
FLAT = {"max": lambda x: x.max(2), "sum": lambda x: x.sum(2), "avg": lambda x: x.mean(2), "lp": lambda x: np.sqrt((x * x).sum(2))}
for kind, formula in FLAT.items():
    def pooled(x, f=formula, nothing=-np.inf if kind == "max" else 0.0):
        seen = windows(x, (3, 2), (2, 1), (1, 1), (1, 0), nothing)
        return f(seen.reshape(*seen.shape[:2], 6, *seen.shape[4:]))

    case("Pooling", pooled, of(2, 3, 5, 4), types=FLOATS, pool_type=kind, kernel=(3, 2), stride=(2, 1), pad=(1, 0), p_value=2)
    case("Pooling", lambda x, f=formula: f(x.reshape(2, 3, -1))[..., None, None], of(2, 3, 5, 4), types=FLOATS, pool_type=kind, kernel=(1, 1), global_pool=True, p_value=2)
case("im2col", lambda x: windows(x, (2, 3), (1, 2), (1, 1), (0, 1)).reshape(2, 18, -1), of(2, 3, 4, 5), types=FLOATS, kernel=(2, 3), stride=(1, 2), pad=(0, 1))


def added_up(columns):
    """The sum over windows of 2 x 2, one place apart, of images of 3 x 4."""
    made, parts = np.zeros((2, 3, 3, 4)), columns.reshape(2, 3, 2, 2, 2, 3)
    for a, b in np.ndindex(2, 2):
        made[:, :, a:a + 2, b:b + 3] += parts[:, :, a, b]
    return made


case("col2im", added_up, of(2, 12, 6), types=FLOATS, output_size=(3, 4), kernel=(2, 2), stride=(1, 1))


# --- normalisations -------------------------------------------------------------------------------------------------
def normal(x, axes, eps):
    """(normalised, mean, variance)"""
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + eps), mean, var


def channels(v, ndim=4, axis=1):
    return v.reshape([-1 if a == axis else 1 for a in range(ndim)])


EPS, IMAGE = 0.0625, of(2, 4, 3, 2)
MOVING = [of(4), of(4), of(4, low=-1, high=1), of(4)]
for name in ("BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm"):
    own = {"key": "bn"} if name.startswith("_contrib") else {}

    def learns(x, gamma, beta, mean, var):
        made, batch_mean, batch_var = normal(x, (0, 2, 3), EPS)
        return [channels(gamma) * made + channels(beta), 0.75 * mean + 0.25 * batch_mean.ravel(), 0.75 * var + 0.25 * batch_var.ravel()]

    case(name, learns, IMAGE, *MOVING, types=EXACT, train=True, eps=EPS, momentum=0.75, fix_gamma=False, **own)
    case(name, lambda x, g, b, m, v: [(x - channels(m)) / np.sqrt(channels(v) + EPS) + channels(b), m, v], IMAGE, *MOVING, types=EXACT, eps=EPS, fix_gamma=True, **own)
case("LayerNorm", lambda x, g, b: g * normal(x, 2, EPS)[0] + b, of(2, 3, 5), of(5), of(5), types=FLOATS, eps=EPS)
case("InstanceNorm", lambda x, g, b: channels(g) * normal(x, (2, 3), EPS)[0] + channels(b), IMAGE, of(4), of(4), types=EXACT, eps=EPS)
case("GroupNorm", lambda x, g, b: (g.reshape(1, 2, 1, 1, 1) * normal(x.reshape(2, 2, 2, 3, 2), (2, 3, 4), EPS)[0] + b.reshape(1, 2, 1, 1, 1)).reshape(x.shape), IMAGE, of(2), of(2),
     types=EXACT, num_groups=2, eps=EPS)
for kind, axes in (("instance", (1, 2, 3)), ("channel", 1), ("spatial", (2, 3))):
    case("L2Normalization", lambda x, a=axes: x / np.sqrt((x * x).sum(a, keepdims=True) + EPS), IMAGE, types=FLOATS, mode=kind, eps=EPS)


def lrn(x):
    squares = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
    return x / (2 + 0.5 / 3 * (squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]))**0.75


case("LRN", lrn, IMAGE, types=FLOATS, alpha=0.5, beta=0.75, knorm=2, nsize=3)


# --- Dropout --------------------------------------------------------------------------------------------------------
def drops(made, arrays):
    kept = made[0] != 0
    np.testing.assert_allclose(made[0][kept], arrays[0][kept] / 0.75, rtol=5e-3)
    assert abs(kept.mean() - 0.75) < 0.03


property_of("Dropout", drops, of(100, 100), train=True, p=0.25)
case("Dropout", lambda x: x, of(3, 4), types=FLOATS, p=0.25)
case("UpSampling", lambda x: x.repeat(2, 2).repeat(2, 3), IMAGE, types=FLOATS, scale=2, sample_type="nearest", num_args=1)
