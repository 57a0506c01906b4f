# SPDX-License-Identifier: Apache-2.0
"""Operators that compute each element by itself."""
import math
import statistics

import numpy as np

from . import FLOATS, TYPES, case, given, of

NORMAL = statistics.NormalDist()
erf, gamma, gammaln = (np.vectorize(f, otypes=["f8"]) for f in (math.erf, math.gamma, math.lgamma))
erfinv = np.vectorize(lambda x: NORMAL.inv_cdf((x + 1) / 2) / math.sqrt(2), otypes=["f8"])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


def same(x):
    return x


BOTH = of(3, 5, low=-1.9, high=1.9)
INSIDE = of(3, 5, low=-0.9, high=0.9)
ABOVE = of(3, 5, low=1.1, high=3)
for names, formula, x in (
    ("abs", np.abs, BOTH), ("ceil", np.ceil, BOTH), ("floor", np.floor, BOTH), ("trunc", np.trunc, BOTH), ("fix", np.trunc, BOTH), ("rint", np.rint, BOTH),
    ("round", lambda x: np.trunc(x + np.copysign(0.5, x)), BOTH), ("sign", np.sign, BOTH), ("negative", np.negative, BOTH), ("square", np.square, BOTH),
    ("sqrt", np.sqrt, of(3, 5)), ("rsqrt", lambda x: x**-0.5, of(3, 5)), ("cbrt", np.cbrt, BOTH), ("rcbrt", lambda x: 1 / np.cbrt(x), of(3, 5)), ("reciprocal", np.reciprocal, of(3, 5)),
    ("exp", np.exp, BOTH), ("expm1", np.expm1, BOTH), ("log", np.log, of(3, 5)), ("log10", np.log10, of(3, 5)), ("log2", np.log2, of(3, 5)), ("log1p", np.log1p, of(3, 5)),
    ("sin", np.sin, BOTH), ("cos", np.cos, BOTH), ("tan", np.tan, INSIDE), ("arcsin", np.arcsin, INSIDE), ("arccos", np.arccos, INSIDE), ("arctan", np.arctan, BOTH),
    ("sinh", np.sinh, BOTH), ("cosh", np.cosh, BOTH), ("tanh", np.tanh, BOTH), ("arcsinh", np.arcsinh, BOTH), ("arccosh", np.arccosh, ABOVE), ("arctanh", np.arctanh, INSIDE),
    ("degrees", np.degrees, INSIDE), ("radians", np.radians, BOTH), ("erf", erf, BOTH), ("erfinv", erfinv, INSIDE), ("gamma", gamma, of(3, 5, low=0.5, high=3)),
    ("gammaln", gammaln, of(3, 5, low=0.5, high=3)), ("relu", relu, BOTH), ("sigmoid", sigmoid, BOTH), ("softsign", lambda x: x / (1 + np.abs(x)), BOTH),
    ("logical_not", lambda x: x == 0, given([[0, 1], [2, 0]])), ("_copy", same, BOTH), ("_copyto", same, BOTH), ("_CrossDeviceCopy", same, BOTH), ("BlockGrad", same, BOTH),
    ("make_loss", same, BOTH), ("MakeLoss", same, BOTH), ("zeros_like", np.zeros_like, BOTH), ("ones_like", np.ones_like, BOTH), ("_contrib_sign_ste", np.sign, BOTH),
    ("_contrib_round_ste", lambda x: np.trunc(x + np.copysign(0.5, x)), BOTH), ("_contrib_div_sqrt_dim", lambda x: x / 5**0.5, BOTH),
):
    # Of what lies at the border of a domain only floating numbers: arcsin of 4 is none.
    case(names, formula, x, types=FLOATS if x is INSIDE else TYPES)

SOFT = {"relu": relu, "sigmoid": sigmoid, "tanh": np.tanh, "softrelu": lambda x: np.log1p(np.exp(x)), "softsign": lambda x: x / (1 + np.abs(x))}
for kind, formula in SOFT.items():
    case("Activation", formula, BOTH, act_type=kind)
ALPHA, SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
case("LeakyReLU", lambda x: np.where(x > 0, x, 0.125 * x), BOTH, types=FLOATS, act_type="leaky", slope=0.125)
case("LeakyReLU", lambda x: np.where(x > 0, x, 0.125 * np.expm1(x)), BOTH, types=FLOATS, act_type="elu", slope=0.125)
case("LeakyReLU", lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(x)), BOTH, types=FLOATS, act_type="selu")
case("LeakyReLU", lambda x: x * (1 + erf(x / 2**0.5)) / 2, BOTH, types=FLOATS, act_type="gelu")
case("LeakyReLU", lambda x, g: np.where(x > 0, x, g[:, None] * x), of(2, 3, 4, low=-1, high=1), of(3), types=FLOATS, act_type="prelu")
case("LeakyReLU", lambda x: [np.where(x > 0, x, 0.25 * x), np.where(x > 0, 1, 0.25)], BOTH, types=FLOATS, act_type="rrelu", lower_bound=0.125, upper_bound=0.375)
case("hard_sigmoid", lambda x: np.clip(0.25 * x + 0.5, 0, 1), of(3, 5, low=-4, high=4), types=FLOATS, alpha=0.25, beta=0.5)
case("smooth_l1", lambda x: np.where(np.abs(x) < 0.25, 2 * x * x, np.abs(x) - 0.125), BOTH, scalar=2)
case("clip", lambda x: np.clip(x, 1, 3), of(3, 5, low=0, high=5), a_min=1, a_max=3)
case("_contrib_quadratic", lambda x: 2 * x * x - x + 3, of(3, 5), a=2, b=-1, c=3)
case("_contrib_gradientmultiplier", same, BOTH, scalar=3)
for kind in ("float16", "float32", "float64", "uint8", "int32"):
    case("Cast", (lambda x: x) if kind in FLOATS else np.trunc, of(3, 5, low=0, high=9), dtype=kind)
case("amp_cast", same, BOTH, types=("float32",), dtype="float32")
case("amp_multicast", lambda a, b: [a, b], of(3), given([0.5, 2], dtype="float16"), types=("float32",), num_outputs=2)
case("add_n", lambda a, b, c: a + b + c, BOTH, BOTH, BOTH)
case("_identity_with_attr_like_rhs", lambda a, b: a, BOTH, BOTH)
case("_contrib_allclose", lambda a, b: 1, given([1, 2]), given([1, 2.0625]), types=FLOATS, atol=0.125)
case("_contrib_allclose", lambda a, b: 0, given([1, 2]), given([1, 3]), types=FLOATS)
case("where", lambda c, a, b: np.where(c != 0, a, b), given([[0, 1], [2, 0]]), of(2, 2), of(2, 2))
case("where", lambda c, a, b: np.where(c[:, None] != 0, a, b), given([0, 1]), of(2, 2), of(2, 2))


def mod(a, b):
    """With the sign of the divisor; 0 where that is 0."""
    return np.where(b == 0, 0, np.mod(a, np.where(b == 0, 1, b)))


TWO = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "mod": mod, "power": np.power, "maximum": np.maximum, "minimum": np.minimum, "hypot": np.hypot,
       "equal": np.equal, "not_equal": np.not_equal, "greater": np.greater, "greater_equal": np.greater_equal, "lesser": np.less, "lesser_equal": np.less_equal,
       "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}
FEW = given([[0, 1, 2, 1], [2, 0, 1, 3], [1, 2, 0, 1]])  # equal ones and zeros among them
LINE = given([[1, 2, 1, 3]])
for name, formula in TWO.items():
    signed = name == "sub"  # 0 - 1 has no place among unsigned numbers
    types = [one for one in TYPES if one != "uint8" or not signed]
    case(f"broadcast_{name}", formula, FEW, LINE, types=types)
    case(f"elemwise_{name}", formula, FEW, given(np.broadcast_to([[1, 2, 1, 3]], (3, 4))), types=types)
    scalar = {"sub": "minus", "add": "plus"}.get(name, name)
    case(f"_{scalar}_scalar", lambda x, f=formula: f(x, 1.0), FEW, types=types, scalar=1)
for name, formula in (("sub", "minus"), ("div", "div"), ("mod", "mod"), ("power", "power")):
    case(f"_r{formula}_scalar", lambda x, f=TWO[name]: f(5.0, x), LINE, scalar=5)
case("_scatter_elemwise_div", np.divide, of(3, 4), of(3, 4))
for storage in (None, "csr", "row_sparse"):  # of what is not stored nothing comes
    stored = (lambda x: x) if storage is None else (lambda x: x != 0)
    case("_scatter_plus_scalar", lambda x, s=storage: x + 2 if s is None else np.where(x != 0, x + 2, 0), of(6, 4, stype=storage), types=FLOATS, scalar=2)
    case("_scatter_minus_scalar", lambda x, s=storage: x - 2 if s is None else np.where(x != 0, x - 2, 0), of(6, 4, stype=storage), types=FLOATS, scalar=2)
