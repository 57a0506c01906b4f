// SPDX-License-Identifier: Apache-2.0
/// \file
/// The gradients of a call as autograd asks for them: in float32, added to what is there, and of some inputs only.
#pragma once
#include <strop/core/span.hpp>
#include <strop/verify/checks.hpp>

#include <cstring>
#include <optional>

namespace strop::inline v0::verify {
inline namespace helpers {

/// What is asked of each input's gradient; nothing where it can have none.
using Asked = std::vector<std::optional<GradRequest>>;

STROP_VERIFY_IMPL Asked every_input(const Subject& s, GradRequest request) {
  Asked asked;
  for (const NDArray& a : s.in)
    asked.push_back(a.storage() == dense && is_floating(a.dtype()) ? std::optional(request) : std::nullopt);
  for (int i : s.signature().mutated) strop::detail::element(asked, i).reset();
  return asked;
}

STROP_VERIFY_IMPL bool asks_for_any(const Asked& asked) {
  for (const auto& one : asked)
    if (one && *one != GradRequest::null) return true;
  return false;
}

/// Head gradients that differ from element to element, and that every floating type holds exactly.
STROP_VERIFY_IMPL NDArray head_of(const NDArray& y) {
  NDArray head(y.shape(), f64);
  for (std::int64_t i = 0; i < head.size(); ++i)
    head.pointer<double>()[i] = 0.5 + static_cast<double>((i * 7919 + 13) % 101) / 64.0;
  return with_dtype(head, y.dtype());
}

/// The gradients of the inputs, empty where none was asked for. What is added to was `before`.
STROP_VERIFY_IMPL Arrays backward_of(const Subject& s, const Arrays& in, const Asked& asked, double before = 0) {
  Arrays x, y, heads, out;
  for (std::size_t k = 0; k < in.size(); ++k) {
    x.push_back(in[k].copy());
    if (!asked[k]) continue;
    x[k].attach_grad(*asked[k]);
    const NDArray start = full(x[k].shape(), before, x[k].dtype());
    if (*asked[k] == GradRequest::add && start.size() != 0)
      detail::copy_bytes(x[k].grad().bytes(), start.bytes(), start.size() * size_of(start.dtype()));
  }
  {
    record scope;
    y = call(s, x);
  }
  const int visible = detail::count_outputs(*s.entry, s.op(), static_cast<int>(in.size())).second;
  y.resize(static_cast<std::size_t>(visible));
  std::erase_if(y, [](const NDArray& a) { return !is_floating(a.dtype()); });
  for (const NDArray& a : y) heads.push_back(head_of(a));
  backward(y, heads);
  for (const NDArray& a : x) out.push_back(a.grad());
  return out;
}

}  // namespace helpers

STROP_VERIFY_IMPL void gradient_requests(Findings& found, const Subject& s, double loose) {
  if (s.entry->gradient.entry == nullptr && s.entry->gradient.compose == nullptr) return;
  const Asked all = every_input(s, GradRequest::write);
  if (!asks_for_any(all)) return;
  const Tolerance close{2e-5 * loose, 1e-5 * loose};
  const Arrays wide = with_dtype(with_dtype(s.in, f32), f64);
  const Arrays expected = backward_of(s, wide, all);
  for (const Dtype type : {f64, f32}) {
    const Arrays in = with_dtype(wide, type);
    const std::string on = cat(" on ", name_of(type));
    const auto compare = [&](const std::string& way, const Arrays& got, const Asked& asked, double before) {
      for (std::size_t k = 0; k < got.size(); ++k) {
        if (!asked[k]) continue;
        if (*asked[k] == GradRequest::null) {
          found.expect(s, way, got[k].defined() ? cat("input ", k, " has a gradient that nobody asked for") : "");
          continue;
        }
        std::vector<double> wanted = values(expected[k]);
        for (double& x : wanted) x += before;
        const std::string wrong = difference(got[k], wanted, expected[k].shape(), close);
        found.expect(s, way, wrong.empty() ? "" : cat("input ", k, ", ", wrong));
      }
    };
    if (type != f64) compare(cat("gradient", on), backward_of(s, in, all), all, 0);
    const Asked added = every_input(s, GradRequest::add);
    compare(cat("gradient added", on), backward_of(s, in, added, 3), added, 3);
    for (std::size_t k = 0; k < in.size() && in.size() > 1; ++k) {
      Asked some = all;
      if (!some[k]) continue;
      some[k] = GradRequest::null;
      if (asks_for_any(some)) compare(cat("gradient without input ", k, "'s", on), backward_of(s, in, some), some, 0);
    }
  }
}

STROP_VERIFY_IMPL void gradient_inplace(Findings& found, const Subject& s) {
  const Entry* const entry = s.entry->gradient.entry;
  if (entry == nullptr || entry->is_map() || entry->inplace.empty() || s.entry->cpu.make_state != nullptr) return;
  const record scope;  // as in training: some operators have another gradient then
  const Arrays y = call(s);
  const strop::detail::GradientRoles roles =
      strop::detail::gradient_roles(s.entry->gradient, std::ssize(s.in), std::ssize(y));
  Arrays takes, shells;
  for (const auto& [role, at] : roles.takes) {
    const NDArray& a = strop::detail::element(role == strop::detail::Role::in ? s.in : y, at);
    if (a.storage() != dense || (role == strop::detail::Role::head && !is_floating(a.dtype()))) return;
    takes.push_back(role == strop::detail::Role::head ? head_of(a) : a);
  }
  std::vector<Request> requests;
  for (const int i : roles.gives) {
    const NDArray& x = strop::detail::element(s.in, i);
    shells.push_back(strop::detail::shell_of(x, dense));
    requests.push_back(is_floating(x.dtype()) ? Request::write : Request::null);
  }
  const auto run = [&](const Arrays& in, Arrays out) {
    strop::detail::List<const NDArray*> arguments;
    for (const NDArray& a : in) arguments.push_back(&a);
    strop::detail::dispatch(*entry, s.op(), arguments.span(), out, requests);
    return out;
  };
  const auto fresh = [&] {
    Arrays out;
    for (const NDArray& shell : shells) out.push_back(strop::detail::shell_of(shell, dense));
    return out;
  };
  const Arrays expected = run(takes, fresh());
  for (const Share& share : entry->inplace) {
    if (share.input >= std::ssize(takes) || share.output >= std::ssize(shells)) continue;
    const NDArray &argument = strop::detail::element(takes, share.input),
                  &gradient = strop::detail::element(shells, share.output);
    if (strop::detail::element(requests, share.output) == Request::null || argument.shape() != gradient.shape() ||
        argument.dtype() != gradient.dtype())
      continue;
    Arrays in, out = fresh();
    for (const NDArray& a : takes) in.push_back(a.copy());
    strop::detail::element(out, share.output) = strop::detail::element(in, share.input);
    const Arrays got = run(in, out);
    for (std::size_t k = 0; k < got.size(); ++k)
      if (requests[k] != Request::null)
        found.expect(s, cat("gradient ", share.output, " in argument ", share.input),
                     difference(got[k], expected[k], {0, 0}));
  }
}

}  // namespace strop::inline v0::verify
