// SPDX-License-Identifier: Apache-2.0
/// \file
/// What inference works on: the shapes, types and storages of a call's inputs and outputs, known in part.
#pragma once
#include <strop/core/device.hpp>
#include <strop/core/dtype.hpp>
#include <strop/core/shape.hpp>
#include <strop/core/span.hpp>
#include <strop/core/text.hpp>
#include <strop/tensor/storage.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// A permission to compute an output in the memory of an input.
struct Share {
  int input, output;
};

namespace detail {
/// What the sentences of an inference name.
struct CallNames {
  std::string_view op;
  Span<const std::string_view> inputs = {}, outputs = {};
  // Names that are asked for only when there is a sentence to write.
  const void* call = nullptr;
  void (*describe)(const void* call, std::vector<std::string_view>& inputs,
                   std::vector<std::string_view>& outputs) = nullptr;

  std::string input(Index i) const { return name(i, "input", true, inputs, true); }
  std::string output(Index i) const { return name(i, "output", false, outputs, false); }

 private:
  /// "input 'weight'"; of a list that is open at its end the last name serves for the rest.
  std::string name(Index i, std::string_view kind, bool of_inputs, Span<const std::string_view> names,
                   bool open) const {
    std::vector<std::string_view> in, out;
    if (names.empty() && describe != nullptr) {
      describe(call, in, out);
      names = of_inputs ? in : out;
    }
    if (i < names.size()) return cat(kind, " '", names[i], "'");
    if (open && !names.empty()) return cat(kind, " '", names.back(), "'");
    return cat(kind, ' ', i);
  }
};

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_place(std::string_view op, std::string_view kind, Index i,
                                                                Index count) {
  fail(op, ": inference asks for ", kind, ' ', i, " of ", count);
}
/// The place of input or output i among `count` of them; an operator's own inference may ask for any.
constexpr Index checked_place(Index i, Index count, std::string_view op, std::string_view kind) {
  if (i < 0 || i >= count) [[unlikely]]
    refuse_place(op, kind, i, count);
  return i;
}
}  // namespace detail

/// Shapes of a call. An operator's infer_shape reads what is known, in any direction, and sets what follows from it.
class Shapes {
 public:
  constexpr Shapes(const detail::CallNames& names, detail::Span<Shape> in, detail::Span<Shape> out)
      : names_(names), in_(in), out_(out) {}
  constexpr int inputs() const { return static_cast<int>(in_.size()); }
  constexpr int outputs() const { return static_cast<int>(out_.size()); }
  constexpr const Shape& in(int i) const { return in_[of_inputs(i)]; }
  constexpr const Shape& out(int i) const { return out_[of_outputs(i)]; }
  /// Takes knowledge in; throws Error when it contradicts what is known.
  constexpr void set_in(int i, const Shape& shape) {
    if (const int axis = negative_axis(shape); axis >= 0) refuse_extent(shape, axis, names_.input(i));
    if (!unify(in_[of_inputs(i)], shape))
      strop::fail(names_.op, ": ", names_.input(i), " has shape ", in(i), ", expected ", shape);
  }
  constexpr void set_out(int i, const Shape& shape) {
    if (const int axis = negative_axis(shape); axis >= 0) refuse_extent(shape, axis, names_.output(i));
    if (!unify(out_[of_outputs(i)], shape))
      strop::fail(names_.op, ": ", names_.output(i), " has shape ", out(i), ", expected ", shape);
  }
  /// Throws unless input i has this rank (nothing is said while its rank is unknown).
  constexpr void expect_rank(int i, int rank) const {
    if (in(i).has_rank() && in(i).ndim() != rank)
      strop::fail(names_.op, ": ", names_.input(i), " has shape ", in(i), ", expected ", rank,
                  rank == 1 ? " dimension" : " dimensions");
  }
  /// Throws Error with the operator's name before the pieces.
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    strop::fail(names_.op, ": ", parts...);
  }
  constexpr std::string_view op() const { return names_.op; }
  std::string name_in(int i) const { return names_.input(i); }

 private:
  constexpr detail::Index of_inputs(int i) const { return detail::checked_place(i, in_.size(), names_.op, "input"); }
  constexpr detail::Index of_outputs(int i) const { return detail::checked_place(i, out_.size(), names_.op, "output"); }

  /// The first axis whose extent is less than an unknown one; −1 where none is.
  static constexpr int negative_axis(const Shape& shape) {
    for (int axis = 0; axis < shape.ndim(); ++axis)
      if (shape[axis] < Shape::unknown_extent) return axis;
    return -1;
  }
  [[noreturn]] void refuse_extent(const Shape& shape, int axis, const std::string& of) const {
    strop::fail(names_.op, ": ", of, " would have extent ", shape[axis], " along axis ", axis);
  }

  const detail::CallNames& names_;
  detail::Span<Shape> in_, out_;
};

namespace detail {

/// Input `made` of an operator must have the shape of output `k` that `forward` gives where its inputs have the shapes
/// of inputs `from`…: a gradient that is called by name is not given what its operator made.
template <class T, std::size_t N>
constexpr void expect_made_by(const T& forward, Shapes& s, int made, const int (&from)[N]) {
  Shape in[N];
  for (std::size_t k = 0; k < N; ++k) {
    in[k] = s.in(from[k]);
    if (!in[k].known()) return;
  }
  Shape out = Shape::unknown();
  const CallNames names{s.op()};
  Shapes shapes(names, in, {&out, 1});
  forward.infer_shape(shapes);
  s.set_in(made, out);
}

}  // namespace detail

/// Element types of a call; an unknown one is empty.
class Types {
 public:
  constexpr Types(const detail::CallNames& names, detail::Span<std::optional<Dtype>> in,
                  detail::Span<std::optional<Dtype>> out)
      : names_(names), in_(in), out_(out) {}
  constexpr int inputs() const { return static_cast<int>(in_.size()); }
  constexpr int outputs() const { return static_cast<int>(out_.size()); }
  constexpr std::optional<Dtype> in(int i) const { return in_[of_inputs(i)]; }
  constexpr std::optional<Dtype> out(int i) const { return out_[of_outputs(i)]; }
  constexpr std::string_view op() const { return names_.op; }
  /// The same call with other types.
  constexpr Types with(detail::Span<std::optional<Dtype>> in, detail::Span<std::optional<Dtype>> out) const {
    return {names_, in, out};
  }
  /// Throws Error unless input i, or output i, has one of these types (nothing is said while its type is unknown).
  constexpr void expect_in(int i, DtypeSet served) const { expect(in(i), served, true, i); }
  constexpr void expect_out(int i, DtypeSet served) const { expect(out(i), served, false, i); }
  constexpr void set_in(int i, std::optional<Dtype> type) { set(in_[of_inputs(i)], type, true, i); }
  constexpr void set_out(int i, std::optional<Dtype> type) { set(out_[of_outputs(i)], type, false, i); }
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    strop::fail(names_.op, ": ", parts...);
  }
  std::string name_in(int i) const { return names_.input(i); }

 private:
  constexpr void set(std::optional<Dtype>& slot, std::optional<Dtype> type, bool input, int i) {
    if (!type) return;
    if (slot && *slot != *type) refuse(*slot, name_of(*type), input, i);
    slot = type;
  }
  constexpr void expect(std::optional<Dtype> type, DtypeSet served, bool input, int i) const {
    if (type && !served.contains(*type)) refuse(*type, detail::one_of(served), input, i);
  }
  [[noreturn]] void refuse(Dtype given, std::string_view expected, bool input, int i) const {
    strop::fail(names_.op, ": ", input ? names_.input(i) : names_.output(i), " is ", name_of(given), ", expected ",
                expected);
  }
  constexpr detail::Index of_inputs(int i) const { return detail::checked_place(i, in_.size(), names_.op, "input"); }
  constexpr detail::Index of_outputs(int i) const { return detail::checked_place(i, out_.size(), names_.op, "output"); }

  const detail::CallNames& names_;
  detail::Span<std::optional<Dtype>> in_, out_;
};

/// Storages of a call. Inputs are known; an output is unless it is still to be made. An operator that answers false
/// works on dense arrays; an output that it has set all the same comes in that storage.
class Storages {
 public:
  constexpr Storages(detail::Span<const Storage> in, detail::Span<std::optional<Storage>> out, Device device)
      : device_(device), in_(in), out_(out) {}
  constexpr int inputs() const { return static_cast<int>(in_.size()); }
  constexpr int outputs() const { return static_cast<int>(out_.size()); }
  constexpr Storage in(int i) const { return in_[detail::checked_place(i, in_.size(), op_, "input")]; }
  constexpr std::optional<Storage> out(int i) const {
    return out_[detail::checked_place(i, out_.size(), op_, "output")];
  }
  /// False when the output is already there in another storage: the operator then answers false.
  constexpr bool set_out(int i, Storage storage) {
    auto& slot = out_[detail::checked_place(i, out_.size(), op_, "output")];
    if (slot && *slot != storage) return false;
    slot = storage;
    return true;
  }
  constexpr Device device() const { return device_; }
  /// The operator whose name begins the sentence where inference asks for an input or output that the call does not
  /// have.
  constexpr void say(std::string_view op) { op_ = op; }

 private:
  Device device_;
  detail::Span<const Storage> in_;
  detail::Span<std::optional<Storage>> out_;
  std::string_view op_ = "strop";
};

}  // namespace strop::inline v0
