# SPDX-License-Identifier: Apache-2.0
"""Operators that move, choose, order and add up elements, and those that make arrays of parameters."""
from .table import ANY, IMAGES, SENTENCES, TABLES, family, of, places

BOTH = {**TABLES, **IMAGES}

movement = family("movement")
for size, shape in IMAGES.items():
    n, c, h, w = shape
    movement("transpose", of(*shape), what=f"NCHW to NHWC, {size}", torch="a.permute(0, 2, 3, 1).contiguous()", grads=(0,), axes=(0, 2, 3, 1))
    movement("transpose", of(n, h, w, c), what=f"NHWC to NCHW, {size}", torch="a.permute(0, 3, 1, 2).contiguous()", grads=(0,), axes=(0, 3, 1, 2))
    movement("reverse", of(*shape), what=f"axis 3, {size}", torch="torch.flip(a, (3,))", grads=(0,), axis=3)
    movement("Pad", of(*shape), what=f"constant, {size}", torch="F.pad(a, (1, 1, 1, 1))", grads=(0,), mode="constant", pad_width=(0, 0, 0, 0, 1, 1, 1, 1))
    movement("Pad", of(*shape), what=f"edge, {size}", torch="F.pad(a, (1, 1, 1, 1), 'replicate')", grads=(0,), mode="edge", pad_width=(0, 0, 0, 0, 1, 1, 1, 1))
    movement("Pad", of(*shape), what=f"reflect, {size}", torch="F.pad(a, (1, 1, 1, 1), 'reflect')", grads=(0,), mode="reflect", pad_width=(0, 0, 0, 0, 1, 1, 1, 1))
    movement("Crop", of(*shape), what=size, torch=f"a[:, :, 2:{h - 2}, 2:{w - 2}].contiguous()", num_args=1, offset=(2, 2), h_w=(h - 4, w - 4))
    movement("depth_to_space", of(*shape), what=size, torch=f"a.reshape({n}, 2, 2, {c // 4}, {h}, {w}).permute(0, 3, 4, 1, 5, 2).reshape({n}, {c // 4}, {2 * h}, {2 * w})", grads=(0,), block_size=2)
    movement("space_to_depth", of(*shape), what=size, torch=f"a.reshape({n}, {c}, {h // 2}, 2, {w // 2}, 2).permute(0, 3, 5, 1, 2, 4).reshape({n}, {4 * c}, {h // 2}, {w // 2})", grads=(0,), block_size=2)
    movement("Concat", of(*shape), of(*shape), what=f"axis 1, {size}", torch="torch.cat((a, b), 1)", grads=(0, 1), dim=1)
    movement("SliceChannel", of(*shape), what=f"axis 1, {size}", torch="[x.contiguous() for x in a.chunk(4, 1)]", num_outputs=4, axis=1)
    movement("slice", of(*shape), what=size, torch=f"a[:, :, 1:{h - 1}, 1:{w - 1}].contiguous()", grads=(0,), begin=(None, None, 1, 1), end=(None, None, h - 1, w - 1))
    movement("slice", of(*shape), what=f"every other, {size}", torch="a[:, :, ::2, ::2].contiguous()", grads=(0,), begin=(None, None, 0, 0), end=(None, None, h, w), step=(1, 1, 2, 2))
    movement("broadcast_to", of(1, c, 1, 1), what=f"channels, {size}", torch=f"a.expand({shape}).contiguous()", grads=(0,), shape=shape)
    movement("broadcast_axis", of(n, c, 1, 1), what=size, torch=f"a.expand({shape}).contiguous()", grads=(0,), axis=(2, 3), size=(h, w))
    movement("broadcast_like", of(1, c, 1, 1), of(*shape), what=size, torch=f"a.expand({shape}).contiguous()", part=(1,), grads=(0,))
for size, (n, m) in TABLES.items():
    movement("transpose", of(n, m), what=size, torch="a.t().contiguous()", grads=(0,))
    movement("reverse", of(n, m), what=f"axis 0, {size}", torch="torch.flip(a, (0,))", grads=(0,), axis=0)
    movement("reverse", of(n, m), what=f"axis 1, {size}", torch="torch.flip(a, (1,))", grads=(0,), axis=1)
    for axis in (0, 1):
        movement("repeat", of(n, m), what=f"axis {axis}, {size}", torch=f"torch.repeat_interleave(a, 2, {axis})", grads=(0,), repeats=2, axis=axis)
        movement("stack", of(n, m), of(n, m), what=f"axis {axis}, {size}", torch=f"torch.stack((a, b), {axis})", grads=(0, 1), axis=axis)
        movement("Concat", of(n, m), of(n, m), what=f"axis {axis}, {size}", torch=f"torch.cat((a, b), {axis})", grads=(0, 1), dim=axis)
        movement("SliceChannel", of(n, m), what=f"axis {axis}, {size}", torch=f"[x.contiguous() for x in a.chunk(4, {axis})]", num_outputs=4, axis=axis)
    movement("stack", of(n, m), of(n, m), what=f"axis 2, {size}", torch="torch.stack((a, b), 2)", grads=(0, 1), axis=2)
    movement("_split_v2", of(n, m), what=size, torch=f"[x.contiguous() for x in torch.tensor_split(a, (5, {m // 2}), 1)]", indices=(0, 5, m // 2), axis=1)
    movement("tile", of(n, m), what=size, torch="torch.tile(a, (2, 2))", grads=(0,), reps=(2, 2))
    movement("slice_axis", of(n, m), what=f"columns, {size}", torch=f"a[:, 2:{m - 2}].contiguous()", grads=(0,), axis=1, begin=2, end=m - 2)
    movement("slice_axis", of(n, m), what=f"rows, {size}", torch=f"a[2:{n - 2}].clone()", grads=(0,), axis=0, begin=2, end=n - 2)
    movement("slice_like", of(n, m), of(n, m // 2), what=size, torch=f"a[:, :{m // 2}].contiguous()", grads=(0,))
    movement("_slice_assign", of(n, m), of(n, 4), what=size, torch="torch.slice_scatter(a, b, 1, 2, 6)", grads=(0, 1), begin=(None, 2), end=(None, 6))
    movement("_slice_assign_scalar", of(n, m), what=size, torch="torch.index_fill(a, 1, at, 7.0)", ready={"at": "torch.arange(2, 6)"}, begin=(None, 2), end=(None, 6), scalar=7)
    movement("broadcast_to", of(n, 1), what=f"columns, {size}", torch=f"a.expand({n}, {m}).contiguous()", grads=(0,), shape=(n, m))
    movement("diag", of(n, m), what=f"of a matrix, {size}", torch="torch.diagonal(a).contiguous()")
    movement("Reshape", of(n, m), what=size, torch="a.reshape(-1)", grads=(0,), shape=(-1,))
    movement("reshape_like", of(n, m), of(m, n), what=size, torch="a.reshape(b.shape)", grads=(0,))
    movement("Flatten", of(n, m, 1), what=size, torch="a.flatten(1)", grads=(0,))
    movement("expand_dims", of(n, m), what=size, torch="a.unsqueeze(1)", grads=(0,), axis=1)
    movement("squeeze", of(n, 1, m), what=size, torch="a.squeeze(1)", grads=(0,), axis=1)
for size, (n, t, m) in SENTENCES.items():
    movement("SwapAxis", of(n, t, m), what=size, torch="a.transpose(0, 1).contiguous()", grads=(0,), dim1=0, dim2=1)
    movement("transpose", of(n, t, 4, m // 4), what=f"heads, {size}", torch="a.permute(0, 2, 1, 3).contiguous()", grads=(0,), axes=(0, 2, 1, 3))
    movement("transpose", of(n, t, m), what=f"last axes, {size}", torch="a.transpose(1, 2).contiguous()", grads=(0,), axes=(0, 2, 1))
for n, size in ((64, "small"), (1024, "large")):
    movement("diag", of(n), what=f"of a vector, {size}", torch="torch.diag(a)", grads=(0,))
    movement("transpose", of(n, n), what=f"square, {size}", torch="a.t().contiguous()", grads=(0,))

index = family("index")
for size, (rows, width, count) in {"small": (1000, 20, 256), "large": (100000, 40, 50000)}.items():
    index("take", of(rows, width), places(rows, count), what=f"rows, {size}", torch="torch.index_select(a, 0, b)", grads=(0,), part=(0,))
    index("take", of(width, rows), places(rows, count), what=f"columns, {size}", torch="torch.index_select(a, 1, b)", grads=(0,), part=(0,), axis=1)
    index("batch_take", of(rows, width), places(width, rows), what=size, torch="a.gather(1, b[:, None])[:, 0]", part=(0,))
    index("pick", of(rows, width), places(width, rows), what=size, torch="a.gather(1, b[:, None])[:, 0]", grads=(0,), part=(0,))
    index("gather_nd", of(rows, width), places(width, 2, count), what=size, torch="a[b[0], b[1]]", grads=(0,), part=(0,))
    index("gather_nd", of(rows, width), places(rows, 1, count), what=f"rows, {size}", torch="a[b[0]]", grads=(0,), part=(0,))
    index("scatter_nd", of(count, width), places(rows, 1, count), what=f"rows, {size}", torch=f"torch.zeros({rows}, {width}).index_put((b[0],), a)", compared=False, shape=(rows, width))
    index("_scatter_set_nd", of(rows, width), of(count, width), places(rows, 1, count), what=f"rows, {size}", torch="a.index_put((c[0],), b)", compared=False, shape=(rows, width))
    index("_contrib_index_copy", of(rows, width), places(rows, count), of(count, width), what=size, torch="torch.index_copy(a, 0, b, c)", compared=False)
    index("_contrib_boolean_mask", of(rows, width), places(2, rows), what=size, torch="a[b]", ready={"b": "b.bool()"}, grads=(0,))
    index("one_hot", places(width, rows), what=size, torch=f"F.one_hot(a, {width}).float()", depth=width)
    index("_ravel_multi_index", places(width, 2, rows), what=size, numpy=f"np.ravel_multi_index((a[0], a[1]), ({rows}, {width}))", shape=(rows, width))
    index("_unravel_index", places(rows * width, rows), what=size, torch=f"torch.stack(torch.unravel_index(a, ({rows}, {width})))", shape=(rows, width))
    index("_contrib_index_array", of(rows, width), what=size, numpy="np.moveaxis(np.indices(a.shape), 0, -1)")

reductions = family("reductions")
for size, shape in BOTH.items():
    table = len(shape) == 2
    axes = {"all": None, "axis 0": 0, "axis 1": 1} if table else {"all": None, "axes 0 2 3": (0, 2, 3), "axes 2 3": (2, 3)}
    for label, axis in axes.items():
        what = f"{label}, {size}"
        at = "" if axis is None else f", {axis}"
        of_numpy = "" if axis is None else f", axis={axis}"
        params = {} if axis is None else {"axis": axis}
        reductions("sum", of(*shape), what=what, torch=f"torch.sum(a{at})", grads=(0,), **params)
        reductions("mean", of(*shape), what=what, torch=f"torch.mean(a{at})", grads=(0,), **params)
        reductions("max", of(*shape), what=what, torch=f"torch.amax(a{at or ', ()'})", grads=(0,), **params)
        reductions("min", of(*shape), what=what, torch=f"torch.amin(a{at or ', ()'})", grads=(0,), **params)
        reductions("nansum", of(*shape), what=what, torch=f"torch.nansum(a{at})", grads=(0,), **params)
        reductions("norm", of(*shape), what=what, torch=f"torch.linalg.vector_norm(a, 2{at})", grads=(0,), **params)
        reductions("norm", of(*shape), what=f"1, {what}", torch=f"torch.linalg.vector_norm(a, 1{at})", grads=(0,), ord=1, **params)
        reductions("_square_sum", of(*shape), what=what, torch=f"torch.sum(torch.square(a){at})", **params) if table and axis is not None else None
        reductions("moments", of(*shape), what=what, torch=f"torch.var_mean(a{at or ', None'}, correction=0)[::-1]", grads=(0,), **({} if axis is None else {"axes": axis}))
        if axis is None or isinstance(axis, int):
            reductions("prod", of(*shape, low=0.9999, high=1.0001), what=what, torch=f"torch.prod(a{at})", grads=(0,), **params)
            reductions("nanprod", of(*shape, low=0.9999, high=1.0001), what=what, numpy=f"np.nanprod(a{of_numpy})", **params)
            reductions("argmax", of(*shape), what=what, torch=f"torch.argmax(a{at})", **params)
            reductions("argmin", of(*shape), what=what, torch=f"torch.argmin(a{at})", **params)
        if isinstance(axis, int):
            reductions("_np_cumsum", of(*shape), what=what, torch=f"torch.cumsum(a{at})", grads=(0,), **params)
    reductions("argmax_channel", of(*shape), what=size, torch="torch.argmax(a, 1)")
    reductions("all_finite", of(*shape), what=size, torch="torch.isfinite(a).all()")
    reductions("multi_all_finite", of(*shape), of(*shape), what=size, torch="torch.isfinite(a).all() & torch.isfinite(b).all()", num_arrays=2)
    reductions("multi_sum_sq", of(*shape), of(*shape), what=size, torch="torch.stack(torch._foreach_norm([a, b])).square()", num_arrays=2)
    reductions("_histogram", of(*shape, low=0, high=8), what=size, torch="torch.histc(a, 50, 0, 8)", numpy="np.histogram(a, 50, (0, 8))[0]", bin_cnt=50, range=(0, 8))

order = family("order")
for size, (n, m) in {"small": (20, 50), "rows, large": (1000, 1000), "classes, large": (64, 50257)}.items():
    order("sort", of(n, m), what=size, torch="torch.sort(a, -1)[0]", numpy="np.sort(a, -1)", grads=(0,))
    order("argsort", of(n, m), what=size, torch="torch.argsort(a, -1)", numpy="np.argsort(a, -1)")
    order("topk", of(n, m), what=f"10, values, {size}", torch="torch.topk(a, 10)[0]", grads=(0,), k=10, ret_typ="value")
    order("topk", of(n, m), what=f"10, both, {size}", torch="torch.topk(a, 10)", k=10, ret_typ="both")
for size, n in (("small", 1000), ("large", 1 << 20)):
    order("sort", of(n), what=f"a vector, {size}", torch="torch.sort(a)[0]", numpy="np.sort(a)")
    order("argsort", of(n), what=f"a vector, {size}", torch="torch.argsort(a)", numpy="np.argsort(a)")
    order("sort", places(1000, n, dtype="i32"), what=f"int32, {size}", torch="torch.sort(a)[0]", numpy="np.sort(a)")
    order("topk", of(n), what=f"10 of a vector, {size}", torch="torch.topk(a, 10)", k=10, ret_typ="both")
for size, (n, m) in TABLES.items():
    order("sort", of(n, m), what=f"axis 0, {size}", torch="torch.sort(a, 0)[0]", numpy="np.sort(a, 0)", axis=0)
    order("argsort", of(n, m), what=f"axis 0, {size}", torch="torch.argsort(a, 0)", numpy="np.argsort(a, 0)", axis=0)

made = family("made of parameters")
for size, shape in ANY.items():
    n = shape[0] * shape[1] if len(shape) == 2 else 1 << 22
    made("_zeros", what=size, torch=f"torch.zeros({shape})", shape=shape)
    made("_zeros_without_dtype", what=size, torch=f"torch.zeros({shape})", shape=shape)
    made("_ones", what=size, torch=f"torch.ones({shape})", shape=shape)
    made("_full", what=size, torch=f"torch.full({shape}, 7.0)", shape=shape, value=7)
    made("_arange", what=size, torch=f"torch.arange(0, {n}, dtype=torch.float32)", start=0, stop=n)
    made("_linspace", what=size, torch=f"torch.linspace(0, 1, {n})", start=0, stop=1, num=n)
    made("_contrib_arange_like", of(*shape), what=size, torch="torch.arange(0, a.numel(), dtype=torch.float32).reshape(a.shape)", part=(0,))
for n, size in ((64, "small"), (2000, "large")):
    made("_eye", what=size, torch=f"torch.eye({n})", N=n)
