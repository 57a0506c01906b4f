# SPDX-License-Identifier: Apache-2.0
"""Records, their index and headers, and iterators over batches."""
import pickle
import struct

import numpy as np
import pytest

import strop as mx
from strop import nd

MARK = struct.pack("<I", 0xCED7230A)
RECORDS = [b"", b"a", b"abcd", bytes(range(256)), MARK, MARK * 3 + b"xy", b"ab" + MARK, b"abcd" + MARK + b"efgh" + MARK]


def test_records(tmp_path):
    path = str(tmp_path / "a.rec")
    writer = mx.recordio.MXRecordIO(path, "w")
    for record in RECORDS:
        writer.write(record)
    with pytest.raises(mx.Error):
        writer.read()
    writer.close()
    reader = mx.recordio.MXRecordIO(path, "r")
    assert [reader.read() for _ in RECORDS] == RECORDS and reader.read() is None
    reader.reset()
    assert reader.read() == b""
    # as the format says: the mark, the length, the bytes, zeros; a mark within a record splits it into parts
    text = open(path, "rb").read()
    assert text[:20] == MARK + struct.pack("<I", 0) + MARK + struct.pack("<I", 1) + b"a\0\0\0"
    assert text.endswith(MARK + struct.pack("<I", 1 << 29 | 4) + b"abcd" + MARK + struct.pack("<I", 2 << 29 | 4) + b"efgh" + MARK + struct.pack("<I", 3 << 29))


@pytest.mark.parametrize("damage", [lambda text: text[:-1], lambda text: b"\1" + text[1:], lambda text: text[:4], lambda text: text[:4] + struct.pack("<I", 2 << 29 | 4) + text[8:]])
def test_damaged_records_are_refused(tmp_path, damage):
    path = str(tmp_path / "a.rec")
    writer = mx.recordio.MXRecordIO(path, "w")
    writer.write(b"abcd")
    del writer
    text = open(path, "rb").read()
    with open(path, "wb") as file:
        file.write(damage(text))
    with pytest.raises(ValueError):
        mx.recordio.MXRecordIO(path, "r").read()


def test_an_index_and_headers(tmp_path):
    paths = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    writer = mx.recordio.MXIndexedRecordIO(*paths, "w")
    for key, record in enumerate(RECORDS):
        writer.write_idx(key * 2, record)
    writer.close()
    reader = mx.recordio.MXIndexedRecordIO(*paths, "r")
    assert reader.keys == [2 * i for i in range(len(RECORDS))]
    for other in (reader, pickle.loads(pickle.dumps(reader))):
        assert [other.read_idx(key) for key in reversed(other.keys)] == RECORDS[::-1]
    with pytest.raises(IndexError):
        reader.read_idx(1)
    header, rest = mx.recordio.unpack(mx.recordio.pack((7, 4.5, 12, 3), b"rest"))
    assert (header.flag, header.label, header.id, header.id2, rest) == (0, 4.5, 12, 3, b"rest")
    header, rest = mx.recordio.unpack(mx.recordio.pack(mx.recordio.IRHeader(0, [1, 2.5], 12, 3), b"rest"))
    assert header.flag == 2 and header.label.tolist() == [1, 2.5] and rest == b"rest"
    with pytest.raises(ValueError):
        mx.recordio.unpack(b"short")


def rows(batches):
    return [batch.data[0].asnumpy().tolist() for batch in batches]


def test_batches_of_arrays():
    data = np.arange(10.0)
    assert rows(mx.io.NDArrayIter(data, data, 4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]]
    padded = mx.io.NDArrayIter({"a": data, "b": data * 2}, {"c": data}, 4)
    last = list(padded)[-1]
    assert last.pad == 2 and last.data[1].asnumpy().tolist() == [16, 18, 0, 2] and last.index.tolist() == [8, 9, 0, 1]
    assert [(d.name, d.shape) for d in padded.provide_data] == [("a", (4,)), ("b", (4,))] and padded.provide_label[0].name == "c"
    discarded = mx.io.NDArrayIter(data, None, 4, last_batch_handle="discard")
    for _ in range(2):
        assert len(rows(discarded)) == 2
        discarded.reset()
    rolled = mx.io.NDArrayIter(data, None, 4, last_batch_handle="roll_over")
    assert rows(rolled) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    rolled.reset()
    assert rows(rolled) == [[8, 9, 0, 1], [2, 3, 4, 5], [6, 7, 8, 9]]
    rolled.reset()
    assert rows(rolled)[0] == [0, 1, 2, 3]
    shuffled = mx.io.NDArrayIter(data, data, 5, shuffle=True)
    for batch in shuffled:
        assert batch.data[0].asnumpy().tolist() == batch.label[0].asnumpy().tolist()
    again = mx.io.ResizeIter(mx.io.NDArrayIter(data, None, 5), 5)
    assert len(list(again)) == 5
    sparse = nd.array(np.eye(5)).tostype("csr")
    for shuffle in (False, True):
        for batch in mx.io.NDArrayIter(sparse, np.eye(5), 2, shuffle=shuffle, last_batch_handle="discard"):
            assert batch.data[0].stype == "csr" and (batch.data[0].asnumpy() == batch.label[0].asnumpy()).all()
    with pytest.raises(NotImplementedError):
        mx.io.NDArrayIter(sparse, None, 2)
    for wrong in ({"data": []}, {"data": data, "label": np.ones(3)}, {"data": data, "batch_size": 11}, {"data": data, "last_batch_handle": "keep"}):
        with pytest.raises(ValueError):
            mx.io.NDArrayIter(**wrong)


def test_batches_of_text(tmp_path):
    (tmp_path / "a.libsvm").write_text("1 0:0.5 2:1.5\n-2\n-3 1:2.5\n4 2:-1\n")
    batches = mx.io.LibSVMIter(data_libsvm=str(tmp_path / "a.libsvm"), data_shape=(3,), batch_size=3)
    for _ in range(2):
        batch = next(batches)
        batch.data[0].check_format()
        assert batch.data[0].asnumpy().tolist() == [[0.5, 0, 1.5], [0, 0, 0], [0, 2.5, 0]] and batch.label[0].asnumpy().tolist() == [1, -2, -3]
        assert next(batches).pad == 2
        with pytest.raises(StopIteration):
            next(batches)
        batches = mx.io.LibSVMIter(str(tmp_path / "a.libsvm"), 3, batch_size=3)
    (tmp_path / "b.libsvm").write_text("1 5:1\n")
    with pytest.raises(ValueError, match="b.libsvm"):
        next(mx.io.LibSVMIter(str(tmp_path / "b.libsvm"), (3,), batch_size=1))
    with pytest.raises(TypeError):
        mx.io.LibSVMIter("a", (3,), wrong=1)
    (tmp_path / "a.csv").write_text("1,2,3,4\n5,6,7,8\n9,10,11,12\n")
    numbers = mx.io.CSVIter(data_csv=str(tmp_path / "a.csv"), data_shape=(2, 2), batch_size=2)
    batch = next(numbers)
    assert batch.data[0].shape == (2, 2, 2) and batch.data[0].asnumpy().sum() == 36 and batch.pad == 0
    assert next(numbers).pad == 1
