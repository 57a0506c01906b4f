# SPDX-License-Identifier: Apache-2.0
"""How likely a history of events is."""
from .. import _strop
from .ndarray import operators, ones, zeros

__all__ = ["hawkesll"]


def hawkesll(lda, alpha, beta, state, lags, marks, valid_length, max_time):
    """(the log likelihood of each of N histories, their states at the end) under Hawkes processes of K kinds of events whose
    rate is lda[n, k] + alpha[k] beta[k] times the sum of exp(-beta[k] t) over events of that kind t ago. Of history n the first
    valid_length[n] columns of lags (N, T), times since the event before, and marks (N, T), kinds, count; it ends at
    max_time[n]. state (N, K) is that sum at the beginning. Gradients of lda (N, K), alpha and beta (K)."""
    op = operators()
    (n, steps), kinds = lags.shape, alpha.shape[0]
    for name, given, shape in (("lda", lda, (n, kinds)), ("beta", beta, (kinds,)), ("state", state, (n, kinds)), ("marks", marks, (n, steps)),
                               ("valid_length", valid_length, (n,)), ("max_time", max_time, (n,))):
        if given.shape != shape:
            raise _strop.ValueError(f"hawkesll: {name} has shape {given.shape}, expected {shape}")
    alpha, beta = op.reshape(alpha, (1, kinds)), op.reshape(beta, (1, kinds))
    state, lags, max_time = op.BlockGrad(state), op.BlockGrad(lags), op.BlockGrad(op.reshape(max_time, (n, 1)))
    none, one = (make((n, kinds), lda.context, lda.dtype) for make in (zeros, ones))
    now, last, likelihood = zeros((n, 1), lda.context, lda.dtype), none, zeros((n,), lda.context, lda.dtype)
    for j in range(steps):
        now = now + op.slice_axis(lags, axis=1, begin=j, end=j + 1)
        column = op.reshape(op.slice_axis(marks, axis=1, begin=j, end=j + 1), (n,))
        here = op.one_hot(column, depth=kinds, dtype=lda.dtype) * op.reshape(op.cast(valid_length > j, dtype=lda.dtype), (n, 1))
        since = op.where(here, op.broadcast_sub(now, last), none)
        decay = op.exp(op.broadcast_mul(-beta, since))
        rate = lda + op.broadcast_mul(alpha * beta, state * decay)
        risk = lda * since + op.broadcast_mul(alpha, state * (1 - decay))
        # Where nothing happened nothing is added: a rate of 0 there would make the gradient NaN.
        likelihood = likelihood + op.sum(op.log(op.where(here, rate, one)) - risk * here, axis=1)
        state, last = op.where(here, 1 + state * decay, state), op.where(here, op.broadcast_add(none, now), last)
    since = op.broadcast_sub(max_time, last)
    decay = op.exp(op.broadcast_mul(-beta, since))
    risk = lda * since + op.broadcast_mul(alpha, state * (1 - decay))
    return [likelihood - op.sum(risk, axis=1), state * decay]
