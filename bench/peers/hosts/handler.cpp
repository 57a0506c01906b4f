// SPDX-License-Identifier: Apache-2.0
// softsign as a handler of XLA's foreign function interface, by hand.
#include <xla/ffi/api/ffi.h>

#include <cmath>

namespace ffi = xla::ffi;

static ffi::Error softsign(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  const float* const in = x.typed_data();
  float* const out = y->typed_data();
  for (std::size_t i = 0; i < x.element_count(); ++i) out[i] = in[i] / (1 + std::abs(in[i]));
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(softsign_by_hand, softsign,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
