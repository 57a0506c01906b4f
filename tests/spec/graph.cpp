// SPDX-License-Identifier: Apache-2.0
// Symbol files, functions without a name and traced functions, as a program of its own spells them.
#include <strop/strop.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#define CHECK(...)                                          \
  do {                                                      \
    if (!(__VA_ARGS__)) {                                   \
      std::printf("line %d: %s\n", __LINE__, #__VA_ARGS__); \
      std::exit(1);                                         \
    }                                                       \
  } while (0)

struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
inline constexpr strop::Op<Quadratic> quadratic;

static void files() {
  auto net = quadratic(strop::var("data"), {.a = 1, .c = 0.5f});
  std::string text = net.to_json();
  auto same = strop::Symbol::from_json(text);
  CHECK(same.to_json() == text && same.list_arguments() == std::vector<std::string>{"data"});
  net.save("net.json");
  auto loaded = strop::Symbol::load("net.json");
  auto run = loaded.bind(strop::cpu(), {{"data", strop::array({1, 2})}});
  CHECK(strop::allclose(run.forward()[0], strop::array({1.5f, 4.5f})));
  bool refused = false;
  try {
    auto none = strop::Symbol::from_json("{\"nodes\": []");
    (void)none;
  } catch (const std::exception&) {
    refused = true;
  }
  CHECK(refused);
  std::string said;
  try {
    (void)strop::Symbol::from_json(
        R"({"nodes": [{"op": "null", "name": "x", "inputs": []},
                      {"op": "SoftmaxOutput", "name": "s", "inputs": [[0, 0, 0], [0, 0, 0]]}],
            "arg_nodes": [0], "heads": [[1, 0, 0]]})");
  } catch (const strop::Error& error) {
    said = error.what();
  }
  CHECK(said ==
        "from_json: this program has no operators SoftmaxOutput (node 's'); the library's join where the program "
        "calls them, or all together with #include <strop/ops/all.hpp>: SoftmaxOutput");
}

static void without_a_name() {
  auto a = strop::array({{1, 2}, {0, -4}}), b = strop::array({{0.5f, 1}, {2, 0}});
  auto y = strop::map([](auto x, auto y) { return x * tanh(y); }, a, b);
  CHECK(std::abs(y.to_vector<float>()[1] - 2 * std::tanh(1.0f)) < 1e-6f);
  CHECK(strop::map([](auto x) { return x * x; }, a.to(strop::csr)).storage() == strop::csr);
  b.attach_grad();
  {
    strop::record scope;
    strop::sum(strop::map([](auto x, auto y) { return x * tanh(y); }, a, b)).backward();
  }
  CHECK(strop::allclose(b.grad(), strop::map([](auto x, auto y) { return x * (1 - tanh(y) * tanh(y)); }, a, b)));
  auto net = strop::map([](auto x, auto y) { return x * tanh(y); }, strop::var("a"), strop::var("b"));
  auto run = net.bind(strop::cpu(), {{"a", a}, {"b", b}});
  CHECK(strop::allclose(run.forward()[0], y));
  float k = 3;
  CHECK(strop::allclose(strop::map([k](auto x) { return k * x; }, a), a * 3));
}

static void traced() {
  auto w = strop::array({{1, 0}, {2, 1}});
  w.attach_grad();
  int runs = 0;
  auto g = [&](const strop::NDArray& x, const strop::NDArray& y) {
    ++runs;
    return std::tuple(strop::tanh(strop::dot(x, w)) + y, x * y);
  };
  auto f = strop::trace_function(g);
  auto x = strop::array({{1, 2}, {3, 4}}), y = strop::array({{1, 1}, {0, 1}});
  for (int i = 0; i < 3; ++i) {
    auto [p, q] = f(x, y);
    CHECK(strop::allclose(p, strop::tanh(strop::dot(x, w)) + y) && strop::allclose(q, x * y));
  }
  CHECK(runs == 1);
  {
    strop::record scope;
    strop::sum(std::get<0>(f(x, y))).backward();
  }
  auto found = w.grad().copy();
  {
    strop::record scope;
    strop::sum(std::get<0>(g(x, y))).backward();
  }
  CHECK(strop::allclose(found, w.grad()));
}

/// A file of an operator that this program does not call.
void lacking() {
  std::string text = strop::tanh(strop::var("x")).to_json(), why;
  text.replace(text.find("\"tanh\""), 6, "\"SoftmaxOutput\"");
  try {
    strop::Symbol::from_json(text);
  } catch (const std::exception& e) {
    why = e.what();
  }
  CHECK(why.find("the library's join where the program calls them") != std::string::npos);
}

int main() {
  files();
  lacking();
  without_a_name();
  traced();
  std::puts("done");
}
// expect: done
