// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ops_test;
using strop::array;

namespace {
/// The new weight, then the states that the update writes, from MXNet 1.9.1.
void update(std::string_view op, strop::Attributes params, const Arrays& in, const std::vector<Numbers>& wanted) {
  const NDArray weight = in[0].copy();
  const Subject s = subject(op, in, params);
  Arrays states;
  const NDArray y = call(s, in, {}, {}, &states)[0];
  expect(s, "new weight", difference(y, wanted[0], y.shape(), {2e-5, 1e-6}));
  REQUIRE(states.size() + 1 == wanted.size());
  for (std::size_t k = 0; k < states.size(); ++k)
    expect(s, cat("state ", k), difference(states[k], wanted[k + 1], y.shape(), {2e-5, 1e-6}));
  expect(s, "old weight", difference(in[0], weight, {0, 0}));
  // Into the weight itself, as training does it.
  Arrays own;
  for (const NDArray& a : in) own.push_back(a.copy());
  std::vector<const NDArray*> inputs;
  for (const NDArray& a : own) inputs.push_back(&a);
  Arrays out{own[0]};
  strop::detail::dispatch(*s.entry, s.op(), inputs, out);
  expect(s, "in place", difference(own[0], y, {0, 0}));
}

/// Rows 0 and 2 of three are stored in the gradient.
NDArray some_rows() { return strop::row_sparse_array({{1, 2}, {3, 4}}, {0, 2}, {3, 2}); }
}  // namespace

TEST_CASE("updates as MXNet does them") {
  update("sgd_update", {{"lr", "0.1"}}, {array({1, -2, 0.5}), array({0.3, -4, 0})}, {{0.97, -1.6, 0.5}});
  update("sgd_update", {{"lr", "0.1"}, {"wd", "0.01"}, {"rescale_grad", "2"}, {"clip_gradient", "1.5"}},
         {array({1, -2, 0.5}), array({0.3, -4, 0})}, {{0.939, -1.848, 0.4995}});
  update("sgd_mom_update",
         {{"lr", "0.1"}, {"wd", "0.01"}, {"rescale_grad", "2"}, {"clip_gradient", "1.5"}, {"momentum", "0.9"}},
         {array({1, -2, 0.5}), array({0.3, -4, 0}), array({0.1, 0.2, 0.3})},
         {{1.029, -1.668, 0.7695}, {0.028999992, 0.33200002, 0.26950002}});
  update("nag_mom_update",
         {{"lr", "0.1"}, {"wd", "0.01"}, {"rescale_grad", "2"}, {"clip_gradient", "1.5"}, {"momentum", "0.9"}},
         {array({1, -2, 0.5}), array({0.3, -4, 0}), array({0.1, 0.2, 0.3})},
         {{0.9651, -1.5492, 0.74205005}, {0.028999995, 0.332, 0.26950002}});
  update("signsgd_update", {{"lr", "0.1"}, {"wd", "0.01"}, {"rescale_grad", "2"}, {"clip_gradient", "1.5"}},
         {array({1, -2, 0.5}), array({0.3, -4, 0})}, {{0.899, -1.898, 0.4995}});
  update("signum_update",
         {{"lr", "0.1"},
          {"wd", "0.01"},
          {"rescale_grad", "2"},
          {"clip_gradient", "1.5"},
          {"momentum", "0.9"},
          {"wd_lh", "0.02"}},
         {array({1, -2, 0.5}), array({0.3, -4, 0}), array({0.1, 0.2, 0.3})},
         {{1.098, -1.896, 0.59900004}, {0.028999977, 0.33200002, 0.26950002}});
  update("adam_update", {{"lr", "0.1"}, {"wd", "0.01"}, {"rescale_grad", "2"}, {"clip_gradient", "1.5"}},
         {array({1, -2, 0.5}), array({0.3, -4, 0}), array({0.1, 0.2, 0.3}), array({0.5, 0.4, 2})},
         {{0.97864264, -2.0047324, 0.48086318}, {0.15100001, 0.029999956, 0.2705}, {0.4998721, 0.40185, 1.998}});
  update("ftrl_update", {{"lr", "0.1"}, {"wd", "0.01"}, {"rescale_grad", "2"}, {"clip_gradient", "1.5"}},
         {array({1, -2, 0.5}), array({0.3, -4, 0}), array({0.1, 0.2, 0.3}), array({0.5, 0.4, 2})},
         {{0.077399924, -0.7074692, -0.012007221}, {-1.5025506, 18.608532, 0.3}, {0.86, 2.65, 2}});
  update("rmsprop_update",
         {{"lr", "0.1"}, {"wd", "0.01"}, {"rescale_grad", "2"}, {"clip_gradient", "1.5"}, {"clip_weights", "0.9"}},
         {array({1, -2, 0.5}), array({0.3, -4, 0}), array({0.5, 0.4, 2})},
         {{0.9, -0.9, 0.49963728}, {0.493605, 0.4925, 1.9000012}});
  update("rmspropalex_update", {{"lr", "0.1"}, {"wd", "0.01"}, {"rescale_grad", "2"}, {"clip_gradient", "1.5"}},
         {array({1, -2, 0.5}), array({0.3, -4, 0}), array({0.5, 0.4, 2}), array({0.1, 0.2, 0.3}),
          array({0.01, 0.02, 0.03})},
         {{0.9207567, -1.76533, 0.5266292},
          {0.493605, 0.4925, 1.9000012},
          {0.12550001, 0.11499998, 0.28525},
          {-0.07924333, 0.23467004, 0.026629236}});
  update("ftml_update", {{"lr", "0.1"}, {"wd", "0.01"}, {"rescale_grad", "2"}, {"clip_grad", "1.5"}, {"t", "3"}},
         {array({1, -2, 0.5}), array({0.3, -4, 0}), array({0.1, 0.2, 0.3}), array({0.5, 0.4, 2}),
          array({0.01, 0.02, 0.03})},
         {{0.99693835, -1.9908793, 0.49945664},
          {101.251976, 90.78331, 202.42856},
          {0.4998721, 0.40185, 1.998},
          {-100.94198, 180.73862, -101.10429}});
}

TEST_CASE("LAMB, AdamW and the rates of LARS as MXNet does them") {
  const Arrays in{array({1, -2, 0.5}), array({0.3, -4, 0}), array({0.1, 0.2, 0.3}), array({0.5, 0.4, 2})};
  const Numbers mean{0.15, 0.029999956, 0.27}, var{0.49986, 0.40185, 1.998};
  const auto phase1 = [&](std::string_view correction, const Numbers& wanted) {
    update(
        "lamb_update_phase1",
        {{"t", "3"}, {"wd", "0.01"}, {"rescale_grad", "2"}, {"clip_gradient", "1.5"}, {"bias_correction", correction}},
        in, {wanted, mean, var});
  };
  phase1("True", {0.05285876, -0.01043993, 0.04358678});
  phase1("False", {0.22216146, 0.02732471, 0.19601424});
  const auto phase2 = [&](double r1, double r2, std::string_view low, std::string_view high, const Numbers& wanted) {
    update("lamb_update_phase2", {{"lr", "0.1"}, {"lower_bound", low}, {"upper_bound", high}},
           {in[0], in[1], strop::full({1}, r1), strop::full({1}, r2)}, {wanted});
  };
  phase2(2, 0.5, "-1", "-1", {0.88, -0.4, 0.5});
  phase2(2, 0.5, "3", "-1", {0.82, 0.4, 0.5});
  phase2(2, 0.5, "-1", "1.5", {0.91, -0.8, 0.5});
  phase2(0, 0.5, "-1", "-1", {0.97, -1.6, 0.5});
  phase2(2, 0, "-1", "-1", {0.97, -1.6, 0.5});
  for (const double scale : {2.0, 0.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    Arrays scaled = in;
    scaled.push_back(strop::full({1}, scale));
    const bool moves = scale == 2;  // else the loss was scaled too far
    update("_adamw_update", {{"lr", "0.1"}, {"eta", "0.5"}, {"wd", "0.01"}, {"clip_gradient", "1.5"}}, scaled,
           {moves ? Numbers{0.98439193, -1.9923662, 0.48794928} : values(in[0]), moves ? mean : values(in[2]),
            moves ? var : values(in[3])});
  }
  CHECK(difference(strop::multi_lars(array({0.1, 0.2, 0.3, 0.4}), array({4, 0, 9, 1}), array({16, 1, 0, 0.25}),
                                     array({0.01, 0.01, 0.01, 0}), {.eta = 0.5f, .eps = 1e-3f, .rescale_grad = 2}),
                   {0.01246727, 0.2, 0.3, 0.1998002}, {4}, {1e-6, 1e-6})
            .empty());
  CHECK(refusal("lamb_update_phase2", {{"lr", "0.1"}}, {in[0], in[1], in[2], strop::ones({1})}) ==
        "lamb_update_phase2: input 'r1' has shape (3,), expected (1,)");
}

TEST_CASE("updates in mixed precision of LAMB and AdamW round a float32 copy") {
  for (const Dtype type : {strop::f16, strop::bf16, strop::f32}) {
    const NDArray weight = array({1, -2, 0.5}).to(type).copy(), grad = array({0.25, -4, 0}).to(type);
    const NDArray r1 = array({2}), r2 = array({0.5});
    Arrays wide{weight.to(strop::f32).copy(), grad.to(strop::f32), array({0.1, 0.2, 0.3}), array({0.5, 0.4, 2})};
    Arrays mixed{weight, grad, wide[2].copy(), wide[3].copy(), wide[0].copy()};
    const NDArray g = strop::invoke("mp_lamb_update_phase1", mixed, {{"t", "2"}, {"wd", "0.1"}});
    CHECK(g.dtype() == strop::f32);
    CHECK(difference(g, strop::invoke("lamb_update_phase1", wide, {{"t", "2"}, {"wd", "0.1"}}), {0, 0}).empty());
    for (const std::size_t k : {std::size_t{2}, std::size_t{3}}) CHECK(difference(mixed[k], wide[k], {0, 0}).empty());
    const NDArray stepped = strop::invoke("lamb_update_phase2", {wide[0], g, r1, r2}, {{"lr", "0.1"}});
    NDArray y = strop::invoke("mp_lamb_update_phase2", {weight, g, r1, r2, mixed[4]}, {{"lr", "0.1"}});
    CHECK(difference(mixed[4], stepped, {0, 0}).empty());
    CHECK(difference(y, stepped.to(type), {0, 0}).empty());
    for (const float scale : {2.0f, 0.0f}) {
      wide = {stepped.copy(), wide[1], wide[2], wide[3], strop::full({1}, scale)};
      mixed = {stepped.to(type).copy(), grad, mixed[2], mixed[3], stepped.copy(), wide[4]};
      const NDArray want = strop::invoke("_adamw_update", wide, {{"lr", "0.1"}, {"eta", "1"}});
      y = strop::invoke("_mp_adamw_update", mixed, {{"lr", "0.1"}, {"eta", "1"}});
      CHECK(difference(mixed[4], want, {0, 0}).empty());
      CHECK(difference(y, want.to(type), {0, 0}).empty());
      CHECK((values(want) == values(stepped)) == (scale == 0));
    }
  }
}

TEST_CASE("whether arrays are finite, and their sums of squares") {
  const NDArray fine = count({700}, 1), endless = strop::full({3}, std::numeric_limits<double>::infinity());
  const NDArray none = fine.copy();
  none.pointer<float>()[613] = std::nanf("");
  for (const Dtype type : {strop::f16, strop::bf16, strop::f32, strop::f64}) {
    CHECK(values(strop::all_finite(fine.to(type))) == Numbers{1});
    CHECK(values(strop::all_finite(none.to(type))) == Numbers{0});
    CHECK(values(strop::multi_all_finite({fine, endless.to(type)}, {.num_arrays = 2})) == Numbers{0});
    CHECK(values(strop::multi_sum_sq({array({1, -2}).to(type), array({3})}, {.num_arrays = 2})) == Numbers{5, 9});
  }
  CHECK(values(strop::all_finite(strop::zeros({0, 3}))) == Numbers{1});
  // Several calls into one result.
  const NDArray y = strop::ones({1});
  for (const auto& [x, wanted] : {std::pair(fine, 1.0), {endless, 0.0}, {fine, 0.0}}) {
    strop::all_finite(x, {.init_output = false}, strop::into(y));
    CHECK(values(y) == Numbers{wanted});
  }
  CHECK(values(strop::multi_sum_sq({fine}, {.num_arrays = 1})) == Numbers{static_cast<double>(114578450.0f)});
  CHECK(refusal("multi_sum_sq", {{"num_arrays", "2"}}, {fine}) == "multi_sum_sq: num_arrays is 2, 1 input was given");
  CHECK(refusal("all_finite", {}, {strop::ones({2}, strop::i32)}).starts_with("all_finite: input 'data' is int32"));
}

TEST_CASE("a row_sparse gradient touches its rows only, or all where the update is not lazy") {
  const NDArray weight = strop::ones({3, 2}), grad = some_rows();
  // weight − lr · (grad + wd · weight), by hand.
  row("sgd_update", {{"lr", "0.5"}, {"wd", "0.2"}}, {weight, grad}, {{{3, 2}, {0.4, -0.1, 1, 1, -0.6, -1.1}}});
  row("sgd_update", {{"lr", "0.5"}, {"wd", "0.2"}, {"lazy_update", "False"}}, {weight, grad},
      {{{3, 2}, {0.4, -0.1, 0.9, 0.9, -0.6, -1.1}}});
  const NDArray whole = weight.to(strop::row_sparse);
  const NDArray y = strop::invoke("sgd_update", {whole, grad}, {{"lr", "0.5"}, {"wd", "0.2"}});
  CHECK(y.storage() == strop::row_sparse);
  y.check_format();
  CHECK(difference(y, Numbers{0.4, -0.1, 1, 1, -0.6, -1.1}, {3, 2}).empty());
}

TEST_CASE("lazy updates are those of the dense gradient in the stored rows") {
  const strop::verify::QuietFallbacks quiet;
  strop::clear_fallbacks();
  const NDArray sparse = some_rows(), dense = sparse.to(strop::dense);
  const struct {
    std::string_view op;
    int states;
  } updates[] = {{"sgd_mom_update", 1}, {"adam_update", 2}};
  for (const auto& [op, states] : updates) {
    const NDArray weight = count({3, 2}, 1);
    Arrays lazy{weight, sparse}, full{weight, dense};
    for (int k = 0; k < states; ++k) {
      lazy.push_back(strop::full({3, 2}, 0.5));
      full.push_back(strop::full({3, 2}, 0.5));
    }
    const std::vector<std::pair<std::string_view, std::string_view>> params{{"lr", "0.1"}, {"wd", "0.01"}};
    const NDArray a = strop::invoke(op, lazy, params), b = strop::invoke(op, full, params);
    for (const std::int64_t stored : {0, 2}) {
      CHECK_MESSAGE(difference(a[stored], b[stored]).empty(), op);
      for (std::size_t k = 2; k < lazy.size(); ++k)
        CHECK_MESSAGE(difference(lazy[k][stored], full[k][stored]).empty(), op);
    }
    CHECK_MESSAGE(values(a[1]) == values(weight[1]), op);
    for (std::size_t k = 2; k < lazy.size(); ++k) CHECK_MESSAGE((values(lazy[k][1]) == Numbers{0.5, 0.5}), op);
  }
  CHECK(strop::fallbacks().empty());
}

namespace {

/// One element of an update by its formula in double; what a state is depends on the update.
struct Element {
  double weight, first = 0, second = 0;
};
constexpr double rate = 0.125, decay = 0.5, kept = 0.75, kept_squares = 0.875, epsilon = 1e-8;
Element gradient_step(Element x, double grad) { return {x.weight - rate * (grad + decay * x.weight)}; }
Element momentum_step(Element x, double grad) {
  const double moved = kept * x.first - rate * (grad + decay * x.weight);
  return {x.weight + moved, moved};
}
Element adam_step(Element x, double grad) {
  const double g = grad + decay * x.weight, mean = kept * x.first + (1 - kept) * g,
               square = kept_squares * x.second + (1 - kept_squares) * g * g;
  return {x.weight - rate * mean / (std::sqrt(square) + epsilon), mean, square};
}

}  // namespace

TEST_CASE("lazy_update alone decides whether rows without a gradient move, in every update that has it") {
  const struct {
    std::string_view op, kept;
    std::size_t states;
    Element (*step)(Element, double);
  } updates[] = {{"sgd_update", "", 0, gradient_step},
                 {"sgd_mom_update", "; momentum=0.75", 1, momentum_step},
                 {"adam_update", "; beta1=0.75; beta2=0.875", 2, adam_step}};
  std::vector<std::string> tested;
  for (const auto& u : updates)
    for (const std::string mixed : {"", "mp_"}) {
      tested.push_back(mixed + std::string(u.op));
      for (const Dtype type :
           mixed.empty() ? std::vector{strop::f32, strop::f64} : std::vector{strop::f16, strop::bf16})
        for (const Storage storage : {strop::dense, strop::row_sparse})
          for (const bool lazy : {true, false}) {
            const std::string at = cat(tested.back(), ' ', name_of(type), ' ', name_of(storage), ' ', lazy);
            CAPTURE(at);
            // Numbers that half precision holds; rows 0 and 2 of four have a gradient.
            const Numbers weight{1, -2, 0.5, 4, -0.25, 2, 3, -1}, first{0.5, 1, -1, 2, 0.25, -0.5, 1, 3},
                second{1, 2, 3, 4, 0.5, 0.25, 2, 1}, grad{0.5, -1, 0, 0, 2, 0.25, 0, 0};
            const Dtype wide = mixed.empty() ? type : strop::f32;
            const auto made = [&](const Numbers& x, Dtype as) {
              return strop::array(x, {4, 2}).to(as).to(storage).copy();
            };
            Arrays in{made(weight, type),
                      strop::row_sparse_array(strop::array({{0.5, -1}, {2, 0.25}}), {0, 2}, {4, 2}).to(type)};
            if (u.states > 0) in.push_back(made(first, wide));
            if (u.states > 1) in.push_back(made(second, wide));
            if (!mixed.empty()) in.push_back(made(weight, wide));
            const strop::verify::Row call{
                {}, cat("lr=0.125; wd=0.5; lazy_update=", lazy ? "True" : "False", u.kept), {}};
            const NDArray y = strop::invoke(tested.back(), in, call.attributes());
            Numbers wanted[3];
            for (std::size_t e = 0; e < weight.size(); ++e) {
              const Element before{weight[e], first[e], second[e]}, after = u.step(before, grad[e]);
              const bool moves = !lazy || e / 2 % 2 == 0;
              CHECK(std::abs(after.weight - before.weight) > 0.01);  // so that the flag can be told
              wanted[0].push_back(moves ? after.weight : before.weight);
              wanted[1].push_back(moves ? after.first : before.first);
              wanted[2].push_back(moves ? after.second : before.second);
            }
            const Shape shape{4, 2};
            CHECK(difference(y, wanted[0], shape, {type == strop::bf16 ? 4e-3 : 1e-3, 0}) == "");
            for (std::size_t k = 1; k <= u.states; ++k)
              CHECK(difference(in[k + 1], wanted[k], shape, {1e-6, 1e-6}) == "");
            // What the update computes in is as exact as it is, the weight itself or its copy.
            CHECK(difference(mixed.empty() ? y : in.back(), wanted[0], shape, {1e-6, 1e-6}) == "");
          }
    }
  for (const strop::Entry* e : strop::detail::all_operators())
    if (e->library && e->params != nullptr && e->params->find("lazy_update"))
      CHECK_MESSAGE(std::ranges::count(tested, e->name) == 1, e->name);
}

TEST_CASE("one dense state beside a row_sparse weight has every row updated") {
  const struct {
    std::string_view op;
    unsigned states;
    Dtype type;
    std::string_view decay;
  } updates[] = {{"sgd_mom_update", 1, strop::f32, "momentum"},
                 {"adam_update", 2, strop::f32, "beta1"},
                 {"mp_sgd_mom_update", 1, strop::f16, "momentum"},
                 {"mp_adam_update", 2, strop::f16, "beta1"}};
  const NDArray grad = some_rows(), weight = count({3, 2}, 1), half = strop::full({3, 2}, 0.5);
  for (const auto& [op, states, type, decay] : updates)
    for (unsigned dense = 0; dense < 1u << states; ++dense) {
      const std::string at = cat(op, ' ', dense);
      CAPTURE(at);
      Arrays sparse{weight.to(strop::row_sparse).to(type).copy(), grad.to(type)},
          plain{weight.to(type).copy(), grad.to(strop::dense).to(type)};
      for (unsigned k = 0; k < states; ++k) {
        sparse.push_back(half.to((dense >> k & 1) != 0 ? strop::dense : strop::row_sparse).copy());
        plain.push_back(half.copy());
      }
      if (type != strop::f32) {
        sparse.push_back(weight.to(strop::row_sparse).copy());
        plain.push_back(weight.copy());
      }
      const std::vector<std::pair<std::string_view, std::string_view>> params{{"lr", "0.1"}, {decay, "0.9"}};
      const NDArray a = strop::invoke(op, sparse, params), b = strop::invoke(op, plain, params);
      CHECK(difference(a.to(strop::dense)[0], b[0]).empty());
      // Row 1 has no gradient: only an update of every row lets the states, which are not zero, move it.
      CHECK((values(a.to(strop::dense)[1]) == values(weight[1])) == (dense == 0));
      if (dense == 0) continue;
      CHECK(difference(a.to(strop::dense), b).empty());
      for (std::size_t k = 2; k < sparse.size(); ++k) CHECK(difference(sparse[k].to(strop::dense), plain[k]).empty());
    }
}

TEST_CASE("updates in mixed precision are those of the float32 copy, rounded, in the rows that are touched") {
  strop::clear_fallbacks();
  const struct {
    std::string_view mixed, plain;
    int states;
    bool lazy;
    std::string_view extra;
  } updates[] = {{"mp_sgd_update", "sgd_update", 0, true, "wd"},
                 {"mp_sgd_mom_update", "sgd_mom_update", 1, true, "momentum"},
                 {"mp_adam_update", "adam_update", 2, true, "beta1"},
                 {"mp_nag_mom_update", "nag_mom_update", 1, false, "momentum"}};
  const strop::verify::QuietFallbacks quiet;
  for (const auto& u : updates)
    for (const Dtype type : {strop::f16, strop::bf16, strop::f32})
      for (const Storage storage : {strop::dense, strop::row_sparse})
        for (const Storage grads : {strop::dense, strop::row_sparse})
          for (const std::string_view lazy : {"True", "False"}) {
            if ((storage == strop::row_sparse && grads == strop::dense) || (!u.lazy && lazy == "True")) continue;
            const std::string at =
                cat(u.mixed, ' ', name_of(type), ' ', name_of(storage), ' ', name_of(grads), ' ', lazy);
            CAPTURE(at);
            const NDArray start = count({4, 3}, 1) / 3, wide = start.to(storage).copy();
            // Two rows, one of them twice: what is stored for it adds up.
            const NDArray rows = strop::row_sparse_array({{1, 2, 3}, {4, 5, 6}, {1, 1, 1}}, {2, 0, 2}, {4, 3}),
                          grad = (grads == strop::dense ? rows.to(strop::dense) : rows).to(type);
            Arrays mixed{start.to(storage).to(type).copy(), grad}, plain{start.to(storage).copy(), grad.to(strop::f32)};
            for (int k = 0; k < u.states; ++k) {
              mixed.push_back(strop::full({4, 3}, 0.5).to(storage).copy());
              plain.push_back(strop::full({4, 3}, 0.5).to(storage).copy());
            }
            mixed.push_back(wide);
            std::vector<std::pair<std::string_view, std::string_view>> params{{"lr", "0.1"}, {u.extra, "0.25"}};
            if (u.lazy) params.emplace_back("lazy_update", lazy);
            const Numbers before = values(mixed[0]);
            const NDArray into = strop::invoke(u.mixed, mixed, params), want = strop::invoke(u.plain, plain, params);
            CHECK(into.dtype() == type);
            CHECK(into.storage() == storage);
            CHECK(values(mixed[0]) == before);  // the old weight stays
            CHECK(difference(wide, want, {0, 0}).empty());
            for (int k = 0; k < u.states; ++k)
              CHECK(difference(mixed[static_cast<std::size_t>(2 + k)], plain[static_cast<std::size_t>(2 + k)], {0, 0})
                        .empty());
            CHECK(difference(into, want.to(type), {0, 0}).empty());
            if (grads == strop::row_sparse && lazy == "True")
              for (const std::size_t row : {std::size_t{1}, std::size_t{3}})
                for (std::size_t j = 3 * row; j < 3 * row + 3; ++j) CHECK(values(into)[j] == before[j]);
          }
  for (const strop::FallbackRecord& one : strop::fallbacks()) CHECK(one.op == "nag_mom_update");
  const NDArray half = strop::ones({2, 2}, strop::f16), other = strop::ones({2, 2});
  CHECK(refusal("mp_sgd_update", {{"lr", "0.1"}}, {half, other, other.copy()}) ==
        "mp_sgd_update: input 'grad' is float32, expected float16");
  CHECK(refusal("mp_sgd_update", {{"lr", "0.1"}}, {half, half.copy(), half.copy()}) ==
        "mp_sgd_update: input 'weight32' is float16, expected float32");
}

TEST_CASE("what a gradient stores for one row adds up before the step") {
  const NDArray grad = strop::row_sparse_array({{1, 2}, {3, 4}, {5, 6}}, {2, 0, 2}, {3, 2}),
                whole = grad.to(strop::dense);
  CHECK(values(whole) == Numbers{3, 4, 0, 0, 6, 8});
  for (const std::string_view lazy : {"True", "False"})
    for (const std::string_view op : {"sgd_update", "sgd_mom_update", "adam_update"}) {
      Arrays rows{count({3, 2}, 1), grad}, all{count({3, 2}, 1), whole};
      for (Arrays* in : {&rows, &all})
        for (int k = 0; k < (op == "adam_update" ? 2 : op == "sgd_update" ? 0 : 1); ++k)
          in->push_back(strop::zeros({3, 2}));
      const std::vector<std::pair<std::string_view, std::string_view>> params{{"lr", "0.1"}, {"lazy_update", lazy}};
      CHECK_MESSAGE(difference(strop::invoke(op, rows, params), strop::invoke(op, all, params), {1e-6, 1e-6}).empty(),
                    op, lazy);
    }
}

TEST_CASE("adagrad for the rows that a gradient stores") {
  // history + g², weight − lr · g / √(history + epsilon): by hand, epsilon 0.
  const NDArray weight = strop::ones({3, 2}), history = strop::full({3, 2}, 3);
  const NDArray grad = strop::row_sparse_array({{1, -1}}, {1}, {3, 2});
  row("_sparse_adagrad_update", {{"lr", "0.5"}, {"epsilon", "0"}}, {weight, grad, history},
      {{{3, 2}, {1, 1, 0.75, 1.25, 1, 1}}});
  CHECK(values(history) == Numbers{3, 3, 4, 4, 3, 3});
}

TEST_CASE("group adagrad has one rate for each row that a gradient stores") {
  // Checked against MXNet 1.9.1.
  const NDArray weight = strop::ones({4, 3}), history = strop::ones({4, 1});
  const NDArray grad = strop::row_sparse_array({{1, 2, 3}, {4, 5, 6}}, {0, 2}, {4, 3});
  for (const Storage storage : {strop::dense, strop::row_sparse}) {
    const NDArray w = weight.to(storage).copy(), h = history.to(storage).copy();
    strop::group_adagrad_update(w, grad, h, {.lr = 0.5, .rescale_grad = 0.5, .clip_gradient = 2}, strop::into(w));
    CHECK(strop::allclose(
        w, array({{0.8301588, 0.66031766, 0.4904765}, {1, 1, 1}, {0.5527868, 0.5527868, 0.5527868}, {1, 1, 1}})));
    CHECK(strop::allclose(h, array({{2.1666665}, {1}, {5}, {1}})));
  }
  CHECK(refusal("_contrib_group_adagrad_update", {{"lr", "0.1"}}, {weight, weight, history.copy()}) ==
        "_contrib_group_adagrad_update: storages are (dense, dense, dense), expected (dense, row_sparse, dense) or all "
        "row_sparse");
  CHECK(refusal("_contrib_group_adagrad_update", {{"lr", "0.1"}}, {weight, grad, weight.copy()}) ==
        "_contrib_group_adagrad_update: input 'history' has shape (4, 3), expected (4, 1)");
}

TEST_CASE("updates take indices of 32 bits, and leave those of what they write as they are") {
  const std::vector<std::int32_t> all{0, 1, 2}, one{1};
  const NDArray grad = strop::row_sparse_array({{1, -1}}, one, {3, 2});
  const NDArray weight = strop::row_sparse_array({{1, 2}, {3, 4}, {5, 6}}, all, {3, 2});
  const NDArray mom = strop::row_sparse_array(strop::zeros({3, 2}), all, {3, 2});
  for (int pass = 0; pass < 2; ++pass)
    strop::sgd_mom_update(weight, grad, mom, {.lr = 0.5, .momentum = 0.5}, strop::into(weight));
  CHECK(values(weight) == Numbers{1, 2, 1.75, 5.25, 5, 6});
  CHECK(values(mom) == Numbers{0, 0, -0.75, 0.75, 0, 0});
  for (const NDArray& a : {weight, grad, mom}) CHECK(a.indices().dtype() == strop::i32);
  const NDArray fresh = strop::sgd_mom_update(weight, grad, mom, {.lr = 0.5, .momentum = 0.5});
  CHECK(fresh.indices().dtype() == strop::i32);
  // A state that stores nothing yet gets all rows, in the width that it has.
  for (const bool narrow : {false, true}) {
    const NDArray empty = narrow ? strop::row_sparse_array(strop::zeros({0, 2}), std::vector<std::int32_t>{}, {3, 2})
                                 : strop::zeros({3, 2}, strop::row_sparse);
    strop::sgd_mom_update(weight, grad, empty, {.lr = 0.5, .momentum = 0.5}, strop::into(weight));
    CHECK(empty.nnz() == 3);
    CHECK(empty.indices().dtype() == (narrow ? strop::i32 : strop::i64));
    empty.check_format();
  }
}

TEST_CASE("_sparse_retain keeps the rows that are listed") {
  const NDArray x = strop::row_sparse_array({{1, 2}, {3, 4}}, {0, 2}, {4, 2});
  const NDArray y = strop::invoke("_sparse_retain", {x, array({2, 1, 2})});
  CHECK(y.storage() == strop::row_sparse);
  y.check_format();
  CHECK(values(y.indices()) == Numbers{1, 2});
  CHECK(values(y) == Numbers{0, 0, 0, 0, 3, 4, 0, 0});
  CHECK(strop::invoke("_sparse_retain", {x, strop::zeros({0})}).nnz() == 0);
  for (const Dtype type : {strop::f16, strop::f64, strop::i32})
    CHECK(values(strop::invoke("_sparse_retain", {x.to(type), array({0}).to(strop::i64)})) ==
          Numbers{1, 2, 0, 0, 0, 0, 0, 0});
  for (const strop::Storage head : {strop::row_sparse, strop::dense}) {  // also rows that x does not store
    x.attach_grad();
    strop::record scope;
    strop::invoke("_sparse_retain", {x, array({2, 3})}).backward(count({4, 2}, 1).to(head));
    CHECK(x.grad().storage() == strop::row_sparse);
    CHECK(values(x.grad()) == Numbers{0, 0, 0, 0, 5, 6, 7, 8});
  }
}

TEST_CASE("updates and sparse operators refuse in a sentence") {
  const NDArray m = count({2, 3}), c = count({2, 3, 4}), half = strop::row_sparse_array({{1, 2, 3}}, {1}, {2, 3});
  CHECK(refusal("sgd_update", {}, {m, m}) == "sgd_update: parameter 'lr' (float) is required");
  CHECK(refusal("sgd_update", {{"lr", "0.1"}}, {m, count({3})}) ==
        "sgd_update: input 'grad' has shape (3,), expected (2, 3)");
  CHECK(refusal("sgd_mom_update", {{"lr", "0.1"}}, {m, m}) ==
        "sgd_mom_update: takes 3 inputs (weight, grad, mom), 2 were given");
  CHECK(refusal("ftml_update", {{"lr", "0.1"}, {"t", "1"}, {"beta1", "2"}}, {m, m, m, m, m}) ==
        "ftml_update: parameter 'beta1' is 2, expected a value from 0 to 1");
  CHECK(refusal("adam_update", {{"lr", "fast"}}, {m, m, m, m}) ==
        "adam_update: parameter 'lr' is 'fast', expected a float");
  CHECK(refusal("_sparse_adagrad_update", {{"lr", "0.1"}}, {m, m, m.copy()}) ==
        "_sparse_adagrad_update: storages are (dense, dense, dense), expected (dense, row_sparse, dense) or all "
        "row_sparse");
  CHECK(refusal("_sparse_adagrad_update", {{"lr", "0.1"}, {"wd", "0.1"}}, {m, m.to(strop::row_sparse), m.copy()}) ==
        "_sparse_adagrad_update: wd is 0.10000000149011612, expected 0");
  CHECK(refusal("_sparse_retain", {}, {m, array({0})}) ==
        "_sparse_retain: storages are (dense, dense), expected (row_sparse, dense)");
  CHECK(refusal("_sparse_retain", {}, {m.to(strop::row_sparse), array({2})}) ==
        "_sparse_retain: index 2 is outside the first axis of shape (2, 3)");
  CHECK(refusal("cast_storage", {{"stype", "csr"}}, {c}) ==
        "cast_storage: input 'data' has shape (2, 3, 4), expected 2 dimensions");
  CHECK(refusal("cast_storage", {{"stype", "coo"}}, {m}) ==
        "cast_storage: parameter 'stype' is 'coo', expected one of {'default', 'row_sparse', 'csr'}");
  CHECK(refusal("cast_storage", {{"stype", "row_sparse"}}, {strop::scalar(1)}) ==
        "cast_storage: input 'data' has no dimension, expected 1 or more for row_sparse");
  CHECK(refusal("sgd_update", {{"lr", "0.1"}}, {half, m.to(strop::row_sparse)}) ==
        "sgd_update: 'weight' is row_sparse and stores 1 of its 2 rows, expected all of them");
}

TEST_CASE("a gradient with a row outside is refused before anything is written") {
  const NDArray outside = strop::row_sparse_array({{1}}, {0}, {2, 1}), weight = strop::ones({2, 1});
  outside.indices().pointer<std::int64_t>()[0] = 7;
  const NDArray out = strop::full({2, 1}, 5), state = strop::zeros({2, 1}, strop::row_sparse);
  for (const bool lazy : {false, true}) {
    CHECK(error_of([&] {
            strop::sgd_update(weight, outside, {.lr = 1, .lazy_update = lazy}, strop::into(out));
          }).find("7") != std::string::npos);
    CHECK(error_of([&] {
            strop::sgd_mom_update(weight.to(strop::row_sparse), outside, state, {.lr = 1, .lazy_update = lazy});
          }).find("7") != std::string::npos);
    const NDArray wide = weight.copy(), halves = out.to(strop::f16);
    CHECK(error_of([&] {
            strop::mp_sgd_update(weight.to(strop::f16), outside.to(strop::f16), wide, {.lr = 1, .lazy_update = lazy},
                                 strop::into(halves));
          }).find("7") != std::string::npos);
    CHECK(strop::allclose(wide, weight));
    CHECK(strop::allclose(halves.to(strop::f32), out));
  }
  CHECK(error_of([&] {
          strop::group_adagrad_update(weight, outside, strop::zeros({2, 1}), {.lr = 1}, strop::into(out));
        }).find("7") != std::string::npos);
  CHECK(strop::allclose(out, strop::full({2, 1}, 5)));
  CHECK(state.nnz() == 0);
}

TEST_CASE("row_sparse weights store all of their rows, each in its place") {
  const NDArray turned = strop::row_sparse_array({{1}, {2}}, {1, 0}, {2, 1}),
                some = strop::row_sparse_array({{1}}, {0}, {2, 1}).to(strop::f16);
  const NDArray grad = strop::row_sparse_array({{1}}, {0}, {2, 1}), half = grad.to(strop::f16);
  CHECK(error_of([&] { strop::sgd_update(turned, grad, {.lr = 1}, strop::into(turned)); }) ==
        "sgd_update: the rows that 'weight' stores are not all of its rows in their order");
  for (const bool lazy : {false, true})
    CHECK(error_of([&] {
            strop::mp_sgd_update(some, half, strop::zeros({2, 1}), {.lr = 1, .lazy_update = lazy}, strop::into(some));
          }) == "mp_sgd_update: 'weight' is row_sparse and stores 1 of its 2 rows, expected all of them");
}
