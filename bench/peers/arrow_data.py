# SPDX-License-Identifier: Apache-2.0
"""PyArrow's reader of lines of numbers on the file that bench/data.cpp writes. It gives a whole table, of doubles."""
import os
import pathlib

import pyarrow
from clock import report
from pyarrow import csv

path = str(pathlib.Path(os.environ["STROP_BENCH_DATA"]) / "data.csv")
pyarrow.set_cpu_count(int(os.environ.get("OMP_NUM_THREADS", "1")))
report("lines of numbers", lambda: csv.read_csv(path, read_options=csv.ReadOptions(autogenerate_column_names=True)))
