// SPDX-License-Identifier: Apache-2.0
/// \file
/// What several threads may call at once: const members of one object against themselves and each other, backward
/// passes and executors, which wait for each other. Under the thread sanitizer a race is a failure.
#include <strop/autograd/backward.hpp>
#include <strop/autograd/function.hpp>
#include <strop/graph/trace.hpp>
#include <strop/memory/random.hpp>
#include <strop/op/fallback.hpp>
#include <strop/ops/dot.hpp>
#include <strop/ops/elementwise/broadcast.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/print.hpp>
#include <strop/tensor/random.hpp>

#include "operators.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace graph_tests;

namespace {

constexpr int thread_count = 4;

/// f(number of the thread) on several threads, which begin together. Nothing is thrown.
template <class F>
void on_threads(F f) {
  std::atomic<int> there = 0, thrown = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      ++there;
      while (there < thread_count) std::this_thread::yield();
      try {
        f(t);
      } catch (const std::exception& error) {
        MESSAGE(std::string(error.what()));
        ++thrown;
      }
    });
  for (std::thread& one : threads) one.join();
  CHECK(thrown == 0);
}

using Members = std::vector<std::function<void()>>;

/// Every member on every thread, each thread beginning with another one, so that each meets itself and the others.
void meet(const Members& members, int rounds = 6) {
  on_threads([&](int t) {
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::size_t step = round % 2 == 0 ? i : i + members.size() * static_cast<std::size_t>(t) / thread_count;
        members[step % members.size()]();
      }
  });
}

/// A step whose backward differentiates a² of another array by the way, after `wait`.
struct AlsoDifferentiates : Function {
  NDArray other;
  std::function<void()> wait;
  AlsoDifferentiates(NDArray o, std::function<void()> w) : other(std::move(o)), wait(std::move(w)) {}
  std::vector<NDArray> forward(std::span<const NDArray> in) override { return {in[0].copy()}; }
  std::vector<NDArray> backward(std::span<const NDArray> head_gradients) override {
    wait();
    NDArray loss;
    {
      const record scope;
      loss = sum(quadratic(other, {.a = 1}));
    }
    loss.backward();
    return {head_gradients[0]};
  }
};

}  // namespace

TEST_CASE("threads call const members of one dense array") {
  for (const std::int64_t rows : {std::int64_t{3}, std::int64_t{1} << 17}) {
    const NDArray x = random::uniform({rows, 4}).to(f64);
    const NDArray y = plus(x, x), z = x.detach();  // large ones are pending
    std::atomic<double> sink = 0;
    const auto see = [&](const NDArray& a) { sink = a[0].to_vector<double>()[0]; };
    meet({[&] { sink = static_cast<double>(x.size() + x.ndim() + x.shape()[0] + x.nnz()); },
          [&] { sink = x.dtype() == f64 && x.storage() == dense && x.device() == cpu() && !x.is(y) ? 1 : 0; },
          [&] { y.wait(); }, [&] { Engine::global().wait(y.variable()); }, [&] { sink = y.to_vector<float>()[2]; },
          [&] { sink = y[0].slice(1, 2).item<double>(); }, [&] { sink = y.view<const double, 2>().data()[1]; },
          [&] { see(y.copy()); }, [&] { see(y.to(f32)); }, [&] { see(y.to(dense).to(cpu())); },
          [&] { see(y.slice(1, 3)); }, [&] { see(y.reshape({-1, 2})); }, [&] { see(y.detach()); },
          [&] { see(y.data()); }, [&] { sink = y.grad().defined() ? 1 : 0; }, [&] { y.check_format(); },
          [&] { sink = allclose(y, y) ? 1 : 0; }, [&] { see(plus(y, x)); }, [&] { sink = y.busy() ? 1 : 0; },
          // several threads ask for the gradient of one array that nobody else uses
          [&] { z.attach_grad(); }, [&] { z.attach_grad(GradRequest::add); },
          [&] { z.attach_grad(GradRequest::write, dense); },
          [&] { sink = z.grad().defined() ? static_cast<double>(z.grad().size()) : 0; }},
         rows == 3 ? 20 : 2);
    CHECK(z.grad().shape() == x.shape());
  }
}

TEST_CASE("threads call const members of one sparse array") {
  const NDArray whole = array({{0, 1, 0}, {2, 0, 3}, {0, 0, 0}});
  for (const Storage storage : {csr, row_sparse}) {
    const NDArray x = whole.to(storage);
    std::atomic<double> sink = 0;
    meet({[&] { sink = static_cast<double>(x.nnz() + x.size()); }, [&] { sink = x.data().to_vector<double>()[0]; },
          [&] { sink = static_cast<double>(x.indices().to_vector<std::int64_t>()[0]); },
          [&] { sink = storage == csr ? static_cast<double>(x.indptr().to_vector<std::int64_t>()[1]) : 0; },
          [&] { x.check_format(); }, [&] { sink = x.to_vector<float>()[1]; },
          [&] { sink = x.copy().to(dense).to_vector<double>()[1]; }, [&] { sink = x.to(f64).to_vector<double>()[1]; },
          [&] { sink = storage == csr ? x.slice(0, 2).to_vector<double>()[1] : 0; },
          [&] { sink = x.detach().to_vector<double>()[1]; },
          [&] { sink = quadratic(x, {.a = 1}).to_vector<double>()[1]; },
          [&] { sink = dot(x, whole).to_vector<double>()[1]; }, [&] { x.wait(); }});
  }
}

TEST_CASE("threads record from arrays that they share, and differentiate") {
  const NDArray weight = array({1, 2, 3});
  weight.attach_grad(GradRequest::add);
  NDArray shared;
  {
    const record scope;
    shared = quadratic(weight, {.a = 1});
  }
  constexpr int rounds = 50;
  on_threads([&](int) {
    for (int round = 0; round < rounds; ++round) {
      NDArray loss;
      {
        const record scope;
        loss = sum(plus(shared, weight));  // each adds 2 w + 1
      }
      loss.backward({}, true);
      const NDArray own = weight.detach();
      own.attach_grad();
      const record scope;
      CHECK(allclose(grad(sum(quadratic(own, {.a = 1})), {own})[0], array({2, 4, 6})));
    }
  });
  const float all = thread_count * rounds;
  CHECK(allclose(weight.grad(), array({3 * all, 5 * all, 7 * all})));
}

TEST_CASE("threads differentiate one retained history, and orders of histories that cross") {
  const NDArray a = array({1, 2}), b = array({3, 4});
  a.attach_grad(GradRequest::add);
  b.attach_grad(GradRequest::add);
  NDArray one, other;
  {
    const record scope;
    const NDArray x = quadratic(a, {.a = 1}), y = quadratic(b, {.a = 1});
    one = sum(plus(x, y));
    other = sum(plus(y, x));
  }
  constexpr int rounds = 100;
  on_threads([&](int t) {
    for (int round = 0; round < rounds; ++round) (t % 2 == 0 ? one : other).backward({}, true);
  });
  const float all = thread_count * rounds;
  CHECK(allclose(a.grad(), array({2 * all, 4 * all})));
  CHECK(allclose(b.grad(), array({6 * all, 8 * all})));
  // who comes after a backward that freed the history is told so
  std::atomic<int> through = 0, told = 0;
  on_threads([&](int) {
    try {
      one.backward();
      ++through;
    } catch (const Error& error) {
      if (std::string(error.what()).find("was freed by an earlier backward") != std::string::npos) ++told;
    }
  });
  CHECK(through == 1);
  CHECK(told == thread_count - 1);
}

TEST_CASE("threads differentiate inside of a backward") {
  const NDArray shared = array({1, 2});
  shared.attach_grad(GradRequest::add);
  constexpr int rounds = 50;
  on_threads([&](int) {
    const NDArray own = array({3, 4});
    own.attach_grad();
    for (int round = 0; round < rounds; ++round) {
      NDArray loss;
      {
        const record scope;
        loss = sum(apply<AlsoDifferentiates>({own}, shared, [] {})[0]);
      }
      loss.backward();
    }
  });
  const float all = thread_count * rounds;
  CHECK(allclose(shared.grad(), array({2 * all, 4 * all})));
}

TEST_CASE("passes inside of passes that wait for each other in a circle: one of them says so") {
  for (int round = 0; round < 20; ++round) {
    const NDArray arrays[] = {array({1, 2}), array({3, 4})};
    for (const NDArray& a : arrays) a.attach_grad(GradRequest::add);
    std::atomic<int> inside = 0, through = 0, told = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&, t] {
        NDArray loss;
        {
          const record scope;
          loss = sum(apply<AlsoDifferentiates>({arrays[t]}, arrays[1 - t], [&] {
            ++inside;
            while (inside < 2) std::this_thread::yield();
          })[0]);
        }
        try {
          loss.backward();
          ++through;
        } catch (const Error& error) {
          if (std::string(error.what()).find("called inside another backward") != std::string::npos) ++told;
        }
      });
    for (std::thread& one : threads) one.join();
    CHECK(through == 1);
    CHECK(told == 1);
    for (const NDArray& a : arrays) {  // nothing is left claimed
      const record scope;
      sum(quadratic(a, {.a = 1})).backward();
    }
  }
}

TEST_CASE("threads call const members of one symbol, and bind it") {
  const Symbol net = mean(plus(quadratic(var("x"), {.a = 1}), var("y")));
  std::atomic<std::size_t> sink = 0;
  meet({[&] { sink = net.name().size() + static_cast<std::size_t>(net.size()); },
        [&] { sink = net[0].list_outputs().size(); },
        [&] { sink = net.list_arguments().size() + net.list_auxiliary_states().size(); },
        [&] { sink = net.get_internals().list_outputs().size(); },
        [&] { sink = net.get_children().list_outputs().size(); },
        [&] { sink = net.attr("name").size() + net.list_attr().size() + net.attr_dict().size(); },
        [&] { sink = net({{"y", var("z")}}).list_arguments().size(); },
        [&] { sink = net.copy().list_arguments().size(); },
        [&] { sink = net.infer_shape({{"x", {2}}, {"y", {2}}}).outputs.size(); },
        [&] { sink = net.infer_shape_partial({{"x", {2}}}).outputs.size(); },
        [&] { sink = net.infer_type().outputs.size() + net.infer_type_partial().outputs.size(); },
        [&] { sink = net.infer_storage().outputs.size(); },
        [&] { sink = Symbol::from_json(net.to_json()).list_arguments().size(); }, [&] { sink = net.to_json().size(); },
        [&] { sink = plus(net, var("w")).list_arguments().size(); },
        [&] {
          auto run = net.simple_bind(cpu(), {{"x", {2}}, {"y", {2}}});
          run.forward(true);
          run.backward(array({1}));
        }});
}

TEST_CASE("threads use one executor: each waits until the others are done") {
  const NDArray x = array({1, 2, 3}), gradient = zeros({3});
  auto run = sum(quadratic(var("x"), {.a = 1})).bind(cpu(), {{"x", x}}, {{"x", gradient}});
  run.forward(true);
  std::atomic<std::size_t> sink = 0;
  meet(
      {[&] { run.forward(true); }, [&] { run.backward(array({1})); },
       [&] { run.backward(std::vector<NDArray>{array({1})}); }, [&] { run.forward(true, {{"x", array({1, 2, 3})}}); },
       [&] { run.copy_params_from({{"x", array({1, 2, 3})}}); }, [&] { sink = run.plan().values().size(); },
       [&] { sink = run.outputs().size() + run.args().size() + run.grads().size() + run.aux_states().size(); },
       [&] { sink = run.arg("x").shape().size() + run.grad("x").shape().size(); },
       [&] { sink = run.symbol().list_arguments().size(); }, [&] { sink = run.reshape({{"x", {2}}}).outputs().size(); },
       [&] {
         Executor copy = run;
         copy.backward(array({1}));
       }},
      20);
  run.forward(true);
  run.backward(array({1}));
  CHECK(allclose(run.outputs()[0], array({14})));
  CHECK(allclose(gradient, array({2, 4, 6})));
  std::atomic<int> seen = 0;
  run.set_monitor([&](const std::string&, const NDArray&) {
    ++seen;
    sink = run.plan().values().size();  // inside of a run, on its own thread
  });
  on_threads([&](int) { run.forward(true); });
  CHECK(seen >= thread_count);
}

TEST_CASE("an executor runs while others are bound that share its memory and need more") {
  const Symbol x = var("x"), net = sum(quadratic(plus(quadratic(x, {.a = 1}), x), {.a = 1}));
  const auto first = net.simple_bind(cpu(), {{"x", {4}}});
  Executor second = first.reshape({{"x", {8}}});
  std::atomic<bool> stop = false;
  std::thread runs([&] {
    while (!stop) {
      second.forward(true, {{"x", full({8}, 1)}});
      second.backward(array({1}));
      CHECK(second.outputs()[0].item<float>() == 32);
      CHECK(second.grad("x").to_vector<float>()[7] == 12);
    }
  });
  for (std::int64_t n = 16; n < 16 + 40 * 64; n += 64) {
    const Executor larger = first.reshape({{"x", {n}}});
    CHECK(larger.outputs().size() == 1);
    std::this_thread::yield();
  }
  stop = true;
  runs.join();
}

TEST_CASE("threads call one traced function, and what belongs to the process") {
  const auto traced = trace_function([](const NDArray& a) { return plus(a, a); });
  const NDArray x = array({1, 2});
  std::atomic<std::size_t> sink = 0;
  auto step = Engine::global().prepare([] {}, {.name = "nothing"});
  const auto variable = Engine::global().variable();
  meet({[&] { CHECK(allclose(traced(x), array({2, 4}))); }, [&] { sink = traced.graphs() + traced.graphs_by_calls(); },
        [&] { sink = random::uniform({3}).to_vector<float>().size(); },
        [&] { sink = random::normal({3}).to_vector<float>().size(); }, [&] { random::seed(3); },
        [&] { sink = static_cast<std::size_t>(random::next().bits(0)); }, [&] { sink = fallbacks().size(); },
        [&] { sink = to_text(x.shape()).size(); }, [&] { sink = detail::all_operators().size(); },
        [&] { CHECK(allclose(invoke("GtPlus", {x, x}), array({2, 4}))); },
        [&] { sink = static_cast<std::size_t>(memory::statistics(cpu()).live_bytes); }, [&] { step.push(); },
        [&] { Engine::global().push([] {}, {.writes = {variable}}); },
        [&] { sink = variable.idle() + variable.failed() + variable.version() + (variable.failure() ? 1 : 0); },
        [&] { Engine::global().wait(variable); },
        [&] {
          sink =
              static_cast<std::size_t>(Engine::global().threads()) + static_cast<std::size_t>(Engine::global().kind());
        },
        [&] { Engine::global().wait_all(); }});
}
