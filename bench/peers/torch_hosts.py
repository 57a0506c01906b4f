# SPDX-License-Identifier: Apache-2.0
"""What an operator costs inside PyTorch and JAX: softsign, x / (1 + |x|), by strop and by what is written by hand there.

Each line is a way, in microseconds: on one element, recorded, forward with sum and backward, and the first and the last on a million.
Then our ratios to the ways that they are held to, and the bounds."""
import ctypes
import os
import pathlib
import subprocess
import sys

import numpy as np
import torch
from statements import loading, time_of

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILT = pathlib.Path(os.environ.get("STROP_BENCH_DATA", ROOT / "build/bench")) / "hosts"


def compiled(name, options):
    """The shared library of bench/peers/hosts/NAME.cpp; None where it does not compile."""
    source, made = HERE / "hosts" / f"{name}.cpp", BUILT / f"{name}.so"
    newest = max(path.stat().st_mtime for path in (source, *(ROOT / "include").rglob("*.hpp")))
    if made.exists() and made.stat().st_mtime > newest:
        return made
    BUILT.mkdir(parents=True, exist_ok=True)
    command = ["c++", "-std=c++20", "-O3", "-march=native", "-shared", "-fPIC", "-fvisibility=hidden", source, *options, "-o", made]
    if subprocess.run([str(c) for c in command]).returncode == 0:
        return made
    print(f"SKIP {name}: hosts/{name}.cpp does not compile")
    return None


def formula(x):
    return x / (1 + x.abs())


def from_python():
    @torch.library.custom_op("from_python::softsign", mutates_args=())
    def softsign(x: torch.Tensor) -> torch.Tensor:
        return formula(x)

    softsign.register_autograd(lambda ctx, dy: dy / (1 + ctx.saved_tensors[0].abs()).square(),
                               setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    return torch.ops.from_python.softsign


def ways():
    """{way: function of a tensor}."""
    library = pathlib.Path(torch.__file__).parent
    options = [f"-isystem{library}/include", f"-isystem{library}/include/torch/csrc/api/include", f"-I{ROOT / 'include'}",
               f"-L{library}/lib", f"-Wl,-rpath,{library}/lib", "-ltorch_cpu", "-ltorch", "-lc10", "-lfmt"]
    made = {"torch.tanh": torch.tanh}
    for way, name, find in (("C++ extension by hand", "extension", lambda: torch.ops.by_hand.softsign),
                            ("strop/torch.hpp", "strop", lambda: torch.ops.by_struct.softsign),
                            ("stable ABI by hand", "stable", lambda: torch.ops.stable_by_hand.softsign)):
        built = compiled(name, options + (["-DTORCH_TARGET_VERSION=0x020a000000000000"] if name == "stable" else []))
        if built:
            torch.ops.load_library(str(built))
            made[way] = find()
    if "stable ABI by hand" in made:
        torch.library.register_autograd("stable_by_hand::softsign", lambda ctx, dy: torch.ops.stable_by_hand.softsign_backward(dy, *ctx.saved_tensors),
                                        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    import strop.torch  # noqa: F401

    made["import strop.torch"] = torch.ops.strop.softsign
    made["torch.library.custom_op"] = from_python()
    made["the expression"] = formula
    made["torch.compile"] = torch.compile(formula)
    return made


BOUNDS = [  # (ours, the other way, the most that our time may be of the other's by column)
    ("strop/torch.hpp", "C++ extension by hand", (1.2, 1.3, 1.3, 1, 1)),
    ("strop/torch.hpp", "torch.compile", (0, 0, 0, 1, 1)),
    ("import strop.torch", "stable ABI by hand", (1.15, 1.15, 1.15, 1, 1)),
    ("import strop.torch", "torch.library.custom_op", (0.65, 0.65, 0.65, 1, 1)),
]


def pytorch():
    found = {}
    columns = ("one", "recorded", "backward", "million", "backward")
    print(f"{'PyTorch ' + torch.__version__ + ', microseconds':34}" + "".join(f"{c:>11}" for c in columns))
    for way, f in ways().items():
        space = {"f": f, "x": torch.ones(1), "v": torch.ones(1, requires_grad=True), "many": torch.linspace(-3, 3, 1_000_000)}
        space["w"] = space["many"].clone().requires_grad_()
        texts = ("f(x)", "f(v)", "f(v).sum().backward()", "f(many)", "f(w).sum().backward()")
        found[way] = [time_of(text, space)[0] / 1e3 for text in texts]
        print(f"{way:34}" + "".join(f"{t:11.2f}" for t in found[way]), flush=True)
    for ours, other, bounds in BOUNDS:
        if ours in found and other in found:
            ratios = [f"{a / b:.2f}" + (f"/{most:.2f}" if most else "") for a, b, most in zip(found[ours], found[other], bounds)]
            print(f"{ours + ' : ' + other:34}"[:50] + "".join(f"{r:>11}" for r in ratios))
    own, ours = loading("torch")[0][0] / 1e9, loading("torch, strop.torch")[0][0] / 1e9
    print(f"import strop.torch beyond torch's own: {ours - own:.2f} s (bound 0.3)")


def jax():
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        print(f"SKIP jax: {error}")
        return
    import strop.jax

    built = compiled("handler", [f"-isystem{jax.ffi.include_dir()}", "-fvisibility=default"])
    space = {"one": jnp.ones(1, "float32"), "many": jnp.linspace(-3, 3, 1_000_000, dtype="float32")}
    if built:
        jax.ffi.register_ffi_target("softsign_by_hand", jax.ffi.pycapsule(ctypes.cdll.LoadLibrary(str(built)).softsign_by_hand), platform="cpu")
        space["by_hand"] = jax.jit(lambda x: jax.ffi.ffi_call("softsign_by_hand", jax.ShapeDtypeStruct(x.shape, x.dtype))(x))
    space["strop"] = jax.jit(strop.jax.op("softsign"))
    space["expression"] = jax.jit(lambda x: x / (1 + jnp.abs(x)))
    print(f"\n{'JAX ' + jax.__version__ + ', jitted, microseconds':34}{'one':>11}{'million':>11}")
    times = {}
    for way in ("by_hand", "strop", "expression"):
        if way in space:
            times[way] = [time_of(f"{way}({x}).block_until_ready()", space)[0] / 1e3 for x in ("one", "many")]
            print(f"{way:34}" + "".join(f"{t:11.2f}" for t in times[way]), flush=True)
    if built:
        print(f"{'strop : by_hand':34}" + "".join(f"{a / b:6.2f}/1.25" for a, b in zip(times["strop"], times["by_hand"])))


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", torch.get_num_threads())))
    assert np.allclose(formula(torch.ones(1)).numpy(), 0.5)
    pytorch()
    sys.stdout.flush()
    jax()
