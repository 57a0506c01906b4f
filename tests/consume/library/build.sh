#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program of one compiler that loads operators which another compiler, where there is a second one, has built.
set -eu
flags="-std=c++20 -O0 -fPIC -pthread -Wall -Wextra $WERROR $(pkg-config --cflags strop)"
libs="$(pkg-config --libs strop)"
first=${CXX:-c++}
second=${CXX2:-$first}
hidden="-shared -fvisibility=hidden"
$second $flags $hidden operators.cpp $libs -o liboperators.so
$second $flags $hidden -DOTHER_VERSION future.cpp $libs -o libfuture.so
cp liboperators.so libclash.so
printf 'int plain() { return 1; }\n' > plain.cpp
$first -shared -fPIC plain.cpp -o libplain.so
printf '#include <strop/library/layout.h>\n' > layout.c
${CC:-cc} -std=c11 -Wall -Wextra -pedantic $(pkg-config --cflags strop) -c layout.c -o layout.o
$first $flags app.cpp $libs -o app
./app
