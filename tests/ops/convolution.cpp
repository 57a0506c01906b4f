// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "value_rows.hpp"

using namespace ops_test;

namespace {

/// Elements that differ from place to place, in [−1, 1].
NDArray made(const Shape& shape, strop::Dtype dtype, int salt) {
  std::vector<double> all(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<double>((i * 37 + static_cast<std::size_t>(salt) * 11) % 101) / 50 - 1;
  NDArray x(shape, strop::f64);
  std::copy(all.begin(), all.end(), x.pointer<double>());
  return x.to(dtype);
}

/// A convolution over three axes, those that there are not first, as seven loops in double.
struct Loops {
  using Three = std::array<std::int64_t, 3>;
  std::int64_t images, channels, filters, groups;
  Three in, kernel, stride, dilate, pad, out{};

  static Three three(const Shape& list, int rank, std::int64_t otherwise, std::int64_t absent) {
    Three all{absent, absent, absent};
    for (int i = 0; i < rank; ++i) all[static_cast<std::size_t>(3 - rank + i)] = list.ndim() == 0 ? otherwise : list[i];
    return all;
  }
  /// Calls f(of data, of weight, of output) for each product.
  template <class F>
  void each(F f) const {
    const std::int64_t of_group = channels / groups, fill = filters / groups;
    for (std::int64_t n = 0; n < images; ++n)
      for (std::int64_t o = 0; o < filters; ++o)
        for (std::int64_t at = 0; at < out[0] * out[1] * out[2]; ++at)
          for (std::int64_t c = 0; c < of_group; ++c)
            for (std::int64_t k = 0; k < kernel[0] * kernel[1] * kernel[2]; ++k) {
              const Three y{at / (out[1] * out[2]), at / out[2] % out[1], at % out[2]},
                  w{k / (kernel[1] * kernel[2]), k / kernel[2] % kernel[1], k % kernel[2]};
              std::int64_t from = n * channels + o / fill * of_group + c;
              bool inside = true;
              for (std::size_t i = 0; i < 3; ++i) {
                const std::int64_t x = y[i] * stride[i] + w[i] * dilate[i] - pad[i];
                inside = inside && x >= 0 && x < in[i];
                from = from * in[i] + x;
              }
              if (inside)
                f(static_cast<std::size_t>(from),
                  static_cast<std::size_t>((o * of_group + c) * kernel[0] * kernel[1] * kernel[2] + k),
                  static_cast<std::size_t>((n * filters + o) * out[0] * out[1] * out[2] + at));
            }
  }
};

/// Result and gradients of a call against the loops, in both types.
void check(const Shape& shape, int filters, int groups, const Shape& kernel, const Shape& stride, const Shape& dilate,
           const Shape& pad, bool bias = true) {
  const int rank = kernel.ndim();
  Loops loops{shape[0],
              shape[1],
              filters,
              groups,
              Loops::three(Shape(std::vector<std::int64_t>(shape.begin() + 2, shape.end())), rank, 1, 1),
              Loops::three(kernel, rank, 1, 1),
              Loops::three(stride, rank, 1, 1),
              Loops::three(dilate, rank, 1, 1),
              Loops::three(pad, rank, 0, 0)};
  Shape wide{shape[0], filters}, weights{filters, shape[1] / groups};
  for (std::size_t i = 0; i < 3; ++i) {
    loops.out[i] = (loops.in[i] + 2 * loops.pad[i] - loops.dilate[i] * (loops.kernel[i] - 1) - 1) / loops.stride[i] + 1;
    if (i + static_cast<std::size_t>(rank) >= 3) wide.push_back(loops.out[i]), weights.push_back(loops.kernel[i]);
  }
  const std::string texts[] = {strop::detail::print_shape(kernel),
                               strop::detail::print_shape(stride),
                               strop::detail::print_shape(dilate),
                               strop::detail::print_shape(pad),
                               std::to_string(filters),
                               std::to_string(groups)};
  for (const Dtype dtype : {strop::f32, strop::f64}) {
    CAPTURE(cat("data ", shape, ", kernel ", kernel, ", stride ", stride, ", dilate ", dilate, ", pad ", pad, ", ",
                groups, " groups, ", name_of(dtype)));
    const Tolerance close = dtype == strop::f64 ? Tolerance{1e-12, 1e-12} : Tolerance{2e-5, 2e-5};
    const NDArray x = made(shape, dtype, 1), w = made(weights, dtype, 2), b = made({filters}, dtype, 3),
                  dy = made(wide, dtype, 4);
    const Numbers X = values(x), W = values(w), B = values(b), DY = values(dy);
    Numbers y(static_cast<std::size_t>(wide.size())), dx(X.size()), dw(W.size()), db(B.size());
    const auto filter_of = [&](std::size_t i) {
      return i / (y.size() / static_cast<std::size_t>(wide[0] * filters)) % B.size();
    };
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (bias) y[i] = B[filter_of(i)];
      db[filter_of(i)] += DY[i];
    }
    loops.each([&](std::size_t i, std::size_t k, std::size_t o) {
      y[o] += X[i] * W[k];
      dx[i] += DY[o] * W[k];
      dw[k] += DY[o] * X[i];
    });
    Arrays in{x, w};
    if (bias) in.push_back(b);
    for (const NDArray& a : in) a.attach_grad(strop::GradRequest::add);
    const Numbers* const wanted[] = {&dx, &dw, &db};
    for (int pass = 1; pass <= 2; ++pass) {  // the second time gradients are added
      NDArray out;
      {
        strop::record scope;
        out = strop::invoke("Convolution", in,
                            {{"kernel", texts[0]},
                             {"stride", texts[1]},
                             {"dilate", texts[2]},
                             {"pad", texts[3]},
                             {"num_filter", texts[4]},
                             {"num_group", texts[5]},
                             {"no_bias", bias ? "False" : "True"}});
      }
      const std::string wrong = difference(out, y, wide, close);
      CHECK_MESSAGE(wrong.empty(), wrong);
      out.backward(dy);
      for (std::size_t i = 0; i < in.size(); ++i) {
        Numbers sum = *wanted[i];
        for (double& value : sum) value *= pass;
        const std::string off = difference(in[i].grad(), sum, in[i].shape(), close);
        CHECK_MESSAGE(off.empty(), "gradient ", i, ", pass ", pass, ": ", off);
      }
    }
  }
}

}  // namespace

TEST_CASE("convolution is the sum that its page writes, and so are its gradients") {
  const Shape none;
  check({2, 3, 11}, 4, 1, {3}, none, none, none);
  check({2, 4, 12}, 6, 2, {4}, {3}, {2}, {5});
  check({3, 2, 9, 7}, 3, 1, {3, 2}, none, none, none, false);
  check({2, 6, 9, 10}, 9, 3, {3, 4}, {2, 3}, {1, 2}, {2, 1});
  check({2, 4, 8, 8}, 4, 4, {3, 3}, none, none, {1, 1}, false);  // a filter for each channel
  check({2, 5, 6, 7}, 3, 1, {1, 1}, none, none, none);           // the image itself is the matrix
  check({2, 5, 6, 7}, 3, 1, {1, 1}, {2, 2}, none, {1, 0});
  check({2, 2, 5, 6, 4}, 3, 1, {2, 3, 2}, {1, 2, 1}, none, {0, 1, 1});
  check({1, 4, 4, 5, 6}, 4, 2, {3, 1, 2}, none, {1, 1, 3}, {2, 0, 3});
  check({1, 1, 2, 2}, 2, 1, {3, 3}, {3, 3}, none, {4, 4});  // windows that see padding alone
  check({0, 2, 4, 4}, 2, 1, {3, 3}, none, none, none);
  check({9, 2, 12, 12}, 3, 1, {5, 5}, none, none, none);     // gradients of the weight in parts
  check({1, 3, 40, 50}, 4, 1, {5, 5}, none, none, {2, 2});   // more windows than a block has
  check({2, 2, 37, 33}, 2, 2, {16, 9}, none, none, {8, 4});  // likewise, in each image
  check({1, 40, 7, 7}, 200, 1, {3, 3}, none, none, {1, 1});  // a weight whose gradient has one part
}

TEST_CASE("convolution of few channels a group is the same sum") {
  const Shape none;
  check({3, 5, 67}, 5, 5, {3}, none, none, {1});
  check({2, 3, 41}, 6, 3, {5}, {3}, {2}, {7});  // two filters for each channel
  check({2, 6, 13, 18}, 3, 3, {3, 2}, {2, 1}, {1, 3}, {0, 2}, false);
  check({2, 4, 21, 35}, 4, 4, {5, 3}, {2, 2}, none, {2, 1});
  check({1, 2, 9, 11}, 2, 2, {1, 2}, {3, 4}, {1, 5}, {2, 3});  // elements that no window has
  check({2, 3, 5, 6, 19}, 3, 3, {2, 3, 3}, {1, 2, 2}, {2, 1, 1}, {1, 1, 2});
  check({2, 1, 2, 2}, 2, 1, {3, 3}, {3, 3}, none, {4, 4}, false);
  check({35, 2, 7, 7}, 2, 2, {3, 3}, none, none, {1, 1});   // sums of images in pairs
  check({1, 2, 90, 90}, 2, 2, {3, 3}, none, none, {1, 1});  // sums of rows in pairs
  check({1, 1, 5000}, 1, 1, {3}, none, none, none);         // a row that is cut
}

TEST_CASE("convolution without a matrix of windows is the same sum") {
  const Shape none;
  check({2, 5, 70}, 7, 1, {3}, none, none, {1});
  check({1, 3, 4500}, 5, 1, {3}, {2}, none, none);  // rows that are cut
  check({2, 6, 24, 29}, 10, 2, {3, 3}, none, {2, 1}, {2, 1}, false);
  check({2, 3, 37, 52}, 14, 1, {5, 4}, {2, 2}, none, {3, 1});
  check({1, 3, 20, 41}, 13, 1, {2, 3}, {3, 4}, {1, 2}, {0, 2});
  check({2, 4, 3, 6, 33}, 9, 1, {2, 3, 3}, {1, 2, 1}, {2, 1, 1}, {1, 1, 1});
  check({1, 30, 16, 16}, 25, 1, {3, 3}, none, none, {1, 1});  // several blocks of terms
  check({1, 460, 3, 15}, 5, 1, {3, 3}, none, none, {1, 1});   // several stretches of blocks
}

TEST_CASE("convolution of several images at once is the same sum") {
  const Shape none;
  check({7, 5, 5, 5}, 6, 1, {3, 3}, none, none, {1, 1});
  check({11, 6, 9, 8}, 8, 2, {3, 3}, {2, 1}, {1, 2}, {2, 2}, false);
  check({40, 5, 4, 4}, 9, 1, {1, 1}, none, none, none);  // the images themselves are the matrices
}

TEST_CASE("what is infinite in an image is in the gradient of the weights that meet it alone") {
  for (const std::int64_t width : {7, 9, 19, 35}) {
    CAPTURE(width);
    const NDArray x = made({1, 2, 4, width}, strop::f32, 1), w = made({2, 1, 3, 3}, strop::f32, 2);
    x.pointer<float>()[width - 1] =
        INFINITY;  // the last of the first row: only the last place of the first row meets it
    w.attach_grad();
    NDArray y;
    {
      strop::record scope;
      y = strop::invoke("Convolution", {x, w},
                        {{"kernel", "(3, 3)"}, {"num_filter", "2"}, {"num_group", "2"}, {"no_bias", "True"}});
    }
    y.backward(made(y.shape(), strop::f32, 4));
    const Numbers dw = values(w.grad());
    for (std::size_t i = 0; i < dw.size(); ++i) CHECK(std::isfinite(dw[i]) == (i != 2));
  }
}

TEST_CASE("convolution as MXNet 1.9.1 does it") {
  NDArray x = count({2, 4, 5, 5}), w = count({6, 2, 3, 3});
  for (std::int64_t i = 0; i < x.size(); ++i) x.pointer<float>()[i] = static_cast<float>(i % 7);
  for (std::int64_t i = 0; i < w.size(); ++i) w.pointer<float>()[i] = static_cast<float>(i % 5);
  const NDArray y = strop::invoke("Convolution", {x, w, count({6})},
                                  {{"kernel", "(3, 3)"}, {"num_filter", "6"}, {"num_group", "2"}, {"layout", "NCHW"}});
  CHECK(y.shape() == Shape{2, 6, 3, 3});
  const Numbers first = values(y);
  CHECK(Numbers(first.begin(), first.begin() + 5) == Numbers{126, 124, 115, 74, 93});
  CHECK(values(strop::invoke("sum", {y})) == Numbers{11820});
  const NDArray z = strop::invoke("Convolution_v1", {x, w},
                                  {{"kernel", "(3, 3)"},
                                   {"num_filter", "6"},
                                   {"num_group", "2"},
                                   {"stride", "(2, 1)"},
                                   {"pad", "(1, 0)"},
                                   {"dilate", "(1, 2)"},
                                   {"no_bias", "True"},
                                   {"workspace", "512"},
                                   {"cudnn_tune", "limited_workspace"}});
  CHECK(z.shape() == Shape{2, 6, 3, 1});
  const Numbers second = values(z);
  CHECK(Numbers(second.begin(), second.begin() + 5) == Numbers{65, 95, 78, 68, 102});
  CHECK(values(strop::invoke("sum", {z})) == Numbers{2980});
}

TEST_CASE("a convolution's results do not depend on how many threads there are") {
  struct Case {
    Shape data, weight;
    const char* groups;
  };
  for (const Case& c : {Case{{9, 3, 20, 20}, {8, 3, 5, 5}, "1"}, Case{{5, 8, 20, 23}, {8, 1, 3, 3}, "8"},
                        Case{{1, 9, 40, 41}, {40, 9, 3, 3}, "1"}}) {
    CAPTURE(c.data);
    const NDArray x = made(c.data, strop::f32, 1), w = made(c.weight, strop::f32, 2);
    const std::string kernel = cat("(", c.weight[2], ", ", c.weight[3], ")"), filters = std::to_string(c.weight[0]);
    const auto both = [&] {
      x.attach_grad();
      w.attach_grad();
      NDArray y;
      {
        strop::record scope;
        y = strop::invoke("Convolution", {x, w},
                          {{"kernel", kernel}, {"num_filter", filters}, {"num_group", c.groups}, {"no_bias", "True"}});
      }
      y.backward(y);
      return std::array{values(y), values(x.grad()), values(w.grad())};
    };
    const int before = strop::num_threads();
    strop::set_num_threads(1);
    const auto alone = both();
    strop::set_num_threads(4);
    const auto together = both();
    strop::set_num_threads(before);
    CHECK(alone == together);
  }
}

TEST_CASE("convolution infers what follows from the rest") {
  const auto net =
      strop::compose("Convolution", {strop::var("data")},
                     {{"kernel", "(3, 3)"}, {"num_filter", "8"}, {"num_group", "2"}, {"pad", "(1, 1)"}}, "c");
  const auto shapes = net.infer_shape({{"data", {5, 4, 7, 9}}});
  CHECK(shapes.args == std::vector<Shape>{{5, 4, 7, 9}, {8, 2, 3, 3}, {8}});
  CHECK(shapes.outputs == std::vector<Shape>{{5, 8, 7, 9}});
  const auto back = net.infer_shape_partial({{"data", {5, -1, -1, 9}}, {"c_weight", {8, 3, 3, 3}}});
  CHECK(back["data"] == Shape{5, 6, -1, 9});
  CHECK(back.outputs[0] == Shape{5, 8, -1, 9});
}

TEST_CASE("convolution refuses in a sentence") {
  const NDArray x = count({2, 4, 5, 5}), w = count({6, 4, 3, 3}), b = count({6});
  const auto said = [&](const char* kernel, std::vector<std::pair<const char*, const char*>> more, const Arrays& in) {
    std::vector<std::pair<std::string_view, std::string_view>> all{{"kernel", kernel}, {"num_filter", "6"}};
    all.insert(all.end(), more.begin(), more.end());
    return error_of([&] { (void)strop::invoke("Convolution", in, all); });
  };
  CHECK(error_of([&] { (void)strop::invoke("Convolution", {x, w, b}, {{"num_filter", "6"}}); }) ==
        "convolution: parameter 'kernel' (shape) is required");
  CHECK(said("(3, 3)", {}, {x, w}) == "convolution: takes 3 inputs (data, weight, bias), 2 were given");
  CHECK(said("(3, 3)", {}, {x, count({6, 3, 3, 3}), b}) ==
        "convolution: input 'weight' has shape (6, 3, 3, 3), expected (6, 4, 3, 3)");
  CHECK(said("(3, 3)", {{"num_group", "4"}}, {x, w, b}) ==
        "convolution: num_filter is 6, expected a multiple of num_group, 4");
  CHECK(said("(3, 3)", {{"num_group", "3"}}, {x, w, b}) ==
        "convolution: input 'data' has 4 channels, expected a multiple of num_group, 3");
  CHECK(said("(3, 3)", {{"stride", "(1,)"}}, {x, w, b}) ==
        "convolution: stride = (1,) lists 1 number, expected 2, one per axis of the kernel");
  CHECK(said("(3, 3)", {{"stride", "(0, 1)"}}, {x, w, b}) ==
        "convolution: stride = (0, 1), expected numbers of 1 or more");
  CHECK(said("(3, 3)", {{"pad", "(-1, 1)"}}, {x, w, b}) == "convolution: pad = (-1, 1), expected numbers of 0 or more");
  CHECK(said("(3, 0)", {}, {x, w, b}) == "convolution: kernel = (3, 0), expected numbers of 1 or more");
  CHECK(said("(3, 3, 1, 1)", {}, {x, w, b}) ==
        "convolution: kernel = (3, 3, 1, 1) lists 4 numbers, expected 1 to 3, one per spatial axis");
  CHECK(said("(3,)", {}, {x, w, b}) == "convolution: input 'data' has shape (2, 4, 5, 5), expected 3 dimensions");
  CHECK(said("(3, 3)", {{"dilate", "(3, 1)"}, {"pad", "(0, 1)"}}, {x, w, b}) ==
        "convolution: axis 2 of input 'data' has extent 5, with padding 5, and a window covers 7");
  CHECK(said("(3, 3)", {{"layout", "NHWC"}}, {x, w, b}) == "convolution: layout is NHWC, expected NCHW");
}

TEST_CASE("a stride may be larger than every extent") {
  CHECK(values(strop::invoke("Convolution", {count({1, 1, 5}, 1), count({1, 1, 2}, 1)},
                             {{"kernel", "(2,)"},
                              {"pad", "(1,)"},
                              {"stride", "(9223372036854775807,)"},
                              {"num_filter", "1"},
                              {"no_bias", "True"}})) == Numbers{2});
}
