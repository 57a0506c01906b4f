# SPDX-License-Identifier: Apache-2.0
"""What strop leaves out: the original's networks of blocks. See docs/python.md."""


def __getattr__(name):
    raise AttributeError(f"strop.gluon: there is no {name!r}; networks of blocks are left out, write the operators with nd and autograd, or a symbol")
