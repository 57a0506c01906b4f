# SPDX-License-Identifier: Apache-2.0
"""What strop leaves out: MXNet's networks of blocks. See docs/python.md."""
from .base import LeftOut


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"strop.gluon: there is no {name!r}")
    return LeftOut(f"gluon.{name}", "networks of blocks are left out, write the operators with nd and autograd, or a symbol")
