// SPDX-License-Identifier: Apache-2.0
/// \file
/// Members that are not called as the contract calls them: they would be passed over in silence.
///
///  1. No name of misnamed.def is a member's. Parameters, types and enumerators may have any name.
#pragma once
#include <strop/op/concepts/recognise.hpp>

namespace strop::inline v0::detail {

#define STROP_MISNAMED(wrong, right) int wrong;
struct AnyMisnomer {
#include <strop/op/concepts/misnamed.def>
};
/// As NamedMembers.
template <class T>
struct MisnamedMembers : T, AnyMisnomer {};

/// No member has such a name, not even a parameter: all are asked for at once.
#define STROP_MISNAMED(wrong, right) &MisnamedMembers<T>::wrong;
template <class T>
concept NoneMisnamed = requires {
#include <strop/op/concepts/misnamed.def>
};
#define STROP_MISNAMED(wrong, right)                                                                            \
  template <class T>                                                                                            \
  concept Misnames_##wrong = !requires { &MisnamedMembers<T>::wrong; } && !requires { typename T::wrong; } &&   \
                             !requires { requires std::is_enum_v<std::remove_cvref_t<decltype(T::wrong)>>; } && \
                             !requires { requires std::is_member_object_pointer_v<decltype(&T::wrong)>; };
#include <strop/op/concepts/misnamed.def>

}  // namespace strop::inline v0::detail
