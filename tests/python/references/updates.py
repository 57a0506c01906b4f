# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers: the new weight, then the states that they write."""
import numpy as np

from . import FLOATS, case, given, of

W, G, STATE = of(3, 4), of(3, 4, low=-0.9, high=0.9), of(3, 4)
HALVES = {"types": ("float16", "float32")}
LR, WD, SCALE, CLIP = 0.125, 0.0625, 2, 0.5
COMMON = {"types": FLOATS, "lr": LR, "wd": WD, "rescale_grad": SCALE, "clip_gradient": CLIP}
KEPT = of(3, 4, dtype="float32")


def held(g):
    return np.clip(SCALE * g, -CLIP, CLIP)


def sgd(w, g):
    return [(1 - LR * WD) * w - LR * held(g)]


def sgd_mom(w, g, mom):
    mom = 0.5 * mom - LR * WD * w - LR * held(g)
    return [w + mom, mom]


def nag(w, g, mom):
    g = held(g) + WD * w
    mom = 0.5 * mom - LR * g
    return [w + 0.5 * mom - LR * g, mom]


def adam(w, g, mean, var):
    g = np.clip(SCALE * g + WD * w, -CLIP, CLIP)
    mean, var = 0.5 * mean + 0.5 * g, 0.75 * var + 0.25 * g * g
    return [w - LR * mean / (np.sqrt(var) + 1e-3), mean, var]


def adamw(w, g, mean, var, scale):
    g = np.clip(scale * g, -CLIP, CLIP)
    mean, var = 0.5 * mean + 0.5 * g, 0.75 * var + 0.25 * g * g
    return [w - 2 * (LR * mean / (np.sqrt(var) + 1e-3) + WD * w), mean, var]


def rmsprop(w, g, n):
    g = np.clip(SCALE * g + WD * w, -CLIP, CLIP)
    n = 0.75 * n + 0.25 * g * g
    return [w - LR * g / np.sqrt(n + 1e-3), n]


def rmsprop_alex(w, g, n, mean, delta):
    g = np.clip(SCALE * g + WD * w, -CLIP, CLIP)
    n, mean = 0.75 * n + 0.25 * g * g, 0.75 * mean + 0.25 * g
    delta = 0.5 * delta - LR * g / np.sqrt(n - mean * mean + 1e-3)
    return [w + delta, n, mean, delta]


def ftrl(w, g, z, n):
    g = held(g)
    z, n = z + g - (np.sqrt(n + g * g) - np.sqrt(n)) * w / LR, n + g * g
    return [np.where(np.abs(z) <= 0.25, 0, (np.sign(z) * 0.25 - z) / ((1 + np.sqrt(n)) / LR + WD)), z, n]


def ftml(w, g, d, v, z):
    g = np.clip(SCALE * g + WD * w, -CLIP, CLIP)
    v = 0.75 * v + 0.25 * g * g
    to = (1 - 0.5**3) / LR * (np.sqrt(v / (1 - 0.75**3)) + 1e-3)
    z = 0.5 * z + 0.5 * g - (to - 0.5 * d) * w
    return [-z / to, to, v, z]


def signum(w, g, mom):
    mom = 0.5 * mom - 0.5 * (held(g) + WD * w)
    return [(1 - LR * 0.25) * w + LR * np.sign(mom), mom]


def lamb_1(w, g, mean, var):
    g = held(g)
    mean, var = 0.5 * mean + 0.5 * g, 0.75 * var + 0.25 * g * g
    return [mean / (1 - 0.5**3) / (np.sqrt(var / (1 - 0.75**3)) + 1e-3) + WD * w, mean, var]


def lamb_2(w, g, r1, r2):
    return w - LR * np.clip(r1, 0.5, 1.5) / r2 * g


def mixed(step, states):
    """The step of the float32 copy, which stands behind the states; the weight follows."""
    def both(w, g, *kept):
        new, *others = step(kept[states], g, *kept[:states])
        return [new, *others, new]
    return both


ADAM = {"beta1": 0.5, "beta2": 0.75, "epsilon": 1e-3}
RMS = {"gamma1": 0.75, "epsilon": 1e-3}
case("sgd_update", sgd, W, G, **COMMON)
case("sgd_mom_update", sgd_mom, W, G, STATE, momentum=0.5, **COMMON)
case("nag_mom_update", nag, W, G, STATE, momentum=0.5, **COMMON)
case("adam_update", adam, W, G, STATE, STATE, **ADAM, **COMMON)
case("rmsprop_update", rmsprop, W, G, STATE, **RMS, **COMMON)
case("rmspropalex_update", rmsprop_alex, W, G, of(3, 4, low=1.2), of(3, 4, low=-0.2, high=0.2), STATE, gamma2=0.5, **RMS, **COMMON)
case("ftrl_update", ftrl, W, G, of(3, 4, low=-1, high=1), STATE, lamda1=0.25, beta=1, **COMMON)
case("ftml_update", ftml, W, G, STATE, STATE, STATE, types=FLOATS, lr=LR, wd=WD, rescale_grad=SCALE, clip_grad=CLIP, t=3, **ADAM)
case("signsgd_update", lambda w, g: (1 - LR * WD) * w - LR * np.sign(g), W, G, **COMMON)
case("signum_update", signum, W, G, STATE, momentum=0.5, wd_lh=0.25, **COMMON)
case("lamb_update_phase1", lamb_1, W, G, STATE, STATE, types=FLOATS, t=3, wd=WD, rescale_grad=SCALE, clip_gradient=CLIP, **ADAM)
case("lamb_update_phase2", lamb_2, W, G, given([1.75]), given([0.5]), types=FLOATS, lr=LR, lower_bound=0.5, upper_bound=1.5)
ADAMW = {"lr": LR, "eta": 2, "wd": WD, "clip_gradient": CLIP, **ADAM}
case("_adamw_update", adamw, W, G, STATE, STATE, given([2]), types=FLOATS, **ADAMW)
case("_adamw_update", lambda w, g, mean, var, scale: [w, mean, var], W, G, STATE, STATE, given([np.inf]), types=FLOATS, **ADAMW)

MIXED = {**COMMON, **HALVES}
case("mp_sgd_update", mixed(sgd, 0), W, G, KEPT, **MIXED)
case("mp_sgd_mom_update", mixed(sgd_mom, 1), W, G, KEPT, KEPT, momentum=0.5, **MIXED)
case("mp_nag_mom_update", mixed(nag, 1), W, G, KEPT, KEPT, momentum=0.5, **MIXED)
case("mp_adam_update", mixed(adam, 2), W, G, KEPT, KEPT, KEPT, **ADAM, **MIXED)


def mixed_adamw(w, g, mean, var, weight32, scale):
    new, mean, var = adamw(weight32, g, mean, var, scale)
    return [new, mean, var, new]


def mixed_lamb(w, g, r1, r2, weight32):
    new = lamb_2(weight32, g, r1, r2)
    return [new, new]


case("_mp_adamw_update", mixed_adamw, W, G, KEPT, KEPT, KEPT, given([2], dtype="float32"), **ADAMW, **HALVES)
case("mp_lamb_update_phase1", lambda w, g, mean, var, weight32: lamb_1(weight32, g, mean, var), W, G, KEPT, KEPT, KEPT, t=3, wd=WD, rescale_grad=SCALE, clip_gradient=CLIP, **ADAM, **HALVES)
case("mp_lamb_update_phase2", mixed_lamb, W, KEPT, given([1.75], dtype="float32"), given([0.5], dtype="float32"), KEPT, lr=LR, lower_bound=0.5, upper_bound=1.5, **HALVES)


def stored(g):
    return np.any(g != 0, 1, keepdims=True)


def adagrad(w, g, history):
    g = held(g)
    history = history + g * g
    return [w - LR * g / np.sqrt(history + 1e-3), history]


def group_adagrad(w, g, history):
    g = held(g)
    history = history + np.mean(g * g, 1, keepdims=True)
    return [w - LR * g / np.sqrt(history + 1e-3), history]


ROWS = of(6, 4, low=-0.9, high=0.9, stype="row_sparse")
STEPS = {"types": FLOATS, "lr": LR, "rescale_grad": SCALE, "clip_gradient": CLIP, "epsilon": 1e-3}
case("_sparse_adagrad_update", adagrad, of(6, 4), ROWS, of(6, 4), **STEPS)
case("_contrib_group_adagrad_update", group_adagrad, of(6, 4), ROWS, of(6, 1), **STEPS)
for name, step, states in (("sgd_update", sgd, 0), ("sgd_mom_update", sgd_mom, 1), ("adam_update", adam, 2)):  # only the rows that the gradient stores
    case(name, lambda w, g, *kept, f=step: [np.where(stored(g), new, old) for new, old in zip(f(w, g, *kept), (w, *kept))], of(6, 4), ROWS, *[of(6, 4)] * states,
         **(ADAM if states == 2 else {"momentum": 0.5} if states else {}), **COMMON)


def rates(lrs, weights, gradients, wds):
    w, g = np.sqrt(weights), np.sqrt(gradients)
    return np.where((w > 0) & (g > 0), lrs * 0.5 * w / (SCALE * g + wds * w + 1e-3), lrs)


case("multi_lars", rates, of(3), given([4, 0, 9]), given([1, 4, 0]), of(3), types=FLOATS, eta=0.5, eps=1e-3, rescale_grad=SCALE)
