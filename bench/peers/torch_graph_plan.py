# SPDX-License-Identifier: Apache-2.0
"""The most bytes that PyTorch has alive at once in the nets of bench/graph_plan.cpp: storages that operators make, without
parameters, their gradients and inputs."""
import os
import sys
import weakref

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Made(TorchDispatchMode):
    """Notes when each storage comes and goes."""

    def __init__(self):
        super().__init__()
        self.events, self.alive = [], {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for value in tree_leaves(result):
            if isinstance(value, torch.Tensor):
                self.note(value.untyped_storage())
        return result

    def note(self, storage):
        at = storage.data_ptr()
        if at == 0 or at in self.alive:
            return
        self.alive[at] = number = len(self.events)
        self.events.append((number, storage.nbytes()))
        weakref.finalize(storage, self.gone, at, number, storage.nbytes())

    def gone(self, at, number, size):
        self.alive.pop(at, None)
        self.events.append((number, -size))

    def peak(self, outside):
        """The most that was alive at once of what does not lie `outside`."""
        kept = {self.alive.get(at) for at in outside}
        total = most = 0
        for number, size in self.events:
            if number not in kept:
                total += size
                most = max(most, total)
        return most


class Residual(nn.Module):
    """He et al., 2015: a bottleneck."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        norm = nn.BatchNorm2d
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), norm(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), norm(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, 4 * width, 1, bias=False), norm(4 * width))
        same = inputs == 4 * width and stride == 1
        self.past = nn.Identity() if same else nn.Sequential(
            nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), norm(4 * width))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.body(x) + self.past(x))


def resnet(*units):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, count in enumerate(units):
        for unit in range(count):
            layers.append(Residual(inputs, 64 << stage, 2 if unit == 0 and stage > 0 else 1))
            inputs = 4 * (64 << stage)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def alexnet():
    relu = nn.ReLU(inplace=True)
    return nn.Sequential(
        nn.Conv2d(3, 64, 11, 4, 2), relu, nn.MaxPool2d(3, 2), nn.Conv2d(64, 192, 5, padding=2), relu, nn.MaxPool2d(3, 2),
        nn.Conv2d(192, 384, 3, padding=1), relu, nn.Conv2d(384, 256, 3, padding=1), relu,
        nn.Conv2d(256, 256, 3, padding=1), relu, nn.MaxPool2d(3, 2), nn.Flatten(), nn.Dropout(), nn.Linear(9216, 4096),
        relu, nn.Dropout(), nn.Linear(4096, 4096), relu, nn.Linear(4096, 1000))


def vgg16():
    layers, inputs = [], 3
    for count, width in zip((2, 2, 3, 3, 3), (64, 128, 256, 512, 512)):
        for _ in range(count):
            layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU(inplace=True)]
            inputs = width
        layers.append(nn.MaxPool2d(2, 2))
    relu = nn.ReLU(inplace=True)
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(25088, 4096), relu, nn.Dropout(), nn.Linear(4096, 4096), relu,
                         nn.Dropout(), nn.Linear(4096, 1000))


def mlp():
    sizes = [784] + [1024, 512] * 6
    layers = [layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), nn.ReLU(inplace=True))]
    return nn.Sequential(*layers, nn.Linear(512, 10))


NETS = (("MLP of 12 layers, batch 128", mlp, (128, 784)), ("AlexNet, batch 32", alexnet, (32, 3, 224, 224)),
        ("VGG-16, batch 8", vgg16, (8, 3, 224, 224)), ("ResNet-50, batch 8", lambda: resnet(3, 4, 6, 3), (8, 3, 224, 224)),
        ("ResNet-152, batch 8", lambda: resnet(3, 8, 36, 3), (8, 3, 224, 224)))
if os.environ.get("OMP_NUM_THREADS") == "1":
    sys.exit()  # bytes are those of any number of threads
for case, make, shape in NETS:
    net, x, labels = make(), torch.rand(shape), torch.arange(shape[0]) % 10
    with torch.inference_mode(), Made() as made:
        net.eval()(x)
    print(f"{case}, inference\t{made.peak([])}", flush=True)
    net.train()
    with Made() as made:
        nn.functional.cross_entropy(net(x), labels).backward()
    own = [x, labels, *net.buffers(), *(tensor for p in net.parameters() for tensor in (p, p.grad))]  # views of them count too
    outside = [tensor.untyped_storage().data_ptr() for tensor in own]
    print(f"{case}, training\t{made.peak(outside)}", flush=True)
