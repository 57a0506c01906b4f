// SPDX-License-Identifier: Apache-2.0
// reject: strop: forward_sparse takes strop::Cpu&: on a GPU tensor operators have dense arrays, and sparse ones are for
// maps
#include <strop/strop.hpp>

struct Copy {
  static constexpr int sparse_tensors = 2;
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E> x, strop::View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
  bool infer_storage(strop::Storages& s) const { return s.set_out(0, strop::dense); }
  template <strop::Real E>
  void forward_sparse(strop::Cpu&, strop::CsrView<const E>, strop::View<E, 2>) const {}
  template <strop::Real E>
#ifdef CONTROL
  void forward_sparse(auto&, strop::RowSparseView<const E>, strop::View<E, 2>) const {
  }
#else
  void forward_sparse(strop::Cuda&, strop::CsrView<const E>, strop::View<E, 2>) const {
  }
#endif
};
inline constexpr strop::Op<Copy> copy_all;
