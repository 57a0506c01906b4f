// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sparse arrays whose structure is broken, given to every operator that takes sparse arrays: as inputs, behind the
/// back of a recorded call, as head gradients and as arrays that are to hold results. A call refuses them in one
/// sentence or gives what the dense array gives, and touches no memory outside. The address sanitizer sees whether that
/// is so.
#include "harness.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

using namespace ops_test;
using strop::array;
using strop::csr;
using strop::dense;
using strop::Entry;
using strop::Error;
using strop::f32;
using strop::i32;
using strop::i64;
using strop::row_sparse;

namespace {

using Numbers = std::vector<std::int64_t>;
constexpr std::int64_t far = std::int64_t{1} << 40, most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();

/// The lists of a sparse matrix; `starts` is empty for a row-sparse one.
struct Lists {
  Numbers indices, starts;
};

/// Two values in each row but the last, which has none.
Lists whole_csr(std::int64_t rows, std::int64_t columns) {
  Lists x{{}, {0}};
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t a = i % columns, b = (i + columns / 2) % columns;
    if (i + 1 < rows) x.indices.push_back(std::min(a, b));
    if (i + 1 < rows && a != b) x.indices.push_back(std::max(a, b));
    x.starts.push_back(std::ssize(x.indices));
  }
  return x;
}
Lists whole_rows(std::int64_t rows) {
  Lists x;
  for (std::int64_t i = 0; i < rows; i += i == 0 ? 2 : 1) x.indices.push_back(i);
  return x;
}

/// Each list with one number changed in turn: to one outside, to one that stands there already, to one that descends.
std::vector<Lists> broken(const Lists& whole, std::int64_t extent) {
  std::vector<Lists> out;
  const auto change = [&](Numbers Lists::* list, std::size_t at, std::initializer_list<std::int64_t> to) {
    for (const std::int64_t number : to) {
      out.push_back(whole);
      (out.back().*list)[at] = number;
    }
  };
  const std::size_t stored = whole.indices.size(), ends = whole.starts.size();
  if (stored > 0) {
    change(&Lists::indices, 0, {extent, -1, far, most, least});
    change(&Lists::indices, stored - 1, {extent, -1, -far, most});
    change(&Lists::indices, stored / 2, {extent, least, 0, extent - 1});
    out.push_back(whole);
    std::reverse(out.back().indices.begin(), out.back().indices.end());
    out.push_back(whole);
    std::fill(out.back().indices.begin(), out.back().indices.end(), 0);
  }
  if (ends > 0) {
    const auto count = static_cast<std::int64_t>(stored);
    change(&Lists::starts, 0, {1, -1, -3, far, least});
    change(&Lists::starts, ends - 1, {count + 1, count + 9, far, most, least, count - 1, 0, -1});
    change(&Lists::starts, ends / 2, {count + 1, far, most, least, -1, 0, count});
    out.push_back(whole);
    std::reverse(out.back().starts.begin(), out.back().starts.end());
  }
  return out;
}

bool fits(const Lists& x) {
  for (const Numbers* list : {&x.indices, &x.starts})
    for (const std::int64_t number : *list)
      if (!strop::detail::fits_narrow(number)) return false;
  return true;
}

NDArray made(const Lists& x, Storage storage, const Shape& shape, Dtype index, Dtype type) {
  const auto list = [&](const Numbers& numbers) { return strop::detail::as_type(array(numbers), index); };
  const std::int64_t stored = std::ssize(x.indices);
  const NDArray values(storage == csr ? Shape{stored} : Shape{stored, shape[1]}, type);
  for (std::int64_t k = 0; k < values.size(); ++k) {
    const double value = 0.25 + static_cast<double>(k % 5) / 8;  // what every function takes
    strop::detail::convert_elements(strop::f64, &value, type, values.bytes() + k * strop::size_of(type), 1);
  }
  return storage == csr ? strop::csr_matrix(values, list(x.indices), list(x.starts), shape)
                        : strop::row_sparse_array(values, list(x.indices), shape);
}
Lists whole(Storage storage, const Shape& shape) {
  return storage == csr ? whole_csr(shape[0], shape[1]) : whole_rows(shape[0]);
}
std::vector<Lists> broken(Storage storage, const Shape& shape) {
  return broken(whole(storage, shape), shape[storage == csr ? 1 : 0]);
}

/// Overwrites the lists of an array, which are as long.
void damage(const NDArray& a, const Lists& with) {
  const auto write = [](const NDArray& to, const Numbers& from) {
    strop::detail::write_indices(to, from.data(), std::ssize(from));
  };
  write(a.indices(), with.indices);
  if (a.storage() == csr) write(a.indptr(), with.starts);
}

/// What calls came to.
struct Outcome {
  int calls = 0, refused = 0;
  std::set<std::string> operators;
};

/// Makes a call that may refuse. What it throws is an Error of one sentence.
template <class Call>
void may_refuse(Outcome& outcome, const std::string& way, Call call) {
  ++outcome.calls;
  try {
    call();
  } catch (const Error& error) {
    ++outcome.refused;
    const std::string text = error.what();
    if (text.find('\n') != std::string::npos || text.size() < 10) FAIL_CHECK(way, ": ", text);
  } catch (const std::exception& error) {
    FAIL_CHECK(way, ": no strop::Error but ", error.what());
  }
}
/// Looks at every element. A result may be as broken as what it came from, and says so then.
void look(const NDArray& y) {
  y.wait();
  if (y.storage() != dense) (void)strop::detail::cast_storage(y, dense).to_vector<double>();
}

/// What the entry says of these storages: those of the results, nothing where it works on dense copies.
std::vector<std::optional<Storage>> native(const Subject& s, const std::vector<Storage>& storages,
                                           const Arrays& results) {
  std::vector<std::optional<Storage>> out(results.size());
  std::vector<Shape> in_shapes, out_shapes;
  for (const NDArray& a : s.in) in_shapes.push_back(a.shape());
  for (const NDArray& y : results) out_shapes.push_back(y.shape());
  const std::vector<int> mutated = s.signature().mutated;
  const auto infer = [&] {
    return strop::detail::infer_storages(*s.entry, s.op(),
                                         {storages, in_shapes, out_shapes, mutated, f32, strop::cpu()}, out)
        .why.empty();
  };
  try {
    if (!infer()) out.clear();
  } catch (const Error&) {  // some say that they take CSR only
    out.clear();
  }
  return out;
}

/// Every operator of the library on each of its rows, in every combination of storages that it takes as they are; of
/// the others, where `copies`, with one sparse input, of which a dense copy is made.
template <class Visit>
void each_sparse_call(bool copies, Visit visit) {
  for (const Entry* e : strop::detail::all_operators()) {
    if (!e->library || !e->dtypes.contains(f32)) continue;
    std::set<std::string> seen;  // rows of the same shapes and parameters come to the same
    for (const strop::verify::Row& row : strop::verify::rows_of(*e)) {
      if (row.random) continue;
      Subject s = row.subject(f32);
      std::string key = row.params;
      for (const NDArray& a : s.in) key += cat(';', a.shape());
      if (s.in.empty() || !seen.insert(key).second) continue;
      Arrays results;
      try {
        results = call(s);
      } catch (const Error&) {
        continue;
      }
      std::size_t combinations = 1;
      for (const NDArray& a : s.in) combinations *= a.ndim() == 2 ? std::size_t{3} : std::size_t{1};
      for (std::size_t c = 1; c < combinations; ++c) {
        std::vector<Storage> storages;
        std::string way = cat(s.name(), " {", row.params, "} on");
        std::size_t number = c;
        for (const NDArray& a : s.in) {
          constexpr Storage kinds[] = {dense, csr, row_sparse};
          storages.push_back(a.ndim() == 2 ? kinds[number % 3] : dense);
          if (a.ndim() == 2) number /= 3;
          way += cat(' ', name_of(storages.back()));
        }
        const auto claim = native(s, storages, results);
        const bool one = std::count(storages.begin(), storages.end(), dense) + 1 == std::ssize(storages);
        if (claim.empty() && !(copies && one)) continue;
        Arrays in;
        for (std::size_t i = 0; i < s.in.size(); ++i)
          in.push_back(storages[i] == dense || s.in[i].shape().size() == 0
                           ? s.in[i]
                           : made(whole(storages[i], s.in[i].shape()), storages[i], s.in[i].shape(), i64, f32));
        if (error_of([&] { call(s, in); }) == "no error") visit(s, way, in, claim);
      }
    }
  }
}

}  // namespace

TEST_CASE("lists whose lengths disagree are refused where an array is made of them") {
  const auto refused = [](auto make) { return error_of(make).starts_with("strop: "); };
  CHECK(refused([] { strop::csr_matrix({1, 2}, {0}, {0, 1, 1}, {2, 3}); }));
  CHECK(refused([] { strop::csr_matrix({1}, {0, 1}, {0, 1, 1}, {2, 3}); }));
  CHECK(refused([] { strop::csr_matrix({1}, {0}, {0, 1}, {2, 3}); }));
  CHECK(refused([] { strop::csr_matrix({1}, {0}, {0, 1, 1, 1}, {2, 3}); }));
  CHECK(refused([] { strop::row_sparse_array({{1, 2}}, {0, 1}, {3, 2}); }));
  CHECK(refused([] { strop::row_sparse_array({{1, 2}, {3, 4}}, {0}, {3, 2}); }));
  CHECK(refused([] { strop::row_sparse_array({{1}, {2}}, {0, 1}, {3, 2}); }));
}

TEST_CASE("a broken input is refused by every operator that takes sparse arrays, or what it gives is right") {
  const QuietFallbacks quiet;
  Outcome outcome;
  each_sparse_call(true, [&](const Subject& s, const std::string& way, const Arrays& good, const auto&) {
    for (std::size_t i = 0; i < good.size(); ++i) {
      if (good[i].storage() == dense || good[i].size() == 0) continue;
      outcome.operators.insert(s.name());
      for (const Lists& lists : broken(good[i].storage(), good[i].shape()))
        for (const Dtype index : {i32, i64}) {
          if (index == i32 && !fits(lists)) continue;
          Arrays in = good;
          in[i] = made(lists, good[i].storage(), good[i].shape(), index, f32);
          may_refuse(outcome, way, [&] {
            const Arrays y = call(s, in);
            for (const NDArray& a : y) look(a);
            // Where the array says something all the same, what it gives is what its dense copy gives. What works on
            // the stored values or rows alone has tests of its own.
            if (s.name().starts_with("_scatter_") || s.name().ends_with("_update")) return;
            Arrays copies = good;
            copies[i] = strop::detail::cast_storage(in[i], dense);
            // A dense quotient of sparse arrays has 0 / 0 where neither stores anything; beside a dense one it is 0.
            for (NDArray& a : copies)
              if (y[0].storage() == dense) a = strop::detail::cast_storage(a, dense);
            const Arrays wanted = call(s, copies);
            for (std::size_t k = 0; k < y.size(); ++k)
              expect(s, way, difference(y[k], values(wanted[k]), wanted[k].shape(), {1e-5, 1e-5}));
          });
        }
    }
  });
  CHECK(outcome.calls > 20000);
  CHECK(outcome.refused > outcome.calls / 2);
  for (const char* name : {"dot", "sddmm", "stored_softmax", "sgd_update", "adam_update", "_sparse_retain",
                           "_square_sum", "where", "add_n", "Embedding", "slice", "take", "Concat", "sum", "norm"})
    CHECK_MESSAGE(outcome.operators.contains(name), name);
}

TEST_CASE("structures that break between a call and its gradient, and broken head gradients") {
  const QuietFallbacks quiet;
  Outcome outcome;
  each_sparse_call(false, [&](const Subject& s, const std::string& way, const Arrays& good, const auto&) {
    if (s.entry->mutates) return;
    const auto backward = [&](const Arrays& given, bool whole, std::size_t at, const Lists* lists,
                              const NDArray* broken_head) {
      Arrays in;
      for (const NDArray& a : given) {
        in.push_back(a.copy());
        in.back().attach_grad(strop::GradRequest::write, whole ? dense : a.storage());
      }
      {
        strop::record scope;
        const NDArray y = call(s, in)[0];
        y.wait();
        if (lists != nullptr) damage(in[at], *lists);
        y.backward(broken_head != nullptr ? *broken_head : strop::ones(y.shape()).to(y.dtype()));
      }
      for (const NDArray& a : in) look(a.grad());
    };
    NDArray y;
    try {
      backward(good, true, 0, nullptr, nullptr);  // whether it has a gradient
      y = call(s, good)[0];
    } catch (const Error&) {
      return;
    }
    outcome.operators.insert(s.name());
    for (std::size_t i = 0; i < good.size(); ++i) {
      if (good[i].storage() == dense || good[i].size() == 0) continue;
      for (const Dtype index : {i32, i64}) {
        Arrays in = good;
        in[i] = made(whole(good[i].storage(), good[i].shape()), good[i].storage(), good[i].shape(), index, f32);
        for (const Lists& lists : broken(good[i].storage(), good[i].shape()))
          for (const bool whole : {false, true})
            if (index == i64 || fits(lists))
              may_refuse(outcome, way + ", damaged", [&] { backward(in, whole, i, &lists, nullptr); });
      }
    }
    if (y.ndim() != 2 || y.size() == 0 || y.dtype() != f32) return;
    for (const Storage storage : {csr, row_sparse})
      for (const Lists& lists : broken(storage, y.shape())) {
        const NDArray head = made(lists, storage, y.shape(), fits(lists) ? i32 : i64, f32);
        may_refuse(outcome, way + ", broken head", [&] { backward(good, false, 0, nullptr, &head); });
      }
  });
  CHECK(outcome.calls > 50000);
  for (const char* name : {"dot", "sddmm", "stored_softmax", "_sparse_retain", "_square_sum", "where", "add_n", "sum"})
    CHECK_MESSAGE(outcome.operators.contains(name), name);
}

TEST_CASE("results are written over broken arrays, or added where the call refuses") {
  const QuietFallbacks quiet;
  Outcome outcome;
  each_sparse_call(false, [&](const Subject& s, const std::string& way, const Arrays& good, const auto& claim) {
    if (s.entry->mutates) return;
    const Arrays wanted = call(s, good);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const Storage storage = *claim[k];
      if (storage == dense || wanted[k].ndim() != 2 || wanted[k].size() == 0) continue;
      for (const Lists& lists : broken(storage, wanted[k].shape()))
        for (const Request request : {Request::write, Request::add}) {
          Arrays out(wanted.size());
          out[k] = made(lists, storage, wanted[k].shape(), i64, wanted[k].dtype());
          may_refuse(outcome, way + ", over", [&] {
            call(s, good, out, std::vector<Request>(wanted.size(), request));
            look(out[k]);
            if (request == Request::write)
              expect(s, way + ", over", difference(out[k], values(wanted[k]), wanted[k].shape(), {0, 0}));
          });
        }
    }
  });
  CHECK(outcome.calls > 5000);
}
