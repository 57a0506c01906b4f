// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop convert`: there and back.
#include <strop/tensor/io.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

using namespace strop;

namespace {

int strop_convert(const test::Folder& folder, const std::string& words) {
  const char* const build = std::getenv("STROP_BUILD");
  REQUIRE(build != nullptr);
  const std::string call =
      "cd '" + folder / "." + "' && '" + std::string(build) + "/strop' convert " + words + " > .out 2> .err";
  const int status = std::system(call.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("LibSVM text as arrays, and back") {
  const test::Folder folder;
  const std::string text = "1 qid:2 1:0.5 3:-2\n0\n-1 2:1e+20\n";
  test::put_file(folder / "a.libsvm", text);
  CHECK(strop_convert(folder, "a.libsvm b.npz --one-based") == 0);
  CHECK(text_of(folder / ".out") == "3 rows, 3 features, 3 stored values\n");
  const NamedArrays arrays = load(folder / "b.npz");
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].first == "data");
  CHECK(arrays[0].second.storage() == csr);
  CHECK(strop_convert(folder, "b.npz c.libsvm --one-based") == 0);
  CHECK(text_of(folder / "c.libsvm") == text);
  CHECK(strop_convert(folder, "a.libsvm c.libsvm") == 2);
  CHECK(text_of(folder / ".err").find("one of the two names ends in .npz or .params") != std::string::npos);
  CHECK(strop_convert(folder, "a.libsvm b.npz --dtype float31") == 2);
  test::put_file(folder / "bad.libsvm", "1 0:1\n1 0:x\n");
  CHECK(strop_convert(folder, "bad.libsvm d.npz") == 1);
  CHECK(text_of(folder / ".err") ==
        "strop: load_libsvm: \"bad.libsvm\", line 2, byte 5: the value 'x' is no number that float64 can hold\n");
  CHECK_FALSE(std::ifstream(folder / "d.npz").good());
}
