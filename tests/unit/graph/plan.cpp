// SPDX-License-Identifier: Apache-2.0
/// \file
/// Plans of memory: the planner on random tasks, plans of graphs, what an executor does with them.
#include <strop/autograd/backward.hpp>
#include <strop/graph/mirror.hpp>
#include <strop/graph/placement.hpp>
#include <strop/ops/cast.hpp>

#include "operators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace graph_tests;
using strop::detail::MemoryTask, strop::detail::Placement, strop::detail::Takeover;

namespace {

/// Steps that read some of the last values and write one or two, some of them outside.
MemoryTask random_task(std::mt19937& random, int steps, int reach) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  MemoryTask task;
  for (int s = 0; s < steps; ++s) {
    MemoryTask::Step step;
    const auto values = static_cast<int>(task.bytes.size());
    for (int i = 0; i < 3 && values > 0; ++i) step.reads.push_back(values - 1 - below(std::min(values, reach)));
    for (int k = 0; k <= below(2); ++k) {
      step.writes.push_back(static_cast<int>(task.bytes.size()));
      task.bytes.push_back(below(8) == 0 ? MemoryTask::outside : below(5) * 64 + below(3) * 1000);
    }
    for (int in : step.reads)
      for (int out : step.writes)
        if (below(2) == 0) step.shares.push_back({in, out});
    task.steps.push_back(std::move(step));
  }
  for (int v = 0; v < static_cast<int>(task.bytes.size()); ++v)
    if (below(10) == 0) task.kept.push_back(v);
  return task;
}

/// What a placement has to keep to, each with each.
void check_placement(const MemoryTask& task, const Placement& placed) {
  const auto values = static_cast<int>(task.bytes.size()), steps = static_cast<int>(task.steps.size());
  std::vector<int> first(static_cast<std::size_t>(values), -1), last = first;
  const auto at = [](std::vector<int>& list, int i) -> int& { return list[static_cast<std::size_t>(i)]; };
  for (int s = 0; s < steps; ++s) {
    for (int v : task.steps[s].writes) at(first, v) = at(last, v) = s;
    for (int v : task.steps[s].reads) at(last, v) = s;
  }
  for (int v : task.kept) at(last, v) = steps;
  std::int64_t unshared = 0;
  std::vector<std::int64_t> alive(static_cast<std::size_t>(steps) + 1);
  bool sound = true;
  for (int v = 0; v < values; ++v) {
    const int block = placed.block[v];
    if (task.bytes[v] <= 0) {
      sound = sound && block == -1;
      continue;
    }
    unshared += (task.bytes[v] + 63) / 64 * 64;
    const Placement::Block& lies = placed.blocks[block];
    sound = sound && lies.bytes >= task.bytes[v] && lies.offset % 64 == 0 && lies.offset + lies.bytes <= placed.bytes;
    sound = sound && lies.first <= at(first, v) && lies.last >= at(last, v);
    if (const int in = placed.in_place_of[v]; in >= 0) {
      bool allowed = false;
      for (const MemoryTask::Share& share : task.steps[at(first, v)].shares)
        allowed = allowed || (share.in == in && share.out == v);
      sound = sound && allowed && placed.block[in] == block && at(last, in) == at(first, v);
    }
    for (int w = 0; w < v; ++w) {
      if (task.bytes[w] <= 0) continue;
      const Placement::Block& other = placed.blocks[placed.block[w]];
      const bool apart = lies.offset >= other.offset + other.bytes || other.offset >= lies.offset + lies.bytes;
      const bool handed_over = placed.in_place_of[v] == w && at(last, w) == at(first, v);
      const bool at_once = at(first, v) <= at(last, w) && at(first, w) <= at(last, v) && !handed_over;
      sound = sound && (apart || !at_once);
    }
  }
  for (const Placement::Block& block : placed.blocks)
    for (int s = block.first; s <= block.last; ++s) alive[static_cast<std::size_t>(s)] += block.bytes;
  CHECK(sound);
  CHECK(placed.unshared == unshared);
  CHECK(placed.bound == *std::max_element(alive.begin(), alive.end()));
  CHECK(placed.bound <= placed.bytes);
  CHECK(placed.bytes <= placed.unshared);
}

/// Runs forward and backward in a random order, and looks whether whoever takes over bytes follows their last owner.
void check_takeovers(std::mt19937& random, const Placement& placed, int forward) {
  const strop::detail::List<Takeover> all = takeovers(placed, forward);
  std::vector<int> owner(static_cast<std::size_t>(placed.bytes / 64), -1);
  bool sound = true, ran = false;
  for (int pass = 0; pass < 8; ++pass) {
    const bool ahead = !ran || random() % 2 == 0;
    ran = true;
    for (int b = 0; b < static_cast<int>(placed.blocks.size()); ++b) {
      const Placement::Block& block = placed.blocks[b];
      if ((block.first < forward) != ahead) continue;
      for (std::int64_t at = block.offset / 64; at < (block.offset + block.bytes) / 64; ++at) {
        int& before = owner[static_cast<std::size_t>(at)];
        bool follows = before < 0 || before == b;
        for (const Takeover& one : all)
          follows = follows || (one.later == b && one.earlier == before && one.step == block.first);
        sound = sound && follows;
        before = b;
      }
    }
  }
  CHECK(sound);
}

bool overwrites_one_by_one(const MemoryTask& task, const Placement& placed, int forward) {
  for (int v = 0; v < static_cast<int>(task.bytes.size()); ++v) {
    if (placed.block[v] < 0 || placed.first[v] >= forward || placed.last[v] < forward) continue;
    const Placement::Block& kept = placed.blocks[placed.block[v]];
    for (int w = 0; w < static_cast<int>(task.bytes.size()); ++w) {
      if (placed.block[w] < 0 || placed.first[w] < forward) continue;
      const Placement::Block& other = placed.blocks[placed.block[w]];
      if (kept.offset < other.offset + other.bytes && other.offset < kept.offset + kept.bytes) return true;
    }
  }
  return false;
}

/// sin(k·x), whose gradient reads x
struct PlanWave {
  float k = 1;
  constexpr auto forward(auto x) const { return sin(k * x); }
};
constexpr Op<PlanWave> wave;
/// x + a number that is drawn
struct PlanNoise {
  static constexpr Resources resources{.random = true};
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    float u[1];
    ctx.random().fill_uniform(u, 1);
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + u[0];
  }
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i];
  }
};
constexpr Op<PlanNoise> noise;

/// x·w, whose gradient adds where it is asked to
struct PlanScale {
  static constexpr bool gradient_accumulates = true;
  void infer_shape(Shapes& s) const {
    s.set_in(1, s.in(0));
    s.set_in(0, s.in(1));
    s.set_out(0, s.in(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E, 1> x, View<const E, 1> w, View<E, 1> y) const {
    for (std::int64_t i = 0; i < y.size(); ++i) y[i] = x[i] * w[i];
  }
  template <Real E>
  void grad_use_in(Cpu& ctx, View<const E, 1> dy, View<const E, 1> x, View<const E, 1> w, View<E, 1> dx,
                   View<E, 1> dw) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) {
      const E a = dy[i] * w[i], b = dy[i] * x[i];
      dx[i] = ctx.request(0) == Request::add ? dx[i] + a : a;
      dw[i] = ctx.request(1) == Request::add ? dw[i] + b : b;
    }
  }
};
constexpr Op<PlanScale> scaled;

template <class N, class F>
N repeated(N x, int times, F f) {
  for (int i = 0; i < times; ++i) x = f(x);
  return x;
}

}  // namespace

TEST_CASE("random tasks: nothing overlaps, the bound holds, who takes over bytes is known") {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const int steps = 1 + i % 60;
    const MemoryTask task = random_task(random, steps, 2 + i % 17);
    const Placement placed = place_values(task);
    check_placement(task, placed);
    const int forward = static_cast<int>(random() % static_cast<unsigned>(steps + 1));
    check_takeovers(random, placed, forward);
    CHECK(overwrites_inputs(placed, forward) == overwrites_one_by_one(task, placed, forward));
    CHECK(place_values(task).bytes == placed.bytes);
    MemoryTask side_by_side = task;
    side_by_side.apart = true;
    const Placement apart = place_values(side_by_side);
    check_placement(side_by_side, apart);
    CHECK(takeovers(apart, forward).empty());                      // nobody waits for anybody's bytes,
    for (int v = 0; v < static_cast<int>(task.bytes.size()); ++v)  // and in place computes who reads the value alone
      if (const int in = apart.in_place_of[v]; in >= 0) {
        int readers = 0;
        for (const MemoryTask::Step& step : task.steps)
          readers += std::count(step.reads.begin(), step.reads.end(), in) > 0 ? 1 : 0;
        CHECK(readers == 1);
      }
  }
  CHECK(place_values(MemoryTask()).bytes == 0);
}

TEST_CASE("large tasks are planned by the strategies that are linear") {
  std::mt19937 random(8);
  const MemoryTask task = random_task(random, 20'000, 40);
  const Placement placed = place_values(task);
  CHECK(placed.bound <= placed.bytes);
  CHECK(placed.bytes < placed.unshared / 5);
  CHECK(placed.bytes <= placed.bound + placed.bound / 5);
  check_takeovers(random, place_values(random_task(random, 400, 30)), 200);
}

TEST_CASE("a chain of twenty maps takes one array, of operators that are not computed in place two") {
  const Fuse as_written("0");
  const NDArray x = full({1000}, 0.5);
  auto run =
      repeated(var("x"), 20, [](const Symbol& s) { return quadratic(s, {.a = 0.5f, .b = 1}); }).bind(cpu(), {{"x", x}});
  CHECK(run.plan().bytes() <= 4032);
  CHECK(run.plan().bound() == run.plan().bytes());
  CHECK(same(run.forward()[0], repeated(x, 20, [](const NDArray& a) { return quadratic(a, {.a = 0.5f, .b = 1}); })));
  auto apart = repeated(var("x"), 20, [](const Symbol& s) { return turned(s); }).bind(cpu(), {{"x", x}});
  CHECK(apart.plan().bytes() == 2 * 4032);
  CHECK(apart.plan().unshared() == 19 * 4032);
  CHECK(same(apart.forward()[0], x));
}

TEST_CASE("what a gradient keeps decides how long a value is needed") {
  const Fuse as_written("0");
  const auto bytes = [](const Symbol& net) {
    auto run = net.simple_bind(cpu(), {{"x", {1024}}});
    return run.plan().bytes() / 4096;
  };
  // Of the results in between tanh keeps all but the last, which the caller has, and gradients go in their places.
  const auto chain_of = [](auto op) { return repeated(var("x"), 8, [&](const Symbol& s) { return op(s); }); };
  CHECK(bytes(chain_of([](const Symbol& s) { return squash(s); })) <= 8);
  CHECK(bytes(chain_of([](const Symbol& s) { return wave(s); })) <= 8);
  // A linear map keeps nothing: all that is there at once is one value or one gradient.
  CHECK(bytes(chain_of([](const Symbol& s) { return quadratic(s, {.b = 2}); })) == 1);
  // Results that the gradient reads keep the input from being kept: tanh after sin frees what sin has computed.
  CHECK(bytes(chain_of([](const Symbol& s) { return squash(quadratic(s, {.b = 2})); })) <= 8);
}

TEST_CASE("contributions are added where the first one lies, by operators that add") {
  const Fuse as_written("0");
  constexpr int uses = 12;
  const auto net = [](auto x, const auto& w) {
    for (int i = 0; i < uses; ++i) x = scaled(x, w);
    return x;
  };
  const NDArray x = array<double>({1, 2, 3}), w = array<double>({0.5, 1.5, -1}), head = array<double>({1, 2, 3});
  w.attach_grad();
  x.attach_grad();
  {
    const record scope;
    net(x, w).backward(head);
  }
  for (const GradRequest request : {GradRequest::write, GradRequest::add}) {
    const NDArray dw = full({3}, 1, f64);
    auto run = net(var("x"), var("w")).bind(cpu(), {{"x", x}, {"w", w}}, {{"w", dw}}, request);
    // And no sums but the one that goes to what the caller's array holds.
    CHECK(run.plan().steps() == 2 * uses + (request == GradRequest::add ? 1 : 0));
    for (int i = 1; i <= 3; ++i) {
      run.forward(true);
      run.backward(head);
      for (int k = 0; k < 3; ++k)
        CHECK(dw.to_vector<double>()[static_cast<std::size_t>(k)] ==
              doctest::Approx(
                  (request == GradRequest::add ? i * w.grad().view<double>()[k] + 1 : w.grad().view<double>()[k])));
    }
  }
  // A sum that another node reads, of maps that are large enough, lies in the arena; one that stays is right as well.
  for (const std::int64_t n : {std::int64_t{8}, std::int64_t{1} << 17}) {
    const NDArray a = full({n}, 0.5, f64), b = full({n}, 0.25, f64), ones = full({n}, 1, f64);
    const auto fan = [](const auto& s, const auto& by) {
      const auto t = wave(s);
      auto sum = plus(times(t, by), times(t, t));
      for (int i = 0; i < 5; ++i) sum = plus(sum, squash(times(t, by)));
      return sum;
    };
    a.attach_grad();
    {
      const record scope;
      fan(a, b).backward();
    }
    const NDArray da = zeros({n}, f64);
    auto run = fan(var("a"), var("b")).bind(cpu(), {{"a", a.detach()}, {"b", b}}, {{"a", da}});
    for (int i = 0; i < 2; ++i) {
      run.forward(true);
      run.backward(ones);
      CHECK(same(da, a.grad()));
    }
  }
}

TEST_CASE("values of nodes with force_mirroring are computed again for backward") {
  const Fuse as_written("0");
  // Two inputs, so that a copy reads copies as well as what is kept.
  const auto layer = [](const Symbol& s, const Symbol& w) { return squash(times(s, w)); };
  constexpr int layers = 64, kept = 8;
  const auto build = [&](bool mirrored) {
    const Symbol w = var("w");
    Symbol s = var("x");
    for (int i = 0; i < layers; ++i) {
      if (!mirrored || i % kept == kept - 1) {
        s = layer(s, w);
      } else {
        const AttrScope scope{{"force_mirroring", "True"}};
        s = layer(s, w);
      }
    }
    return s.simple_bind(cpu(), {{"x", {1024}}, {"w", {1024}}});
  };
  auto plain = build(false), mirrored = build(true);
  CHECK(plain.plan().bytes() > 60 * 4096);
  CHECK(mirrored.plan().bytes() < 30 * 4096);
  const NDArray x = full({1024}, 0.5), w = full({1024}, 1.25), head = full({1024}, 2);
  for (int i = 0; i < 2; ++i) {
    for (auto* run : {&plain, &mirrored}) {
      run->forward(true, {{"x", x}, {"w", w}});
      run->backward(head);
    }
    CHECK(mirrored.grad("w").to_vector<float>() == plain.grad("w").to_vector<float>());
    CHECK(mirrored.grad("x").to_vector<float>() == plain.grad("x").to_vector<float>());
  }
  // What draws is not drawn again: its value is kept.
  const AttrScope scope{{"force_mirroring", "1"}};
  auto drawn = squash(wave(noise(squash(var("x"))))).simple_bind(cpu(), {{"x", {4}}});
  for (const MemoryPlan::Value& value : drawn.plan().values())
    CHECK(value.output.find("noise0_mirror") == std::string::npos);
}

TEST_CASE("what reads a state that another node writes is kept: it would read what was written since") {
  const auto build = [](bool mirrored) {
    const AttrScope scope{{"force_mirroring", mirrored ? "True" : "False"}};
    const Symbol x = var("x"), s = var("s");
    const Symbol before = squash(squash(wave(s, {.k = 2})));
    const Symbol y = center(x, s, {}, "c");
    return times(squash(times(before, y)), x).simple_bind(cpu(), {{"x", {4}}});
  };
  auto plain = build(false), mirrored = build(true);
  for (auto* run : {&plain, &mirrored})
    for (int i = 0; i < 3; ++i) {
      run->forward(true, {{"x", array({0.75f, 0.5f, -1.0f, 2.0f})}});
      run->backward(array({1, 2, 3, 4}));
    }
  CHECK(mirrored.grad("x").to_vector<float>() == plain.grad("x").to_vector<float>());
  CHECK(mirrored.aux("s").item<float>() == plain.aux("s").item<float>());
}

TEST_CASE("a node that is computed again leaves its state alone") {
  // A state moves once a step in training, and the copy begins with what the state was, in training and without.
  const auto build = [](bool mirrored) {
    Symbol s = var("x");
    for (int i = 0; i < 6; ++i) {
      const AttrScope scope{{"force_mirroring", mirrored && i % 3 != 2 ? "True" : "False"}};
      s = squash(center(wave(s, {.k = 2}), {}, "c" + std::to_string(i)));
    }
    return s.simple_bind(cpu(), {{"x", {4}}});
  };
  auto plain = build(false), mirrored = build(true);
  CHECK(mirrored.plan().steps() > plain.plan().steps());
  const NDArray head = array({1, 2, 3, 4});
  for (int i = 0; i < 4; ++i) {
    const NDArray x = array({0.1f, 0.5f, -0.3f, 0.2f * static_cast<float>(i)});
    for (auto* run : {&plain, &mirrored}) {
      run->forward(i != 2, {{"x", x}});
      run->backward(head);
    }
    CHECK(mirrored.grad("x").to_vector<float>() == plain.grad("x").to_vector<float>());
    for (const auto& [name, state] : plain.aux_states())
      CHECK(mirrored.aux(name).to_vector<float>() == state.to_vector<float>());
  }
  CHECK(mirrored.aux("c0_moving_mean").item<float>() != 0);
}

TEST_CASE("a network is made to fit") {
  const Fuse as_written("0");
  Symbol net = var("x");
  for (int i = 0; i < 100; ++i) net = squash(turned(net));
  const NamedShapes shapes = {{"x", {1024}}};
  const std::int64_t plain = mirror_within(net, shapes, INT64_MAX);
  CHECK(plain == net.simple_bind(cpu(), shapes).plan().bytes());
  CHECK(plain > 98 * 4096);
  const std::int64_t half = mirror_within(net, shapes, plain / 2);
  CHECK(half <= plain / 2);
  CHECK(half == net.simple_bind(cpu(), shapes).plan().bytes());
  const std::int64_t least = mirror_within(net, shapes, 0);
  CHECK(least <= 32 * 4096);  // some three times the root of what there is
  CHECK(least == net.simple_bind(cpu(), shapes).plan().bytes());
  CHECK(mirror_within(net, shapes, INT64_MAX) == plain);
  CHECK(sentence([&] { mirror_within(net, {}, 0); }).starts_with("infer_shape: from what is given"));
}

TEST_CASE("the plan as a table, as a picture, and what is wrong with one") {
  const Fuse as_written("0");
  auto run =
      quadratic(turned(quadratic(var("x"), {.a = 1}, "a"), {}, "b"), {.a = 1}, "c").bind(cpu(), {{"x", array({1, 2})}});
  const MemoryPlan plan = run.plan();
  CHECK(fmt::format("{}", plan) ==
        "arena 128 bytes; alive at once 128, unshared 128; 3 steps forward, 0 backward\n"
        "node  output    bytes  offset  steps  in place of\n"
        "a     a_output     64       0  0..1\n"
        "b     b_output     64      64  1..2\n"
        "c     c_output      8  output  2..2\n");
  const std::string picture = plan.to_svg();
  CHECK(picture.starts_with("<svg "));
  CHECK(picture.ends_with("</svg>\n"));
  CHECK(picture.find("b_output: 64 bytes at 64, steps 1 to 2") != std::string::npos);
  Placement sums;
  sums.bytes = 128;
  using Value = MemoryPlan::Value;
  const auto complaint = [&](const Value& a, const Value& b) {
    return sentence([&] { MemoryPlan(sums, 4, 4, {a, b}).check(); });
  };
  const Value a{.node = "a", .output = "a", .bytes = 64, .offset = 0, .first = 0, .last = 2};
  Value b{.node = "b", .output = "b", .bytes = 128, .offset = 0, .first = 2, .last = 3};
  CHECK(complaint(a, b) == "plan: b (steps 2 to 3) and a (steps 0 to 2) overlap at byte 0");
  b.first = 3;
  CHECK(complaint(a, b) == "");
  b.in_place_of = 0;
  CHECK(complaint(a, b) ==
        "plan: b (steps 3 to 3) is computed in place of a (steps 0 to 2), which lies elsewhere or is still needed");
  b = {.node = "b", .output = "b", .bytes = 128, .offset = 64, .first = 3, .last = 3};
  CHECK(complaint(a, b) == "plan: b (steps 3 to 3) lies at 64 with 128 bytes, in an arena of 128");
  b = {.node = "b", .output = "b", .bytes = 64, .offset = 0, .first = 2, .last = 3, .in_place_of = 0};
  CHECK(complaint(a, b) == "");
}

TEST_CASE("backward runs again after the same forward, or says why it cannot") {
  const Fuse as_written("0");
  const NDArray x = array<double>({0.1, 0.5, -0.3, 0.7}), head = array<double>({1, 2, 3, 4});
  const auto build = [&](const Symbol& s) { return squash(wave(squash(wave(s, {.k = 2})), {.k = 3})); };
  const NDArray dx = zeros({4}, f64);
  auto run = build(var("x")).bind(cpu(), {{"x", x}}, {{"x", dx}});
  run.forward(true);
  run.backward(head);
  const std::vector<double> once = dx.to_vector<double>();
  const std::vector<double> y = run.outputs()[0].to_vector<double>();
  for (int i = 0; i < 3; ++i) {
    run.backward(head);
    CHECK(dx.to_vector<double>() == once);
    CHECK(run.outputs()[0].to_vector<double>() == y);
  }
  auto drawn = squash(wave(noise(squash(var("x")), {}, "drawn"))).simple_bind(cpu(), {{"x", {4}}});
  drawn.forward(true);
  drawn.backward(array({1, 1, 1, 1}));
  CHECK(sentence([&] { drawn.backward(array({1, 1, 1, 1})); }) ==
        "backward: it has run since the last forward and has written over what it reads, and node 'drawn' (PlanNoise) "
        "does not compute the same twice; call forward before each backward");
  drawn.forward(true);
  drawn.backward(array({1, 1, 1, 1}));
}

TEST_CASE("what has changed between two backward calls does not change the outputs") {
  const Fuse as_written("0");
  const NDArray x = array<double>({0.1, 0.5, -0.3, 0.7}), head = array<double>({1, 2, 3, 4});
  const Symbol net = squash(wave(turned(squash(var("x")))));
  const NDArray dx = zeros({4}, f64), other = zeros({4}, f64);
  auto run = net.bind(cpu(), {{"x", x}}, {{"x", dx}});
  const NDArray y = run.forward(true)[0];
  run.backward(head);
  const std::vector<double> once = y.to_vector<double>();
  for (int i = 0; i < 4; ++i) x.view<double>()[i] = 0.25 * i;
  run.backward(head);
  CHECK(y.to_vector<double>() == once);
  CHECK(run.outputs()[0].is(y));
  // Forward's nodes have run again, on what x is now: the gradient is that of this x.
  auto fresh = net.bind(cpu(), {{"x", x}}, {{"x", other}});
  fresh.forward(true);
  fresh.backward(head);
  CHECK(dx.to_vector<double>() == other.to_vector<double>());
  CHECK(run.forward(true)[0].is(y));
  CHECK(y.to_vector<double>() == fresh.outputs()[0].to_vector<double>());
  CHECK(y.to_vector<double>() != once);
}

TEST_CASE("forward and backward of one executor, in any order, share their memory rightly") {
  const Fuse as_written("0");
  const Shape shape{1 << 12};
  NDArray a = NDArray(shape, f64), b = NDArray(shape, f64);
  for (std::int64_t i = 0; i < a.size(); ++i) {
    a.view<double>()[i] = std::sin(0.1 * static_cast<double>(i));
    b.view<double>()[i] = std::cos(0.3 * static_cast<double>(i));
  }
  const auto symbol = [](const Symbol& x, const Symbol& y) {
    const Symbol p = squash(times(x, y)), q = wave(plus(x, p), {.k = 2}), r = times(squash(q), p), s = both(r, q);
    return plus(squash(s[0]), wave(s[1]));
  };
  const auto eager = [](const NDArray& x, const NDArray& y) {
    const NDArray p = squash(times(x, y)), q = wave(plus(x, p), {.k = 2}), r = times(squash(q), p);
    const auto s = both(r, q);
    return plus(squash(s[0]), wave(s[1]));
  };
  a.attach_grad();
  b.attach_grad();
  NDArray y;
  {
    const record scope;
    y = eager(a, b);
    y.backward();
  }
  const NDArray da = zeros(shape, f64), db = zeros(shape, f64), ones = full(shape, 1, f64);
  auto run = symbol(var("a"), var("b")).bind(cpu(), {{"a", a.detach()}, {"b", b.detach()}}, {{"a", da}, {"b", db}});
  CHECK(run.plan().bytes() < run.plan().unshared());
  std::mt19937 random(3);
  for (int i = 0; i < 12; ++i) {
    run.forward(random() % 2 == 0);
    for (unsigned k = 0; k < random() % 3; ++k) run.backward(ones);
    CHECK(same(run.outputs()[0], y));
  }
  run.backward(ones);
  CHECK(same(da, a.grad()));
  CHECK(same(db, b.grad()));
}

TEST_CASE("outputs, arguments and what the caller gave keep their memory; sparse values are not planned") {
  const Fuse as_written("0");
  const NDArray x = array({{0, 2, 0}, {3, 0, 4}}).to(csr);
  const Symbol inner = quadratic(var("x"), {.a = 1}, "inner"),
               net = group({quadratic(inner, {.a = 1}, "outer"), inner});
  auto run = net.bind(cpu(), {{"x", x}});
  run.forward();
  CHECK(run.plan().bytes() == 0);
  CHECK(run.plan().values().size() == 2);
  CHECK(run.plan().values()[0].place == MemoryPlan::Place::sparse);
  CHECK(same(run.outputs()[0], array({{0, 16, 0}, {81, 0, 256}})));
  // An output that other nodes read is not computed in place, nor written over.
  const NDArray v = array({1, 2});
  const Symbol first = quadratic(var("v"), {.b = 3}),
               rest = repeated(first, 5, [](const Symbol& s) { return quadratic(s, {.b = 2}); });
  auto dense_run = group({first, rest}).bind(cpu(), {{"v", v}});
  for (int i = 0; i < 2; ++i) {
    dense_run.forward();
    CHECK(same(dense_run.outputs()[0], array({3, 6})));
    CHECK(same(dense_run.outputs()[1], array({96, 192})));
    CHECK(same(v, array({1, 2})));
  }
}

TEST_CASE("a gradient that is delivered at the end of backward keeps its bytes until then") {
  Symbol net = add_same(var("x"), var("late"));
  for (int i = 0; i < 6; ++i) net = reversed(net);
  net = quadratic(add_same(net, var("early")), {.a = 1, .b = 2});  // its gradient is the first that backward computes
  const NDArray x = arange(0, 100), late = full({100}, 2), early = full({100}, 3), head = ones({100});
  const NDArray dx = zeros({100}), joint = zeros({100});
  // Two arguments with one array for their gradients, which each is added to when both are there.
  Executor run = net.bind(cpu(), {{"x", x}, {"late", late}, {"early", early}},
                          {{"x", dx}, {"late", joint}, {"early", joint}}, GradRequest::add);
  run.forward(true);
  run.backward(head);
  CHECK(same(dx, quadratic(x, {.b = 2, .c = 12})));
  CHECK(same(joint, quadratic(x, {.b = 4, .c = 24})));
}

TEST_CASE("a replay allocates nothing") {
  const Symbol hidden = squash(dense_layer(var("data"), {.num_hidden = 8}, "fc1"));
  auto run = loss(dense_layer(hidden, {.num_hidden = 3}, "fc2"), {}, "out").simple_bind(cpu(), {{"data", {5, 4}}});
  const NDArray data = full({5, 4}, 0.5);
  const auto step = [&] {
    run.forward(true, {{"data", data}});
    run.backward();
    for (const auto& [name, gradient] : run.grads()) gradient.wait();
  };
  step();
  const std::int64_t before = memory::statistics(cpu()).allocations;
  for (int i = 0; i < 10; ++i) step();
  CHECK(memory::statistics(cpu()).allocations == before);
}
