// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stores of arrays under keys, which call what Python gives them as an updater.
#include "stable.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <strop/kvstore/kvstore.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::python {
namespace {

/// An updater that is written in Python: an object with update(key, gradient, weight), states() and set_states(bytes).
class PythonUpdater final : public detail::StoreUpdater {
 public:
  explicit PythonUpdater(nb::object object) : object_(std::move(object)) {}

  void update(const std::string& key, const NDArray& gradient, NDArray& weight) override {
    const Locked python;
    const nb::object text = to_text(key), from = nb::steal(wrap(gradient)), to = nb::steal(wrap(weight));
    call("update", text.ptr(), from.ptr(), to.ptr());
  }
  std::string states() const override {
    const Locked python;
    return text_of_bytes(call("states"));
  }
  void set_states(std::string_view states) override {
    const Locked python;
    call("set_states", nb::bytes(states.data(), states.size()).ptr());
  }
  std::string merged(detail::Span<const std::string> all) const override {
    const Locked python;
    nb::list parts;
    for (const std::string& one : all) parts.append(nb::bytes(one.data(), one.size()));
    return text_of_bytes(call("merged", parts.ptr()));
  }

 private:
  static std::string text_of_bytes(const nb::object& made) {
    const nb::bytes bytes = nb::cast<nb::bytes>(made);
    return {bytes.c_str(), bytes.size()};
  }
  template <class... Arguments>
  nb::object call(const char* method, Arguments... arguments) const {
    if (object_.get() == nullptr) refuse(Kind::other, "KVStore: the program has ended");
    const nb::object function = nb::borrow(object_.get()).attr(method);
    PyObject* const list[] = {arguments..., nullptr};
    const nb::object made =
        nb::steal(staying([&] { return PyObject_Vectorcall(function.ptr(), list, sizeof...(arguments), nullptr); }));
    if (made.ptr() == nullptr) nb::raise_python_error();
    return made;
  }
  Kept object_;
};

/// Keys as kvstore.py gives them: texts or numbers.
Keys keys_of(const nb::list& given) {
  std::vector<Key> keys;
  for (const nb::handle one : given) {
    if (PyUnicode_Check(one.ptr()) != 0)
      keys.push_back(view_of(one.ptr()));
    else
      keys.push_back(integer_of(one.ptr()).value());
  }
  return Keys(keys);
}

/// A store, whose calls and end let other threads of Python run: they wait for other workers, and the updater takes the
/// lock again, on a thread of the store.
class Store {
 public:
  using Arrays = std::vector<std::vector<NDArray>>;

  explicit Store(const std::string& type) : store_(KVStore::create(type)) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store() { close(true); }

  /// Ends the store. Unless it `waits`, this is as if an exception left it: the other workers find that it has gone.
  void close(bool waits) {
    if (!store_) return;
    const Unlocked others(true);
    if (waits) return store_.reset();
    struct Left {};
    try {
      const std::optional<KVStore> last = std::exchange(store_, std::nullopt);
      throw Left();
    } catch (const Left&) {
    }
  }
  KVStore& get() {
    if (!store_) refuse(Kind::other, "KVStore: the program has ended");
    return *store_;
  }
  void init(const nb::list& keys, const Arrays& values) {
    in_its_own_time(keys, [&](KVStore& store, const Keys& own) { store.init(own, values); });
  }
  void push(const nb::list& keys, const Arrays& values, int priority) {
    in_its_own_time(keys, [&](KVStore& store, const Keys& own) { store.push(own, values, priority); });
  }
  void pull(const nb::list& keys, const Arrays& outs, int priority, bool ignore_sparse) {
    in_its_own_time(keys, [&](KVStore& store, const Keys& own) { store.pull(own, outs, priority, ignore_sparse); });
  }
  void row_sparse_pull(const nb::list& keys, const Arrays& outs, const Arrays& row_ids, int priority) {
    in_its_own_time(keys,
                    [&](KVStore& store, const Keys& own) { store.row_sparse_pull(own, outs, row_ids, priority); });
  }
  void barrier() {
    KVStore& store = get();
    const Unlocked others(true);
    store.barrier();
  }
  void set_updater(nb::object updater) {
    detail::Ref<detail::StoreUpdater> made(new PythonUpdater(std::move(updater)));
    KVStore& store = get();
    const Unlocked others(true);
    store.set_updater(std::move(made));
  }
  void compress(const std::string& type, double threshold) {
    get().set_gradient_compression({.type = type, .threshold = threshold});
  }
  void save_states(const Path& path) {
    KVStore& store = get();
    const Unlocked others(true);
    store.save_states(path.text);
  }
  void load_states(const Path& path) {
    KVStore& store = get();
    const Unlocked others(true);
    store.load_states(path.text);
  }

 private:
  template <class F>
  void in_its_own_time(const nb::list& keys, F&& f) {
    const Keys own = keys_of(keys);
    KVStore& store = get();
    {
      const Unlocked others(true);
      f(store, own);
    }
    tell_fallbacks();
  }
  std::optional<KVStore> store_;  // empty once it is closed
};

}  // namespace

void add_kvstore(nb::module_& module) {
  nb::class_<Store>(module, "_KVStore", "What kvstore.py hands keys and arrays to.")
      .def(nb::new_([](const std::string& type) {
        const Unlocked others(true);  // the workers meet here
        return new Store(type);
      }))
      .def_prop_ro("type", [](Store& store) { return store.get().type(); })
      .def_prop_ro("rank", [](Store& store) { return store.get().rank(); })
      .def_prop_ro("num_workers", [](Store& store) { return store.get().num_workers(); })
      .def_static("owner_of",
                  [](const std::string& key, detail::Index workers) { return detail::owner_of_key(key, workers); })
      .def("close", &Store::close)
      .def("init", &Store::init)
      .def("push", &Store::push)
      .def("pull", &Store::pull)
      .def("row_sparse_pull", &Store::row_sparse_pull)
      .def("barrier", &Store::barrier)
      .def("set_updater", &Store::set_updater)
      .def("compress", &Store::compress)
      .def("save_states", &Store::save_states)
      .def("load_states", &Store::load_states);
}

}  // namespace strop::python
