# SPDX-License-Identifier: Apache-2.0
"""What every module can do by the steps that it has: fit, score and predict."""
import logging
import time

from .. import _strop, metric, nd
from ..base import _as_list, also, warn_program
from ..initializer import Uniform
from ..io import DataBatch
from ..model import BatchEndParam, named_params, params_by_kind
from ..ndarray import NDArray

__all__ = ["BaseModule"]


def _call_all(callbacks, *arguments):
    for callback in _as_list(callbacks) if callbacks is not None else []:
        callback(*arguments)


def _of_batches(function, argument, data, member="reset"):
    """Refuses what is no iterator over batches."""
    if not hasattr(data, member):
        raise also(_strop.TypeError, ValueError, AttributeError)(f"{function}: {argument} is of type {type(data).__name__}, expected a DataIter, as mx.io.NDArrayIter is")


class BaseModule:
    """What modules share. A class that derives from it has the steps: bind(), init_params(), init_optimizer(), forward(),
    backward(), update(), get_outputs(), update_metric(), get_params().

    The steps come in this order: bind() says shapes, init_params() what the parameters begin with, init_optimizer() what
    changes them. ``binded``, ``params_initialized`` and ``optimizer_initialized`` say how far a module is; a step that comes
    too early is an Error. fit() does all of them.
    """

    def __init__(self, logger=logging):
        self.logger = logger
        self.binded = self.for_training = self.inputs_need_grad = False
        self.params_initialized = self.optimizer_initialized = False
        self._symbol = None

    def _need(self, step, bound=True, params=False, optimizer=False):
        """Refuses a step that comes too early."""
        missing = [call for call, wanted, done in (("bind()", bound, self.binded), ("init_params()", params, self.params_initialized),
                                                   ("init_optimizer()", optimizer, self.optimizer_initialized)) if wanted and not done]
        if missing:
            raise also(_strop.Error, AssertionError)(f"{type(self).__name__}.{step}: {' and '.join(missing)} {'comes' if len(missing) == 1 else 'come'} first")

    @property
    def symbol(self):
        """The network."""
        return self._symbol

    def forward_backward(self, data_batch):
        """forward() of training and backward()."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """What has to be done before forward() of a batch: of row_sparse parameters on a store, pulls the rows that
        ``sparse_row_id_fn(data_batch)`` says, a dictionary of their numbers by the parameters' names."""

    def score(self, eval_data, eval_metric, num_batch=None, batch_end_callback=None, score_end_callback=None, reset=True, epoch=0, sparse_row_id_fn=None):
        """[(name, value)] of a metric over the batches of an iterator, or the first ``num_batch`` of them. Rows that only
        fill the last batch count, as in MXNet."""
        self._need("score", params=True)
        if reset:
            _of_batches("score", "eval_data", eval_data)
            eval_data.reset()
        eval_metric = self._metric(eval_metric)
        eval_metric.reset()
        count = 0
        for nbatch, batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(batch, sparse_row_id_fn)
            self.forward(batch, is_train=False)
            self._measure(eval_metric, batch)
            _call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            count = nbatch + 1
        _call_all(score_end_callback, BatchEndParam(epoch, count, eval_metric, locals()))
        return eval_metric.get_name_value()

    def iter_predict(self, eval_data, num_batch=None, reset=True, sparse_row_id_fn=None):
        """(outputs without the rows that only fill the batch, its number, the batch) of each batch of an iterator."""
        self._need("iter_predict", params=True)
        if reset:
            _of_batches("predict", "eval_data", eval_data)
            eval_data.reset()
        for nbatch, batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            yield self._predicted(batch, sparse_row_id_fn), nbatch, batch

    def _predicted(self, batch, sparse_row_id_fn=None):
        self.prepare(batch, sparse_row_id_fn)
        self.forward(batch, is_train=False)
        pad = batch.pad or 0
        return [out[:out.shape[0] - pad] if pad else out for out in self.get_outputs()]

    def predict(self, eval_data, num_batch=None, merge_batches=True, reset=True, always_output_list=False, sparse_row_id_fn=None):
        """The outputs for all batches of an iterator, without rows that only fill the last one: one array, or a list where
        the network has several outputs or ``always_output_list`` is set. A list of the outputs of each batch where not
        ``merge_batches``. For an array in place of the iterator the outputs for it as one batch."""
        self._need("predict", params=True)
        if isinstance(eval_data, NDArray) or hasattr(eval_data, "__array__"):
            batch = DataBatch([eval_data if isinstance(eval_data, NDArray) else nd.array(eval_data)])
            return self._predicted(batch)[0].copy()
        batches = [[out.copy() for out in outputs] for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)]
        if not batches or not merge_batches:
            return batches
        if len({len(outputs) for outputs in batches}) != 1:
            raise also(_strop.ValueError, AssertionError)("predict: the batches have different numbers of outputs, as of buckets; say merge_batches=False")
        merged = [nd.concat(*parts, dim=0) for parts in zip(*batches)]
        return merged if len(merged) > 1 or always_output_list else merged[0]

    def fit(self, train_data, eval_data=None, eval_metric="acc", epoch_end_callback=None, batch_end_callback=None, kvstore="local", optimizer="sgd",
            optimizer_params=(("learning_rate", 0.01),), eval_end_callback=None, eval_batch_end_callback=None, initializer=Uniform(0.01), arg_params=None,
            aux_params=None, allow_missing=False, force_rebind=False, force_init=False, begin_epoch=0, num_epoch=None, validation_metric=None, monitor=None,
            sparse_row_id_fn=None):
        """Trains on the batches of an iterator, ``num_epoch - begin_epoch`` times, and scores ``eval_data`` after each epoch.

        What has been bound or initialised stays, the optimizer as well, which the logger says. ``epoch_end_callback(epoch, symbol, arg_params, aux_params)`` and the other
        callbacks, which take a BatchEndParam, are functions or lists of them. The logger says the metric of each epoch.
        """
        if num_epoch is None:
            raise also(_strop.ValueError, AssertionError)("fit: num_epoch is not given")
        _of_batches("fit", "train_data", train_data, "provide_data")
        self.bind(data_shapes=train_data.provide_data, label_shapes=train_data.provide_label, for_training=True, force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        if arg_params is not None or aux_params is not None or force_init or not self.params_initialized:
            self.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params, allow_missing=allow_missing, force_init=force_init)
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params)
        eval_metric = self._metric(eval_metric)
        validation_metric = eval_metric if validation_metric is None else validation_metric
        for epoch in range(begin_epoch, num_epoch):
            began = time.time()
            eval_metric.reset()
            values = self._train_epoch(epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn)
            for name, value in values:
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - began)
            if epoch_end_callback is not None:
                _call_all(epoch_end_callback, epoch, self.symbol, *self.get_params())
            if eval_data is not None:
                for name, value in self.score(eval_data, validation_metric, score_end_callback=eval_end_callback,
                                              batch_end_callback=eval_batch_end_callback, epoch=epoch, sparse_row_id_fn=sparse_row_id_fn):
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def _train_epoch(self, epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn):
        """One pass over the batches: what the metric says of all of them, before the last callback may reset it."""
        batches = iter(train_data)
        data_batch, nbatch, values = next(batches, None), 0, []
        if data_batch is None:
            raise _strop.ValueError("fit: train_data has no batch; where it was used before, reset() it")
        while data_batch is not None:
            if monitor is not None:
                monitor.tic()
            self.prepare(data_batch, sparse_row_id_fn)
            self.forward_backward(data_batch)
            self.update()
            self._measure(eval_metric, data_batch)
            following = next(batches, None)
            if monitor is not None:
                monitor.toc_print()
            if following is None:
                values = eval_metric.get_global_name_value()
            _call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            data_batch, nbatch = following, nbatch + 1
        return values

    @staticmethod
    def _metric(eval_metric):
        return eval_metric if isinstance(eval_metric, metric.EvalMetric) else metric.create(eval_metric)

    def _measure(self, eval_metric, batch):
        if isinstance(batch, list):
            raise _strop.TypeError("Module: a list of batches is given, one for each device; a module here has one device")
        self.update_metric(eval_metric, batch.label)

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False):
        """init_params() with these arrays and no initializer. With ``allow_missing``, parameters that are not given stay as
        they are; arrays that the network does not have are then an Error, unless ``allow_extra``, and passed over else."""
        if allow_missing and not allow_extra:
            for given, own in zip((arg_params, aux_params), self.get_params() if self.params_initialized else ({}, {})):
                strange = [name for name in given or {} if own and name not in own]
                if strange:
                    raise _strop.ValueError(f"set_params: the network has no parameter {strange[0]!r}; say allow_extra=True to pass over it")
        self.init_params(initializer=None, arg_params=arg_params, aux_params=aux_params, allow_missing=allow_missing, force_init=force_init,
                         allow_extra=allow_extra)

    def save_params(self, fname):
        """Writes all parameters into a file, as checkpoints have them."""
        nd.save(fname, named_params(*self.get_params()))

    def load_params(self, fname):
        """Sets the parameters to those of a file of save_params()."""
        self.set_params(*params_by_kind("load_params", fname, nd.load(fname)))

    def _ignored(self, what):
        warn_program(f"{type(self).__name__}.{what}: the parameters are initialised already, and stay; say force_init=True for others")
