# SPDX-License-Identifier: Apache-2.0
"""Module: a symbol that is bound, with its parameters, on one processor."""
import logging
import os

from .. import _strop, kvstore as kvstores, nd, optimizer as optimizers
from ..base import _as_list, also, counted, file_error, path_of, warn_program, write_whole
from ..context import Context, cpu
from ..initializer import InitDesc, Uniform, create
from ..io import DataDesc
from ..model import load_checkpoint
from .base_module import BaseModule

__all__ = ["Module"]


def _one_cpu(context):
    contexts = _as_list(cpu() if context is None else context)
    if len(contexts) != 1 or not isinstance(contexts[0], Context) or contexts[0].device_type == "gpu":
        said = ", ".join(str(one) if isinstance(one, Context) else f"{one!r} of type {type(one).__name__}" for one in contexts)
        raise _strop.ValueError(f"Module: the context is [{said}], expected a single cpu; worker processes under mpirun share a network by kvstore='dist_sync'")
    return contexts[0]


def _descriptions(what, shapes):
    shapes = [] if shapes is None else shapes
    if not isinstance(shapes, (list, tuple)) or not all(isinstance(one, (list, tuple)) and len(one) >= 2 and isinstance(one[1], (list, tuple)) for one in shapes):
        raise also(_strop.TypeError, ValueError)(f"Module: {what} is {shapes!r}, expected a list of (name, shape)")
    return [one if isinstance(one, DataDesc) else DataDesc(*one) for one in shapes]


class Module(BaseModule):
    """A symbol with its parameters, bound to the shapes of a batch, which forward() changes where a batch has others.

    Arguments of the symbol are data (``data_names``), labels (``label_names``), states that set_states() sets
    (``state_names``) and, all others, parameters; those in ``fixed_param_names`` are not trained. ``context`` is a single
    cpu. ``compression_params`` are those of KVStore.set_gradient_compression(). ``work_load_list`` changes nothing.
    """

    def __init__(self, symbol, data_names=("data",), label_names=("softmax_label",), logger=logging, context=None, work_load_list=None,
                 fixed_param_names=None, state_names=None, group2ctxs=None, compression_params=None):  # pylint: disable=unused-argument
        super().__init__(logger)
        if not isinstance(symbol, _strop.Symbol):
            raise also(_strop.TypeError, AttributeError)(f"Module: the symbol is of type {type(symbol).__name__}, expected a Symbol")
        self._symbol, self._context = symbol, _one_cpu(context)
        self._group2ctx = (_as_list(group2ctxs) or [None])[0]
        self._data_names, self._label_names, self._state_names, self._fixed = ([names] if isinstance(names, str) else list(names or ()) for names in (
            data_names, label_names, state_names, fixed_param_names))
        arguments = symbol.list_arguments()
        for what, names in (("data_names", self._data_names), ("label_names", self._label_names), ("state_names", self._state_names),
                            ("fixed_param_names", self._fixed)):
            for name in names:
                if name not in arguments:
                    said = f"Module: {what} has {name!r}, and the symbol has no argument of that name; there are {', '.join(arguments)}"
                    if what != "label_names":
                        raise _strop.ValueError(said)
                    warn_program(said)  # a network that predicts has none
        self._label_names = [name for name in self._label_names if name in arguments]
        given = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in arguments if name not in given]
        self._aux_names = symbol.list_auxiliary_states()
        self._compression = compression_params
        self._exec = self._first = None  # the one that runs, and the one that all others are reshaped from
        self._data_shapes = self._label_shapes = None
        self._kept = None  # parameters that bind() takes: of a checkpoint, or of what was bound before
        self._optimizer = self._kvstore = self._updater = self._preload_opt_states = None
        self._update_on_kvstore = False
        self._indices = {}  # of the parameters, by name, as the optimizer counts them

    @staticmethod
    def load(prefix, epoch, load_optimizer_states=False, **kwargs):
        """The module of a checkpoint, whose parameters it takes when it is bound. ``kwargs`` are those of Module."""
        net, *params = load_checkpoint(prefix, epoch)
        made = Module(symbol=net, **kwargs)
        made._kept, made.params_initialized = tuple(params), True
        if load_optimizer_states:
            made._preload_opt_states = f"{prefix}-{int(epoch):04d}.states"
        return made

    def save_checkpoint(self, prefix, epoch, save_optimizer_states=False, remove_amp_cast=True):
        """Writes ``prefix-symbol.json`` and ``prefix-<epoch>.params``, and ``prefix-<epoch>.states`` of the optimizer."""
        self._symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
        path = f"{prefix}-{int(epoch):04d}"
        self.save_params(f"{path}.params")
        logging.info('Saved checkpoint to "%s"', f"{path}.params")
        if save_optimizer_states:
            self.save_optimizer_states(f"{path}.states")
            logging.info('Saved optimizer state to "%s"', f"{path}.states")

    @property
    def data_names(self):
        """The names of the data."""
        return self._data_names

    @property
    def label_names(self):
        """The names of the labels that the symbol has."""
        return self._label_names

    @property
    def output_names(self):
        """The names of the outputs."""
        return self._symbol.list_outputs()

    @property
    def data_shapes(self):
        """Descriptions of the data that it is bound to."""
        self._need("data_shapes")
        return self._data_shapes

    @property
    def label_shapes(self):
        """Descriptions of the labels; None where there are none."""
        self._need("label_shapes")
        return self._label_shapes

    @property
    def output_shapes(self):
        """[(name, shape)] of the outputs."""
        self._need("output_shapes")
        found = self._symbol.infer_shape(**self._shapes())[1]
        return list(zip(self.output_names, found))

    # --- shapes -------------------------------------------------------------------------------------------------------
    def _described(self, data_shapes, label_shapes, for_training):
        """(descriptions of the data, of the labels or None), and the shapes of those that the symbol has, by name."""
        data, labels = _descriptions("data_shapes", data_shapes), _descriptions("label_shapes", label_shapes)
        if sorted(one.name for one in data) != sorted(self._data_names):
            raise _strop.ValueError(f"Module: the data are called {[one.name for one in data]}, and data_names is {self._data_names}")
        strange = [one.name for one in labels if one.name not in self._label_names]
        if strange:
            said = f"Module: labels called {strange} are given, and label_names= has {self._label_names}"
            if for_training and self._label_names and len(strange) == len(labels):  # it would be trained on labels of zeros
                raise also(_strop.ValueError, KeyError)(said)
            warn_program(said)
        return data, labels or None, self._known(data, labels)

    def _known(self, data, labels):
        names = {*self._data_names, *self._label_names}
        return {one.name: one.shape for one in [*data, *(labels or [])] if one.name in names}

    def _shapes(self):
        return self._known(self._data_shapes, self._label_shapes)

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False, force_rebind=False, shared_module=None, grad_req="write"):
        """Makes the arrays, for data and labels of these shapes, ``(name, shape)`` or a DataDesc each.

        ``grad_req`` is "write", "add" or "null", for all arguments, a list or a dictionary of them. With
        ``shared_module`` the parameters are that module's, and so is the memory of what is computed: the two run one after
        the other. Bound again by ``force_rebind`` it keeps its parameters.
        """
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        if inputs_need_grad and not for_training:
            raise also(_strop.ValueError, AssertionError)("Module.bind: inputs_need_grad asks for gradients, and for_training is False")
        if shared_module is not None:
            shared_module._need("bind of a module that shares")
            missing = [name for name in self._param_names if name not in shared_module._param_names]
            if missing:
                raise _strop.ValueError(f"Module.bind: the shared module has no parameter {', '.join(map(repr, missing))}")
        kept = self.get_params() if self.binded and self.params_initialized else self._kept
        data, labels, shapes = self._described(data_shapes, label_shapes, for_training)
        if shared_module is not None:
            self._keep_parameters("bind", shapes, shared_module._first)
        types = {one.name: one.dtype for one in [*data, *(labels or [])] if one.name in shapes}
        sharing = {} if shared_module is None else {"shared_exec": shared_module._first, "shared_arg_names": self._param_names}
        made = self._symbol.simple_bind(self._context, grad_req=self._requests(grad_req, for_training, inputs_need_grad), type_dict=types,
                                        group2ctx=self._group2ctx, **sharing, **shapes)
        if shared_module is None and self.params_initialized:
            lacking = [name for own, one in ((self._param_names, kept[0]), (self._aux_names, kept[1])) for name in own if name not in one and not name.endswith("label")]
            if lacking:
                warn_program(f"Module.bind: the checkpoint has no {', '.join(map(repr, lacking))}, which {'begins' if len(lacking) == 1 else 'begin'} with zeros")
            made.copy_params_from(*kept, allow_extra_params=True)
        self._first = self._exec = made
        self._data_shapes, self._label_shapes, self._kept = data, labels, None
        self.binded, self.for_training, self.inputs_need_grad = True, for_training, inputs_need_grad
        if shared_module is not None:
            self.params_initialized = shared_module.params_initialized
        if shared_module is not None and shared_module.optimizer_initialized:
            self.borrow_optimizer(shared_module)

    def _requests(self, grad_req, for_training, inputs_need_grad):
        arguments = self._symbol.list_arguments()
        if isinstance(grad_req, (list, tuple)):
            grad_req = dict(zip(arguments, grad_req))
        trained = {name for name in self._param_names if name not in self._fixed}.union(self._data_names if inputs_need_grad else ())
        asked = grad_req if isinstance(grad_req, dict) else dict.fromkeys(arguments, grad_req)
        return {name: asked.get(name, "null") if for_training and name in trained else "null" for name in arguments}

    def reshape(self, data_shapes, label_shapes=None):
        """Binds to other shapes of a batch. The parameters, their gradients and the auxiliary states stay. Error: these shapes
        ask for one of another shape, as those of data with other columns do; the module is then as it was."""
        self._need("reshape")
        data, labels, shapes = self._described(data_shapes, label_shapes, self.for_training)
        for name, shape in shapes.items():
            if 0 in shape:
                raise _strop.ValueError(f"Module.reshape: {name} has shape {shape}, expected no extent of 0")
        self._keep_parameters("reshape", shapes, self._exec)
        self._exec = self._first.reshape(partial_shaping=True, allow_up_sizing=True, **shapes)
        self._data_shapes, self._label_shapes = data, labels

    def _keep_parameters(self, function, shapes, run):
        """Refuses shapes of a batch that would replace a parameter or an auxiliary state of an executor by zeros of another
        shape. Labels that label_names does not have count as parameters, and may follow the batch by the end of their names."""
        found, _, states = self._symbol.infer_shape_partial(**shapes)
        follow = {*shapes, *self._label_names, *self._state_names}
        for what, names, wanted, arrays in (("parameter", self._symbol.list_arguments(), found, run.arg_dict),
                                            ("auxiliary state", self._aux_names, states, run.aux_dict)):
            for name, shape in zip(names, wanted):
                if name in follow or name not in arrays or name.endswith("label") or not (shape and all(shape)):
                    continue
                own = arrays[name].shape
                if shape != own:
                    given = " and ".join(f"{one} of shape {shapes[one]}" for one in self._data_names)
                    raise _strop.ValueError(f"Module.{function}: {given} would give {what} {name!r} shape {shape}, expected {own}, which it has; only data, "
                                            "labels and state_names follow a batch")

    # --- parameters ---------------------------------------------------------------------------------------------------
    def _own(self):
        """(arrays of the parameters, arrays of the auxiliary states), by name."""
        arrays = self._exec.arg_dict
        return {name: arrays[name] for name in self._param_names}, self._exec.aux_dict

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None, allow_missing=False, force_init=False,
                    allow_extra=False):  # pylint: disable=unused-argument
        """Sets the parameters: those in ``arg_params`` and ``aux_params`` to these arrays, all where neither is given to what
        the initializer, or that of a name, says, in the order of their names. Error: a dictionary lacks one, unless ``allow_missing`` leaves it to
        the initializer. What the symbol does not have is passed over."""
        if self.params_initialized and not force_init:
            self._ignored("init_params")
            return
        self._need("init_params")
        initializer, todo = self._initializer(initializer), []
        unsaid = [] if initializer is not None or self.params_initialized else [
            name for name, given, own in zip(("arg_params", "aux_params"), (arg_params, aux_params), self._own()) if given is None and own]
        if unsaid:
            raise also(_strop.ValueError, TypeError)(f"Module.init_params: {' and '.join(unsaid)} are not given, and there is no initializer")
        for arrays, given in zip(self._own(), (arg_params, aux_params)):
            for name, a in sorted(arrays.items()):
                found = None if given is None else given.get(name)
                if found is not None and not isinstance(found, nd.NDArray):
                    raise also(_strop.TypeError, AttributeError)(f"Module.init_params: {name!r} is given as {type(found).__name__}, expected an NDArray")
                if found is None and given is not None and not allow_missing:
                    raise also(_strop.ValueError, RuntimeError)(f"Module.init_params: {name!r} is not presented; say allow_missing=True to leave it to the initializer")
                if found is not None and found.shape != a.shape:
                    raise _strop.ValueError(f"Module.init_params: {name!r} is given with shape {found.shape}, expected {a.shape}")
                todo.append((name, a, found))
        attributes = self._symbol.attr_dict()
        for name, a, found in todo:
            if found is not None:
                found.copyto(a)
            elif initializer is not None:
                initializer(InitDesc(name, attributes.get(name)), a)
        self.params_initialized = True

    @staticmethod
    def _initializer(given):
        """What init_params() calls: an initializer by its name or as it is. None leaves what is there."""
        if isinstance(given, str):
            return create(given)
        if given is None or callable(given) and not isinstance(given, type):
            return given
        said = f"the class {given.__name__}" if isinstance(given, type) else str(given)
        raise _strop.TypeError(f"Module.init_params: the initializer is {said}, expected an Initializer or the name of one")

    def get_params(self):
        """(arrays of the parameters, arrays of the auxiliary states), by name: copies."""
        self._need("get_params", params=True)
        self._pull_rows({name: nd.arange(a.shape[0], dtype="int64") for name, a in self._own()[0].items() if a.stype == "row_sparse"})
        return tuple({name: a.copy() for name, a in arrays.items()} for arrays in self._own())

    def _pull_rows(self, rows):
        """Brings rows of row_sparse parameters from the store that updates them."""
        if self._update_on_kvstore:
            arrays = self._own()[0]
            for name, ids in rows.items():
                self._kvstore.row_sparse_pull(name, arrays[name], -self._indices[name], ids)

    def get_states(self, merge_multi_context=True):
        """The arrays of ``state_names``; a list for each unless ``merge_multi_context``."""
        self._need("get_states", params=True)
        return self._given([self._exec.arg_dict[name] for name in self._state_names], merge_multi_context)

    def set_states(self, states=None, value=None):
        """Sets the states to arrays, as get_states() gives them, or all of them to a number."""
        self._need("set_states", params=True)
        if (states is None) == (value is None):
            raise also(_strop.ValueError, AssertionError)("Module.set_states: expected one of states and value")
        for k, name in enumerate(self._state_names):
            self._exec.arg_dict[name][:] = value if states is None else _as_list(states[k])[0]

    @staticmethod
    def _given(arrays, merged):
        return list(arrays) if merged else [[a] for a in arrays]

    # --- optimizer ----------------------------------------------------------------------------------------------------
    def init_optimizer(self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False):
        """Makes the optimizer, by its name and parameters, or takes one.

        The gradients of a batch are summed, and ``rescale_grad`` is 1 over its rows, of those of all workers where a store
        waits for them, unless ``optimizer_params`` say it. ``kvstore``: a store, its type, or None. With a type of one
        process there is none, as there is one device. A store updates the parameters, or, where the environment has
        MXNET_UPDATE_ON_KVSTORE=0, adds up the gradients alone. Workers begin with the parameters of worker 0.
        """
        self._need("init_optimizer", params=True)
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring...")
            return
        if isinstance(kvstore, str):
            kvstore = kvstores.create(kvstore) if "dist" in kvstore.lower() else None
        on_store = kvstore is not None and ("async" in kvstore.type or os.environ.get("MXNET_UPDATE_ON_KVSTORE", "1") != "0")
        first = self._data_shapes[0]
        rows = first.shape[DataDesc.get_batch_axis(first.layout)]
        if kvstore is not None and "dist" in kvstore.type and "async" not in kvstore.type:
            rows *= kvstore.num_workers
        names = dict(enumerate(self._param_names))
        if isinstance(optimizer, str):
            optimizer = optimizers.create(optimizer, sym=self._symbol, param_idx2name=names, **{"rescale_grad": 1.0 / rows, **dict(optimizer_params)})
        elif not isinstance(optimizer, optimizers.Optimizer):
            raise also(_strop.TypeError, AssertionError)(f"Module.init_optimizer: the optimizer is of type {type(optimizer).__name__}, expected a name or an Optimizer")
        else:
            if optimizer.rescale_grad != 1.0 / rows:
                warn_program(f"Module.init_optimizer: rescale_grad of the optimizer is {optimizer.rescale_grad}, not 1 over the {rows} rows of a batch; "
                             "gradients are summed over them")
            if not optimizer.idx2name:
                optimizer.idx2name = names  # too late for set_wd_mult() to know biases: they decay as well, as in MXNet
        self._optimizer, self._kvstore, self._update_on_kvstore = optimizer, kvstore, on_store
        self._indices = {name: index for index, name in names.items()}
        self._updater = None if on_store else optimizers.get_updater(optimizer)
        if kvstore is not None:
            self._begin_store()
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            try:
                self.load_optimizer_states(self._preload_opt_states)
            except BaseException:
                self.optimizer_initialized = False  # or another call would train without them
                raise
            self._preload_opt_states = None

    def _begin_store(self):
        """Puts the parameters there, and takes those of worker 0."""
        store = self._kvstore
        if self._compression is not None:
            store.set_gradient_compression(self._compression)
        if self._update_on_kvstore:
            store.set_optimizer(self._optimizer)
        arrays = self._own()[0]
        store.init(list(arrays), list(arrays.values()))
        store.pull(list(arrays), list(arrays.values()), ignore_sparse=False)

    def borrow_optimizer(self, shared_module):
        """Takes the optimizer, with its states, of a module that shares its parameters."""
        shared_module._need("borrow_optimizer", bound=False, optimizer=True)
        for name in ("_optimizer", "_kvstore", "_updater", "_update_on_kvstore", "_indices"):
            setattr(self, name, getattr(shared_module, name))
        self.optimizer_initialized = True

    def update(self):
        """Changes the parameters by the gradients of the last backward()."""
        self._need("update", params=True, optimizer=True)
        weights, grads = self._own()[0], self._exec.grad_dict
        names = [name for name in self._param_names if grads[name] is not None]
        found, changed = [grads[name] for name in names], [weights[name] for name in names]
        if not names:
            return
        if self._update_on_kvstore:
            self._kvstore.push(names, found)
            whole = [(name, a) for name, a in zip(names, changed) if a.stype == "default"]  # of others prepare() brings rows
            if whole:
                self._kvstore.pull(*map(list, zip(*whole)))
            return
        if self._kvstore is not None:
            self._kvstore.push(names, found)
            self._kvstore.pull(names, found, ignore_sparse=False)
        self._updater([self._indices[name] for name in names], found, changed)

    def save_optimizer_states(self, fname):
        """Writes what the optimizer remembers into a file, which is complete or as it was before."""
        self._need("save_optimizer_states", optimizer=True)
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
            return
        write_whole("save_optimizer_states", fname, self._updater.get_states())

    def load_optimizer_states(self, fname):
        """Reads what save_optimizer_states() wrote, with a store or without, a pickle: read those that you trust alone."""
        self._need("load_optimizer_states", optimizer=True)
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            self._rename_states(self._kvstore._updater, {index: name for name, index in self._indices.items()})
            return
        try:
            with open(path_of(fname, "load_optimizer_states"), "rb") as file:
                states = file.read()
        except OSError as error:
            raise file_error(f"load_optimizer_states: {error.strerror or error}: {os.fsdecode(fname)!r}", error) from error
        try:
            self._updater.set_states(states)
        except _strop.ValueError as error:
            raise _strop.ValueError(f"load_optimizer_states: {os.fsdecode(fname)!r}: {error}") from error
        self._rename_states(self._updater, self._indices)

    @staticmethod
    def _rename_states(updater, names):
        """A store counts states by the names of parameters, and a module without one by their numbers: says it as this one does."""
        updater.states = {names.get(key, key): state for key, state in updater.states.items()}
        updater.states_synced = dict.fromkeys(updater.states, False)

    # --- a batch ------------------------------------------------------------------------------------------------------
    def prepare(self, data_batch, sparse_row_id_fn=None):
        self._need("prepare")
        if sparse_row_id_fn is None:
            return
        if not self._update_on_kvstore:
            warn_program("Module.prepare: sparse_row_id_fn is given, and no store updates the parameters, so that nothing is pulled")
            return
        rows = sparse_row_id_fn(data_batch)
        if not isinstance(rows, dict) or not set(rows) <= set(self._param_names):
            raise also(_strop.TypeError, AssertionError)("Module.prepare: sparse_row_id_fn gives no dictionary of rows by the names of parameters")
        self._pull_rows(rows)

    def forward(self, data_batch, is_train=None):
        """Computes the outputs for a batch; where its shapes are others, the module is bound to them. ``is_train``: whether
        it is a step of training, as bind() says where it is None."""
        self._need("forward", params=True)
        if isinstance(data_batch, (list, tuple)):
            raise _strop.TypeError("Module.forward: a list of batches is given, one for each device; a module here has one device")
        data, labels = list(data_batch.data), list(data_batch.label or [])
        if len(data) != len(self._data_shapes):
            raise _strop.ValueError(f"Module.forward: the batch has {counted(len(data), 'array')} of data, expected {len(self._data_shapes)}")
        found = self._named(self._data_shapes, data)
        known = self._label_shapes or ([DataDesc(name, a.shape) for name, a in zip(self._label_names, labels)] if labels else [])
        of_labels = self._named(known, labels)
        self._fit_to(found, of_labels)
        arguments = self._exec._arg_names
        inputs = {one.name: a for one, a in [*found, *of_labels] if one.name in arguments}
        self._exec.forward(is_train=self.for_training if is_train is None else is_train, **inputs)

    @staticmethod
    def _named(known, arrays):
        return [(DataDesc(one.name, a.shape, one.dtype, one.layout), a) for one, a in zip(known, arrays)]

    def _fit_to(self, data, labels):
        """Reshapes where the arrays of a batch ask for it. Labels that are not given follow from the data."""
        before = self._shapes()
        shapes = {one.name: one.shape for one, _ in [*data, *labels]}
        if any(before.get(name, shape) != shape for name, shape in shapes.items()):
            self.reshape([one for one, _ in data], [one for one, _ in labels])

    def backward(self, out_grads=None):
        """Computes the gradients of the last forward(), for head gradients of the outputs where they are given."""
        self._need("backward", params=True)
        if not self.for_training:
            raise also(_strop.Error, AssertionError)("Module.backward: bind() was told for_training=False")
        self._exec.backward(out_grads)

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last forward(), until the next one; a list for each unless ``merge_multi_context``."""
        self._need("get_outputs", params=True)
        return self._given(self._exec.outputs, merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the data, where bind() was told inputs_need_grad=True."""
        self._need("get_input_grads", params=True)
        if not self.inputs_need_grad:
            raise also(_strop.Error, AssertionError)("Module.get_input_grads: bind() was not told inputs_need_grad=True")
        grads = self._exec.grad_dict
        return self._given([grads[one.name] for one in self._data_shapes], merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Has a metric take in the outputs of the last forward(), with these labels."""
        if pre_sliced:
            raise _strop.TypeError("Module.update_metric: pre_sliced says a list of labels for each device; a module here has one device")
        names = [one.name for one in self._label_shapes] if self._label_shapes else self._label_names
        eval_metric.update_dict(dict(zip(names, labels or [])), dict(zip(self.output_names, self._exec.outputs)))

    def install_monitor(self, mon):
        """Has a monitor, an object with ``install(executor)``, see what each node computes."""
        self._need("install_monitor")
        mon.install(self._exec)
