# SPDX-License-Identifier: Apache-2.0
"""PyTorch in the cases of bench/graph_step.cpp, each net compiled by torch.compile."""
import torch
from clock import report
from torch_nets import steps

for case, step in steps(lambda net: torch.compile(net, dynamic=False)):  # each batch as it is, not as one of any size
    report(case, step, budget=0.3, round_time=2e-4)
