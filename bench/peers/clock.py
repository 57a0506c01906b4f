# SPDX-License-Identifier: Apache-2.0
"""Timing for the peers: as in bench/measure.hpp, the best of short rounds, printed as `case<TAB>nanoseconds`."""
import timeit

SIZES = {"64 KiB": 1 << 14, "4 MiB": 1 << 20, "64 MiB": 1 << 24}


def rounds_of(work, space=None, budget=0.04, round_time=1e-4):
    """Nanoseconds of a call of work(), or of a statement, in every round, the best first."""
    timer = timeit.Timer(work, globals=space)
    timer.timeit(1)
    once = min(timer.timeit(1), timer.timeit(1))
    calls = max(1, int(round_time / max(once, 1e-9)))
    rounds = max(5 if once < 0.05 else 2, min(200, int(budget / max(1e-6, timer.timeit(calls)))))
    return sorted(seconds / calls * 1e9 for seconds in timer.repeat(rounds, calls))


def best(work, **how):
    """Nanoseconds of a call of work()."""
    return rounds_of(work, **how)[0]


def report(case, work, **how):
    print(f"{case}\t{best(work, **how):.2f}", flush=True)


def show(case, work, space=None, **how):
    """The same with the median behind it."""
    times = rounds_of(work, space, **how)
    print(f"{case}\t{times[0]:.2f}\t{times[len(times) // 2]:.2f}", flush=True)
