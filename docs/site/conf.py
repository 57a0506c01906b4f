# SPDX-License-Identifier: Apache-2.0
"""Sphinx makes the site of what docs/generate.py has written into a folder: `./run docs`."""
project = "strop"
author = "the authors of strop"
copyright = "the authors of strop, Apache-2.0"  # pylint: disable=redefined-builtin
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "strop"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 4
highlight_language = "text"
