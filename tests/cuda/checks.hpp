// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a GPU must do with arrays and maps, compared with the CPU: run on the shim and on a real device.
#pragma once
#include <unit/sentence.hpp>
#include "operators.hpp"
#include "smooth.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace checks {

using namespace strop;

/// Numbers that are exact in every type, from −3 to 3.
inline NDArray numbers(const Shape& shape, Dtype dtype = f32, int step = 5) {
  std::vector<float> x(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = 0.25F * static_cast<float>(static_cast<int>(i * static_cast<std::size_t>(step) % 25) - 12);
  return array(x, shape).to(dtype);
}
/// Equal to what half the digits of the type hold.
inline void same(const NDArray& on_device, const NDArray& on_cpu) {
  REQUIRE(on_device.device().kind == DeviceKind::gpu);
  REQUIRE(on_device.shape() == on_cpu.shape());
  REQUIRE(on_device.dtype() == on_cpu.dtype());
  const double digits = on_cpu.dtype() == f16 ? 1e-3 : on_cpu.dtype() == bf16 ? 8e-3 : 1e-5;
  const auto got = on_device.to_vector<double>(), want = on_cpu.to_vector<double>();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::abs(got[i] - want[i]) <= digits * (1 + std::abs(want[i]))) continue;
    CAPTURE(i);
    CHECK(got[i] == want[i]);
    break;
  }
}
using testing::sentence;

inline void copies(Device gpu) {
  for (const Dtype dtype : all_dtypes) {
    const NDArray x = numbers({7, 3}, dtype), y = x.to(gpu);
    CHECK(y.device() == gpu);
    CHECK(y.to(gpu).is(y));
    CHECK(y.to(cpu()).to_vector<float>() == x.to_vector<float>());
    CHECK(y.copy().to_vector<float>() == x.to_vector<float>());
    CHECK(y.slice(1, 6).to_vector<float>() == x.slice(1, 6).to_vector<float>());
  }
  CHECK(full({2}, 3, gpu).to_vector<int>() == std::vector<int>{3, 3});
  CHECK(scalar(7).to(gpu).item<int>() == 7);
  CHECK(zeros({0, 4}).to(gpu).to(cpu()).shape() == Shape{0, 4});
  CHECK(fmt::format("{}", array({1, 2}).to(gpu)) == "[1, 2]");
  CHECK(allclose(array({1, 2}).to(gpu), array({1, 2})));
  const NDArray sparse = array({{0, 1}, {2, 0}}).to(csr);
  CHECK(fmt::format("{}", sparse.to(gpu)) == fmt::format("{}", sparse));
  CHECK(fmt::format("{}", sparse.to(gpu).to(cpu())) == fmt::format("{}", sparse));
  const NDArray rows = array({{0, 0}, {2, 5}}).to(row_sparse);
  CHECK(fmt::format("{}", rows.to(gpu).to(cpu())) == fmt::format("{}", rows));
}

inline void forward(Device gpu) {
  for (const Dtype dtype : {f32, f64, f16, bf16})
    for (const std::int64_t n : {0, 1, 3, 8, 4099}) {
      const NDArray x = numbers({n}, dtype), y = numbers({n}, dtype, 7);
      same(quadratic(x.to(gpu), {.a = 1, .b = 2, .c = 3}), quadratic(x, {.a = 1, .b = 2, .c = 3}));
      same(soft_hinge(x.to(gpu), y.to(gpu)), soft_hinge(x, y));
      if (n > 2)  // not at a multiple of 16 bytes
        same(soft_hinge(x.to(gpu).slice(1, n), y.to(gpu).slice(1, n)), soft_hinge(x.slice(1, n), y.slice(1, n)));
    }
  same(quadratic(scalar(2).to(gpu), {.a = 1}), quadratic(scalar(2), {.a = 1}));
  const NDArray x = numbers({40}), y = numbers({40}, f32, 7);
  const auto got = sum_and_product(x.to(gpu), y.to(gpu)), want = sum_and_product(x, y);
  for (std::size_t i = 0; i < 2; ++i) same(got[i], want[i]);
}

inline void broadcasting(Device gpu) {
  const Shape shapes[][2] = {{{3, 1}, {1, 4}},   {{2, 3, 4}, {4}},    {{}, {5}},        {{5, 1, 3, 1}, {4, 1, 2}},
                             {{3, 4}, {1, 1}},   {{0, 3}, {3}},       {{6}, {2, 1, 6}}, {{6, 16}, {16}},
                             {{6, 16}, {6, 1}},  {{3, 1, 8}, {5, 8}},  // by packs of 16 bytes
                             {{2, 5, 24}, {24}}, {{1, 40}, {7, 1}},   {{9, 16}, {}},    {{4, 12}, {12}}};
  for (const auto& [a, b] : shapes) {
    CAPTURE(to_text(a));
    CAPTURE(to_text(b));
    for (const Dtype dtype : {f32, f64, f16}) {
      const NDArray x = numbers(a, dtype), y = numbers(b, dtype, 7);
      same(soft_hinge(x.to(gpu), y.to(gpu)), soft_hinge(x, y));
      const auto got = sum_and_product(x.to(gpu), y.to(gpu)), want = sum_and_product(x, y);
      for (std::size_t i = 0; i < 2; ++i) same(got[i], want[i]);
    }
  }
}

inline void integers(Device gpu) {
  for (const Dtype dtype : {u8, i8, i32, i64, boolean}) {
    const NDArray x = array({0, 1, 3, 17, 100}).to(dtype);
    same(halved(x.to(gpu)), halved(x));
    if (dtype != boolean) same(scaled(x.to(gpu)), scaled(x));  // truncates and saturates on store
  }
  const NDArray some = array({1, 2, 3}).to(i32), more = array({3}).to(i32);
  const NDArray sum = shifted(some.to(gpu), more.to(gpu));
  CHECK(sum.dtype() == f64);
  CHECK(sum.to_vector<double>() == std::vector<double>{2.5, 3.5, 4.5});
  CHECK(shifted(some.to(gpu), more.to(gpu), {.as_double = false}).dtype() == i32);
  const NDArray big = array<std::int64_t>({9007199254740993, -4});
  CHECK(halved(big.to(gpu)).to_vector<std::int64_t>() == std::vector<std::int64_t>{4503599627370496, -2});
  NDArray y = array<std::int64_t>({9007199254740993, 1}).to(gpu);
  halved(array<std::int64_t>({2, 2}).to(gpu), add_to(y));
  CHECK(y.to_vector<std::int64_t>() == std::vector<std::int64_t>{9007199254740994, 2});
}

inline void whole_numbers(Device gpu) {
  for (const Dtype dtype : {f32, f64, f16, bf16, i32, i64, u8})
    for (const Dtype whole : {boolean, u8, i8, i32, i64}) {
      CAPTURE(name_of(dtype));
      CAPTURE(name_of(whole));
      const NDArray x = is_floating(dtype) ? numbers({4, 10}, dtype) : array({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).to(dtype);
      const NDArray mask = array({1, 0, 5, 2, 0, 0, 1, 3, 0, 1}).to(whole);
      same(masked(x.to(gpu), mask.to(gpu)), masked(x, mask));
      const NDArray y = x.copy(), z = x.to(gpu).copy();
      masked(x, mask, add_to(y));
      masked(x.to(gpu), mask.to(gpu), add_to(z));
      same(z, y);
      if (!is_floating(dtype)) continue;
      const NDArray here = x.copy(), there = x.to(gpu).copy();
      for (const NDArray& leaf : {here, there}) {
        leaf.attach_grad();
        record scope;
        masked(leaf, mask.to(leaf.device())).backward();
      }
      same(there.grad(), here.grad());
    }
}

inline void requests(Device gpu) {
  for (const Dtype dtype : {f32, f64, f16}) {
    for (const Shape& shape : {Shape{33}, Shape{3, 11}}) {
      const NDArray x = numbers(shape, dtype), y = numbers({11}, dtype, 7);
      NDArray got = full(shape, 2, dtype, gpu), want = full(shape, 2, dtype);
      quadratic(x.to(gpu), {.a = 1}, add_to(got));
      quadratic(x, {.a = 1}, add_to(want));
      same(got, want);
      if (shape.ndim() == 2) {
        soft_hinge(x.to(gpu), y.to(gpu), add_to(got));
        soft_hinge(x, y, add_to(want));
        same(got, want);
        soft_hinge(x.to(gpu), y.to(gpu), into(got));
        soft_hinge(x, y, into(want));
        same(got, want);
      }
      const NDArray moved = x.to(gpu);
      quadratic(moved, {.b = 2}, into(moved));
      same(moved, quadratic(x, {.b = 2}));
    }
  }
  const NDArray x = numbers({20}), state = numbers({20}, f32, 7), there = state.to(gpu);
  const NDArray got = decay(x.to(gpu), there), want = decay(x, state);
  same(got, want);
  same(there, state);
}

/// dx and dy of a function of two arrays, with the head gradient `head`.
template <class F>
void same_gradients(Device gpu, const F& f, const NDArray& x, const NDArray& y, GradRequest request) {
  std::vector<NDArray> grads;
  for (const Device device : {gpu, cpu()}) {
    const NDArray a = x.to(device).copy(), b = y.to(device).copy();
    a.attach_grad(request);
    b.attach_grad(request);
    for (int pass = 0; pass < 2; ++pass) {
      NDArray z;
      {
        record scope;
        z = f(a, b);
      }
      z.backward(numbers(z.shape(), z.dtype(), 3).to(device));
    }
    grads.push_back(a.grad());
    grads.push_back(b.grad());
  }
  same(grads[0], grads[2]);
  same(grads[1], grads[3]);
}

/// Terms that a parameter of 0 lets drop out of a gradient are not computed, nor is what they would read.
inline void dropped_terms(Device gpu) {
  for (const Dtype dtype : {f32, f64, f16}) {
    const NDArray x = zeros({5}, dtype).to(gpu), y = array({0, 1, -1, 2, 0}).to(dtype).to(gpu);
    x.attach_grad();
    y.attach_grad();
    record scope;
    const auto first = grad(dropped(x, y), {x, y}, {.create_graph = true});
    CHECK(first[0].to_vector<float>() == std::vector<float>{2, 3, 1, 4, 2});
    CHECK(first[1].to_vector<float>() == std::vector<float>(5, 0));
    CHECK(grad(first[0], {y})[0].to_vector<float>() == std::vector<float>(5, 1));
  }
}

inline void gradients(Device gpu) {
  const auto hinge = [](const NDArray& a, const NDArray& b) { return soft_hinge(a, b); };
  const auto linear = [](const NDArray& a, const NDArray& b) { return weighted(a, b); };
  const auto chain = [](const NDArray& a, const NDArray& b) { return quadratic(squash(soft_hinge(a, b)), {.a = 2}); };
  const auto twice = [](const NDArray& a, const NDArray& b) { return soft_hinge(weighted(a, a), weighted(b, a)); };
  const Shape shapes[][2] = {{{33}, {33}},        {{300, 7}, {7}},     {{7, 300}, {7, 1}},
                             {{1}, {5000}},       {{2, 3, 4}, {3, 1}}, {{}, {6}},
                             {{5, 1, 3}, {4, 1}}, {{300, 8}, {8}},     {{8, 16}, {8, 1}}};
  for (const GradRequest request : {GradRequest::write, GradRequest::add})
    for (const Dtype dtype : {f32, f64})
      for (const auto& [a, b] : shapes) {
        CAPTURE(to_text(a));
        CAPTURE(to_text(b));
        const NDArray x = numbers(a, dtype), y = numbers(b, dtype, 7);
        same_gradients(gpu, hinge, x, y, request);
        same_gradients(gpu, linear, x, y, request);
        same_gradients(gpu, chain, x, y, request);
        if (a == b) same_gradients(gpu, twice, x, y, request);
      }
  const auto soft = [](const NDArray& a, const NDArray& b) { return softened(a, b); };
  same_gradients(gpu, soft, numbers({33}), numbers({33}, f32, 7), GradRequest::write);
  same_gradients(gpu, soft, numbers({7, 30}, f64), numbers({30}, f64, 7), GradRequest::write);
  same_gradients(gpu, hinge, numbers({40}, f16), numbers({40}, f16, 7), GradRequest::write);
  same_gradients(gpu, hinge, numbers({1, 3}), zeros({0, 3}), GradRequest::write);
}

inline void views(Device gpu) {
  std::vector<NDArray> grads;
  for (const Device device : {gpu, cpu()}) {
    const NDArray x = numbers({6, 3}).to(device);
    x.attach_grad();
    NDArray y;
    {
      record scope;
      y = soft_hinge(x.slice(1, 4), x[5]).reshape({9});
    }
    y.backward();
    grads.push_back(x.grad());
  }
  same(grads[0], grads[1]);
}

/// The third derivative, and a gradient that crosses from one device to the other.
inline void far(Device gpu) {
  std::vector<NDArray> third;
  for (const Device device : {gpu, cpu()}) {
    const NDArray x = numbers({17}, f64).to(device);
    x.attach_grad();
    record scope;
    NDArray y = soft_hinge(x, quadratic(x, {.a = 0.5f}));
    for (int order = 1; order <= 3; ++order) y = grad(y, {x}, {.create_graph = true})[0];
    third.push_back(y);
  }
  same(third[0], third[1]);

  const NDArray x = numbers({9});
  x.attach_grad();
  NDArray y;
  {
    record scope;
    y = quadratic(x.to(gpu), {.a = 1});
  }
  y.backward();
  CHECK(x.grad().device() == cpu());
  CHECK(allclose(x.grad(), quadratic(x, {.b = 2})));
}

inline void graphs(Device gpu) {
  const NDArray x = numbers({8}), slope = zeros({8});
  const auto net = quadratic(squash(var("data")), {.a = 1, .b = 1});
  auto there = net.bind(gpu, {{"data", x.to(gpu)}}, {{"data", zeros({8}, gpu)}});
  auto here = net.bind(cpu(), {{"data", x}}, {{"data", slope}});
  same(there.forward(true)[0], here.forward(true)[0]);
  there.backward({ones({8}, gpu)});
  here.backward({ones({8})});
  same(there.grad("data"), slope);

  const auto data = var("data");
  const auto fork = soft_hinge(quadratic(data, {.a = 1}), quadratic(data, {.b = 0.5f}));  // two gradients meet
  auto one = fork.bind(gpu, {{"data", x.to(gpu)}}, {{"data", ones({8}, gpu)}}, GradRequest::add);
  auto other = fork.bind(cpu(), {{"data", x}}, {{"data", ones({8})}}, GradRequest::add);
  one.forward(true);
  other.forward(true);
  one.backward({x.to(gpu)});
  other.backward({x});
  same(one.grad("data"), other.grad("data"));

  // a gradient of the common shape may take the memory of the head gradient, which that of the broadcast input reads
  for (const Dtype dtype : {f32, f64})
    for (const std::int64_t width : {8, 7})
      for (const bool broadcast_first : {true, false}) {
        const NDArray few = numbers({width}, dtype), many = numbers({300, width}, dtype, 7);
        const auto a = squash(var("a")), b = squash(var("b"));
        const auto meets = quadratic(broadcast_first ? soft_hinge(a, b) : soft_hinge(b, a), {.a = 1, .b = 1});
        NDArray slopes[2][2];
        for (const Device device : {gpu, cpu()}) {
          const NDArray da = zeros({width}, dtype, device), db = zeros({300, width}, dtype, device);
          auto run = meets.bind(device, {{"a", few.to(device)}, {"b", many.to(device)}}, {{"a", da}, {"b", db}});
          run.forward(true);
          run.backward({many.to(device)});
          slopes[0][device == gpu] = da;
          slopes[1][device == gpu] = db;
        }
        for (const auto& [want, got] : slopes) same(got, want);
      }
}

/// A softmax along rows that is written for both devices.
template <class Softmax>
void tensor_operator(Device gpu, const Softmax& softmax) {
  for (const Dtype dtype : {f32, f64, f16, bf16})  // halves come converted, on the device
    for (const Shape& shape : {Shape{3, 5}, Shape{1, 1}, Shape{70, 3}, Shape{0, 4}}) {
      const NDArray x = numbers(shape, dtype);
      same(softmax(x.to(gpu), {.temperature = 2}), softmax(x, {.temperature = 2}));
      NDArray got = full(shape, 2, dtype, gpu), want = full(shape, 2, dtype);
      softmax(x.to(gpu), add_to(got));
      softmax(x, add_to(want));
      same(got, want);
      softmax(x.to(gpu), into(got));
      same(got, softmax(x));
    }
  const auto chain = [&](const NDArray& a, const NDArray& b) { return softmax(soft_hinge(a, b)); };
  for (const GradRequest request : {GradRequest::write, GradRequest::add})
    for (const Dtype dtype : {f32, f64, f16})
      same_gradients(gpu, chain, numbers({6, 7}, dtype), numbers({7}, dtype, 7), request);

  const NDArray x = numbers({4, 3}), slope = zeros({4, 3});
  const auto net = quadratic(softmax(var("data")), {.a = 1, .b = 1});
  auto there = net.bind(gpu, {{"data", x.to(gpu)}}, {{"data", zeros({4, 3}, gpu)}});
  auto here = net.bind(cpu(), {{"data", x}}, {{"data", slope}});
  same(there.forward(true)[0], here.forward(true)[0]);
  there.backward({x.to(gpu)});
  here.backward({x});
  same(there.grad("data"), slope);
  CHECK(sentence([&] { (void)softmax(zeros({4}, gpu)); }).find("has shape (4,), expected 2 dimensions") !=
        std::string::npos);
}

/// Each refusal is one sentence.
inline void refusals(Device gpu) {
  const std::string name = to_text(gpu);
  const NDArray x = array({1, 2}), y = x.to(gpu);
  CHECK(sentence([&] { (void)soft_hinge(y, x); }) ==
        "soft_hinge: input 'rhs' is on cpu(0), expected " + name + " like input 'lhs'");
  CHECK(sentence([&] {
          NDArray out = zeros({2});
          quadratic(y, {.a = 1}, into(out));
        }) == "quadratic: output 'output' is on cpu(0), the inputs are on " + name);
  CHECK(sentence([&] { (void)sort(y); }) == "sort: has no kernel for " + name + " in this program");
  CHECK(sentence([&] { (void)y.view<float>(); }) ==
        "strop: view() takes an array on the CPU, this one is on " + name + "; use to(strop::cpu())");
  const NDArray sparse = array({{0, 1}, {2, 0}}).to(csr).to(gpu);
  CHECK(sentence([&] { (void)quadratic(sparse, {.a = 1, .c = 1}); }) ==
        "quadratic: (csr) -> (dense) was asked for on " + name +
            ", where operators work on dense arrays; convert with to(strop::dense)");
}

/// Maps on the stored values, and their gradients there: the operator of the sparse tutorial.
inline void sparse_maps(Device gpu) {
  for (const Storage storage : {csr, row_sparse}) {
    const NDArray x = array({{0, 1, 0}, {2, 0, 3}}).to(storage), other = array({{0, 4, 5}, {0, 0, 6}}).to(storage);
    const NDArray y = quadratic(x.to(gpu), {.a = 1, .b = 2});
    CHECK(y.storage() == storage);
    CHECK(y.device() == gpu);
    same(y, quadratic(x, {.a = 1, .b = 2}));
    same(weighted(x.to(gpu), other.to(gpu)), weighted(x, other));  // of two patterns the union
    NDArray gradients[2];
    for (const Device device : {cpu(), gpu}) {
      const NDArray leaf = x.to(device), head = array({{1, 2, 3}, {4, 5, 6}}).to(device);
      leaf.attach_grad();
      {
        record scope;
        quadratic(leaf, {.a = 1, .b = 2}).backward(head);
      }
      CHECK(leaf.grad().storage() == storage);
      gradients[device == gpu ? 1 : 0] = leaf.grad();
    }
    same(gradients[1], gradients[0]);
  }
}

inline void everything(Device gpu) {
  SUBCASE("arrays move there and back") { copies(gpu); }
  SUBCASE("maps") { forward(gpu); }
  SUBCASE("broadcasting") { broadcasting(gpu); }
  SUBCASE("integers") { integers(gpu); }
  SUBCASE("whole numbers beside others") { whole_numbers(gpu); }
  SUBCASE("write, add, in place, states") { requests(gpu); }
  SUBCASE("gradients") { gradients(gpu); }
  SUBCASE("terms that drop out") { dropped_terms(gpu); }
  SUBCASE("gradients of views") { views(gpu); }
  SUBCASE("higher orders, gradients between devices") { far(gpu); }
  SUBCASE("graphs") { graphs(gpu); }
  SUBCASE("sparse maps") { sparse_maps(gpu); }
  SUBCASE("refusals") { refusals(gpu); }
}

}  // namespace checks
