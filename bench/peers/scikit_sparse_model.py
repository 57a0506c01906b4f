# SPDX-License-Identifier: Apache-2.0
"""scikit-learn on the features and the split of bench/sparse_model.cpp: SGD of one-against-all logistic regressions, and
multinomial logistic regression to convergence."""
import os
import pathlib
import time
import warnings

import numpy
import scipy.sparse
from sklearn.linear_model import LogisticRegression, SGDClassifier

warnings.filterwarnings("ignore")


def load(part):
    parts = numpy.load(pathlib.Path(os.environ["STROP_BENCH_DATA"]) / f"packages-{part}.npz")
    rows = scipy.sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
    return rows, parts["labels"]


(x, y), (tests, expected) = load("train"), load("test")
for epochs in (8, 20):
    model = SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=epochs, tol=None, random_state=1)
    begin = time.perf_counter()
    model.fit(x, y)
    seconds = time.perf_counter() - begin
    if epochs == 8:
        print(f"epoch of the package index\t{seconds / epochs * 1e9:.0f}")
    print(f"# scikit-learn SGDClassifier: {epochs} epochs, test accuracy {model.score(tests, expected):.4f}", flush=True)
begin = time.perf_counter()
model = LogisticRegression(C=20, max_iter=60).fit(x, y)
print(f"# scikit-learn LogisticRegression: {time.perf_counter() - begin:.0f} s, test accuracy {model.score(tests, expected):.4f}")
