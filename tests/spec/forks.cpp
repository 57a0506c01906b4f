// SPDX-License-Identifier: Apache-2.0
// A fork ends, and both processes go on: whatever was used first, while calls are pending and other threads compute.
// expect: first uses in every order: 120 of 120
// expect: nothing used before: numbers of their own
// expect: beside threads: 40 of 40
#include <strop/strop.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t large = 1 << 19;  // handed to the engine

/// Whether `child` returns true in a process of its own, which a watchdog ends.
template <class F>
bool in_child(F child) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    bool good = false;
    try {
      good = child();
    } catch (...) {
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool computes() {
  const auto x = strop::full({large}, 2);
  const auto y = strop::sum(x * 3), z = strop::random::uniform({4});
  strop::Engine::global().wait_all();
  return y.item<double>() == 6.0 * large && z.to_vector<float>().size() == 4;
}

const std::string trace_file = "/tmp/strop_forks_" + std::to_string(getpid()) + ".json";

void use(int part) {
  switch (part) {
    case 0:
      (void)strop::array({1, 2}).copy();  // memory
      break;
    case 1:
      strop::parallel_for(1 << 20, 1024, [](std::int64_t, std::int64_t) {});  // helpers of loops
      break;
    case 2: {
      strop::Engine engine{{.threads = 2}};
      engine.push([] {});
      break;
    }
    case 3:
      strop::random::seed(3);
      break;
    default: {
      {
        const strop::Trace trace(trace_file);
      }
      std::remove(trace_file.c_str());
    }
  }
}

/// In a process that has used nothing.
bool forks_after(const std::array<int, 5>& order) {
  for (int part : order) use(part);
  const auto x = strop::full({large}, 1);
  const auto before = strop::sum(strop::exp(x));
  const auto pending = strop::exp(strop::sin(x));
  const double want = strop::exp(strop::sin(1.0)) * large;
  const auto good = [&] {
    const double got = strop::sum(pending).item<double>();
    return got > want * 0.999 && got < want * 1.001 && before.item<double>() > 0 && computes();
  };
  return in_child(good) && good();
}

std::vector<float> numbers() { return strop::random::uniform({8}).to_vector<float>(); }

/// What a child draws, through a pipe; `seeds` first.
std::vector<float> numbers_of_child(bool seeds) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  in_child([&] {
    if (seeds) strop::random::seed(7);
    const auto drawn = numbers();
    return write(ends[1], drawn.data(), sizeof(float) * 8) == sizeof(float) * 8;
  });
  std::vector<float> drawn(8);
  if (read(ends[0], drawn.data(), sizeof(float) * 8) != sizeof(float) * 8) drawn.clear();
  close(ends[0]);
  close(ends[1]);
  return drawn;
}

bool numbers_differ() {
  const auto first = numbers_of_child(false), second = numbers_of_child(false);
  const auto seeded = numbers_of_child(true), again = numbers_of_child(true);
  const auto own = numbers();
  return first.size() == 8 && first != second && first != own && second != own && seeded == again && seeded != own;
}

struct Twice {
  constexpr auto forward(auto x) const { return 2 * x; }
};
inline constexpr strop::Op<Twice> twice;

const auto traced = strop::trace_function([](const strop::NDArray& a) { return twice(a) * a; });

/// Threads that do everything that has locks of its own, on objects that the children use as well.
struct Busy {
  std::atomic<bool> stop{false};
  strop::NDArray weight = strop::full({large}, 0.5), small = strop::array({1, 2, 3});
  strop::Symbol net = strop::sum(twice(strop::var("data")));
  strop::Executor run = net.bind(strop::cpu(), {{"data", weight}}, {{"data", strop::zeros({large})}});
  strop::NDArray asked = strop::full({64}, 2), loss;

  Busy() {
    asked.attach_grad();
    const strop::record scope;
    loss = strop::sum(twice(asked) * asked);
  }
  void step(int kind) {
    if (kind == 0) strop::sum(strop::exp(weight)).wait();
    if (kind == 1) {
      run.forward(true);
      run.backward(strop::array({1}));
      run.grad("data").wait();
    }
    if (kind == 2) traced(small), (void)strop::invoke("Twice", {small});
    if (kind == 3) {
      loss.backward({}, true);
      strop::random::normal({300}, 0, 1);
      for (int i = 0; i < 50; ++i) (void)twice(strop::full({i + 1}, 1));
    }
    if (kind == 4) {
      const auto csr = strop::array({{0, 1}, {2, 0}}).to(strop::csr);
      strop::Engine engine{{.threads = 1}};
      engine.push([] {});
    }
  }
};

int forks_beside_threads(int rounds) {
  Busy busy;
  std::vector<std::thread> threads;
  for (int kind = 0; kind < 5; ++kind)
    threads.emplace_back([&busy, kind] {
      while (!busy.stop) busy.step(kind);
    });
  int good = 0;
  for (int round = 0; round < rounds; ++round)
    good += in_child([&busy] {
      for (int kind = 0; kind < 5; ++kind) busy.step(kind);
      return computes();
    })
                ? 1
                : 0;
  busy.stop = true;
  for (std::thread& one : threads) one.join();
  return computes() ? good : -1;
}

}  // namespace

int main() {
  alarm(300);
  std::array<int, 5> order{0, 1, 2, 3, 4};
  int good = 0, all = 0;
  do {
    ++all;
    good += in_child([&] { return forks_after(order); }) ? 1 : 0;
  } while (std::next_permutation(order.begin(), order.end()));
  std::printf("first uses in every order: %d of %d\n", good, all);
  std::printf("nothing used before: %s\n", numbers_differ() ? "numbers of their own" : "numbers of others");
  std::printf("beside threads: %d of 40\n", forks_beside_threads(40));
}
