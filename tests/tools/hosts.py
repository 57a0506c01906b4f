#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pytest on operators inside PyTorch, JAX, NumPy and SciPy, with these from PyPI.

  hosts.py PYTHON    the interpreter that the extension was built for; without one the stage is skipped

The hosts live in an environment of their own, build/hosts, or in the one whose interpreter STROP_HOSTS names. It takes
gigabytes, so that `./run test --all` makes it, and the stage is skipped where it is not there.
"""
import os
import re
import subprocess
import sys

from common import BUILD, ROOT, Report, run, turn

FILES = ("test_torch.py", "test_hosts.py", "test_jax.py", "test_ufunc.py", "test_protocols.py", "test_exchange.py", "test_sparse.py")
PACKAGES = ("torch", "numpy", "scipy", "pytest", "jax", "flatbuffers", "setuptools")


def environment(interpreter):
    """The interpreter of the hosts' environment; None where there is none and it is not made."""
    given = os.environ.get("STROP_HOSTS")
    if given:
        return given
    folder = BUILD / "hosts"
    python, ready = folder / "bin/python", folder / ".ready"
    if ready.exists():
        return python
    if turn() is not None or os.environ.get("NO_INSTALL"):
        return None
    pip = [str(python), "-m", "pip", "install", "--quiet", "--retries", "1"]
    good = subprocess.run([interpreter, "-m", "venv", str(folder)]).returncode == 0
    if not good or subprocess.run([*pip, *PACKAGES]).returncode != 0:
        return None
    ready.touch()
    return python


def main():
    report = Report("hosts", by_file=False)
    python = environment(sys.argv[1]) if len(sys.argv) > 1 else None
    if python is None:
        report.skipped("hosts", "PyTorch and JAX are not in build/hosts: ./run test --all -k hosts installs them from PyPI, or STROP_HOSTS names an "
                       "interpreter that has them")
        report.finish()
    settings = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    folder = ROOT / "tests/python"
    for name in FILES:
        if not report.wanted(name, folder / name):
            continue
        status, out, err = run([str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", folder / name], timeout=900, env=settings)
        count = dict((what, int(n)) for n, what in re.findall(r"(\d+) (passed|failed|skipped|error)", out.splitlines()[-1] if out else ""))
        report.passed(name, count.get("passed", 0))
        for _ in range(count.get("skipped", 0)):
            report.skipped(name, "what it uses is not among the hosts")
        if status not in (0, 5):  # 5: the file left itself out whole
            report.failed(name, out + err)
        elif "nanobind: leaked" in err:
            report.failed(name, f"at exit: {err}")
    report.finish()


if __name__ == "__main__":
    main()
