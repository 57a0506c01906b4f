# SPDX-License-Identifier: Apache-2.0
"""What this build has of what builds of MXNet may have, by MXNet's names."""
from .base import Error
from .context import num_gpus

_NAMES = (
    "CUDA", "CUDNN", "NCCL", "CUDA_RTC", "TENSORRT", "CPU_SSE", "CPU_SSE2", "CPU_SSE3", "CPU_SSE4_1", "CPU_SSE4_2", "CPU_SSE4A", "CPU_AVX", "CPU_AVX2", "OPENMP", "SSE",
    "F16C", "JEMALLOC", "BLAS_OPEN", "BLAS_ATLAS", "BLAS_MKL", "BLAS_APPLE", "LAPACK", "MKLDNN", "OPENCV", "CAFFE", "PROFILER", "DIST_KVSTORE", "CXX14",
    "INT64_TENSOR_SIZE", "SIGNAL_HANDLER", "DEBUG", "TVM_OP",
)


class UnknownFeature(Error, RuntimeError):
    """A feature that no build has."""


class Feature:
    """One of them: `name`, and whether it is there (`enabled`)."""

    def __init__(self, name, enabled):
        self._name, self._enabled = name, enabled

    name = property(lambda self: self._name)
    enabled = property(lambda self: self._enabled)

    def __repr__(self):
        return f"{'✔' if self.enabled else '✖'} {self.name}"


class Features(dict):
    """{name: Feature}, the same object at every call. CUDA is there where a GPU can be used; arrays of more than 2³¹ elements are
    there always; the others name libraries that nothing here is built on, or what the compiler was told, which no name says."""

    _only = None

    def __new__(cls):
        if cls._only is None:
            cls._only = super().__new__(cls)
            there = {"CUDA": num_gpus() > 0, "INT64_TENSOR_SIZE": True}
            cls._only.update({name: Feature(name, there.get(name, False)) for name in _NAMES})
        return cls._only

    def __init__(self):  # it is filled when it is made
        super().__init__()

    def __repr__(self):
        return str(list(self.values()))

    def is_enabled(self, feature_name):
        """Whether the feature of that name, in letters of any case, is there."""
        name = feature_name.upper()
        if name not in self:
            raise UnknownFeature(f"Features: there is no {name!r}; there are {', '.join(self)}")
        return self[name].enabled


def feature_list():
    """All features, as a list."""
    return list(Features().values())
