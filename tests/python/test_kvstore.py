# SPDX-License-Identifier: Apache-2.0
"""KVStore: MXNet's rules with NumPy as the reference, updaters of Python, and two workers under mpirun."""
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import strop as mx
from strop import nd

SHAPE = (3, 4)


def ones(value=1.0):
    return nd.full(SHAPE, value)


def pulled(store, key, shape=SHAPE):
    out = nd.zeros(shape)
    store.pull(key, out=out)
    return out.asnumpy()


@pytest.mark.parametrize("keys", [("3", ["5", "7", "9"]), (3, [5, 7, 9]), (np.int64(3), [np.int32(5), 7, 9])])
def test_push_and_pull(keys):
    one, several = keys
    store = mx.kv.create()
    assert (store.type, store.rank, store.num_workers) == ("local", 0, 1) and isinstance(store, mx.kvstore.KVStore)
    store.init(one, ones())
    store.init(several, [ones(2)] * 3)
    assert (pulled(store, one) == 1).all() and (pulled(store, several[1]) == 2).all()
    store.push(one, ones(8))
    assert (pulled(store, one) == 8).all()  # without an updater the sum takes its place
    store.push(one, [ones(k) for k in range(5)])
    outs = [nd.zeros(SHAPE) for _ in range(2)]
    store.pull(one, out=outs)
    assert all((out.asnumpy() == 10).all() for out in outs)
    store.push(several, [ones(3), [ones(4), ones(1)], (ones(6),)])
    outs = [nd.zeros(SHAPE), [nd.zeros(SHAPE), nd.zeros(SHAPE)], nd.zeros(SHAPE)]
    store.pull(several, out=outs)
    assert [int(a.asnumpy()[0, 0]) for a in (outs[0], *outs[1], outs[2])] == [3, 5, 5, 6]
    both = [ones(1), ones(2)]
    store.pushpull(one, both)
    assert all((a.asnumpy() == 3).all() for a in both)
    store.pushpull(several[:2], [ones(1), ones(2)], out=both, priority=2)
    assert [int(a.asnumpy()[0, 0]) for a in both] == [1, 2]
    store.broadcast(11 if not isinstance(one, str) else "11", ones(7), out=both)
    assert all((a.asnumpy() == 7).all() for a in both)
    store._barrier()


def test_a_stored_array_is_a_copy_of_what_it_began_with():
    store, a = mx.kv.create("Local_Allreduce_CPU"), ones()
    assert store.type == "local_allreduce_cpu"
    store.init("a", a)
    a[:] = 5
    assert (pulled(store, "a") == 1).all()


@pytest.mark.parametrize("key", ["w", 4])
def test_updaters_are_called_with_key_sum_and_weight(key):
    store, seen = mx.kv.create(), []

    def add_twice(name, gradient, weight):
        seen.append((name, gradient.shape))
        weight += 2 * gradient

    store.init(key, ones())
    store._set_updater(add_twice)
    store.push(key, [ones(), ones(3)])
    store.push([key, key], [ones(1), ones(0)])  # a key that stands there twice has all of its arrays
    assert (pulled(store, key) == 1 + 2 * 4 + 2 * 1).all()
    assert seen == [(key, SHAPE)] * 2 and type(seen[0][0]) is not bytes
    assert key == 4 or seen[0][0].decode() == "w"  # programs of MXNet make text of its bytes


def test_what_an_updater_raises_arrives_and_its_key_stays():
    store = mx.kv.create()
    store.init(["a", "b"], [ones(), ones()])

    def some(name, gradient, weight):
        weight += gradient
        if name == "b":
            raise KeyError("mine")

    store._set_updater(some)
    with pytest.raises(KeyError, match="mine"):
        store.push(["a", "b"], [ones(), ones()])
    assert (pulled(store, "a") == 2).all() and (pulled(store, "b") == 1).all()
    store._set_updater(lambda name, gradient, weight: weight.__setitem__(slice(None), gradient * 3))
    store.push("b", ones())
    assert (pulled(store, "b") == 3).all()
    inner = mx.kv.create()
    inner.init("c", ones())
    store._set_updater(lambda name, gradient, weight: inner.push("c", gradient + 4))
    store.push("a", ones())
    assert (pulled(inner, "c") == 5).all()


@pytest.mark.parametrize("key", ["w", 0])
@pytest.mark.parametrize("make", [lambda: mx.optimizer.SGD(learning_rate=0.1, momentum=0.9, wd=0.01), lambda: mx.optimizer.Adam(learning_rate=0.1),
                                  lambda: mx.optimizer.LAMB(learning_rate=0.1)])
def test_optimizers_change_what_is_stored(key, make, tmp_path):
    rng = np.random.default_rng(1)
    begin, steps = nd.array(rng.normal(size=SHAPE)), [nd.array(rng.normal(size=SHAPE)) for _ in range(4)]
    update, weight = mx.optimizer.get_updater(make()), begin.copy()
    for gradient in steps:
        update(key, gradient, weight)
    store = mx.kv.create()
    store.init(key, begin)
    store.set_optimizer(make())
    for gradient in steps[:2]:
        store.push(key, gradient)
    path = str(tmp_path / "states")
    store.save_optimizer_states(path, dump_optimizer=True)
    again = mx.kv.create()
    again.init(key, nd.array(pulled(store, key)))
    again.set_optimizer(make())
    again.load_optimizer_states(path)
    for gradient in steps[2:]:
        again.push(key, gradient)
    np.testing.assert_allclose(pulled(again, key), weight.asnumpy(), rtol=1e-6)
    store.save_optimizer_states(path)
    other = mx.optimizer.get_updater(make())
    other.set_states(pathlib.Path(path).read_bytes())
    assert list(other.states) == [key] and [p.name for p in tmp_path.iterdir()] == ["states"]


def test_rows_of_sparse_arrays():
    store, dense = mx.kv.create(), np.arange(20, dtype="f4").reshape(5, 4)
    store.init(["e", "f"], [nd.array(dense).tostype("row_sparse")] * 2)

    def empty():
        return nd.sparse.zeros("row_sparse", (5, 4))

    out = empty()
    store.row_sparse_pull("e", out=out, row_ids=nd.array([[3, 1], [1, 3]]))
    assert out.indices.asnumpy().tolist() == [1, 3] and (out.asnumpy()[[1, 3]] == dense[[1, 3]]).all() and (out.asnumpy()[[0, 2, 4]] == 0).all()
    for ids, wanted in (([nd.array([3]), nd.array([0, 2])], [[3], [0, 2]]), (nd.array([4]), [[4], [4]]), ([nd.array([4])], [[4], [4]])):
        outs = [empty(), empty()]
        store.row_sparse_pull("e", out=outs, row_ids=ids)
        assert [a.indices.asnumpy().tolist() for a in outs] == wanted
    outs = [empty(), empty()]
    store.row_sparse_pull(["e", "f"], out=outs, row_ids=[nd.array([2]), nd.array([1])])
    assert [a.indices.asnumpy().tolist() for a in outs] == [[2], [1]]
    store.pull("e", out=outs[0], ignore_sparse=False)
    np.testing.assert_array_equal(outs[0].asnumpy(), dense)
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
    rows = nd.sparse.row_sparse_array((np.ones((1, 4), "f4"), [2]), shape=(5, 4))
    store.push("e", [rows, rows])
    store.row_sparse_pull("e", out=out, row_ids=nd.array([2]))
    np.testing.assert_array_equal(out.asnumpy()[2], dense[2] - 2)


def test_compressed_pushes_keep_what_they_leave_out():
    store = mx.kv.create("device")
    store.init("w", nd.zeros((2,)))
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    found = []
    for _ in range(3):
        store.push("w", nd.array([0.3, -2.0]))
        found.append(pulled(store, "w", (2,)).tolist())
    assert found == [[0.0, -0.5], [0.5, -0.5], [0.0, -0.5]]


def a_store():
    store = mx.kv.create()
    store.init("w", ones())
    return store


@pytest.mark.parametrize("call, kind, said", [
    (lambda: mx.kv.create(3), TypeError, "kvstore.create: the name is of type int"),
    (lambda: a_store().init("w", ones()), ValueError, "key 'w' is initialised already"),
    (lambda: a_store().init(4, ones()), ValueError, "key 4 is a number, and the store has texts as keys"),
    (lambda: a_store().push("v", ones()), ValueError, "there is no key 'v'"),
    (lambda: a_store().push("w", nd.ones((2,))), ValueError, "key 'w': an array has shape"),
    (lambda: a_store().push("w", 3), TypeError, "KVStore.push: value of type int is given"),
    (lambda: a_store().push(2.5, ones()), AssertionError, "KVStore.push: a key is of type float"),
    (lambda: a_store().push(["w", 3], [ones(), ones()]), TypeError, "the keys are strings and whole numbers"),
    (lambda: a_store().push(["w", "w"], [ones()]), AssertionError, "there are 2 keys, and of value 1"),
    (lambda: a_store().push([], []), ValueError, "there is no key"),
    (lambda: a_store().push("w", []), ValueError, "the list of arrays is empty"),
    (lambda: a_store().pull("w"), AssertionError, "KVStore.pull: out is not given"),
    (lambda: a_store().pull("w", out=nd.ones((2,))), ValueError, "key 'w': an array has shape"),
    (lambda: a_store().row_sparse_pull("w", out=ones()), AssertionError, "row_ids are not given"),
    (lambda: a_store().row_sparse_pull("w", out=ones(), row_ids=nd.array([0])), ValueError, "the stored array is default, expected row_sparse|the stored array is dense, expected row_sparse"),
    (lambda: a_store().set_optimizer("sgd"), TypeError, "the optimizer is of type str, expected an Optimizer"),
    (lambda: a_store()._set_updater(3), TypeError, "the updater is of type int"),
    (lambda: a_store().save_optimizer_states("x"), AssertionError, "the store has no optimizer"),
    (lambda: a_store().load_optimizer_states("x"), AssertionError, "the store has no optimizer"),
    (lambda: a_store().set_gradient_compression({"type": "2bit"}), ValueError, "only 'device' and distributed ones compress"),
    (lambda: mx.kv.create("device").set_gradient_compression({"type": "1bit"}), ValueError, "type is '1bit', expected 2bit"),
    (lambda: mx.kv.create("device").set_gradient_compression({"type": "2bit", "size": 3}), ValueError, "no parameter 'size'"),
    (lambda: mx.kv.create("device").set_gradient_compression(3), ValueError, "expected a dictionary with type and threshold"),
    (lambda: a_store().is_capable("x"), ValueError, "no capability 'x'"),
])
def test_mistakes_are_errors_of_one_sentence(call, kind, said):
    with pytest.raises(kind, match=said) as raised:
        call()
    assert isinstance(raised.value, mx.Error) and "\n" not in str(raised.value)
    assert mx.kv.KVStore.is_capable("optimizer")


def test_threads_take_turns():
    store, count = mx.kv.create(), 50
    store.init("w", ones(0))

    def slowly_add(_, gradient, weight):
        before = weight.asnumpy()
        time.sleep(0.0005)  # others run here
        weight[:] = before + gradient.asnumpy()

    store._set_updater(slowly_add)
    threads = [threading.Thread(target=lambda: [store.push("w", ones()) for _ in range(count)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (pulled(store, "w") == 3 * count).all()


WORKER = """
import sys
import numpy as np
import strop as mx

kv = mx.kv.create("dist_sync")
rank, workers = kv.rank, kv.num_workers
x = np.sin(np.arange(64 * 6) * 0.7).astype("f4").reshape(64, 6)
y = (np.arange(64) % 4).astype("f4")
own = 16 // workers  # of each batch of 16
mine = np.concatenate([np.arange(k, k + 16)[rank * own:(rank + 1) * own] for k in range(0, 64, 16)])
data = mx.io.NDArrayIter(x[mine], y[mine], batch_size=own)
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc"), name="softmax")
net = mx.mod.Module(net)
net.bind(data.provide_data, data.provide_label)
first = {"fc_weight": mx.nd.array(np.cos(np.arange(24)).reshape(4, 6) + 9 * rank), "fc_bias": mx.nd.zeros((4,))}  # those of worker 0 are taken
net.init_params(arg_params=first, aux_params={})
net.fit(data, num_epoch=3, kvstore=kv, optimizer_params={"learning_rate": 0.5, "momentum": 0.9})
net.save_optimizer_states(sys.argv[1])
net.load_optimizer_states(sys.argv[1])
net.fit(data, begin_epoch=3, num_epoch=5)
kv._barrier()
found = net.get_params()[0]
np.save(f"worker {rank} of {workers}.npy", np.round([*found["fc_weight"].asnumpy()[1], *found["fc_bias"].asnumpy()], 5))  # what they print may be mixed
"""


def run_workers(tmp_path, text, *arguments, counts=(2,)):
    """What the program writes and says with each count of workers, and its status."""
    mpirun = shutil.which("mpirun")
    if mpirun is None or "Open MPI" not in subprocess.run([mpirun, "--version"], capture_output=True, text=True, timeout=60).stdout:
        pytest.skip("OpenMPI's mpirun is not installed")
    (tmp_path / "worker.py").write_text(text)
    program = [sys.executable, tmp_path / "worker.py", *arguments]
    environment = {**os.environ, "STROP_NUM_THREADS": "1", "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join([str(pathlib.Path(mx.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])}
    base = [mpirun, "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
    for workers in counts:
        yield subprocess.run([*base, "-n", str(workers), *program], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120)


def test_workers_train_as_one_process(tmp_path):
    for done in run_workers(tmp_path, WORKER, tmp_path / "states", counts=(1, 2)):
        assert done.returncode == 0, done.stdout + done.stderr
    found = {path.stem: np.load(path) for path in tmp_path.glob("worker *.npy")}
    assert sorted(found) == ["worker 0 of 1", "worker 0 of 2", "worker 1 of 2"]
    np.testing.assert_array_equal(found["worker 0 of 2"], found["worker 1 of 2"])
    np.testing.assert_allclose(found["worker 0 of 2"], found["worker 0 of 1"], atol=2e-5)


# Keys of all owners; the workers end a store, change the optimizer and end the program while others push.
ASYNC = """
import sys
import time
import strop as mx

def a_store(keys):
    store = mx.kv.create("dist_async")
    store.init(keys, [mx.nd.ones((4,)) for _ in keys])
    return store

def push(store, keys, value=1.0):
    store.push(keys, [mx.nd.full((4,), value) for _ in keys])

def pulled(store, keys):
    out = [mx.nd.zeros((4,)) for _ in keys]
    store.pull(keys, out)
    return [a.asnumpy().tolist() for a in out]

numbers, seen = list(range(8)), []
counted = mx.kv.create("dist_async")
counted._set_updater(lambda key, gradient, weight: seen.append(key))
counted.init(numbers, [mx.nd.ones((4,)) for _ in numbers])
rank = counted.rank
if rank == 1:  # the others have never pushed
    push(counted, numbers)
counted._barrier()
assert sorted(seen) == [key for key in numbers if counted._handle.owner_of(str(key), counted.num_workers) == rank], seen

keys = [f"key{k}" for k in range(8)]
first = a_store(keys)
first.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5))
if rank == 0:
    push(first, keys)
first._barrier()
for whole in (False, True):
    first.save_optimizer_states(sys.argv[1], dump_optimizer=whole)
    again = a_store(keys)
    again.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5))
    again.load_optimizer_states(sys.argv[1])
    assert not whole or again._updater.optimizer._index_update_count == dict.fromkeys(keys, 1)
    again._barrier()
    if rank == 0:
        push(again, keys, 0.0)
        assert pulled(again, keys) == [[0.75] * 4] * 8
    again._barrier()

class Own:
    def __call__(self, key, gradient, weight):
        pass
    def get_states(self):
        return b"mine"
    def set_states(self, states):
        pass

for updater, said in ((Own(), "the updater is of type Own"), (lambda key, gradient, weight: None, "the store has no optimizer")):
    counted._set_updater(updater)
    try:
        counted.save_optimizer_states(sys.argv[1])
    except mx.Error as error:
        assert said in str(error)
    else:
        raise AssertionError("the states of somebody's own updater were joined")
counted._barrier()

def steps(store, count):
    for _ in range(count):
        push(store, keys)
        pulled(store, keys)
        time.sleep(0.005)

steps(first, 3 if rank == 0 else 40)
first.set_optimizer(mx.optimizer.SGD(learning_rate=0.01))
steps(first, 3 if rank == 0 else 40)
del first
last = a_store(keys)
last.set_optimizer(mx.optimizer.SGD(learning_rate=0.01))
steps(last, 3 if rank == 0 else 40)
sys.stdout.write(f"worker {rank} is done\\n")
"""


def test_asynchronous_workers_wait_for_each_other_at_the_end(tmp_path):
    for done in run_workers(tmp_path, ASYNC, tmp_path / "states", counts=(3,)):
        assert done.returncode == 0, done.stdout + done.stderr
        assert sorted(line for line in done.stdout.splitlines() if line) == [f"worker {k} is done" for k in range(3)]


# An exception that nobody catches: in one worker of several, and in the last push of one.
RAISES = """
import time
import strop as mx

kv = mx.kv.create("dist_async")
kv.set_optimizer(mx.optimizer.SGD())
kv.init("a", mx.nd.ones((4,)))
if kv.rank == 0:
    raise RuntimeError("worker 0 has had enough")
while True:
    kv.push("a", mx.nd.ones((4,)))
    time.sleep(0.01)
"""
LAST = """
import strop as mx

def updater(key, gradient, weight):
    raise RuntimeError("the last one")

kv = mx.kv.create("dist_async")
kv._set_updater(updater)
kv.init("a", mx.nd.ones((4,)))
a = mx.nd.ones((1000, 1000))
kv.push("a", mx.nd.dot(a, a)[0, 0:4])  # under way when the program ends
"""


@pytest.mark.parametrize("text, workers, said", [(RAISES, 2, "worker 0 has had enough"), (LAST, 1, "RuntimeError: the last one")], ids=["raises", "last"])
def test_what_ends_an_asynchronous_worker_is_said(tmp_path, text, workers, said):
    for done in run_workers(tmp_path, text, counts=(workers,)):
        assert said in done.stderr, done.stdout + done.stderr
        assert workers == 1 or done.returncode != 0
