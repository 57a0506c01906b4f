# SPDX-License-Identifier: Apache-2.0
"""Operators that compute each element by itself."""
from .table import ANY, IMAGES, constant, family, of, places

maps = family("maps")
UNARY = {  # (PyTorch's spelling, low, high)
    "abs": ("torch.abs", -9, 9), "sign": ("torch.sign", -9, 9), "negative": ("torch.neg", -9, 9), "square": ("torch.square", -9, 9),
    "sqrt": ("torch.sqrt", 0.01, 100), "rsqrt": ("torch.rsqrt", 0.01, 100), "reciprocal": ("torch.reciprocal", 0.1, 9),
    "exp": ("torch.exp", -9, 9), "expm1": ("torch.expm1", -5, 5), "log": ("torch.log", 0.01, 100), "log10": ("torch.log10", 0.01, 100),
    "log2": ("torch.log2", 0.01, 100), "log1p": ("torch.log1p", -0.9, 20), "sin": ("torch.sin", -10, 10), "cos": ("torch.cos", -10, 10),
    "tan": ("torch.tan", -1.5, 1.5), "arcsin": ("torch.asin", -0.99, 0.99), "arccos": ("torch.acos", -0.99, 0.99), "arctan": ("torch.atan", -5, 5),
    "sinh": ("torch.sinh", -5, 5), "cosh": ("torch.cosh", -5, 5), "tanh": ("torch.tanh", -5, 5), "arcsinh": ("torch.asinh", -5, 5),
    "arccosh": ("torch.acosh", 1.1, 50), "arctanh": ("torch.atanh", -0.99, 0.99), "degrees": ("torch.rad2deg", -9, 9), "radians": ("torch.deg2rad", -90, 90),
    "erf": ("torch.erf", -3, 3), "erfinv": ("torch.erfinv", -0.99, 0.99), "gammaln": ("torch.lgamma", 0.1, 20), "relu": ("torch.relu", -9, 9),
    "sigmoid": ("torch.sigmoid", -9, 9), "softsign": ("F.softsign", -9, 9),
}
STEPS = {"ceil": "torch.ceil", "floor": "torch.floor", "trunc": "torch.trunc", "fix": "torch.fix", "rint": "torch.round", "round": "torch.round",
         "_contrib_sign_ste": "torch.sign", "_contrib_round_ste": "torch.round", "logical_not": "torch.logical_not", "zeros_like": "torch.zeros_like",
         "ones_like": "torch.ones_like", "_copy": "torch.clone", "_CrossDeviceCopy": "torch.clone", "BlockGrad": "torch.clone", "make_loss": "torch.clone",
         "MakeLoss": "torch.clone"}
for size, shape in ANY.items():
    for name, (spelling, low, high) in UNARY.items():
        maps(name, of(*shape, low=low, high=high), what=size, torch=f"{spelling}(a)", grads=(0,))
    for name, spelling in STEPS.items():
        maps(name, of(*shape, low=-9, high=9), what=size, torch=f"{spelling}(a)")
    maps("cbrt", of(*shape, low=-9, high=9), what=size, numpy="np.cbrt(a)")
    maps("rcbrt", of(*shape, low=0.1, high=9), what=size, numpy="1 / np.cbrt(a)")
    maps("gamma", of(*shape, low=0.5, high=9), what=size, torch="torch.exp(torch.lgamma(a))", grads=(0,))
    maps("clip", of(*shape, low=-9, high=9), what=size, torch="torch.clamp(a, -3, 3)", grads=(0,), a_min=-3, a_max=3)
    maps("hard_sigmoid", of(*shape, low=-4, high=4), what=size, torch="F.hardsigmoid(a)", grads=(0,), alpha=1 / 6, beta=0.5)
    maps("smooth_l1", of(*shape, low=-3, high=3), what=size, torch="F.smooth_l1_loss(a, zero, reduction='none')", ready={"zero": "torch.zeros_like(a)"}, grads=(0,), scalar=1)
    maps("_contrib_div_sqrt_dim", of(*shape), what=size, torch=f"a / {shape[-1]} ** 0.5", grads=(0,))
    maps("_identity_with_attr_like_rhs", of(*shape), of(*shape), what=size, torch="torch.clone(a)")
    maps("add_n", of(*shape), of(*shape), of(*shape), what=size, torch="a + b + c", grads=(0, 1, 2))
    maps("where", places(2, *shape, dtype="u8"), of(*shape), of(*shape), what=size, torch="torch.where(a, b, c)", ready={"a": "a.bool()"}, grads=(1, 2))
    maps("_contrib_allclose", constant(0.5, *shape), constant(0.5, *shape), what=size, torch="torch.allclose(a, b)")

activations = family("activations")
for size, shape in IMAGES.items():
    for kind, spelling in (("relu", "F.relu(a)"), ("sigmoid", "F.sigmoid(a)"), ("tanh", "F.tanh(a)"), ("softrelu", "F.softplus(a)"), ("softsign", "F.softsign(a)")):
        activations("Activation", of(*shape, low=-5, high=5), what=f"{kind}, {size}", torch=spelling, grads=(0,), act_type=kind)
    for kind, spelling in (("leaky", "F.leaky_relu(a, 0.25)"), ("elu", "F.elu(a, 0.25)"), ("selu", "F.selu(a)"), ("gelu", "F.gelu(a)")):
        activations("LeakyReLU", of(*shape, low=-5, high=5), what=f"{kind}, {size}", torch=spelling, grads=(0,), act_type=kind, slope=0.25)
    activations("LeakyReLU", of(*shape, low=-5, high=5), of(shape[1], low=0.1, high=0.4), what=f"prelu, {size}", torch="F.prelu(a, b)", grads=(0, 1), act_type="prelu")
    activations("Dropout", of(*shape), what=size, torch="F.dropout(a, 0.5, True)", grads=(0,), train=True, compared=False, p=0.5)

pairs = family("pairs")
TWO = {  # (PyTorch's spelling, the scalar's name, whether it has a gradient)
    "add": ("torch.add", "plus", True), "sub": ("torch.sub", "minus", True), "mul": ("torch.mul", "mul", True), "div": ("torch.div", "div", True),
    "mod": ("torch.remainder", "mod", False), "power": ("torch.pow", "power", True), "maximum": ("torch.maximum", "maximum", True),
    "minimum": ("torch.minimum", "minimum", True), "hypot": ("torch.hypot", "hypot", True), "equal": ("torch.eq", "equal", False),
    "not_equal": ("torch.ne", "not_equal", False), "greater": ("torch.gt", "greater", False), "greater_equal": ("torch.ge", "greater_equal", False),
    "lesser": ("torch.lt", "lesser", False), "lesser_equal": ("torch.le", "lesser_equal", False), "logical_and": ("torch.logical_and", "logical_and", False),
    "logical_or": ("torch.logical_or", "logical_or", False), "logical_xor": ("torch.logical_xor", "logical_xor", False),
}
ELEMENTWISE = {"mod": "_mod", "power": "_power", "maximum": "_maximum", "minimum": "_minimum", "hypot": "_hypot"}
AS_SCALARS = ("maximum", "minimum", "hypot", "logical_and", "logical_or", "logical_xor")  # PyTorch takes no number
for size, shape in ANY.items():
    line = (1, shape[1], *[1] * (len(shape) - 2))  # of a table the columns', of images the channels'
    for name, (spelling, scalar, learns) in TWO.items():
        a, b = of(*shape, low=0.5, high=3), of(*shape, low=0.5, high=3)
        own = f"elemwise_{name}" if name in ("add", "sub", "mul", "div") else f"_{name}"
        pairs(own, a, b, what=size, torch=f"{spelling}(a, b)", grads=(0, 1) if learns else ())
        pairs(f"broadcast_{name}", a, of(*line, low=0.5, high=3), what=size, torch=f"{spelling}(a, b)", grads=(0, 1) if learns else ())
        number = "s" if name in AS_SCALARS else "2.5"
        pairs(f"_{scalar}_scalar", a, what=size, torch=f"{spelling}(a, {number})", ready={"s": "torch.tensor(2.5)"} if number == "s" else None, grads=(0,) if learns else (), scalar=2.5)
    for name, spelling in (("minus", "2.5 - a"), ("div", "2.5 / a"), ("mod", "torch.remainder(2.5, a)"), ("power", "torch.pow(2.5, a)")):
        pairs(f"_r{name}_scalar", of(*shape, low=0.5, high=3), what=size, torch=spelling, grads=() if name == "mod" else (0,), scalar=2.5)
    pairs("_power_scalar", of(*shape, low=0.5, high=3), what=f"squares, {size}", torch="torch.pow(a, 2)", grads=(0,), scalar=2)

types = family("types")
for size, shape in ANY.items():
    for before, after, spelling in (("f32", "float16", "half"), ("f16", "float32", "float"), ("f32", "float64", "double"), ("f64", "float32", "float"), ("f32", "int32", "int"), ("f32", "uint8", "byte"),
                                    ("i32", "float32", "float"), ("u8", "float32", "float")):
        types("Cast", of(*shape, low=0, high=200, dtype=before), what=f"{before} to {after}, {size}", torch=f"a.{spelling}()", dtype=after)
    types("amp_cast", of(*shape), what=size, torch="a.half()", dtype="float16")
    types("amp_multicast", of(*shape), of(*shape, dtype="f16"), what=size, torch="[a, b.float()]", num_outputs=2)
    for name in ("exp", "tanh", "relu", "sqrt"):
        for dtype in ("f16", "f64"):
            types(name, of(*shape, low=0.1, high=3, dtype=dtype), what=f"{dtype}, {size}", torch=f"torch.{name}(a)", grads=(0,))
    for name, spelling in (("elemwise_add", "a + b"), ("elemwise_mul", "a * b")):
        for dtype in ("f16", "f64", "i32", "u8"):
            types(name, of(*shape, low=1, high=8, dtype=dtype), of(*shape, low=1, high=8, dtype=dtype), what=f"{dtype}, {size}", torch=spelling, grads=(0, 1) if dtype[0] == "f" else ())
    for dtype in ("f16", "f64", "i32"):
        types("sum", of(*shape, low=0, high=2 if dtype == "i32" else 0.01, dtype=dtype), what=f"{dtype}, axis -1, {size}", torch="torch.sum(a, -1)", grads=(0,) if dtype[0] == "f" else (), axis=-1)
        types("transpose", of(*shape, low=0, high=9, dtype=dtype), what=f"{dtype}, {size}", axes=(1, 0) if len(shape) == 2 else (0, 2, 3, 1),
              torch="a.t().contiguous()" if len(shape) == 2 else "a.permute(0, 2, 3, 1).contiguous()")
