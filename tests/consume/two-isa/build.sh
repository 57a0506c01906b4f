#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One operator in objects of two instruction sets and, where there is a second one, of two compilers, and in a shared
# library; linked in both orders.
set -eu
flags="-std=c++20 -O2 -fPIC -Wall -Wextra $WERROR $(pkg-config --cflags strop)"
libs="$(pkg-config --libs strop)"
first=${CXX:-c++}
second=${CXX2:-$first}
$first $flags -march=x86-64-v2 -DPART=narrow -c part.cpp -o narrow.o
$second $flags ${NATIVE:--march=native} -DPART=wide -c part.cpp -o wide.o
$first $flags -march=x86-64-v2 -DPART=shared -shared part.cpp $libs -o libshared.so
$first $flags -c app.cpp -o app.o
$first app.o narrow.o wide.o -L. -lshared -Wl,-rpath,"$PWD" $libs -o app
$first wide.o app.o narrow.o -L. -lshared -Wl,-rpath,"$PWD" $libs -o app-other-order
./app
./app-other-order
