# SPDX-License-Identifier: Apache-2.0
"""Records, their index and headers, and iterators over batches."""
import gzip
import inspect
import os
import pickle
import struct
import subprocess
import sys
import threading

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
    assert padded.num_source == len(padded.data_list) == 3
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
    # as MXNet counts: so many rows of the epoch before are the first ones
    for count, size, pads in ((11, 4, [[0, 0], [3, 0, 0], [2, 0, 0], [1, 0, 0]]), (9, 4, [[0, 0], [1, 0], [2, 0], [3, 0, 0]]), (5, 3, [[0], [2, 0], [1, 0], [0]])):
        rolled = mx.io.NDArrayIter(np.arange(count), None, size, last_batch_handle="roll_over")
        for want in pads:
            assert [batch.pad for batch in rolled] == want
            rolled.reset()
    shuffled = mx.io.NDArrayIter(data, data, 5, shuffle=True)
    for batch in shuffled:
        assert batch.data[0].asnumpy().tolist() == batch.label[0].asnumpy().tolist()
    assert [batch.pad for batch in mx.io.NDArrayIter(data, None, 25)] == [15]
    assert rows(mx.io.NDArrayIter(data, None, 25))[0] == [*range(10), *range(10), *range(5)]
    again = mx.io.ResizeIter(mx.io.NDArrayIter(data, None, 5), 5)
    assert len(list(again)) == 5
    sparse = nd.array(np.eye(5)).tostype("csr")
    for shuffle in (False, True):
        for batch in mx.io.NDArrayIter(sparse, np.eye(5), 2, shuffle=shuffle, last_batch_handle="discard"):
            assert batch.data[0].stype == "csr" and (batch.data[0].asnumpy() == batch.label[0].asnumpy()).all()
    with pytest.raises(NotImplementedError):
        mx.io.NDArrayIter(sparse, None, 2)
    for wrong in ({"data": []}, {"data": data, "label": np.ones(3)}, {"data": data, "batch_size": 0}, {"data": data, "last_batch_handle": "keep"}):
        with pytest.raises(ValueError):
            mx.io.NDArrayIter(**wrong)
    with pytest.raises(mx.Error, match=r"NDArrayIter: _0_softmax_label has shape \(\), expected rows; a list is one of arrays"):
        mx.io.NDArrayIter(data, [0.0, 1.0], 2)
    with pytest.raises(mx.Error, match="NDArrayIter: batch_size is of type float, expected a whole number"):
        mx.io.NDArrayIter(data, None, 2.0)


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
    (tmp_path / "c.libsvm").write_text("1 qid:7 1:0.5 3:1.5\n0 2:2\n1 1:1\n")
    batches = mx.io.LibSVMIter(str(tmp_path / "c.libsvm"), 3, batch_size=2, one_based=True)
    batch = next(batches)
    assert batch.data[0].asnumpy().tolist() == [[0.5, 0, 1.5], [0, 2, 0]]
    assert batch.qid.dtype == np.int64 and batch.qid.asnumpy().tolist() == [7, -1] == batches.getqid().asnumpy().tolist()
    assert batch.data[0]._indices_type == batch.data[0].indices.dtype == np.int32
    assert next(mx.io.LibSVMIter(str(tmp_path / "a.libsvm"), 3, batch_size=3)).qid is None

    def grouped():
        return mx.io.LibSVMIter(str(tmp_path / "c.libsvm"), 3, batch_size=2, one_based=True)

    first = mx.io.NDArrayIter(np.arange(4), None, 2)
    for around in (mx.io.PrefetchingIter(grouped()), mx.io.ResizeIter(grouped(), 1), mx.io.PrefetchingIter([first, mx.io.ResizeIter(grouped(), 2)])):
        assert next(around).qid.asnumpy().tolist() == [7, -1]
    (tmp_path / "b.libsvm").write_text("1 5:1\n")
    with pytest.raises(ValueError, match="b.libsvm"):
        next(mx.io.LibSVMIter(str(tmp_path / "b.libsvm"), (3,), batch_size=1))
    with pytest.raises(TypeError):
        mx.io.LibSVMIter("a", (3,), wrong=1)
    (tmp_path / "a.csv").write_text("1,2,3,4\n5,6,7,8\n9,10,11,12\n")
    numbers = mx.io.CSVIter(data_csv=str(tmp_path / "a.csv"), data_shape=(2, 2), batch_size=2)
    batch = next(numbers)
    assert batch.data[0].shape == (2, 2, 2) and batch.data[0].asnumpy().sum() == 36 and batch.pad == 0
    assert batch.label[0].asnumpy().tolist() == [0, 0] and numbers.provide_label[0].name == "softmax_label"
    batch = next(numbers)
    assert batch.pad == 1 and batch.index.tolist() == [2, 0] and batch.data[0].asnumpy().max() == 12
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(numbers)
    numbers.reset()  # the first line is used
    batch = next(numbers)
    assert batch.pad == 0 and batch.index.tolist() == [1, 2]
    for wrong in ((3,), (2,), (8,)):  # lines are not run together, nor divided
        with pytest.raises(ValueError, match="a.csv"):
            next(mx.io.CSVIter(str(tmp_path / "a.csv"), wrong, batch_size=2))
    begun = mx.io.CSVIter(str(tmp_path / "a.csv"), (4,), batch_size=2)
    for _ in range(2):  # in the middle of an epoch
        assert next(begun).index.tolist() == [0, 1]
        begun.reset()
    with pytest.raises(StopIteration):
        next(numbers)
    for begun in (numbers, mx.io.CSVIter(str(tmp_path / "a.csv"), (4,), batch_size=2), mx.io.LibSVMIter(str(tmp_path / "c.libsvm"), 3, batch_size=2, one_based=True)):
        begun.reset()
        begun.reset()
        assert len(list(begun)) == 2  # three rows: the first one is used
        begun.reset()
        position = begun.position()
        begun.reset()  # passes over it no more
        assert next(begun).index.tolist() == [0, 1]
        begun.resume(position)
        begun.reset()  # what was resumed stays
        assert next(begun).index.tolist() == [1, 2]
        begun.reset()
        begun.reset()
        begun.reset()
        assert [batch.pad for batch in begun] == [0, 1]
    (tmp_path / "l.csv").write_text("1\n2\n3\n")
    for round_batch, last in ((True, [3, 1]), (False, [3, 0])):
        labelled = mx.io.CSVIter(str(tmp_path / "a.csv"), (4,), str(tmp_path / "l.csv"), batch_size=2, round_batch=round_batch, dtype="int32")
        assert [batch.label[0].asnumpy().tolist() for batch in labelled] == [[1, 2], last]
        labelled.reset()
        assert labelled.iter_next() and labelled.provide_data[0].dtype is labelled.getdata().dtype is np.int32
    placed = mx.io.CSVIter(str(tmp_path / "a.csv"), (4,), str(tmp_path / "l.csv"), (1,), 2, True, "int32", "x", "y")
    assert [(d.name, d.dtype) for d in placed.provide_data + placed.provide_label] == [("x", np.int32), ("y", np.int32)]
    placed = mx.io.LibSVMIter(str(tmp_path / "c.libsvm"), (3,), "NULL", (1,), 1, 0, 2, True, 4, "float64", "x", "y", True)
    assert [(d.name, d.dtype) for d in placed.provide_data] == [("x", np.float64)] and next(placed).label[0].asnumpy().tolist() == [1, 0]


def test_names_that_are_no_paths(tmp_path):
    """Whatever an iterator reads, the sentence says which argument it is."""
    (tmp_path / "a.csv").write_text("1,2\n")
    for call, kind, why in ((lambda: mx.io.CSVIter(3, (2,)), TypeError, "CSVIter: data_csv: the name of the file is of type int, expected a string"),
                            (lambda: mx.io.CSVIter(None, (2,)), TypeError, "CSVIter: data_csv: the name of the file is of type NoneType"),
                            (lambda: mx.io.CSVIter("a\0b", (2,)), ValueError, "CSVIter: data_csv: .* is no name of a file: it has a zero byte"),
                            (lambda: mx.io.CSVIter(tmp_path / "a.csv", (2,), ["l"]), TypeError, "CSVIter: label_csv: the name of the file is of type list"),
                            (lambda: mx.io.LibSVMIter("\ud800", (2,)), ValueError, "LibSVMIter: data_libsvm: .* half of a character"),
                            (lambda: mx.io.MNISTIter(["a"], "b"), TypeError, "MNISTIter: image: the name of the file is of type list"),
                            (lambda: mx.io.ImageRecordIter(3, data_shape=(3, 2, 2)), TypeError, "ImageRecordIter: path_imgrec: the name of the file is of type int")):
        with pytest.raises(kind, match=why) as caught:
            call()
        assert isinstance(caught.value, mx.Error)
    for name in (tmp_path / "a.csv", str(tmp_path / "a.csv"), os.fsencode(tmp_path / "a.csv")):
        assert next(mx.io.CSVIter(name, (2,))).data[0].asnumpy().tolist() == [[1, 2]]
    for called, given, wrong in (("CSVIter", {"data_csv": b"a\0b"}, "data_csv"), ("MNISTIter", {"image": 3, "label": b"b"}, "image")):  # without Python's words
        with pytest.raises(TypeError, match=f"{called}: {wrong} is of type (bytes|int) and no path, expected a string without zero bytes") as caught:
            mx._strop.Batches(called, given)
        assert isinstance(caught.value, mx.Error)


def test_lines_come_through_a_pipe(tmp_path):
    """Which is opened once: who opens it again waits for ever."""
    os.mkfifo(tmp_path / "lines")
    writer = threading.Thread(target=lambda: (tmp_path / "lines").write_text("1,2\n3,4\n"), daemon=True)
    writer.start()
    program = f"import strop as mx; print(next(mx.io.CSVIter({str(tmp_path / 'lines')!r}, (2,), batch_size=2)).data[0].asnumpy().tolist())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[[1.0, 2.0], [3.0, 4.0]]\n", "")


MARKED = b"\xef\xbb\xbf"


def test_text_with_a_byte_order_mark(tmp_path):
    """As editors and tables write it, in every file of a folder, for each part of it."""
    for mark in (b"", MARKED):
        (tmp_path / "a.csv").write_bytes(mark + b"1,2,3\n4,5,6\n")
        assert next(mx.io.CSVIter(str(tmp_path / "a.csv"), (3,), batch_size=2)).data[0].asnumpy().tolist() == [[1, 2, 3], [4, 5, 6]]
        with gzip.open(tmp_path / "b.csv.gz", "wb") as file:
            file.write(mark + b"7,8,9\n")
        assert next(mx.io.CSVIter(str(tmp_path / "b.csv.gz"), (3,))).data[0].asnumpy().tolist() == [[7, 8, 9]]
        folder = tmp_path / f"rows{len(mark)}"
        folder.mkdir()
        (folder / "0").write_bytes(mark + b"1 0:1\n2 1:2\n")
        (folder / "1").write_bytes(mark + b"3 2:3\n")
        (folder / "2").write_bytes(mark)
        labels = [batch.label[0].asscalar() for batch in mx.io.LibSVMIter(folder, (3,))]
        assert labels == [1, 2, 3]
        parts = [batch.label[0].asscalar() for part in range(4) for batch in mx.io.LibSVMIter(folder, (3,), num_parts=4, part_index=part)]
        assert parts == [1, 2, 3]
    (tmp_path / "net.json").write_bytes(MARKED + mx.sym.var("x").tojson().encode())
    assert mx.sym.load(tmp_path / "net.json").name == "x"
    records = mx.recordio.MXIndexedRecordIO(tmp_path / "r.idx", tmp_path / "r.rec", "w")
    records.write_idx(7, b"abc")
    records.close()
    (tmp_path / "r.idx").write_bytes(MARKED + (tmp_path / "r.idx").read_bytes())
    assert mx.recordio.MXIndexedRecordIO(tmp_path / "r.idx", tmp_path / "r.rec", "r").read_idx(7) == b"abc"
    (tmp_path / "middle").write_bytes(b"1 0:1\n" + MARKED + b"2 0:1\n")
    with pytest.raises(ValueError, match="line 2, byte 1: the label"):  # elsewhere it is no mark
        list(mx.io.LibSVMIter(tmp_path / "middle", (3,)))


@pytest.mark.parametrize("line, want", [("1 0: 0.5 2:1", [0.5, 0, 1]), ("1 0:\t0.5\t2:  1e2 ", [0.5, 0, 100]), ("1 qid: 4 1: -2", [0, -2, 0]), ("1 0: 1# end", [1, 0, 0])])
def test_blanks_behind_the_colon(tmp_path, line, want):
    (tmp_path / "a").write_text(f"{line}\n2 0:1\n")
    first = next(mx.io.LibSVMIter(tmp_path / "a", (3,)))
    assert first.data[0].asnumpy().tolist() == [want] and first.label[0].asscalar() == 1
    assert first.qid is None or first.qid.asscalar() == 4


@pytest.mark.parametrize("line", ["1 0:", "1 0: ", "1 0: 1:2", "1 0 :1", "1 0: # 5", "1 qid: 1:2", "1 qid:"])
def test_values_that_are_missing(tmp_path, line):
    (tmp_path / "a").write_text(f"{line}\n2 0:1\n")
    with pytest.raises(ValueError, match="line 1, byte"):
        next(mx.io.LibSVMIter(tmp_path / "a", (3,)))


def test_integers_that_float32_does_not_hold_stay_integers():
    """The others become float32, as in MXNet; NDArrays keep their types. 2**24 decides, whichever numbers are behind it."""
    for dtype, kept in (("int32", np.int32), ("int64", np.int64), ("uint32", np.int64)):
        batch = next(mx.io.NDArrayIter(np.array([16777217, 2], dtype), np.array([1, 2], dtype), batch_size=2))
        assert batch.data[0].dtype is kept and batch.data[0].asnumpy().tolist() == [16777217, 2]
        assert batch.label[0].dtype is np.float32
    assert next(mx.io.NDArrayIter(np.array([2**53 + 1, 2**62 + 1]), batch_size=2)).data[0].asnumpy().tolist() == [2**53 + 1, 2**62 + 1]
    made = mx.io.NDArrayIter({"a": nd.array([16777217], dtype="int32"), "b": np.array([200], "u1"), "c": [16777217]})
    assert [d.dtype for d in made.provide_data] == [np.int32, np.float32, np.int64]
    for number in (2**24 + 2, -2**24 - 2, 2**31 - 1, -2**31):  # float32 holds some of them
        batch = next(mx.io.NDArrayIter(np.array([number, 0], "i4"), batch_size=2))
        assert batch.data[0].dtype is np.int32 and batch.data[0].asnumpy().tolist() == [number, 0]
    for number in (2**24, -2**24):
        assert next(mx.io.NDArrayIter(np.array([number]))).data[0].dtype is np.float32
    assert next(mx.io.NDArrayIter(np.array([2**63 - 1], "u8"))).data[0].asnumpy().tolist() == [2**63 - 1]
    with pytest.raises(ValueError, match="NDArrayIter: data has 18446744073709551615, which is beyond int64; give it as"):
        mx.io.NDArrayIter(np.array([2**64 - 1], "u8"))


def test_several_threads_share_the_rows_of_a_file(tmp_path):
    count = 4000
    (tmp_path / "a.libsvm").write_text("".join(f"{i} {i % 7}:{i}\n" for i in range(count)))
    batches = mx.io.LibSVMIter(str(tmp_path / "a.libsvm"), (7,), batch_size=5)
    for _ in range(2):
        seen = [[] for _ in range(4)]

        def work(found):
            for batch in batches:
                labels = batch.label[0].asnumpy()
                np.testing.assert_array_equal(batch.data[0].asnumpy().sum(axis=1), labels)
                found += labels.tolist()

        threads = [threading.Thread(target=work, args=(found,)) for found in seen]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(i for found in seen for i in found) == list(range(count))  # each row once
        batches.reset()


def test_batches_that_are_made_ahead():
    data = np.arange(10.0)

    def made(**more):
        return mx.io.PrefetchingIter([mx.io.NDArrayIter(data, data * 2, 4), mx.io.NDArrayIter({"x": data * 3}, None, 4)], **more)

    both = made(rename_data=[{"data": "a"}, {"x": "b"}], rename_label=[{"softmax_label": "c"}, {}])
    assert [d.name for d in both.provide_data + both.provide_label] == ["a", "b", "c"] and both.batch_size == 4
    for _ in range(2):
        found = list(both)
        assert [[a.asnumpy().tolist() for a in batch.data + batch.label] for batch in found][2] == [[8, 9, 0, 1], [24, 27, 0, 3], [16, 18, 0, 2]]
        assert [batch.pad for batch in found] == [0, 0, 2] and not both.iter_next()
        both.reset()
    assert both.iter_next() and both.getdata()[1].shape == (4,) and both.getlabel()[0].shape == (4,) and both.getpad() == 0
    both.reset()
    assert next(both).data[0].asnumpy().tolist() == [0, 1, 2, 3]
    assert [d.name for d in made().provide_data] == ["data", "x"]
    uneven = mx.io.PrefetchingIter([mx.io.NDArrayIter(data, None, 5), mx.io.NDArrayIter(data[:5], None, 5)])
    next(uneven)
    with pytest.raises(ValueError):
        next(uneven)

    class Plain:
        """As programs of MXNet write it: tuples, and next() alone."""

        provide_data, provide_label = [("x", (2, 3)), ("z", (2,), np.int32)], [("y", (2,))]

        def __init__(self):
            self.left = 2

        def next(self):
            if self.left == 0:
                raise StopIteration
            self.left -= 1
            batch = mx.io.DataBatch([nd.full((2, 3), self.left), nd.ones((2,))], [nd.ones((2,))], 0)
            del batch.qid  # of a class of their own
            return batch

        def reset(self):
            self.left = 2

    for names, want in ((None, ["x", "z", "y"]), ([{"x": "a"}], ["a", "z", "y"])):
        plain = mx.io.PrefetchingIter(Plain(), rename_data=names)
        told = plain.provide_data + plain.provide_label
        assert [d.name for d in told] == want and [d.shape for d in told] == [(2, 3), (2,), (2,)] and told[1].dtype is np.int32 and plain.batch_size == 2
        for _ in range(2):
            assert [batch.data[0].asnumpy().max() for batch in plain] == [1, 0]
            plain.reset()

    class Troubled(mx.io.NDArrayIter):
        def iter_next(self):
            raise LookupError("no more")

    with pytest.raises(LookupError):
        next(mx.io.PrefetchingIter(Troubled(data, None, 5)))
    with pytest.raises(ValueError):
        mx.io.PrefetchingIter([])


def test_images_of_digits(tmp_path, rng):
    images, labels = rng.integers(0, 256, (10, 3, 4)).astype(np.uint8), np.arange(10, dtype=np.uint8)
    (tmp_path / "images").write_bytes(struct.pack(">4I", 0x803, 10, 3, 4) + images.tobytes())
    (tmp_path / "labels").write_bytes(gzip.compress(struct.pack(">2I", 0x801, 10) + labels.tobytes()))
    given = {"image": str(tmp_path / "images"), "label": str(tmp_path / "labels"), "batch_size": 4, "silent": True}
    digits = mx.io.MNISTIter(shuffle=False, **given)
    assert digits.provide_data[0].shape == (4, 1, 3, 4) and digits.provide_label[0].shape == (4,)
    for _ in range(2):
        found = list(digits)
        assert [batch.label[0].asnumpy().tolist() for batch in found] == [[0, 1, 2, 3], [4, 5, 6, 7]]
        np.testing.assert_array_equal(found[1].data[0].asnumpy(), images[4:8, None].astype(np.float32) / 256)
        digits.reset()
    half = mx.io.MNISTIter(shuffle=False, flat=True, num_parts=2, part_index=1, **given)
    assert [(batch.data[0].shape, batch.label[0].asnumpy().tolist()) for batch in half] == [((4, 12), [5, 6, 7, 8])]
    few = mx.io.MNISTIter(**{**given, "batch_size": 11})  # no batch, and no error
    for _ in range(2):
        assert list(few) == [] and not few.iter_next()
        few.reset()
    shuffled = mx.io.MNISTIter(seed=3, **given)
    order = [batch.label[0].asnumpy().tolist() for batch in shuffled]
    shuffled.reset()
    assert order != [[0, 1, 2, 3], [4, 5, 6, 7]] and order == [batch.label[0].asnumpy().tolist() for batch in shuffled]
    assert mx.io.MNISTIter(dtype="float32", **given).next().data[0].dtype is np.float32
    for wrong in ({"part_index": 1}, {"part_index": -1}, {"num_parts": 2, "part_index": 2}, {"num_parts": 0}):
        with pytest.raises(mx.Error, match="(part_index|num_parts) is"):
            mx.io.MNISTIter(**given, **wrong)
    assert mx.io.MNISTIter(dtype="float16", **given).next().data[0].dtype is np.float16
    with pytest.raises(mx.Error, match="dtype is uint8, expected"):
        mx.io.MNISTIter(dtype=np.uint8, **given)
    text = (tmp_path / "labels").read_bytes()
    (tmp_path / "damaged").write_bytes(text[:10] + b"\xff" * 8 + text[18:])  # the text begins with a block of no kind
    with pytest.raises(mx.Error, match="damaged.*cannot be unpacked"):
        mx.io.MNISTIter(**{**given, "label": str(tmp_path / "damaged")})
    (tmp_path / "images").write_bytes(struct.pack(">4I", 0x803, 10, 3, 4))
    with pytest.raises(FileNotFoundError, match="nothing.*No such file"):
        mx.io.MNISTIter(**{**given, "image": str(tmp_path / "nothing")})
    for wrong in (given, {**given, "image": given["label"]}):
        with pytest.raises(ValueError):
            mx.io.MNISTIter(**wrong)


def test_iterators_are_those_of_the_registry(tmp_path):
    """Names, parameters, documents and sentences are the registry's."""
    described = {one["name"]: one for one in mx._strop.iterators()}
    for name in ("CSVIter", "LibSVMIter", "MNISTIter", "ImageRecordIter", "ImageFolderIter"):
        made = getattr(mx.io, name)
        names = [one["name"] for one in described[name]["params"]]
        placed = [key for key in inspect.signature(made).parameters if key not in ("data_name", "label_name", "kwargs")]
        assert sorted(placed) == sorted(names) and made.__name__ == name
        assert described[name]["doc"] in made.__doc__ and all(one["doc"][1:] in made.__doc__ for one in described[name]["params"])
        with pytest.raises(TypeError, match=f"{name}: no argument 'batch_sise'; there are "):
            made(batch_sise=1)
        with pytest.raises(TypeError, match=f"{name}: missing a required argument"):
            made()
    (tmp_path / "a.csv").write_text("1,2\n3,4\n5,6\n")
    rows = mx.io.CSVIter(tmp_path / "a.csv", 2, batch_size=2, data_name="x", label_name="y", preprocess_threads=4)
    assert [d.name for d in rows.provide_data + rows.provide_label] == ["x", "y"] and rows.batch_size == 2
    next(rows)
    position = rows.position()
    want = next(rows).data[0].asnumpy().tolist()
    again = mx.io.CSVIter(tmp_path / "a.csv", 2, batch_size=2)
    again.resume(position)
    assert next(again).data[0].asnumpy().tolist() == want == [[5, 6], [1, 2]]
    with pytest.raises(ValueError, match="is no position"):
        again.resume("elsewhere")
    for name in ("a.csv.gz", "b.csv.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b"7,8\n"))
    several = mx.io.CSVIter(f"{tmp_path}/*.gz;{tmp_path}/a.csv", (2,), round_batch=False)
    assert [batch.data[0].asnumpy()[0, 0] for batch in several] == [7, 7, 1, 3, 5]
    parts = [batch.data[0].asnumpy()[0, 0] for part in range(2) for batch in mx.io.CSVIter(tmp_path / "a.csv", (2,), num_parts=2, part_index=part)]
    assert parts == [1, 3, 5]
    (tmp_path / "a.csv").write_text("1,2\n3,x\n")
    with pytest.raises(ValueError, match=r'a.csv", line 2, byte 3: '):
        list(mx.io.CSVIter(tmp_path / "a.csv", (2,)))
