# SPDX-License-Identifier: Apache-2.0
"""Softmax and losses."""
from .table import family, of, places

softmax = family("softmax")
for size, shape in {"small": (4, 32, 256), "rows of 1000, large": (2048, 1000), "attention, large": (192, 128, 128), "words, large": (256, 50257)}.items():
    for name, spelling in (("softmax", "torch.softmax(a, -1)"), ("log_softmax", "torch.log_softmax(a, -1)"), ("softmin", "F.softmin(a, -1)")):
        softmax(name, of(*shape, low=-5, high=5), what=size, torch=spelling, grads=(0,))
for size, shape in {"small": (1000, 20), "large": (2048, 1000)}.items():
    for name, spelling in (("softmax", "torch.softmax(a, 0)"), ("log_softmax", "torch.log_softmax(a, 0)")):
        softmax(name, of(*shape, low=-5, high=5), what=f"axis 0, {size}", torch=spelling, grads=(0,), axis=0)
for size, shape in {"small": (4, 21, 28, 28), "large": (8, 21, 128, 128)}.items():
    softmax("softmax", of(*shape, low=-5, high=5), what=f"channels, {size}", torch="torch.softmax(a, 1)", grads=(0,), axis=1)
    softmax("SoftmaxActivation", of(*shape, low=-5, high=5), what=size, torch="torch.softmax(a, 1)", grads=(0,), mode="channel")
softmax("softmax", of(2048, 1000, low=-5, high=5, dtype="f16"), what="f16, large", torch="torch.softmax(a, -1)", grads=(0,))

losses = family("losses")
for size, (n, m) in {"small": (128, 10), "large": (2048, 1000), "words, large": (256, 50257)}.items():
    data, labels = of(n, m, low=-5, high=5), places(m, n, dtype="f32")
    losses("softmax_cross_entropy", data, labels, what=size, torch="F.cross_entropy(a, b, reduction='sum')", ready={"b": "b.long()"}, grads=(0,))
    losses("SoftmaxOutput", data, labels, what=size, torch="torch.softmax(a, -1)", ready={"b": "b.long()"}, grads=(0,), loss="F.cross_entropy(a, b, reduction='sum')")
for size, n in (("small", 1000), ("large", 1 << 22)):
    losses("LinearRegressionOutput", of(n), of(n), what=size, torch="a.clone()", grads=(0,), loss="0.5 * F.mse_loss(a, b, reduction='sum')")
    losses("MAERegressionOutput", of(n), of(n), what=size, torch="a.clone()", grads=(0,), loss="F.l1_loss(a, b, reduction='sum')")
    losses("LogisticRegressionOutput", of(n, low=-5, high=5), of(n, low=0, high=1), what=size, torch="torch.sigmoid(a)", grads=(0,), loss="F.binary_cross_entropy_with_logits(a, b, reduction='sum')")
for size, (steps, batch, classes, length) in {"small": (20, 4, 28, 5), "large": (200, 32, 64, 40)}.items():
    labels = of(batch, length, low=1, high=classes, dtype="i32")
    losses("CTCLoss", of(steps, batch, classes, low=-2, high=2), labels, what=size, grads=(0,),
           ready={"b": "b.long()", "steps": f"torch.full(({batch},), {steps})", "lengths": f"torch.full(({batch},), {length})"}, torch="F.ctc_loss(F.log_softmax(a, -1), b, steps, lengths, reduction='none')")
