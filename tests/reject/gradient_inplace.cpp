// SPDX-License-Identifier: Apache-2.0
// reject: strop: gradient_inplace is static constexpr strop::Share gradient_inplace[] = {{argument, gradient}, ...}
// reject: strop: gradient_inplace gives pairs {argument, gradient} of positions, from 0: among the tensors that the
// reject: NoSuchArgument
// reject: NoSuchGradient
// reject: strop: gradient_inplace names tensors that every call has: none beside a std::span or output_count, and no
// reject: OfLists
// reject: BehindAnOption
// reject: strop: gradient_inplace is of a tensor operator's stated gradient, and there is none: a map's may always run
// reject: strop: an operator's member is called gradient_inplace, not grad_inplace
#include <strop/op/diagnose.hpp>

#include <span>
using strop::Cpu;
using strop::View;

struct NoPairs {
  void forward(Cpu&, View<const float> x, View<float> y) const;
  void grad_use_none(Cpu&, View<const float> dy, View<float> dx) const;
#if defined(CONTROL)
  static constexpr strop::Share gradient_inplace[] = {{0, 0}};
#else
  static constexpr bool gradient_inplace = true;
#endif
};
static_assert(strop::diagnose<NoPairs>());

struct NoSuchArgument {
  void forward(Cpu&, View<const float> x, View<float> y) const;
  void grad_use_out(Cpu&, View<const float> dy, View<const float> y, View<float> dx) const;
#if defined(CONTROL)
  static constexpr strop::Share gradient_inplace[] = {{0, 0}, {1, 0}};
#else
  static constexpr strop::Share gradient_inplace[] = {{2, 0}};
#endif
};
static_assert(strop::diagnose<NoSuchArgument>());

struct NoSuchGradient {
  static constexpr std::string_view inputs[] = {"data", "weight"};
  void forward(Cpu&, View<const float> x, View<const float> w, View<float> y) const;
  void grad(Cpu&, strop::Grad<"data", View<float>> dx, strop::Head<"output", View<const float>> dy,
            strop::In<"weight", View<const float>> w) const;
#if defined(CONTROL)
  static constexpr strop::Share gradient_inplace[] = {{0, 0}, {1, 0}};
#else
  static constexpr strop::Share gradient_inplace[] = {{0, 1}};
#endif
};
static_assert(strop::diagnose<NoSuchGradient>());

struct OfLists {
  void forward(Cpu&, std::span<const View<const float>> x, View<float> y) const;
  void grad_use_none(Cpu&, View<const float> dy, std::span<const View<float>> dx) const;
#if !defined(CONTROL)
  static constexpr strop::Share gradient_inplace[] = {{0, 0}};
#endif
};
static_assert(strop::diagnose<OfLists>());

struct BehindAnOption {
  bool weighted = false;
  static constexpr std::string_view inputs[] = {"data", "weight"};
  constexpr int input_count() const { return weighted ? 2 : 1; }
  void forward(Cpu&, View<const float> x, View<const float> w, View<float> y) const;
  void grad(Cpu&, strop::Head<"output", View<const float>> dy, strop::In<"weight", View<const float>> w,
            strop::Out<"output", View<const float>> y, strop::Grad<"data", View<float>> dx) const;
#if defined(CONTROL)
  static constexpr strop::Share gradient_inplace[] = {{0, 0}};
#else
  static constexpr strop::Share gradient_inplace[] = {{0, 0}, {2, 0}};
#endif
};
static_assert(strop::diagnose<BehindAnOption>());

struct OfMap {
  constexpr auto forward(auto x) const { return 2 * x; }
#if !defined(CONTROL)
  static constexpr strop::Share gradient_inplace[] = {{0, 0}};
#endif
};
static_assert(strop::diagnose<OfMap>());

struct Misspelt {
  void forward(Cpu&, View<const float> x, View<float> y) const;
  void grad_use_none(Cpu&, View<const float> dy, View<float> dx) const;
#if defined(CONTROL)
  static constexpr strop::Share gradient_inplace[] = {{0, 0}};
#else
  static constexpr strop::Share grad_inplace[] = {{0, 0}};
#endif
};
static_assert(strop::diagnose<Misspelt>());
