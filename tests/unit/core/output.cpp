// SPDX-License-Identifier: Apache-2.0
/// \file
/// Files in the making: what a signal handler clears away.
#include <doctest/doctest.h>
#include <strop/core/output.hpp>

#include <unit/tensor/format/bytes.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace strop;

TEST_CASE("a file in the making is cleared away on demand, and one that is done is not") {
  const test::Folder folder;
  {
    detail::Output done(folder / "done");
    done.write("1");
    done.commit();
    std::vector<std::unique_ptr<detail::Output>> many;  // more than the table has room for
    for (int i = 0; i < 20; ++i) many.push_back(std::make_unique<detail::Output>(folder / cat("f", i).c_str()));
    CHECK(folder.files() == 21);
    detail::remove_temporaries();
    CHECK(folder.files() == 5);
    many.clear();
    CHECK(folder.files() == 1);
  }
  detail::Output again(folder / "again");  // the table has room again
  CHECK(folder.files() == 2);
  detail::remove_temporaries();
  CHECK(folder.files() == 1);
}
