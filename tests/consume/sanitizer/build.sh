#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A foreign project that a sanitizer watches, beside a runtime that it does not.
set -eu
${CXX:-c++} -std=c++20 -O2 -Wall -Wextra $WERROR app.cpp $(pkg-config --cflags --libs strop) -o app
./app
