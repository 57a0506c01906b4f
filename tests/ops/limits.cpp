// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parameters and extents at the end of their range: a sentence, and neither a wrong shape nor a write outside.
#include <strop/ops/init.hpp>
#include <strop/ops/softmax_output.hpp>
#include <strop/strop.hpp>
#include <strop/verify.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace strop;
using testing::sentence;

namespace {

constexpr std::string_view two_to_62 = "4611686018427387904", largest = "9223372036854775807",
                           smallest = "-9223372036854775808";

std::string said(std::string_view op, std::initializer_list<NDArray> in, Attributes params) {
  return sentence([&] { invoke(op, in, params).wait(); });
}

}  // namespace

TEST_CASE("products and sums of extents that 64 bits do not hold are refused") {
  const NDArray four = array({1, 2, 3, 4}), none = zeros({0, 1, 1, 1});
  CHECK(said("tile", {four}, {{"reps", cat('(', two_to_62, ",)")}}) ==
        "tile: 4 times 4611686018427387904 is more than 64 bits can count");
  CHECK(said("tile", {four}, {{"reps", cat("(4, ", std::int64_t{1} << 60, ")")}}).find("64 bits") != std::string::npos);
  CHECK(said("Pad", {none},
             {{"mode", "constant"}, {"pad_width", cat("(0, 0, 0, 0, 0, 0, ", largest, ", ", largest, ")")}})
            .find("plus") != std::string::npos);
  CHECK(said("Pad", {zeros({1})}, {{"mode", "edge"}, {"pad_width", cat('(', largest, ", 0)")}}) ==
        "pad: 1 plus 9223372036854775807 is more than 64 bits can count");
  CHECK(said("_arange", {}, {{"start", "4e15"}, {"repeat", "2147483647"}}) ==
        "_arange: 4000000000000000 times 2147483647 is more than 64 bits can count");
  CHECK(said("repeat", {zeros({0, 1}).reshape({0, 1})}, {{"repeats", "2147483647"}}) == "");
  const NDArray wide = zeros({0, std::int64_t{1} << 40});
  CHECK(said("repeat", {wide}, {{"repeats", "2147483647"}, {"axis", "1"}}) ==
        "repeat: 1099511627776 times 2147483647 is more than 64 bits can count");
  CHECK(said("Concat", {zeros({0, std::int64_t{1} << 59}), zeros({0, std::int64_t{1} << 59})}, {{"dim", "1"}}) == "");
  const NDArray half = zeros({0, std::int64_t{1} << 62}, u8);
  CHECK(said("Concat", {half, half}, {{"dim", "1"}}) ==
        "concat: 4611686018427387904 plus 4611686018427387904 is more than 64 bits can count");
  for (const std::string_view op : {"depth_to_space", "space_to_depth"})
    CHECK(said(op, {zeros({1, 0, std::int64_t{1} << 40, 1})}, {{"block_size", "2147483647"}}) ==
          cat(op, ": input 'data' of shape (1, 0, 1099511627776, 1) has an axis without elements"));
}

TEST_CASE("steps, diagonals and positions far outside do no arithmetic that overflows") {
  const NDArray m = array({{1, 2, 3}, {4, 5, 6}});
  CHECK(invoke("slice", {m}, {{"begin", "(0, 0)"}, {"end", "(2, 3)"}, {"step", cat('(', largest, ", 1)")}})
            .to_vector<int>() == std::vector<int>{1, 2, 3});
  CHECK(invoke("slice", {m}, {{"begin", "(1, 2)"}, {"end", "(None, None)"}, {"step", cat("(1, ", smallest, ")")}})
            .to_vector<int>() == std::vector<int>{6});
  for (const std::string_view k : {largest, smallest, std::string_view("3"), std::string_view("-2")})
    CHECK(sum(invoke("_eye", {}, {{"N", "2"}, {"M", "3"}, {"k", k}})).item<int>() == 0);
  CHECK(invoke("_eye", {}, {{"N", "2"}, {"M", "3"}, {"k", "2"}}).to_vector<int>() ==
        std::vector<int>{0, 0, 1, 0, 0, 0});
  CHECK(invoke("_eye", {}, {{"N", "2"}, {"M", "3"}, {"k", "-1"}}).to_vector<int>() ==
        std::vector<int>{0, 0, 0, 1, 0, 0});
  CHECK(said("diag", {m}, {{"k", "2147483647"}}).find("has no diagonal 2147483647") != std::string::npos);
  CHECK(said("diag", {m}, {{"k", "-2147483648"}}).find("has no diagonal -2147483648") != std::string::npos);
  const NDArray far =
      invoke("take", {array({7, 8, 9}), array<std::int64_t>({INT64_MIN, INT64_MAX})}, {{"mode", "wrap"}});
  CHECK(far.to_vector<int>() == std::vector<int>{8, 8});  // -2^63 is 1 modulo 3, 2^63 - 1 is 1 as well
}

TEST_CASE("positions of arrays whose shapes are none") {
  const NDArray at = array<std::int64_t>({5, 7});
  for (const char* const shape : {"(2, -1)", "(2, 0, 3)", "(1, -9223372036854775808)"})
    CHECK(said("_unravel_index", {at}, {{"shape", shape}}) ==
          cat("_unravel_index: shape = ", shape, " has no positions"));
  CHECK(invoke("_unravel_index", {at}, {{"shape", "(-1, 3)"}}).to_vector<int>() == std::vector<int>{1, 2, 2, 1});
  const NDArray corner = array<std::int64_t>({{INT64_MAX}, {1}});
  CHECK(said("_ravel_multi_index", {corner}, {{"shape", "(1, 4)"}}) ==
        "_ravel_multi_index: 9223372036854775807 times 4 is more than 64 bits can count");
}

TEST_CASE("sums and products of integers wrap") {
  const NDArray x = array<std::int64_t>({{INT64_MAX, 1}, {INT64_MAX, 2}});
  CHECK(invoke("sum", {x}, {{"axis", "1"}}).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{INT64_MIN, INT64_MIN + 1});
  CHECK(invoke("prod", {x}, {{"axis", "1"}}).to_vector<std::int64_t>() == std::vector<std::int64_t>{INT64_MAX, -2});
  const NDArray narrow = array<std::int32_t>({INT32_MAX, 1});
  CHECK(invoke("sum", {narrow}, {}).to_vector<std::int32_t>() == std::vector<std::int32_t>{INT32_MIN});
}

TEST_CASE("labels that are no class, however large, change no gradient but their own") {
  for (const double label : {1e300, -1e300, std::numeric_limits<double>::quiet_NaN(), 1e19}) {
    NDArray x = array({{0, 0}, {0, 0}}).to(f64);
    x.attach_grad();
    {
      record scope;
      softmax_output(x, array<double>({label, 1}), {.ignore_label = 1e30F, .use_ignore = true}).backward();
    }
    CHECK(x.grad().to_vector<double>()[2] == 0.5);
    CHECK(x.grad().to_vector<double>()[3] == -0.5);
  }
}

TEST_CASE("arrays without elements have no memory to read or write, which a sanitizer sees") {
  const NDArray rows = zeros({2, 0}), first = array({0});
  CHECK(invoke("_sparse_retain", {rows.to(row_sparse), first}).nnz() == 1);
  CHECK(said("softmax_cross_entropy", {rows, array({0, 0})}, {}) ==
        "softmax_cross_entropy: label 0 of row 0 is no class from 0 to -1");
  CHECK(rows.to(row_sparse).copy().to(dense).shape() == Shape{2, 0});
}

TEST_CASE("sparse arrays of more than 2^31 elements cost what they store") {
  const Fallback before = set_fallback(Fallback::error);
  constexpr std::int64_t n = std::int64_t{1} << 20;  // n * n elements: no dense copy of them fits anywhere
  const auto places = [](const NDArray& a) {
    return std::pair(a.indices().to_vector<std::int64_t>(), a.to(f64).data().to_vector<double>());
  };
  const std::vector<std::int64_t> columns{n - 1, 0, n - 1};
  std::vector<std::int64_t> starts(n + 1, 1);
  starts[0] = 0;
  starts[n] = 3;  // row 0 stores its last element, row n - 1 its first and last
  for (const Dtype index : {i32, i64}) {
    const NDArray x =
        csr_matrix({1, 2, 4}, detail::as_type(array(columns), index), detail::as_type(array(starts), index), {n, n});
    const auto is = [&](const NDArray& a, const std::vector<double>& stored) {
      a.check_format();
      CHECK(a.storage() == csr);
      CHECK(a.shape().size() == n * n);
      CHECK(places(a) == std::pair(columns, stored));
    };
    is(invoke("square", {x}), {1, 4, 16});
    is(invoke("elemwise_add", {x, x}), {2, 4, 8});
    is(invoke("elemwise_mul", {x, x}), {1, 4, 16});
    is(invoke("_mul_scalar", {x}, {{"scalar", "3"}}), {3, 6, 12});
    is(invoke("add_n", {x, x, x}), {3, 6, 12});
    is(invoke("broadcast_mul", {x, full({1, n}, 2)}), {2, 4, 8});
    is(invoke("stored_softmax", {invoke("_mul_scalar", {x}, {{"scalar", "0"}})}), {1, 0.5, 0.5});
    CHECK(invoke("sum", {x}).item<double>() == 7);
    CHECK(invoke("_square_sum", {x}).item<double>() == 21);
    CHECK(invoke("sum", {x}, {{"axis", "0"}})[n - 1].item<double>() == 5);
    CHECK(invoke("sum", {x}, {{"axis", "1"}})[n - 1].item<double>() == 6);
    CHECK(invoke("_contrib_getnnz", {x}).item<double>() == 3);
    CHECK(invoke("dot", {x, ones({n, 1})})[n - 1].item<double>() == 6);
    const NDArray turned = invoke("dot", {x, ones({n, 1})}, {{"transpose_a", "True"}});
    CHECK(turned.storage() == row_sparse);
    CHECK(places(turned) == std::pair(std::vector<std::int64_t>{0, n - 1}, std::vector<double>{2, 5}));
    const NDArray product = invoke("dot", {x, x}, {{"transpose_b", "True"}});
    CHECK(product.nnz() == 4);
    CHECK(invoke("sum", {product}).item<double>() == 1 + 4 + 4 + 20);
    is(invoke("sddmm", {x, ones({n, 2}), ones({n, 2})}), {2, 2, 2});
    CHECK(invoke("slice", {x}, {{"begin", cat('(', n - 1, ", 1)")}, {"end", cat('(', n, ", ", n, ')')}}).nnz() == 1);
    CHECK(invoke("take", {x, array<std::int64_t>({n - 1, n - 1})}).shape() == Shape{2, n});
    CHECK(invoke("Concat", {x, x}, {{"dim", "0"}}).nnz() == 6);
    // The gradient of a map of several inputs, at the places that the leaf stores.
    x.attach_grad();
    {
      record scope;
      invoke("broadcast_mul", {invoke("square", {x}), full({1, n}, 3)}).backward(x);
    }
    is(x.grad(), {6, 24, 96});
  }
  constexpr std::int64_t many = std::int64_t{1} << 40;
  const NDArray rows = row_sparse_array({{1, 2}, {3, 4}}, {5, many - 1}, {many, 2});
  for (const NDArray& y : {invoke("_mul_scalar", {rows}, {{"scalar", "2"}}), invoke("elemwise_add", {rows, rows}),
                           invoke("_scatter_plus_scalar", {rows}, {{"scalar", "0"}})}) {
    y.check_format();
    CHECK(y.indices().to_vector<std::int64_t>() == std::vector<std::int64_t>{5, many - 1});
  }
  CHECK(invoke("_square_sum", {rows}, {{"axis", "0"}}).to_vector<double>() == std::vector<double>{10, 20});
  CHECK(invoke("_sparse_retain", {rows, array<std::int64_t>({many - 1})}).nnz() == 1);
  CHECK(invoke("Embedding", {array<std::int64_t>({many - 1, 7}), rows}, {{"input_dim", cat(many)}, {"output_dim", "2"}})
            .to_vector<double>() == std::vector<double>{3, 4, 0, 0});
  set_fallback(before);
}

TEST_CASE("gradients of csr leaves of more than 2^48 elements cost what is stored") {
  const Fallback before = set_fallback(Fallback::error);
  constexpr std::int64_t rows = 65536, columns = std::int64_t{1} << 33, apart = 328;
  std::vector<std::int64_t> at, starts{0};
  std::vector<double> first, second;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (row % apart == 0) {
      at.push_back(row * 1000);
      first.push_back(static_cast<double>(row % 7 + 1));
      second.push_back(2);
    }
    starts.push_back(static_cast<std::int64_t>(at.size()));
  }
  const auto made = [&](const std::vector<double>& values) {
    return csr_matrix(array(values), array(at), array(starts), {rows, columns});
  };
  const NDArray x = made(first), y = made(second), taken = array<std::int64_t>({0, apart, 0, rows - 1});
  const double n = static_cast<double>(at.size());
  double total = 0;
  for (const double value : first) total += value;
  CHECK(at.size() == 200);
  struct Case {
    std::string_view name;
    NDArray (*f)(const NDArray& x, const NDArray& y, const NDArray& taken);
    double sum;  // of the gradient of the sum of f in x
  };
  const Case cases[] = {
      {"itself", [](const NDArray& a, const NDArray&, const NDArray&) { return a; }, n},
      {"square", [](const NDArray& a, const NDArray&, const NDArray&) { return invoke("square", {a}); }, 2 * total},
      {"sign", [](const NDArray& a, const NDArray&, const NDArray&) { return invoke("sign", {a}); }, 0},
      {"minus", [](const NDArray& a, const NDArray& b, const NDArray&) { return a - b; }, n},
      {"minus itself", [](const NDArray& a, const NDArray&, const NDArray&) { return a * 3 - a; }, 2 * n},
      {"add_n", [](const NDArray& a, const NDArray& b, const NDArray&) { return invoke("add_n", {a, b, a}); }, 2 * n},
      {"cast", [](const NDArray& a, const NDArray&, const NDArray&) { return a.to(f64); }, n},
      {"slice",
       [](const NDArray& a, const NDArray&, const NDArray&) {
         return invoke("slice", {a}, {{"begin", "(100, 5)"}, {"end", "(1000, 656001)"}});
       },
       2},
      {"slice of squares",
       [](const NDArray& a, const NDArray&, const NDArray&) {
         return invoke("square", {invoke("slice", {invoke("_mul_scalar", {a}, {{"scalar", "2"}})},
                                         {{"begin", "(1,)"}, {"end", "(None,)"}})});
       },
       8 * (total - 1)},
      {"take", [](const NDArray& a, const NDArray&, const NDArray& t) { return invoke("take", {a, t}); }, 3},
      {"concat",
       [](const NDArray& a, const NDArray& b, const NDArray&) { return invoke("Concat", {a, b, a}, {{"dim", "0"}}); },
       2 * n},
      {"stored_softmax", [](const NDArray& a, const NDArray&, const NDArray&) { return invoke("stored_softmax", {a}); },
       0},
      {"where",
       [](const NDArray& a, const NDArray& b, const NDArray&) {
         return invoke("where", {b, a, invoke("square", {a})});
       },
       n},
      {"by a column",
       [](const NDArray& a, const NDArray&, const NDArray&) {
         return invoke("broadcast_mul", {a, full({a.shape()[0], 1}, 3, a.dtype())});
       },
       3 * n},
      {"sums of rows",
       [](const NDArray& a, const NDArray&, const NDArray&) { return invoke("sum", {a}, {{"axis", "1"}}); }, n},
      {"the largest", [](const NDArray& a, const NDArray&, const NDArray&) { return invoke("max", {a}); },
       static_cast<double>(std::count(first.begin(), first.end(), 7))},
      {"the largest of rows",
       [](const NDArray& a, const NDArray&, const NDArray&) { return invoke("max", {a}, {{"axis", "1"}}); }, n},
      {"norms of rows",
       [](const NDArray& a, const NDArray&, const NDArray&) { return invoke("norm", {a}, {{"axis", "1"}}); }, n},
      {"dot",
       [](const NDArray& a, const NDArray& b, const NDArray&) {
         return invoke("dot", {a, b}, {{"transpose_b", "True"}});
       },
       2 * n},
  };
  for (const auto& [name, f, wanted] : cases)
    for (const bool summed : {true, false}) {
      CAPTURE(name);
      x.attach_grad();
      {
        record scope;
        const NDArray made_of_x = f(x, y, taken);
        (summed ? invoke("sum", {made_of_x}) : made_of_x).backward();
      }
      x.grad().check_format();
      CHECK(x.grad().storage() == csr);
      CHECK(x.grad().nnz() == 200);
      CHECK(invoke("sum", {x.grad()}).item<double>() == wanted);
    }
  set_fallback(before);
}

TEST_CASE("sparse results of more elements than 64 bits can count are refused") {
  constexpr std::int64_t far = std::int64_t{1} << 62;
  const NDArray column = csr_matrix({1, 2, 3, 4}, {0, 0, 0, 0}, {0, 1, 2, 3, 4}, {4, 1});
  const NDArray row = csr_matrix({1, 2}, {0, far - 1}, {0, 2}, {1, far});
  const auto refused = [](auto call) {
    return sentence(call).find("has more elements than 64 bits can count") != std::string::npos;
  };
  CHECK(refused([&] { (void)invoke("dot", {column, row}); }));
  CHECK(refused([&] { (void)invoke("Concat", {row, row}, {{"dim", "0"}}); }));
  CHECK(refused([&] { (void)invoke("take", {row, array<std::int64_t>({0, 0, 0})}); }));
  CHECK(refused([&] { NDArray({4, far}, f32, cpu(), csr); }));
  CHECK(refused([&] { NDArray({far, 4}, f32, cpu(), row_sparse); }));
  CHECK(refused([&] { row_sparse_array({{1, 2, 3, 4}}, {0}, {far, 4}); }));
  CHECK(refused([&] { csr_matrix({1}, {0}, {0, 1, 1}, {2, far}); }));
  CHECK(invoke("square", {row}).data().to_vector<double>() == std::vector<double>{1, 4});
}
