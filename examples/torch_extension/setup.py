# SPDX-License-Identifier: Apache-2.0
"""python setup.py build_ext --inplace, then torch.ops.load_library("curves.so")."""
import strop
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(name="curves", ext_modules=[CppExtension(
    "curves", ["operators.cpp"], include_dirs=[strop.get_include()], libraries=["fmt"],
    extra_compile_args=["-std=c++20", "-O2", "-march=native", "-fvisibility=hidden"])],
      cmdclass={"build_ext": BuildExtension.with_options(no_python_abi_suffix=True, use_ninja=False)})
