# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers. PyTorch's is that of its own optimizer of one parameter, fused where it has that."""
from .table import constant, family, of

updates = family("updates")
FIRST = (1 - 0.999) ** 0.5 / (1 - 0.9)  # what PyTorch's Adam multiplies its first rate by; here the program does


def stepping(made):
    """The optimizer of the weight a with the gradient b."""
    return {"how": f"optimizer(torch.optim.{made}, b)"}


for size, n in (("small", 10000), ("large", 1 << 22)):
    w, g, none = of(n), of(n), constant(0, n)
    step = {"torch": "how()", "into": 0, "lr": 0.01}
    updates("sgd_update", w, g, what=size, ready=stepping("SGD([a], lr=0.01, fused=True)"), **step)
    updates("sgd_update", w, g, what=f"decay, {size}", ready=stepping("SGD([a], lr=0.01, weight_decay=1e-4, fused=True)"), wd=1e-4, **step)
    updates("sgd_mom_update", w, g, none, what=size, ready=stepping("SGD([a], lr=0.01, momentum=0.9, fused=True)"), momentum=0.9, **step)
    updates("sgd_mom_update", w, g, none, what=f"decay, {size}", ready=stepping("SGD([a], lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)"), momentum=0.9, wd=1e-4, **step)
    updates("nag_mom_update", w, g, none, what=size, ready=stepping("SGD([a], lr=0.01, momentum=0.9, nesterov=True, fused=True)"), momentum=0.9, **step)
    updates("adam_update", w, g, none, none, what=size, ready=stepping("Adam([a], lr=0.01, fused=True)"), torch="how()", into=0, lr=0.01 * FIRST)
    updates("_adamw_update", w, g, none, none, constant(1, 1), what=size, ready=stepping(f"AdamW([a], lr=0.01, weight_decay=0.01 / {FIRST}, fused=True)"), torch="how()", into=0,
            lr=0.01 * FIRST, eta=1, wd=0.0001 / FIRST)
    updates("rmsprop_update", w, g, none, what=size, ready=stepping("RMSprop([a], lr=0.01, alpha=0.95)"), gamma1=0.95, **step)
    updates("rmspropalex_update", w, g, none, none, none, what=size, ready=stepping("RMSprop([a], lr=0.01, alpha=0.95, centered=True, momentum=0.9)"), gamma1=0.95, gamma2=0.9, **step)
    updates("signsgd_update", w, g, what=size, torch="a.add_(torch.sign(b), alpha=-0.01)", into=0, lr=0.01)
