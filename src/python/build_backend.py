# SPDX-License-Identifier: Apache-2.0
"""meson-python, but for three things. nanobind's stable interface begins with Python 3.12, so that before it a wheel is of the
one version that builds it. What has no level of its own is for x86-64-v2, as NumPy's wheels are, where this is an x86-64. And
Meson is the one beside this interpreter before any other: `env/bin/pip install` works in an environment that is not active."""
import importlib.util
import os
import platform
import sys
import sysconfig

import mesonpy
from mesonpy import *  # noqa: F401,F403  the hooks of PEP 517 and 660

_meson = importlib.util.find_spec("mesonbuild")
if _meson and _meson.origin and os.path.realpath(_meson.origin).startswith(os.path.realpath(sysconfig.get_path("purelib")) + os.sep):
    # Otherwise it is of the environment that pip makes for a build, whose scripts come first as it is.
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])


def _settings(given):
    settings = dict(given or {})
    arguments = settings.get("setup-args", [])
    arguments = [arguments] if isinstance(arguments, str) else list(arguments)
    if platform.machine() == "x86_64":
        arguments.insert(0, "-Dmarch=x86-64-v2")
    if sys.version_info < (3, 12):
        arguments.append("-Dpython.allow_limited_api=false")
    return {**settings, "setup-args": arguments}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return mesonpy.build_wheel(wheel_directory, _settings(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return mesonpy.build_editable(wheel_directory, _settings(config_settings), metadata_directory)
