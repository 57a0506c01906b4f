# SPDX-License-Identifier: Apache-2.0
"""NumPy in the cases of bench/dispatch.cpp, called from Python as it is."""
import numpy

from clock import report

x, y, out = (numpy.full(1, v, "f4") for v in (1, 2, 0))
two = numpy.float32(2)
report("one input", lambda: numpy.add(x, two))
report("two inputs", lambda: numpy.multiply(x, y))
report("into an array", lambda: numpy.multiply(x, y, out=out))
