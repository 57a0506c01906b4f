// SPDX-License-Identifier: Apache-2.0
// Every spelling of the design's section 2.1, used once and checked.
#include <strop/eigen.hpp>
#include <strop/strop.hpp>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
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

struct Product {
  constexpr auto forward(auto lhs, auto rhs) const { return lhs * rhs; }
};
inline constexpr strop::Op<Product> product;
struct Scale {
  float factor = 1;
  constexpr auto forward(auto x) const { return factor * x; }
};
inline constexpr strop::Op<Scale> scale;
static_assert(strop::check::storage(Product{}, strop::csr, strop::dense) == strop::csr);
static_assert(strop::check::keeps(Scale{2}) == strop::Keeps::none);
static_assert(strop::check::keeps(Quadratic{1, 2, 3}) == strop::Keeps::in);
static_assert(std::is_enum_v<strop::Dtype> && std::is_enum_v<strop::Storage> && std::is_enum_v<strop::Keeps> &&
              std::is_enum_v<strop::Fallback>);
static_assert(std::is_same_v<decltype(strop::exp(1.0)), double> && std::is_same_v<decltype(strop::exp(1.0f)), float>);

struct RowSoftmax {
  float temperature = 1;
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 2> x, strop::View<E, 2> y) const {
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(x.shape()[0])>, std::int64_t>);
    auto in = strop::matrix(x);
    auto out = strop::matrix(y);
    out = (in.array() / E(temperature)).exp().matrix();
    out.array().colwise() /= out.array().rowwise().sum().eval();
  }
  template <strop::Real E>
  void grad_use_out(strop::Cpu&, strop::View<const E, 2> dy, strop::View<const E, 2> y, strop::View<E, 2> dx) const {
    auto g = strop::matrix(dy).array(), p = strop::matrix(y).array();
    strop::matrix(dx).array() = p * (g.colwise() - (g * p).rowwise().sum().eval()) / E(temperature);
  }
};
inline constexpr strop::Op<RowSoftmax> row_softmax;

static void arrays() {
  auto x = strop::array({{1, 2, 3}, {4, 5, 6}});
  CHECK(x.shape()[0] == 2 && x.shape()[1] == 3 && x.ndim() == 2 && x.size() == 6);
  CHECK(x.dtype() == strop::f32 && x.storage() == strop::dense && x.device() == strop::cpu(0));
  auto same = x.to(strop::dense);
  CHECK(x.to(strop::f16).dtype() == strop::f16 && x.to(strop::csr).storage() == strop::csr &&
        x.to(strop::f32).view<float, 2>().data() == x.view<float, 2>().data());
  CHECK(same.view<float, 2>().data() == x.view<float, 2>().data());
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(strop::array({7}).item<float>() == 7 && x.view<float, 2>()(1, 2) == 6);
  CHECK(strop::allclose(x + x, x * 2) && strop::allclose(x == x, strop::full({2, 3}, 1)));
  CHECK(strop::allclose(x[0], strop::array({1, 2, 3})) && strop::allclose(x.slice(1, 2), strop::array({{4, 5, 6}})));
  CHECK(strop::allclose(x.reshape({-1, 2}), strop::array({{1, 2}, {3, 4}, {5, 6}})));
  auto shared = x;
  x += 1;
  CHECK(shared.to_vector<float>()[0] == 2);
  auto apart = x.copy();
  x -= 1;
  CHECK(apart.to_vector<float>()[0] == 2 && shared.to_vector<float>()[0] == 1);
  CHECK(strop::zeros({2, 3}).dtype() == strop::f32 && strop::full({2, 3}, 7).to_vector<float>()[5] == 7 &&
        strop::arange(0, 10).size() == 10);
  CHECK(strop::zeros({2, 3}, strop::i64).dtype() == strop::i64 &&
        strop::arange(0, 10, strop::f64).dtype() == strop::f64);
  CHECK(strop::array<double>({1, 2}).dtype() == strop::f64);
  strop::random::seed(1);
  auto r = strop::random::uniform({2, 3});
  strop::random::seed(1);
  CHECK(strop::allclose(r, strop::random::uniform({2, 3})) && r.dtype() == strop::f32 &&
        !strop::allclose(r, strop::random::uniform({2, 3})));
  CHECK(strop::sum(x).shape() == strop::Shape{1});
  bool refused = false;
  try {
    (void)(x + strop::zeros({5}));
  } catch (const std::exception& e) {
    refused = std::string(e.what()).find("(2, 3)") != std::string::npos;
  }
  CHECK(refused);
}

static void outputs() {
  auto x = strop::array({1, 2}), y = strop::zeros({2});
  quadratic(x, {.a = 1}, strop::into(y));
  CHECK(strop::allclose(y, strop::array({1, 4})));
  quadratic(x, {.a = 1}, strop::add_to(y));
  CHECK(strop::allclose(y, strop::array({2, 8})));
  scale(x, strop::add_to(y));
  CHECK(strop::allclose(y, strop::array({3, 10})));
  auto wide = strop::zeros({2, 2});
  scale(x, strop::into(wide[1]));
  CHECK(strop::allclose(wide, strop::array({{0, 0}, {1, 2}})));
  CHECK(strop::allclose(strop::invoke_all("quadratic", {x}, {{"b", "3"}})[0], x * 3));
}

static void files() {
  auto w = strop::array({{1, 2}, {3, 4}});
  for (std::string path : {"spec.params", "spec.npz"}) {
    strop::save(path, {{"w", w}});
    auto back = strop::load(path);
    CHECK(back.size() == 1 && back[0].first == "w" && strop::allclose(back[0].second, w));
    std::remove(path.c_str());
  }
  strop::save("spec.npy", {{"w", w}});
  CHECK(strop::allclose(strop::load("spec.npy")[0].second, w));
  std::remove("spec.npy");
  static float memory[4] = {1, 2, 3, 4};
  int released = 0;
  {
    auto a = strop::from_pointer(memory, {2, 2}, [&released](void*) { ++released; });
    auto b = a[0];
    a = strop::NDArray();
    CHECK(released == 0 && b.to_vector<float>()[1] == 2);
  }
  CHECK(released == 1);
}

static void sparse() {
  auto m = strop::csr_matrix({1, 2, 3}, {0, 2, 1}, {0, 2, 3, 3}, {3, 4});
  CHECK(m.storage() == strop::csr && m.nnz() == 3 && m.shape()[1] == 4);
  CHECK(strop::allclose(m, strop::array({{1, 0, 2, 0}, {0, 3, 0, 0}, {0, 0, 0, 0}})));
  m.check_format();
  CHECK(m.data().to_vector<float>()[2] == 3 && m.indices().to_vector<std::int64_t>()[1] == 2 && m.indptr().size() == 4);
  auto data = strop::array({1, 2, 3}), indices = strop::array<std::int64_t>({0, 2, 1}),
       indptr = strop::array<std::int64_t>({0, 2, 3, 3});
  CHECK(strop::allclose(strop::csr_matrix(data, indices, indptr, {3, 4}), m));
  auto rows = strop::row_sparse_array(strop::array({{1, 2, 3, 4}}), strop::array<std::int64_t>({1}), {3, 4});
  CHECK(rows.storage() == strop::row_sparse && rows.nnz() == 1 && rows.to_vector<float>()[4] == 1);
  CHECK(strop::allclose(strop::dot(m, strop::full({4, 2}, 1)), strop::array({{3, 3}, {3, 3}, {0, 0}})));
  CHECK(strop::dot(m, strop::full({3, 2}, 1), {.transpose_a = true}).shape()[0] == 4);
  auto p = product(m, strop::full({3, 4}, 2));
  CHECK(p.storage() == strop::csr && strop::allclose(p, m * 2));
  strop::set_fallback(strop::Fallback::error);
  bool refused = false;
  try {
    (void)quadratic(m, {.c = 1});
  } catch (const std::exception&) {
    refused = true;
  }
  CHECK(refused);
  strop::set_fallback(strop::Fallback::silent);
  const auto before = strop::fallbacks().size();
  (void)quadratic(m, {.c = 1});
  CHECK(strop::fallbacks().size() == before + 1);
  strop::set_fallback(strop::Fallback::warn);
}

static void gradients() {
  auto x = strop::array({{0.5f, -1}, {2, 0.25f}}), y = strop::array({{1, 2}, {3, 4}});
  auto result = strop::check_gradient(product, {x, y});
  CHECK(static_cast<bool>(result) && !fmt::format("{}", result).empty());
  CHECK(static_cast<bool>(strop::check_gradient(row_softmax, {x}, {.temperature = 2})));
  auto p = row_softmax(x.to(strop::f16));
  CHECK(p.dtype() == strop::f16 && p.shape()[0] == 2);
}

struct Halved {  // all elements, whatever the rank
  void forward(strop::Cpu&, strop::View<const float> x, strop::View<float> y) const {
    strop::coefficients(y) = strop::coefficients(x) / 2;
  }
};
inline constexpr strop::Op<Halved> halved;
struct RowSums {
  void forward(strop::Cpu&, strop::CsrView<const float> x, strop::View<float, 1> y) const {
    strop::matrix(y) = strop::sparse(x) * Eigen::VectorXf::Ones(x.cols);
  }
  static void infer_shape(strop::Shapes& s) { s.set_out(0, {s.in(0)[0]}); }
  static bool infer_storage(strop::Storages& s) { return s.in(0) == strop::csr && s.set_out(0, strop::dense); }
};
inline constexpr strop::Op<RowSums> row_sums;

static void eigen() {
  auto x = strop::array({{1, 2}, {3, 4}});
  CHECK(strop::allclose(halved(x), x / 2) && strop::allclose(halved(x[0]), x[0] / 2));
  auto all = strop::coefficients(x.view<float, 2>());
  CHECK(all.size() == 4 && all.sum() == 10 && all.data() == x.view<float, 2>().data());
  auto m = strop::csr_matrix({1, 2, 3}, {0, 2, 1}, {0, 2, 3, 3}, {3, 4});
  CHECK(strop::allclose(row_sums(m), strop::array({3, 3, 0})));
}

static void devices() {
  try {
    CHECK(strop::gpu_count() == 0);
    (void)strop::array({1, 2}).to(strop::gpu(0));
  } catch (const std::exception& e) {  // this program brings no kernels
    std::puts(e.what());
  }
  try {
    strop::stream_scope on(strop::gpu(0));
    CHECK(false);
  } catch (const strop::Error& e) {
    std::puts(e.what());
  }
}

static void engine() {
  strop::Engine engine{{.threads = 2}};
  auto a = engine.variable(), b = engine.variable();
  std::vector<int> buffer;
  int total = 0, steps = 0;
  engine.push([&] { buffer = {1, 2, 3}; }, {.writes = {a}, .name = "load"});
  engine.push([&] { total = std::accumulate(buffer.begin(), buffer.end(), 0); }, {.reads = {a}, .writes = {b}});
  engine.push_async([&](strop::Engine::Done done) { buffer.push_back(4), done(); }, {.reads = {a}, .writes = {a}});
  auto update = [&] { ++steps; };
  auto step = engine.prepare(update, {.reads = {a}, .writes = {b}});
  step.push();
  step.push();
  engine.wait(b);
  CHECK(total == 6 && steps == 2);
  engine.push([] { throw std::runtime_error("no disk"); }, {.writes = {a}});
  engine.push([&] { total = -1; }, {.reads = {a}, .writes = {b}});
  int thrown = 0;
  for (int i = 0; i < 2; ++i) try {
      engine.wait(b);
    } catch (const std::exception&) {
      ++thrown;
    }
  CHECK(thrown == 2 && total == 6);
  engine.push([&] { total = 1; }, {.writes = {b}});
  engine.wait(b);
  CHECK(total == 1);
  try {
    engine.wait_all();
  } catch (const std::exception&) {
    ++thrown;
  }
  CHECK(thrown == 3);
  engine.wait_all();
  engine.push_async([](strop::Engine::Done done) { done(std::make_exception_ptr(std::runtime_error("no answer"))); },
                    {.writes = {b}});
  std::string told;
  try {
    engine.wait_all();
  } catch (const std::exception& e) {
    told = e.what();
  }
  CHECK(told.find("no answer") != std::string::npos);
  (void)strop::Engine::global();
}

static void libraries() {
  std::string told;
  try {
    strop::load_library("libmyops.so");
  } catch (const std::exception& e) {
    told = e.what();
  }
  CHECK(told.find("libmyops.so") != std::string::npos);
}

int main() {
  arrays();
  outputs();
  files();
  sparse();
  gradients();
  eigen();
  devices();
  engine();
  libraries();
  std::puts("all of 2.1");
}
// expect: strop: gpu(0) was asked for, but this program has no GPU: no .cu file with strop is in it
// expect: strop: gpu(0) was asked for, but this program has no GPU: no .cu file with strop is in it
// expect: all of 2.1
