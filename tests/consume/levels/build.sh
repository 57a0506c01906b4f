#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
set -eu
${CXX:-c++} -std=c++20 -O1 -Wall -Wextra $WERROR app.cpp $(pkg-config --cflags --libs strop) -o app
