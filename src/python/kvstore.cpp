// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stores of arrays under keys, which call what Python gives them as an updater.
#include "stable.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <strop/kvstore/kvstore.hpp>

#include <cstdint>
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
    const nb::object made = call("states");
    const nb::bytes bytes = nb::cast<nb::bytes>(made);
    return {bytes.c_str(), bytes.size()};
  }
  void set_states(std::string_view states) override {
    const Locked python;
    call("set_states", nb::bytes(states.data(), states.size()).ptr());
  }

 private:
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

/// A store, whose calls let other threads of Python run: they wait for other workers, and the updater takes the lock
/// again.
class Store {
 public:
  using Arrays = std::vector<std::vector<NDArray>>;

  explicit Store(const std::string& type) : store_(KVStore::create(type)) {}

  const KVStore& get() const { return store_; }
  void init(const nb::list& keys, const Arrays& values) {
    in_its_own_time(keys, [&](const Keys& own) { store_.init(own, values); });
  }
  void push(const nb::list& keys, const Arrays& values, int priority) {
    in_its_own_time(keys, [&](const Keys& own) { store_.push(own, values, priority); });
  }
  void pull(const nb::list& keys, const Arrays& outs, int priority, bool ignore_sparse) {
    in_its_own_time(keys, [&](const Keys& own) { store_.pull(own, outs, priority, ignore_sparse); });
  }
  void row_sparse_pull(const nb::list& keys, const Arrays& outs, const Arrays& row_ids, int priority) {
    in_its_own_time(keys, [&](const Keys& own) { store_.row_sparse_pull(own, outs, row_ids, priority); });
  }
  void barrier() {
    const Unlocked others(true);
    store_.barrier();
  }
  void set_updater(nb::object updater) {
    store_.set_updater(detail::Ref<detail::StoreUpdater>(new PythonUpdater(std::move(updater))));
  }
  void compress(const std::string& type, double threshold) {
    store_.set_gradient_compression({.type = type, .threshold = threshold});
  }
  void save_states(const Path& path) {
    const Unlocked others(true);
    store_.save_states(path.text);
  }
  void load_states(const Path& path) {
    const Unlocked others(true);
    store_.load_states(path.text);
  }

 private:
  template <class F>
  void in_its_own_time(const nb::list& keys, F&& f) {
    const Keys own = keys_of(keys);
    {
      const Unlocked others(true);
      f(own);
    }
    tell_fallbacks();
  }
  KVStore store_;
};

}  // namespace

void add_kvstore(nb::module_& module) {
  nb::class_<Store>(module, "_KVStore", "What kvstore.py hands keys and arrays to.")
      .def(nb::new_([](const std::string& type) {
        const Unlocked others(true);  // the workers meet here
        return new Store(type);
      }))
      .def_prop_ro("type", [](const Store& store) { return store.get().type(); })
      .def_prop_ro("rank", [](const Store& store) { return store.get().rank(); })
      .def_prop_ro("num_workers", [](const Store& store) { return store.get().num_workers(); })
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
