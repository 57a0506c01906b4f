// SPDX-License-Identifier: Apache-2.0
// softsign as a C++ extension of PyTorch that is written by hand: kernels, an autograd function, schemas, registration.
#include <torch/library.h>
#include <torch/torch.h>

#include <cmath>

namespace {

template <class F>
at::Tensor each(const at::Tensor& like, F&& f) {
  at::Tensor made = at::empty_like(like);
  AT_DISPATCH_FLOATING_TYPES(like.scalar_type(), "softsign", [&] {
    auto* const y = made.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, like.numel(), 1 << 15, [&](std::int64_t begin, std::int64_t end) { f(y, begin, end); });
  });
  return made;
}

at::Tensor forward(const at::Tensor& given) {
  const at::Tensor x = given.contiguous();
  return each(x, [&]<class T>(T* y, std::int64_t begin, std::int64_t end) {
    const T* const in = x.const_data_ptr<T>();
    for (std::int64_t i = begin; i < end; ++i) y[i] = in[i] / (1 + std::abs(in[i]));
  });
}
at::Tensor backward(const at::Tensor& heads, const at::Tensor& given) {
  const at::Tensor dy = heads.contiguous(), x = given.contiguous();
  return each(x, [&]<class T>(T* dx, std::int64_t begin, std::int64_t end) {
    const T *const in = x.const_data_ptr<T>(), *const head = dy.const_data_ptr<T>();
    for (std::int64_t i = begin; i < end; ++i) {
      const T d = 1 + std::abs(in[i]);
      dx[i] = head[i] / (d * d);
    }
  });
}

struct Softsign : torch::autograd::Function<Softsign> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {
    const at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({x});
    static const auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow("by_hand::softsign", "").typed<at::Tensor(const at::Tensor&)>();
    return op.call(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& heads) {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("by_hand::softsign_backward", "")
                               .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
    return {op.call(heads[0], ctx->get_saved_variables()[0])};
  }
};

}  // namespace

TORCH_LIBRARY(by_hand, m) {
  m.def("softsign(Tensor x) -> Tensor");
  m.def("softsign_backward(Tensor dy, Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(by_hand, CPU, m) {
  m.impl("softsign", &forward);
  m.impl("softsign_backward", &backward);
}
TORCH_LIBRARY_IMPL(by_hand, Autograd, m) {
  m.impl("softsign", [](const at::Tensor& x) { return Softsign::apply(x); });
}
