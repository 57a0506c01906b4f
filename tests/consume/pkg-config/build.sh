#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A foreign project that has nothing but a compiler and pkg-config.
set -eu
${CXX:-c++} -std=c++20 -O0 -Wall -Wextra $WERROR app.cpp $(pkg-config --cflags --libs strop) -o app
./app
