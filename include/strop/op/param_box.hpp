// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parameters of an operator that is known only at run time.
#pragma once
#include <strop/core/params.hpp>
#include <strop/core/ref.hpp>
#include <strop/memory/small.hpp>

#include <cstddef>
#include <new>

namespace strop::inline v0::detail {

/// An object that holds an operator's parameters, of a type known only at run time.
class ParamBox : public Counted, public memory::Recycled<ParamBox> {
 public:
  explicit ParamBox(const ParamTable* table) : table_(table) {
    make_room();
    if (table_ != nullptr) table_->construct(*table_, data_);
  }
  ParamBox(const ParamTable* table, const void* from) : table_(table) {
    make_room();
    if (table_ != nullptr) table_->copy(*table_, data_, from);
  }
  ParamBox(const ParamBox&) = delete;
  ParamBox& operator=(const ParamBox&) = delete;
  ~ParamBox() {
    if (table_ == nullptr) return;
    table_->destroy(*table_, data_);
    std::byte* const room = static_cast<std::byte*>(data_) - table_->before;
    if (room != near_) ::operator delete(room, std::align_val_t{64});
  }
  void* get() { return data_; }
  const void* get() const { return data_; }

 private:
  void make_room() {
    data_ = near_;
    if (table_ == nullptr) return;
    const std::size_t size = table_->before + table_->size;
    std::byte* room = near_;
    if (size > sizeof near_ || table_->align > 16)
      room = static_cast<std::byte*>(::operator new(size, std::align_val_t{64}));
    data_ = room + table_->before;
  }
  const ParamTable* table_;
  void* data_;
  alignas(16) std::byte near_[128];  // which most operators' parameters fit, shapes among them
};

}  // namespace strop::inline v0::detail
