#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One operator in objects of two instruction sets and, where there is a second one, of two compilers, and in a shared
# library; linked in both orders. Then in objects of one level of which one asks for more.
set -eu
flags="-std=c++20 -O1 -fPIC -Wall -Wextra $WERROR $(pkg-config --cflags strop)"
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

# x86-64-v3, and what Haswell has of it and Alder Lake beyond it: the program keeps the loops of both. It runs where
# x86-64-v3 does, whose functions the linker finds first; what the machine lacks of the others' it does not enrol.
$first $flags -march=x86-64-v3 -DPART=narrow -c part.cpp -o level.o
$first $flags -march=x86-64-v3 -mavxvnni -mgfni -DPART=wide -c part.cpp -o more.o
$first level.o app.o more.o -L. -lshared -Wl,-rpath,"$PWD" $libs -o app-one-level
bodies=$(nm -C app-one-level | grep -c ' [WVt] void strop::.*lane_loop<Shared, float>')
case $bodies in
  3) echo "two bodies for two sets of one level" ;; # the third is app.o's
  *) echo "there are $bodies loops of the operator, expected one for each of three sets" ;;
esac
if grep -q avx2 /proc/cpuinfo; then ./app-one-level; else ./app; fi
