# SPDX-License-Identifier: Apache-2.0
"""PyTorch in the cases of bench/gpu/maps.cu: each line as ours. `fused` is one kernel that torch.compile makes."""
import statistics
import time

import torch

GPU = torch.device("cuda")
BYTES = 1 << 30


def device_time(work):
    """The best of many rounds on the device's clock, in milliseconds."""
    for _ in range(3):  # compiled kernels are made by then
        work()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    rounds = []
    for _ in range(30):
        begin.record()
        work()
        end.record()
        end.synchronize()
        rounds.append(begin.elapsed_time(end))
    return min(rounds)


def stream(what, dtype, copy, moved, work):
    rate = moved / device_time(work) / 1e6
    print(f"{what:<28} {dtype:<9} {rate:8.0f} GB/s  {rate / copy:4.2f} of the copy", flush=True)


def call(what, work):
    calls, rounds = 1000, []
    for _ in range(21):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            work()
        rounds.append((time.perf_counter_ns() - begin) / calls)
        torch.cuda.synchronize()
    print(f"{what:<38} {min(rounds):8.0f} ns a call (median {statistics.median(rounds):.0f})", flush=True)


def quadratic_body(x):
    return (1 * x + 2) * x + 3


def heavy_body(x):
    return x * torch.tanh(torch.log1p(torch.exp(x)))


def quadratic_slope(dy, x):
    return dy * (2 * x + 2)


torch.set_grad_enabled(False)
print(f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
    name = str(dtype).removeprefix("torch.")
    n = BYTES // dtype.itemsize
    x, y = torch.full((n,), 0.5, dtype=dtype, device=GPU), torch.full((n,), 2, dtype=dtype, device=GPU)
    out = torch.empty_like(x)
    copy = 2 * BYTES / device_time(lambda: out.copy_(x)) / 1e6
    print(f"{'copy':<28} {name:<9} {copy:8.0f} GB/s", flush=True)
    for title, body in (("quadratic", quadratic_body), ("x tanh(log(1 + exp x))", heavy_body)):
        stream(title, name, copy, 2 * BYTES, lambda body=body: body(x))
        fused = torch.compile(body)
        stream(f"{title}, fused", name, copy, 2 * BYTES, lambda fused=fused: fused(x))
    stream("x y", name, copy, 3 * BYTES, lambda: torch.mul(x, y, out=out))
    slope = torch.compile(quadratic_slope)
    stream("quadratic's gradient, fused", name, copy, 3 * BYTES, lambda: slope(y, x))
    row, rows, wide = torch.full((1, 4096), 2, dtype=dtype, device=GPU), x.reshape(-1, 4096), out.reshape(-1, 4096)
    stream("x y, y a row", name, copy, 2 * BYTES, lambda: torch.mul(rows, row, out=wide))
x, y, out = (torch.ones(1, device=GPU) for _ in range(3))
call("one element, into an array", lambda: torch.mul(x, y, out=out))
call("one element, a new array", lambda: torch.mul(x, y))
