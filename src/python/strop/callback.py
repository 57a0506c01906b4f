# SPDX-License-Identifier: Apache-2.0
"""Functions that training calls after a batch or an epoch: they say how it goes, and write checkpoints."""
import logging
import math
import time

from .model import save_checkpoint

__all__ = ["LogValidationMetricsCallback", "ProgressBar", "Speedometer", "do_checkpoint", "log_train_metric", "module_checkpoint"]


def module_checkpoint(mod, prefix, period=1, save_optimizer_states=False):
    """An ``epoch_end_callback`` that has the module write ``prefix-0001.params`` and its like after each ``period`` epochs."""
    period = max(1, int(period))

    def write(iter_no, sym=None, arg=None, aux=None):  # pylint: disable=unused-argument
        if (iter_no + 1) % period == 0:
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states)

    return write


def do_checkpoint(prefix, period=1):
    """An ``epoch_end_callback`` that writes the symbol and the arrays that it is called with after each ``period`` epochs."""
    period = max(1, int(period))

    def write(iter_no, sym, arg, aux):
        if (iter_no + 1) % period == 0:
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)

    return write


def log_train_metric(period, auto_reset=False):
    """A ``batch_end_callback`` that logs the metric after each ``period`` batches, and with ``auto_reset`` has it begin anew."""

    def log(param):
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value)
            if auto_reset:
                param.eval_metric.reset_local()

    return log


class Speedometer:
    """A ``batch_end_callback`` that logs samples a second and the metric after each ``frequent`` batches, which with
    ``auto_reset`` are all that the metric is of."""

    def __init__(self, batch_size, frequent=50, auto_reset=True):
        self.batch_size, self.frequent, self.auto_reset = batch_size, frequent, auto_reset
        self._began = None  # at the first batch that is counted
        self.last_count = 0

    def __call__(self, param):
        count = param.nbatch
        again, self.last_count = count < self.last_count, count
        if self._began is None or again:
            self._began = time.time()
            return
        if count % self.frequent != 0:
            return
        seconds = time.time() - self._began
        speed = self.frequent * self.batch_size / seconds if seconds > 0 else math.inf
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
        else:
            values = "".join(f"\t{name}={value:f}" for name, value in param.eval_metric.get_name_value())
            since = count - self.frequent if self.auto_reset else 0
            logging.info("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec%s", param.epoch, since, count, speed, values)
            if self.auto_reset:
                param.eval_metric.reset_local()
        self._began = time.time()


class ProgressBar:
    """A ``batch_end_callback`` that logs a bar of ``length`` letters, full at ``total`` batches."""

    def __init__(self, total, length=80):
        self.total, self.bar_len = total, length

    def __call__(self, param):
        filled = int(round(self.bar_len * param.nbatch / float(self.total)))
        percent = math.ceil(100.0 * param.nbatch / float(self.total))
        logging.info("[%s] %s%%\r", "=" * filled + "-" * (self.bar_len - filled), percent)


class LogValidationMetricsCallback:
    """An ``eval_end_callback`` that logs the metric of an epoch."""

    def __call__(self, param):
        if param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)
