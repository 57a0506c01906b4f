# SPDX-License-Identifier: Apache-2.0
"""NumPy in the cases of bench/operators.cpp that bench/operators spells for it; its values are compared with ours."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import numpy as np  # noqa: E402

from clock import show  # noqa: E402
from operators import arrays, table  # noqa: E402


def main():
    found = arrays.Found()
    for case in table.load():
        if case.numpy is None or not arrays.wanted(case.name):
            continue
        space = {"np": np, "rng": np.random.default_rng(1)}
        space.update({letter: arrays.array(one, k) for k, (letter, one) in enumerate(zip(table.letters(case.inputs), case.inputs))})
        work = eval(f"lambda: {case.numpy}", space)  # pylint: disable=eval-used
        if case.compared:
            found.compare(case.name, "result 0", work())
        show(case.name, work, budget=0.01)
    found.report("numpy")


if __name__ == "__main__":
    main()
