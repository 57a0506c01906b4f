# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's reader on the files that bench/libsvm.cpp writes. It gives whole files."""
import os
import pathlib

from clock import report
from sklearn.datasets import load_svmlight_file

for name in ("counts", "measurements"):
    path = str(pathlib.Path(os.environ["STROP_BENCH_DATA"]) / f"{name}.libsvm")
    report(f"{name}, whole", lambda: load_svmlight_file(path, n_features=100000, dtype="float32", zero_based=True))
