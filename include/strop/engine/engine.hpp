// SPDX-License-Identifier: Apache-2.0
/// \file
/// The dependency engine: functions run as soon as the variables that they read and write allow.
#pragma once
#include <strop/core/push_macros.def>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <source_location>
#include <string_view>
#include <strop/core/device.hpp>
#include <strop/core/error.hpp>
#include <strop/core/fork.hpp>
#include <strop/engine/bulk.hpp>
#include <strop/engine/context.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/done.hpp>
#include <strop/engine/failure.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/options.hpp>
#include <strop/engine/step.hpp>
#include <strop/engine/trace.hpp>
#include <strop/engine/uses.hpp>
#include <strop/engine/variable.hpp>
#include <type_traits>
#include <utility>

namespace strop::inline v0 {

/// Runs functions in an order that respects what they read and write.
///
/// Two operations of which one writes a variable that the other one reads or writes run in the order in which they were
/// pushed; all others may run at the same time. All members but the destructor may be called from any number of
/// threads, also from operations; a variable or a step is a handle, which threads copy and do not share while one
/// assigns it. An operation that throws fails: the failure goes to every variable that it writes, and on through every
/// operation that reads or updates one of those, which is then not run. A variable that is overwritten (in `.writes`
/// alone) is healed.
class Engine {
 public:
  using Kind = EngineKind;
  using Options = EngineOptions;
  using Variable = EngineVariable;
  using Uses = EngineUses;
  using Done = EngineDone;
  using Step = EngineStep;
  using Context = EngineContext;
  class Bulk;

  Engine() : Engine(Options{}) {}
  /// Starts no thread. Throws Error where options or environment say what does not exist.
  Engine(const Options& options) : core_(new detail::Core(options)) {}
  /// Waits for everything that was pushed, Dones included; failures that nobody has seen go to the log, not further.
  /// Variables may outlive the engine.
  ~Engine() {
    if (detail::Core::inside_operation_of(core_)) return;  // it cannot wait for itself: the engine lives on
    core_->close();
    delete core_;
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The engine that arrays use. When the process ends it finishes its work, and says what failed and nobody has seen;
  /// what is pushed later runs at the call.
  static Engine& global() {
    if (Engine* const made = global_.load(std::memory_order_acquire)) [[likely]]
      return *made;
    return make_global();
  }

  Kind kind() const { return core_->kind(); }
  int threads() const { return core_->threads(); }

  /// A new variable: stands for anything that operations read and write.
  Variable variable() { return detail::Access::handle(detail::Var::make(core_)); }

  /// Has fn() run once its uses allow. What fn throws is raised by whoever waits for what it writes. Throws, and pushes
  /// nothing, only where a variable is empty or of another engine, or memory is short.
  template <class F>
  void push(F&& fn, const Uses& uses = {}, std::source_location site = std::source_location::current()) {
    static_assert(detail::CallPlain::takes<std::decay_t<F>>,
                  "push takes a function without parameters, or of an Engine::Context");
    if (kind() == Kind::naive) {
      run(std::forward<F>(fn), uses, site);
    } else {
      submit<detail::CallPlain>(std::forward<F>(fn), uses, site);
    }
  }

  /// As push, and complete only when the Done that fn is called with has been called.
  template <class F>
  void push_async(F&& fn, const Uses& uses = {}, std::source_location site = std::source_location::current()) {
    static_assert(detail::CallWithDone::takes<std::decay_t<F>>,
                  "push_async takes a function of an Engine::Done, or of an Engine::Context and an Engine::Done");
    submit<detail::CallWithDone>(std::forward<F>(fn), uses, site);
  }

  /// As push, but runs fn before it returns, on this thread and without copying it, where nothing is pending on any of
  /// the variables. Failures go to the variables in either case.
  template <class F>
  void run(F&& fn, const Uses& uses = {}, std::source_location site = std::source_location::current()) {
    if (detail::Access::count(uses) > detail::InlineRun::max_uses || uses.device != cpu() || detail::is_tracing() ||
        detail::Gathering::current != nullptr) [[unlikely]] {
      run_apart(std::forward<F>(fn), uses, site);
      return;
    }
    detail::Link links[detail::InlineRun::max_uses];
    const std::size_t n = detail::Access::gather(core_, uses, links);
    if (!core_->try_enter(links, n)) {
      submit<detail::CallPlain>(std::forward<F>(fn), uses, site);
      return;
    }
    detail::InlineRun scope(*core_, links, n, uses.name, site);
    if (!scope.clean()) return;
    try {
      detail::CallPlain::call(fn, 0);
    } catch (...) {
      scope.failed();
    }
  }

  /// Prepares an operation that is pushed often: its uses are checked and sorted once. A function of a Done makes it
  /// asynchronous. An operation without writes may run several times at once, on one function object.
  template <class F>
  Step prepare(F&& fn, const Uses& uses = {}, std::source_location site = std::source_location::current()) {
    return Step(new detail::StepOf<std::decay_t<F>>(*core_, std::forward<F>(fn), uses, site));
  }

  /// Waits until every write to the variable that has been pushed so far is complete; throws the failure that the
  /// variable has then, each time. Operations that only read it may still run.
  void wait(const Variable& variable) { observe(variable, false); }

  /// As wait, and waits for the reads as well: afterwards the caller may write what the variable stands for.
  void wait_idle(const Variable& variable) { observe(variable, true); }
  /// As wait, but leaves a failure to whoever looks.
  void settle(const Variable& variable) {
    if (detail::FailureState* const failure = reach(variable, false)) failure->drop();
  }

  /// Waits until nothing is pending. Throws the first failure that no wait_all has thrown yet: each is thrown once.
  void wait_all() {
    detail::Gathering::flush_current();
    core_->wait_all();
  }

  /// Has fn() run once every operation on the variable that has been pushed is complete, whatever failed among them:
  /// for giving back what the variable stands for. At once, on this thread, where nothing is pending.
  template <class F>
  void release(const Variable& variable, F&& fn, std::source_location site = std::source_location::current()) {
    run(std::forward<F>(fn), {.writes = {variable}, .name = "release"}, site);
  }

  /// Whether no operation on the variable is pending; one load.
  static bool idle(const Variable& variable) { return variable.idle(); }

  /// Marks the variables as failed once all earlier operations on them are complete: as an operation that throws
  /// `error`.
  void fail(std::exception_ptr error, const Uses& uses, std::source_location site = std::source_location::current()) {
    run([error] { std::rethrow_exception(error); }, uses, site);
  }

 private:
  /// run with everything that it seldom has to do.
  template <class F>
  [[gnu::noinline]] void run_apart(F&& fn, const Uses& uses, std::source_location site) {
    if (detail::Access::count(uses) > detail::InlineRun::max_uses || detail::Gathering::holds(core_)) {
      submit<detail::CallPlain>(std::forward<F>(fn), uses, site);
      return;
    }
    detail::Link links[detail::InlineRun::max_uses];
    const std::size_t n = detail::Access::gather(core_, uses, links);
    const std::uint8_t lane = detail::lane_of(uses.device, uses.copies);
    core_->open_lane(lane);
    detail::TraceRecord* const record =
        detail::is_tracing()
            ? detail::trace_push(core_->number(), uses.name, detail::trace_notes(uses.notes), site, lane, false)
            : nullptr;
    if (!core_->try_enter(links, n)) {
      if (record != nullptr) detail::trace_discard(record);
      submit<detail::CallPlain>(std::forward<F>(fn), uses, site);
      return;
    }
    detail::InlineRun scope(*core_, links, n, uses.name, site);
    const detail::InlineTrace trace(record, scope, links, n);
    if (!scope.clean()) return;
    try {
      detail::CallPlain::call(fn, lane);
    } catch (...) {
      scope.failed();
    }
  }

  template <class Call, class F>
  void submit(F&& fn, const Uses& uses, std::source_location site) {
    using Work = std::decay_t<F>;
    detail::Operation* const operation =
        detail::new_operation(*core_, detail::FunctionTableOf<Work, Call>::value, uses, site);
    try {
      ::new (operation->function()) Work(std::forward<F>(fn));
    } catch (...) {
      if (operation->traced) detail::trace_discard(operation->record);
      operation->free();
      throw;
    }
    detail::enqueue(*core_, operation);
  }

  void observe(const Variable& variable, bool all) { detail::FailureState::raise_share(reach(variable, all)); }
  /// Waits; a share of the failure that is left, or null.
  detail::FailureState* reach(const Variable& variable, bool all) {
    detail::Gathering::flush_current();
    detail::Var* const var = detail::Access::var(variable);
    if (var == nullptr || var->core != core_)
      strop::fail("wait: the variable ", var == nullptr ? "is empty" : "belongs to another engine");
    return core_->wait(var, all);
  }

  static Engine& make_global() {
    const detail::ForkSection made_whole;  // no fork finds it half made
    static Engine* const engine = new Engine;
    static const struct Closer {
      ~Closer() { engine->core_->close(); }
    } closer;
    global_.store(engine, std::memory_order_release);
    return *engine;
  }
  static inline constinit std::atomic<Engine*> global_{nullptr};

  detail::Core* core_;
};

/// Gathers what its thread pushes on an engine, and pushes up to `most` operations as one, which takes one turn in the
/// queues. That saves time for operations with no variables, or few; uniting many uses costs more than pushing singly
/// (`./run bench engine`).
///
/// Order and failures are those of the single operations. What is gathered goes on its way when `most` are there, when
/// this thread waits for or looks at a variable, pushes what cannot be gathered (an asynchronous operation, another
/// device or priority, another engine), or when the bulk ends. Operations of one bulk run one after the other on one
/// thread, and must not wait for each other.
class Engine::Bulk {
 public:
  [[nodiscard("it gathers while it lives: give it a name")]] explicit Bulk(Engine& engine, std::size_t most = 15)
      : gathering_(*engine.core_, engine.kind() == EngineKind::naive ? 1 : most) {}

 private:
  detail::Gathering gathering_;
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/engine/bulk_impl.hpp>
#include <strop/engine/execute_impl.hpp>
#include <strop/engine/lifetime_impl.hpp>
#include <strop/engine/step_impl.hpp>
#include <strop/engine/uses_impl.hpp>
#include <strop/engine/wait_impl.hpp>
#include <strop/engine/waiter_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
