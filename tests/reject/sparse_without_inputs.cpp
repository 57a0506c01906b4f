// SPDX-License-Identifier: Apache-2.0
// reject: strop: an operator that has sparse forms alone states its inputs
#include <strop/op/diagnose.hpp>
#include <strop/op/sparse_result.hpp>
using strop::Real;
struct Bad {
  static constexpr int sparse_tensors = 2;
#if defined(CONTROL)
  static constexpr std::string_view inputs[] = {"data"};
#endif
  bool infer_storage(strop::Storages& s) const { return s.set_out(0, strop::csr); }
  template <Real E>
  void forward_sparse(strop::Cpu&, strop::CsrView<const E>, strop::CsrResult<E>) const {}
};
static_assert(strop::diagnose<Bad>());
