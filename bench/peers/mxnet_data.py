# SPDX-License-Identifier: Apache-2.0
"""MXNet's iterators on the files that bench/data.cpp writes, and on rows of arrays."""
import os
import pathlib

import mxnet as mx

from clock import report

FOLDER = pathlib.Path(os.environ["STROP_BENCH_DATA"])


def epoch_of(batches):
    """A call that waits for every batch of an epoch."""
    def run():
        batches.reset()
        for batch in batches:
            batch.data[0].wait_to_read()
    return run


report("lines of numbers", epoch_of(mx.io.CSVIter(data_csv=str(FOLDER / "data.csv"), data_shape=(10,), batch_size=1000, round_batch=False)))
records = mx.recordio.MXRecordIO(str(FOLDER / "data.rec"), "r")


def all_records():
    records.reset()
    while records.read() is not None:
        pass


report("records", all_records)
report("rows of arrays", epoch_of(mx.io.NDArrayIter(mx.nd.random.uniform(shape=(20000, 784)), mx.nd.arange(20000), 400)))
if (FOLDER / "pictures.rec").exists():
    report("pictures, to arrays", epoch_of(mx.io.ImageRecordIter(
        path_imgrec=str(FOLDER / "pictures.rec"), path_imgidx=str(FOLDER / "pictures.idx"), data_shape=(3, 224, 224), batch_size=32, rand_crop=True, rand_mirror=True,
        mean_r=123, std_r=58, preprocess_threads=int(os.environ.get("OMP_NUM_THREADS", "1")))))
