# SPDX-License-Identifier: Apache-2.0
"""meson-python, but for two things. nanobind's stable interface begins with Python 3.12, so that before it a wheel is of the
one version that builds it. And what has no level of its own is for x86-64-v2, as NumPy's wheels are, where this is an x86-64."""
import platform
import sys

import mesonpy
from mesonpy import *  # noqa: F401,F403  the hooks of PEP 517 and 660


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
