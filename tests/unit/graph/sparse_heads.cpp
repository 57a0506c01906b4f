// SPDX-License-Identifier: Apache-2.0
/// \file
/// Head gradients that are sparse: operators of a graph are given them as the tape gives them.
#include <strop/ops/cast.hpp>
#include <strop/ops/dot.hpp>

#include "operators.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace graph_tests;

namespace {
/// A dense fallback is an error while it lives.
class NoFallback {
 public:
  NoFallback() = default;
  ~NoFallback() { set_fallback(before_); }
  NoFallback(const NoFallback&) = delete;
  NoFallback& operator=(const NoFallback&) = delete;

 private:
  Fallback before_ = set_fallback(Fallback::error);
};

NDArray matrix(std::int64_t rows, std::int64_t columns, double seed, Dtype type = f64) {
  const NDArray a({rows, columns}, f64);
  scatter(a, seed);
  return a.to(type);
}
}  // namespace

TEST_CASE("a sparse head gradient stays sparse where its reader has a form for it") {
  const NoFallback refused;
  const NDArray x = matrix(4, 3, 1).to(csr), w = matrix(3, 2, 2);
  const NDArray rows = array({{0, 0}, {3, -1}, {0, 0}, {0, 0}}).to(f64);
  for (const GradRequest request : {GradRequest::write, GradRequest::add}) {
    const NDArray dw = full({3, 2}, 1, f64), expected = full({3, 2}, 1, f64);
    const auto trained = [&](const NDArray& buffer, const NDArray& head) {
      auto run = dot(var("x"), var("w")).bind(cpu(), {{"x", x}, {"w", w}}, {{"w", buffer}}, request);
      run.forward(true);
      run.backward(head);
      run.backward(head);
    };
    trained(dw, rows.to(row_sparse));
    trained(expected, rows);
    CHECK(same(dw, expected));
  }
  // Maps read its stored elements, whatever the storage, fused and in place of what they read as well.
  for (const Storage storage : {csr, row_sparse})
    for (const Dtype type : {f64, f32}) {
      const NDArray a = matrix(4, 2, 3, type), da = zeros({4, 2}, dense, type), expected = zeros({4, 2}, dense, type);
      const auto trained = [&](const NDArray& buffer, const NDArray& head) {
        const Symbol v = var("a");
        auto run = squash(times(v, v)).bind(cpu(), {{"a", a}}, {{"a", buffer}});
        run.forward(true);
        run.backward(head);
      };
      trained(expected, rows);
      trained(da, rows.to(storage));
      CHECK(same(da, expected));
      const Fuse as_written("0");
      trained(da, rows.to(storage));
      CHECK(same(da, expected));
    }
}

TEST_CASE("a sparse head gradient of an operator without a form for it becomes dense, and that is logged") {
  const NDArray x = matrix(2, 3, 1), w = matrix(2, 3, 2), dw = zeros({2, 3}, dense, f64);
  const NDArray head = array({{0, 2}, {0, 0}}).to(f64);
  auto run = dense_layer(var("x"), var("w"), var("b"), {.num_hidden = 2}, "fc")
                 .bind(cpu(), {{"x", x}, {"w", w}, {"b", zeros({2}, dense, f64)}}, {{"w", dw}});
  run.forward(true);
  run.backward(head);
  const NDArray expected = dw.copy();
  clear_fallbacks();
  run.backward(head.to(row_sparse));
  CHECK(same(dw, expected));
  REQUIRE(fallbacks().size() == 1);
  CHECK(fallbacks()[0].storages.find("row_sparse") != std::string::npos);
  const NoFallback refused;
  CHECK(sentence([&] { run.backward(head.to(csr)); }).find("Error in node fc_backward") == 0);
  run.backward(head);  // a dense one after a sparse one
  CHECK(same(dw, expected));
}

TEST_CASE("a sparse head gradient is the gradient itself, and may be the buffer of one") {
  const NDArray x = array({{1, 2}, {3, 4}}), head = array({{0, 5}, {0, 0}}).to(csr);
  const NDArray dx = zeros({2, 2}), buffer = array({{0, 7}, {0, 0}}).to(csr);
  auto itself = var("x").bind(cpu(), {{"x", x}}, {{"x", dx}});
  itself.forward(true);
  itself.backward(head);
  CHECK(same(dx, head.to(dense)));
  const Symbol v = var("x");
  auto onto = times(v, v).bind(cpu(), {{"x", x}}, {{"x", buffer}});
  onto.forward(true);
  onto.backward(buffer);
  CHECK(buffer.storage() == csr);
  CHECK(same(buffer, array({{0, 28}, {0, 0}})));
  // Of an output of integers.
  auto whole = cast(v, {.dtype = i64}).bind(cpu(), {{"x", x}}, {{"x", dx}});
  whole.forward(true);
  whole.backward(array({{0, 7}, {0, 0}}).to(csr));
  CHECK(same(dx, array({{0, 7}, {0, 0}})));
}
