# SPDX-License-Identifier: Apache-2.0
"""Learning rates that follow from how many updates were made."""
import math

from . import _strop
from .base import also


class LRScheduler:
    """Calls with the number of updates give a rate. The first `warmup_steps` go from `warmup_begin_lr` to `base_lr`."""

    def __init__(self, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        if warmup_begin_lr > base_lr:
            raise _strop.ValueError(f"LRScheduler: warmup_begin_lr is {warmup_begin_lr}, expected at most base_lr, {base_lr}")
        if not isinstance(warmup_steps, int) or warmup_steps < 0:
            raise also(_strop.ValueError, AssertionError)(f"LRScheduler: warmup_steps is {warmup_steps}, expected a whole number from 0 on")
        if warmup_mode not in ("linear", "constant"):
            raise _strop.ValueError(f"LRScheduler: warmup_mode is {warmup_mode!r}, expected linear or constant")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_final_lr = base_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update):
        """The rate before the warm-up is over."""
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        return self.warmup_begin_lr + (self.warmup_final_lr - self.warmup_begin_lr) * num_update / self.warmup_steps

    def __call__(self, num_update):
        """The rate after so many updates."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        return self._rate(num_update)

    def _rate(self, num_update):
        raise NotImplementedError


class FactorScheduler(LRScheduler):
    """base_lr times `factor` after every `step` updates, not below `stop_factor_lr`."""

    def __init__(self, step, factor=1, stop_factor_lr=1e-8, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise _strop.ValueError(f"FactorScheduler: step is {step}, expected at least 1")
        if factor > 1:
            raise _strop.ValueError(f"FactorScheduler: factor is {factor}, expected at most 1")
        self.step, self.factor, self.stop_factor_lr, self.count = step, factor, stop_factor_lr, 0

    def _rate(self, num_update):
        while num_update > self.count + self.step:
            self.count += self.step
            self.base_lr = max(self.base_lr * self.factor, self.stop_factor_lr)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """base_lr times `factor` after each of the numbers of updates in `step`."""

    def __init__(self, step, factor=1, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list) or not step:
            raise also(_strop.ValueError, AssertionError)(f"MultiFactorScheduler: step is {step}, expected a list of numbers from 1 on that grow")
        if step[0] < 1 or any(b <= a for a, b in zip(step, step[1:])):
            raise _strop.ValueError(f"MultiFactorScheduler: step is {step}, expected a list of numbers from 1 on that grow")
        if factor > 1:
            raise _strop.ValueError(f"MultiFactorScheduler: factor is {factor}, expected at most 1")
        self.step, self.factor, self.cur_step_ind, self.count = step, factor, 0, 0

    def _rate(self, num_update):
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
        return self.base_lr


class _Falling(LRScheduler):
    def __init__(self, max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(max_update, int) or max_update < 1:
            raise _strop.ValueError(f"{type(self).__name__}: max_update is {max_update}, expected a whole number from 1 on")
        self.base_lr_orig, self.max_update, self.final_lr = base_lr, max_update, final_lr
        self.max_steps = max_update - self.warmup_steps

    def _rate(self, num_update):
        if num_update <= self.max_update:
            left = self._left((num_update - self.warmup_steps) / self.max_steps)
            self.base_lr = self.final_lr + (self.base_lr_orig - self.final_lr) * left
        return self.base_lr


class PolyScheduler(_Falling):
    """From base_lr to final_lr in `max_update` updates, by the power `pwr` of what is left of them."""

    def __init__(self, max_update, base_lr=0.01, pwr=2, final_lr=0, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _left(self, done):
        return (1 - done) ** self.power


class CosineScheduler(_Falling):
    """From base_lr to final_lr in `max_update` updates, along half a cosine."""

    def __init__(self, max_update, base_lr=0.01, final_lr=0, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _left(self, done):
        return (1 + math.cos(math.pi * done)) / 2
