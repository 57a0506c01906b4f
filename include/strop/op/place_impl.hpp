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
  int in = 0, out = 0, writes = 0;
  ElementType element;
  for (Index k = 0; k < member.args.size(); ++k) {
    const ArgInfo& info = member.args[k];
    Placed& p = placed[k];
    if (info.writes && writes++ >= member.mutated) {
      p.label = {"output", out, {}};
      if (info.variadic) {
        p.written = call.out.subspan(out);
        out = results;
      } else if (out < results) {
        p.array = &call.out[out++];
      }
    } else {
      p.label = {"input", in, names.empty() ? default_input(in, total) : names[std::min(Index{in}, names.size() - 1)]};
      if (info.variadic) {
        const int many = total - (member.inputs - 1);
        p.read = call.inputs.subspan(in, many);
        in += many;
      } else if (in < total) {
        p.array = &call.in(in++);
        convert_to_fixed(info, p);
      }
    }
    element.see(info, p);
  }
  return element.get();
}

STROP_IMPL Dtype place_gradient(const GradientInfo& member, const Call& call, Span<Placed> placed) {
  const int total = call.in_count(), results = static_cast<int>(call.out.size());
  // Inputs that are optional stand last; the forward call may have come without them.
  const int heads = std::popcount(member.heads),
            ins = std::min(std::popcount(member.in), total - heads - std::popcount(member.out));
  int next_in = 0, next_out = 0;
  ElementType element;
  for (Index k = 0; k < member.args.size(); ++k) {
    const ArgInfo& info = member.args[k];
    Placed& p = placed[k];
    p.label = info.tagged ? Label{"", 0, info.name} : Label{"argument", static_cast<int>(k), {}};
    if (member.tagged) {
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
    } else if (info.writes) {
      if (info.variadic)
        p.written = call.out.subspan(next_out);
      else if (next_out < results)
        p.array = &call.out[next_out++];
    } else if (info.variadic) {
      const int many = total - heads - member.outputs;
      p.read = call.inputs.subspan(next_in, many);
      next_in += many;
    } else if (next_in < total) {
      p.array = &call.in(next_in++);
    }
    if (!info.writes) convert_to_fixed(info, p);
    element.see(info, p);
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
