// SPDX-License-Identifier: Apache-2.0
/// \file
/// How parts of an arena are made and given back, and how one follows another.
#pragma once
#include <strop/core/config.hpp>
#include <strop/engine/engine.hpp>
#include <strop/engine/sync.hpp>
#include <strop/tensor/arena.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/variable.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace strop::inline v0::detail {

/// What a part gives back: its share of the arena.
struct Arena::Place : memory::Recycled<Place> {
  Place(Ref<Arena> a, std::int64_t o, std::int64_t b) : arena(std::move(a)), offset(o), bytes(b) {
    arena->open(offset, bytes);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { arena->close(offset, bytes); }

  Ref<Arena> arena;
  std::int64_t offset, bytes;
};

STROP_IMPL Arena::Arena(Ref<Buffer> memory) : memory_(std::move(memory)) {
  if (!memory::detail::guards_memory() || device().kind != DeviceKind::cpu) return;
  parts_.resize((bytes() + alignment - 1) / alignment);
  memory::detail::poison(address(), bytes());
}

STROP_IMPL Arena::~Arena() {
  if (!parts_.empty()) memory::detail::unpoison(address(), bytes());
}

STROP_IMPL void Arena::open(std::int64_t offset, std::int64_t bytes) {
  if (parts_.empty()) return;
  const Hold held(counting_);
  for (std::int64_t at = offset / alignment; at * alignment < offset + bytes; ++at) ++parts_[at];
  memory::detail::unpoison(address() + offset, bytes);
}

STROP_IMPL void Arena::close(std::int64_t offset, std::int64_t bytes) noexcept {
  if (parts_.empty()) return;
  const Hold held(counting_);
  const std::int64_t end = offset + bytes;
  for (std::int64_t at = offset / alignment; at * alignment < end; ++at)
    if (--parts_[at] == 0) {
      const std::int64_t from = at * alignment, rest = this->bytes() - from;
      memory::detail::poison(address() + from, rest < alignment ? rest : alignment);
    }
}

STROP_IMPL Ref<Buffer> Arena::part(const Ref<Arena>& arena, std::int64_t offset, std::int64_t bytes) {
  if (offset < 0 || bytes < 0 || bytes > arena->bytes() || offset > arena->bytes() - bytes)
    fail("arena: a part of ", bytes, " bytes at ", offset, ", expected to lie in ", arena->bytes(), " bytes");
  if (offset % alignment != 0) fail("arena: a part at byte ", offset, ", expected a multiple of ", alignment);
  auto* const place = new Place(arena, offset, bytes);
  const Buffer::Release give_back = [](void* context, void*) noexcept { delete static_cast<Place*>(context); };
  try {
    return Ref(new Buffer(*arena->memory_, bytes, arena->address() + offset, give_back, place));
  } catch (...) {
    delete place;
    throw;
  }
}

STROP_IMPL NDArray array_in(const Ref<Arena>& arena, std::int64_t offset, const Shape& shape, Dtype dtype) {
  NDArray a = NDArray::shell(shape, dtype, arena->device());
  a.body().buffer = Arena::part(arena, offset, byte_count(shape, dtype));
  return a;
}

/// Two ends that meet: what was asked of the earlier buffer is complete, and the later one's turn has come.
class Meeting : public Counted {
 public:
  void come() noexcept {
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_();
  }
  void come_with(EngineDone done) noexcept {
    done_ = std::move(done);
    come();
  }

 private:
  std::atomic<int> missing_{2};
  EngineDone done_;
};

STROP_IMPL void follow(Buffer& later, const Buffer& earlier) {
  Pending* const before = earlier.pending();
  if (before == nullptr || !before->busy()) return;
  Pending* own = later.pending();
  if (own == nullptr) own = &later.order(order_on_engine());
  if (own == before) return;
  // Updates what came before: it waits for readers, too, and leaves a failure where it is, which an overwrite would
  // heal. Its end, which a failure does not keep from coming, is what counts.
  class End final : public Pending::Work {
   public:
    explicit End(Ref<Meeting> meeting) : meeting_(std::move(meeting)) {}
    ~End() override { meeting_->come(); }

   private:
    Ref<Meeting> meeting_;
  };
  const Ref<Meeting> meeting(new Meeting);
  before->run({&before, 1}, {&before, 1}, "hand over", {}, Ref<Pending::Work>(new End(meeting)));
  const Engine::Variable& variable = variable_of(*own);
  Engine::global().push_async([meeting](Engine::Done done) { meeting->come_with(std::move(done)); },
                              {.writes = {variable}, .name = "take over"});
}

}  // namespace strop::inline v0::detail
