# SPDX-License-Identifier: Apache-2.0
"""Helpers for tests of random numbers: how likely it is that they follow what they should."""
import math

import numpy as np

from . import _strop

__all__ = ["chi_square_check", "gen_buckets_probs_with_ppf", "mean_check", "var_check", "verify_generator"]


def gen_buckets_probs_with_ppf(ppf, nbuckets):
    """Intervals that are equally likely, from the inverse of a distribution function: (intervals, probabilities)."""
    if nbuckets <= 0:
        raise _strop.ValueError(f"gen_buckets_probs_with_ppf: {nbuckets} intervals, expected at least 1")
    ends = [float(ppf(i / nbuckets)) for i in range(nbuckets + 1)]
    return list(zip(ends, ends[1:])), [1.0 / nbuckets] * nbuckets


def _samples(generator, count):
    made = generator(count)
    return np.asarray(made.asnumpy() if hasattr(made, "asnumpy") else made).reshape(-1).astype(np.float64)


def mean_check(generator, mu, sigma, nsamples=1000000):
    """Whether the mean of so many numbers is within three deviations of mu."""
    return bool(abs(_samples(generator, nsamples).mean() - mu) < 3 * sigma / math.sqrt(nsamples))


def var_check(generator, sigma, nsamples=1000000):
    """Whether the variance of so many normal numbers is within three deviations of sigma squared."""
    return bool(abs(_samples(generator, nsamples).var(ddof=1) - sigma**2) < 3 * math.sqrt(2 * sigma**4 / (nsamples - 1)))


def chi_square_check(generator, buckets, probs, nsamples=1000000):
    """Draws numbers and counts them by interval, (low, high), or by value: (how likely counts as far off as these are,
    the counts, what was expected). Numbers outside of all intervals count against the generator as a bucket of their own."""
    if not buckets or len(buckets) != len(probs):
        raise _strop.ValueError(f"chi_square_check: {len(buckets)} buckets and {len(probs)} probabilities")
    drawn = _samples(generator, nsamples)
    if isinstance(buckets[0], (list, tuple)):
        counts = np.array([((drawn >= low) & (drawn < high)).sum() for low, high in buckets])
    else:
        counts = np.array([(drawn == value).sum() for value in buckets])
    expected = np.asarray(probs, np.float64) * len(drawn)
    if counts.sum() < expected.sum() * (1 - 1e-3):  # most cannot be what was meant
        return 0.0, counts.tolist(), expected.tolist()
    used = expected > 0
    statistic = float(((counts[used] - expected[used]) ** 2 / expected[used]).sum())
    return _chi_square_tail(statistic, max(int(used.sum()) - 1, 1)), counts.tolist(), expected.tolist()


def _chi_square_tail(x, freedom):
    """The probability that a chi-square number of that many degrees of freedom is above x: the incomplete gamma function
    Q(a + 1, x) = Q(a, x) + x^a e^-x / Gamma(a + 1), from Q(1, x) = e^-x and Q(1/2, x) = erfc(sqrt(x))."""
    half = x / 2
    if half <= 0:
        return 1.0
    tail, a = (math.exp(-half), 1.0) if freedom % 2 == 0 else (math.erfc(math.sqrt(half)), 0.5)
    while 2 * a < freedom:
        tail += math.exp(a * math.log(half) - half - math.lgamma(a + 1))
        a += 1
    return min(tail, 1.0)


def verify_generator(generator, buckets, probs, nsamples=1000000, nrepeat=5, success_rate=0.2, alpha=0.05):
    """Raises AssertionError where fewer than success_rate of the repetitions are likelier than alpha; the
    probabilities."""
    found = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    likely = [p for p, _, _ in found]
    if sum(p > alpha for p in likely) < nrepeat * success_rate:
        raise AssertionError(f"verify_generator: the probabilities of {nrepeat} runs are {', '.join(f'{p:g}' for p in likely)}, expected "
                             f"{success_rate:g} of them above {alpha:g}; counted {found[-1][1]}, expected {found[-1][2]}")
    return likely
