// SPDX-License-Identifier: Apache-2.0
// Everything that makes a sparse array, has results added or lets calls wait installs what calls need for it
// (strop/core/installed.hpp). Each case is a process of its own, which has nothing installed before.
// expect: all of them
#include <strop/strop.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

struct Twice {
  constexpr auto forward(auto x) const { return 2 * x; }
};
inline constexpr strop::Op<Twice> twice;

namespace {

using strop::NDArray;

bool doubles(const NDArray& x, strop::Storage storage) {
  const NDArray y = twice(x);
  return x.storage() == storage && y.storage() == storage && strop::allclose(y, x + x);
}
NDArray eye() { return strop::array({{1, 0}, {0, 1}}); }

struct Case {
  const char* name;
  bool (*holds)();
};
constexpr Case cases[] = {
    {"csr_matrix of parts", [] { return doubles(strop::csr_matrix({5, 7}, {1, 0}, {0, 1, 2}, {2, 2}), strop::csr); }},
    {"csr_matrix of coordinates",
     [] { return doubles(strop::csr_matrix({5, 7}, {.row = {0, 1}, .col = {1, 0}}, {2, 2}), strop::csr); }},
    {"row_sparse_array", [] { return doubles(strop::row_sparse_array({{5, 7}}, {1}, {2, 2}), strop::row_sparse); }},
    {"to(csr)", [] { return doubles(eye().to(strop::csr), strop::csr); }},
    {"zeros", [] { return doubles(strop::zeros({2, 2}, strop::row_sparse), strop::row_sparse); }},
    {"the constructor", [] { return doubles(NDArray({2, 2}, strop::f32, strop::cpu(), strop::csr), strop::csr); }},
    {"a file",
     [] {
       if (const pid_t writer = fork(); writer == 0) {
         strop::save("sparse.params", {{"a", eye().to(strop::csr)}});
         _exit(0);
       }
       int status = 0;
       return wait(&status) > 0 && status == 0 && doubles(strop::load("sparse.params")[0].second, strop::csr);
     }},
    {"a sparse gradient of a dense array",
     [] {
       const NDArray x = eye();
       x.attach_grad(strop::GradRequest::write, strop::row_sparse);
       {
         strop::record scope;
         strop::sum(twice(x)).backward();
       }
       return x.grad().storage() == strop::row_sparse;
     }},
    {"an operator that states storages",
     [] { return doubles(strop::cast_storage(eye(), {.stype = strop::csr}), strop::csr); }},
    {"add_to",
     [] {
       NDArray y = strop::array({1, 1});
       strop::reverse(strop::array({3, 4}), {.axis = {0}}, strop::add_to(y));
       return strop::allclose(y, strop::array({5, 4}));
     }},
    {"gradients that are added",
     [] {
       const NDArray x = strop::array({3, 4});
       x.attach_grad(strop::GradRequest::add);
       for (int i = 0; i < 2; ++i) {
         strop::record scope;
         strop::sum(strop::reverse(twice(x), {.axis = {0}})).backward();
       }
       return strop::allclose(x.grad(), strop::array({4, 4}));
     }},
    {"gradients that a graph adds",
     [] {
       const NDArray x = strop::array({3, 4}), dx = strop::array({1, 1});
       const auto net = strop::reverse(twice(strop::var("x")), {.axis = {0}});
       auto run = net.bind(strop::cpu(), {{"x", x}}, {{"x", dx}}, strop::GradRequest::add);
       run.forward(true);
       run.backward({strop::array({1, 1})});
       return strop::allclose(dx, strop::array({3, 3}));
     }},
    {"a large call",
     [] {
       const NDArray x = strop::full({1 << 20}, 3), y = twice(x);
       return y.pending() != nullptr && strop::allclose(y, strop::full({1 << 20}, 6));
     }},
    {"an array that somebody writes later",
     [] {
       const NDArray x = strop::array({1, 2});
       float* const to = x.view<float, 1>().data();
       strop::Engine::global().push(
           [to] {
             usleep(20000);
             to[0] = 5;
           },
           {.writes = {x.variable()}});
       return strop::allclose(twice(x), strop::array({10, 4}));
     }},
    {"a trace",
     [] {
       if (const pid_t traced = fork(); traced == 0) {
         setenv("STROP_TRACE", "trace.json", 1);
         twice(strop::zeros({3})).wait();
         std::exit(0);
       }
       int status = 0;
       return wait(&status) > 0 && status == 0 && std::fopen("trace.json", "r") != nullptr;
     }},
};

}  // namespace

int main() {
  for (const Case& one : cases) {
    if (const pid_t child = fork(); child == 0) {
      bool holds = false;
      try {
        holds = one.holds();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
      _exit(holds ? 0 : 1);
    }
    int status = 0;
    if (wait(&status) < 0 || status != 0) return std::fprintf(stderr, "%s: %d\n", one.name, status), 1;
  }
  std::puts("all of them");
}
