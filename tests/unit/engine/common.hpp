// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the tests of the engine share.
#pragma once
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <strop/engine/engine.hpp>
#include <thread>
#include <unit/sentence.hpp>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define STROP_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STROP_TEST_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define STROP_TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STROP_TEST_ASAN 1
#endif
#endif

namespace engine_test {

using strop::Engine;
using Kind = Engine::Kind;

inline constexpr Kind kinds[] = {Kind::threaded, Kind::naive, Kind::simulated};

using testing::sentence;

/// A door that operations wait at until the test opens it.
struct Door {
  std::atomic<bool> is_open = false;
  void open() { is_open = true; }
  void pass() const {
    while (!is_open) std::this_thread::yield();
  }
};

/// Sets a variable of the environment for a scope.
struct Environment {
  const char* name;
  Environment(const char* name_, const char* value) : name(name_) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

/// Runs `child` in a fork and returns its exit status; what it returns, or 100 + the signal that ended it. Not under
/// the thread sanitizer, which does not survive threads in a forked process.
template <class F>
int in_child(F&& child) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    alarm(60);
    _exit(child());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

}  // namespace engine_test
