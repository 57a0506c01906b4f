// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the arrays of a call find their parameters.
#pragma once
#include <strop/core/config.hpp>
#include <strop/op/member_infer.hpp>
#include <strop/op/place.hpp>
#include <strop/tensor/cast.hpp>

#include <bit>
#include <optional>

namespace strop::inline v0::detail {

STROP_IMPL void check_argument(std::string_view op, const Label& label, const ArgInfo& info, const NDArray& a) {
  if (a.storage() != info.storage)
    fail(op, ": ", label.text(), " is ", name_of(a.storage()), ", expected ", name_of(info.storage));
  if (a.dtype() != info.dtype)
    fail(op, ": ", label.text(), " is ", name_of(a.dtype()), ", expected ", name_of(info.dtype));
  if (info.rank != any_rank && a.ndim() != info.rank)
    fail(op, ": ", label.text(), " has shape ", a.shape(), ", expected ", info.rank,
         info.rank == 1 ? " dimension" : " dimensions");
}

/// The element type of a call is that of its first view, or else of its first whole array.
class ElementType {
 public:
  void see(const ArgInfo& info, const Placed& p) {
    if (!info.follows) return;
    const NDArray* first = p.array != nullptr ? p.array : p.many() != 0 ? &p[0] : nullptr;
    std::optional<Dtype>& type = info.whole ? whole_ : view_;
    if (!type && first != nullptr) type = first->dtype();
  }
  Dtype get() const { return view_ ? *view_ : whole_.value_or(f32); }

 private:
  std::optional<Dtype> view_, whole_;
};

/// An input whose type the member fixes comes converted: a half, or what the operator's own infer_type has let pass.
STROP_IMPL void convert_to_fixed(const ArgInfo& info, Placed& p) {
  const NDArray* a = p.array;
  if (info.follows || a == nullptr || a->dtype() == info.dtype || a->storage() != dense || !a->allocated()) return;
  p.converted = as_type(*a, info.dtype);
  p.array = &p.converted;
}

STROP_IMPL Dtype place_forward(const ForwardInfo& member, const Call& call, Span<Placed> placed) {
  const int total = call.in_count(), results = static_cast<int>(call.out.size());
  const Span<const std::string_view> names = member.names;
  ArgumentSlots inputs(0, total, member.inputs), outputs(0, results, member.outputs);
  int writes = 0;
  Index parameter = 0;  // of those for inputs
  ElementType element;
  for (Index k = 0; k < member.args.size(); ++k) {
    const ArgInfo& info = member.args[k];
    Placed& p = placed[k];
    if (info.writes && writes++ >= member.mutated) {
      const auto [at, many] = outputs.take(info);
      p.label = {"output", at, {}};
      if (info.variadic)
        p.written = call.out.subspan(at, many);
      else if (many != 0)
        p.array = &call.out[at];
    } else {
      const auto [at, many] = inputs.take(info);
      p.label = {"input", at, names.empty() ? default_input(at, total) : names[std::min(parameter, names.size() - 1)]};
      ++parameter;
      if (info.variadic) {
        p.read = call.inputs.subspan(at, many);
      } else if (many != 0) {
        p.array = &call.in(at);
        convert_to_fixed(info, p);
      }
    }
    element.see(info, p);
  }
  return element.get();
}

/// A gradient whose arguments are tagged: each is one tensor, by the position of its name.
STROP_IMPL void place_tagged(const GradientInfo& member, const Call& call, Span<Placed> placed) {
  const int total = call.in_count(), results = static_cast<int>(call.out.size());
  // Inputs that are optional stand last; the forward call may have come without them.
  const int heads = std::popcount(member.heads),
            ins = std::min(std::popcount(member.in), total - heads - std::popcount(member.out));
  for (Index k = 0; k < member.args.size(); ++k) {
    const ArgInfo& info = member.args[k];
    Placed& p = placed[k];
    p.label = {"", 0, info.name};
    const auto below = [&](std::uint64_t set) { return std::popcount(set & ((std::uint64_t{1} << info.at) - 1)); };
    if (info.role == Role::grad) {
      const int o = below(member.gives);
      if (o < results && call.request(o) != Request::null) p.array = &call.out[o];
    } else {
      const int i = info.role == Role::head ? below(member.heads)
                    : info.role == Role::in ? heads + below(member.in)
                                            : heads + ins + below(member.out);
      const bool given = info.role != Role::in || below(member.in) < ins;
      if (given && i < total && call.in(i).allocated()) p.array = &call.in(i);
    }
  }
}

/// A gradient that takes all head gradients, then all inputs or none, all outputs or none, and gives all gradients, of
/// which there is one per input that was given.
STROP_IMPL void place_natural(const GradientInfo& member, const Call& call, Span<Placed> placed) {
  const int results = static_cast<int>(call.out.size()), ins = member.of_in != 0 ? results : 0,
            rest = call.in_count() - ins, outs = member.of_out != 0 && member.open ? rest / 2 : member.of_out,
            heads = rest - outs;
  const int reads = member.of_heads + member.of_in + member.of_out;
  ArgumentSlots head(0, heads, member.of_heads), in(heads, ins, member.of_in), out(heads + ins, outs, member.of_out),
      gradient(0, results, static_cast<int>(member.args.size()) - reads);
  for (int k = 0; k < member.args.size(); ++k) {
    const ArgInfo& info = member.args[k];
    Placed& p = placed[k];
    p.label = {"argument", k, {}};
    ArgumentSlots& kind = info.writes                          ? gradient
                          : k < member.of_heads                ? head
                          : k < member.of_heads + member.of_in ? in
                                                               : out;
    const auto [at, many] = kind.take(info);
    if (info.variadic && info.writes)
      p.written = call.out.subspan(at, many);
    else if (info.variadic)
      p.read = call.inputs.subspan(at, many);
    else if (many != 0)
      p.array = info.writes ? &call.out[at] : &call.in(at);
  }
}

STROP_IMPL Dtype place_gradient(const GradientInfo& member, const Call& call, Span<Placed> placed) {
  member.tagged ? place_tagged(member, call, placed) : place_natural(member, call, placed);
  ElementType element;
  for (Index k = 0; k < member.args.size(); ++k) {
    if (!member.args[k].writes) convert_to_fixed(member.args[k], placed[k]);
    element.see(member.args[k], placed[k]);
  }
  return element.get();
}

STROP_IMPL void fail_unserved(std::string_view op, Span<const Placed> placed, DtypeSet served, Dtype given) {
  std::string what = "an argument";
  for (Index k = placed.size(); k-- > 0;)
    if (const NDArray* a = placed[k].array != nullptr ? placed[k].array
                           : placed[k].many() != 0    ? &placed[k][0]
                                                      : nullptr;
        a != nullptr && a->dtype() == given)
      what = placed[k].label.text();
  fail(op, ": ", what, " is ", name_of(given), ", expected ", one_of(with_halves(served)));
}

}  // namespace strop::inline v0::detail
