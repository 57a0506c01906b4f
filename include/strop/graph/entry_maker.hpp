// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators that stand in no registry: whoever makes their nodes makes an entry for each, which its parameters keep.
#pragma once
#include <strop/op/entry.hpp>
#include <strop/op/param_box.hpp>

#include <atomic>
#include <span>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// Makes the entry of a node that a file has, from the node's attributes.
struct EntryMaker {
  struct Made {
    const Entry* entry;
    Ref<ParamBox> params;  // which keep the entry
  };
  std::string_view op;  // what files call such nodes
  Made (*make)(std::span<const std::pair<std::string_view, std::string_view>> attributes);
  bool (*made)(const Entry& entry);  // whether an entry comes from here
};

/// That of the program; a constant, or none.
inline constinit std::atomic<const EntryMaker*> entry_maker{nullptr};

}  // namespace strop::inline v0::detail
