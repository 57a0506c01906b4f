# SPDX-License-Identifier: Apache-2.0
"""BucketingModule: networks for batches of several lengths, with the same parameters."""
import logging

from .. import _strop, nd, symbol
from ..base import also
from ..initializer import Uniform
from ..model import load_params
from .base_module import BaseModule
from .module import Module

__all__ = ["BucketingModule"]


class BucketingModule(BaseModule):
    """A module for each bucket key that batches have, made when the first one comes: ``sym_gen(key)`` gives (symbol, names of
    the data, names of the labels). All have the parameters, and the optimizer, of the one of ``default_bucket_key``, which
    should be the largest: the others compute in its memory. What else it takes is Module's."""

    def __init__(self, sym_gen, default_bucket_key=None, logger=logging, context=None, work_load_list=None, fixed_param_names=None, state_names=None,
                 group2ctxs=None, compression_params=None):
        super().__init__(logger)
        if default_bucket_key is None:
            raise also(_strop.ValueError, AssertionError)("BucketingModule: default_bucket_key is not given")
        self._sym_gen, self._default_key, self._key = sym_gen, default_bucket_key, default_bucket_key
        self._of_modules = {"logger": logger, "context": context, "work_load_list": work_load_list, "fixed_param_names": fixed_param_names,
                            "state_names": state_names, "group2ctxs": group2ctxs, "compression_params": compression_params}
        self._buckets = {}
        self._kept = self._monitor = None  # the parameters of a checkpoint, until bind()
        self._grad_req = "write"

    def _made(self, key):
        found = self._sym_gen(key)
        if not isinstance(found, (list, tuple)) or len(found) != 3:
            said = f"{len(found)} things" if isinstance(found, (list, tuple)) else f"something of type {type(found).__name__}"
            raise _strop.ValueError(f"BucketingModule: sym_gen gives {said} for bucket {key!r}, expected (symbol, names of data, names of labels)")
        net, data_names, label_names = found
        return Module(net, data_names, label_names, **self._of_modules)

    @property
    def _now(self):
        """The module of the bucket that was used last."""
        self._need("the current bucket")
        return self._buckets[self._key]

    @property
    def _main(self):
        return self._buckets[self._default_key]

    @property
    def symbol(self):
        """The network of the bucket that was used last."""
        return self._now.symbol

    @property
    def data_names(self):
        """The names of the data of that bucket."""
        return self._now.data_names if self.binded else self._sym_gen(self._default_key)[1]

    @property
    def output_names(self):
        """The names of its outputs."""
        return self._now.output_names if self.binded else self._sym_gen(self._default_key)[0].list_outputs()

    @property
    def data_shapes(self):
        """Descriptions of its data."""
        return self._now.data_shapes

    @property
    def label_shapes(self):
        """Descriptions of its labels."""
        return self._now.label_shapes

    @property
    def output_shapes(self):
        """[(name, shape)] of its outputs."""
        return self._now.output_shapes

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False, force_rebind=False, shared_module=None, grad_req="write"):
        """Binds the module of the default bucket; the others follow when batches of them come."""
        if shared_module is not None:
            raise also(_strop.ValueError, AssertionError)("BucketingModule.bind: shared_module is given, which modules of buckets have of their own")
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        main = self._main if self.binded else self._made(self._default_key)
        if self._kept is not None:
            main._kept, main.params_initialized, self._kept = self._kept, True, None
        main.bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, grad_req=grad_req)
        self._buckets, self._key, self._grad_req = {self._default_key: main}, self._default_key, grad_req
        self.binded, self.for_training, self.inputs_need_grad = True, for_training, inputs_need_grad
        self.params_initialized = main.params_initialized
        if self._monitor is not None:
            main.install_monitor(self._monitor)

    def switch_bucket(self, bucket_key, data_shapes, label_shapes=None):
        """Goes to the module of a bucket, which is bound to these shapes where there is none yet."""
        self._need("switch_bucket")
        if bucket_key not in self._buckets:
            if data_shapes is None:
                raise _strop.ValueError(f"BucketingModule: bucket {bucket_key!r} is new, and its batch has no provide_data")
            made = self._made(bucket_key)
            made.bind(data_shapes, label_shapes, self.for_training, self.inputs_need_grad, shared_module=self._main, grad_req=self._grad_req)
            if self._monitor is not None:
                made.install_monitor(self._monitor)
            self._buckets[bucket_key] = made
        self._key = bucket_key

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None, allow_missing=False, force_init=False, allow_extra=False):
        """Sets the parameters of all buckets, as Module does."""
        if self.params_initialized and not force_init:
            self._ignored("init_params")
            return
        self._need("init_params")
        self._main.init_params(initializer, arg_params, aux_params, allow_missing, force_init, allow_extra)
        self.params_initialized = True
        for module in self._buckets.values():
            module.params_initialized = True

    def get_params(self):
        """(arrays of the parameters, arrays of the auxiliary states), by name: copies."""
        self._need("get_params", params=True)
        return self._main.get_params()

    def get_states(self, merge_multi_context=True):
        """The states of the bucket that was used last."""
        return self._now.get_states(merge_multi_context)

    def set_states(self, states=None, value=None):
        """Sets them."""
        self._now.set_states(states, value)

    def init_optimizer(self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False):
        """Makes one optimizer for all buckets, as Module does."""
        self._need("init_optimizer", params=True)
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        self._main.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        for module in self._buckets.values():
            if module is not self._main:
                module.borrow_optimizer(self._main)
        self.optimizer_initialized = True

    def save_optimizer_states(self, fname):
        """Writes what the optimizer remembers."""
        self._need("save_optimizer_states", optimizer=True)
        self._main.save_optimizer_states(fname)

    def load_optimizer_states(self, fname):
        """Reads what save_optimizer_states() wrote."""
        self._need("load_optimizer_states", optimizer=True)
        self._main.load_optimizer_states(fname)

    def prepare(self, data_batch, sparse_row_id_fn=None):
        self._need("prepare", params=True)
        before = self._key
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._now.prepare(data_batch, sparse_row_id_fn)
        self._key = before

    def forward(self, data_batch, is_train=None):
        """Goes to the batch's bucket and computes the outputs there."""
        self._need("forward", params=True)
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._now.forward(data_batch, is_train)

    def backward(self, out_grads=None):
        """Computes the gradients of the last forward()."""
        self._need("backward", params=True)
        self._now.backward(out_grads)

    def update(self):
        """Changes the parameters by the gradients of the last backward()."""
        self._need("update", params=True, optimizer=True)
        self._now.update()

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last forward()."""
        self._need("get_outputs", params=True)
        return self._now.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the data of the last forward()."""
        self._need("get_input_grads", params=True)
        return self._now.get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Has a metric take in the outputs of the last forward()."""
        self._now.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        """Has a monitor see what the nodes of all buckets compute, also of those to come."""
        self._need("install_monitor")
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)

    def save_checkpoint(self, prefix, epoch, remove_amp_cast=False):
        """Writes ``prefix-<key>-symbol.json`` of each bucket, the keys, whole numbers, to ``prefix.buckets`` and the
        parameters to ``prefix-<epoch>.params``."""
        self._need("save_checkpoint", params=True)
        keys = list(self._buckets)
        if not all(isinstance(key, int) for key in keys):
            raise _strop.ValueError(f"BucketingModule.save_checkpoint: the bucket keys are {keys}, expected whole numbers")
        for key, module in self._buckets.items():
            module.symbol.save(f"{prefix}-{key}-symbol.json", remove_amp_cast=remove_amp_cast)
        nd.save(f"{prefix}.buckets", nd.array(keys, dtype="int32"))
        self.save_params(f"{prefix}-{int(epoch):04d}.params")

    @staticmethod
    def load(prefix, epoch, sym_gen=None, default_bucket_key=None, **kwargs):
        """The module of a checkpoint. Without ``sym_gen`` the buckets are those of the files, with data and softmax_label."""
        if sym_gen is None:
            keys = [int(key) for key in nd.load(f"{prefix}.buckets")[0].asnumpy()]
            nets = {key: symbol.load(f"{prefix}-{key}-symbol.json") for key in keys}
            return BucketingModule.load_dict(nets, None, default_bucket_key, *load_params(prefix, epoch), **kwargs)
        return BucketingModule.load_dict(None, sym_gen, default_bucket_key, *load_params(prefix, epoch), **kwargs)

    @staticmethod
    def load_dict(sym_dict=None, sym_gen=None, default_bucket_key=None, arg_params=None, aux_params=None, **kwargs):
        """A module of symbols by bucket key, or of ``sym_gen``, which takes these parameters when it is bound."""
        if (sym_dict is None) == (sym_gen is None):
            raise also(_strop.ValueError, AssertionError)("BucketingModule.load_dict: expected one of sym_dict and sym_gen")
        if sym_gen is None:
            def sym_gen(key):
                if key not in sym_dict:
                    raise also(_strop.ValueError, KeyError)(f"BucketingModule: there is no symbol of bucket {key!r}; there are {', '.join(map(repr, sym_dict))}")
                return sym_dict[key], ("data",), ("softmax_label",)
        made = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        made._kept, made.params_initialized = (arg_params or {}, aux_params or {}), True
        return made
