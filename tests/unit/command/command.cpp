// SPDX-License-Identifier: Apache-2.0
/// \file
/// The command `strop` as a shell runs it: exit codes, what it says, the files that it writes.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <unit/data/pictures.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <strop/tensor/create.hpp>
#include <strop/tensor/io.hpp>
#include <strop/tensor/sparse.hpp>
#include <strop/verify.hpp>

#include "card.hpp"
#include "shell.hpp"

using namespace strop;
using command_tests::Said, command_tests::strop_says;

TEST_CASE("a variable of the environment with a wrong value is said at once, by every command") {
  const test::Folder folder;
  ::setenv("STROP_NUM_THREADS", "none", 1);
  const std::vector<Said> all = {strop_says(folder, "info"), strop_says(folder, "ops"),
                                 strop_says(folder, "describe tanh"), strop_says(folder, "run tanh x.npy")};
  ::unsetenv("STROP_NUM_THREADS");
  for (const Said& said : all) {
    CHECK(said.code == 2);
    CHECK(said.out.empty());
    CHECK(said.err == "strop: STROP_NUM_THREADS: expected a whole number of 1 or more, got 'none'\n");
  }
  CHECK(strop_says(folder, "info").code == 0);
}

TEST_CASE("words that are none are named with the nearest, and are wrong calls") {
  const test::Folder folder;
  const auto refused = [&](const char* words, const char* why) {
    const Said said = strop_says(folder, words);
    CAPTURE(words);
    CAPTURE(said.err);
    CHECK(said.code == 2);
    CHECK(said.err.starts_with("strop: "));
    CHECK(said.has(why));
  };
  save(folder / "x.npy", array({{-1, 2}, {3, 4}}));
  refused("trian", "strop: no subcommand 'trian'; nearest: train,");
  refused("trace sumary x", "no subcommand 'sumary' of trace; nearest: summary,");
  refused("describe TANH", "no operator 'TANH'; nearest: tanh,");
  refused("run TANH x.npy", "no operator 'TANH'; nearest: tanh,");
  refused("bench clip --a_mim 0", "clip: no parameter 'a_mim'; it has a_min, a_max");
  refused("bench clip x.npy", "bench: 'x.npy' is no parameter");
  refused("", "strop: a subcommand is required; see strop --help\n");
  refused("ops --what", "strop: ops: the following argument was not expected: --what; see strop ops --help\n");
  refused("train --epochs x", "strop: train: --epochs: ");
  for (const char* seed : {"-1", "1.5", "0x10", "99999999999999999999", "1e3", "''", "none"})
    refused(cat("train --seed ", seed).c_str(), "train: --seed is '");
  refused("run clip x.npy --a_min 0", "clip: parameter 'a_max' (double) is required");
  refused("run clip x.npy --a_min 0 --a_min 1 --a_max 2", "clip: parameter 'a_min' is given twice, as '0' and as '1'");
  refused("run clip --a_min 0 --a_max 2", "clip: takes 1 input (data), 0 were given");
  refused("run clip x.npy --a_min", "run: --a_min needs a value");
  refused("run clip x.npy -o", "run: -o needs a value");
  refused("run negative x.npy -o y.png", "run: -o is 'y.png', expected a name that ends in .npy, .npz or .params");
  refused("run negative x.npy -o y.npy -o z.npy", "run: -o is given twice");
  refused("run negative x.npy -v", "run: no option '-v'");
  refused("run expand_dims x.npy --axis u", "parameter 'axis' is 'u', expected an int");
  refused("run Cast x.npy --dtype u", "expected one of float16, bfloat16, float32, float64, uint8,");
  const Said absent = strop_says(folder, "run negative absent.npy");
  CHECK(absent.code == 1);
  CHECK(absent.err == "strop: load(\"absent.npy\"): No such file or directory\n");
}

TEST_CASE("--load takes a library of operators, and says in one sentence what is none") {
  const test::Folder folder;
  test::put_file(folder / "text.so", "no library");
  const auto refused = [&](const char* words, int code, const char* begin) {
    const Said said = strop_says(folder, words);
    CAPTURE(words);
    CAPTURE(said.err);
    CHECK(said.code == code);
    CHECK(said.out.empty());
    CHECK(said.err.starts_with(begin));
    CHECK(said.err.find('\n') + 1 == said.err.size());
  };
  refused("--load ./absent.so ops", 1, "strop: load_library: './absent.so': there is no such file\n");
  refused("--load=text.so ops", 1, "strop: load_library: 'text.so' cannot be loaded: ");
  refused("--load libm.so.6 ops", 1, "strop: load_library: 'libm.so.6' is no library of strop operators: ");
  refused("--load ops", 2, "strop: a subcommand is required");
  refused("--load", 2, "strop: --load: 1 required FILE missing");
  refused("--load text.so --load=other.so osp", 2, "strop: no subcommand 'osp'; nearest: ops");
  refused("--load text.so trace sumary x", 2, "strop: no subcommand 'sumary' of trace; nearest: summary");
}

TEST_CASE("what is echoed is cut, and moves no cursor") {
  const test::Folder folder;
  test::put_file(folder / "name",
                 "ab\x1b[2J\x07"
                 "cd");
  test::put_file(folder / "long", std::string(50'000, 'x'));
  for (const char* words :
       {"describe \"$(cat name)\"", "\"$(cat name)\"", "run \"$(cat name)\"", "run negative -o\"$(cat name)\"",
        "run clip \"$(cat name)\" --a_min 0 --a_max 1", "trace \"$(cat name)\"", "bench clip \"$(cat name)\"",
        "run negative --\"$(cat name)\" 1", "trace summary \"$(cat name)\"", "train --seed \"$(cat name)\"",
        "train --epochs \"$(cat name)\"", "describe \"$(cat long)\"", "run negative --\"$(cat long)\" 1",
        "run \"$(cat long)\"", "train --activation \"$(cat long)\"", "\"$(cat long)\""}) {
    const Said said = strop_says(folder, words);
    CAPTURE(words);
    CAPTURE(said.err);
    CHECK(said.code != 0);
    CHECK(said.err.size() < 2100);
    CHECK(said.err.find_first_of("\x1b\x07") == std::string::npos);
    CHECK(said.err.find('\n') == said.err.size() - 1);
    if (std::string(words).find("name") != std::string::npos) CHECK(said.has("ab\\x1b[2J\\x07cd"));
  }
  test::put_file(
      folder / "t.json",
      R"({"otherData": {"left out": 0, "unfinished": 0}, "traceEvents": [{"ph": "X", "cat": "operation", "tid": 1,
                     "name": "a\u001b[2J", "ts": 1.0, "dur": 2.0, "args": {"strop": {"operation": 1, "status": "failed",
                     "why": "\u0007", "blocked us": 0, "queued us": 0, "after": []}}}]})");
  const Said shown = strop_says(folder, "trace summary t.json");
  CHECK(shown.code == 0);
  CHECK(shown.out.find("a\\x1b[2J") != std::string::npos);
  CHECK(shown.out.find_first_of("\x1b\x07") == std::string::npos);
}

TEST_CASE("what ends the command leaves no unfinished file") {
  const test::Folder folder;
  save(folder / "y.npy", array({7}));
  const auto shell = [&](const std::string& script) {
    const std::string strop = cat('\'', std::getenv("STROP_BUILD"), "/strop'");
    return std::system(cat("cd '", folder / ".", "' && strop=", strop, " && { ", script, "; } > .out 2>&1").c_str());
  };
  shell("ulimit -c 0; ulimit -f 8; \"$strop\" run _zeros --shape 1000000 -o y.npy");  // SIGXFSZ
  CHECK(folder.files() == 2);
  CHECK(load(folder / "y.npy")[0].second.item<int>() == 7);
  shell(
      "\"$strop\" run _zeros --shape 100000000 -o z.npy & "
      "until ls z.npy* > .ls 2>&1; do :; done; kill $!; wait; rm -f z.npy .ls");
  CHECK(folder.files() == 2);
}

TEST_CASE("every subcommand counts the operators alike") {
  const test::Folder folder;
  const std::string list = strop_says(folder, "ops").out, info = strop_says(folder, "info").out,
                    checked = strop_says(folder, "check").out;
  const std::string count = list.substr(list.rfind('\n', list.size() - 2) + 1);  // "223 operators"
  const std::string number = count.substr(0, count.find(' '));
  CHECK(info.find("operators        " + number + "\n") != std::string::npos);
  CHECK(strop_says(folder, "info --kernels").out == strop::sparse_kernels());
  CHECK(checked.starts_with("check  " + number + " operators, "));
}

TEST_CASE("info --convolutions says how each part of a convolution is computed") {
  const test::Folder folder;
  const std::string said = strop_says(folder, "info --convolutions").out;
  REQUIRE(said.starts_with("float32 "));
  const std::pair<const char*, const char*> expected[] = {
      {"8x64x56x56, 64x3x3, pad 1 ", "tiles over planes"},
      {"8x512x7x7, 512x3x3, pad 1 ", "product, several images"},
      {"8x64x56x56, 256x1x1 ", "product with the image"},
      {"8x64x56x56, 64x3x3, pad 1, 64 groups", "sums over planes"},
      {"8x64x112x112, 64x3x3, stride 2, pad 1, 64 groups", "sums over planes"}};
  for (const auto& [shape, how] : expected) {
    CAPTURE(shape);
    const std::size_t row = said.find('\n' + std::string(shape));
    REQUIRE(row != std::string::npos);
    CHECK(said.compare(row + 1 + 48 + 1, std::strlen(how), how) == 0);
  }
}

TEST_CASE("info --products says how each product of its table is computed") {
  const test::Folder folder;
  const std::string said = strop_says(folder, "info --products").out;
  const std::size_t tiles = said.find(": tiles of at most ");
  REQUIRE(said.starts_with("m x n x k, float32     kernels of "));
  REQUIRE(tiles < said.find('\n'));
  const int rows = std::atoi(said.c_str() + tiles + sizeof ": tiles of at most " - 1);  // of a tile, as the level has
  const std::string in_place = "tiles, B in place", copied = "tiles, B copied", dots = "dot products";
  const std::pair<const char*, std::string> expected[] = {
      {"16x16x16", in_place},
      {"64x64x64", in_place},
      {"128x128x128", in_place},
      {"256x256x256", copied},
      {"512x512x512", copied},
      {"1024x1024x1024", copied},
      {"16x1024x1024", 16 <= 2 * rows ? in_place : copied},
      {"64x1024x1024", copied},
      {"4096x64x576", copied},
      {"128x256x784 B'", copied},
      {"256x784x128 A'", copied},
      {"128x10x256 B'", 10 <= rows ? dots : copied},
      {"10x256x128 A'", 10 <= 2 * rows ? in_place : copied},
      {"128x256x10", in_place},
      {"1x256x784 B'", dots},
      {"256x784x1 A'", "multiples of the row of B"},
      {"1024x1x1024", "as a row: " + dots},
      {"1x1024x1024", "a sum of rows of B"},
      {"4096x1x4096", "as a row: " + dots},
  };
  std::string lines;
  for (const auto& [shape, route] : expected) lines += shape + std::string(23 - std::strlen(shape), ' ') + route + '\n';
  CHECK(said.substr(said.find('\n') + 1) == lines);
}

TEST_CASE("output that cannot be written is a failure") {
  const test::Folder folder;
  for (const char* words : {"ops", "info", "describe clip", "--help"})
    for (const char* place : {"> /dev/full", ">&-"}) {
      if (place[2] == '/' && !std::filesystem::exists("/dev/full")) continue;
      const Said said = strop_says(folder, words, place);
      CHECK(said.code == 1);
      CHECK(said.err.starts_with("strop: cannot write to standard output: "));
    }
  save(folder / "x.npy", array({1, 2}));
  CHECK(strop_says(folder, "run negative x.npy -oy.npy", ">&-").code == 0);  // prints nothing
  CHECK(load(folder / "y.npy")[0].second.to_vector<int>() == std::vector<int>{-1, -2});
}

TEST_CASE("results: sparse ones stay sparse where the format can, written inputs are results") {
  const test::Folder folder;
  save(folder / "s.npz", csr_matrix({5, -6}, {1, 0}, {0, 1, 2}, {2, 2}));
  for (const char* file : {"t.npz", "t.params"}) {
    CHECK(strop_says(folder, cat("run negative s.npz --output=", file)).err == "");
    CHECK(load(folder / file)[0].second.storage() == csr);
    CHECK(load(folder / file)[0].second.to_vector<int>() == std::vector<int>{0, -5, 6, 0});
  }
  CHECK(strop_says(folder, "run negative s.npz -o t.npy").err ==
        "strop: run: t.npy holds the dense form of a csr array; .npz and .params keep it sparse\n");
  save(folder / "huge.npz", csr_matrix({5}, {.row = {1}, .col = {0}}, {1000, 1000000}));
  const Said huge = strop_says(folder, "run negative huge.npz -o huge.npy");
  CHECK(huge.code == 1);
  CHECK(huge.has("more than 1 GiB"));

  save(folder / "w.npy", array({1, 2}));
  save(folder / "m.npy", array({0, 0}));
  CHECK(strop_says(folder, "run sgd_mom_update w.npy w.npy m.npy --lr 1 -o u.npy").err ==
        "strop: run: u.1.npy holds the input 'mom', which the operator wrote\n");
  CHECK(load(folder / "u.1.npy")[0].second.to_vector<int>() == std::vector<int>{-1, -2});
  CHECK(strop_says(folder, "run sgd_mom_update w.npy w.npy m.npy --lr 1 -o u.params").err == "");
  const NamedArrays both = load(folder / "u.params");
  REQUIRE(both.size() == 2);
  CHECK(both[0].second.to_vector<int>() == std::vector<int>{0, 0});
  CHECK(both[1].first == "mom");
}

TEST_CASE("describe says what is kept, which storages are served, and what parameters are") {
  const test::Folder folder;
  const auto says = [&](const char* name, std::initializer_list<const char*> texts) {
    const std::string page = strop_says(folder, cat("describe ", name)).out;
    CAPTURE(page);
    for (const char* text : texts) CHECK_MESSAGE(page.find(text) != std::string::npos, text);
  };
  says("clip", {"csr -> csr with --a_min -1 --a_max 2\n",
                "strop run clip data.npy --a_min -1 --a_max 2 -o output.npy\n", "with data of shape (7, 9)\n"});
  says("_plus_scalar", {"csr -> csr with --scalar 0\n", "gradient   keeps nothing\n"});
  says("quadratic", {"keeps nothing; data with --a 1\n"});
  says("FullyConnected", {"keeps data, weight\n", "dense, row_sparse, dense -> dense\n"});
  says("take", {"composed of operators, keeps indices\n"});
  says("dot", {"csr, dense -> dense\n", "csr, dense -> row_sparse with --transpose_a True\n", "dense, csr -> csr\n",
               "csr, csr -> csr\n"});
  says("sddmm", {"csr, dense, dense -> csr\n", "keeps pattern, lhs, rhs\n"});
  says("cast_storage", {"dense -> csr with --stype csr\n"});
  says("leaky_relu", {"leaky_relu(data, act_type=leaky,", "mask with --act_type prelu\n"});
  says("sparse_retain", {"_sparse_retain data.npz indices.npy -o output.npz\n", "of shape (6, 3) (row_sparse)"});
  says("uniform", {"shape=(), ctx='', dtype=None)", "string, default ''  the device"});
  says("reshape", {"--shape '(-1, 2)' -o"});
  for (const char* name : {"nag_mom_update", "signsgd_update"})
    CHECK(strop_says(folder, cat("describe ", name)).out.find("--lr 0.1 --lr") == std::string::npos);
  CHECK(strop_says(folder, "ops").out.find("_backward_") == std::string::npos);
  says("clip", {"cost       4 operations an element\n"});
  says("dot", {"cost       operations by its shapes\n"});
  says("sgd_mom_update", {"  arguments\n", "    mom              is written"});
  says("fully_connected", {"    bias             optional"});
}

TEST_CASE("the list for front ends says kinds, words, ranges and roles as values") {
  const test::Folder folder;
  const auto list = nlohmann::json::parse(strop_says(folder, "ops --json").out);
  const auto called = [&](std::string_view name, const nlohmann::json& in) {
    for (const auto& item : in)
      if (item["name"] == name) return item;
    FAIL("nothing is called so: ", name);
    return nlohmann::json();
  };
  const auto relu = called("LeakyReLU", list);
  const auto act = called("act_type", relu["params"]);
  CHECK(act["kind"] == "enumeration");
  CHECK(act["words"].size() > 3);
  CHECK(act["words"][0] == "rrelu");
  CHECK(act["required"] == false);
  const auto layer = called("FullyConnected", list), units = called("num_hidden", layer["params"]);
  CHECK(units["kind"] == "integer");
  CHECK(units["required"] == true);
  CHECK(units["low"] == 1);
  CHECK(!units.contains("high"));
  CHECK(called("flatten", layer["params"])["kind"] == "boolean");
  CHECK(called("bias", layer["arguments"])["optional"] == true);
  CHECK(called("weight", layer["arguments"])["optional"] == false);
  CHECK(called("output", layer["arguments"])["role"] == "output");
  CHECK(called("axis", called("sum", list)["params"])["kind"] == "axes");
  CHECK(called("begin", called("slice", list)["params"])["kind"] == "bounds");
  const auto norm = called("BatchNorm", list);
  CHECK(called("moving_mean", norm["arguments"])["role"] == "written");
  CHECK(called("args", called("Concat", list)["arguments"])["variadic"] == true);
  const auto seed = called("dtype", called("Cast", list)["params"]);
  CHECK(seed["kind"] == "dtype");
  CHECK(seed["optional"] == false);
  const auto clip = called("clip", list);
  CHECK(clip["kind"] == "map");
  CHECK(clip["doc"].get<std::string>().size() > 10);
  CHECK(clip["types"][0] == "float16");
  CHECK(clip["example"]["params"]["a_min"] == "-1");
  CHECK(clip["example"]["inputs"][0]["shape"] == std::vector<int>{7, 9});
  CHECK(called("dot", list)["example"]["inputs"][1]["name"] == "rhs");
}

namespace {
struct Held {
  Required<float> least = {};
  Required<int> steps = {};
  static constexpr Range range[] = {{"steps", 5, 9}};
  constexpr auto forward(auto x) const { return max(x, *least) * *steps; }
};
struct Stretched {
  Required<float> by = {};
  constexpr auto forward(auto x, auto y) const { return x * y + *by; }
};
}  // namespace

TEST_CASE("of an operator that no row calls the type of a parameter has to do") {
  const command::Card stretched(Op<Stretched>::entry());
  CHECK(stretched.gradient() == "keeps lhs, rhs");
  CHECK(stretched.differentiated() == std::vector<std::string>{"lhs", "rhs"});
  CHECK(stretched.orders() == 3);
  CHECK(stretched.example("strop") == "strop run stretched lhs.npy rhs.npy --by 1 -o output.npy");
  CHECK(stretched.example_inputs() == "lhs of shape (4, 6), rhs of shape (4, 6)");
  const command::Card held(Op<Held>::entry());  // whose range has none of the values that are tried
  CHECK(held.gradient() == "keeps what its parameters say");
  CHECK(held.example_inputs() == "");
  CHECK(held.storages().empty());
}

TEST_CASE("the example of every operator works, on inputs as it states them") {
  const test::Folder folder;
  const std::string strop = cat('\'', std::getenv("STROP_BUILD"), "/strop' ");
  std::string describe, run;
  std::vector<const verify::Row*> firsts;
  for (const verify::Row& row : verify::rows()) {
    if (row.op.starts_with("_backward_") || (!firsts.empty() && firsts.back()->op == row.op)) continue;
    if (std::filesystem::exists(folder / std::string(row.op).c_str())) continue;
    if (row.op == "_contrib_dequantize" || row.op == "_contrib_requantize") continue;  // inputs of several types
    std::filesystem::create_directory(folder / std::string(row.op).c_str());
    firsts.push_back(&row);
    describe += cat(strop, "describe ", row.op, " > ", row.op, "/page\n");
  }
  const auto shell = [&](const char* file, const std::string& script) {
    test::put_file(folder / file, script);
    return std::system(cat("cd '", folder / ".", "' && sh ", file, " > out 2> err").c_str());
  };
  REQUIRE(shell("describe.sh", describe) == 0);
  for (const verify::Row* row : firsts) {
    const std::string page = test::content_of(folder / cat(row->op, "/page").c_str());
    const std::size_t at = page.find("strop run ");
    REQUIRE(at != std::string::npos);
    const std::string line = page.substr(at + 6, page.find('\n', at) - at - 6);
    run += cat("(cd ", row->op, " && ", strop, line, ") || echo ", row->op, "\n");
    std::size_t begin = line.find(' ', 4) + 1;  // after "run NAME"
    for (std::size_t i = 0; i < row->in.size(); ++i) {
      const std::size_t end = line.find(' ', begin);
      const Dtype type = page.find("(int64)", at) == std::string::npos ? f32 : i64;
      save(folder / cat(row->op, '/', line.substr(begin, end - begin)).c_str(),
           row->in[i].make(type, static_cast<int>(i)));
      begin = end + 1;
    }
    CHECK(line[begin] == '-');
  }
  CHECK(firsts.size() > 200);
  shell("run.sh", run);
  CHECK(test::content_of(folder / "out") == "");
  std::ifstream errors(folder / "err");
  for (std::string line; std::getline(errors, line);)
    CHECK_MESSAGE(line.find(" holds the input '") != std::string::npos, line);
}

TEST_CASE("bench measures any operator, with parameters of its own or given ones") {
  const test::Folder folder;
  for (const char* words : {"clip", "clip --a_min 0 --a_max=1", "FullyConnected --num_hidden 7", "_zeros --shape 5",
                            "sparse_retain", "sgd_mom_update --lr 1"}) {
    const Said said = strop_says(folder, cat("bench ", words));
    CAPTURE(words);
    CAPTURE(said.err);
    CHECK(said.code == 0);
    CHECK(said.out.find("of copy") != std::string::npos);
  }
}

TEST_CASE("LibSVM text as arrays, and back") {
  const test::Folder folder;
  const std::string text = "1 qid:2 1:0.5 3:-2\n0\n-1 2:1e+20\n";
  test::put_file(folder / "a.libsvm", text);
  CHECK(strop_says(folder, "convert a.libsvm b.npz --one-based").code == 0);
  CHECK(test::content_of(folder / ".out") == "3 rows, 3 features, 3 stored values\n");
  const NamedArrays arrays = load(folder / "b.npz");
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].first == "data");
  CHECK(arrays[0].second.storage() == csr);
  CHECK(strop_says(folder, "convert b.npz c.libsvm --one-based").code == 0);
  CHECK(test::content_of(folder / "c.libsvm") == text);
  CHECK(strop_says(folder, "convert a.libsvm c.libsvm").code == 2);
  CHECK(test::content_of(folder / ".err").find("one of the two names ends in .npz or .params") != std::string::npos);
  CHECK(strop_says(folder, "convert a.libsvm b.npz --dtype float31").code == 2);
  test::put_file(folder / "bad.libsvm", "1 0:1\n1 0:x\n");
  CHECK(strop_says(folder, "convert bad.libsvm d.npz").code == 1);
  CHECK(test::content_of(folder / ".err") ==
        "strop: load_libsvm: \"bad.libsvm\", line 2, byte 5: the value 'x' is no number that float64 can hold\n");
  CHECK_FALSE(std::ifstream(folder / "d.npz").good());
}

TEST_CASE("data lists the iterators, says what they are, and shows and times their batches") {
  const test::Folder folder;
  test::put_file(folder / "a.csv", "1,2\n3,4\n5,6\n");
  const Said list = strop_says(folder, "data ls");
  CHECK(list.code == 0);
  CHECK(list.out.find("CSVIter            (data_csv) {data_shape, label_csv,") != std::string::npos);
  const Said described = strop_says(folder, "data describe CSVIter");
  CHECK(described.out.find("CSVIter(data_csv, data_shape=(), label_csv='',") != std::string::npos);
  CHECK(described.out.find("    data_csv           string, required  the file") != std::string::npos);
  CHECK(strop_says(folder, "data ls --json").out.find("\"name\": \"part_index\"") != std::string::npos);

  const Said head = strop_says(folder, "data head CSVIter a.csv --data_shape 2 --batch_size=2 -n 2");
  CHECK(head.code == 0);
  CHECK(head.out ==
        "data data: float32 (2, 2)\nlabel softmax_label: float32 (2,)\n"
        "batch 0, pad 0\n  data data: [[1, 2], [3, 4]]\n  label softmax_label: [0, 0]\n"
        "batch 1, pad 1\n  data data: [[5, 6], [1, 2]]\n  label softmax_label: [0, 0]\n");
  const Said bench = strop_says(folder, "data bench CSVIter a.csv --data_shape 2");
  CHECK(bench.code == 0);
  CHECK(bench.out.starts_with("CSVIter: 1 batches, 3 rows an epoch\n"));

  for (const auto& [words, why] : {std::pair{"data hed x", "no subcommand 'hed' of data; nearest: head,"},
                                   {"data head CSVItr a.csv", "no iterator 'CSVItr'; nearest: CSVIter,"},
                                   {"data head CSVIter a.csv b.csv --data_shape 2", "CSVIter reads 1 file, not also"},
                                   {"data head CSVIter a.csv -n", "-n needs a number of batches"},
                                   {"data head CSVIter a.csv --shape 2", "CSVIter: no parameter 'shape'; it has"}}) {
    CAPTURE(words);
    const Said said = strop_says(folder, words);
    CHECK(said.code != 0);
    CHECK(said.has(why));
  }
  CHECK(strop_says(folder, "data head CSVIter a.csv --data_shape 3").has("\"a.csv\", line 1, byte "));
}

TEST_CASE("pack makes a file of records of a folder or a list, and goes on where it stopped") {
  if (!test::decodes_pictures()) return;
  const test::Folder folder;
  for (const char* name : {"a", "b"}) std::filesystem::create_directories(folder / (std::string("in/") + name).c_str());
  const std::vector<std::pair<std::string, std::string>> files{
      {"a/1.png", test::png_rgb}, {"a/2.png", test::png_gray}, {"b/1.jpg", test::jpeg}};
  for (const auto& [name, bytes] : files) test::put_file(folder / ("in/" + name).c_str(), bytes);
  CHECK(strop_says(folder, "pack in a.rec").code == 0);
  const std::string whole = test::content_of(folder / "a.rec"), index = test::content_of(folder / "a.idx");
  CHECK(test::content_of(folder / ".out").find("a.rec  3 records, ") == 0);
  CHECK(test::content_of(folder / ".out").find("; classes: a, b\n") != std::string::npos);
  CHECK(test::content_of(folder / "a.lst") == "0\t0\ta/1.png\n1\t0\ta/2.png\n2\t1\tb/1.jpg\n");
  RecordReader reader(folder / "a.rec", folder / "a.idx");
  for (std::int64_t k = 0; k < 3; ++k) {
    const auto [header, bytes] = unpack(reader.read_idx(k));
    CHECK(header.label[0] == static_cast<float>(k / 2));
    CHECK(bytes == files[static_cast<std::size_t>(k)].second);
  }

  test::put_file(folder / "in/b/1.jpg", "no picture");
  const Said refused = strop_says(folder, "pack in b.rec");
  CHECK(refused.code == 1);
  CHECK(refused.err.starts_with("strop: pack: \"in/b/1.jpg\": "));
  CHECK_FALSE(std::ifstream(folder / "b.rec").good());
  test::put_file(folder / "in/b/1.jpg", test::jpeg);
  std::string part;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "."))
    if (entry.path().extension() == ".part") part = entry.path().string();
  REQUIRE_FALSE(part.empty());
  const std::string begun = test::content_of(part);
  for (const std::size_t cut : {begun.size(), begun.size() - 5, std::size_t{0}}) {  // as a killed call leaves it
    test::put_file(part, begun.substr(0, cut));
    CHECK(strop_says(folder, "pack in b.rec").code == 0);
    CHECK(test::content_of(folder / ".err").find(cut == 0 ? "" : "records are there") != std::string::npos);
    CHECK(test::content_of(folder / "b.rec") == whole);
    CHECK(test::content_of(folder / "b.idx") == index);
    CHECK_FALSE(std::ifstream(part).good());
  }

  // Another call is writing the file; a picture changed behind what an interrupted one has written of it.
  test::put_file(folder / "in/b/1.jpg", "no picture");
  CHECK(strop_says(folder, "pack in d.rec").code == 1);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "."))
    if (entry.path().extension() == ".part") part = entry.path().string();
  const int other = ::open(part.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::flock(other, LOCK_EX) == 0);
  CHECK(strop_says(folder, "pack in d.rec").has(": another call is writing this file"));
  ::close(other);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // files know ticks of the clock
  test::put_file(folder / "in/a/2.png", test::png_rgba);
  test::put_file(folder / "in/b/1.jpg", test::jpeg);
  CHECK(strop_says(folder, "pack in d.rec").code == 0);
  RecordReader changed(folder / "d.rec", folder / "d.idx");
  CHECK(unpack(changed.read_idx(0)).second == test::png_rgb);
  CHECK(unpack(changed.read_idx(1)).second == test::png_rgba);

  test::put_file(folder / "c.lst", "5\t1\t2\ta/1.png\n9\t3\t4\tnothing.png\n");
  CHECK(strop_says(folder, "pack c.lst c.rec --root in").has("\"in/nothing.png\": No such file or directory; --skip"));
  CHECK(strop_says(folder, "pack c.lst c.rec --root in --skip --resize 4 --encoding .png").code == 0);
  const auto [header, bytes] = unpack(RecordReader(folder / "c.rec", folder / "c.idx").read_idx(5));
  CHECK(header.label.numbers() == std::vector<float>{1, 2});
  CHECK(image::decode(bytes).shape() == Shape{4, 5, 3});
  CHECK(strop_says(folder, "pack in a.record").code == 2);
  CHECK(strop_says(folder, "pack in a.rec --encoding .gif").code == 2);
  CHECK(strop_says(folder, "pack nowhere a.rec").has("\"nowhere\": No such file or directory"));
}
