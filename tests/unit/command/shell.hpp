// SPDX-License-Identifier: Apache-2.0
/// \file
/// The command `strop`, run by a shell in a folder of a test.
#pragma once
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "unit/tensor/format/bytes.hpp"

namespace command_tests {

struct Said {
  int code = -1;
  std::string out, err;
  bool has(const char* text) const { return err.find(text) != std::string::npos; }
};

/// Runs `strop` with these words in the folder. `redirect` may send standard output elsewhere.
inline Said strop_says(const test::Folder& folder, const std::string& words, const std::string& redirect = "> .out") {
  const char* build = std::getenv("STROP_BUILD");
  REQUIRE(build != nullptr);
  const std::string call =
      "cd '" + folder / "." + "' && '" + std::string(build) + "/strop' " + words + " 2> .err " + redirect;
  const int status = std::system(call.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, test::content_of(folder / ".out"),
          test::content_of(folder / ".err")};
}

}  // namespace command_tests
