#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A command of a project's operators, by pkg-config.
set -eu
${CXX:-c++} -std=c++20 -O1 -Wall -Wextra $WERROR mine.cpp $(pkg-config --cflags --libs strop-command strop) -o mine
