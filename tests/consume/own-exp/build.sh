#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A foreign program whose global functions are named like operators.
set -eu
${CXX:-c++} -std=c++20 -O0 -Wall -Wextra $WERROR app.cpp $(pkg-config --cflags --libs strop) -o app
./app
