// SPDX-License-Identifier: Apache-2.0
/// \file
/// Linked into every test program: a function that a header forgets to mark inline is then defined twice, and
/// tests/tools/symbols.py finds it here. Every public header but ops/all.hpp, which would build every
/// kernel, and linalg.hpp, whose functions would stand before the runtime's.
#include <strop/cuda/launches.hpp>
#include <strop/data/idx.hpp>
#include <strop/eigen.hpp>
#include <strop/ops/elementwise.hpp>
#include <strop/strop.hpp>
#include <strop/tensor/dlpack.hpp>
