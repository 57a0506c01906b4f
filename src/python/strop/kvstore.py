# SPDX-License-Identifier: Apache-2.0
"""KVStore: arrays under keys that devices and worker processes share; each pushes gradients and pulls weights."""
import atexit
import itertools
import os
import pickle
import sys
import threading
import weakref

from . import _strop
from .base import also, arrays_in, integer_types, path_of
from .executor import _Name
from .ndarray import NDArray
from .optimizer import Optimizer, Updater, get_updater

__all__ = ["KVStore", "create"]

_numbers_of_stores = itertools.count()
_stores = weakref.WeakValueDictionary()  # distributed ones that live, in the order of their making, which all workers share


@atexit.register
def _close_all():
    """The end of a store waits for the other workers while this one's updater answers them, which takes a whole Python.
    After an exception that nobody caught it does not: the others are told that this worker has gone."""
    raised = getattr(sys, "last_exc", None) is not None or getattr(sys, "last_value", None) is not None
    for store in list(_stores.values()):
        if store._lock.acquire(blocking=False):  # a thread that is in a call keeps its store
            try:
                store._handle.close(not raised)
            finally:
                store._lock.release()


class _Steps:
    """What the core calls for each key of a push: an updater of Python."""

    def __init__(self, updater, numbers):
        self.updater, self.numbers, self.with_optimizer, self.path = updater, numbers, False, None

    def update(self, key, gradient, weight):
        """One key, which the core has as text."""
        self.updater(int(key) if self.numbers else _Name(key), gradient, weight)

    def states(self):
        """What the updater remembers, as bytes."""
        return self.updater.get_states(dump_optimizer=True) if self.with_optimizer else self.updater.get_states()

    def set_states(self, states):
        """Takes bytes of the file ``path`` that states() gave."""
        try:
            self.updater.set_states(states)
        except _strop.ValueError as error:
            raise _strop.ValueError(f"load_optimizer_states: {os.fsdecode(self.path)!r}: {error}") from error

    def merged(self, parts):
        """The states() of all workers as those of one: of each key what its owner has, of the optimizers the first."""
        if not isinstance(self.updater, Updater):
            raise _strop.TypeError(f"KVStore.save_optimizer_states: the updater is of type {type(self.updater).__name__}, and how its states of several workers are joined is not known; set_optimizer has states")

        def own(worker, found):
            return {key: value for key, value in found.items() if _strop._KVStore.owner_of(str(key), len(parts)) == worker}

        read = [pickle.loads(part) for part in parts]
        states, counts = {}, {}
        for worker, part in enumerate(read):
            states.update(own(worker, part[0] if self.with_optimizer else part))
            if self.with_optimizer:
                counts.update(own(worker, part[1]._index_update_count))
        if not self.with_optimizer:
            return pickle.dumps(states)
        optimizer = read[0][1]
        optimizer._index_update_count = counts
        optimizer.num_update = max(part[1].num_update for part in read)
        return pickle.dumps((states, optimizer))


def _listed(function, keys, values, what="value"):
    """Keys as a list, and for each of them the list of its arrays: of one key all that are given are its own."""
    if not isinstance(keys, (list, tuple)):
        keys, values = [keys], [values]
    elif not isinstance(values, (list, tuple)) or len(values) != len(keys):
        count = len(values) if isinstance(values, (list, tuple)) else "no list"
        raise also(_strop.ValueError, AssertionError)(f"KVStore.{function}: there are {len(keys)} keys, and of {what} {count}")
    if not keys:
        raise _strop.ValueError(f"KVStore.{function}: there is no key")
    for key in keys:
        if not isinstance(key, (str, *integer_types)) or isinstance(key, bool):
            raise also(_strop.TypeError, AssertionError)(f"KVStore.{function}: a key is of type {type(key).__name__}, expected a string or a whole number")
        if isinstance(key, str) is not isinstance(keys[0], str):
            raise _strop.TypeError(f"KVStore.{function}: the keys are strings and whole numbers, expected one kind of them")
    lists = [list(one) if isinstance(one, (list, tuple)) else [one] for one in values]
    for one in lists:
        arrays_in(one, f"KVStore.{function}", what)
    return [key if isinstance(key, str) else int(key) for key in keys], lists


class KVStore:
    """A store of arrays, as create() makes it.

    What is pushed under a key is added up, over the arrays of a push and, in a distributed store, over the workers. The
    updater then changes the stored array by the sum; without one the sum takes its place. Keys are strings or whole
    numbers, one kind in a store. Beside one key stands an array, or a list of all its arrays; beside a list of keys a list
    with either for each of them. In a distributed store every worker makes the same calls in the same order; in
    ``dist_async``, where each key is one worker's and a push is applied at once, that does not hold for pushes and pulls.
    The end of such a store, or of the program, waits for all workers.

    Errors: an unknown key, one that is initialised twice, shapes and types that are not the stored ones.
    """

    def __init__(self, handle):
        self._handle, self._steps, self._updater = handle, None, None
        self._numbers, self._has_keys = False, False  # whether the keys are numbers
        self._lock = threading.RLock()  # the core's store is one thread's at a time; an updater may call it again
        if "dist" in handle.type:
            _stores[next(_numbers_of_stores)] = self

    @property
    def type(self):
        """The name that it was made by, in lower case."""
        return self._handle.type

    @property
    def rank(self):
        """Which worker this is, from 0 on."""
        return self._handle.rank

    @property
    def num_workers(self):
        """How many workers there are."""
        return self._handle.num_workers

    @staticmethod
    def is_capable(capability):
        """Whether the store has a capability: "optimizer" is the one there is."""
        if str(capability).lower() != "optimizer":
            raise _strop.ValueError(f"KVStore.is_capable: no capability {capability!r}, expected optimizer")
        return True

    def init(self, key, value):
        """Puts a copy of one array under each key; of a distributed store that of worker 0."""
        keys, values = _listed("init", key, value)
        with self._lock:
            if not self._has_keys:  # at the end of the call others may push already
                self._numbers = not isinstance(keys[0], str)
                if self._steps is not None:
                    self._steps.numbers = self._numbers
            self._handle.init(keys, values)
            self._has_keys = True

    def push(self, key, value, priority=0):
        """Adds up the arrays of each key and has the updater change what is stored; without one the sum is stored.
        ``priority``: higher ones tend to be added up first."""
        keys, values = _listed("push", key, value)
        with self._lock:
            self._handle.push(keys, values, int(priority))

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Copies what is stored into each array of its key. Sparse arrays are left out, with a message, unless
        ``ignore_sparse`` is False."""
        with self._lock:
            self._handle.pull(*_listed("pull", key, self._given("pull", out), "out"), int(priority), bool(ignore_sparse))

    def pushpull(self, key, value, out=None, priority=0):
        """push() and then pull(), into the arrays that were pushed where no others are given."""
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority)

    def broadcast(self, key, value, out, priority=0):
        """init() and then pull()."""
        self.init(key, value)
        self.pull(key, out, priority)

    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Copies rows of what is stored, row_sparse, into row_sparse arrays: exactly those in ``row_ids``, in whatever order
        and shape and how often they stand there. One array of them is for all of ``out``; a list has one for each."""
        outs = self._given("row_sparse_pull", out)
        if row_ids is None:
            raise also(_strop.ValueError, AssertionError)("KVStore.row_sparse_pull: row_ids are not given")
        keys, lists = _listed("row_sparse_pull", key, outs, "out")
        if isinstance(row_ids, (list, tuple)) and len(row_ids) == 1:
            row_ids = row_ids[0]
        if isinstance(row_ids, NDArray) and isinstance(key, (list, tuple)):
            row_ids = [row_ids] * len(keys)
        ids = _listed("row_sparse_pull", key, row_ids, "row_ids")[1]
        with self._lock:
            self._handle.row_sparse_pull(keys, lists, ids, int(priority))

    @staticmethod
    def _given(function, out):
        if out is None:
            raise also(_strop.ValueError, AssertionError)(f"KVStore.{function}: out is not given")
        return out

    def set_gradient_compression(self, compression_params):
        """Pushes of float32 go as two bits an element from now on: ``{"type": "2bit", "threshold": 0.5}``. What these
        leave out is added to the next push of the key. For ``device`` and distributed stores."""
        if not isinstance(compression_params, dict) or "type" not in compression_params:
            raise _strop.ValueError(f"KVStore.set_gradient_compression: the parameters are {compression_params!r}, expected a dictionary with type and threshold")
        strange = set(compression_params) - {"type", "threshold"}
        if strange:
            raise _strop.ValueError(f"KVStore.set_gradient_compression: no parameter {min(strange, key=str)!r}, expected type and threshold")
        self._handle.compress(str(compression_params["type"]), float(compression_params.get("threshold", 0.5)))

    def set_optimizer(self, optimizer):
        """Has an optimizer change what is stored. In a distributed store each worker has its own, which all make the same
        steps; in ``dist_async`` those of the keys that the worker owns."""
        if not isinstance(optimizer, Optimizer):
            raise also(_strop.TypeError, AttributeError)(f"KVStore.set_optimizer: the optimizer is of type {type(optimizer).__name__}, expected an Optimizer")
        self._set_updater(get_updater(optimizer))

    def _set_updater(self, updater):
        """Has ``updater(key, gradient, weight)`` change the weight in place for each key of a push, on the thread
        that pushes; in ``dist_async`` on the key's owner, on a thread of its store, which must not call the store."""
        if not callable(updater):
            raise _strop.TypeError(f"KVStore: the updater is of type {type(updater).__name__}, expected a function")
        with self._lock:
            steps = _Steps(updater, self._numbers)
            self._handle.set_updater(steps)
            self._steps, self._updater = steps, updater

    def _stateful(self, function):
        if not (hasattr(self._updater, "get_states") and hasattr(self._updater, "set_states")):
            raise also(_strop.ValueError, AssertionError, AttributeError)(f"KVStore.{function}: the store has no optimizer; set_optimizer() comes first")
        return self._steps

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Writes what the optimizer remembers, and with ``dump_optimizer`` the optimizer, into a file, which is complete or
        as it was before. In a distributed store worker 0 does, in ``dist_async`` with the states of all owners."""
        path_of(fname, "save_optimizer_states")
        with self._lock:
            self._stateful("save_optimizer_states").with_optimizer = bool(dump_optimizer)
            self._handle.save_states(fname)

    def load_optimizer_states(self, fname):
        """Reads what save_optimizer_states() wrote; in a distributed store worker 0 does, for all. The file is a pickle:
        read those that you trust alone."""
        path_of(fname, "load_optimizer_states")
        with self._lock:
            self._stateful("load_optimizer_states").path = fname
            self._handle.load_states(fname)

    def _barrier(self):
        """Waits until all workers are here, and have done what they pushed before."""
        with self._lock:
            self._handle.barrier()

    def _send_command_to_servers(self, head, body):  # pylint: disable=unused-argument
        """MXNet's message to its servers; there are none here, and nothing comes of it."""


def create(name="local"):
    """A store of a type, in any case: ``local`` and ``device`` in one process; ``dist_sync``, ``dist_device_sync`` and what
    else begins with ``dist`` of the worker processes that mpirun has started (docs/kvstore.md)."""
    if not isinstance(name, str):
        raise _strop.TypeError(f"kvstore.create: the name is of type {type(name).__name__}, expected a string")
    return KVStore(_strop._KVStore(name))
