// SPDX-License-Identifier: Apache-2.0
/// \file
/// One call, run in every way that its operator's entry claims to serve.
#pragma once
#include <strop/strop.hpp>
#include <strop/verify/config.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::verify {

using Arrays = std::vector<NDArray>;

/// One call: an operator with its parameters and inputs, which the checks convert to other types and storages.
struct Subject {
  const Entry* entry;
  std::shared_ptr<const void> params;
  Arrays in;
  bool random = false;  // draws random numbers: every call starts from the same seed

  std::string name() const { return std::string(entry->name); }
  const void* op() const { return params.get(); }
  Signature signature() const { return detail::signature_of(*entry, op(), static_cast<int>(in.size())); }
};

/// The operator called `name` with parameters as text. Throws Error for unknown ones.
Subject subject(std::string_view name, Arrays in, AttributeSpan params = {});

struct Tolerance {
  double rtol = 1e-5, atol = 1e-6;
};

/// What checks found. `if (found)` is true where nothing failed; printed, it says what did, one line each.
struct Findings {
  int checks = 0;
  std::vector<std::string> failures;
  explicit operator bool() const { return failures.empty(); }
  /// "12 checks, 1 failed", and the failures.
  std::string text() const;
  friend std::string text_of(const Findings& found) { return found.text(); }
  /// `wrong` is empty where all is well.
  void expect(const Subject& s, std::string_view way, const std::string& wrong);
  /// Takes over what others found, each failure with what comes `after` it.
  void add(Findings&& found, std::string_view after = {});
};

// --- calling and comparing ------------------------------------------------------------------------------------------

/// Whether input i is of whole numbers whatever the others are: a call has floats there as int32.
bool takes_whole(const Entry& entry, std::size_t i);

/// Runs the operator on other inputs than the subject's own; gives all outputs. Inputs that it writes are copied first,
/// and the copies go into `states`.
Arrays call(const Subject& s, const Arrays& in, Arrays out = {}, std::vector<Request> requests = {},
            Arrays* states = nullptr);
inline Arrays call(const Subject& s) { return call(s, s.in); }

NDArray with_dtype(const NDArray& a, Dtype dtype);
Arrays with_dtype(const Arrays& in, Dtype dtype);
std::vector<double> values(const NDArray& a);

/// Where two arrays differ most, as text; empty where they agree. NaN equals NaN, an infinity itself.
std::string difference(const NDArray& got, const std::vector<double>& wanted, const Shape& shape,
                       Tolerance tolerance = {});
std::string difference(const NDArray& got, const NDArray& wanted, Tolerance tolerance = {});

/// The message of the Error that the call throws.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

/// Restores the way of fallbacks.
class QuietFallbacks {
 public:
  [[nodiscard("it is in force while it lives: give it a name")]] QuietFallbacks()
      : before_(set_fallback(Fallback::silent)) {}
  QuietFallbacks(const QuietFallbacks&) = delete;
  QuietFallbacks& operator=(const QuietFallbacks&) = delete;
  ~QuietFallbacks() { set_fallback(before_); }

 private:
  Fallback before_;
};

// --- the checks -----------------------------------------------------------------------------------------------------

/// Every type of `among` that the entry lists, against the same inputs in double. An integer result is the truncated
/// one. `loose` widens the tolerances of the types.
void dtypes(Findings& found, const Subject& s, DtypeSet among = any_dtype, double loose = 1);
/// Every type that the entry does not list is refused by its name.
void refused_dtypes(Findings& found, const Subject& s);
/// write, add and null into arrays that exist.
void requests(Findings& found, const Subject& s, Tolerance tolerance = {});
/// An output in the memory of an input, where the operator allows it.
void inplace(Findings& found, const Subject& s);
/// The stated gradient in the memory of each argument that gradient_inplace allows: the same bits as elsewhere.
void gradient_inplace(Findings& found, const Subject& s);
/// Inputs and outputs that are views: the same results, nothing written beside them, inputs unchanged.
void views(Findings& found, const Subject& s);
/// The first axis of the first input, and those that are as long, without elements: a result, or a sentence that begins
/// with the operator's name.
void empty_axis(Findings& found, const Subject& s);
/// No elements, and no dimensions. For operators whose outputs have the shape of their inputs.
void zero_size(Findings& found, const Subject& s);
/// Of a map: an element among many is, bit for bit, the element alone, whatever its place.
void places(Findings& found, const Subject& s);
/// The arrays, the sparse ones of them with indices of int32.
Arrays with_narrow_indices(const Arrays& arrays);
/// Every combination of dense, CSR and row-sparse inputs of two dimensions: the dense result, in the storage that
/// follows from the body where the operator is a map and that it states where it states one (without a fallback then),
/// with a sound structure; also into a dense array.
void sparse(Findings& found, const Subject& s, Tolerance tolerance = {});
/// The combinations that come without a fallback, on patterns of stored values: nothing, a full row, a full column, a
/// power law, stored zeros, infinities and NaN, columns that do not ascend, places stored twice; with indices of int64
/// and int32, into arrays that are there, added to dense and sparse ones, and not asked for. Against the operator on
/// dense arrays, in double where it takes it. Inputs that are `kept` are stored as they are; `places`: a stored zero is
/// a place like any other, which a dense array cannot say.
void sparse_patterns(Findings& found, const Subject& s, const std::vector<bool>& kept, bool places, double loose = 1);
/// backward of these combinations, on the same patterns: in dense buffers what dense arrays give in double, in sparse
/// ones the same, in CSR at the stored places; added to what buffers hold; with indices of int32 the same bits.
void sparse_gradients(Findings& found, const Subject& s, const std::vector<bool>& kept, bool places, double loose = 1);
/// Of an update of (weight, gradient, states…), the combinations with a sparse gradient that come without a fallback,
/// on the same patterns: rows that the gradient stores are what one gives that stores them all, the others likewise or
/// as they were; with indices of int64 and int32, and in place, the same bits. Weight and states store all their rows.
void sparse_updates(Findings& found, const Subject& s, double loose = 1);
/// backward against central differences, in double; inputs that the operator writes are left out.
void gradient(Findings& found, const Subject& s, GradientTolerance tolerance = {});
/// backward in float32 against backward in double on the same numbers; in both types also added to what the buffers
/// hold, and with the gradient of each input in turn not asked for.
void gradient_requests(Findings& found, const Subject& s, double loose = 1);
/// The gradient of the gradient against differences of the gradient: of Σ y², so that all of it takes part.
void second_gradient(Findings& found, const Subject& s, GradientTolerance tolerance = {});

/// Which parts of the battery apply.
struct Parts {
  bool gradient = true;    // the inputs lie where the function is differentiable
  bool dtypes = true;      // the inputs are exact in every type that is served
  bool sparse = true;      // the values agree with zero · anything = zero
  bool same_shape = true;  // outputs have the shape of the inputs, whatever it is
  double loose = 1;        // widens the tolerances of types and sums
  bool places = false;     // a stored zero is a place like any other: the operator asks what is stored
  bool updates = false;    // (weight, gradient, states…): an update, whose sparse forms may touch the stored rows alone
};

/// All of them.
void battery(Findings& found, const Subject& s, Parts parts = {});

}  // namespace strop::inline v0::verify

template <>
struct fmt::formatter<strop::verify::Findings> : strop::detail::TextFormatter<strop::verify::Findings> {};

#if !defined(STROP_VERIFY_COMPILED)
#include <strop/verify/checks_impl.hpp>
#include <strop/verify/gradients_impl.hpp>
#include <strop/verify/sparse_impl.hpp>
#endif
