# SPDX-License-Identifier: Apache-2.0
"""The nets of bench/graph_step.cpp in PyTorch."""
import torch
from torch import nn
from torch.nn import functional

FEATURES, STORED, FIELDS, WIDTH = 100_000, 30, 8, 16


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [784] + [1024, 512] * 6
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.last = nn.Linear(512, 10)

    def forward(self, x, label):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return functional.cross_entropy(self.last(x), label, reduction="sum")


class Lenet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 20, 5), nn.Conv2d(20, 50, 5)
        self.fc1, self.fc2 = nn.Linear(800, 500), nn.Linear(500, 10)

    def forward(self, x, label):
        for conv in (self.conv1, self.conv2):
            x = functional.max_pool2d(torch.tanh(conv(x)), 2)
        return functional.cross_entropy(self.fc2(torch.tanh(self.fc1(x.flatten(1)))), label, reduction="sum")


class WideAndDeep(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.EmbeddingBag(FEATURES, 1, mode="sum", sparse=True)
        self.table = nn.Embedding(FEATURES, WIDTH, sparse=True)
        self.fc1, self.fc2, self.fc3 = nn.Linear(FIELDS * WIDTH, 64), nn.Linear(64, 32), nn.Linear(32, 1)

    @torch.compiler.disable  # which fails on the sparse gradients of both tables
    def look_up(self, columns, starts, values, ids):
        return self.wide(columns, starts, per_sample_weights=values), self.table(ids)

    def forward(self, columns, starts, values, ids, label):
        wide, found = self.look_up(columns, starts, values, ids)
        deep = torch.relu(self.fc2(torch.relu(self.fc1(found.flatten(1)))))
        score = self.fc3(deep) + wide
        return functional.binary_cross_entropy_with_logits(score, label, reduction="sum")


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.i2h, self.h2h, self.last = nn.Linear(32, 256), nn.Linear(64, 256), nn.Linear(64, 10)

    def forward(self, x, h, c, label):
        for step in x.unbind(0):
            i, f, g, o = (self.i2h(step) + self.h2h(h)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return functional.cross_entropy(self.last(h), label, reduction="sum")


class Chain(nn.Module):
    def forward(self, x):
        for _ in range(2):
            x = torch.relu(torch.neg(torch.square(torch.abs(x))))
        return x


def nets():
    """(case, module, inputs) of each."""
    mlp, lenet = Mlp(), Lenet()
    for batch in (64, 1):
        yield f"MLP of 12 layers, batch {batch}", mlp, (torch.rand(batch, 784), torch.arange(batch) % 10)
    for batch in (32, 1):
        yield f"LeNet, batch {batch}", lenet, (torch.rand(batch, 1, 28, 28), torch.arange(batch) % 10)
    k, apart = torch.arange(256 * STORED), FEATURES // STORED
    yield "wide and deep, batch 256", WideAndDeep(), (
        k % STORED * apart + k * 7919 % apart, torch.arange(256) * STORED, torch.ones(256 * STORED),
        torch.arange(256 * FIELDS).reshape(256, FIELDS) * 7919 % FEATURES, (torch.arange(256) * 7919 % 2).float()[:, None])
    yield "LSTM of 64 steps, batch 16", Lstm(), (torch.rand(64, 16, 32), torch.rand(16, 64), torch.rand(16, 64),
                                                 torch.arange(16) % 10)
    for size in (12, 22):
        yield f"8 maps of 2^{size}", Chain(), (torch.rand(1 << size, requires_grad=True),)


def steps(prepare=lambda net: net):
    """(case, forward and backward) of each, of the net that `prepare` makes of it."""
    for case, net, inputs in nets():
        ready = prepare(net)
        leaves = [*net.parameters(), *(x for x in inputs if x.requires_grad)]

        def step():
            for leaf in leaves:
                leaf.grad = None
            result = ready(*inputs)
            result.backward(torch.ones_like(result))

        yield case, step
