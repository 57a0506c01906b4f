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
    if (table_ != nullptr) table_->construct(data_);
  }
  ParamBox(const ParamTable* table, const void* from) : table_(table) {
    make_room();
    if (table_ != nullptr) table_->copy(data_, from);
  }
  ParamBox(const ParamBox&) = delete;
  ParamBox& operator=(const ParamBox&) = delete;
  ~ParamBox() {
    if (table_ != nullptr) table_->destroy(data_);
    if (data_ != near_) ::operator delete(data_, std::align_val_t{64});
  }
  void* get() { return data_; }
  const void* get() const { return data_; }

 private:
  void make_room() {
    data_ = near_;
    if (table_ != nullptr && (table_->size > sizeof near_ || table_->align > 16))
      data_ = ::operator new(table_->size, std::align_val_t{64});
  }
  const ParamTable* table_;
  void* data_;
  alignas(16) std::byte near_[64];
};

}  // namespace strop::inline v0::detail
