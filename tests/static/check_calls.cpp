// SPDX-License-Identifier: Apache-2.0
/// \file
/// check::shape, type, storage and keeps of maps and of tensor operators, whose inference is stated or read from the
/// signatures, in constant evaluation. Compiling is passing.
#include <strop/op.hpp>

#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

using strop::bf16, strop::f16, strop::f32, strop::f64, strop::i64, strop::u8;
using strop::Cpu, strop::csr, strop::dense, strop::Dtype, strop::Keeps, strop::Real, strop::row_sparse, strop::Shape,
    strop::Storage, strop::View;
namespace check = strop::check;

// --- maps ------------------------------------------------------------------------------------------------------------

struct Square {
  constexpr auto forward(auto x) const { return x * x; }
};
struct Add {
  constexpr auto forward(auto x, auto y) const { return x + y; }
};
struct AddSame {
  static constexpr bool same_shape = true;
  constexpr auto forward(auto x, auto y) const { return x + y; }
};
struct Pair {
  constexpr auto forward(auto x, auto y) const { return std::tuple(x + y, x - y); }
};
struct Count {
  static constexpr strop::DtypeSet dtypes = strop::floating | strop::integral;
  static constexpr std::string_view inputs[] = {"data", "seen"}, mutates[] = {"seen"};
  constexpr auto forward(auto x, auto n) const { return std::tuple(x, n + 1); }
};
struct Row {  // takes rows of three only
  constexpr auto forward(auto x) const { return 2 * x; }
  constexpr void infer_shape(strop::Shapes& s) const { s.set_out(0, Shape{Shape::unknown_extent, 3}); }
};

static_assert(check::shape(Square{}, Shape{2, 3}) == Shape{2, 3});
static_assert(check::shape(Square{}, Shape{}) == Shape{});
static_assert(check::shape(Add{}, Shape{2, 3}, Shape{3}) == Shape{2, 3});
static_assert(check::shape(Add{}, Shape{3}, Shape{2, 1}) == Shape{2, 3});
static_assert(check::shape(Add{}, Shape{4, 1, 3}, Shape{1, 5, 1}) == Shape{4, 5, 3});
static_assert(check::shape(Add{}, Shape{0, 3}, Shape{1, 3}) == Shape{0, 3});
#if defined(__clang__)  // g++ 12 loses count of what a constant evaluation allocates, which more than 6 dimensions do
static_assert(check::shape(Add{}, Shape{1, 1, 1, 1, 1, 1, 1, 2}, Shape{3, 1}) == Shape{1, 1, 1, 1, 1, 1, 3, 2});
#endif
static_assert(check::shape(AddSame{}, Shape{2, 3}, Shape{2, 3}) == Shape{2, 3});
static_assert(check::shape(Pair{}, Shape{2, 1}, Shape{3})[1] == Shape{2, 3});
static_assert(check::shape(Count{}, Shape{2}, Shape{2}) == Shape{2});
static_assert(check::shape(Row{}, Shape{2, 3}) == Shape{2, 3});

static_assert(check::type(Square{}, f32) == f32 && check::type(Square{}, bf16) == bf16);
static_assert(check::type(Pair{}, f64, f64) == std::vector{f64, f64});
static_assert(check::type(Count{}, i64, i64) == i64);

// --- tensor operators: from their signatures -------------------------------------------------------------------------

/// The first input's shape and the type E, where nothing is stated.
struct Probabilities {
  template <Real E>
  void forward(Cpu&, View<const E, 2>, View<E, 2>) const;
  template <Real E>
  void grad_use_out(Cpu&, View<const E, 2>, View<const E, 2>, View<E, 2>) const;
};
static_assert(check::shape(Probabilities{}, Shape{4, 7}) == Shape{4, 7});
static_assert(check::type(Probabilities{}, f64) == f64);
static_assert(check::type(Probabilities{}, f16) == f16);  // comes as a converted copy
static_assert(check::storage(Probabilities{}, dense) == dense);
static_assert(check::storage(Probabilities{}, csr) == dense);
static_assert(check::keeps(Probabilities{}) == Keeps::out);

/// A type that is fixed; another storage in and out.
struct RowSums {
  void forward(Cpu&, strop::CsrView<const float>, View<float, 1>) const;
  constexpr void infer_shape(strop::Shapes& s) const {
    s.expect_rank(0, 2);
    s.set_out(0, Shape{s.in(0)[0]});
  }
};
static_assert(check::shape(RowSums{}, Shape{4, 7}) == Shape{4});
static_assert(check::type(RowSums{}, f32) == f32);
static_assert(check::storage(RowSums{}, csr) == dense);
static_assert(check::keeps(RowSums{}) == Keeps::none);

struct Scaled {
  constexpr void infer_shape(strop::Shapes& s) const {
    if (s.in(0).known()) s.set_in(1, Shape{s.in(0)[1]});
    s.set_out(0, s.in(0));
  }
  template <Real E>
  void forward(Cpu&, strop::CsrView<const E>, View<const E, 1>, strop::CsrResult<E>&) const;
  template <Real E>
  void grad_use_in(Cpu&, View<const E, 2>, View<const E, 2>, View<const E, 1>, View<E, 2>, View<E, 1>) const;
};
static_assert(check::shape(Scaled{}, Shape{4, 7}, Shape{7}) == Shape{4, 7});
static_assert(check::storage(Scaled{}, csr, dense) == csr);
static_assert(check::keeps(Scaled{}) == Keeps::in);

// --- tensor operators: stated ----------------------------------------------------------------------------------------

/// dot's rules, and more than one kind of each.
struct Product {
  bool transpose = false;
  static constexpr std::string_view inputs[] = {"lhs", "rhs"}, outputs[] = {"output", "count"};
  template <Real E>
  void forward(Cpu&, View<const E, 2>, View<const E, 2>, View<E, 2>, View<std::int64_t, 1>) const;
  constexpr void infer_shape(strop::Shapes& s) const {
    if (!s.in(0).known() || !s.in(1).known()) return;
    const std::int64_t inner = s.in(0)[transpose ? 0 : 1];
    if (inner != s.in(1)[0]) s.fail("the inner extents are ", inner, " and ", s.in(1)[0]);
    s.set_out(0, Shape{s.in(0)[transpose ? 1 : 0], s.in(1)[1]});
    s.set_out(1, Shape{1});
  }
  constexpr bool infer_storage(strop::Storages& s) const {
    s.set_out(1, dense);
    return s.in(0) == csr && s.in(1) == dense && s.set_out(0, transpose ? row_sparse : dense);
  }
  template <Real E>
  void grad(Cpu&, strop::Head<"output", View<const E, 2>>, strop::In<"rhs", View<const E, 2>>,
            strop::Out<"count", View<const std::int64_t, 1>>, strop::Grad<"lhs", View<E, 2>>) const;
};
static_assert(check::shape(Product{}, Shape{4, 7}, Shape{7, 2})[0] == Shape{4, 2});
static_assert(check::shape(Product{}, Shape{4, 7}, Shape{7, 2})[1] == Shape{1});
static_assert(check::shape(Product{true}, Shape{7, 4}, Shape{7, 2})[0] == Shape{4, 2});
static_assert(check::type(Product{}, f32, f32) == std::vector{f32, i64});
static_assert(check::storage(Product{}, csr, dense)[0] == dense);
static_assert(check::storage(Product{true}, csr, dense) == std::vector{row_sparse, dense});
static_assert(check::storage(Product{true}, csr, csr)[0] == dense);
static_assert(check::keeps(Product{}) == Keeps::in_out);

/// Any number of inputs, and of outputs as a parameter says.
struct Split {
  std::int64_t parts = 2;
  int output_count() const { return static_cast<int>(parts); }
  template <Real E>
  void forward(Cpu&, View<const E> x, std::span<const View<E>> out) const;
};
struct SplitEarly {
  int parts = 2;
  constexpr int output_count() const { return parts; }
  template <Real E>
  void forward(Cpu&, View<const E> x, std::span<const View<E>> out) const;
  constexpr void infer_shape(strop::Shapes& s) const {
    for (int k = 0; k < s.outputs(); ++k) s.set_out(k, Shape{s.in(0)[0] / parts});
  }
};
static_assert(check::shape(SplitEarly{3}, Shape{12}).size() == 3);
static_assert(check::shape(SplitEarly{3}, Shape{12})[2] == Shape{4});
static_assert(check::type(SplitEarly{3}, f64)[1] == f64);
struct Stack {
  template <Real E>
  void forward(Cpu&, std::span<const View<const E>>, View<E>) const;
  constexpr void infer_shape(strop::Shapes& s) const {
    Shape out = s.in(0);
    out.insert(0, s.inputs());
    s.set_out(0, out);
  }
  constexpr void infer_type(strop::Types& t) const {
    for (int i = 1; i < t.inputs(); ++i) t.set_in(i, t.in(0));
    t.set_out(0, t.in(0));
  }
};
static_assert(check::shape(Stack{}, Shape{4}, Shape{4}, Shape{4}) == Shape{3, 4});
static_assert(check::type(Stack{}, f32, f32) == f32);
static_assert(check::storage(Stack{}, csr, csr) == dense);

/// Written with operators: it says what it looks at.
struct Shift {
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <Real E>
  void forward(Cpu&, View<const E>, View<E>) const;
  auto gradient(const auto& dy, const auto&) const { return dy; }
};
struct Compose {
  template <Real E>
  void forward(Cpu&, View<const E>, View<E>) const;
  auto gradient(const auto& dy, const auto& x) const { return dy * x; }
};
static_assert(check::keeps(Shift{}) == Keeps::none && check::keeps(Compose{}) == Keeps::in);

// What inference does not state as constexpr is asked at run time.
static_assert(requires(const Split& op) { check::shape(op, Shape{2}); });

}  // namespace
