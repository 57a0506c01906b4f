// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace ops_test;
using strop::array, strop::RNN;

namespace {

/// sin(step), sin(2 step), …
NDArray waves(const Shape& shape, double step) {
  NDArray x(shape);
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.pointer<float>()[i] = static_cast<float>(std::sin(step * static_cast<double>(i + 1)));
  return x;
}

struct Network {
  std::string mode;
  std::int64_t steps, batch, inputs, units, layers = 1, directions = 1;

  Arrays arguments() const {
    const std::int64_t rows = units * (mode == "lstm"  ? 4
                                       : mode == "gru" ? 3
                                                       : 1),
                       first = rows * (inputs + units + 2), next = rows * (directions * units + units + 2);
    const Shape states{layers * directions, batch, units};
    Arrays in{waves({steps, batch, inputs}, 0.7), waves({directions * (first + (layers - 1) * next)}, 1.3),
              waves(states, 0.9)};
    if (mode == "lstm") in.push_back(waves(states, 0.5));
    return in;
  }
};

/// Outputs, and the gradients of all inputs for waves as head gradients; of more than one layer, of the parameters'
/// their sum, each weighted by a wave.
void as_there(const Network& net, const std::vector<Wanted>& outputs, const std::vector<Numbers>& slopes) {
  const std::string units = std::to_string(net.units), layers = std::to_string(net.layers);
  const std::initializer_list<std::pair<std::string_view, std::string_view>> params{
      {"mode", net.mode},
      {"state_size", units},
      {"num_layers", layers},
      {"bidirectional", net.directions == 2 ? "True" : "False"},
      {"state_outputs", "True"}};
  const Arrays in = net.arguments();
  row("RNN", params, in, outputs, {1e-5, 1e-5});
  Arrays heads;
  for (const Wanted& y : outputs) heads.push_back(waves(y.shape, 0.4));
  std::vector<Numbers> found = gradients("RNN", params, in, heads);
  REQUIRE(found.size() == slopes.size());
  if (net.layers > 1) {
    double sum = 0;
    for (std::size_t i = 0; i < found[1].size(); ++i) sum += found[1][i] * std::sin(0.3 * static_cast<double>(i + 1));
    found[1] = {sum};
  }
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    REQUIRE(found[k].size() == slopes[k].size());
    for (std::size_t i = 0; i < slopes[k].size(); ++i)
      CHECK_MESSAGE(std::abs(found[k][i] - slopes[k][i]) <= 1e-5 + 1e-5 * std::abs(slopes[k][i]), net.mode,
                    ", gradient of input ", k, ", element ", i, ": ", found[k][i], ", expected ", slopes[k][i]);
  }
}

}  // namespace

// The numbers are those of MXNet 1.9.1.

TEST_CASE("recurrent layers as MXNet computes them") {
  as_there({.mode = "rnn_relu", .steps = 3, .batch = 1, .inputs = 1, .units = 2},
           {{{3, 1, 2}, {0, 1.065374, 0, 1.164163, 0, 1.199794}}, {{1, 1, 2}, {0, 1.199794}}},
           {{1.600239, 1.232236, 0.7180003},
            {0, 5.557683, 0, 0, 2.431633, 7.191155, 0, 6.887421, 0, 6.887421},
            {0.6677836, 3.099716}});
  as_there({.mode = "rnn_tanh", .steps = 3, .batch = 1, .inputs = 1, .units = 2},
           {{{3, 1, 2}, {-0.8400196, 0.787712, 0.370051, 0.6082889, -0.3825445, 0.619587}},
            {{1, 1, 2}, {-0.3825445, 0.619587}}},
           {{0.2799888, 0.5793214, 1.510628},
            {1.314728, 1.529457, 0.2222411, 1.000591, 0.1504336, 1.326428, 1.502046, 1.789772, 1.502046, 1.789772},
            {0.02121686, 0.3010747}});
  as_there({.mode = "lstm", .steps = 3, .batch = 1, .inputs = 1, .units = 2},
           {{{3, 1, 2}, {-0.3539501, 0.1901527, -0.4472285, 0.3183549, -0.5030511, 0.3332327}},
            {{1, 1, 2}, {-0.5030511, 0.3332327}},
            {{1, 1, 2}, {-0.95766, 0.8279617}}},
           {{-0.21474, -0.0965651, -0.08261302},
            {-0.2573313,  0.2526203,  -0.1850681, 0.2258523,  0.6515791, 0.202941,    -0.3137767,  0.4318838,
             -0.03537033, -0.1818364, -0.1085763, 0.08663268, 0.1376101, -0.01469851, -0.07842629, 0.08691324,
             -0.2301625,  0.2081253,  -0.0643719, 0.08427096, 0.1204197, -0.1103793,  -0.1131754,  0.1815105,
             -0.3208809,  0.2841105,  -0.1882242, 0.2564276,  0.7132422, 0.2331806,   -0.3518483,  0.4929795,
             -0.3208809,  0.2841105,  -0.1882242, 0.2564276,  0.7132422, 0.2331806,   -0.3518483,  0.4929795},
            {-0.02487291, -0.09735829},
            {0.13486, 0.06080713}});
  as_there({.mode = "gru", .steps = 3, .batch = 1, .inputs = 1, .units = 2},
           {{{3, 1, 2}, {0.533986, 0.3710216, 0.177706, 0.8164179, -0.02995447, 0.6582886}},
            {{1, 1, 2}, {-0.02995447, 0.6582886}}},
           {{1.056867, 0.2222796, 0.9068987},
            {0.3398178,    0.01517271,  0.7213725, 0.01323726, 1.777055,   1.475185,   0.2480646, 0.3532072,
             0.0003761668, 0.002496421, 0.5134278, 0.6088158,  0.01533049, 0.0322516,  0.7546903, 1.000131,
             0.8426632,    1.40093,     0.4384591, 0.01276559, 0.8771883,  0.02484391, 2.124791,  1.927957,
             0.4384591,    0.01276559,  0.8771883, 0.02484391, 1.479977,   1.650912},
            {2.092334, -0.5088801}});
}

TEST_CASE("recurrent layers, two in two directions, as MXNet computes them") {
  as_there({.mode = "rnn_tanh", .steps = 2, .batch = 2, .inputs = 2, .units = 2, .layers = 2, .directions = 2},
           {{{2, 2, 4},
             {0.9846905, 0.3582844, -0.9662783, 0.2823143, -0.2317744, 0.9051147, -0.7619743, 0.7696117, -0.3528174,
              -0.9919663, 0.995917, 0.9308774, -0.3844369, -0.9476916, 0.3495996, 0.9847484}},
            {{4, 2, 2},
             {-0.9677457, 0.946464, -0.9818171, 0.8987267, -0.3120352, -0.185392, -0.1017807, -0.2996471, -0.3528174,
              -0.9919663, -0.3844369, -0.9476916, -0.9662783, 0.2823143, -0.7619743, 0.7696117}}},
           {{-0.04367087, 0.4806682, -0.6312534, 0.2357482, -0.04645477, -0.1460719, -1.132496, -0.4816854},
            {-3.374265},
            {-0.003186111, -0.007398866, 0.04097322, 0.09858479, 0.04481755, 0.01740876, -0.518511, -0.8059922,
             -0.1013141, -0.180775, -0.301633, -0.2101727, -0.03184019, -0.08242727, 0.2114938, 0.1966265}});
  as_there({.mode = "lstm", .steps = 2, .batch = 2, .inputs = 2, .units = 2, .layers = 2, .directions = 2},
           {{{2, 2, 4},
             {-0.298623, -0.5652293, -0.3549226, 0.2379215, -0.3035617, -0.3765201, -0.3481664, 0.3855286, -0.4281872,
              -0.5146527, 0.0524669, 0.08937134, -0.2343936, -0.5438386, -0.2013339, 0.4622763}},
            {{4, 2, 2},
             {0.2636282, 0.022126, 0.1669635, -0.03899392, -0.01535512, -0.005967661, 0.14026, -0.04107139, -0.4281872,
              -0.5146527, -0.2343936, -0.5438386, -0.3549226, 0.2379215, -0.3481664, 0.3855286}},
            {{4, 2, 2},
             {0.328403, 0.1087729, 0.1864079, -0.3031004, -0.04029917, -0.0370918, 0.2909856, -0.2668876, -0.833784,
              -1.102767, -0.3907556, -1.030838, -0.509802, 0.4239919, -0.7388245, 0.7085709}}},
           {{-0.01912494, -0.3472824, -0.3805285, 0.07287592, 0.2433303, 0.7166414, 0.6306955, 0.5248317},
            {2.236717},
            {0.07955001, -0.03911604, 0.446747, 0.3251461, 0.1093542, 0.1649503, 0.09359261, 0.003537579, -0.04768207,
             0.01660828, 0.08533406, -0.06232933, 0.3221426, 0.03590032, 0.06244888, 0.05885537},
            {0.5553894, 0.02950303, 0.4629978, 0.02593725, -0.1719279, 0.05696844, -0.001274107, -0.2212605, -0.3325904,
             -0.3363365, -0.4976183, -0.4477552, -0.8201644, -0.1215148, -0.1113205, 0.05246538}});
  as_there({.mode = "gru", .steps = 2, .batch = 2, .inputs = 2, .units = 2, .layers = 2, .directions = 2},
           {{{2, 2, 4},
             {-0.483207, 0.928246, 0.1548771, -0.04996135, -0.6507549, -0.4540798, 0.9214473, 0.4632764, -0.5905617,
              0.9070262, -0.04016474, 0.00636673, -0.6770415, -0.56708, 0.9018526, 0.706895}},
            {{4, 2, 2},
             {-0.5014166, 0.6263724, -0.09052805, 0.2517869, -0.323613, -0.370581, 0.437629, 0.4935283, -0.5905617,
              0.9070262, -0.6770415, -0.56708, 0.1548771, -0.04996135, 0.9214473, 0.4632764}}},
           {{0.0744172, 0.06461792, 0.03836744, -0.1866474, -0.1779292, -0.07855573, 0.684585, -0.37369},
            {-3.279986},
            {-0.161204, 0.1031455, -0.8224392, 0.325699, 0.5721924, 0.4754331, 0.3652681, 0.5867693, -0.02688386,
             0.03862364, -0.4135072, -0.2421784, -0.266002, -0.8406156, -0.1062528, 0.0596966}});
}

TEST_CASE("sequences of a recurrent network end where their lengths say") {
  for (const bool both : {false, true}) {
    const Network net{.mode = "lstm", .steps = 3, .batch = 2, .inputs = 1, .units = 2, .directions = both ? 2 : 1};
    const Arrays in = net.arguments();
    const RNN whole{.state_size = 2, .num_layers = 1, .bidirectional = both, .mode = RNN::lstm, .state_outputs = true};
    RNN parts = whole;
    parts.use_sequence_length = true;
    const auto y = strop::rnn(in[0], in[1], in[2], in[3], array({3, 2}), parts);
    const auto all = strop::rnn(in[0], in[1], in[2], in[3], whole);
    const auto first = strop::rnn(in[0].slice(0, 2), in[1], in[2], in[3], whole);
    const auto of = [](const NDArray& a, int sequence) {
      return values(strop::slice_axis(a, {.axis = 1, .begin = sequence, .end = sequence + 1}));
    };
    CHECK(of(y[0], 0) == of(all[0], 0));
    CHECK(of(y[0].slice(0, 2), 1) == of(first[0], 1));
    CHECK(of(y[0].slice(2, 3), 1) == Numbers(both ? 4 : 2, 0.0));
    for (std::size_t k = 1; k < 3; ++k) {
      CHECK(of(y[k], 0) == of(all[k], 0));
      CHECK(of(y[k], 1) == of(first[k], 1));
    }
  }
}

TEST_CASE("cells within bounds, and what is dropped between layers") {
  const Arrays in = Network{.mode = "lstm", .steps = 3, .batch = 2, .inputs = 1, .units = 2, .layers = 2}.arguments();
  RNN net{.state_size = 2, .num_layers = 2, .mode = RNN::lstm, .state_outputs = true};
  const auto run = [&] { return strop::rnn(in[0], in[1], in[2], in[3], net); };
  const Numbers plain = values(run()[0]);
  net.p = 0.5f;
  CHECK(values(run()[0]) == plain);
  const auto trained = [&] {
    strop::train_mode training;
    strop::random::seed(3);
    return values(run()[0]);
  };
  CHECK(trained() == trained());
  net.p = 1;
  const Numbers nothing = trained();
  std::fill_n(in[0].pointer<float>(), in[0].size(), 0.0f);  // none of which reaches the second layer
  CHECK(trained() == nothing);
  net.p = 0;
  net.lstm_state_clip_min = -0.25;
  net.lstm_state_clip_max = 0.125;
  for (double cell : values(run()[2])) CHECK((cell >= -0.25 && cell <= 0.125));
  in[3].pointer<float>()[0] = static_cast<float>(NaN);
  CHECK(std::isnan(values(run()[2])[0]));
  net.lstm_state_clip_nan = true;
  for (double cell : values(run()[2])) CHECK((cell >= -0.25 && cell <= 0.125));
}

TEST_CASE("what an LSTM keeps for its gradient, of sequences that end and with any number of threads") {
  const Network net{.mode = "lstm",
                    .steps = 4,
                    .batch = 3,
                    .inputs = 5,
                    .units = 19,
                    .layers = 2,
                    .directions = 2};  // not whole registers
  Arrays in;
  for (const NDArray& x : net.arguments()) in.push_back(x.to(strop::f64) * 0.5);
  in.push_back(array({4, 2, 0}).to(strop::f64));
  const std::initializer_list<std::pair<std::string_view, std::string_view>> params{{"mode", "lstm"},
                                                                                    {"state_size", "19"},
                                                                                    {"num_layers", "2"},
                                                                                    {"bidirectional", "True"},
                                                                                    {"use_sequence_length", "True"},
                                                                                    {"state_outputs", "True"}};
  const std::span<const std::pair<std::string_view, std::string_view>> said(params.begin(), params.size());
  const Arrays heads{waves({4, 3, 38}, 0.4).to(strop::f64), waves({4, 3, 19}, 0.3).to(strop::f64),
                     waves({4, 3, 19}, 0.2).to(strop::f64)};
  const int before = strop::num_threads();
  strop::set_num_threads(1);
  const std::vector<Numbers> found = gradients("RNN", params, in, heads);
  strop::set_num_threads(3);
  CHECK(gradients("RNN", params, in, heads) == found);
  strop::set_num_threads(before);
  const auto value = [&] {
    const Arrays y = strop::invoke_all("RNN", in, said);
    double sum = 0;
    for (std::size_t k = 0; k < heads.size(); ++k) {
      const Numbers of = values(y[k]), head = values(heads[k]);
      for (std::size_t i = 0; i < of.size(); ++i) sum += of[i] * head[i];
    }
    return sum;
  };
  for (std::size_t k = 0; k < 4; ++k)
    for (std::int64_t i = 0; i < in[k].size(); i += 1 + in[k].size() / 40) {
      double& x = in[k].pointer<double>()[i];
      const double here = x, step = 1e-5;
      x = here + step;
      const double above = value();
      x = here - step;
      const double slope = (above - value()) / (2 * step);
      x = here;
      CHECK_MESSAGE(std::abs(found[k][static_cast<std::size_t>(i)] - slope) <= 1e-7, "input ", k, ", element ", i);
    }
}

TEST_CASE("recurrent networks that cannot be") {
  const Network net{.mode = "lstm", .steps = 3, .batch = 2, .inputs = 1, .units = 2};
  const Arrays in = net.arguments();
  const auto said = [&](std::string_view key, std::string_view value, Arrays with) {
    return refusal("RNN", {{"mode", "lstm"}, {"state_size", "2"}, {"num_layers", "1"}, {key, value}}, with);
  };
  Arrays longer = in;
  longer.push_back(array({1, 4}));
  CHECK(said("projection_size", "2", in) == "rnn: projection_size is not supported");
  CHECK(said("lstm_state_clip_min", "0", in) == "rnn: lstm_state_clip_min and lstm_state_clip_max come together");
  CHECK(said("bidirectional", "True", in) == "rnn: input 'state' has shape (1, 2, 2), expected (2, 2, 2)");
  CHECK(said("use_sequence_length", "True", longer) ==
        "rnn: element 1 of input 'sequence_length' is 4, expected 0 to 3");
  for (const Shape& shape : {Shape{0, 2, 1}, Shape{3, 0, 1}, Shape{3, 2, 0}}) {
    const Arrays none = Network{"gru", shape[0], shape[1], shape[2], 2}.arguments();
    const RNN gru{.state_size = 2, .num_layers = 1, .mode = RNN::gru, .state_outputs = true};
    const auto y = strop::rnn(none[0], none[1], none[2], gru);
    CHECK(y[0].shape() == Shape{shape[0], shape[1], 2});
    if (shape[0] == 0) CHECK(values(y[1]) == values(none[2]));
  }
}
