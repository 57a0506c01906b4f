// SPDX-License-Identifier: Apache-2.0
/// \file
/// What GPUs run of the library's reductions and softmaxes. A .cu file says which of them a program has:
/// `const strop::cuda::Enrolled<strop::Sum, strop::Softmax> kernels;`, or all: `const strop::cuda::Reductions
/// kernels;`.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/cuda/enrol.hpp>
#include <strop/cuda/library.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/ops/softmax.hpp>
#include <strop/tensor/convert.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#if __has_include("../../../kernels/reduce.cuh")
#include "../../../kernels/rowwise_slope.cuh"
#include "../../../kernels/spread.cuh"
#else
#include <strop/kernels/rowwise_slope.cuh>  // as installed
#include <strop/kernels/spread.cuh>
#endif

namespace strop::inline v0::cuda {

/// The extents of an array, as kernels are told them.
struct Extents {
  std::int64_t extents[64] = {};
  int rank = 0;
  explicit Extents(const Shape& shape) {
    for (const std::int64_t extent : shape) extents[rank++] = extent;
  }
};
[[noreturn]] inline void fail_by_axes(const Entry& entry) {
  fail(entry.snake, ": axes that stay and axes that go take turns more often than a GPU's kernel can follow");
}

/// y = the reduction of x by a step, whose kernels `Launcher` queues.
template <class Launcher, class X, class Step>
void reduce(const Call& call, Cuda& ctx, const Step& step, const NDArray& from, const NDArray& to, std::uint64_t mask) {
  const Extents all(from.shape());
  const Global<const X> x = elements_of<X>(from);
  ReduceShape shape;
  const bool aligned = reinterpret_cast<std::uintptr_t>(x.data()) % 16 == 0;
  if (!shape.set(all.extents, all.rank, mask, Pack<X>::size, aligned)) fail_by_axes(call.entry);
  const std::int64_t parts = shape.pieces > 1 ? shape.kept.count * shape.pieces : 0;
  using State = typename Step::State;
  static_assert(alignof(State) <= alignof(double));
  const std::int64_t doubles = (parts * static_cast<std::int64_t>(sizeof(State)) + 7) / 8;
  void* const memory = parts == 0 ? nullptr : ctx.temp<double>(doubles).data();
  run_reduce<X, X>(step, shape, x, results_of<X>(to), {static_cast<State*>(memory), parts}, false,
                   [&](const auto& kernel) { Launcher::blocks(ctx, call.entry, kernel); });
}

/// dx = the slope of each element, of head gradient, element and result.
template <class Launcher, class X, class Slope>
void spread(const Call& call, Cuda& ctx, const Slope& slope, const NDArray& dy, const NDArray* x, const NDArray* y,
            const NDArray& dx, std::uint64_t mask) {
  const Extents all(dx.shape());
  Digits results;
  if (!set_results(results, all.extents, all.rank, mask)) fail_by_axes(call.entry);
  const auto read = [](const NDArray* a) { return a != nullptr ? elements_of<X>(*a) : Global<const X>{}; };
  run_spread(slope, results, elements_of<X>(dy), read(x), read(y), results_of<X>(dx),
             [&](const auto& kernel) { Launcher::blocks(ctx, call.entry, kernel); });
}

/// How many elements go into one result.
inline std::int64_t terms_of(const Shape& shape, std::uint64_t mask) {
  std::int64_t n = 1;
  for (int i = 0; i < shape.ndim(); ++i)
    if ((mask >> i & 1U) != 0) n *= shape[i];
  return n;
}
template <class T>
std::uint64_t mask_of(const T& op, const Shape& shape, const Entry& entry) {
  bool exclude = false;
  if constexpr (requires { op.exclude; }) exclude = op.exclude;
  return detail::axis_mask(shape.ndim(), op.axis, exclude, entry.snake).bits;
}

/// A reduction with one step; `Whole`: of integers too.
template <class T, template <class> class Step, bool Whole>
struct ReductionKernels {
  static constexpr bool stated = true;
  template <class Launcher>
  static void forward(const Call& call, Context& context) {
    const T& op = *static_cast<const T*>(call.params);
    const NDArray& x = call.in(0);
    const std::uint64_t mask = mask_of(op, x.shape(), call.entry);
    with_elements<Whole>(call.entry, x.dtype(), [&](auto element) {
      using X = decltype(element);
      auto& ctx = static_cast<Cuda&>(context);
      if constexpr (requires { Step<X>(std::int64_t{}); })
        reduce<Launcher, X>(call, ctx, Step<X>(terms_of(x.shape(), mask)), x, call.out[0], mask);
      else
        reduce<Launcher, X>(call, ctx, Step<X>(), x, call.out[0], mask);
    });
  }
};
/// With a gradient of (dy, x, y), or of (dy, x) alone.
template <class T, template <class> class Step, bool Whole, template <class> class Slope>
struct DifferentiableReduction : ReductionKernels<T, Step, Whole> {
  template <class Launcher>
  static void gradient(const Call& call, Context& context) {
    const T& op = *static_cast<const T*>(call.params);
    const NDArray& x = call.in(1);
    const std::uint64_t mask = mask_of(op, x.shape(), call.entry);
    with_elements<false>(call.entry, x.dtype(), [&](auto element) {
      using X = decltype(element);
      spread<Launcher, X>(call, static_cast<Cuda&>(context), Slope<ComputeAs<X>>(), call.in(0), &x,
                          call.in_count() > 2 ? &call.in(2) : nullptr, call.out[0], mask);
    });
  }
};

template <class X>
using PlainSum = SumStep<X>;
template <class X>
using NumberSum = SumStep<X, true>;
template <class X>
using PlainProduct = ProductStep<X>;
template <class X>
using NumberProduct = ProductStep<X, true>;
template <class X>
using LargestStep = ExtremeStep<X, true>;
template <class X>
using SmallestStep = ExtremeStep<X, false>;

template <>
struct LibraryKernels<Sum> : ReductionKernels<Sum, PlainSum, true> {
  using Gradient = ReduceGradient;
};
template <>
struct LibraryKernels<Mean> : ReductionKernels<Mean, MeanStep, false> {
  using Gradient = ReduceGradient;
};
template <>
struct LibraryKernels<Prod> : ReductionKernels<Prod, PlainProduct, true> {};
template <>
struct LibraryKernels<Nanprod> : ReductionKernels<Nanprod, NumberProduct, false> {};
template <>
struct LibraryKernels<Nansum> : DifferentiableReduction<Nansum, NumberSum, false, NumberSlope> {};
template <>
struct LibraryKernels<Max> : DifferentiableReduction<Max, LargestStep, true, ExtremeSlope> {};
template <>
struct LibraryKernels<Min> : DifferentiableReduction<Min, SmallestStep, true, ExtremeSlope> {};

/// What the gradients of sum and mean are.
template <>
struct LibraryKernels<ReduceGradient> {
  static constexpr bool stated = true;
  template <class Launcher>
  static void forward(const Call& call, Context& context) {
    const auto& op = *static_cast<const ReduceGradient*>(call.params);
    const NDArray& dx = call.out[0];
    const std::uint64_t mask = mask_of(op, dx.shape(), call.entry);
    with_elements<false>(call.entry, dx.dtype(), [&](auto element) {
      using X = decltype(element);
      using C = ComputeAs<X>;
      const C scale = op.mean ? C(1) / static_cast<C>(terms_of(dx.shape(), mask)) : C(1);
      spread<Launcher, X>(call, static_cast<Cuda&>(context), HeadSlope<C>{scale}, call.in(0), nullptr, nullptr, dx,
                          mask);
    });
  }
};

/// In the wider type of data and result.
template <>
struct LibraryKernels<Norm> {
  static constexpr bool stated = true;
  template <class Launcher>
  static void forward(const Call& call, Context& context) {
    const Norm& op = *static_cast<const Norm*>(call.params);
    const Dtype wide = wider(call.in(0), call.out[0]);
    const NDArray x = of_type(call.in(0), wide);
    const std::uint64_t mask = mask_of(op, x.shape(), call.entry);
    auto& ctx = static_cast<Cuda&>(context);
    into_type(call.out[0], wide, [&](const NDArray& y) {
      with_elements<false>(call.entry, wide, [&](auto element) {
        using X = decltype(element);
        if (op.ord == 1)
          reduce<Launcher, X>(call, ctx, MagnitudeStep<X>(), x, y, mask);
        else
          reduce<Launcher, X>(call, ctx, LengthStep<X>(), x, y, mask);
      });
    });
  }
  template <class Launcher>
  static void gradient(const Call& call, Context& context) {
    const Norm& op = *static_cast<const Norm*>(call.params);
    const Dtype wide = wider(call.in(1), call.in(2));
    const NDArray dy = of_type(call.in(0), wide), x = of_type(call.in(1), wide), y = of_type(call.in(2), wide);
    const std::uint64_t mask = mask_of(op, x.shape(), call.entry);
    auto& ctx = static_cast<Cuda&>(context);
    into_type(call.out[0], wide, [&](const NDArray& dx) {
      with_elements<false>(call.entry, wide, [&](auto element) {
        using X = decltype(element);
        using C = ComputeAs<X>;
        if (op.ord == 1)
          spread<Launcher, X>(call, ctx, MagnitudeSlope<C>(), dy, &x, nullptr, dx, mask);
        else
          spread<Launcher, X>(call, ctx, LengthSlope<C>(), dy, &x, &y, dx, mask);
      });
    });
  }

 private:
  static Dtype wider(const NDArray& data, const NDArray& result) {
    if (data.dtype() == result.dtype()) return data.dtype();
    return data.dtype() == f64 || result.dtype() == f64 ? f64 : f32;
  }
};

template <bool Largest>
struct PositionKernels {
  static constexpr bool stated = true;
  template <class Launcher>
  static void find(const Call& call, Context& context, const Axes& axis) {
    const NDArray& x = call.in(0);
    const std::uint64_t mask = detail::axis_mask(x.ndim(), axis, false, call.entry.snake).bits;
    detail::check_row<Largest>(call.entry.snake, x.dtype(), terms_of(x.shape(), mask));
    with_elements<true>(call.entry, x.dtype(), [&](auto element) {
      using X = decltype(element);
      reduce<Launcher, X>(call, static_cast<Cuda&>(context), PositionStep<X, Largest>(), x, call.out[0], mask);
    });
  }
};
template <bool Largest>
struct LibraryKernels<ArgExtreme<Largest>> : PositionKernels<Largest> {
  template <class Launcher>
  static void forward(const Call& call, Context& context) {
    const auto& op = *static_cast<const ArgExtreme<Largest>*>(call.params);
    PositionKernels<Largest>::template find<Launcher>(call, context, op.axis ? Axes(*op.axis) : Axes());
  }
};
template <>
struct LibraryKernels<ArgmaxChannel> : PositionKernels<true> {
  template <class Launcher>
  static void forward(const Call& call, Context& context) {
    find<Launcher>(call, context, Axes(1));
  }
};

/// The softmaxes compute in the type of data; a result of another type is converted.
template <SoftmaxKind Kind>
struct LibraryKernels<SoftmaxAlong<Kind>> {
  static constexpr bool stated = true, logarithm = Kind == SoftmaxKind::log_softmax;
  using T = SoftmaxAlong<Kind>;
  template <class Launcher>
  static void forward(const Call& call, Context& context) {
    const T& op = *static_cast<const T*>(call.params);
    const NDArray& x = call.in(0);
    const NDArray lengths = call.in_count() > 1 ? of_type(call.in(1), i64) : NDArray();
    into_type(call.out[0], x.dtype(), [&](const NDArray& y) {
      with_elements<false>(call.entry, x.dtype(), [&](auto element) {
        using X = decltype(element);
        const auto rows = rows_of<X>(op, x.shape(), elements_of<X>(x), results_of<X>(y), lengths);
        run_softmax_rows<logarithm>(
            rows, [&](const auto& kernel) { Launcher::blocks(static_cast<Cuda&>(context), call.entry, kernel); });
      });
    });
  }
  /// Of dy, lengths where they were given, and y.
  template <class Launcher>
  static void gradient(const Call& call, Context& context) {
    const T& op = *static_cast<const T*>(call.params);
    const NDArray& y = call.in(call.in_count() - 1);
    const NDArray dy = of_type(call.in(0), y.dtype()),
                  lengths = call.in_count() > 2 ? of_type(call.in(1), i64) : NDArray();
    into_type(call.out[0], y.dtype(), [&](const NDArray& dx) {
      with_elements<false>(call.entry, y.dtype(), [&](auto element) {
        using X = decltype(element);
        const SoftmaxSlopes<logarithm, X, X> slopes{
            rows_of<X>(op, y.shape(), elements_of<X>(y), results_of<X>(dx), lengths), elements_of<X>(dy)};
        run_softmax_slopes(
            slopes, [&](const auto& kernel) { Launcher::blocks(static_cast<Cuda&>(context), call.entry, kernel); });
      });
    });
  }

 private:
  template <class X>
  static SoftmaxRows<X, X> rows_of(const T& op, const Shape& shape, Global<const X> x, Global<X> y,
                                   const NDArray& lengths) {
    const int axis = op.axis < 0 ? op.axis + shape.ndim() : op.axis;
    std::int64_t rows = 1, inner = 1;
    for (int i = 0; i < shape.ndim(); ++i) {
      if (i != axis) rows *= shape[i];
      if (i > axis) inner *= shape[i];
    }
    const double scale = (Kind == SoftmaxKind::softmin ? -1 : 1) / op.temperature.value_or(1);
    return {x,
            y,
            lengths.defined() ? elements_of<std::int64_t>(lengths) : Global<const std::int64_t>{},
            rows,
            shape[axis],
            inner,
            static_cast<ComputeAs<X>>(scale),
            false};
  }
};

#if defined(__CUDACC__)
using Reductions = Enrolled<Sum, Mean, Prod, Nansum, Nanprod, Max, Min, Norm, Argmax, Argmin, ArgmaxChannel, Softmax,
                            LogSoftmax, Softmin>;
#endif

}  // namespace strop::inline v0::cuda

#include <strop/core/pop_macros.def>
