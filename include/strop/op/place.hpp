// SPDX-License-Identifier: Apache-2.0
/// \file
/// Brings the arrays of a call into the order of a member's parameters. Works on constants about the member, not on its
/// type, so that it is compiled once for all operators.
#pragma once
#include <strop/core/span.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/names.hpp>
#include <strop/op/tags.hpp>

#include <span>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// With halves where they come as converted copies.
constexpr DtypeSet with_halves(DtypeSet served) { return served.contains(f32) ? served | f16 | bf16 : served; }

/// What one parameter of a member takes.
struct ArgInfo {
  bool writes = false, variadic = false, tagged = false;
  bool plain_writes = false;  // of a tagged one: it would be written without its tag
  bool whole = false;         // the array itself, of any type and storage
  bool found = false;         // its shape follows from the data
  bool follows = false;       // has the element type E of the member
  Storage storage = dense;
  int rank = any_rank;
  Dtype dtype = f32;
  Role role = Role::in;
  std::string_view name = {};
  int at = -1;  // of a tagged one: the position of its tensor among the inputs or the outputs
};

/// Tensors of one kind (inputs, outputs, …), handed out to the parameters for them in their order: a single parameter
/// takes the next, where there is one; a variadic one takes all but what the single ones take.
class ArgumentSlots {
 public:
  constexpr ArgumentSlots(int first, int count, int parameters)
      : next_(first), end_(first + count), list_(count < parameters ? 0 : count - (parameters - 1)) {}
  struct Part {
    int first, count;
  };
  constexpr Part take(const ArgInfo& info) {
    const int count = info.variadic ? list_ : next_ < end_ ? 1 : 0;
    next_ += count;
    return {next_ - count, count};
  }

 private:
  int next_, end_, list_;
};

/// How a sentence calls an argument; made into text only when there is one.
struct Label {
  std::string_view kind = "argument";
  int at = 0;
  std::string_view name = {};  // instead of the position
  std::string text() const {
    return name.empty() ? cat(kind, ' ', at) : cat(kind, kind.empty() ? "'" : " '", name, "'");
  }
};

/// Throws Error unless the array has the storage, the element type and the rank of the parameter.
void check_argument(std::string_view op, const Label& label, const ArgInfo& info, const NDArray& a);

/// What one parameter of a member is given: an array, or several.
struct Placed {
  const NDArray* array = nullptr;   // of a single parameter; null where it is absent
  Span<const NDArray* const> read;  // of a variadic one
  Span<const NDArray> written;      // of a variadic one that is written
  Label label;
  NDArray converted;  // where the parameter's element type is fixed and the array has another
  Index many() const { return read.size() + written.size(); }
  const NDArray& operator[](Index i) const { return i < read.size() ? *read[i] : written[i]; }
  void check(std::string_view op, const ArgInfo& info, const NDArray& a) const { check_argument(op, label, info, a); }
};

/// The tensors of an operator's forward.
struct ForwardInfo {
  Span<const ArgInfo> args;
  int inputs = 0, mutated = 0, outputs = 0;  // parameters; inputs with those that are written
  NameList names;
  bool generic = false;  // a template for elements of the types in `served`
  DtypeSet served;
};

/// The tensors of an operator's gradient: head gradients, inputs and outputs in, gradients out.
struct GradientInfo {
  Span<const ArgInfo> args;
  bool tagged = false;
  std::uint64_t heads = 0, in = 0, out = 0, gives = 0;  // of a tagged one: a bit per tensor
  int of_heads = 0, of_in = 0, of_out = 0;              // of another: parameters, in this order before the gradients
  bool open = false;                                    // how many outputs forward has depends on the call
};

/// Places the arrays of a call; gives the element type E of the call.
Dtype place_forward(const ForwardInfo& member, const Call& call, Span<Placed> placed);
Dtype place_gradient(const GradientInfo& member, const Call& call, Span<Placed> placed);
[[noreturn]] void fail_unserved(std::string_view op, Span<const Placed> placed, DtypeSet served, Dtype given);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/place_impl.hpp>
#endif
