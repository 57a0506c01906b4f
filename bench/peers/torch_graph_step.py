# SPDX-License-Identifier: Apache-2.0
"""PyTorch, call by call, in the cases of bench/graph_step.cpp."""
from clock import best
from torch_nets import steps

for case, step in steps():
    time = best(step, budget=0.3, round_time=2e-4)
    print(f"{case}\t{time:.2f}\n{case}, eager\t{time:.2f}", flush=True)
