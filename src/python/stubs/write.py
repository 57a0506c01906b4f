#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the stubs of the package of a build folder: write.py BUILD/python OUT"""
import importlib.machinery
import os
import sys

sys.meta_path.insert(0, importlib.machinery.PathFinder)  # before the finder of an editable install, which builds first
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True

from strop import stubs  # noqa: E402

stubs.main(sys.argv[2])
os.utime(os.path.join(sys.argv[2], "strop"))  # a folder that is written again keeps its time, by which ninja goes
