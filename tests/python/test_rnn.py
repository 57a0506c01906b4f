# SPDX-License-Identifier: Apache-2.0
"""Cells of recurrent networks against their formulas in NumPy, names of what they make, weights, batches of sentences."""
import random

import numpy as np
import pytest

import strop as mx
from strop import init, nd, rnn, sym


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def run(outputs, shapes, rng):
    """({name: array} that was drawn, outputs) of symbols."""
    net = sym.Group(outputs) if isinstance(outputs, list) else outputs
    found = net.infer_shape(**shapes)[0]
    given = {name: rng.uniform(-1, 1, shape).astype("f4") for name, shape in zip(net.list_arguments(), found)}
    return given, [o.asnumpy() for o in net.eval(**{name: nd.array(a) for name, a in given.items()})]


def unrolled(cell, length=2, **how):
    """Outputs of a cell that is given each step's input and the first states."""
    states = cell.begin_state(func=sym.Variable)
    return cell.unroll(length, [sym.var(f"x{t}") for t in range(length)], begin_state=states, **how)


def layers(given, prefix, x, h):
    return (x @ given[f"{prefix}i2h_weight"].T + given[f"{prefix}i2h_bias"], h @ given[f"{prefix}h2h_weight"].T + given[f"{prefix}h2h_bias"])


def test_plain_cell(rng):
    for activation, formula in (("tanh", np.tanh), ("relu", lambda x: np.maximum(x, 0)), (lambda x, name: sym.square(x, name=name), np.square)):
        outputs, states = unrolled(rnn.RNNCell(3, activation))
        given, values = run(outputs, {"x0": (2, 4), "x1": (2, 4)}, rng)
        h = given["rnn_begin_state_0"]
        for t in range(2):
            h = formula(np.add(*layers(given, "rnn_", given[f"x{t}"], h)))
            np.testing.assert_allclose(values[t], h, rtol=1e-4, atol=1e-5)
        assert states[0].name == "rnn_t1_out" and len(states) == 1


def test_lstm(rng):
    outputs, states = unrolled(rnn.LSTMCell(3))
    given, values = run([*outputs, states[1]], {"x0": (2, 4), "x1": (2, 4)}, rng)
    h, c = given["lstm_begin_state_0"], given["lstm_begin_state_1"]
    for t in range(2):
        i, f, g, o = np.split(np.add(*layers(given, "lstm_", given[f"x{t}"], h)), 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        np.testing.assert_allclose(values[t], h, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(values[2], c, rtol=1e-4, atol=1e-5)
    assert [s.name for s in states] == ["lstm_t1_out", "lstm_t1_state"]


def gru_step(given, prefix, x, h):
    (ri, zi, oi), (rh, zh, oh) = (np.split(layer, 3, axis=1) for layer in layers(given, prefix, x, h))
    z = sigmoid(zi + zh)
    return (1 - z) * np.tanh(oi + sigmoid(ri + rh) * oh) + z * h


def test_gru_in_both_directions_with_residuals(rng):
    pair = rnn.BidirectionalCell(rnn.GRUCell(2, "l_"), rnn.GRUCell(2, "r_"), output_prefix="both_")
    states = pair.begin_state(func=sym.Variable)
    data = sym.var("x")
    outputs, after = rnn.ResidualCell(pair).unroll(3, data, begin_state=states, layout="TNC", merge_outputs=True)
    assert outputs.list_outputs() == ["both_out_plus_residual_output"] and [len(s) for s in after] == [1, 1]
    given, (value,) = run(outputs, {"x": (3, 2, 4)}, rng)
    want = given["x"].copy()
    for prefix, steps, part in (("l_", (0, 1, 2), slice(0, 2)), ("r_", (2, 1, 0), slice(2, 4))):
        h = given[f"{prefix}begin_state_0"]
        for t in steps:
            h = gru_step(given, prefix, given["x"][t], h)
            want[t, :, part] += h
    np.testing.assert_allclose(value, want, rtol=1e-4, atol=1e-5)
    listed, _ = rnn.BidirectionalCell(rnn.GRUCell(2, "l_"), rnn.GRUCell(2, "r_"), output_prefix="both_").unroll(3, data, merge_outputs=False)
    assert [o.name for o in listed] == ["both_t0", "both_t1", "both_t2"]


def test_stacks():
    stack = rnn.SequentialRNNCell()
    for i in range(3):
        cell = rnn.LSTMCell(4, prefix=f"rnn_stack{i}_")
        stack.add(rnn.ResidualCell(cell) if i == 1 else cell)
    assert len(stack.state_info) == 6 and stack.state_shape[0] == (0, 4)
    assert [s.name for s in stack.begin_state(func=sym.Variable)][:3] == ["rnn_stack0_begin_state_0", "rnn_stack0_begin_state_1", "rnn_stack1_begin_state_0"]
    for layout, merged in (("NTC", (2, 3, 4)), ("TNC", (3, 2, 4))):
        outputs, states = stack.unroll(3, sym.var("x"), layout=layout, merge_outputs=True)
        assert outputs.infer_shape(x=(*merged[:2], 5))[1] == [merged] and len(states) == 6
    outputs, _ = stack.unroll(2, [sym.var("a"), sym.var("b")])
    net = sym.Group(outputs)
    assert net.list_outputs() == ["rnn_stack2_t0_out_output", "rnn_stack2_t1_out_output"]
    assert net.list_arguments()[:5] == ["a", *(f"rnn_stack0_{of}_{kind}" for of in ("i2h", "h2h") for kind in ("weight", "bias"))]
    assert sorted(stack.params._params) == sorted(name for name in net.list_arguments() if name not in ("a", "b"))
    assert sym.var("i").attr("__init__") is None and net.attr_dict()["rnn_stack0_i2h_bias"]["__init__"] == '["lstmbias", {"forget_bias": 1.0}]'
    one, after = stack(sym.var("x"), stack.begin_state())
    assert one.name == "rnn_stack2_t2_out" and len(after) == 6


def test_what_drops(rng):
    cell = rnn.ZoneoutCell(rnn.RNNCell(3), zoneout_outputs=0.5, zoneout_states=0.5)
    outputs, _ = cell.unroll(2, [sym.var("x0"), sym.var("x1")])
    assert sym.Group(outputs).infer_shape(x0=(2, 4), x1=(2, 4))[1] == [(2, 3)] * 2
    outputs, states = unrolled(rnn.ZoneoutCell(rnn.RNNCell(3), zoneout_states=0.5))
    net = sym.Group([*outputs, *states])
    given, _ = run(net, {"x0": (50, 4), "x1": (50, 4)}, rng)
    bound = net.bind(mx.cpu(), {name: nd.array(a) for name, a in given.items()})
    first, second, state = (o.asnumpy() for o in bound.forward(is_train=True))
    assert 0.2 < (state == second).mean() < 0.8 and (np.isclose(state, second) | np.isclose(state, first) | np.isclose(state, given["rnn_begin_state_0"])).all()
    merged, states = rnn.DropoutCell(0.5).unroll(2, [sym.var("a"), sym.var("b")], merge_outputs=True)
    assert merged.infer_shape(a=(2, 3), b=(2, 3))[1] == [(2, 2, 3)] and states == []
    x = sym.var("x")
    assert rnn.DropoutCell(0)(x, [])[0] is x


@pytest.mark.parametrize("kind, states", [(rnn.ConvRNNCell, 1), (rnn.ConvLSTMCell, 2), (rnn.ConvGRUCell, 1)])
def test_cells_of_convolutions(kind, states, rng):
    cell = kind((1, 3, 8, 6), 4, i2h_stride=(2, 1), h2h_dilate=(2, 1), prefix="c_", activation="tanh")
    assert cell.state_info == [{"shape": (0, 4, 4, 6), "__layout__": "NCHW"}] * states
    outputs, _ = cell.unroll(2, [sym.var("a"), sym.var("b")])
    net = sym.Group(outputs)
    assert net.list_outputs() == ["c_t0_out_output", "c_t1_out_output"] and net.infer_shape(a=(2, 3, 8, 6), b=(2, 3, 8, 6))[1] == [(2, 4, 4, 6)] * 2
    dense = {rnn.ConvRNNCell: rnn.RNNCell, rnn.ConvLSTMCell: rnn.LSTMCell, rnn.ConvGRUCell: rnn.GRUCell}[kind]
    one = kind((1, 3, 1, 1), 4, h2h_kernel=(1, 1), i2h_kernel=(1, 1), i2h_pad=(0, 0), prefix="c_", activation="tanh")
    given, values = run(unrolled(one)[0], {"x0": (2, 3, 1, 1), "x1": (2, 3, 1, 1)}, rng)  # of one pixel: what the cell without images computes
    same = sym.Group(unrolled(dense(4, prefix="c_"))[0]).eval(**{name: nd.array(a.reshape(a.shape[:2])) for name, a in given.items()})
    for value, want in zip(values, same):
        np.testing.assert_allclose(value[:, :, 0, 0], want.asnumpy(), rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError, match="odd"):
        kind((1, 3, 8, 6), 4, h2h_kernel=(2, 3))


FUSED = [(mode, gates, two, depth) for mode, gates in (("rnn_relu", 1), ("rnn_tanh", 1), ("lstm", 4), ("gru", 3)) for two in (False, True) for depth in (1, 2)]


@pytest.mark.parametrize("mode, gates, two, depth", FUSED)
def test_weights(mode, gates, two, depth):
    cell = rnn.FusedRNNCell(3, depth, mode, two, prefix="f_")
    directions = 1 + two
    size = directions * gates * 3 * (5 + 3 + 2) + (depth - 1) * directions * gates * 3 * (3 * directions + 3 + 2)
    vector = np.arange(size, dtype="f4")
    parts = cell.unpack_weights({"f_parameters": nd.array(vector), "other": nd.ones((1,))})
    packed = cell.unfuse().pack_weights(parts)
    assert packed["f_l0_i2h_weight"].asnumpy().ravel().tolist() == list(range(gates * 15))  # gates of a layer lie together
    assert packed["f_l0_h2h_weight"].asnumpy().ravel().tolist() == list(range(gates * 15, gates * 24))
    last = f"f_{'r' if two else 'l'}{depth - 1}_h2h_bias"
    assert packed[last].asnumpy().tolist() == vector[-gates * 3:].tolist()
    again = cell.pack_weights(cell.unfuse().unpack_weights(packed))
    assert sorted(again) == ["f_parameters", "other"] and (again["f_parameters"].asnumpy() == vector).all()
    with pytest.raises(AssertionError, match="f_parameters has 7 elements"):
        cell.unpack_weights({"f_parameters": nd.ones((7,))})


def test_parameters_begin():
    for given, weight in ((None, 0.25), (init.Constant(3), 3)):
        text = init.FusedRNN(given, 3, 1, "lstm", forget_bias=2.0).dumps()
        vector = nd.zeros((4 * 3 * (5 + 3 + 2),))
        init.Constant(0.25)(init.InitDesc("f_parameters", {"__init__": text}), vector)
        parts = rnn.FusedRNNCell(3, prefix="f_").unpack_weights({"f_parameters": vector})
        for name, part in parts.items():
            assert set(part.asnumpy().ravel()) == {weight if name.endswith("weight") else 2 if name.endswith("_f_bias") else 0}
    assert rnn.FusedRNNCell(3, mode="gru").params.get("parameters").attr("__init__") == init.FusedRNN(None, 3, 1, "gru").dumps()
    with pytest.raises(ValueError, match="FusedRNN: 'x'"):
        init.FusedRNN(None, 3, 1, "lstm").init_weight("x", nd.zeros((120,)))


@pytest.mark.filterwarnings("ignore:FusedRNNCell")
@pytest.mark.parametrize("mode, gates, two, depth", FUSED)
def test_fused_cells_are_those_that_unfuse_makes(mode, gates, two, depth, rng):
    cell = rnn.FusedRNNCell(3, depth, mode, two, get_next_state=True, prefix="f_")
    for layout in ("TNC", "NTC"):
        outputs, states = cell.unroll(4, sym.var("x"), begin_state=cell.begin_state(func=sym.Variable), layout=layout, merge_outputs=True)
        given, values = run(sym.Group([outputs, *states]), {"x": (4, 2, 5) if layout == "TNC" else (2, 4, 5)}, rng)
        stack = cell.unfuse()
        begin = stack.begin_state(func=sym.Variable)
        apart, _ = stack.unroll(4, sym.var("x"), begin_state=begin, layout=layout, merge_outputs=True)
        known = stack.pack_weights(cell.unpack_weights({"f_parameters": nd.array(given["f_parameters"])}))
        known.update((state.name, nd.array(given[f"f_begin_state_{i % len(states)}"][i // len(states)])) for i, state in enumerate(begin))
        np.testing.assert_allclose(apart.eval(x=nd.array(given["x"]), **known)[0].asnumpy(), values[0], rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:FusedRNNCell")
@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
@pytest.mark.parametrize("units, batch", [(33, 3), (300, 40)])
def test_wide_layers(mode, units, batch, rng):
    """Of more units and sequences than a register, a tile and a block have."""
    cell = rnn.FusedRNNCell(units, 2, mode, True, prefix="f_")
    net, _ = cell.unroll(3, sym.var("x"), begin_state=cell.begin_state(func=sym.Variable), layout="TNC", merge_outputs=True)
    shapes = net.infer_shape(x=(3, batch, 9))[0]
    given = {name: nd.array(rng.uniform(-0.1, 0.1, shape).astype("f4")) for name, shape in zip(net.list_arguments(), shapes)}
    stack = cell.unfuse()
    begin = stack.begin_state(func=sym.Variable)
    apart, _ = stack.unroll(3, sym.var("x"), begin_state=begin, layout="TNC", merge_outputs=True)
    known = stack.pack_weights(cell.unpack_weights({"f_parameters": given["f_parameters"]}))
    each = len(begin) // 4
    known.update((state.name, given[f"f_begin_state_{i % each}"][i // each]) for i, state in enumerate(begin))
    known["x"] = given["x"]
    runs = []
    for symbol, arrays in ((net, given), (apart, known)):
        grads = {name: nd.zeros_like(a) for name, a in arrays.items()}
        one = symbol.bind(mx.cpu(), arrays, grads)
        one.forward(is_train=True)
        one.backward(nd.ones(one.outputs[0].shape))
        runs.append((one.outputs[0].asnumpy(), grads))
    np.testing.assert_allclose(runs[0][0], runs[1][0], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(runs[0][1]["x"].asnumpy(), runs[1][1]["x"].asnumpy(), rtol=1e-3, atol=1e-3)
    packed = cell.pack_weights(stack.unpack_weights(runs[1][1]))["f_parameters"].asnumpy()
    np.testing.assert_allclose(runs[0][1]["f_parameters"].asnumpy(), packed, rtol=1e-2, atol=1e-2)


def test_checkpoints(tmp_path):
    cell = rnn.LSTMCell(3)
    net = cell.unroll(2, sym.var("x"), merge_outputs=True)[0]
    shapes = zip(net.list_arguments(), net.infer_shape(x=(2, 2, 5))[0])
    args = {name: nd.array(np.arange(np.prod(shape)).reshape(shape)) for name, shape in shapes if name != "x"}
    save = rnn.do_rnn_checkpoint(cell, str(tmp_path / "net"), period=2)
    for epoch in range(3):
        save(epoch, net, args, {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["net-0002.params", "net-symbol.json"]
    apart = nd.load(str(tmp_path / "net-0002.params"))
    assert len(apart) == 16 and apart["arg:lstm_i2h_f_weight"].asnumpy().tolist() == args["lstm_i2h_weight"].asnumpy()[3:6].tolist()
    found, again, states = rnn.load_rnn_checkpoint([cell], str(tmp_path / "net"), 2)
    assert found.list_arguments() == net.list_arguments() and states == {} and sorted(again) == sorted(args)
    assert all((again[name].asnumpy() == a.asnumpy()).all() for name, a in args.items())


def test_what_is_refused():
    cell = rnn.RNNCell(3)
    both = rnn.BidirectionalCell(rnn.RNNCell(2, prefix="l_"), rnn.RNNCell(2, prefix="r_"))
    stack = rnn.SequentialRNNCell()
    stack.add(both)
    params = rnn.RNNParams("p_")
    for wrong in (lambda: cell.unroll(2, None), lambda: cell.unroll(2, [sym.var("a")]), lambda: cell.unroll(2, sym.Group([sym.var("a"), sym.var("b")])),
                  lambda: rnn.DropoutCell("much"), lambda: rnn.ZoneoutCell(rnn.FusedRNNCell(3)), lambda: rnn.ZoneoutCell(both), lambda: rnn.ZoneoutCell(stack),
                  lambda: stack(sym.var("x"), stack.begin_state()), lambda: rnn.SequentialRNNCell(params=params).add(rnn.RNNCell(3))):
        with pytest.raises(AssertionError):
            wrong()
    rnn.ResidualCell(cell)
    with pytest.raises(AssertionError, match="a modifier cell stands around this RNNCell"):
        cell.begin_state()
    for wrong in (lambda: both(sym.var("x"), []), lambda: rnn.FusedRNNCell(3)(sym.var("x"), []), lambda: rnn.BaseRNNCell().state_info):
        with pytest.raises(NotImplementedError):
            wrong()
    with pytest.raises(KeyError, match="mode is 'what'"):
        rnn.FusedRNNCell(3, mode="what")
    first, second = rnn.RNNCell(3, params=params), rnn.RNNCell(3, prefix="q_", params=params)
    assert first._iW is second._iW and [s.name for s in second.begin_state(sym.Variable)] == ["q_begin_state_0"]


def test_sentences_as_numbers():
    text = [["a", "b", "a"], ["c"]]
    assert rnn.encode_sentences(text) == ([[0, 1, 0], [2]], {"\n": -1, "a": 0, "b": 1, "c": 2})
    assert rnn.encode_sentences(text, invalid_label=1, invalid_key="<e>")[1] == {"<e>": 1, "a": 0, "b": 2, "c": 3}
    known = {"a": 5, "b": 6}
    assert rnn.encode_sentences([["a", "x", "y"]], known, start_label=9, unknown_token="?") == ([[5, 9, 9]], {"a": 5, "b": 6, "?": 9})
    with pytest.raises(AssertionError, match="'z' is not in the vocabulary"):
        rnn.encode_sentences([["z"]], {"a": 0})


def test_batches_of_sentences():
    random.seed(1)
    np.random.seed(1)
    sentences = [list(range(10 * n, 10 * n + length)) for n, length in enumerate([2, 3, 3, 2, 5, 5, 9])]
    batches = rnn.BucketSentenceIter(sentences, 2, buckets=[5, 3])
    assert batches.buckets == [3, 5] and batches.default_bucket_key == 5 and batches.provide_data[0].shape == (2, 5) and batches.batch_size == 2
    for _ in range(2):
        seen = []
        for batch in batches:
            (data,), (label,) = batch.data, batch.label
            assert data.shape == label.shape == (2, batch.bucket_key) == batch.provide_label[0].shape and batch.pad == 0
            np.testing.assert_array_equal(label.asnumpy(), np.pad(data.asnumpy()[:, 1:], ((0, 0), (0, 1)), constant_values=-1))
            seen += [[int(word) for word in row if word >= 0] for row in data.asnumpy()]
        assert sorted(seen) == sentences[:6]
        batches.reset()
    turned = rnn.BucketSentenceIter(sentences, 2, layout="TN", dtype="int32", data_name="d")
    assert turned.buckets == [2, 3, 5] and {b.data[0].shape for b in turned} == {(2, 2), (3, 2), (5, 2)} and turned.provide_data[0] == ("d", (5, 2))
    for wrong in (lambda: rnn.BucketSentenceIter(sentences, 2, layout="XY"), lambda: rnn.BucketSentenceIter(sentences, 9)):
        with pytest.raises(ValueError):
            wrong()


def test_states_that_begin_with_zeros(rng):
    cells = [rnn.RNNCell(3, prefix="c_"), rnn.LSTMCell(3, prefix="c_"), rnn.GRUCell(3, prefix="c_"), rnn.ResidualCell(rnn.RNNCell(4, prefix="c_"))]
    for cell in cells:  # the extent of the batch follows from the inputs
        given, values = run(cell.unroll(2, sym.var("x"))[0], {"x": (5, 2, 4)}, rng)
        states = [sym.zeros((5, *shape[1:])) for shape in cell.state_shape]
        same = sym.Group(cell.unroll(2, sym.var("x"), begin_state=states)[0]).eval(**{name: nd.array(a) for name, a in given.items()})
        for value, want in zip(values, same):
            np.testing.assert_allclose(value, want.asnumpy(), rtol=1e-5, atol=1e-6)
    stack = rnn.SequentialRNNCell()
    for i, units in enumerate((3, 4)):  # whose zeros look alike and are not
        stack.add(rnn.ZoneoutCell(rnn.RNNCell(units, prefix=f"l{i}_"), zoneout_outputs=0.5))
    _, (value,) = run(stack.unroll(2, sym.var("x"), merge_outputs=True)[0], {"x": (5, 2, 6)}, rng)
    assert value.shape == (5, 2, 4)
