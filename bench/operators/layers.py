# SPDX-License-Identifier: Apache-2.0
"""Layers of networks: convolutions, pooling, products with weights, normalisations, recurrent ones."""
from .table import IMAGES, SENTENCES, family, of, places

convolution = family("convolution")


def conv(what, batch, channels, filters, extents, kernel, stride=1, pad=0, dilate=1, groups=1, bias=True):
    dims = len(extents)
    weights = of(filters, channels // groups, *[kernel] * dims, low=-0.1, high=0.1)
    inputs = [of(batch, channels, *extents), weights, *[of(filters)] * bias]
    convolution("Convolution", *inputs, what=what, grads=tuple(range(len(inputs))), torch=f"F.conv{dims}d(a, b, {'c' if bias else None}, {stride}, {pad}, {dilate}, {groups})", kernel=(kernel,) * dims,
                stride=(stride,) * dims, pad=(pad,) * dims, dilate=(dilate,) * dims, num_filter=filters, num_group=groups, no_bias=not bias)


for batch, size in ((1, "small"), (16, "large")):
    conv(f"ResNet 7x7 of 3, stride 2, {size}", batch, 3, 64, (224, 224), 7, 2, 3, bias=False)
    conv(f"ResNet 3x3 of 64, 56x56, {size}", batch, 64, 64, (56, 56), 3, 1, 1, bias=False)
    conv(f"ResNet 1x1 of 64 to 256, 56x56, {size}", batch, 64, 256, (56, 56), 1, bias=False)
    conv(f"ResNet 3x3 of 128, 56x56, stride 2, {size}", batch, 128, 128, (56, 56), 3, 2, 1, bias=False)
    conv(f"ResNet 3x3 of 256, 14x14, {size}", batch, 256, 256, (14, 14), 3, 1, 1, bias=False)
    conv(f"ResNet 1x1 of 1024 to 256, 14x14, {size}", batch, 1024, 256, (14, 14), 1, bias=False)
    conv(f"ResNet 3x3 of 512, 7x7, {size}", batch, 512, 512, (7, 7), 3, 1, 1, bias=False)
    conv(f"ResNeXt 3x3 of 128, 32 groups, {size}", batch, 128, 128, (56, 56), 3, 1, 1, groups=32, bias=False)
    conv(f"depthwise 3x3 of 144, 56x56, {size}", batch, 144, 144, (56, 56), 3, 1, 1, groups=144, bias=False)
    conv(f"depthwise 3x3 of 144, stride 2, {size}", batch, 144, 144, (56, 56), 3, 2, 1, groups=144, bias=False)
    conv(f"dilated 3x3 of 64, {size}", batch, 64, 64, (28, 28), 3, 1, 2, 2)
    conv(f"words, 3 of 256, {size}", batch, 256, 256, (128,), 3, 1, 1)
    conv(f"volumes, 3x3x3 of 16, {size}", batch, 16, 32, (16, 28, 28), 3, 1, 1)
for batch, size in ((8, "small"), (128, "large")):
    conv(f"LeNet 5x5 of 1, {size}", batch, 1, 20, (28, 28), 5)
    conv(f"LeNet 5x5 of 20, {size}", batch, 20, 50, (12, 12), 5)
for (batch, channels, filters, extent), size in (((1, 64, 32, 14), "small"), ((16, 128, 64, 28), "large")):
    convolution("Deconvolution", of(batch, channels, extent, extent), of(channels, filters, 4, 4, low=-0.1, high=0.1), what=size, torch="F.conv_transpose2d(a, b, None, 2, 1)", grads=(0, 1), kernel=(4, 4),
                stride=(2, 2), pad=(1, 1), num_filter=filters)
    convolution("im2col", of(batch, channels, extent, extent), what=size, torch="F.unfold(a, 3, padding=1)", grads=(0,), kernel=(3, 3), pad=(1, 1), stride=(1, 1), dilate=(1, 1))
    convolution("col2im", of(batch, channels * 9, extent * extent), what=size, torch=f"F.fold(a, ({extent}, {extent}), 3, padding=1)", grads=(0,), output_size=(extent, extent), kernel=(3, 3), pad=(1, 1),
                stride=(1, 1), dilate=(1, 1))

pooling = family("pooling")
for size, shape in {"small": (4, 20, 24, 24), "large": (16, 64, 112, 112)}.items():
    for what, spelling, kind, kernel, stride, pad in (
        ("max 2x2", "F.max_pool2d(a, 2, 2)", "max", 2, 2, 0), ("max 3x3, stride 2", "F.max_pool2d(a, 3, 2, 1)", "max", 3, 2, 1), ("average 2x2", "F.avg_pool2d(a, 2, 2)", "avg", 2, 2, 0),
        ("average 3x3, stride 1", "F.avg_pool2d(a, 3, 1, 1)", "avg", 3, 1, 1),
    ):
        pooling("Pooling", of(*shape), what=f"{what}, {size}", torch=spelling, grads=(0,), pool_type=kind, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad))
    pooling("Pooling", of(*shape, low=0.1), what=f"lp 2x2, {size}", torch="F.lp_pool2d(a, 2, 2, 2)", grads=(0,), pool_type="lp", kernel=(2, 2), stride=(2, 2), p_value=2)
for size, shape in {"small": (1, 512, 7, 7), "7x7, large": (64, 2048, 7, 7), "56x56, large": (32, 64, 56, 56)}.items():
    for kind, spelling in (("avg", "a.mean((2, 3), keepdim=True)"), ("max", "F.adaptive_max_pool2d(a, 1)")):
        pooling("Pooling", of(*shape), what=f"global {kind}, {size}", torch=spelling, grads=(0,), pool_type=kind, kernel=(1, 1), global_pool=True)
for size, shape in {"small": (1, 512, 14, 14), "large": (32, 256, 28, 28)}.items():
    pooling("_contrib_AdaptiveAvgPooling2D", of(*shape), what=size, torch="F.adaptive_avg_pool2d(a, (7, 7))", grads=(0,), output_size=(7, 7))
for size, shape in {"small": (4, 16, 64), "large": (32, 256, 512)}.items():
    pooling("Pooling", of(*shape), what=f"max of 3 words, {size}", torch="F.max_pool1d(a, 3, 2, 1)", grads=(0,), pool_type="max", kernel=(3,), stride=(2,), pad=(1,))

dense = family("dense layers")
for size, (batch, inputs, outputs) in {"784 to 256, small": (16, 784, 256), "784 to 256, large": (512, 784, 256), "256 to 10, small": (16, 256, 10), "2048 to 1000, large": (64, 2048, 1000)}.items():
    dense("FullyConnected", of(batch, inputs), of(outputs, inputs), of(outputs), what=size, torch="F.linear(a, b, c)", grads=(0, 1, 2), num_hidden=outputs)
for size, shape in SENTENCES.items():
    width = shape[-1]
    dense("FullyConnected", of(*shape), of(width, width), of(width), what=size, torch="F.linear(a, b, c)", grads=(0, 1, 2), num_hidden=width, flatten=False)
for size, (rows, width, count) in {"small": (1000, 64, 128), "large": (50000, 256, 32 * 128)}.items():
    dense("Embedding", places(rows, count), of(rows, width), what=size, torch="F.embedding(a, b)", grads=(1,), part=(1,), input_dim=rows, output_dim=width)
    dense("_contrib_SparseEmbedding", places(rows, count), of(rows, width), what=size, torch="F.embedding(a, b)", part=(1,), input_dim=rows, output_dim=width)

norms = family("norms")
for size, shape in IMAGES.items():
    channels = shape[1]
    inputs = [of(*shape), of(channels, low=0.5), of(channels), of(channels), of(channels, low=0.5)]
    for name, own in (("BatchNorm", {}), ("_contrib_SyncBatchNorm", {"key": "bn"})):
        norms(name, *inputs, what=size, torch="F.batch_norm(a, d, e, b, c, False, 0.1, 1e-3)", eps=1e-3, fix_gamma=False, **own)
        norms(name, *inputs, what=f"training, {size}", torch="F.batch_norm(a, d, e, b, c, True, 0.1, 1e-3)", grads=(0, 1, 2), train=True, eps=1e-3, fix_gamma=False, **own)
    norms("InstanceNorm", of(*shape), of(channels, low=0.5), of(channels), what=size, torch="F.instance_norm(a, weight=b, bias=c, eps=1e-3)", grads=(0, 1, 2), eps=1e-3)
    norms("GroupNorm", of(*shape), of(4, low=0.5), of(4), what=size, torch="F.group_norm(a, 4, b, c, 1e-3)", grads=(0,), num_groups=4, eps=1e-3,
          ready={"b": f"b.repeat_interleave({channels // 4})", "c": f"c.repeat_interleave({channels // 4})"})
    norms("L2Normalization", of(*shape), what=f"channel, {size}", torch="F.normalize(a, dim=1)", grads=(0,), mode="channel")
    norms("L2Normalization", of(*shape), what=f"instance, {size}", torch="F.normalize(a.flatten(1)).reshape(a.shape)", grads=(0,), mode="instance")
    norms("LRN", of(*shape), what=size, torch="F.local_response_norm(a, 5, 1e-4, 0.75, 2.0)", grads=(0,), alpha=1e-4, beta=0.75, knorm=2, nsize=5)
for size, shape in SENTENCES.items():
    norms("LayerNorm", of(*shape), of(shape[-1], low=0.5), of(shape[-1]), what=size, torch=f"F.layer_norm(a, ({shape[-1]},), b, c, 1e-5)", grads=(0, 1, 2), eps=1e-5)

recurrent = family("recurrent layers")
for size, (steps, batch, inputs, hidden, layers) in {"small": (20, 4, 64, 64, 1), "large": (50, 32, 256, 256, 1), "2 layers, large": (50, 32, 256, 256, 2)}.items():
    for kind, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1)):
        for ways in (1, 2):
            if ways == 2 and (kind != "lstm" or layers == 2):
                continue
            count = sum(gates * hidden * (ways * ((hidden * ways if layer else inputs) + hidden + 2)) for layer in range(layers))
            states = [of(layers * ways, batch, hidden)] * (2 if kind == "lstm" else 1)
            recurrent("RNN", of(steps, batch, inputs), of(count, low=-0.1, high=0.1), *states, what=f"{kind}{', both ways' if ways == 2 else ''}, {size}", grads=(0, 1),
                      ready={"net": f"recurrent('{kind}', b, {inputs}, {hidden}, {layers}, {ways == 2})"}, torch=f"net(a, {'(c, d)' if kind == 'lstm' else 'c'})[0]", leaves="[a, *net.parameters()]", mode=kind,
                      state_size=hidden, num_layers=layers, bidirectional=ways == 2)
