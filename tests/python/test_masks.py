# SPDX-License-Identifier: Apache-2.0
"""What came from a comparison knows it: as a key it is a mask, and it has & | ^ ~, as NumPy's bools; other floating keys are positions."""
import copy
import pickle

import numpy as np
import pytest

import strop as mx
from strop import nd
from strop.ndarray.masks import is_mask

SOURCE = np.arange(12, dtype="f4").reshape(3, 4)
X = mx.sym.var("x")

# Ways to a mask of (x, n): ours of an NDArray and NumPy's of an array.
COMPARISONS = {
    "greater": lambda x: x > 5, "reflected": lambda x: 5 > x, "equal": lambda x: x == 3, "of two arrays": lambda x: x >= x[::-1], "broadcast": lambda x: x != x[1],
    "and": lambda x: (x > 2) & (x < 8), "or": lambda x: (x < 2) | (x > 8), "xor": lambda x: (x > 2) ^ (x > 8), "not": lambda x: ~(x > 5), "product": lambda x: (x > 2) * (x < 8),
    "sum": lambda x: (x > 2) + (x > 8), "with a bool": lambda x: (x > 5) & True, "row": lambda x: (x > 5)[1], "column": lambda x: (x > 5)[:, 1], "slice": lambda x: (x > 5)[1:],
    "turned": lambda x: (x > 5).T.T, "copied": lambda x: (x > 5).copy(), "reshaped": lambda x: (x > 5).reshape((4, 3)).reshape((3, 4)), "deep": lambda x: copy.deepcopy(x > 5),
    "taken": lambda x: (x > 5)[[2, 0, 1]], "any": lambda x: (x > 5).any(axis=1), "all": lambda x: (x > 5).all(axis=0), "most": lambda x: (x > 5).max(axis=1)}
OURS = {
    "function": lambda x: nd.greater(x, 5), "operator": lambda x: nd.broadcast_lesser(x, nd.array([[5]])), "logical_not": lambda x: nd.logical_not(x), "isnan": nd.contrib.isnan,
    "isinf": nd.contrib.isinf, "isfinite": nd.contrib.isfinite, "logical_and": lambda x: nd.logical_and(x, x - 1), "flattened": lambda x: (x > 5).flatten(),
    "joined": lambda x: nd.concat(x > 5, x < 3, dim=0), "stacked": lambda x: nd.stack(x > 5, x < 3), "repeated": lambda x: nd.tile(x > 5, reps=(2, 1)), "parts": lambda x: nd.split(x > 5, 2, axis=1)[0],
    "chosen": lambda x: nd.where(x > 5, x > 7, x < 2), "detached": lambda x: (x > 5).detach(), "another device": lambda x: (x > 5).as_in_context(mx.cpu(1)), "expanded": lambda x: (x > 5).expand_dims(0),
    "pickled": lambda x: pickle.loads(pickle.dumps(x > 5)), "array()": lambda x: nd.array(x > 5), "broadcast_to": lambda x: (x[0] > 2).broadcast_to((2, 4)), "out": lambda x: nd.broadcast_equal(x, x, out=nd.zeros((3, 4))),
    "filtered": lambda x: nd.contrib.boolean_mask(x > 5, x[:, 0] > 2), "sorted": lambda x: nd.sort(x > 5), "rows copied": lambda x: nd.contrib.index_copy(x > 5, nd.array([1], dtype="int64"), x[:1] > 1),
    "padded": lambda x: nd.pad((x > 5).reshape((1, 1, 3, 4)), mode="constant", pad_width=(0, 0, 0, 0, 1, 1, 1, 1)), "cropped": lambda x: nd.Crop((x > 5).reshape((1, 1, 3, 4)), h_w=(2, 2)),
    "looked up": lambda x: nd.Embedding(nd.array([1]), x > 5, input_dim=3, output_dim=4), "put": lambda x: nd.scatter_nd(x[0] > 1, nd.array([[0, 2, 1, 3]]), shape=(4,)),
    "slice_assign": lambda x: (x > 5).slice_assign(x[:1], begin=(0, 0), end=(1, 4)), "slice_assign_scalar": lambda x: (x > 5).slice_assign_scalar(1, begin=(0, 0), end=(1, 4)),
    "topk": lambda x: nd.topk(x, k=2, ret_typ="mask"), "a loss": lambda x: nd.make_loss(x > 5), "executor": lambda x: of_executor(X > 5, x),
    "kept by an executor": lambda x: of_executor(mx.sym.concat(mx.sym.transpose(X > 5), mx.sym.transpose(X < 3)), x),
    "topk of an executor": lambda x: of_executor(mx.sym.topk(X, k=2, ret_typ="mask"), x), "one of two": lambda x: of_executor(mx.sym.Group([X * 2, X > 5]), x, 1),
    "CachedOp": lambda x: nd.CachedOp(X > 5)(x), "CachedOp with out": lambda x: nd.CachedOp(X > 5)(x, out=nd.zeros((3, 4))), "Function": lambda x: Larger()(x)}


def of_executor(symbol, x, at=0):
    return symbol.bind(mx.cpu(), {"x": x}).forward()[at]


class Larger(mx.autograd.Function):
    def forward(self, x):
        return x > 5



@pytest.mark.parametrize("dtype", ["float32", "int32", "float16", "bool"])
@pytest.mark.parametrize("way", COMPARISONS)
def test_masks_are_numpys(way, dtype):
    source = SOURCE.astype(dtype)
    try:
        made = COMPARISONS[way](nd.array(source, dtype=dtype))
    except mx.Error as error:
        assert dtype == "bool" and "bool" in str(error)  # what operators refuse of bools
        return
    want = COMPARISONS[way](source)
    assert is_mask(made) and made.shape == want.shape
    np.testing.assert_array_equal(made.asnumpy() != 0, want)


@pytest.mark.parametrize("way", OURS)
def test_what_moves_elements_of_masks_makes_masks(way):
    assert is_mask(OURS[way](nd.array(SOURCE)))


@pytest.mark.parametrize("numbers", [
    lambda x: x, lambda x: (x > 5).astype("float32"), lambda x: (x > 5) * 2, lambda x: 1 - (x > 5), lambda x: (x > 5).sum(axis=0), lambda x: (x > 5) * x, lambda x: x.argmax(axis=0),
    lambda x: nd.concat(x > 5, x, dim=0), lambda x: nd.where(x > 5, x, x), lambda x: nd.relu(x > 5), lambda x: nd.elemwise_add(x, x, out=x > 5),
    lambda x: nd.contrib.index_copy(x > 5, nd.array([1], dtype="int64"), x[:1]), lambda x: nd.topk(x > 5), lambda x: x.slice_assign(x[:1] > 1, begin=(0, 0), end=(1, 4)),
    lambda x: of_executor(mx.sym.concat(X > 5, X), x), lambda x: of_executor(mx.sym.Group([X * 2, X > 5]), x),
    lambda x: of_executor(X, x > 5)])
def test_numbers_are_none(numbers):
    assert not is_mask(numbers(nd.array(SOURCE)))


def inputs_of(example, rng):
    """Inputs of an operator's example: numbers that no two alike where nothing else is asked of them."""
    for sample in example["inputs"]:
        shape = tuple(sample["shape"])
        made = np.resize(sample["elements"], shape) if sample["elements"] else np.floor(rng.uniform(0, sample["positions"], shape)) if sample["positions"] else rng.uniform(-1, 1, shape)
        yield nd.array(made).tostype(sample["storage"].replace("dense", "default"))


def result_of(operator, example, inputs):
    listed = any(one["variadic"] for one in operator.description["inputs"])
    made = operator(*inputs, **example["params"]) if listed else operator(**dict(zip((one["name"] for one in example["inputs"]), inputs)), **example["params"])
    return made[0] if isinstance(made, list) else made


# Operators that may give elements of their inputs and are not said to move them: of masks they make numbers.
NUMBERS = {"Activation", "relu", "clip", "_minimum_scalar", "Cast", "amp_cast", "amp_multicast", "Dropout", "LinearRegressionOutput", "MAERegressionOutput", "SVMOutput", "Pooling", "ROIPooling",
           "UpSampling", "_contrib_edge_id"}


def test_every_operator_that_moves_elements_says_so(rng):
    """Of all operators: where the result of its example has elements of the inputs alone, zeros and ones, its result for masks is a mask."""
    moves, unsaid = set(), set()
    for name in (names[0] for names in mx._strop.list_operators()):
        operator = mx._strop.Operator(name, name, False)
        example = operator.card["example"]
        if not operator.description["library"] or not example or not example["inputs"] or "_update" in name:  # steps of optimizers
            continue
        free = [not sample["elements"] and not sample["positions"] for sample in example["inputs"]]
        inputs = list(inputs_of(example, rng))
        try:
            found = set(result_of(operator, example, inputs).asnumpy().ravel().tolist())
        except mx.Error:  # other types, or other numbers
            continue
        given = {0.0, 1.0}.union(*(one.asnumpy().ravel().tolist() for one, is_free in zip(inputs, free) if is_free))
        if found <= given and not found <= {0.0, 1.0}:
            moves.add(name)
            if not is_mask(result_of(operator, example, [one > 0 if is_free else one for one, is_free in zip(inputs, free)])):
                unsaid.add(name)
    assert len(moves) > 60 and {"sort", "take", "where", "transpose"} <= moves
    assert unsaid == NUMBERS


def test_a_comparison_of_an_executor_is_a_key():
    x, more = nd.array(SOURCE), X > 5
    run = more.bind(mx.cpu(), {"x": x})
    run.forward()
    want = SOURCE.copy()
    want[SOURCE > 5] = -1
    for key in (run.outputs[0], run.output_dict[more.list_outputs()[0]], run.forward()[0]):
        y = nd.array(SOURCE)
        y[key] = -1
        np.testing.assert_array_equal(y.asnumpy(), want)


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_the_mean_of_a_mask_is_a_share(dtype):
    """As in an accuracy; and counts of bools are whole numbers."""
    pred, label = (nd.array(np.array(a), dtype=dtype) for a in ([1, 0, 1, 1], [1, 1, 1, 1]))
    for share in ((pred == label).mean(), np.mean(pred == label), nd.mean(pred == label)):
        assert share.asscalar() == 0.75 and share.dtype == (np.float32 if dtype == "float32" else np.float64)
    assert (pred == label).sum().asscalar() == 3 and np.sum((pred == label).astype("bool")).dtype is np.int64


KEYS = {"all axes": lambda x: x > 5, "rows": lambda x: x[:, 0] > 2, "columns": lambda x: (slice(None), x[0] > 1), "with a position": lambda x: (x[:, 0] > 2, 1), "none": lambda x: x > 100,
        "every": lambda x: x >= 0, "two": lambda x: (x > 3) & (x < 9), "not": lambda x: ~(x > 3), "with a slice": lambda x: (x[:, 0] > 2, slice(1, 3))}


@pytest.mark.parametrize("key", KEYS)
def test_read_write_and_gradient_by_a_mask(key, rng):
    for_numpy, want = KEYS[key](SOURCE), SOURCE[KEYS[key](SOURCE)]
    x = nd.array(SOURCE)
    np.testing.assert_array_equal(x[KEYS[key](x)].asnumpy(), want)
    x.attach_grad()
    with mx.autograd.record():
        found = x[KEYS[key](x)]
        loss = (found * found).sum()
    loss.backward()
    grad = np.zeros_like(SOURCE)
    grad[for_numpy] = 2 * want
    np.testing.assert_array_equal(x.grad.asnumpy(), grad)
    for value in (-1, rng.uniform(size=want.shape).astype("f4")):
        expected, x = SOURCE.copy(), nd.array(SOURCE)
        expected[for_numpy] = value
        x[KEYS[key](x)] = value
        np.testing.assert_array_equal(x.asnumpy(), expected)
    expected, x = SOURCE.copy(), nd.array(SOURCE)
    expected[for_numpy] += 1
    x[KEYS[key](x)] += 1
    np.testing.assert_array_equal(x.asnumpy(), expected)


def test_the_programs_of_the_report():
    y = nd.array([[50, 150], [250, 3]])
    y[y > 100] = -1
    assert y.asnumpy().tolist() == [[50, -1], [-1, 3]]
    x = nd.array(SOURCE)
    assert x[x > 5].shape == (6,)


def test_one_comparison_is_a_mask_without_dimensions():
    x = nd.array(SOURCE)
    assert x[x[0, 0] == 0].shape == SOURCE[SOURCE[0, 0] == 0].shape == (1, 3, 4) and x[x[0, 0] > 0].shape == (0, 3, 4)
    assert (x > 5).any() and not (x > 5).all() and bool((x >= 0).all()) and np.any(x) and not np.all(x)
    assert nd.zeros((0, 2)).all().asscalar() == 1 and nd.zeros((0, 2)).any().asscalar() == 0


def test_writing_into_a_mask_leaves_it_one():
    x = nd.array(SOURCE)
    for write in (lambda m: m.__setitem__(0, False), lambda m: m.__setitem__((slice(None), 1), 1), lambda m: m.__setitem__([0, 2], True), lambda m: m.__setitem__(slice(None), x > 3)):
        mask, want = x > 5, None
        write(mask)
        want = mask.asnumpy() != 0
        np.testing.assert_array_equal(x[mask].asnumpy(), SOURCE[want])
    y = nd.zeros((3, 4))
    y[:] = x > 5  # numbers, in an array of numbers
    assert not is_mask(y)
    mask = x > 5
    mask += 1
    assert not is_mask(mask)


def test_in_place_signs_write_the_array():
    x = nd.array(SOURCE)
    mask = x > 2
    view = mask[1]
    same = mask
    mask &= x < 6
    assert same is mask and view.asnumpy().tolist() == [1, 1, 0, 0]
    mask |= x == 11
    mask ^= x == 4
    np.testing.assert_array_equal(mask.asnumpy(), ((SOURCE > 2) & (SOURCE < 6) | (SOURCE == 11)) ^ (SOURCE == 4))


def test_masks_of_several_types_and_numpys_meet():
    x, labels = nd.array(SOURCE), nd.array(np.arange(12).reshape(3, 4) % 3, dtype="int32")
    np.testing.assert_array_equal(x[(x > 2) & (labels == 1)].asnumpy(), SOURCE[(SOURCE > 2) & (np.arange(12).reshape(3, 4) % 3 == 1)])
    np.testing.assert_array_equal(((x > 2) & (SOURCE < 6)).asnumpy(), (SOURCE > 2) & (SOURCE < 6))
    both = (SOURCE < 6) | (x > 8)
    assert isinstance(both, nd.NDArray)
    np.testing.assert_array_equal(both.asnumpy() != 0, (SOURCE < 6) | (SOURCE > 8))


@pytest.mark.parametrize("call, said", [
    (lambda x: x & (x > 1), r"&: takes results of comparisons and arrays of bool, got an array of float32; compare it before, as in \(x > 0\) & \(y > 0\)"),
    (lambda x: (x > 1) | x.astype("int32"), r"\|: takes results .* of int32"), (lambda x: ~x, r"~: takes .*compare it before, as in ~\(x > 0\)"),
    (lambda x: (x > 1) ^ np.ones((3, 4)), r"\^: takes .* float64 of NumPy"), (lambda x: (x > 1) & 1, "unsupported operand"), (lambda x: "a" | (x > 1), "unsupported operand")])
def test_signs_of_numbers_are_refused(call, said):
    with pytest.raises(TypeError, match=said):
        call(nd.array(SOURCE))


def test_a_mask_of_another_shape_is_refused():
    x = nd.array(SOURCE)
    for mask in (x[0] > 1, nd.ones((3, 3)) > 0, nd.ones((3, 4, 1)) > 0):
        for act in (lambda mask=mask: x[mask], lambda mask=mask: x.__setitem__(mask, 1)):
            with pytest.raises(IndexError):
                act()


def test_other_floating_keys_are_positions():
    x = nd.array(SOURCE)
    np.testing.assert_array_equal(x[nd.array([1, 0, 1])].asnumpy(), SOURCE[[1, 0, 1]])
    np.testing.assert_array_equal(x[(x[:, 0] > 2).astype("int32")].asnumpy(), SOURCE[[0, 1, 1]])
    np.testing.assert_array_equal(x[nd.argmax(x, axis=1)[:2] * 0 + 2].asnumpy(), SOURCE[[2, 2]])
