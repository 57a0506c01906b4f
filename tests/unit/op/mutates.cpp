// SPDX-License-Identifier: Apache-2.0
/// \file
/// What operators write and read in place: states in sparse storage, results added to an input, inputs of fixed types.
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace strop;
using testing::sentence;

namespace {

/// Zero where nothing is stored: sparse states stay sparse.
struct Momentum {
  static constexpr std::string_view name = "mutates_momentum", inputs[] = {"weight", "grad", "mom"},
                                    mutates[] = {"mom"};
  constexpr auto forward(auto w, auto g, auto m) const {
    const auto next = m / 2 - g;
    return std::tuple(w + next, next);
  }
};
constexpr Op<Momentum> momentum;
struct Count {
  static constexpr std::string_view name = "mutates_count", inputs[] = {"data", "state"}, mutates[] = {"state"};
  constexpr auto forward(auto x, auto s) const { return std::tuple(x * s, s + 1); }
};
constexpr Op<Count> count;
struct Decay {
  static constexpr std::string_view name = "mutates_decay", inputs[] = {"state"}, mutates[] = {"state"};
  constexpr auto forward(auto s) const { return std::tuple(s * 3, s / 2); }
};
constexpr Op<Decay> decay;

/// In place, but not element by element in their order.
struct Reversed {
  static constexpr std::string_view name = "mutates_reversed";
  static constexpr Share inplace[] = {{0, 0}};
  template <Real E>
  void forward(Cpu&, View<const E, 1> x, View<E, 1> y) const {
    const std::vector<E> from(x.begin(), x.end());
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = from[static_cast<std::size_t>(x.size() - 1 - i)];
  }
};
constexpr Op<Reversed> reversed;
struct Running {
  static constexpr std::string_view name = "mutates_running";
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool accumulates = true;
  template <Real E>
  void forward(Cpu& ctx, View<const E, 1> x, View<E, 1> y) const {
    E total = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      total += x(i);
      y(i) = ctx.request(0) == Request::add ? y(i) + total : total;
    }
  }
};
constexpr Op<Running> running;

struct Singles {
  static constexpr std::string_view name = "mutates_singles";
  void forward(Cpu&, View<const float> x, View<float> y) const { std::copy(x.begin(), x.end(), y.begin()); }
};
constexpr Op<Singles> singles;
struct Picked {
  static constexpr std::string_view name = "mutates_picked", inputs[] = {"data", "indices"};
  void infer_shape(strop::Shapes& s) const { s.set_out(0, s.in(1)); }
  template <Real E>
  void forward(Cpu&, View<const E, 1> x, View<const std::int32_t, 1> at, View<E, 1> y) const {
    for (std::int64_t i = 0; i < y.size(); ++i) y(i) = x(at(i));
  }
};
constexpr Op<Picked> picked;

using Values = std::vector<double>;

}  // namespace

TEST_CASE("a map writes its sparse states along the pattern of the result") {
  const NDArray w = array({{1, 0}, {0, 2}}), g = array({{0, 1}, {0, 3}}), m = array({{0, 0}, {4, 0}}), state = m.copy();
  const NDArray wanted = momentum(w, g, state);
  const Fallback before = set_fallback(Fallback::error);
  for (const Storage storage : {csr, row_sparse}) {
    const NDArray mom = m.copy().to(storage), y = momentum(w.to(storage), g.to(storage), mom);
    CHECK(y.storage() == storage);
    CHECK(mom.storage() == storage);
    mom.check_format();
    CHECK(y.to_vector<double>() == wanted.to_vector<double>());
    CHECK(mom.to_vector<double>() == state.to_vector<double>());
    const NDArray weight = w.to(storage).copy(), again = m.copy().to(storage);
    momentum(weight, g.to(storage), again, into(weight));
    CHECK(weight.to_vector<double>() == wanted.to_vector<double>());
    CHECK(again.to_vector<double>() == state.to_vector<double>());
    const NDArray alone = m.copy().to(storage);
    CHECK(decay(alone).to_vector<double>() == Values{0, 0, 12, 0});
    CHECK(alone.to_vector<double>() == Values{0, 0, 2, 0});
    CHECK(alone.nnz() == 1);
  }
  set_fallback(before);
}

TEST_CASE("a state that does not stay sparse goes by the dense fallback") {
  const Fallback before = set_fallback(Fallback::silent);
  for (const Storage storage : {csr, row_sparse}) {
    const NDArray x = array({{1, 0}, {0, 2}}).to(storage), state = array({{0, 5}, {0, 3}}).to(storage);
    CHECK(count(x, state).to_vector<double>() == Values{0, 0, 0, 6});
    CHECK(state.storage() == storage);
    CHECK(state.to_vector<double>() == Values{1, 6, 1, 4});
  }
  set_fallback(before);
}

TEST_CASE("an operator that computes in place adds to its own input as well") {
  const NDArray x = array({1, 2, 3}), y = array({1, 2, 3});
  reversed(x, add_to(x));
  CHECK(x.to_vector<double>() == Values{4, 4, 4});
  running(y, add_to(y));
  CHECK(y.to_vector<double>() == Values{2, 5, 9});
  reversed(y, into(y));
  CHECK(y.to_vector<double>() == Values{9, 5, 2});
}

TEST_CASE("a view of a fixed type takes that type, and halves where it is floating") {
  CHECK(singles(full({1}, 2, f16)).to_vector<double>() == Values{2});
  CHECK(singles(full({1}, 2, bf16)).to_vector<double>() == Values{2});
  CHECK(sentence([] { (void)singles(full({1}, 1e300, f64)); }) ==
        "mutates_singles: input 'data' is float64, expected float32");
  CHECK(sentence([] { (void)singles(full({1}, 16777217, i32)); }) ==
        "mutates_singles: input 'data' is int32, expected float32");
  const NDArray x = array({5, 6});
  CHECK(picked(x, array<std::int32_t>({1, 0})).to_vector<double>() == Values{6, 5});
  CHECK(picked(x.to(f16), array<std::int32_t>({1, 0})).to_vector<double>() == Values{6, 5});
  CHECK(sentence([&] { (void)picked(x, array<std::int64_t>({1, 0})); }) ==
        "mutates_picked: input 'indices' is int64, expected int32");
  CHECK(sentence([&] { (void)picked(x, array({1.9f, 0})); }) ==
        "mutates_picked: input 'indices' is float32, expected int32");
}
