// SPDX-License-Identifier: Apache-2.0
/// \file
/// A program that loads operators of shared libraries that another compiler has built.
// expect: curve tenth row_scale doubled largest noise decay above louder longest
// expect: forward [2, 8, 18] [3, 9, 19]
// expect: cube [1, 8, 27]
// expect: f64 2
// expect: integers as float64 [0.5, 1], as int32 [0, 1]
// expect: csr csr, with b dense, in place [1, 4]
// expect: gradients [4, 8] then [4, 4]
// expect: graph [2, 8] [4, 8]
// expect: stated [[4, 8], [18, 24]] [[4, 4], [6, 6]] [6, 14]
// expect: composed [2, 4] ignored [0, 0]
// expect: state [5] [0, 1, 0]
// expect: random as here
// expect: written [1.5, 2] and [1.5, 2]
// expect: sparse csr 1: [[0, 0], [3, 0]]
// expect: sparse in place [[2, 4], [0, 0], [6, 8]], where it was; apart [[4, 8], [0, 0], [12, 16]]
// expect: open [3]
// expect: curve: parameter 'a' (float) is required
// expect: curve: parameter 'a' is 11, expected a value from 0 to 10
// expect: curve: parameter 'kind' is 'round', expected one of {'square', 'cube'}
// expect: row_scale: input 'scale' has shape (3,), expected (2,)
// expect: row_scale: input 'data' has shape (2,), expected 2 dimensions
// expect: row_scale: by is -1, expected a number from 0
// expect: kinds real enumeration(2) string integer?, alias slope, 1 operations an element, 12 operations
// expect: arguments data 'any numbers'; data, state written; args variadic
// expect: load_library: './no-such.so': there is no such file
// expect: load_library: './libplain.so' is no library of strop operators: it has no function strop_operators
// expect: load_library: './libfuture.so' speaks version 7 of the layout of operators, expected 1
// expect: load_library: './libclash.so' has an operator 'Above' (
// expect: closed: no operator 'curve'
// expect: what was kept goes on [2, 8] [4, 8] [4, 8]
// expect: again [2, 8]
// expect: own found
#include <strop/strop.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

using strop::array, strop::invoke, strop::NDArray;
using Setting = std::pair<std::string_view, std::string_view>;

namespace {

struct OwnOperator {
  constexpr auto forward(auto x) const { return x + 1; }
};
[[maybe_unused]] constexpr strop::Op<OwnOperator> own;

template <class F>
void refused(F f) {
  try {
    f();
    fmt::print("nothing was refused\n");
  } catch (const strop::Error& error) {
    // The end of some depends on the compiler, or says more than is asked here.
    const std::string text = error.what();
    const std::size_t end =
        std::min(text.find(" (see"),
                 text.find("(anonymous") != std::string::npos ? text.find("(anonymous") : text.find("{anonymous}"));
    fmt::print("{}\n", text.substr(0, end));
  }
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string out;
  for (const auto name : names) out += (out.empty() ? "" : " ") + std::string(strop::detail::snake_case(name));
  return out;
}

}  // namespace

int main() {
  const strop::Library library = strop::load_library("liboperators.so");
  std::vector<std::string_view> names = library.operators();
  const std::vector<std::string_view> order = {"Curve", "Tenth", "RowScale", "Doubled", "Largest",
                                               "Noise", "Decay", "Above",    "Louder",  "Longest"};
  for (const auto name : order) names.erase(std::find(names.begin(), names.end(), name));
  fmt::print("{}{}\n", joined(order), joined(names));

  const NDArray x = array({1, 2, 3});
  fmt::print("forward {} {}\n", invoke("Curve", {x}, {{"a", "2"}}),
             invoke("library_curve", {x}, {{"slope", "2"}, {"b", "1"}}));
  fmt::print("cube {}\n", invoke("curve", {x}, {{"a", "1"}, {"kind", "cube"}}));
  fmt::print("f64 {}\n", invoke("curve", {strop::array<double>({1})}, {{"a", "2"}}).item<double>());
  const NDArray whole = array({5, 10}).to(strop::i32);
  const NDArray tenths = invoke("tenth", {whole}), exact = invoke("tenth", {whole}, {{"exact", "True"}});
  fmt::print("integers as {} {}, as {} {}\n", name_of(tenths.dtype()), tenths, name_of(exact.dtype()), exact);
  const NDArray c = array({{0, 1}, {2, 0}}).to(strop::csr), into = array({1, 2});
  strop::set_fallback(strop::Fallback::silent);
  const Setting unit{"a", "1"};
  const strop::Entry& curve = *strop::detail::look_up("curve");
  const auto params = strop::detail::parse_params(curve, {&unit, 1});
  std::array<NDArray, 1> same{into};
  const std::array<const NDArray*, 1> from{&into};
  strop::detail::dispatch(curve, params->get(), from, same, {}, {});
  fmt::print("csr {}, with b {}, in place {}\n", name_of(invoke("curve", {c}, {{"a", "2"}}).storage()),
             name_of(invoke("curve", {c}, {{"a", "2"}, {"b", "1"}}).storage()), into);

  NDArray v = array({1, 2}), first;
  v.attach_grad();
  {
    strop::record scope;
    const NDArray y = strop::sum(invoke("curve", {v}, {{"a", "2"}}));
    first = strop::grad(y, {v}, {.create_graph = true})[0];
    strop::sum(first).backward();
  }
  fmt::print("gradients {} then {}\n", first, v.grad());

  const strop::Symbol net = strop::compose("curve", {strop::var("data")}, {{"a", "2"}});
  auto run = net.bind(strop::cpu(), {{"data", v}}, {{"data", strop::zeros({2})}});
  fmt::print("graph {} ", run.forward(true)[0]);
  run.backward({strop::ones({2})});
  fmt::print("{}\n", run.grad("data"));

  const NDArray m = array({{1, 2}, {3, 4}}), s = array({2, 3});
  m.attach_grad();
  s.attach_grad();
  {
    strop::record scope;
    strop::sum(invoke("row_scale", {m, s})).backward();
  }
  fmt::print("stated {} {} {}\n", invoke("row_scale", {m, s}), m.grad(), s.grad());

  const NDArray d = array({1, 2}), ignored = array({7, 7});
  d.attach_grad();
  ignored.attach_grad();
  {
    strop::record scope;
    strop::sum(invoke("doubled", {d, ignored})).backward();
  }
  fmt::print("composed {} ignored {}\n", d.grad(), ignored.grad());

  const NDArray l = array({1, 5, 2});
  l.attach_grad();
  {
    strop::record scope;
    const NDArray y = invoke("largest", {l});
    y.backward();
    fmt::print("state {} {}\n", y, l.grad());
  }

  strop::random::seed(7);
  const NDArray drawn = invoke("noise", {array({0, 0, 0})});
  strop::random::seed(7);
  const NDArray expected = strop::random::uniform({3}), other = invoke("noise", {array({0, 0, 0})});
  const bool alike = strop::allclose(drawn, expected) && !strop::allclose(drawn, other);
  fmt::print("random {}\n", alike ? "as here" : "not as here");

  const NDArray state = array({1, 2}), one = array({1, 1});
  fmt::print("written {} and {}\n", invoke("decay", {one, state}), state);
  const NDArray kept = invoke("above", {array({{0, 1}, {3, 0}}).to(strop::csr)}, {{"bound", "2"}});
  kept.check_format();
  fmt::print("sparse {} {}: {}\n", name_of(kept.storage()), kept.nnz(), kept.to(strop::dense));
  const NDArray rows = array({{1, 2}, {0, 0}, {3, 4}}).to(strop::row_sparse);
  const float* const where = rows.pointer<const float>();
  std::array<NDArray, 1> over{rows};
  const std::array<const NDArray*, 1> stored{&rows};
  const strop::Entry& louder = *strop::detail::look_up("louder");
  const auto no_settings = strop::detail::parse_params(louder, {});
  strop::detail::dispatch(louder, no_settings->get(), stored, over, {}, {});
  rows.check_format();
  fmt::print("sparse in place {}, {} it was; apart {}\n", rows.to(strop::dense),
             rows.pointer<const float>() == where ? "where" : "not where", invoke("louder", {rows}).to(strop::dense));
  fmt::print("open {}\n", invoke("longest", {array({1}), array({1, 2, 3}), array({1, 2})}));

  refused([&] { invoke("curve", {x}); });
  refused([&] { invoke("curve", {x}, {{"a", "11"}}); });
  refused([&] { invoke("curve", {x}, {{"a", "1"}, {"kind", "round"}}); });
  refused([&] { invoke("row_scale", {m, array({1, 2, 3})}); });
  refused([&] { invoke("row_scale", {s, s}); });
  refused([&] { invoke("row_scale", {m, s}, {{"by", "-1"}}); });

  const auto type = [&](std::size_t i) -> const strop::detail::ValueType& { return *curve.params->fields[i].type; };
  const strop::Entry& scale = *strop::detail::look_up("row_scale");
  const auto defaults = strop::detail::parse_params(scale, {});
  const std::array<strop::Shape, 2> shapes{strop::Shape{2, 3}, strop::Shape{2}};
  fmt::print("kinds {} {}({}) {} {}{}, alias {}, {} operations an element, {} operations\n", name_of(type(0).kind),
             name_of(type(2).kind), type(2).words.size(), name_of(type(3).kind), name_of(type(4).kind),
             type(4).optional ? "?" : "", curve.params->aliases[0].alias, curve.facts.operations(params->get()),
             scale.operations(defaults->get(), shapes));
  const auto arguments = strop::arguments_of(curve);
  const auto written = strop::arguments_of(*strop::detail::look_up("decay")).inputs;
  const auto open = strop::arguments_of(*strop::detail::look_up("longest")).inputs;
  fmt::print("arguments {} '{}'; {}, {}{}; {}{}\n", arguments.inputs[0].name, arguments.inputs[0].doc, written[0].name,
             written[1].name, written[1].written ? " written" : "", open[0].name, open[0].variadic ? " variadic" : "");

  refused([] { strop::load_library("./no-such.so"); });
  refused([] { strop::load_library("./libplain.so"); });
  refused([] { strop::load_library("./libfuture.so"); });
  refused([] { strop::load_library("./libclash.so"); });

  NDArray w = array({1, 2});
  w.attach_grad();
  NDArray head;
  {
    strop::record scope;
    head = strop::sum(invoke("curve", {w}, {{"a", "2"}}));
  }
  const strop::Symbol left = strop::compose("curve", {strop::var("data")}, {{"a", "2"}});
  library.close();
  try {
    invoke("curve", {x}, {{"a", "1"}});
  } catch (const strop::Error& error) {
    fmt::print("closed: {}\n", std::string(error.what()).substr(7, 19));
  }
  head.backward();
  run.forward(true);
  auto late = left.bind(strop::cpu(), {{"data", v}});
  run.backward({strop::ones({2})});
  fmt::print("what was kept goes on {} {} {}\n", late.forward()[0], run.grad("data"), w.grad());
  const strop::Library once_more = strop::load_library("liboperators.so");
  fmt::print("again {}\n", invoke("curve", {array({1, 2})}, {{"a", "2"}}));
  fmt::print("own {}\n", strop::detail::look_up("own_operator") != nullptr && once_more.is_open() ? "found" : "lost");
}
