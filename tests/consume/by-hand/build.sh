#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program of several files without a build system: as headers alone, and with the runtime in a file of its own.
set -eu
flags="-std=c++20 -O0 -pthread -Wall -Wextra $WERROR -I$INCLUDE $(pkg-config --cflags fmt)"
libs=$(pkg-config --libs fmt)
${CXX:-c++} $flags -DSTROP_COMPILED -c app.cpp -o app.o
${CXX:-c++} $flags -DSTROP_COMPILED -c other.cpp -o other.o
eigen=$(pkg-config --cflags eigen3 | sed "s/-I/-isystem /g") # whose headers do not pass -Wall -Wextra
${CXX:-c++} $flags $eigen -DSTROP_COMPILED ${NATIVE:-} -c eigen.cpp -o eigen.o
${CXX:-c++} $flags $eigen -c source.cpp -o source.o
${CXX:-c++} app.o other.o eigen.o source.o $libs -o app
./app
${CXX:-c++} $flags $eigen -include strop/linalg.hpp app.cpp other.cpp eigen.cpp $libs -o app-headers
./app-headers
