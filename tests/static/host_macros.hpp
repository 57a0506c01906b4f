// SPDX-License-Identifier: Apache-2.0
/// \file
/// Macros that hosts have for words of ours (Windows, X11, Qt, <complex.h>, Arduino), and global variables of a
/// program, as they stand before our headers.
#pragma once
#include <algorithm>
#include <complex>
#include <vector>

#define E 2.718281828459045
#define I _Complex_I
#define N 10
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define None 0L
#define Bool int
#define Status int
#define Success 0
#define Always 2
#define True 1
#define False 0
#define near
#define far
#define small char
#define slots
#define signals public
#define emit
#define foreach for
#define check(condition) static_cast<void>(condition)
#define verify(condition) static_cast<void>(condition)
#define major(device) ((device) >> 8)
#define minor(device) ((device) & 255)

extern int a, b, c, d, i, j, k, m, n, p, s, t, u, v, w, x, y, z, at, in, out, op, count, data, first, last, name, shape,
    size, type;
