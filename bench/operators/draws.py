# SPDX-License-Identifier: Apache-2.0
"""Operators that draw, densities, and numbers of 8 bits. What is drawn is not compared."""
from .table import ANY, family, of, places

random = family("random")
for size, n in (("small", 10000), ("large", 1 << 22)):
    for name, params, torch, numpy in (
        ("uniform", {}, f"torch.rand({n})", f"rng.random({n}, 'f4')"), ("normal", {}, f"torch.randn({n})", f"rng.standard_normal({n}, 'f4')"),
        ("exponential", {"lam": 4}, f"torch.empty({n}).exponential_(4)", f"rng.standard_exponential({n}, 'f4')"),
        ("gamma", {"alpha": 3, "beta": 0.5}, "torch._standard_gamma(three)", f"rng.standard_gamma(3, {n}, 'f4')"), ("poisson", {"lam": 6}, "torch.poisson(six)", f"rng.poisson(6, {n})"),
        ("negative_binomial", {"k": 4, "p": 0.5}, None, f"rng.negative_binomial(4, 0.5, {n})"),
    ):
        ready = {"three": f"torch.full(({n},), 3.0)"} if name == "gamma" else {"six": f"torch.full(({n},), 6.0)"} if name == "poisson" else None
        random(f"_random_{name}", what=size, torch=torch, numpy=numpy, ready=ready, compared=False, shape=(n,), **params)
        random(f"_random_{name}_like", of(n), what=size, torch=torch, numpy=numpy, ready=ready, compared=False, part=(0,), **params)
    random("_random_randint", what=size, torch=f"torch.randint(1, 7, ({n},), dtype=torch.int32)", numpy=f"rng.integers(1, 7, {n}, 'i4')", compared=False, low=1, high=7, shape=(n,))
    rows, each = (100, 100) if size == "small" else (1000, 4000)
    first, second = of(rows, low=1, high=2), of(rows, low=2, high=3)
    whole = f"({rows}, {each})"
    random("_sample_uniform", first, second, what=size, numpy=f"rng.uniform(a[:, None], b[:, None], {whole})", compared=False, shape=(each,))
    random("_sample_normal", first, second, what=size, torch=f"torch.normal(a[:, None].expand{whole}, b[:, None].expand{whole})", compared=False, shape=(each,))
    random("_sample_exponential", first, what=size, numpy=f"rng.exponential(1 / a[:, None], {whole})", compared=False, shape=(each,))
    random("_sample_gamma", first, second, what=size, torch=f"torch._standard_gamma(a[:, None].expand{whole}) * b[:, None]", compared=False, shape=(each,))
    random("_sample_poisson", second, what=size, torch=f"torch.poisson(a[:, None].expand{whole})", compared=False, shape=(each,))
    random("_sample_negative_binomial", second, of(rows, low=0.2, high=0.8), what=size, numpy=f"rng.negative_binomial(a[:, None], b[:, None], {whole})", compared=False, shape=(each,))
    random("_sample_multinomial", of(rows // 10, 1000, low=0.1 / 1000, high=1 / 1000), what=size, torch="torch.multinomial(a, 100, replacement=True)", compared=False, shape=(100,))
    random("_shuffle", of(n), what=size, torch=f"a[torch.randperm({n})]", numpy="rng.permutation(a)", compared=False)
random("_shuffle", of(100000, 40), what="rows, large", torch="a[torch.randperm(100000)]", numpy="rng.permutation(a)", compared=False)

densities = family("densities")
for size, (rows, each) in {"small": (100, 20), "large": (1000, 1000)}.items():
    x, first, second = of(rows, each, low=0.2, high=1.8), of(rows, low=1.2, high=1.9), of(rows, low=2.1, high=2.9)
    for name, inputs, spelling in (
        ("uniform", (x, of(rows, low=0, high=0.1), second), "Uniform(b[:, None], c[:, None]"), ("normal", (x, first, second), "Normal(b[:, None], c[:, None]"),
        ("gamma", (x, first, second), "Gamma(b[:, None], c[:, None]"), ("exponential", (x, first), "Exponential(b[:, None]"), ("poisson", (places(9, rows, each, dtype="f32"), first), "Poisson(b[:, None]"),
    ):
        spelling = f"D.{spelling}, validate_args=False).log_prob(a)"
        densities(f"_random_pdf_{name}", *inputs, what=f"logarithms, {size}", torch=spelling, is_log=True, grads=() if name == "uniform" else tuple(range(1, len(inputs))))
    densities("_random_pdf_negative_binomial", places(9, rows, each, dtype="f32"), second, of(rows, low=0.2, high=0.8), what=f"logarithms, {size}", is_log=True,
              torch="D.NegativeBinomial(b[:, None], 1 - c[:, None], validate_args=False).log_prob(a)")
    densities("_random_pdf_dirichlet", of(rows, each, 8, low=0.05, high=0.2), of(rows, 8, low=1.2, high=2.9), what=f"logarithms, {size}", is_log=True,
              torch="D.Dirichlet(b[:, None], validate_args=False).log_prob(a)")

quantization = family("quantization")
for size, shape in ANY.items():
    quantization("_contrib_quantize_v2", of(*shape), what=size, torch="torch.quantize_per_tensor(a, 1 / 127.5, 0, torch.qint8)", out_type="int8", min_calib_range=-1, max_calib_range=1)
    quantization("_contrib_quantize", of(*shape), of(1, low=-1, high=-1), of(1, low=1, high=1), what=size, torch="torch.quantize_per_tensor(a, 1 / 127, 0, torch.qint8)", out_type="int8")
    quantization("_contrib_dequantize", of(*shape, low=-100, high=100, dtype="i8"), of(1, low=-1, high=-1), of(1, low=1, high=1), what=size,
                 ready={"q": "torch._make_per_tensor_quantized_tensor(a, 1 / 127.5, 0)"}, torch="q.dequantize()")
