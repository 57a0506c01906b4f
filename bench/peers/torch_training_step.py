# SPDX-License-Identifier: Apache-2.0
"""PyTorch in the cases of bench/training_step.cpp: the better of its fused and its plain SGD."""
import torch

from clock import best

for batch in (128, 1):
    times = []
    for fused in (False, True):
        net = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.SiLU(), torch.nn.Linear(256, 10))
        loss = torch.nn.CrossEntropyLoss()
        update = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, fused=fused)
        x, labels = torch.rand(batch, 784), torch.arange(batch) % 10

        def step():
            update.zero_grad(set_to_none=True)
            loss(net(x), labels).backward()
            update.step()

        times.append(best(step, budget=0.3, round_time=2e-4))
    print(f"batch {batch}\t{min(times):.2f}", flush=True)
