// SPDX-License-Identifier: Apache-2.0
/// \file
/// Truth tables of the concepts: for each, structs that satisfy it and structs that miss one clause. Compiling is
/// passing.
#include <strop/op/check.hpp>
#include <strop/op/concepts.hpp>
#include <strop/op/diagnose.hpp>
#include <strop/op/tags.hpp>

#include <tuple>

namespace {

using strop::Cpu;
using strop::Real;
using strop::View;

// Maps.
struct One {
  constexpr auto forward(auto x) const { return x; }
};
struct ByReference {
  constexpr auto forward(const auto& x) const { return x; }
};
struct Templated {
  template <class S>
  constexpr S forward(S x) const {
    return x * x;
  }
};
struct Two {
  constexpr auto forward(auto x, auto y) const { return x * y; }
};
struct TwoOfOneType {
  template <class S>
  constexpr S forward(S x, S y) const {
    return x * y;
  }
};
struct TwoReferences {
  template <class S>
  constexpr auto forward(const S& x, const S& y) const {
    return x + y;
  }
};
struct Three {
  constexpr auto forward(auto c, auto x, auto y) const { return where(c != 0, x, y); }
};
struct Six {
  constexpr auto forward(auto a, auto b, auto c, auto d, auto e, auto f) const { return a + b + c + d + e + f; }
};
struct Both {
  constexpr auto forward(auto x) const { return std::make_tuple(x, x * x); }
};
struct BrokenBody {
  constexpr auto forward(auto x) const { return x.nonsense(); }
};  // recognised without its body
// Not maps.
struct Nothing {};
struct NotConst {
  constexpr auto forward(auto x) { return x; }
};
struct NotGeneric {
  constexpr double forward(double x) const { return x; }
};
struct Final final {
  constexpr auto forward(auto x) const { return x; }
};
class Private {
  float a = 0;

 public:
  constexpr auto forward(auto x) const { return x * a; }
};
struct Seven {
  constexpr auto forward(auto a, auto, auto, auto, auto, auto, auto) const { return a; }
};

static_assert(strop::UnaryOp<One> && strop::UnaryOp<ByReference> && strop::UnaryOp<Templated> &&
              strop::UnaryOp<BrokenBody>);
static_assert(!strop::UnaryOp<Two> && !strop::UnaryOp<Nothing> && !strop::UnaryOp<NotConst> &&
              !strop::UnaryOp<NotGeneric>);
static_assert(!strop::UnaryOp<Final> && !strop::UnaryOp<Private>);
static_assert(strop::BinaryOp<TwoOfOneType> && strop::BinaryOp<TwoReferences> && !strop::UnaryOp<TwoOfOneType>);
static_assert(strop::BinaryOp<Two> && !strop::BinaryOp<One> && !strop::BinaryOp<Three>);
static_assert(strop::MapOp<Three, 3> && strop::MapOp<Six, 6> && strop::MapOp<Both, 1, 2> && !strop::MapOp<Both, 1, 1>);
static_assert(!strop::AnyMap<Seven> && strop::arity<Seven> == 0 && strop::arity<Six> == 6);

// Tensor operators.
struct Rows {
  template <Real E>
  void forward(Cpu&, View<const E, 2>, View<E, 2>) const {}
};
struct RowsOnBoth {
  template <Real E>
  void forward(Cpu&, View<const E, 2>, View<E, 2>) const {}
  template <Real E>
  void forward(strop::Cuda&, View<const E, 2>, View<E, 2>) const {}
};
struct BuiltWhereCalled {
  template <int Zero = 0>
  void forward(Cpu&, const strop::NDArray&, strop::NDArray&) const {
    static_assert(Zero != 0, "nobody calls it, and yet it is built");
  }
  template <int = 0>
  constexpr void infer_shape(strop::Shapes&) const {}
};
struct Fixed {
  void forward(Cpu&, View<const float, 1>, View<float, 1>) const {}
};
struct GpuOnly {
  template <Real E>
  void forward(strop::Cuda&, View<const E, 2>, View<E, 2>) const {}
};
struct TensorNotConst {
  template <Real E>
  void forward(Cpu&, View<const E, 2>, View<E, 2>) {}
};
static_assert(strop::TensorOp<BuiltWhereCalled> && strop::InfersShape<BuiltWhereCalled>);
static_assert(strop::TensorOp<Rows> && strop::TensorOp<RowsOnBoth> && strop::TensorOp<Fixed> &&
              strop::TensorOp<GpuOnly>);
static_assert(!strop::TensorOp<One> && !strop::TensorOp<TensorNotConst> && !strop::AnyMap<Rows>);

// Gradients of maps.
struct In {
  constexpr auto forward(auto x) const { return x * x; }
  constexpr auto grad_use_in(auto dy, auto x) const { return dy * 2 * x; }
};
struct In2 {
  constexpr auto forward(auto x, auto y) const { return x * y; }
  constexpr auto grad_use_in(auto dy, auto x, auto y) const { return std::make_tuple(dy * y, dy * x); }
};
struct Out {
  constexpr auto forward(auto x) const { return exp(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * y; }
};
struct None {
  constexpr auto forward(auto x) const { return 2 * x; }
  constexpr auto grad_use_none(auto dy) const { return 2 * dy; }
};
struct InOut {
  constexpr auto forward(auto x) const { return x * x; }
  constexpr auto grad_use_in_out(auto dy, auto x, auto) const { return dy * 2 * x; }
};
struct InWrong {
  constexpr auto forward(auto x) const { return x; }
  constexpr auto grad_use_in(auto dy) const { return dy; }
};
struct OutWrong {
  constexpr auto forward(auto x) const { return x; }
  constexpr auto grad_use_out(auto dy, auto, auto) const { return dy; }
};
static_assert(strop::HasGradUseIn<In> && strop::HasGradUseIn<In2> && !strop::HasGradUseIn<One> &&
              !strop::HasGradUseIn<InWrong> && !strop::HasGradUseIn<Out>);
static_assert(strop::HasGradUseOut<Out> && !strop::HasGradUseOut<OutWrong> && !strop::HasGradUseOut<One>);
static_assert(strop::HasGradUseNone<None> && !strop::HasGradUseNone<In>);
static_assert(strop::HasGradUseInOut<InOut> && !strop::HasGradUseInOut<In>);
static_assert(strop::check::keeps(In{}) == strop::Keeps::in && strop::check::keeps(Out{}) == strop::Keeps::out);
static_assert(strop::check::keeps(None{}) == strop::Keeps::none &&
              strop::check::keeps(InOut{}) == strop::Keeps::in_out);
static_assert(strop::check::gradient(In2{}, 3, 5)[0] == 5 && strop::check::gradient(In2{}, 3, 5)[1] == 3);
static_assert(strop::check::value(Both{}, 3)[1] == 9 && strop::check::gradient(Both{}, 3) == 7);

// Gradients of tensor operators.
struct RowsOut {
  template <Real E>
  void forward(Cpu&, View<const E, 2>, View<E, 2>) const {}
  template <Real E>
  void grad_use_out(Cpu&, View<const E, 2>, View<const E, 2>, View<E, 2>) const {}
};
struct Layer {
  static constexpr std::string_view inputs[] = {"data", "weight"};
  template <Real E>
  void forward(Cpu&, View<const E, 2>, View<const E, 2>, View<E, 2>) const {}
  template <Real E>
  void grad(Cpu&, strop::Head<"output", View<const E, 2>>, strop::In<"weight", View<const E, 2>>,
            strop::Grad<"data", View<E, 2>>) const {}
};
struct Composed {
  constexpr auto forward(auto x) const { return -x; }
  auto gradient(const auto& dy) const { return -dy; }
};
static_assert(strop::HasGradUseOut<RowsOut> && !strop::HasGradUseIn<RowsOut> && strop::HasGrad<Layer> &&
              !strop::HasGrad<RowsOut>);
static_assert(strop::GradComposes<Composed> && !strop::GradComposes<One>);

// What a struct may state besides.
struct Stating {
  int k = 1;
  static constexpr std::string_view inputs[] = {"weight", "mom"}, mutates[] = {"mom"}, aliases[] = {"other"},
                                    doc = "What it does.";
  static constexpr auto dtypes = strop::floating | strop::integral;
  static constexpr strop::Range range[] = {{"k", 1, 9}};
  static constexpr strop::Share inplace[] = {{0, 0}};
  constexpr auto forward(auto w, auto m) const { return std::make_tuple(w, m); }
  void infer_shape(strop::Shapes&) const {}
  void infer_type(strop::Types&) const {}
  bool infer_storage(strop::Storages&) const { return true; }
};
static_assert(strop::NamesArguments<Stating> && strop::MutatesInputs<Stating> && strop::ServesTypes<Stating> &&
              strop::Documents<Stating>);
static_assert(strop::InfersShape<Stating> && strop::InfersType<Stating> && strop::InfersStorage<Stating> &&
              strop::InplaceOption<Stating>);
static_assert(!strop::NamesArguments<One> && !strop::MutatesInputs<One> && !strop::ServesTypes<One> &&
              !strop::Documents<One>);
static_assert(!strop::InfersShape<One> && !strop::InfersType<One> && !strop::InfersStorage<One> &&
              !strop::InplaceOption<One>);
static_assert(Stating::aliases[0] == "other" && Stating::doc == "What it does." && Stating::inplace[0].input == 0);
struct InGradient {
  static constexpr strop::Share gradient_inplace[] = {{0, 0}};
  void forward(strop::Cpu&, strop::View<const float>, strop::View<float>) const {}
  void grad_use_none(strop::Cpu&, strop::View<const float>, strop::View<float>) const {}
};
static_assert(strop::GradientInplaceOption<InGradient> && !strop::InplaceOption<InGradient>);
static_assert(!strop::GradientInplaceOption<Stating> && strop::diagnose<InGradient>());
static_assert(strop::diagnose<One>() && strop::diagnose<Rows>() && strop::diagnose<Layer>() &&
              strop::diagnose<Stating>());

struct Misstating {
  static constexpr int inputs = 1, mutates = 1, inplace = 1, same_shape = 1, zero_gradient = 1;
  static constexpr double dtypes = 1;
  constexpr auto forward(auto x) const { return x; }
  void infer_shape(int) const {}
  int infer_type(strop::Types&) const { return 0; }
  void infer_storage(strop::Storages&) const {}
  int gradient(int dy, int x, int y) const { return dy + x + y; }
};
static_assert(!strop::NamesArguments<Misstating> && !strop::MutatesInputs<Misstating> &&
              !strop::ServesTypes<Misstating> && !strop::Documents<Misstating>);
static_assert(!strop::InfersShape<Misstating> && !strop::InfersType<Misstating> && !strop::InfersStorage<Misstating> &&
              !strop::InplaceOption<Misstating> && !strop::GradComposes<Misstating> && !strop::SameShape<Misstating> &&
              !strop::HasZeroGradient<Misstating>);
struct Helper {
  constexpr auto forward(auto x) const { return x; }
  std::string_view name() const { return "a helper of the program's own"; }
};
static_assert(strop::diagnose<Helper>() && !strop::Documents<Helper>);
struct Floor {
  static constexpr bool zero_gradient = true, same_shape = true;
  constexpr auto forward(auto x, auto) const { return floor(x); }
};
struct NotZero {
  static constexpr bool zero_gradient = false, same_shape = false;
  constexpr auto forward(auto x) const { return x; }
};
static_assert(strop::HasZeroGradient<Floor> && strop::SameShape<Floor> && strop::diagnose<Floor>());
static_assert(!strop::HasZeroGradient<NotZero> && !strop::SameShape<NotZero> && strop::diagnose<NotZero>());

// Gradients written with operators, of one template argument or generic in each.
struct OneNode {
  constexpr auto forward(auto x, auto y) const { return x * y; }
  template <class Node>
  auto gradient(const Node& dy, const Node& x, const Node& y) const {
    return std::make_tuple(dy * y, dy * x);
  }
};
struct ByValue {
  constexpr auto forward(auto x, auto y) const { return x * y; }
  auto gradient(auto dy, const auto& x, auto y) const { return std::make_tuple(dy * y, dy * x); }
};
struct OneTooFew {
  constexpr auto forward(auto x, auto y) const { return x * y; }
  auto gradient(const auto& dy, const auto& x) const { return dy * x; }
};
struct OneNodeByValue {
  constexpr auto forward(auto x, auto y) const { return x * y; }
  template <class Node>
  auto gradient(Node dy, Node x, Node y) const {
    return std::make_tuple(dy * y, dy * x);
  }
};
struct AnyNodes {
  constexpr auto forward(auto x, auto) const { return x; }
  auto gradient(const auto& dy, const auto&...) const { return std::make_tuple(dy, dy); }
};
struct Overloads {
  constexpr auto forward(auto x) const { return x; }
  strop::NDArray gradient(const strop::NDArray& dy, const strop::NDArray&) const { return dy; }
  int gradient(int dy, int) const { return dy; }
};
struct SevenInputs {
  using In = View<const float, 1>;
  void forward(Cpu&, In, In, In, In, In, In, In, View<float, 1>) const {}
  auto gradient(const auto& dy, const auto&, const auto&, const auto&, const auto&, const auto&, const auto&,
                const auto&) const {
    return dy;
  }
};
static_assert(strop::GradComposes<OneNodeByValue> && strop::GradComposes<AnyNodes> && strop::GradComposes<Overloads> &&
              strop::diagnose<SevenInputs>());
static_assert(strop::GradComposes<OneNode> && strop::GradComposes<ByValue> && !strop::GradComposes<OneTooFew>);

// Sparse operators.
struct Forms {
  static constexpr std::string_view inputs[] = {"x"};
  static constexpr int sparse_tensors = 2;
  bool infer_storage(strop::Storages& s) const { return s.set_out(0, strop::csr); }
  template <Real E>
  void forward_sparse(Cpu&, strop::CsrView<const E>, strop::CsrResult<E>) const {}
};
struct OnViews {
  template <Real E>
  void forward(Cpu&, strop::RowSparseView<const E>, View<E, 2>) const {}
};
struct Uncounted {
  template <Real E>
  void forward_sparse(Cpu&, strop::CsrView<const E>, strop::CsrResult<E>) const {}
};
static_assert(strop::SparseOp<Forms> && strop::SparseOp<OnViews> && !strop::SparseOp<Uncounted> &&
              !strop::SparseOp<Rows> && !strop::SparseOp<One>);
static_assert(strop::Operator<One> && strop::Operator<Rows> && strop::Operator<Forms> && !strop::Operator<Uncounted> &&
              !strop::Operator<Nothing> && !strop::Operator<int>);
static_assert(strop::diagnose<Forms>() && strop::diagnose<OneNode>());

// A state and resources, of a constant and from the shapes.
struct Stateful {
  struct Kept {};
  static constexpr strop::Resources resources{.random = true, .temp_bytes = 64};
  Kept make_state(strop::Cpu&, const strop::Shape&) const { return {}; }
  void forward(strop::Cpu&, Kept&, strop::View<const float>, strop::View<float>) const {}
};
struct FromShapes {
  strop::Resources resources(std::span<const strop::Shape>) const { return {}; }
  void make_state(strop::Cpu&) {}
  void forward(strop::Cpu&, strop::View<const float>, strop::View<float>) const {}
};
static_assert(strop::HasState<Stateful> && strop::RequestsResource<Stateful> && strop::TensorOp<Stateful>);
static_assert(!strop::HasState<FromShapes> && strop::RequestsResource<FromShapes>);
static_assert(!strop::HasState<One> && !strop::RequestsResource<One> && strop::diagnose<Stateful>());

// Storages and what is kept, derived.
struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
struct Plus {
  constexpr auto forward(auto x, auto y) const { return x + y; }
};
struct Clip {
  float low = 0, high = 1;
  constexpr auto forward(auto x) const { return min(max(x, low), high); }
};
static_assert(strop::check::storage(Quadratic{1, 2, 0}, strop::csr) == strop::csr);
static_assert(strop::check::storage(Quadratic{1, 2, 3}, strop::csr) == strop::dense);
static_assert(strop::check::storage(Quadratic{1, 2, 0}, strop::row_sparse) == strop::row_sparse);
static_assert(strop::check::storage(Two{}, strop::csr, strop::dense) == strop::csr &&
              strop::check::storage(Two{}, strop::dense, strop::csr) == strop::csr);
static_assert(strop::check::storage(Plus{}, strop::csr, strop::dense) == strop::dense &&
              strop::check::storage(Plus{}, strop::csr, strop::csr) == strop::csr);
static_assert(strop::check::storage(Plus{}, strop::csr, strop::row_sparse) == strop::dense);
static_assert(strop::check::storage(Clip{-1, 1}, strop::csr) == strop::csr &&
              strop::check::storage(Clip{1, 2}, strop::csr) == strop::dense);
static_assert(strop::check::keeps(Quadratic{0, 2, 3}) == strop::Keeps::none &&
              strop::check::keeps(Quadratic{1, 2, 3}) == strop::Keeps::in);
static_assert(strop::check::keeps(Plus{}) == strop::Keeps::none && strop::check::keeps(Two{}) == strop::Keeps::in);

}  // namespace
