// SPDX-License-Identifier: Apache-2.0
/// \file
/// The checks of one call on sparse arrays: every combination of storages, patterns of what is stored, gradients.
#pragma once
#include <strop/tensor/merged.hpp>
#include <strop/verify/checks.hpp>
#include <strop/verify/checks_impl.hpp>
#include <strop/verify/gradients_impl.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace strop::inline v0::verify {
inline namespace helpers {

/// How many storages an array of this rank is checked in, the first of dense, row_sparse and csr.
STROP_VERIFY_IMPL std::size_t storages_of(const NDArray& a) { return a.ndim() == 2 ? 3 : a.ndim() > 2 ? 2 : 1; }
/// Combinations of storages of the inputs, numbered from 0, all dense.
STROP_VERIFY_IMPL std::size_t combinations(const Arrays& in) {
  std::size_t count = 1;
  for (const NDArray& a : in) count *= storages_of(a);
  return count;
}
STROP_VERIFY_IMPL std::vector<Storage> combination(const Arrays& in, std::size_t number) {
  constexpr Storage kinds[] = {dense, row_sparse, csr};
  std::vector<Storage> out;
  for (const NDArray& a : in) {
    out.push_back(kinds[number % storages_of(a)]);
    number /= storages_of(a);
  }
  return out;
}
STROP_VERIFY_IMPL std::string names_of(const std::vector<Storage>& storages) {
  std::string text = "on";
  for (const Storage storage : storages) text += cat(' ', name_of(storage));
  return text;
}

/// What the entry says of a combination: storages of the results, and whether it comes without a dense fallback.
struct Claim {
  std::vector<std::optional<Storage>> out;
  bool native;
};
STROP_VERIFY_IMPL Claim claim_of(const Subject& s, const std::vector<Storage>& storages, const Arrays& results) {
  Claim claim{std::vector<std::optional<Storage>>(results.size()), false};
  std::vector<Shape> in_shapes, out_shapes;
  for (const NDArray& a : s.in) in_shapes.push_back(a.shape());
  for (const NDArray& y : results) out_shapes.push_back(y.shape());
  const std::vector<int> mutated = s.signature().mutated;
  claim.native = detail::infer_storages(*s.entry, s.op(),
                                        {storages, in_shapes, out_shapes, mutated, s.in[0].dtype(), cpu()}, claim.out)
                     .why.empty();
  return claim;
}

STROP_VERIFY_IMPL std::string format_error(const NDArray& y) {
  if (y.storage() == dense) return {};
  const std::string wrong = error_of([&] { y.check_format(); });
  return wrong == "no error" ? "" : wrong;
}

/// A pattern of stored values, and in what order and how often they stand there.
enum class Order : std::uint8_t { ascending, reversed, twice };
struct StoredValues {
  std::string_view name;
  bool (*stores)(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t columns);
  bool zeros = false;     // zeros are stored as well
  bool infinite = false;  // infinities and NaN are
  Order order = Order::ascending;
};
inline constexpr auto every_third = [](std::int64_t i, std::int64_t j, std::int64_t, std::int64_t) {
  return (i + j) % 3 == 0;
};
inline constexpr StoredValues stored_values[] = {
    {"every third element", every_third},
    {"nothing stored", [](std::int64_t, std::int64_t, std::int64_t, std::int64_t) { return false; }},
    {"one full row", [](std::int64_t i, std::int64_t, std::int64_t rows, std::int64_t) { return i == rows / 2; }},
    {"one full column",
     [](std::int64_t, std::int64_t j, std::int64_t, std::int64_t columns) { return j == columns / 2; }},
    {"rows of a power law",
     [](std::int64_t i, std::int64_t j, std::int64_t, std::int64_t columns) { return j < columns >> i; }},
    {"stored zeros", every_third, true},
    {"infinities and NaN", every_third, false, true},
    {"columns that do not ascend", every_third, false, false, Order::reversed},
    {"places stored twice", every_third, false, false, Order::twice},
};

/// An array with what `how` stores of it, in `storage` and as the same dense array; of more than two dimensions,
/// columns are the elements of a row. Of an array that is `kept` nothing is left out, and what is zero is not stored.
struct Thinned {
  NDArray array, whole;
  Thinned(const NDArray& from, Storage storage, const StoredValues& how, bool kept) : array(from), whole(from) {
    if (storage == dense) return;
    const std::int64_t rows = from.shape()[0], columns = from.shape().size(1, from.ndim());
    const bool floating = is_floating(from.dtype());
    std::vector<double> all = values(from), data;
    std::vector<std::int64_t> places, starts{0};
    constexpr double inf = std::numeric_limits<double>::infinity(),
                     odd[] = {inf, 1, std::numeric_limits<double>::quiet_NaN(), -inf, 2};
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::size_t begin = data.size();
      const auto first = strop::detail::unsigned_size(i * columns);
      bool row_stored = storage == row_sparse && how.zeros && i % 2 == 1;
      for (std::int64_t j = 0; j < columns; ++j) {
        double& x = all[first + strop::detail::unsigned_size(j)];
        const bool zero = !kept && how.zeros && (i + j) % 3 == 1;
        if (!kept && !how.stores(i, j, rows, columns)) x = 0;
        if (!kept && how.infinite && x != 0) x = odd[(i + 2 * j) % 5];
        row_stored = row_stored || x != 0;
        if (storage != csr || (x == 0 && !zero)) continue;
        const double half = kept || how.order != Order::twice ? 0 : first_part(x, floating);
        if (half != 0) data.push_back(half), places.push_back(j);
        data.push_back(x - half);
        places.push_back(j);
      }
      if (!kept && how.order == Order::reversed && storage == csr) {
        std::reverse(data.begin() + static_cast<std::ptrdiff_t>(begin), data.end());
        std::reverse(places.begin() + static_cast<std::ptrdiff_t>(begin), places.end());
      }
      if (storage == csr) {
        starts.push_back(static_cast<std::int64_t>(data.size()));
      } else if (row_stored) {
        places.push_back(i);
        for (std::int64_t j = 0; j < columns; ++j) data.push_back(all[first + strop::detail::unsigned_size(j)]);
      }
    }
    if (!kept && storage == row_sparse && how.order != Order::ascending)
      disorder_rows(data, places, columns, how.order == Order::twice, floating);
    const auto typed = [&](const std::vector<double>& x, const Shape& shape) {
      const NDArray made(shape, f64);
      std::copy(x.begin(), x.end(), made.pointer<double>());
      return with_dtype(made, from.dtype());
    };
    const auto count = static_cast<std::int64_t>(data.size()), stored = static_cast<std::int64_t>(places.size());
    whole = typed(all, from.shape());
    array = storage == csr ? csr_matrix(typed(data, {count}), places, starts, from.shape())
                           : row_sparse_array(typed(data, rows_of_shape(stored, from.shape())), places, from.shape());
  }

 private:
  static Shape rows_of_shape(std::int64_t rows, Shape shape) {
    shape[0] = rows;
    return shape;
  }
  /// What is stored of a number that is stored in two parts.
  static double first_part(double x, bool floating) { return floating ? x / 2 : std::max(x - 1, 0.0); }
  /// The last row first, each of them in two parts where `twice`.
  static void disorder_rows(std::vector<double>& data, std::vector<std::int64_t>& places, std::int64_t columns,
                            bool twice, bool floating) {
    std::vector<double> rest;
    std::vector<std::int64_t> order(places.rbegin(), places.rend());
    for (auto row = std::ssize(places) - 1; row >= 0; --row)
      for (std::int64_t j = 0; j < columns; ++j) rest.push_back(data[strop::detail::unsigned_size(row * columns + j)]);
    places = order;
    data = rest;
    if (!twice) return;
    places.insert(places.end(), order.begin(), order.end());
    for (double& x : data) x = first_part(x, floating);
    for (std::size_t k = 0; k < rest.size(); ++k) data.push_back(rest[k] - data[k]);
  }
};
struct ThinnedInputs {
  Arrays in, whole;
  ThinnedInputs(const Subject& s, const std::vector<Storage>& storages, const StoredValues& how,
                const std::vector<bool>& kept) {
    for (std::size_t i = 0; i < s.in.size(); ++i) {
      const Thinned made(s.in[i], storages[i], how, i < kept.size() && kept[i]);
      in.push_back(made.array);
      whole.push_back(made.whole);
    }
  }
};

/// Ones at the places that a sparse array stores.
STROP_VERIFY_IMPL NDArray ones_where_stored(const NDArray& a) {
  const NDArray once = detail::merged(a), out(a.shape(), f64, cpu(), a.storage());
  detail::copy_structure(once, out);
  std::fill_n(out.pointer<double>(), out.stored(), 1.0);
  return out;
}

/// Whether what is stored may stand there in any order and several times: for maps and the library's operators. Of a
/// program's own ones those on whole arrays are given them as they are.
STROP_VERIFY_IMPL bool takes_any_order(const Subject& s) { return s.entry->library || s.entry->is_map(); }

/// before + times · x, as arrays of this type hold it: whole numbers wrap.
STROP_VERIFY_IMPL std::vector<double> added_up(std::vector<double> x, double times, double before, Dtype type) {
  if (type == boolean) {
    for (double& each : x) each = each != 0 || before != 0 ? 1 : 0;
    return x;
  }
  for (double& each : x) each = before + times * each;
  if (is_floating(type)) return x;
  const NDArray sums({static_cast<std::int64_t>(x.size())}, f64);
  std::copy(x.begin(), x.end(), sums.pointer<double>());
  return values(with_dtype(with_dtype(sums, i64), type));
}

/// Wanted elements, with those that the result need not have replaced: zero · anything is zero, so that what is not
/// stored hides a NaN; where infinities stand, a NaN of the dense computation says nothing.
STROP_VERIFY_IMPL std::vector<double> as_hidden(std::vector<double> wanted, const std::vector<double>& got,
                                                bool infinite) {
  for (std::size_t i = 0; i < wanted.size() && got.size() == wanted.size(); ++i)
    if (std::isnan(wanted[i]) && (infinite || got[i] == 0)) wanted[i] = got[i];
  return wanted;
}

}  // namespace helpers

STROP_VERIFY_IMPL Arrays with_narrow_indices(const Arrays& arrays) {
  Arrays out;
  const auto narrow = [](const NDArray& part) { return detail::as_type(part, i32); };
  for (const NDArray& a : arrays)
    out.push_back(a.storage() == csr          ? csr_matrix(a.data(), narrow(a.indices()), narrow(a.indptr()), a.shape())
                  : a.storage() == row_sparse ? row_sparse_array(a.data(), narrow(a.indices()), a.shape())
                                              : a);
  return out;
}

STROP_VERIFY_IMPL void sparse(Findings& found, const Subject& s, Tolerance tolerance) {
  const QuietFallbacks quiet;
  const Arrays reference = call(s);
  for (std::size_t c = 1; c < combinations(s.in); ++c) {
    const std::vector<Storage> storages = combination(s.in, c);
    const std::string way = names_of(storages);
    Arrays in;
    for (std::size_t i = 0; i < s.in.size(); ++i) in.push_back(detail::cast_storage(s.in[i], storages[i]));
    const Claim claim = claim_of(s, storages, reference);
    clear_fallbacks();
    const Arrays y = call(s, in), narrow = call(s, with_narrow_indices(in));
    found.expect(s, way, fallbacks().empty() == claim.native ? "" : "differs from what is inferred of its fallback");
    for (std::size_t k = 0; k < y.size(); ++k) {
      const Storage claimed = *claim.out[k];
      found.expect(
          s, way,
          y[k].storage() == claimed ? "" : cat("gave ", name_of(y[k].storage()), ", inferred is ", name_of(claimed)));
      found.expect(s, way, format_error(y[k]));
      const std::vector<double> got = values(y[k]), wanted = as_hidden(values(reference[k]), got, false);
      found.expect(s, way, difference(y[k], wanted, reference[k].shape(), tolerance));
      found.expect(s, way + " with int32 indices", difference(narrow[k], got, reference[k].shape(), {0, 0}));
      Arrays target(y.size());
      target[k] = full(y[k].shape(), 2, y[k].dtype());
      call(s, in, target);
      found.expect(s, way + " into dense", difference(target[k], wanted, reference[k].shape(), tolerance));
    }
  }
}

STROP_VERIFY_IMPL void sparse_patterns(Findings& found, const Subject& s, const std::vector<bool>& kept, bool places,
                                       double loose) {
  if (s.in.empty() || s.random || s.entry->mutates) return;
  const QuietFallbacks quiet;
  const Dtype type = s.in[0].dtype();
  const bool floats = is_floating(type) && s.entry->dtypes.contains(f64);
  const Arrays example = call(s);
  for (std::size_t c = 1; c < combinations(s.in); ++c) {
    const std::vector<Storage> storages = combination(s.in, c);
    const Claim claim = claim_of(s, storages, example);
    if (!claim.native) continue;  // it works on dense copies, which sparse() looks at
    for (const StoredValues& how : stored_values) {
      if ((how.zeros && places) || (how.infinite && !is_floating(type))) continue;
      if (how.order != Order::ascending && !takes_any_order(s)) continue;
      const ThinnedInputs made(s, storages, how, kept);
      const std::string way = cat(names_of(storages), ", ", name_of(type), ", ", how.name);
      const Arrays reference = call(s, floats ? with_dtype(made.whole, f64) : made.whole);
      clear_fallbacks();
      const Arrays y = call(s, made.in), narrow = call(s, with_narrow_indices(made.in));
      found.expect(s, way, fallbacks().empty() ? "" : "fell back to dense copies");
      Arrays other, added, twice, untouched;
      std::vector<std::vector<double>> wanted;
      for (std::size_t k = 0; k < y.size(); ++k) {
        const NDArray expected = with_dtype(reference[k], y[k].dtype());
        const std::vector<double> got = values(y[k]);
        wanted.push_back(as_hidden(values(expected), got, how.infinite));
        found.expect(s, way,
                     y[k].storage() == *claim.out[k]
                         ? ""
                         : cat("gave ", name_of(y[k].storage()), ", inferred is ", name_of(*claim.out[k])));
        // A result may keep the order of the columns, and what stands there twice.
        if (how.order == Order::ascending) found.expect(s, way, format_error(y[k]));
        found.expect(s, way, difference(y[k], wanted[k], expected.shape(), tolerance_of(y[k].dtype(), 8 * loose)));
        found.expect(s, way + " with int32 indices", difference(narrow[k], got, expected.shape(), {0, 0}));
        const NDArray three = full(y[k].shape(), 3, y[k].dtype());
        other.push_back(detail::cast_storage(three.copy(), *claim.out[k]));
        added.push_back(three.copy());
        twice.push_back(y[k].copy());
        untouched.push_back(detail::cast_storage(three.copy(), *claim.out[k]));
      }
      const auto all = [&](Request request) { return std::vector<Request>(y.size(), request); };
      call(s, made.in, other);
      call(s, made.in, added, all(Request::add));
      call(s, made.in, twice, all(Request::add));
      call(s, made.in, untouched, all(Request::null));
      for (std::size_t k = 0; k < y.size(); ++k) {
        const std::vector<double> got = values(y[k]);
        std::vector<double> plus_three = added_up(got, 1, 3, y[k].dtype()), doubled = added_up(got, 2, 0, y[k].dtype());
        const std::vector<double> sum = values(added[k]), both = values(twice[k]);
        for (std::size_t i = 0; i < got.size(); ++i) {
          // Into a dense array it may go by dense copies, of whose NaN infinities say nothing.
          if (how.infinite && std::isnan(sum[i])) plus_three[i] = sum[i];
          // Beyond 2⁵³ a sum in double says nothing of whole numbers.
          if (!is_floating(y[k].dtype()) && std::abs(got[i]) > 0x1p53) plus_three[i] = sum[i], doubled[i] = both[i];
        }
        const Tolerance sums = is_half(y[k].dtype()) ? Tolerance{1e-2, 1e-2} : Tolerance{1e-5, 1e-5};
        found.expect(s, way + " into an array", difference(other[k], got, y[k].shape(), {0, 0}));
        found.expect(s, way + " added to dense", difference(added[k], plus_three, y[k].shape(), sums));
        found.expect(s, way + " added to its like", difference(twice[k], doubled, y[k].shape(), sums));
        found.expect(s, way + " not asked for",
                     difference(untouched[k], full(y[k].shape(), 3, y[k].dtype()), Tolerance{0, 0}));
      }
    }
  }
}

STROP_VERIFY_IMPL void sparse_gradients(Findings& found, const Subject& s, const std::vector<bool>& kept, bool places,
                                        double loose) {
  if (s.in.empty() || s.random || s.entry->mutates || !is_floating(s.in[0].dtype())) return;
  const QuietFallbacks quiet;
  const Arrays example = call(s);
  const Dtype type = s.in[0].dtype();
  const Tolerance close = type == f64 ? Tolerance{1e-11 * loose, 1e-11 * loose} : tolerance_of(type, 8 * loose);
  constexpr double before = 3;  // in dense buffers that are added to
  const auto gradients = [&](const Arrays& given, bool whole, GradRequest request = GradRequest::write) {
    Arrays in, out;
    for (const NDArray& a : given) {
      in.push_back(a.copy());
      in.back().attach_grad(request, whole ? dense : a.storage());
      const NDArray buffer = in.back().grad();
      if (request == GradRequest::add && buffer.storage() == dense && buffer.size() != 0)
        detail::copy_bytes(buffer.bytes(), full(a.shape(), before, a.dtype()).bytes(), a.size() * size_of(a.dtype()));
    }
    for (int times = request == GradRequest::add ? 2 : 1; times > 0; --times) {
      record scope;
      const NDArray y = call(s, in)[0];
      y.backward(head_of(y));
    }
    for (const NDArray& a : in) out.push_back(a.grad());
    return out;
  };
  for (std::size_t c = 1; c < combinations(s.in); ++c) {
    const std::vector<Storage> storages = combination(s.in, c);
    if (!claim_of(s, storages, example).native) continue;
    for (const StoredValues& how : stored_values) {
      if ((how.zeros && places) || (how.order != Order::ascending && !takes_any_order(s))) continue;
      const ThinnedInputs made(s, storages, how, kept);
      const std::string way = cat("gradients ", names_of(storages), ", ", name_of(type), ", ", how.name);
      Arrays reference;
      try {
        reference = gradients(with_dtype(made.whole, f64), true);
      } catch (const Error&) {  // it has none
        return;
      }
      const Arrays in_dense = gradients(made.in, true), in_own = gradients(made.in, false),
                   twice_dense = gradients(made.in, true, GradRequest::add),
                   twice_own = gradients(made.in, false, GradRequest::add);
      const Arrays thin = with_narrow_indices(made.in), narrow_dense = gradients(thin, true),
                   narrow_own = gradients(thin, false);
      for (std::size_t i = 0; i < s.in.size(); ++i) {
        const Shape& shape = s.in[i].shape();
        const std::string of_input = cat(way, ", input ", i), narrow = of_input + ", int32 indices",
                          own_buffer = of_input + " in a sparse buffer";
        const std::vector<double> got = values(in_dense[i]), wanted = values(reference[i]);
        found.expect(s, of_input, difference(in_dense[i], as_hidden(wanted, got, true), shape, close));
        found.expect(s, narrow, difference(narrow_dense[i], got, shape, {0, 0}));
        found.expect(s, of_input + ", twice added",
                     difference(twice_dense[i], added_up(got, 2, before, type), shape, close));
        // In a row-sparse buffer all of it; in a CSR one at the stored places, or wherever else it happens to be known.
        const std::vector<double> own = values(in_own[i]);
        found.expect(s, own_buffer + ", int32 indices",
                     narrow_own[i].storage() == in_own[i].storage() ? difference(narrow_own[i], own, shape, {0, 0})
                                                                    : cat("came ", name_of(narrow_own[i].storage())));
        if (how.order == Order::ascending) found.expect(s, own_buffer + ", int32 indices", format_error(narrow_own[i]));
        if (storages[i] == dense) continue;
        std::vector<double> there = values(detail::cast_storage(ones_where_stored(made.in[i]), dense)),
                            expected = as_hidden(wanted, own, true);
        for (std::size_t e = 0; e < own.size(); ++e)
          if (storages[i] == csr && there[e] == 0 && own[e] == 0) expected[e] = 0;
        found.expect(s, own_buffer,
                     in_own[i].storage() == storages[i] ? difference(in_own[i], expected, shape, close)
                                                        : cat("came ", name_of(in_own[i].storage())));
        found.expect(s, own_buffer + ", twice added",
                     twice_own[i].storage() == storages[i]
                         ? difference(twice_own[i], added_up(own, 2, 0, type), shape, close)
                         : cat("came ", name_of(twice_own[i].storage())));
        if (how.order == Order::ascending) found.expect(s, own_buffer, format_error(in_own[i]));
      }
    }
  }
}

STROP_VERIFY_IMPL void sparse_updates(Findings& found, const Subject& s, double loose) {
  const QuietFallbacks quiet;
  const std::optional<std::size_t> flag =
      s.entry->params == nullptr ? std::nullopt : s.entry->params->find("lazy_update");
  // A gradient that stores every row, zeros too.
  const auto with_all_rows = [](Arrays in) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < in[1].shape()[0]; ++i) all.push_back(i);
    in[1] = row_sparse_array(in[1], all, in[1].shape());
    return in;
  };
  const Arrays example = call(s, with_all_rows(s.in));
  std::vector<bool> kept(s.in.size(), true);  // weight and states store all their rows
  kept[1] = false;
  for (std::size_t c = 1; c < combinations(s.in); ++c) {
    const std::vector<Storage> storages = combination(s.in, c);
    const std::string combined = cat(names_of(storages), ", ", name_of(s.in[0].dtype()));
    if (storages[1] == dense || error_of([&] { claim_of(s, storages, example); }) != "no error") continue;
    if (!claim_of(s, storages, example).native) continue;
    bool stated = flag.has_value();
    for (std::size_t i = 2; i < storages.size(); ++i) stated = stated && storages[i] == storages[0];
    for (const StoredValues& how : stored_values) {
      const ThinnedInputs made(s, storages, how, kept);
      const std::string way = cat(combined, ", ", how.name);
      const std::int64_t rows = s.in[0].shape()[0], width = rows == 0 ? 0 : s.in[0].size() / rows;
      std::vector<bool> touched(strop::detail::unsigned_size(rows), storages[1] != row_sparse);
      if (storages[1] == row_sparse)
        for (const std::int64_t row : made.in[1].indices().to_vector<std::int64_t>())
          touched[strop::detail::unsigned_size(row)] = true;
      Arrays reference_states, states;
      Arrays reference = call(s, with_all_rows(made.whole), {}, {}, &reference_states);
      clear_fallbacks();
      Arrays y = call(s, made.in, {}, {}, &states);
      found.expect(s, way, fallbacks().empty() ? "" : "fell back to dense copies");
      reference.insert(reference.end(), reference_states.begin(), reference_states.end());
      const std::size_t outputs = y.size();
      y.insert(y.end(), states.begin(), states.end());
      Arrays before(outputs, made.whole[0]);
      for (int i : s.signature().mutated) before.push_back(made.whole[strop::detail::unsigned_size(i)]);
      for (std::size_t k = 0; k < y.size(); ++k) {
        const std::vector<double> got = values(y[k]), old = values(before[k]), whole = values(reference[k]);
        const std::int64_t of_row = rows == 0 ? width : y[k].size() / rows;
        // Rows that the gradient does not store stay as they are, or are updated like the others, all of them: as
        // lazy_update says, where the operator has it and states are stored as the weight is.
        std::vector<double> lazy = whole;
        for (std::size_t e = 0; e < lazy.size(); ++e)
          if (!touched[e / strop::detail::unsigned_size(of_row)]) lazy[e] = old[e];
        const Tolerance tolerance = tolerance_of(y[k].dtype(), 8 * loose);
        const std::string in_rows = difference(y[k], lazy, reference[k].shape(), tolerance),
                          in_all = difference(y[k], whole, reference[k].shape(), tolerance);
        found.expect(s, cat(way, ", result ", k),
                     stated ? (s.entry->params->print(s.op(), *flag) == "True" ? in_rows : in_all)
                            : (in_all.empty() ? in_all : in_rows));
        if (how.order == Order::ascending) found.expect(s, cat(way, ", result ", k), format_error(y[k]));
      }
      for (const bool narrow : {false, true})
        for (const bool in_place : {false, true}) {
          if (!narrow && !in_place) continue;
          Arrays in, other_states;
          for (const NDArray& a : narrow ? with_narrow_indices(made.in) : made.in) in.push_back(a.copy());
          Arrays again = call(s, in, in_place ? Arrays{in[0]} : Arrays{}, {}, &other_states);
          again.insert(again.end(), other_states.begin(), other_states.end());
          for (std::size_t k = 0; k < y.size(); ++k)
            found.expect(s, cat(way, narrow ? ", int32 indices" : "", in_place ? ", in place" : "", ", result ", k),
                         difference(again[k], values(y[k]), y[k].shape(), {0, 0}));
        }
    }
  }
}

}  // namespace strop::inline v0::verify
