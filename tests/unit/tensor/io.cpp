// SPDX-License-Identifier: Apache-2.0
/// \file
/// save and load: the choice of the format, and files that are whole or untouched.
#include "format/bytes.hpp"

#include <doctest/doctest.h>
#include <strop/autograd/views.hpp>
#include <strop/tensor/create.hpp>
#include <strop/tensor/io.hpp>
#include <strop/tensor/sparse.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace strop;

TEST_CASE("three formats by extension; content decides on load") {
  const test::Folder folder;
  const NDArray w = array({{1, 2}, {3, 4}}), s = csr_matrix({5}, {1}, {0, 0, 1}, {2, 3});
  save(folder / "f.params", {{"w", w}});
  CHECK(load(folder / "f.params")[0].first == "w");
  CHECK(load(folder / "f.params")[0].second.to_vector<int>() == std::vector<int>{1, 2, 3, 4});
  save(folder / "f.npz", {{"w", w}, {"s", s}});
  CHECK(load(folder / "f.npz")[1].second.storage() == csr);
  save(folder / "f.npy", w);
  CHECK(load(folder / "f.npy")[0].first == "");
  std::filesystem::rename(folder / "f.npy", folder / "f.dat");
  CHECK(load(folder / "f.dat")[0].second.shape() == Shape{2, 2});
  save(folder / "view.npy", w.slice(1, 2));
  CHECK(load(folder / "view.npy")[0].second.to_vector<int>() == std::vector<int>{3, 4});
  CHECK(folder.files() == 4);
}

TEST_CASE("an error leaves the file as it was, and nothing beside it") {
  const test::Folder folder;
  const std::string path = folder / "a.npy";
  save(path, array({7}));
  CHECK_THROWS_AS(save(path, zeros({2, 2}, csr)), Error);
  CHECK_THROWS_AS(save(path, {{"a", array({1})}, {"b", array({2})}}), Error);
  CHECK_THROWS_WITH_AS(save(path, {{"a", NDArray()}}),
                       (cat("strop: save(\"", path, "\"): 'a' is a handle without an array")).c_str(), Error);
  CHECK_THROWS_AS(save(path, NDArray::shell({2}, f32)), Error);
  CHECK(load(path)[0].second.item<int>() == 7);
  CHECK(folder.files() == 1);
  CHECK_THROWS_AS(save(folder / "no/such/folder.npy", array({1})), Error);
  CHECK_THROWS_AS(save(folder / "a.pt", array({1})), Error);
  CHECK(folder.files() == 1);
}

TEST_CASE("links are followed, permissions are kept, full devices are reported") {
  namespace fs = std::filesystem;
  const test::Folder folder;
  save(folder / "real.npy", array({1}));
  fs::permissions(folder / "real.npy", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(folder / "real.npy", folder / "link.npy");
  save(folder / "link.npy", array({2}));
  CHECK(fs::is_symlink(folder / "link.npy"));
  CHECK(load(folder / "real.npy")[0].second.item<int>() == 2);
  CHECK(fs::status(folder / "real.npy").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  if (fs::exists("/dev/full")) {
    fs::create_symlink("/dev/full", folder / "full.npy");
    CHECK_THROWS_AS(save(folder / "full.npy", array({1})), Error);
  }
}

TEST_CASE("a link to a file that is not there yet stays a link") {
  namespace fs = std::filesystem;
  const test::Folder folder;
  fs::create_symlink("new.npy", folder / "one.npy");
  fs::create_symlink(folder / "one.npy", folder / "two.npy");
  save(folder / "two.npy", array({7}));
  CHECK(fs::is_symlink(folder / "two.npy"));
  CHECK(fs::is_symlink(folder / "one.npy"));
  CHECK(load(folder / "new.npy")[0].second.item<int>() == 7);
  fs::create_symlink("round.npy", folder / "round.npy");
  CHECK_THROWS_AS(save(folder / "round.npy", array({1})), Error);
  fs::create_symlink("no/such/folder.npy", folder / "lost.npy");
  CHECK_THROWS_AS(save(folder / "lost.npy", array({1})), Error);
  CHECK(folder.files() == 5);
}

TEST_CASE("memory that runs out while a file is read names the file") {
  const test::Folder folder;
  save(folder / "large.npy", zeros({1 << 20}));
  memory::release_cached(cpu());
  memory::set_limit(cpu(), 1000);
  const std::string why = test::sentence([&] { load(folder / "large.npy"); });
  memory::set_limit(cpu(), memory::no_limit);
  CHECK(why.starts_with(cat("strop: load(\"", folder / "large.npy", "\"): memory::allocate: ")));
}

TEST_CASE("files that cannot be loaded") {
  const test::Folder folder;
  CHECK(test::sentence([&] { load(folder / "absent.npy"); }).ends_with("No such file or directory"));
  CHECK(test::sentence([&] { load(folder / "."); }).ends_with("Is a directory"));
  for (const char* content : {"", "x", "hello, this is text"}) {
    test::put_file(folder / "text.npy", content);
    CHECK(test::sentence([&] { load(folder / "text.npy"); }) ==
          cat("strop: load(\"", folder / "text.npy", "\"): this is neither a .params nor a .npy nor a .npz file"));
  }
}

TEST_CASE("what save writes, load reads: a file holds at most 64 dimensions") {
  const test::Folder folder;
  Shape most = Shape::filled(64, 1), more = Shape::filled(65, 1);
  for (const char* name : {"a.params", "a.npy", "a.npz"}) {
    save(folder / name, full(most, 3));
    CHECK(load(folder / name)[0].second.shape() == most);
    CHECK(test::sentence([&] { save(folder / name, full(more, 3)); }) ==
          cat("strop: save(\"", folder / name, "\"): an array of 65 dimensions: a file holds arrays of at most 64"));
    CHECK(load(folder / name)[0].second.ndim() == 64);
  }
  for (const char* name : {"s.params", "s.npz"})
    CHECK_THROWS_AS(save(folder / name, detail::cast_storage(full(more, 3), row_sparse)), Error);
  CHECK(folder.files() == 3);
}
