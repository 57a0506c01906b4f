// SPDX-License-Identifier: Apache-2.0
/// \file
/// How values find their places: blocks by liveness, offsets by several strategies.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/placement.hpp>

#include <algorithm>
#include <bit>

namespace strop::inline v0::detail {

/// Free and taken stretches of an arena that grows at its end, in units of the alignment. What is free lies in bins by
/// size, eight to each power of two, so that taking and giving back cost the same however many there are.
class Stretches {
 public:
  Stretches() {
    for (int& bin : bins_) bin = none;
  }
  std::int64_t end() const { return end_; }
  std::int64_t at(int stretch) const { return all_[stretch].at; }

  /// The smallest free stretch that is large enough, of those looked at; without one the arena grows.
  int take(std::int64_t size) {
    int found = best_in(bin_of(size), size);
    for (int bin = next_filled(bin_of(size) + 1); found == none && bin >= 0; bin = next_filled(bin + 1))
      found = best_in(bin, size);
    if (found == none) return grow(size);
    unlink(found);
    if (const std::int64_t rest = all_[found].size - size; rest > 0) {
      const int behind = make(all_[found].at + size, rest, found, all_[found].after);
      all_[found].size = size;
      link(behind);
    }
    all_[found].free = false;
    return found;
  }

  void give_back(int s) {
    all_[s].free = true;
    if (const int before = all_[s].before; before != none && all_[before].free) {
      unlink(before);
      s = merge(before, s);
    }
    if (const int after = all_[s].after; after != none && all_[after].free) {
      unlink(after);
      s = merge(s, after);
    }
    link(s);
  }

 private:
  static constexpr int none = -1, most_looked_at = 64;
  struct Stretch {
    std::int64_t at = 0, size = 0;
    int before = none, after = none;   // neighbours in memory
    int previous = none, next = none;  // in the bin
    bool free = false;
  };

  static int bin_of(std::int64_t size) {
    if (size < 8) return static_cast<int>(size);
    const int power = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size))) - 1;
    return (power - 2) * 8 + static_cast<int>(size >> (power - 3) & 7);
  }
  int next_filled(int bin) const {
    for (int word = bin / 64; word < 8; ++word) {
      const std::uint64_t rest = word == bin / 64 ? filled_[word] >> (bin % 64) << (bin % 64) : filled_[word];
      if (rest != 0) return word * 64 + std::countr_zero(rest);
    }
    return none;
  }
  int best_in(int bin, std::int64_t size) const {
    int best = none, looked_at = 0;
    for (int s = bins_[bin]; s != none && looked_at < most_looked_at; s = all_[s].next, ++looked_at) {
      const Stretch& here = all_[s];
      if (here.size < size) continue;
      if (best == none || here.size < all_[best].size || (here.size == all_[best].size && here.at < all_[best].at))
        best = s;
    }
    return best;
  }
  int grow(std::int64_t size) {
    const bool extends = last_ != none && all_[last_].free;
    if (extends) unlink(last_);
    const int s = extends ? last_ : make(end_, 0, last_, none);
    all_[s].size = size;
    all_[s].free = false;
    end_ = all_[s].at + size;
    return s;
  }
  int make(std::int64_t at, std::int64_t size, int before, int after) {
    int s = unused_;
    if (s != none) {
      unused_ = all_[s].next;
    } else {
      s = static_cast<int>(all_.size());
      all_.push_back({});
    }
    all_[s] = {at, size, before, after, none, none, true};
    if (before != none) all_[before].after = s;
    if (after != none)
      all_[after].before = s;
    else
      last_ = s;
    return s;
  }
  int merge(int s, int after) {
    all_[s].size += all_[after].size;
    all_[s].after = all_[after].after;
    if (all_[s].after != none)
      all_[all_[s].after].before = s;
    else
      last_ = s;
    all_[after].next = unused_;
    unused_ = after;
    return s;
  }
  void link(int s) {
    const int bin = bin_of(all_[s].size);
    all_[s].previous = none;
    all_[s].next = bins_[bin];
    if (bins_[bin] != none) all_[bins_[bin]].previous = s;
    bins_[bin] = s;
    filled_[bin / 64] |= std::uint64_t{1} << (bin % 64);
  }
  void unlink(int s) {
    const Stretch& here = all_[s];
    const int bin = bin_of(here.size);
    if (here.next != none) all_[here.next].previous = here.previous;
    if (here.previous != none)
      all_[here.previous].next = here.next;
    else
      bins_[bin] = here.next;
    if (bins_[bin] == none) filled_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
  }

  List<Stretch> all_;
  int bins_[512];
  std::uint64_t filled_[8] = {};
  int last_ = none, unused_ = none;
  std::int64_t end_ = 0;
};

/// One placement in the making.
class Placing {
 public:
  explicit Placing(const MemoryTask& task) : task_(task), steps_(static_cast<int>(task.steps.size())) {}

  Placement run() {
    find_lives();
    make_blocks();
    find_bound();
    if (blocks().empty()) return std::move(made_);
    if (task_.apart) {
      lay_apart();
    } else {
      try_order_of_execution(false);
      try_order_of_execution(true);
      try_by_size();
    }
    for (Index b = 0; b < blocks().size(); ++b) made_.blocks[b].offset = best_[b] * Placement::alignment;
    made_.bytes = smallest_ * Placement::alignment;
    made_.bound *= Placement::alignment;
    made_.unshared *= Placement::alignment;
    for (Placement::Block& block : made_.blocks) block.bytes *= Placement::alignment;
    return std::move(made_);
  }

 private:
  const List<Placement::Block>& blocks() const { return made_.blocks; }
  bool is_best() const { return smallest_ == made_.bound; }

  void find_lives() {
    const Index values = task_.bytes.size();
    for (List<int>* list : {&made_.block, &made_.first, &made_.last, &made_.in_place_of}) {
      list->resize(values);
      for (int& one : *list) one = -1;
    }
    for (int s = 0; s < steps_; ++s) {
      for (int v : task_.steps[s].writes)
        if (task_.bytes[v] > 0) made_.first[v] = made_.last[v] = s;
      for (int v : task_.steps[s].reads)
        if (made_.first[v] >= 0) made_.last[v] = s;
    }
    for (int v : task_.kept)
      if (made_.first[v] >= 0) made_.last[v] = steps_;
  }

  /// A value takes the memory of one that is read for the last time by the step that makes it.
  void make_blocks() {
    List<int> taken(task_.bytes.size(), -1), readers(task_.bytes.size());
    for (int s = 0; s < steps_ && task_.apart; ++s)  // who computes in place waits for the others
      for (int v : task_.steps[s].reads) readers[v] += made_.last[v] == s ? 0 : 1;
    for (int s = 0; s < steps_; ++s) {
      for (const MemoryTask::Share& share : task_.steps[s].shares) {
        const int in = share.in, out = share.out;
        if (made_.block[in] < 0 || made_.first[out] != s || made_.block[out] >= 0 || taken[in] >= 0) continue;
        if (made_.last[in] != s || made_.first[in] == s || task_.bytes[in] != task_.bytes[out]) continue;
        if (readers[in] > 0) continue;
        taken[in] = out;
        made_.in_place_of[out] = in;
        made_.block[out] = made_.block[in];
        made_.blocks[made_.block[out]].last = made_.last[out];
      }
      for (int v : task_.steps[s].writes) {
        if (made_.first[v] != s) continue;
        const std::int64_t units = (task_.bytes[v] + Placement::alignment - 1) / Placement::alignment;
        made_.unshared += units;
        if (made_.block[v] >= 0) continue;
        made_.block[v] = static_cast<int>(made_.blocks.size());
        made_.blocks.push_back({units, 0, s, made_.last[v]});
      }
    }
  }

  void find_bound() {
    List<std::int64_t> more(steps_ + 2);
    for (const Placement::Block& block : blocks()) {
      more[block.first] += block.bytes;
      more[block.last + 1] -= block.bytes;
    }
    std::int64_t alive = 0;
    for (std::int64_t m : more) made_.bound = std::max(made_.bound, alive += m);
  }

  void offer(List<std::int64_t>& offsets, std::string_view strategy) {
    std::int64_t end = 0;
    for (Index b = 0; b < blocks().size(); ++b) end = std::max(end, offsets[b] + blocks()[b].bytes);
    if (smallest_ >= 0 && end >= smallest_) return;
    smallest_ = end;
    made_.strategy = strategy;
    std::swap(best_, offsets);
  }

  void lay_apart() {
    List<std::int64_t> offsets;
    std::int64_t end = 0;
    for (const Placement::Block& block : blocks()) {
      offsets.push_back(end);
      end += block.bytes;
    }
    offer(offsets, "side by side");
  }

  /// Best fit step by step, from the first to the last, or the other way round.
  void try_order_of_execution(bool reversed) {
    if (smallest_ >= 0 && is_best()) return;
    const Index n = blocks().size();
    const auto begins = [&](const Placement::Block& b) { return reversed ? steps_ - b.last : b.first; };
    const auto ends = [&](const Placement::Block& b) { return reversed ? steps_ - b.first : b.last; };
    List<int> by_begin = sorted_by(begins), by_end = sorted_by(ends), stretch(n);
    List<std::int64_t> offsets(n);
    Stretches stretches;
    for (Index in = 0, out = 0; in < n; ++in) {
      const Placement::Block& block = blocks()[by_begin[in]];
      for (; out < n && ends(blocks()[by_end[out]]) < begins(block); ++out) stretches.give_back(stretch[by_end[out]]);
      const int taken = stretch[by_begin[in]] = stretches.take(block.bytes);
      offsets[by_begin[in]] = stretches.at(taken);
    }
    offer(offsets, reversed ? "in reverse order of execution" : "in order of execution");
  }

  /// The blocks by a step, those of one step in their own order.
  template <class Step>
  List<int> sorted_by(Step step) const {
    List<int> behind(steps_ + 2), sorted(blocks().size());
    for (const Placement::Block& block : blocks()) ++behind[step(block) + 1];
    for (int s = 0; s <= steps_; ++s) behind[s + 1] += behind[s];
    for (int b = 0; b < static_cast<int>(blocks().size()); ++b) sorted[behind[step(blocks()[b])]++] = b;
    return sorted;
  }

  /// The largest first, each in the smallest gap between those that live at the same time. Then, while it takes little
  /// time, again with the block that reaches the end of the arena before all others.
  void try_by_size() {
    const Index n = blocks().size();
    if (is_best() || n > most_compared) return;
    List<int> order(n);
    for (int b = 0; b < static_cast<int>(n); ++b) order[b] = b;
    const auto area = [](const Placement::Block& b) { return b.bytes * (b.last - b.first + 1); };
    std::int64_t comparisons = 0;
    for (const bool by_area : {false, true}) {
      std::sort(order.begin(), order.end(), [&](int x, int y) {
        const Placement::Block &a = blocks()[x], &b = blocks()[y];
        const std::int64_t p = by_area ? area(a) : a.bytes, q = by_area ? area(b) : b.bytes;
        if (p != q) return p > q;
        const int length_a = a.last - a.first, length_b = b.last - b.first;
        return length_a != length_b ? length_a > length_b : x < y;
      });
      List<int> changed = order;
      std::int64_t reached = -1;
      while (comparisons < (by_area ? budget : budget / 2)) {
        comparisons += n * n / 2 + n;
        List<std::int64_t> offsets = placed_in(changed);
        Index top = 0;
        for (Index i = 1; i < n; ++i)
          if (end_of(changed[i], offsets) > end_of(changed[top], offsets)) top = i;
        const std::int64_t end = end_of(changed[top], offsets);
        offer(offsets, by_area ? "by bytes times steps" : "by bytes");
        if (is_best()) return;
        if (top == 0 || (reached >= 0 && end > reached)) break;
        reached = end;
        std::rotate(changed.begin(), changed.begin() + top, changed.begin() + top + 1);
      }
    }
  }
  std::int64_t end_of(int b, const List<std::int64_t>& offsets) const { return offsets[b] + blocks()[b].bytes; }

  List<std::int64_t> placed_in(const List<int>& order) const {
    struct Lying {
      std::int64_t at, end;
      int first, last;
    };
    List<Lying> placed;  // by offset
    List<std::int64_t> offsets(order.size());
    for (int b : order) {
      const Placement::Block& block = blocks()[b];
      std::int64_t end = 0, at = -1, smallest = 0;
      for (const Lying& other : placed) {
        if (other.first > block.last || other.last < block.first) continue;
        if (const std::int64_t gap = other.at - end; gap >= block.bytes && (at < 0 || gap < smallest)) {
          at = end;
          smallest = gap;
        }
        end = std::max(end, other.end);
      }
      if (at < 0) at = end;
      offsets[b] = at;
      placed.push_back({at, at + block.bytes, block.first, block.last});
      for (Index i = placed.size() - 1; i > 0 && placed[i - 1].at > placed[i].at; --i)
        std::swap(placed[i - 1], placed[i]);
    }
    return offsets;
  }

  static constexpr Index most_compared = 3000;
  static constexpr std::int64_t budget = 1'500'000;

  const MemoryTask& task_;
  const int steps_;
  Placement made_;
  List<std::int64_t> best_;     // offsets in units of the alignment
  std::int64_t smallest_ = -1;  // arena, in the same
};

STROP_IMPL Placement place_values(const MemoryTask& task) { return Placing(task).run(); }

/// Which block was the last to lie where. Offsets are numbered through, so that the parts of the arena that have one
/// owner are known by the number at which they begin.
class Owners {
 public:
  explicit Owners(const Placement& placement) {
    for (const Placement::Block& block : placement.blocks)
      for (std::int64_t at : {block.offset, block.offset + block.bytes}) borders_.push_back(at);
    std::sort(borders_.begin(), borders_.end());
    borders_.resize(std::unique(borders_.begin(), borders_.end()) - borders_.begin());
    owner_ = List<int>(borders_.size(), -1);
    begins_.resize(borders_.size() / 64 + 1);
    begins_[0] = 1;
  }

  /// `block` is the owner from now on; `tell(before)` of each that it takes bytes from.
  template <class Tell>
  void take(const Placement::Block& block, int number, Tell tell) {
    const Index from = split(block.offset), to = split(block.offset + block.bytes);
    for (Index i = from; i < to; i = next(i + 1)) {
      if (owner_[i] >= 0 && owner_[i] != number) tell(owner_[i]);
      if (i != from) begins_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
    }
    owner_[from] = number;
  }

 private:
  /// Makes a part begin at the offset.
  Index split(std::int64_t offset) {
    const Index at = std::lower_bound(borders_.begin(), borders_.end(), offset) - borders_.begin();
    Index word = at / 64;
    std::uint64_t bits = begins_[word] << (63 - at % 64) >> (63 - at % 64);
    while (bits == 0) bits = begins_[--word];
    const Index before = word * 64 + 63 - std::countl_zero(bits);
    if (before != at) owner_[at] = owner_[before];
    begins_[at / 64] |= std::uint64_t{1} << (at % 64);
    return at;
  }
  Index next(Index i) const {
    for (Index word = i / 64; word < begins_.size(); ++word) {
      const std::uint64_t bits = word == i / 64 ? begins_[word] >> (i % 64) << (i % 64) : begins_[word];
      if (bits != 0) return word * 64 + std::countr_zero(bits);
    }
    return borders_.size();
  }

  List<std::int64_t> borders_;
  List<int> owner_;
  List<std::uint64_t> begins_;  // a bit for each border: a part begins there
};

STROP_IMPL List<Takeover> takeovers(const Placement& placement, int forward) {
  List<Takeover> found;
  if (placement.blocks.empty()) return found;
  Owners owners(placement);
  // Forward twice and backward twice bring about every way in which one of them follows another.
  for (const bool ahead : {true, true, false, false, true})
    for (int b = 0; b < static_cast<int>(placement.blocks.size()); ++b) {
      const Placement::Block& block = placement.blocks[b];
      if ((block.first < forward) == ahead)
        owners.take(block, b, [&](int before) { found.push_back({block.first, b, before}); });
    }
  const auto key = [](const Takeover& t) { return std::uint64_t(t.later) << 32 | std::uint32_t(t.earlier); };
  std::sort(found.begin(), found.end(), [&](const Takeover& a, const Takeover& b) { return key(a) < key(b); });
  found.resize(
      std::unique(found.begin(), found.end(), [&](const Takeover& a, const Takeover& b) { return key(a) == key(b); }) -
      found.begin());
  return found;
}

STROP_IMPL bool overwrites_inputs(const Placement& placement, int forward) {
  struct Lies {
    std::int64_t at, end;
    bool kept;
  };
  List<Lies> parts;
  for (const Placement::Block& block : placement.blocks)
    if (block.last >= forward) parts.push_back({block.offset, block.offset + block.bytes, block.first < forward});
  for (Index v = 0; v < placement.block.size(); ++v)  // a gradient in place of a value that was kept for it
    if (placement.in_place_of[v] >= 0 && placement.first[v] >= forward &&
        placement.blocks[placement.block[v]].first < forward)
      return true;
  std::sort(parts.begin(), parts.end(), [](const Lies& a, const Lies& b) { return a.at < b.at; });
  std::int64_t kept_to = 0, written_to = 0;
  for (const Lies& part : parts) {
    if (part.at < (part.kept ? written_to : kept_to)) return true;
    std::int64_t& to = part.kept ? kept_to : written_to;
    to = std::max(to, part.end);
  }
  return false;
}

}  // namespace strop::inline v0::detail
