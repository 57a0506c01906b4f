// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tensor operators that state forward(strop::Cuda&, …), on a GPU that the CPU plays: every kind of argument finds its
/// way there.
#include "checks.hpp"
#include "shim.hpp"

#include <array>
#include <span>

namespace {

using namespace strop;

/// One call of f for each of n.
template <class F>
struct Each {
  std::int64_t n;
  F f;
  std::int64_t work() const { return n; }
  void operator()(std::int64_t thread, std::int64_t threads) const {
    for (std::int64_t i = thread; i < n; i += threads) f(i);
  }
};
/// Runs f on the device of the context.
template <class F>
void each(Cpu&, std::int64_t n, const F& f) {
  Each<F>{n, f}(0, 1);
}
template <class F>
void each(Cuda& ctx, std::int64_t n, const F& f) {
  shim::launch(ctx, Each<F>{n, f});
}

struct PlayedSoftmax {
  float temperature = 1;
  template <Real E>
  void forward(Cpu&, View<const E, 2> x, View<E, 2> y) const {
    checks::SoftmaxRows<E>{x, y, temperature}(0, 1);
  }
  template <Real E>
  void forward(Cuda& ctx, View<const E, 2> x, View<E, 2> y) const {
    shim::launch(ctx, checks::SoftmaxRows<E>{x, y, temperature});
  }
  template <Real E>
  void grad_use_out(Cpu&, View<const E, 2> dy, View<const E, 2> y, View<E, 2> dx) const {
    checks::SoftmaxSlope<E>{dy, y, dx, temperature}(0, 1);
  }
  template <Real E>
  void grad_use_out(Cuda& ctx, View<const E, 2> dy, View<const E, 2> y, View<E, 2> dx) const {
    shim::launch(ctx, checks::SoftmaxSlope<E>{dy, y, dx, temperature});
  }
};
constexpr Op<PlayedSoftmax> softmax_rows;

/// An input of a fixed type, and temporary space.
struct PickRows {
  static constexpr std::string_view inputs[] = {"table", "rows"};
  void infer_shape(Shapes& shapes) const { shapes.set_out(0, Shape{shapes.in(1)[0], shapes.in(0)[1]}); }
  /// Positions may be of any type, as MXNet's may.
  void infer_type(Types& types) const { types.set_out(0, types.in(0)); }
  template <class Ctx, class E>
  static void pick(Ctx& ctx, View<const E, 2> table, View<const std::int64_t, 1> rows, View<E, 2> y) {
    const View<E, 2> staged = ctx.template temp<E>({y.shape()[0], y.shape()[1]});
    const std::int64_t width = y.shape()[1];
    each(ctx, y.size(),
         [=](std::int64_t i) { staged.data()[i] = table.data()[rows.data()[i / width] * width + i % width]; });
    each(ctx, y.size(), [=](std::int64_t i) { y.data()[i] = staged.data()[i]; });
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E, 2> table, View<const std::int64_t, 1> rows, View<E, 2> y) const {
    pick(ctx, table, rows, y);
  }
  template <Real E>
  void forward(Cuda& ctx, View<const E, 2> table, View<const std::int64_t, 1> rows, View<E, 2> y) const {
    pick(ctx, table, rows, y);
  }
};
constexpr Op<PickRows> pick_rows;

/// Any number of inputs.
struct AddAll {
  template <class Ctx, class E>
  static void add(Ctx& ctx, std::span<const View<const E, 1>> x, View<E, 1> y) {
    each(ctx, y.size(), [=](std::int64_t i) { y.data()[i] = 0; });
    for (const View<const E, 1>& term : x) each(ctx, y.size(), [=](std::int64_t i) { y.data()[i] += term.data()[i]; });
  }
  template <Real E>
  void forward(Cpu& ctx, std::span<const View<const E, 1>> x, View<E, 1> y) const {
    add(ctx, x, y);
  }
  template <Real E>
  void forward(Cuda& ctx, std::span<const View<const E, 1>> x, View<E, 1> y) const {
    add(ctx, x, y);
  }
};
constexpr Op<AddAll> add_all;

/// Writes an input, knows whether it trains, and keeps a state from forward to backward.
struct Follow {
  static constexpr std::string_view inputs[] = {"x", "mean"}, mutates[] = {"mean"};
  template <class Ctx, class E>
  static void follow(Ctx& ctx, View<const E, 1> x, View<E, 1> mean, View<E, 1> y) {
    const bool train = ctx.train;
    each(ctx, y.size(), [=](std::int64_t i) {
      if (train) mean.data()[i] = (mean.data()[i] + x.data()[i]) / 2;
      y.data()[i] = x.data()[i] - mean.data()[i];
    });
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E, 1> x, View<E, 1> mean, View<E, 1> y) const {
    follow(ctx, x, mean, y);
  }
  template <Real E>
  void forward(Cuda& ctx, View<const E, 1> x, View<E, 1> mean, View<E, 1> y) const {
    follow(ctx, x, mean, y);
  }
};
constexpr Op<Follow> follow;

struct Counted {
  struct Calls {
    int forward = 0;
  };
  Calls make_state(auto& ctx, const Shape&) const {
    (void)ctx.device();
    return {};
  }
  template <class Ctx, class E>
  static void multiply(Ctx& ctx, double factor, View<const E, 1> x, View<E, 1> y) {
    each(ctx, y.size(), [=](std::int64_t i) { y.data()[i] = static_cast<E>(factor) * x.data()[i]; });
  }
  template <Real E>
  void forward(Cpu& ctx, Calls& calls, View<const E, 1> x, View<E, 1> y) const {
    multiply(ctx, ++calls.forward, x, y);
  }
  template <Real E>
  void forward(Cuda& ctx, Calls& calls, View<const E, 1> x, View<E, 1> y) const {
    multiply(ctx, ++calls.forward, x, y);
  }
  template <Real E>
  void grad_use_none(Cpu& ctx, Calls& calls, View<const E, 1> dy, View<E, 1> dx) const {
    multiply(ctx, calls.forward + 1, dy, dx);
  }
  template <Real E>
  void grad_use_none(Cuda& ctx, Calls& calls, View<const E, 1> dy, View<E, 1> dx) const {
    multiply(ctx, calls.forward + 1, dy, dx);
  }
};
constexpr Op<Counted> counted;

/// Numbers that are the same on every device.
struct Noise {
  static constexpr Resources resources{.random = true};
  template <class Ctx, class E>
  static void draw(Ctx& ctx, View<E, 1> y) {
    const random::Stream stream = ctx.random();
    each(ctx, y.size(),
         [=](std::int64_t i) { y.data()[i] = static_cast<E>((stream.offset + stream.call) % 97) + E(i); });
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E, 1>, View<E, 1> y) const {
    draw(ctx, y);
  }
  template <Real E>
  void forward(Cuda& ctx, View<const E, 1>, View<E, 1> y) const {
    draw(ctx, y);
  }
};
constexpr Op<Noise> noise;

/// For GPUs alone.
struct Twice {
  template <Real E>
  void forward(Cuda& ctx, View<const E, 1> x, View<E, 1> y) const {
    each(ctx, y.size(), [=](std::int64_t i) { y.data()[i] = 2 * x.data()[i]; });
  }
  template <Real E>
  void grad_use_none(Cuda& ctx, View<const E, 1> dy, View<E, 1> dx) const {
    forward(ctx, dy, dx);
  }
};
constexpr Op<Twice> twice;
static_assert(TensorOp<Twice> && HasGradUseNone<Twice>);

}  // namespace

TEST_CASE("a tensor operator runs where its arrays are") {
  const shim::Device scope;
  const shim::Kernels<PlayedSoftmax> softmax;
  const shim::Kernels<checks::Quadratic> quadratic;
  const shim::Kernels<checks::SoftHinge> soft_hinge;
  checks::tensor_operator(shim::device, softmax_rows);
  CHECK(detail::devices_of(softmax_rows.entry()) == std::vector<std::string_view>{"cpu", "gpu"});
  CHECK(detail::devices_of(*softmax_rows.entry().gradient.entry) == std::vector<std::string_view>{"cpu", "gpu"});

  const NDArray x = zeros({4, 3}, shim::device), y = zeros({4, 3}, shim::device);
  shim::counts = {};
  softmax_rows(x, into(y));
  CHECK(shim::counts.launches == 1);
  CHECK(shim::counts.copies == 0);
  CHECK(shim::counts.waits == 0);
}

TEST_CASE("arguments of every kind on a GPU") {
  const shim::Device scope;
  const Device gpu = shim::device;
  SUBCASE("an input of a fixed type comes converted, temporary space lies on the device") {
    const shim::Kernels<PickRows> kernels;
    const NDArray table = checks::numbers({5, 3});
    for (const Dtype type : {f32, i32, i64, u8}) {
      const NDArray rows = array({4, 0, 4, 2}).to(type);
      checks::same(pick_rows(table.to(gpu), rows.to(gpu)), pick_rows(table, rows));
    }
    CHECK(testing::sentence([&] { (void)pick_rows(table.to(gpu), array({1})); }) ==
          "pick_rows: input 'rows' is on cpu(0), expected gpu(5) like input 'table'");
  }
  SUBCASE("any number of inputs") {
    const shim::Kernels<AddAll> kernels;
    const NDArray a = checks::numbers({9}, f64), b = checks::numbers({9}, f64, 7), c = checks::numbers({9}, f64, 3);
    checks::same(add_all({a.to(gpu), b.to(gpu), c.to(gpu)}), add_all({a, b, c}));
  }
  SUBCASE("an input that is written, the mode of training") {
    const shim::Kernels<Follow> kernels;
    for (const Dtype dtype : {f32, f16}) {
      const NDArray x = checks::numbers({8}, dtype), mean = full({8}, 1, dtype), there = mean.to(gpu);
      checks::same(follow(x.to(gpu), there), follow(x, mean));
      const train_mode scope_of_training;
      checks::same(follow(x.to(gpu), there), follow(x, mean));
      checks::same(there, mean);
    }
  }
  SUBCASE("a state goes from forward to backward, and stays with a node") {
    const shim::Kernels<Counted> kernels;
    const NDArray x = checks::numbers({4}), there = x.to(gpu);
    x.attach_grad();
    there.attach_grad();
    for (const NDArray& a : {x, there}) {
      NDArray y;
      {
        const record scope_of_record;
        y = counted(a);
      }
      y.backward();
    }
    checks::same(there.grad(), x.grad());
    auto run = counted(var("data")).bind(gpu, {{"data", there}});
    for (const double times : {1, 2, 3}) checks::same(run.forward()[0], x * times);
  }
  SUBCASE("random numbers that were announced") {
    const shim::Kernels<Noise> kernels;
    random::seed(7);
    const NDArray x = zeros({6}, gpu), first = noise(x), second = noise(x);
    random::seed(7);
    checks::same(first, noise(x).to(cpu()));
    CHECK(!allclose(first, second));
  }
}

TEST_CASE("an operator for GPUs alone") {
  const shim::Device scope;
  const shim::Kernels<Twice> kernels;
  const NDArray x = checks::numbers({5}), there = x.to(shim::device);
  there.attach_grad();
  NDArray y;
  {
    const record scope_of_record;
    y = twice(there);
  }
  y.backward();
  checks::same(y, x * 2);
  checks::same(there.grad(), full({5}, 2));
  CHECK(detail::devices_of(twice.entry()) == std::vector<std::string_view>{"gpu"});
  CHECK(testing::sentence([&] { (void)twice(x); }) == "twice: has no kernel for the CPU");
}

TEST_CASE("a tensor operator without a kernel for GPUs in the program is refused") {
  const shim::Device scope;
  const shim::Kernels<checks::OnHost> on_host;
  const shim::Kernels<checks::KeptOnHost> kept_on_host;
  CHECK(testing::sentence([] { (void)checks::on_host(zeros({2}, shim::device)); }) ==
        "on_host: has no kernel for gpu(5) in this program");
  CHECK(testing::sentence([] { (void)checks::kept_on_host(zeros({2}, shim::device)); }) ==
        "kept_on_host: has no kernel for gpu(5) in this program");
  CHECK(testing::sentence([] { (void)softmax_rows(zeros({2, 2}, shim::device)); }) ==
        "played_softmax: has no kernel for gpu(5) in this program");
}
