// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rules of a store in one process, one by one: what MXNet's does, and sentences where it says nothing.
#include <doctest/doctest.h>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace strop;
using testing::sentence;

namespace {

const Shape shape{3};
NDArray of(float a, float b, float c) { return array({a, b, c}); }
std::vector<float> pulled(KVStore& kv, const Key& key) {
  const NDArray out = zeros(shape);
  kv.pull(key, out);
  return out.to_vector<float>();
}
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a store has the type that it was asked for, and one worker") {
  for (const char* type : {"local", "device", "local_allreduce_cpu", "Local"}) {
    const KVStore kv = KVStore::create(type);
    CHECK(kv.rank() == 0);
    CHECK(kv.num_workers() == 1);
  }
  CHECK(KVStore::create("LOCAL").type() == "local");
  CHECK(KVStore::create().type() == "local");
}

TEST_CASE("an unknown type is a local store, and is told of") {
  static std::string said;
  const LogSink before = set_log_sink([](std::string_view message) noexcept { said = message; });
  CHECK(KVStore::create("my_store").type() == "my_store");
  set_log_sink(before);
  CHECK(said == "KVStore: 'my_store' is no known type, and so a local store, as in MXNet");
}

TEST_CASE("what this version does not have is refused") {
  CHECK(sentence([] { KVStore::create("nccl"); }) ==
        "KVStore::create(\"nccl\"): NCCL is not in this version, which has local, device, dist_sync, dist_device_sync "
        "and dist_async");
}

TEST_CASE("init copies, pull copies to every array") {
  KVStore kv = KVStore::create();
  NDArray w = of(1, 2, 3);
  kv.init("w", w);

  w.view<float, 1>()[0] = 100;
  const NDArray a = zeros(shape), b = zeros(shape);
  kv.pull("w", {a, b});
  CHECK(a.to_vector<float>() == Floats{1, 2, 3});
  CHECK(b.to_vector<float>() == Floats{1, 2, 3});
  a.view<float, 1>()[1] = 50;
  CHECK(pulled(kv, "w") == Floats{1, 2, 3});
}

TEST_CASE("a push without an updater takes the place of what is stored") {
  KVStore kv = KVStore::create();
  kv.init("w", of(1, 2, 3));
  kv.push("w", of(4, 5, 6));
  CHECK(pulled(kv, "w") == Floats{4, 5, 6});
  kv.push("w", {of(1, 1, 1), of(2, 2, 2), of(4, 4, 4)});
  CHECK(pulled(kv, "w") == Floats{7, 7, 7});
}

TEST_CASE("one dense array that is pushed without an updater is what is stored, as in MXNet") {
  KVStore kv = KVStore::create();
  kv.init("w", of(1, 2, 3));
  const NDArray g = of(4, 5, 6);
  kv.push("w", g);
  g.view<float, 1>()[0] = 40;
  CHECK(pulled(kv, "w") == Floats{40, 5, 6});
  kv.pull("w", g);  // onto itself
  CHECK(g.to_vector<float>() == Floats{40, 5, 6});
}

TEST_CASE("keys are numbers as well, single or in lists; a list of lists has the arrays of each key") {
  KVStore kv = KVStore::create("device");
  kv.init({3, 5, 7}, {of(1, 1, 1), of(2, 2, 2), of(3, 3, 3)});
  CHECK(pulled(kv, 5) == Floats{2, 2, 2});
  kv.push({3, 5}, {{of(1, 0, 0), of(0, 1, 0)}, {of(5, 5, 5), of(1, 1, 1)}});
  CHECK(pulled(kv, 3) == Floats{1, 1, 0});
  CHECK(pulled(kv, 5) == Floats{6, 6, 6});
  const NDArray a = zeros(shape), b = zeros(shape), c = zeros(shape);
  kv.pull({3, 7}, {{a, b}, {c}});
  CHECK(a.to_vector<float>() == Floats{1, 1, 0});
  CHECK(b.to_vector<float>() == a.to_vector<float>());
  CHECK(c.to_vector<float>() == Floats{3, 3, 3});
  const std::vector<int> keys{3, 5};
  const std::vector<NDArray> values{of(1, 2, 3), of(4, 5, 6)};
  kv.push(keys, values);
  CHECK(pulled(kv, 5) == Floats{4, 5, 6});
}

TEST_CASE("a key that stands several times in a list has all of its arrays") {
  KVStore kv = KVStore::create();
  kv.init({"a", "b"}, {of(0, 0, 0), of(0, 0, 0)});
  kv.push({"a", "b", "a"}, {of(1, 1, 1), of(5, 5, 5), of(2, 2, 2)});
  CHECK(pulled(kv, "a") == Floats{3, 3, 3});
  CHECK(pulled(kv, "b") == Floats{5, 5, 5});
}

TEST_CASE("an updater is given the key, the sum and the weight; it assigns or writes in place") {
  KVStore kv = KVStore::create();
  kv.init({1, 2}, {of(1, 1, 1), of(10, 10, 10)});
  std::string seen;
  kv.set_updater([&seen](const std::string& key, const NDArray& gradient, NDArray& weight) {
    seen += key;
    if (key == "1")
      weight = weight + gradient * 2;
    else
      elemwise_add(gradient, ones(shape), into(weight));
  });
  kv.push({1, 2}, {{of(1, 2, 3), of(1, 0, 0)}, {of(7, 8, 9)}});
  CHECK(seen == "12");
  CHECK(pulled(kv, 1) == Floats{5, 5, 7});
  CHECK(pulled(kv, 2) == Floats{8, 9, 10});
}

TEST_CASE("pushpull pulls into other arrays, or into those that were pushed; broadcast is init and pull") {
  KVStore kv = KVStore::create();
  const NDArray a = zeros(shape), b = zeros(shape);
  kv.broadcast("w", of(1, 2, 3), {a, b});
  CHECK(b.to_vector<float>() == Floats{1, 2, 3});
  kv.pushpull("w", {of(1, 1, 1), of(2, 2, 2)}, a);
  CHECK(a.to_vector<float>() == Floats{3, 3, 3});
  const NDArray g0 = of(1, 1, 1), g1 = of(5, 5, 5);
  kv.pushpull("w", {g0, g1});
  CHECK(g0.to_vector<float>() == Floats{6, 6, 6});
  CHECK(g1.to_vector<float>() == Floats{6, 6, 6});
}

TEST_CASE("halves are added in float32 and rounded once") {
  KVStore kv = KVStore::create();
  kv.init("h", zeros({1}, f16));
  std::vector<NDArray> many{full({1}, 2048, f16)};
  for (int i = 0; i < 8; ++i) many.push_back(full({1}, 1, f16));  // each alone would be lost in 2048
  kv.push("h", many);
  const NDArray out = zeros({1}, f16);
  kv.pull("h", out);
  CHECK(out.item<float>() == 2056);
}

TEST_CASE("row_sparse pushes are added row by row, in order") {
  KVStore kv = KVStore::create();
  kv.init("t", zeros({5, 2}, row_sparse));
  const NDArray a = row_sparse_array({{1, 1}, {2, 2}}, {3, 0}, {5, 2}),  // not sorted
      b = row_sparse_array({{10, 10}, {20, 20}}, {1, 3}, {5, 2});
  kv.push("t", {a, b});
  const NDArray out = zeros({5, 2}, row_sparse);
  kv.pull("t", out, 0, false);
  CHECK(out.indices().to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 3});
  CHECK(out.data().to_vector<float>() == Floats{2, 2, 10, 10, 21, 21});
  const NDArray whole = zeros({5, 2});
  kv.pull("t", whole);
  CHECK(whole.to_vector<float>() == Floats{2, 2, 10, 10, 0, 0, 21, 21, 0, 0});
  kv.push("t", whole);  // the sum is stored as it is
  kv.pull("t", out, 0, false);
  CHECK(out.storage() == row_sparse);
  CHECK(out.nnz() == 3);
}

TEST_CASE("sparse arrays are left out of a pull unless they are asked for") {
  static int told = 0;
  told = 0;
  KVStore kv = KVStore::create();
  kv.init("t", row_sparse_array({{1, 1}}, {3}, {5, 2}));
  const NDArray out = zeros({5, 2}, row_sparse);
  const LogSink before = set_log_sink([](std::string_view) noexcept { ++told; });
  kv.pull("t", out);
  set_log_sink(before);
  CHECK(told == 1);
  CHECK(out.nnz() == 0);
  kv.pull("t", out, 0, false);
  CHECK(out.nnz() == 1);
}

TEST_CASE("row_sparse_pull gives exactly the rows that are asked for, in any order, repeated or not") {
  KVStore kv = KVStore::create();
  kv.init("t", row_sparse_array({{1, 1}, {2, 2}, {3, 3}}, {0, 2, 5}, {6, 2}));
  const NDArray a = zeros({6, 2}, row_sparse), b = zeros({6, 2}, row_sparse);
  kv.row_sparse_pull("t", {a}, {array<std::int64_t>({5, 0, 5, 4})});
  CHECK(a.indices().to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 4, 5});
  CHECK(a.data().to_vector<float>() == Floats{1, 1, 0, 0, 3, 3});
  kv.row_sparse_pull("t", {a, b}, {array({{2, 2}}), array<std::int32_t>({1})});
  CHECK(a.data().to_vector<float>() == Floats{2, 2});
  CHECK(b.data().to_vector<float>() == Floats{0, 0});
  kv.row_sparse_pull("t", {a, b}, array({0, 2}));  // one for both
  CHECK(b.data().to_vector<float>() == Floats{1, 1, 2, 2});
  CHECK(a.data().to_vector<float>() == b.data().to_vector<float>());
  kv.row_sparse_pull("t", a, zeros({0}, i64));
  CHECK(a.nnz() == 0);
  kv.init("empty", zeros({6, 2}, row_sparse));
  kv.row_sparse_pull("empty", b, array({1, 2}));
  CHECK(b.nnz() == 0);
}

TEST_CASE("what is pulled is apart from what is stored") {
  KVStore kv = KVStore::create();
  kv.init("t", row_sparse_array({{1, 1}}, {3}, {5, 2}));
  const NDArray out = zeros({5, 2}, row_sparse);
  kv.pull("t", out, 0, false);
  out.data().view<float, 2>()(0, 0) = 9;
  const NDArray again = zeros({5, 2}, row_sparse);
  kv.pull("t", again, 0, false);
  CHECK(again.data().to_vector<float>() == Floats{1, 1});
}

TEST_CASE("nothing is recorded") {
  KVStore kv = KVStore::create();
  kv.init("w", of(1, 1, 1));
  kv.set_updater([](const std::string&, const NDArray& g, NDArray& w) {
    CHECK_FALSE(is_recording());
    w = w + g;
  });
  const NDArray x = of(1, 2, 3);
  x.attach_grad();
  const record scope;
  const NDArray y = x * 2;
  kv.push("w", y);
  const NDArray out = zeros(shape);
  kv.pull("w", out);
  CHECK(out.to_vector<float>() == Floats{3, 5, 7});
  CHECK_THROWS(out.backward());
}

TEST_CASE("an optimizer updates, and what it remembers is saved and read back") {
  const std::string path = "kvstore_rules.states";
  const auto train = [&](bool save, bool load) {
    KVStore kv = KVStore::create();
    kv.init("w", of(1, 2, 3));
    kv.set_optimizer(optim::Sgd{.learning_rate = 0.5, .momentum = 0.5});
    if (load)
      kv.load_states(path);
    else
      kv.push("w", {of(1, 1, 1), of(1, 1, 1)});
    if (save) kv.save_states(path);
    if (load) kv.push("w", of(0, 0, 0));
    return pulled(kv, "w");
  };
  CHECK(train(true, false) == Floats{0, 1, 2});           // 1 − 0.5 · 2
  CHECK(train(false, true) == Floats{0.5F, 1.5F, 2.5F});  // the momentum, −1, goes on by half
  std::remove(path.c_str());
}

TEST_CASE("what cannot be is refused in one sentence, and changes nothing") {
  KVStore kv = KVStore::create();
  CHECK(sentence([&] { kv.push("w", of(1, 1, 1)); }) ==
        "KVStore::push: there is no key 'w'; init(\"w\", …) comes first");
  kv.init("w", of(1, 2, 3));
  CHECK(sentence([&] { kv.init("w", of(1, 2, 3)); }) == "KVStore::init: key 'w' is initialised already");
  CHECK(sentence([&] { kv.init({"v", "v"}, {of(1, 2, 3), of(1, 2, 3)}); }) ==
        "KVStore::init: key 'v' has 2 arrays, expected one");
  CHECK(sentence([&] { kv.pull("v", zeros(shape)); }) ==
        "KVStore::pull: there is no key 'v'; init(\"v\", …) comes first");
  CHECK(sentence([&] { kv.init(3, of(1, 2, 3)); }) ==
        "KVStore::init: key 3 is a number, and the store has texts as keys");
  CHECK(sentence([&] { KVStore::create().init({Key("a"), Key(1)}, {of(1, 2, 3), of(1, 2, 3)}); }) ==
        "KVStore::init: key 1 is a number, and the store has texts as keys");
  CHECK(sentence([&] { kv.push("w", NDArray()); }) == "KVStore::push: key 'w': a handle without an array");
  CHECK(sentence([&] { kv.push("w", std::vector<NDArray>{}); }) ==
        "KVStore::push: key 'w': the list of arrays is empty");
  CHECK(sentence([&] { kv.push({"w", "w"}, {of(1, 2, 3)}); }) ==
        "KVStore::push: there are 2 keys and 1 arrays or lists of arrays");
  CHECK(sentence([&] { kv.push("w", {of(1, 2, 3), zeros({4})}); }) ==
        "KVStore::push: key 'w': an array has shape (4,), expected (3,)");
  CHECK(sentence([&] { kv.push("w", zeros(shape, f64)); }) ==
        "KVStore::push: key 'w': an array is float64, expected float32");
  CHECK(sentence([&] { kv.pull("w", zeros({3, 1})); }) ==
        "KVStore::pull: key 'w': an array has shape (3, 1) and type float32, expected (3,) and float32");
  kv.init("t", zeros({3, 2}, row_sparse));
  CHECK(sentence([&] { kv.push("t", zeros({3, 2}, csr)); }) ==
        "KVStore::push: key 't': an array is CSR, expected dense or row_sparse ones");
  CHECK(sentence([&] { kv.push("t", {zeros({3, 2}), zeros({3, 2}, row_sparse)}); }) ==
        "KVStore::push: key 't': one array is dense and another row_sparse");
  const NDArray out = zeros({3, 2}, row_sparse);
  CHECK(sentence([&] { kv.row_sparse_pull("w", out, array({0})); }) ==
        "KVStore::row_sparse_pull: key 'w': the stored array is dense, expected row_sparse");
  CHECK(sentence([&] { kv.row_sparse_pull("t", zeros({3, 2}), array({0})); }) ==
        "KVStore::row_sparse_pull: key 't': an array is dense of shape (3, 2) and type float32, expected row_sparse, "
        "(3, 2), float32");
  CHECK(sentence([&] { kv.row_sparse_pull("t", out, array<std::int64_t>({3})); }) ==
        "KVStore::row_sparse_pull: key 't': row id 3 is outside of the 3 rows");
  CHECK(sentence([&] { kv.row_sparse_pull("t", out, array({0.5})); }) ==
        "KVStore::row_sparse_pull: key 't': row id 0.5 is no whole number from 0 to 2");
  CHECK(sentence([&] { kv.row_sparse_pull("t", out, array({-1})); }) ==
        "KVStore::row_sparse_pull: key 't': row id -1 is no whole number from 0 to 2");
  CHECK(sentence([&] { kv.row_sparse_pull("t", {out, out}, {array({0}), array({0}), array({0})}); }) ==
        "KVStore::row_sparse_pull: key 't': there are 3 arrays of row ids for 2 arrays, expected one for each or one "
        "for all");
  CHECK(sentence([&] { kv.save_states("kvstore_rules.states"); }) ==
        "KVStore::save_states: the store has no optimizer; set_optimizer comes first");
  kv.set_updater([](const std::string&, const NDArray&, NDArray&) {});
  CHECK(sentence([&] { kv.save_states("kvstore_rules.states"); }) ==
        "KVStore::save_states: the updater is a function of the program, and what it remembers is not known; "
        "set_optimizer has states");
  CHECK(pulled(kv, "w") == Floats{1, 2, 3});
}

TEST_CASE("a list with one wrong array pushes none of the others") {
  KVStore kv = KVStore::create();
  kv.init({"a", "b"}, {of(1, 1, 1), of(2, 2, 2)});
  CHECK_THROWS(kv.push({"a", "b"}, {of(5, 5, 5), zeros({4})}));
  CHECK(pulled(kv, "a") == Floats{1, 1, 1});
}

TEST_CASE("an updater that throws leaves its key as it was") {
  KVStore kv = KVStore::create();
  kv.init({"a", "b"}, {of(1, 1, 1), of(2, 2, 2)});
  kv.set_updater([](const std::string& key, const NDArray& g, NDArray& w) {
    elemwise_add(w, g, into(w));
    if (key == "b") fail("this is enough");
  });
  CHECK(sentence([&] { kv.push({"a", "b"}, {of(1, 1, 1), of(1, 1, 1)}); }) == "this is enough");
  CHECK(pulled(kv, "a") == Floats{2, 2, 2});
  CHECK(pulled(kv, "b") == Floats{2, 2, 2});
  kv.set_updater([](const std::string&, const NDArray&, NDArray& w) { w = zeros({7}); });
  CHECK(sentence([&] { kv.push("a", of(1, 1, 1)); }) ==
        "KVStore::push: key 'a': the updater assigned an array of shape (7,) and type float32, expected shape (3,) and "
        "type float32");
  CHECK(pulled(kv, "a") == Floats{2, 2, 2});
}

TEST_CASE("an optimizer does not write the arrays of those who push") {
  KVStore kv = KVStore::create();
  kv.init({"a", "b"}, {of(0, 0, 0), of(0, 0, 0)});
  const NDArray mine = of(5, 5, 5);
  kv.push({"a", "b"}, {mine, mine});
  kv.set_optimizer(optim::Sgd{.learning_rate = 1});
  for (int step = 1; step <= 2; ++step) {
    kv.push("a", of(1, 1, 1));
    CHECK(pulled(kv, "a") ==
          Floats{5.f - static_cast<float>(step), 5.f - static_cast<float>(step), 5.f - static_cast<float>(step)});
  }
  CHECK(pulled(kv, "b") == Floats{5, 5, 5});
  CHECK(mine.to_vector<float>() == Floats{5, 5, 5});

  KVStore taken = KVStore::create();
  taken.init("a", of(0, 0, 0));
  taken.set_updater([](const std::string&, const NDArray& g, NDArray& w) { w = g; });
  taken.push("a", mine);
  taken.set_optimizer(optim::Sgd{.learning_rate = 1});
  taken.push("a", of(1, 1, 1));
  CHECK(pulled(taken, "a") == Floats{4, 4, 4});
  CHECK(mine.to_vector<float>() == Floats{5, 5, 5});
}

TEST_CASE("a store that was moved says so") {
  KVStore kv = KVStore::create();
  const KVStore other = std::move(kv);
  CHECK(sentence([&] { (void)kv.rank(); }) == "KVStore: this store was moved to another one");  // NOLINT
  CHECK(other.num_workers() == 1);
}
