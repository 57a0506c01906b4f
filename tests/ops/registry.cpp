// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"
#include "operators.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <strop/tensor/element_loops.hpp>

using namespace ops_test;
using strop::Entry;
using strop::verify::Row;
using Numbers = std::vector<double>;

namespace {

/// Sums and fills of gradients, which enter the registry where gradients are first built: they are no part of what the
/// library lists, and belong to a program that has none of its other operators.
const std::string_view of_gradients = "_grad_sum2 _grad_sum3 _grad_sum4 _grad_zeros _grad_ones";

/// The library's operators, those that only gradients use included, but for the above.
std::vector<const Entry*> library() {
  std::vector<const Entry*> out;
  for (const Entry* e : strop::detail::all_operators())
    if (e->library && !e->name.starts_with("_grad_")) out.push_back(e);
  return out;
}

bool has_row(const Entry& e) {
  return std::ranges::any_of(strop::verify::rows(), [&](const Row& row) { return row.op == e.name; });
}

/// "sum(data; axis=None, keepdims=False, exclude=False) sum_axis": inputs, parameters with their defaults, aliases.
std::string card(const Entry& e) {
  std::string text(e.name);
  text += '(';
  if (has_row(e)) {
    const Row row = strop::verify::rows_of(e).front();
    const Subject s = row.subject(e.dtypes.contains(strop::f32) ? strop::f32 : strop::i64);
    for (const std::string_view name : s.signature().inputs) text += cat(text.ends_with('(') ? "" : ", ", name);
  }
  const strop::detail::ParamBox defaults(e.params);
  for (std::size_t i = 0; e.params != nullptr && i < e.params->fields.size(); ++i) {
    text += cat(i == 0 ? "; " : ", ", e.params->fields[i].name);
    if (!e.params->missing(defaults.get(), i)) text += cat('=', e.params->print(defaults.get(), i));
  }
  text += ')';
  for (std::string_view alias : e.aliases) text += cat(' ', alias);
  return text;
}

}  // namespace

TEST_CASE("every operator of the library does what its entry claims") {
  for (const Entry* e : library()) {
    for (const Row& row : strop::verify::rows_of(*e)) {
      strop::verify::Findings found;
      try {
        found = strop::verify::check_row(row);
      } catch (const std::exception& error) {
        found.failures.push_back(error.what());
      }
      CHECK_MESSAGE(found.checks > 0, row.op, " {", row.params, "}: nothing was checked");
      for (const std::string& failure : found.failures)
        CHECK_MESSAGE(failure.empty(), row.op, " {", row.params, "} ", failure);
    }
  }
}

TEST_CASE("so do the sums and fills of gradients") {
  strop::detail::enrol_gradient_operators();
  int there = 0;
  for (const Entry* e : strop::detail::all_operators()) {
    if (!e->name.starts_with("_grad_")) continue;
    const strop::verify::Findings found = strop::verify::check(*e);
    CHECK(found.checks > 0);
    CHECK_MESSAGE(found.failures.empty(), found.text());
    ++there;
  }
  CHECK(there == std::ranges::count(of_gradients, '_') / 2);
}

TEST_CASE("a claim without a row fails") {
  for (const Entry* e : library()) {
    CHECK_MESSAGE(has_row(*e), e->name, " has no row in src/verify");
    bool gradient = e->gradient.entry == nullptr && e->gradient.compose == nullptr;
    bool sparse = e->cpu.run_sparse[e->order] == nullptr;
    for (const Row& row : strop::verify::rows_of(*e)) {
      gradient = gradient || row.parts.gradient || (row.elsewhere & strop::verify::gradient_elsewhere) != 0;
      sparse =
          sparse || row.parts.sparse || row.parts.updates || (row.elsewhere & strop::verify::sparse_elsewhere) != 0;
    }
    CHECK_MESSAGE(gradient, e->name, " claims a gradient that no row checks");
    CHECK_MESSAGE(sparse, e->name, " claims sparse forms that no row checks");
  }
  for (const Row& row : strop::verify::rows())
    CHECK_MESSAGE(std::ranges::any_of(library(), [&](const Entry* e) { return e->name == row.op; }), "a row for ",
                  row.op, ", which is no operator of the library");
}

TEST_CASE("every parameter of a public operator says what it is") {
  for (const Entry* e : library()) {
    if (e->is_gradient() || e->params == nullptr) continue;
    for (const strop::detail::Field& field : e->params->fields) {
      const auto note = std::ranges::find(e->notes, field.name, &strop::Note::name);
      CHECK_MESSAGE((note != e->notes.end() && !note->text.empty()), e->name, " has no note on ", field.name);
    }
  }
}

TEST_CASE("operators for gradients alone are no advice") {
  CHECK(strop::detail::look_up("_backward_slice_window") != nullptr);
  CHECK(error_of([] { (void)strop::invoke("_backward_slice_windows", {}); }).find("nearest: _backward") ==
        std::string::npos);
}

TEST_CASE("a callable is found by its own name") {
  // `inline constexpr Op<Struct, OnUse> name;` in the headers; zeros_op, which the function zeros says as well, by
  // that.
  std::map<std::string, const Entry*> by_type;
  for (const Entry* e : library()) {
    const std::string_view type = e->qualified;
    by_type.emplace(type.substr(type.rfind(':') + 1), e);
  }
  const char* source = std::getenv("STROP_SOURCE");
  REQUIRE(source != nullptr);
  const auto headers = std::filesystem::path(source) / "include/strop/ops";
  int callables = 0;
  const auto check = [&](const std::string& type, const std::string& name) {
    const auto stated = by_type.find(type);
    if (stated != by_type.end() && stated->second->is_gradient()) return;
    const Entry* const found = strop::detail::look_up(name);
    const bool same = found != nullptr && (stated == by_type.end() || found == stated->second);
    CHECK_MESSAGE(same, "strop::", name, " is not found by that name");
    ++callables;
  };
  for (const auto& file : std::filesystem::recursive_directory_iterator(headers)) {
    if (!file.is_regular_file()) continue;
    std::ifstream text(file.path());
    for (std::string line; std::getline(text, line);) {
      const std::string_view before = "inline constexpr Op<", between = ", OnUse> ";
      const std::size_t end = line.find(between);
      if (!line.starts_with(before) || end == std::string::npos) continue;
      std::string name = line.substr(end + between.size(), line.find(';') - end - between.size());
      if (name.ends_with("_op")) name.resize(name.size() - 3);
      check(line.substr(before.size(), end - before.size()), name);
    }
  }
#define STROP_RELATION(Type, snake)              \
  check("Elemwise" #Type, "elemwise_" #snake);   \
  check("Broadcast" #Type, "broadcast_" #snake); \
  check(#Type "Scalar", #snake "_scalar");
#include <strop/ops/elementwise/relations.def>
#define STROP_DRAWN(Type, snake, ...)      \
  check("Random" #Type, "random_" #snake); \
  check("Random" #Type "Like", "random_" #snake "_like");
#define STROP_SAMPLED(Type, snake, ...) check("Sample" #Type, "sample_" #snake);
#include <strop/ops/distributions.def>
  CHECK(callables > 200);
}

TEST_CASE("kernels and the runtime's loops are of the level that STROP_ISA asks for, where the machine has it") {
  const char* const wanted = std::getenv("STROP_ISA");
  const std::string_view own = strop::detail::this_isa.name;
  const bool below = wanted != nullptr && *wanted != 0 && own.starts_with("x86-64") && std::string_view(wanted) < own;
  for (const Entry* e : library()) CHECK_MESSAGE(e->isa.name == (below ? std::string_view(wanted) : own), e->name);
  CHECK(strop::detail::element_loops().isa.name == (below ? std::string_view(wanted) : own));
}

TEST_CASE("the public operators are those of the golden list") {
  std::set<std::string> listed, found;
  for (std::string_view rest = operators; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    if (end != 0) listed.emplace(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  for (const Entry* e : library())
    if (!e->is_gradient()) found.insert(card(*e));
  for (const std::string& line : found) CHECK_MESSAGE(listed.contains(line), "not in the list: ", line);
  for (const std::string& line : listed) CHECK_MESSAGE(found.contains(line), "no longer there: ", line);
}

// --- the storages that MXNet's operators have kernels for
// --------------------------------------------------------------

namespace {

/// Calls that MXNet 1.7 serves without going by dense copies, a row of its storage tables each: names, parameters, and
/// storages of inputs and results, d dense, r row_sparse, c csr, R row_sparse with all its rows. "=>": into an array of
/// that storage; "!": goes by dense copies, there too. Shapes are (6, 4) unless said.
struct Served {
  std::string_view ops, params, storages;
  std::vector<Shape> shapes = {};
};

const std::string_view keeps_zero =
    "relu negative abs sign round rint ceil floor trunc fix square sqrt cbrt log1p expm1 sin tan arcsin arctan degrees "
    "radians sinh tanh arcsinh arctanh _copy BlockGrad make_loss zeros_like _contrib_round_ste _contrib_sign_ste "
    "_contrib_gradientmultiplier";

const std::vector<Served> forward_served = {
    {keeps_zero, "", "d->d r->r c->c"},
    {"sigmoid exp log log10 log2 cos cosh arccos gamma gammaln rsqrt reciprocal", "", "d->d !r->d !c->d"},
    {"elemwise_add elemwise_sub", "", "dd->d rr->r cc->c dc->d cd->d dr->d rd->d"},
    {"elemwise_mul", "", "dd->d rr->r cc->c rd->r dr->r cd->c dc->c"},
    {"_grad_add", "", "dd->d rr->r cc->c"},
    {"_maximum _minimum _hypot", "", "rr->r cc->c"},
    {"elemwise_div _power", "", "dd->d cd->d rd->d dc->d dr->d rr->d cc->d"},
    {"broadcast_add broadcast_sub", "", "cd->d", {{6, 4}, {1, 4}}},
    {"broadcast_add broadcast_sub", "", "cd->d", {{6, 4}, {6, 1}}},
    {"broadcast_add broadcast_sub", "", "dc->d", {{1, 4}, {6, 4}}},
    {"broadcast_mul broadcast_div", "", "cd->c", {{6, 4}, {1, 4}}},
    {"broadcast_mul broadcast_div", "", "cd->c", {{6, 4}, {6, 1}}},
    {"broadcast_add broadcast_sub", "", "cd->d", {{6, 4}, {6, 4}}},
    {"broadcast_add broadcast_sub", "", "cd->d", {{6, 4}, {4}}},
    {"broadcast_add broadcast_sub", "", "cd->d", {{6, 4}, {1}}},
    {"broadcast_mul broadcast_div", "", "cd->c", {{6, 4}, {6, 4}}},
    {"broadcast_mul broadcast_div", "", "cd->c", {{6, 4}, {4}}},
    {"broadcast_mul broadcast_div", "", "cd->c", {{6, 4}, {1}}},
    {"_mul_scalar _div_scalar", "scalar=2", "r->r c->c r=>d c=>d"},
    {"_plus_scalar _minus_scalar", "scalar=0", "r->r c->c r=>d c=>d"},
    {"_plus_scalar _minus_scalar", "scalar=1", "r->d c->d r=>d c=>d"},
    {"_greater_scalar _equal_scalar _greater_equal_scalar", "scalar=1", "r->r c->c"},
    {"_lesser_scalar _not_equal_scalar _lesser_equal_scalar", "scalar=1", "!r->d !c->d"},
    {"_lesser_scalar _not_equal_scalar", "scalar=0", "r->r c->c"},
    {"clip", "a_min=-1; a_max=0.5", "r->r c->c"},
    {"clip", "a_min=0.2; a_max=0.5", "!r->d !c->d"},
    {"_contrib_quadratic", "a=1; b=2", "c->c"},
    {"_contrib_quadratic", "a=1; b=2; c=3", "!c->d"},
    {"_scatter_elemwise_div", "", "rd->r rr->r rc->r cr->c"},
    {"_scatter_plus_scalar _scatter_minus_scalar", "scalar=2", "r->r c->c"},
    {"add_n", "", "rrr->r ccc->c dcd->d drd->d drdcd->d"},
    {"dot", "", "cd->d cr->d", {{6, 4}, {4, 3}}},
    {"dot", "transpose_a=True", "cd->r cr->r", {{6, 4}, {6, 3}}},
    {"dot", "transpose_a=True; forward_stype=default", "cd->d cr->d", {{6, 4}, {6, 3}}},
    {"dot", "", "dc->c", {{3, 6}, {6, 4}}},
    {"dot", "forward_stype=default", "dc->d", {{3, 6}, {6, 4}}},
    {"dot", "forward_stype=default", "cc->d", {{6, 4}, {4, 3}}},
    {"dot", "transpose_b=True; forward_stype=default", "dc->d", {{3, 4}, {6, 4}}},
    {"FullyConnected", "num_hidden=3", "ddd->d dRd->d dRR->d ddR->d", {{6, 4}, {3, 4}, {3}}},
    {"Embedding _contrib_SparseEmbedding", "input_dim=6; output_dim=4", "dd->d dr->d", {{5}, {6, 4}}},
    {"take", "", "cd->c", {{6, 4}, {3}}},
    {"take", "mode=wrap", "cd->c", {{6, 4}, {3}}},
    {"slice", "begin=(1, 0); end=(4, 3)", "c->c"},
    {"slice", "begin=(2,); end=(None,)", "c->c"},
    {"Concat", "dim=0", "ccc->c"},
    {"cast_storage", "stype=default", "d->d r->d c->d"},
    {"cast_storage", "stype=row_sparse", "d->r r->r"},
    {"cast_storage", "stype=csr", "d->c c->c"},
    {"_sparse_retain", "", "rd->r", {{6, 4}, {2}}},
    {"where", "", "cdd->d"},
    {"sum mean", "axis=0", "c->d"},
    {"sum mean", "axis=1", "c->d"},
    {"norm", "", "r->d c->d"},
    {"norm", "axis=0", "c->d"},
    {"norm", "axis=1", "c->d"},
    {"_square_sum", "axis=0", "r->d"},
    {"_square_sum", "axis=1", "r->d"},
    {"_square_sum", "axis=1; keepdims=True", "r->r r=>d"},
    {"LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput", "", "dc->d"},
    {"sgd_update", "lr=0.5", "dd->d dr->d Rr->r"},
    {"sgd_update", "lr=0.5; wd=0.1; lazy_update=False", "dr->d Rr->r"},
    {"sgd_mom_update", "lr=0.5; momentum=0.5", "ddd->d drd->d RrR->r Rrd->r"},
    {"sgd_mom_update", "lr=0.5; momentum=0.5; lazy_update=False", "drd->d RrR->r Rrd->r"},
    {"adam_update", "lr=0.5", "dddd->d drdd->d RrRR->r Rrdd->r"},
    {"adam_update", "lr=0.5; lazy_update=False", "drdd->d RrRR->r Rrdd->r"},
    {"mp_sgd_update", "lr=0.5", "ddd->d drd->d RrR->r"},
    {"mp_sgd_mom_update", "lr=0.5", "drdd->d RrRR->r"},
    {"mp_adam_update", "lr=0.5", "drddd->d RrRRR->r"},
    {"ftrl_update", "lr=0.5", "RrRR->r"},
    {"_sparse_adagrad_update", "lr=0.5", "drd->d RrR->r"},
    {"_contrib_group_adagrad_update", "lr=0.5", "drd->d RrR->r", {{6, 4}, {6, 4}, {6, 1}}},
    {"_zeros _zeros_without_dtype", "shape=(6, 4)", "->d =>r =>c"},
    {"_random_uniform _random_normal _random_exponential _random_gamma _random_poisson "
     "_random_generalized_negative_binomial",
     "shape=(6, 4)", "->d =>r"},
    {"_random_negative_binomial", "k=3; p=0.5; shape=(6, 4)", "->d =>r"},
    {"_random_randint", "low=1; high=9; shape=(6, 4)", "->d =>r"},
    {"_random_uniform_like _random_normal_like _random_exponential_like _random_gamma_like _random_poisson_like "
     "_random_negative_binomial_like _random_generalized_negative_binomial_like",
     "", "d->d r->r"},
    {"_identity_with_attr_like_rhs", "", "dd->d rr->r cc->c rd->d cd->d dr->r dc->c rc->c cr->r"},
    {"_contrib_getnnz", "", "c->d"},
    {"_contrib_edge_id", "", "cdd->d", {{6, 4}, {3}, {3}}},
    {"_contrib_dgl_adjacency", "", "c->c"},
    {"_CrossDeviceCopy", "", "d->d r->r c->c"},
};

/// The same for backward: storages of inputs, and of the buffers of their gradients (-: none is asked for).
const std::vector<Served> backward_served = {
    {"relu abs sign square sqrt cbrt log1p expm1 sin tan arcsin arctan degrees radians sinh tanh arcsinh arctanh "
     "negative "
     "_copy",
     "", "d:d r:r c:c"},
    {"sigmoid cos cosh", "", "d:d"},
    {"elemwise_add elemwise_sub", "", "rr:rr cc:cc"},
    {"elemwise_mul", "", "rr:rr cd:cd dc:dc"},
    {"_mul_scalar _div_scalar", "scalar=2", "r:r c:c"},
    {"add_n", "", "ccc:ccc rrr:rrr"},
    {"slice", "begin=(1, 0); end=(4, 3)", "c:c"},
    {"take", "", "cd:c-", {{6, 4}, {3}}},
    {"Concat", "dim=0", "ccc:ccc"},
    {"dot", "", "cd:-r cd:-d cd:dr", {{6, 4}, {4, 3}}},
    {"dot", "transpose_a=True", "cd:-d cd:dd", {{6, 4}, {6, 3}}},
    {"dot", "forward_stype=default", "dc:d-", {{3, 6}, {6, 4}}},
    {"Embedding", "input_dim=6; output_dim=4; sparse_grad=True", "dd:-r", {{5}, {6, 4}}},
    {"_contrib_SparseEmbedding", "input_dim=6; output_dim=4", "dd:-r dr:-r", {{5}, {6, 4}}},
    {"_sparse_retain", "", "rd:r-", {{6, 4}, {2}}},
    {"where", "", "cdd:-dd"},
    {"_square_sum", "axis=0", "r:r"},
    {"_square_sum", "axis=1", "r:r"},
    {"_square_sum", "axis=1; keepdims=True", "r:r"},
    {"LinearRegressionOutput LogisticRegressionOutput", "", "dc:d-"},
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    if (end != 0) out.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}
Storage storage_of(char letter) {
  return letter == 'c' ? strop::csr : letter == 'r' || letter == 'R' ? strop::row_sparse : strop::dense;
}
/// Arrays in the storages that the letters say; updates have states above 1.
Arrays stored_as(std::string_view letters, const Served& row, Dtype type = strop::f32) {
  Arrays out;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    strop::verify::Sample sample{i < row.shapes.size() ? row.shapes[i] : Shape{6, 4}};
    if (letters[i] != 'R') sample.storage = storage_of(letters[i]);
    if (i > 1 && row.ops.find("update") != std::string_view::npos) sample.low = 1.1, sample.high = 1.9;
    const NDArray made = sample.make(type, static_cast<int>(i));
    out.push_back(letters[i] == 'R' ? strop::detail::cast_storage(made, strop::row_sparse) : made);
  }
  return out;
}
struct FallbacksAs {
  strop::Fallback before;
  explicit FallbacksAs(strop::Fallback mode) : before(strop::set_fallback(mode)) {}
  FallbacksAs(const FallbacksAs&) = delete;
  FallbacksAs& operator=(const FallbacksAs&) = delete;
  ~FallbacksAs() { strop::set_fallback(before); }
};

}  // namespace

TEST_CASE("storages that MXNet has kernels for are served, row by row of its tables") {
  int rows = 0;
  for (const Served& served : forward_served)
    for (const std::string& op : words(served.ops))
      for (std::string_view what : words(served.storages)) {
        const bool copies = what.starts_with('!');
        if (copies) what.remove_prefix(1);
        const std::size_t arrow = what.find_first_of("-=");
        const Storage wanted = storage_of(what.back());
        const std::string at = cat(op, " {", served.params, "} ", what);
        const auto call_with = [&](const Arrays& in, strop::Fallback mode, bool into) {
          const FallbacksAs as(mode);
          Subject s = strop::verify::subject(op, in, Row{op, std::string(served.params), {}}.attributes());
          s.random = s.entry->resources != nullptr;
          Arrays out;
          if (into)
            out.push_back(NDArray({6, op == "_square_sum" ? 1 : 4}, op == "_random_randint" ? strop::i32 : strop::f32,
                                  strop::cpu(), wanted));
          return ops_test::call(s, in, out)[0];
        };
        std::string wrong;
        try {
          const Arrays in = stored_as(what.substr(0, arrow), served);
          Arrays whole;
          for (const NDArray& a : in) whole.push_back(strop::detail::cast_storage(a, strop::dense));
          strop::clear_fallbacks();
          const NDArray y =
              call_with(in, copies ? strop::Fallback::silent : strop::Fallback::error, what[arrow] == '=');
          if (strop::fallbacks().empty() == copies) wrong = copies ? "went by no dense copies" : "went by dense copies";
          if (y.storage() != wanted) wrong = cat("the result is ", name_of(y.storage()));
          y.check_format();
          // Lazy updates, what counts stored values and what works on them alone are tested by their values elsewhere.
          const bool as_dense = op.find("update") == std::string::npos && op.find("scatter") == std::string::npos &&
                                op != "_sparse_retain" && op != "_contrib_dgl_adjacency";
          if (wrong.empty() && as_dense)
            wrong = difference(y, call_with(whole, strop::Fallback::error, false), {1e-5, 1e-6});
        } catch (const std::exception& error) {
          wrong = error.what();
        }
        CHECK_MESSAGE(wrong.empty(), at, ": ", wrong);
        ++rows;
      }
  CHECK(rows > 200);
}

TEST_CASE("gradients that MXNet computes in sparse storages come so, row by row of its tables") {
  for (const Served& served : backward_served)
    for (const std::string& op : words(served.ops))
      for (const std::string_view what : words(served.storages)) {
        const std::string_view inputs = what.substr(0, what.find(':')), buffers = what.substr(what.find(':') + 1);
        const auto run = [&](const Arrays& in, bool whole) {
          for (std::size_t i = 0; i < in.size(); ++i)
            if (buffers[i] != '-')
              in[i].attach_grad(strop::GradRequest::write, whole ? strop::dense : storage_of(buffers[i]));
          strop::record scope;
          strop::invoke(op, in, Row{op, std::string(served.params), {}}.attributes()).backward();
        };
        std::string wrong;
        try {
          const Arrays in = stored_as(inputs, served);
          Arrays dense;
          for (const NDArray& a : in) dense.push_back(strop::detail::cast_storage(a, strop::dense).copy());
          const FallbacksAs as(strop::Fallback::error);
          run(in, false);
          if (op != "_sparse_retain") run(dense, true);
          for (std::size_t i = 0; i < in.size(); ++i) {
            if (buffers[i] == '-') continue;
            const NDArray gradient = in[i].grad();
            if (gradient.storage() != storage_of(buffers[i])) wrong = cat("came ", name_of(gradient.storage()));
            gradient.check_format();
            if (op == "_sparse_retain") continue;
            Numbers wanted = values(dense[i].grad());
            const Numbers got = values(gradient), there = values(in[i]);
            for (std::size_t e = 0; e < got.size(); ++e)
              if (inputs[i] != 'd' && got[e] == 0 && there[e] == 0) wanted[e] = 0;  // not stored
            if (wrong.empty()) wrong = difference(gradient, wanted, in[i].shape(), {1e-5, 1e-6});
          }
        } catch (const std::exception& error) {
          wrong = error.what();
        }
        CHECK_MESSAGE(wrong.empty(), op, " {", served.params, "} ", what, ": ", wrong);
      }
}
