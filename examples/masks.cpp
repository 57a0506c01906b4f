// SPDX-License-Identifier: Apache-2.0
// Masks and labels: a map of whole numbers beside floats, and an operator whose result is as long as the data says. The
// compiler tests both before the program runs.
#include <strop/strop.hpp>

/// Huber's loss of every error, with a slope of its own where the label is to be ignored.
struct LabelledLoss {
  std::int64_t ignore = -1;
  static constexpr std::string_view inputs[] = {"error", "label"};
  constexpr auto forward(auto error, strop::Integer auto label) const {
    const auto size = abs(error);
    return where(label == ignore, 0, where(size < 1, error * error / 2, size - 0.5));
  }
};
inline constexpr strop::Op<LabelledLoss> labelled_loss;

static_assert(strop::check::value(LabelledLoss{}, 3.0, 7) == 2.5);
static_assert(strop::check::gradient(LabelledLoss{}, 0.5, 7) == 0.5);  // of the error: a label has none
static_assert(strop::check::gradient(LabelledLoss{}, 0.5, -1) == 0.0);
static_assert(strop::check::type(LabelledLoss{}, strop::f16, strop::i32) == strop::f16);

/// The elements above a bound, however many there are.
struct Above {
  float bound = 0;
  template <strop::Real E>
  constexpr void forward(strop::Cpu&, strop::View<const E, 1> x, strop::DenseResult<E, 1>& found) const {
    std::int64_t count = 0;
    for (const E e : x) count += e > E(bound) ? 1 : 0;
    const auto y = found.allocate({count});  // once, when it is known; a view to write
    count = 0;
    for (const E e : x)
      if (e > E(bound)) y[count++] = e;
  }
  /// An element's gradient is that of its place in what was found.
  template <strop::Real E>
  constexpr void grad_use_in(strop::Cpu&, strop::View<const E, 1> dy, strop::View<const E, 1> x,
                             strop::View<E, 1> dx) const {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) dx[i] = x[i] > E(bound) ? dy[count++] : E(0);
  }
};
inline constexpr strop::Op<Above> above;

using strop::check::heads, strop::check::tensor;
static_assert(strop::check::value(Above{1}, tensor({1, 2, 0, 3})) == tensor({2, 3}));
static_assert(strop::check::gradient(Above{1}, heads(tensor({5, 6})), tensor({1, 2, 0, 3})) == tensor({0, 5, 0, 6}));
static_assert(strop::check::differentiates(Above{}, tensor({1, -2, 3})));  // as differences of forward say
static_assert(strop::check::shape(Above{}, strop::Shape{4}) == strop::Shape{strop::Shape::unknown_extent});

int main() {
  auto error = strop::array({3, 0.5f, -2, 0.25f});
  auto label = strop::array<std::int32_t>({7, 3, -1, 0});
  error.attach_grad();
  {
    strop::record scope;
    labelled_loss(error, label).backward();
  }
  fmt::print("{}\n{}\n", labelled_loss(error, label), error.grad());
  // expect: [2.5, 0.125, 0, 0.03125]
  // expect: [1, 0.5, 0, 0.25]

  auto mask = strop::array<bool>({true, false, true, true});
  fmt::print("{}\n", strop::map([](auto x, strop::Integer auto m) { return where(m, x, 0); }, error, mask));
  // expect: [3, 0, -2, 0.25]

  {
    strop::record scope;
    auto y = above(error, {.bound = 0.3f});
    fmt::print("{} of shape {}\n", y, strop::to_text(y.shape()));
    strop::sum(y * y).backward();
  }
  fmt::print("{}\n", error.grad());
  // expect: [3, 0.5] of shape (2,)
  // expect: [6, 1, 0, 0]

  auto rows = strop::array({{1, 2}, {3, 4}, {5, 6}});
  fmt::print("{}\n", strop::boolean_mask(rows, strop::array({1, 0, 1})));  // an operator of the library
  // expect: [[1, 2], [5, 6]]

  for (const auto& refused :
       {+[] { (void)above(strop::var("data")); }, +[] { (void)labelled_loss(strop::ones({2}), strop::ones({2})); }})
    try {
      refused();
    } catch (const std::exception& sentence) {
      fmt::print("{}\n", sentence.what());
    }
  // expect: above: the shape of its result follows from the data, which a graph does not know; call it on arrays
  // expect: labelled_loss: input 'label' is float32, expected whole numbers, one of uint8, int8, int32, int64, bool; convert it with cast, a comparison as (x > 0).to(strop::boolean)
}
