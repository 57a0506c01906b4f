// SPDX-License-Identifier: Apache-2.0
/// \file
/// Threads of Python: waits that Ctrl-C ends, objects that are given back from any thread, threads that Python ends.
#include "stable.hpp"

#include <strop/core/ref.hpp>
#include <strop/engine/engine.hpp>
#include <strop/engine/sync.hpp>
#include <strop/tensor/variable.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace strop::python {
namespace {

using Clock = std::chrono::steady_clock;
using Order = detail::Ref<detail::Pending>;
using Orders = std::array<Order, 8>;

/// Longer waits than this are worth a thread of their own.
constexpr std::chrono::microseconds short_wait{200};
/// How long Ctrl-C may stay without an answer.
constexpr std::chrono::milliseconds patience{50};

bool is_pending(const Order& order) { return order && !detail::variable_of(*order).idle(); }

/// The orders of the last calls that were handed over: while one of them is pending, so is everything. For those who
/// hold the lock of Python. Never destroyed: the engine ends before.
Orders& latest() {
  static auto* const orders = new Orders;
  return *orders;
}

/// A wait for an array, or for everything, on a thread of its own: that of Python can then see to signals.
struct Wait {
  NDArray array;  // without one: for everything
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  std::exception_ptr failure = nullptr;

  explicit Wait(NDArray a) : array(std::move(a)) {}
  void run() { array ? array.wait() : Engine::global().wait_all(); }
  void run_apart() noexcept {
    std::exception_ptr found;
    try {
      run();
    } catch (...) {
      found = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    failure = found;
    over = true;
    ended.notify_all();
  }
  bool is_over_after(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return ended.wait_for(lock, time, [&] { return over; });
  }
};

/// Waits until `wait` is over, throws what it threw, and what a handler of a signal raises.
void attend(const std::shared_ptr<Wait>& wait) {
  while (!wait->is_over_after(patience)) {
    const Locked python;
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  }
  if (wait->failure) std::rethrow_exception(wait->failure);
}

/// A wait for everything that a signal ended; what failed meanwhile is left to the next one.
std::shared_ptr<Wait>& unattended() {
  static auto* const wait = new std::shared_ptr<Wait>;
  return *wait;
}

std::shared_ptr<Wait> begin(NDArray array) {
  auto wait = std::make_shared<Wait>(std::move(array));
  try {
    std::thread([wait] { wait->run_apart(); }).detach();
  } catch (const std::system_error&) {  // no thread is left: signals have to wait as well
    wait->run_apart();
  }
  return wait;
}

/// Whether Python handles signals on this thread.
bool is_main_thread() { return ::gettid() == ::getpid(); }

/// Looks for a short while; whether it is still pending then.
template <class F>
bool takes_long(F&& pending) {
  const Clock::time_point begin = Clock::now();
  for (int round = 0; pending(); ++round) {
    if (Clock::now() - begin > short_wait) return true;
    detail::spin_once(round);
  }
  return false;
}

}  // namespace

void stay() noexcept {
  for (;;) ::pause();
}

void note_order(const NDArray& array) {
  static std::size_t at = 0;
  if (detail::Pending* const order = array.pending()) latest()[at++ % latest().size()] = Order(order);
}

void wait_for(const NDArray& array) {
  if (!array.busy() && array.device().kind == DeviceKind::cpu) return;
  const Order order(array.pending());
  const Unlocked others(true);
  if (is_main_thread() && takes_long([&] { return is_pending(order); })) attend(begin(array));
  array.wait();
}

void wait_for_all() {
  if (!is_main_thread()) {
    const Unlocked others(true);
    return Engine::global().wait_all();
  }
  std::shared_ptr<Wait> wait = std::exchange(unattended(), nullptr);
  const Orders orders = latest();
  for (bool before = wait != nullptr;; before = false) {
    try {
      const Unlocked others(true);
      const auto pending = [&] { return std::ranges::any_of(orders, is_pending); };
      if (!before && !takes_long(pending)) return Engine::global().wait_all();
      if (!before) wait = begin({});
      attend(wait);
      if (!before) return;
    } catch (const nb::python_error&) {
      if (wait != nullptr && !wait->is_over_after({})) unattended() = wait;
      throw;
    }
  }
}

void release_later(PyObject* object) noexcept {
  if (!Py_IsInitialized()) return;
  if (has_lock()) {
    Py_DECREF(object);
    return;
  }
  // A thread of Python may wait for this one: it takes the object when it comes by.
  const auto give_back = [](void* given) {
    Py_DECREF(static_cast<PyObject*>(given));
    return 0;
  };
  if (Py_AddPendingCall(give_back, object) == 0) return;
  const Locked python;
  Py_DECREF(object);
}

namespace {

std::mutex keeping;
/// Never destroyed: what keeps objects may outlive it.
std::set<Kept*>& keepers() {
  static auto* const all = new std::set<Kept*>;
  return *all;
}

}  // namespace

Kept::Kept() {
  const std::lock_guard lock(keeping);
  keepers().insert(this);
}
Kept::~Kept() {
  PyObject* object = nullptr;
  {
    const std::lock_guard lock(keeping);
    keepers().erase(this);
    object = object_;
  }
  if (object != nullptr) release_later(object);
}
void Kept::set(nb::object object) {
  PyObject* given = object.release().ptr();
  {
    const std::lock_guard lock(keeping);
    std::swap(object_, given);
  }
  Py_XDECREF(given);
}
void Kept::end() {
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(keeping);
    for (Kept* const one : keepers())
      if (one->object_ != nullptr) objects.push_back(std::exchange(one->object_, nullptr));
  }
  for (PyObject* const one : objects) Py_DECREF(one);
}

}  // namespace strop::python
