// SPDX-License-Identifier: Apache-2.0
/// \file
/// Threads of Python: waits that Ctrl-C ends, objects that are given back from any thread, threads that Python ends,
/// forks.
#include "stable.hpp"

#include <strop/core/fork.hpp>
#include <strop/core/ref.hpp>
#include <strop/engine/engine.hpp>
#include <strop/engine/sync.hpp>
#include <strop/memory/random.hpp>
#include <strop/op/wait_apart.hpp>
#include <strop/tensor/variable.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
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

/// The orders of the last calls that were enqueued: while one of them is pending, so is everything. For those who
/// hold the lock of Python. Never destroyed: the engine ends before.
Orders& latest() {
  static auto* const orders = new Orders;
  return *orders;
}

/// A wait, or a call that takes long, on a thread of its own: that of Python can then see to signals.
struct Wait {
  std::function<void()> work;  // which owns what it uses
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  std::exception_ptr failure = nullptr;

  explicit Wait(std::function<void()> w) : work(std::move(w)) {}
  void run() noexcept {
    std::exception_ptr found;
    try {
      work();
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

/// Waits until `wait` is over, and throws what a handler of a signal raises.
void hear(Wait& wait) {
  while (!wait.is_over_after(patience)) {
    const Locked python;
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  }
}
/// The same, and throws what it threw.
void attend(const std::shared_ptr<Wait>& wait) {
  hear(*wait);
  if (wait->failure) std::rethrow_exception(wait->failure);
}

/// A wait for everything that a signal ended; what failed meanwhile is left to the next one.
std::shared_ptr<Wait>& unattended() {
  static auto* const wait = new std::shared_ptr<Wait>;
  return *wait;
}

/// A call that a signal ended, and which still computes. What it reads and writes is not touched before it is over.
std::shared_ptr<Wait>& abandoned() {
  static auto* const wait = new std::shared_ptr<Wait>;
  return *wait;
}

std::shared_ptr<Wait> begin(std::function<void()> work) {
  auto wait = std::make_shared<Wait>(std::move(work));
  try {
    std::thread([wait] { wait->run(); }).detach();
  } catch (const std::system_error&) {  // no thread is left: signals have to wait as well
    wait->run();
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

bool hears_signals() noexcept {
  // What a thread gathers, notes and is in the middle of is its own, and would not be found on another one.
  return detail::Gathering::current == nullptr && random::Replay::current == nullptr &&
         random::Noting::current == nullptr && detail::call_mode.tracer == nullptr &&
         detail::call_mode.operation == nullptr && is_main_thread();
}

void run_apart(std::function<void()> work) {
  if (any_abandoned) end_abandoned();  // one at a time can be kept in mind
  const Unlocked others(true);
  const std::shared_ptr<Wait> wait = begin([work = std::move(work), mode = detail::call_mode] {
    const detail::CallModeScope as_there(mode);
    work();
  });
  try {
    attend(wait);
  } catch (const nb::python_error&) {
    if (!wait->is_over_after({})) {
      abandoned() = wait;
      any_abandoned = true;
    }
    throw;
  }
}

void end_abandoned() {
  if (!is_main_thread()) return;
  const Unlocked others(true);
  hear(*abandoned());
  abandoned() = nullptr;
  any_abandoned = false;
}

void wait_for(const NDArray& array) {
  if (any_abandoned) end_abandoned();
  if (!array.busy() && array.device().kind == DeviceKind::cpu) return;
  const Order order(array.pending());
  const Unlocked others(true);
  if (is_main_thread() && takes_long([&] { return is_pending(order); })) attend(begin([array] { array.wait(); }));
  array.wait();
}

/// Inside of calls as well.
void make_calls_hear() {
  detail::wait_apart.store([](const Order& order, void (*wait)(detail::Pending&)) {
    const Unlocked others(has_lock());
    if (hears_signals() && takes_long([&] { return is_pending(order); }))
      attend(begin([order, wait] { wait(*order); }));
    else
      wait(*order);
  });
}

void wait_for_all() {
  if (any_abandoned) end_abandoned();
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
      if (!before) wait = begin([] { Engine::global().wait_all(); });
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

detail::ForkMutex keeping;
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

/// What is pending may need the lock of Python, also where a fork or another thread waits for it inside a call.
void add_threads() {
  make_calls_hear();
  detail::run_unlocked.store([](void (*f)(void*), void* context) {
    const Unlocked others(Py_IsInitialized() != 0 && has_lock());
    f(context);
  });
  // Inside fork() Python holds locks of its own, without which no thread can come to it for the first time.
  const nb::object before = nb::cpp_function([] { detail::settle_for_fork(); });
  const nb::object in_child = nb::cpp_function([] {
    unattended() = abandoned() = nullptr;  // the threads that are at it are not there
    any_abandoned = false;
  });
  nb::module_::import_("os").attr("register_at_fork")(nb::arg("before") = before, nb::arg("after_in_child") = in_child);
}

}  // namespace strop::python
