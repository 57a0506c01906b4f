// SPDX-License-Identifier: Apache-2.0
/// \file
/// How workers add up, and find out that they are not at the same call.
#pragma once
#include <strop/core/config.hpp>
#include <strop/kvstore/compression.hpp>
#include <strop/kvstore/exchange.hpp>
#include <strop/kvstore/reduce.hpp>

#include <algorithm>

namespace strop::inline v0::detail {

STROP_IMPL WaitingThread::~WaitingThread() {
  if (!started_ || process_ != fork_mark.load(std::memory_order_relaxed)) return;
  hand(nullptr);
  thread_.join();
}
STROP_IMPL void WaitingThread::hand(Work* work) {
  work_ = work;
  if (!started_) {
    started_ = thread_.start(
        [](void* self) -> void* {
          static_cast<WaitingThread*>(self)->loop();
          return nullptr;
        },
        this);
    process_ = fork_mark.load(std::memory_order_relaxed);
    if (!started_) return work->run();  // the system has no thread left: the engine's waits
  }
  ready_.release();
}
STROP_IMPL void WaitingThread::loop() {
  for (;;) {
    ready_.acquire();
    if (work_ == nullptr) return;
    work_->run();
  }
}

inline std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

STROP_IMPL void MeteredTransport::exchange(Span<const Message> sends, Span<const Message> receives,
                                           std::string_view what) {
  inner_->exchange(sends, receives, what);
  std::int64_t out = 0, in = 0;
  for (const Message& m : sends) out += m.size;
  for (const Message& m : receives) in += m.received != nullptr ? *m.received : m.size;
  traffic_->sent.fetch_add(out, std::memory_order_relaxed);
  traffic_->received.fetch_add(in, std::memory_order_relaxed);
}
STROP_IMPL Ref<Transport> MeteredTransport::apart() {
  return Ref<Transport>(new MeteredTransport(inner_->apart(), traffic_));
}
STROP_IMPL int MeteredTransport::receive_any(List<std::byte>& message, const std::atomic<bool>& stop) {
  const int worker = inner_->receive_any(message, stop);
  if (worker >= 0) traffic_->received.fetch_add(message.size(), std::memory_order_relaxed);
  return worker;
}
STROP_IMPL void MeteredTransport::give_up(const std::string& why) { inner_->give_up(why); }

STROP_IMPL Exchange::Exchange(Ref<Transport> transport)
    : traffic_(new Traffic),
      transport_(new MeteredTransport(std::move(transport), traffic_)),
      wire_(Engine::global().variable()),
      waiting_(transport_->size()) {}
STROP_IMPL Exchange::~Exchange() {
  try {
    Engine::global().wait_idle(wire_);
  } catch (...) {  // whoever looks at a result is told
  }
}

/// After a failure workers no longer know where the others are.
template <class F>
void Exchange::guarded(F&& f) {
  {
    const Hold hold(failure_lock_);
    if (!failure_.empty()) fail(failure_);
  }
  try {
    const std::int64_t began = nanoseconds();
    f();
    const Hold hold(times_lock_);
    exchanging_ += nanoseconds() - began;
  } catch (const std::exception& e) {
    end(e.what());
    throw;
  }
}
STROP_IMPL ExchangeTimes Exchange::times() {
  ExchangeTimes made{
      traffic_->sent.load(std::memory_order_relaxed), traffic_->received.load(std::memory_order_relaxed), 0, {}};
  const Hold hold(times_lock_);
  made.exchanging = exchanging_;
  made.waiting = waiting_;
  return made;
}
STROP_IMPL void Exchange::end(const std::string& why) {
  const Hold hold(failure_lock_);
  if (failure_.empty()) failure_ = why;
}
STROP_IMPL bool Exchange::has_failed() {
  const Hold hold(failure_lock_);
  return !failure_.empty();
}

template <class F>
void Exchange::now(F&& f) {
  try {
    Engine::global().wait_idle(wire_);
    guarded(f);
  } catch (...) {
    told_ = true;
    throw;
  }
}

template <class F>
void Exchange::in_turn(Span<const NDArray> reads, Span<const NDArray> writes, int priority, F f) {
  if (call_mode.operation != nullptr)
    fail(
        "KVStore: a distributed store is not used inside an operation of the engine, whose order is not the same on "
        "all workers");
  if (Engine::idle(wire_) && !is_for_engine(reads, writes)) return now(f);
  struct Waiting final : WaitingThread::Work {
    Waiting(Exchange* of, F work, Engine::Done whole) : exchange(of), f(std::move(work)), done(std::move(whole)) {}
    void run() noexcept override {
      std::exception_ptr error;
      try {
        exchange->guarded(f);
      } catch (...) {
        error = std::current_exception();
      }
      const Engine::Done last = std::move(done);
      delete this;  // before the arrays that it holds are known to be free
      last(std::move(error));
    }
    Exchange* exchange;
    F f;
    Engine::Done done;
  };
  ArrayUses uses;
  for (const NDArray& a : reads) uses.read(a);
  for (const NDArray& a : writes) uses.write(a);
  uses.reads.push_back(wire_);
  uses.writes.push_back(wire_);
  Engine::global().push_async(
      [this, f = std::move(f)](Engine::Done done) { thread_.hand(new Waiting(this, f, std::move(done))); },
      {.reads = uses.reads, .writes = uses.writes, .name = "kvstore_exchange", .priority = priority});
  if (uses.foreign)
    for (const EngineVariable& v : uses.reads) Engine::global().wait_idle(v);
}

STROP_IMPL Exchange::Header Exchange::header(Kind kind, const std::string& key, const NDArray* like,
                                             Index count) const {
  Header made;
  made.kind = kind;
  made.number = number_;
  made.key = text_hash(key);
  made.count = count;
  if (like != nullptr) {
    made.shape = text_hash(to_text(like->shape()));
    made.dtype = static_cast<std::int32_t>(like->dtype()) + 1;
  }
  return made;
}

STROP_IMPL void Exchange::greet(Header own, const std::string& what, Span<const std::byte> payload, std::byte* others,
                                List<Header>& all) {
  const Index workers = size(), room = Index{sizeof(Header)} + most_together;
  List<std::byte> mine(Index{sizeof(Header)} + payload.size()), theirs(workers * room);
  own.waited = waiting_[rank()];  // one exchange at a time is under way, and only exchanges write it
  copy_bytes(mine.data(), &own, Index{sizeof(Header)});
  if (!payload.empty()) copy_bytes(mine.data() + sizeof(Header), payload.data(), payload.size());
  List<Index> received(workers);
  List<Transport::Message> sends, receives;
  for (int k = 0; k < workers; ++k) {
    if (k == rank()) continue;
    sends.push_back({k, mine.data(), mine.size(), nullptr});
    receives.push_back({k, theirs.data() + k * room, room, &received[k]});
  }
  const std::int64_t began = nanoseconds();
  transport_->exchange(sends, receives, what);
  const std::int64_t waited = own.waited + nanoseconds() - began;
  all.resize(workers);
  for (int k = 0; k < workers; ++k) {
    if (k == rank()) {
      all[k] = own;
      if (!payload.empty()) copy_bytes(others + k * payload.size(), payload.data(), payload.size());
      continue;
    }
    Header& got = all[k];
    if (received[k] < Index{sizeof(Header)}) fail("KVStore: worker ", k, " sent no header before ", what);
    copy_bytes(&got, theirs.data() + k * room, Index{sizeof(Header)});
    if (got.magic != own.magic) fail("KVStore: worker ", k, " runs another version of strop than worker ", rank());
    if (got.kind != own.kind || got.number != own.number || got.key != own.key)
      fail("KVStore: worker ", k, " is at another call than worker ", rank(), ", which is at ", what,
           ": all workers make the same calls in the same order");
    if (got.shape != own.shape || got.dtype != own.dtype)
      fail("KVStore: ", what, ": the array of worker ", k, " has another shape or type than that of worker ", rank());
    if (received[k] != mine.size())
      fail("KVStore: ", what, ": worker ", k, " sent ", received[k], " bytes, expected ", mine.size());
    if (!payload.empty())
      copy_bytes(others + k * payload.size(), theirs.data() + k * room + sizeof(Header), payload.size());
  }
  const Hold hold(times_lock_);
  for (int k = 0; k < workers; ++k) waiting_[k] = k == rank() ? waited : all[k].waited;
}

/// Small arrays go to everyone with the header. Of large ones each worker adds up a part and gives it to the others, so
/// that each sends and receives about twice the array, however many they are.
STROP_IMPL void Exchange::add_all(Header own, const std::string& what, const NDArray& from, const NDArray& total) {
  const Index workers = size(), n = total.size(), bytes = size_of(total.dtype());
  List<Header> all;
  List<const std::byte*, 8> terms(workers);
  if (n * bytes <= most_together) {
    List<std::byte> theirs(workers * n * bytes);
    greet(own, what, {from.address(), n * bytes}, theirs.data(), all);
    for (Index k = 0; k < workers; ++k) terms[k] = theirs.data() + k * n * bytes;
    return sum_memory(total.dtype(), terms.span(), total.address(), n);
  }
  greet(own, what, {}, nullptr, all);
  const Index part = (n + workers - 1) / workers;
  const auto begin = [&](Index k) { return std::min(n, k * part); };
  const auto count = [&](Index k) { return begin(k + 1) - begin(k); };
  const Index me = rank(), mine = count(me);
  const NDArray theirs = NDArray::fresh(Shape{std::max<Index>(1, workers * mine)}, total.dtype());
  List<Transport::Message> sends, receives;
  for (int k = 0; k < workers; ++k) {
    std::byte* const place = theirs.address() + k * mine * bytes;
    terms[k] = k == me ? from.address() + begin(me) * bytes : place;
    if (k == me) continue;
    sends.push_back({k, from.address() + begin(k) * bytes, count(k) * bytes, nullptr});
    receives.push_back({k, place, mine * bytes, nullptr});
  }
  transport_->exchange(sends, receives, what);
  std::byte* const sum = total.address() + begin(me) * bytes;
  sum_memory(total.dtype(), terms.span(), sum, mine);
  sends.clear(), receives.clear();
  for (int k = 0; k < workers; ++k) {
    if (k == me) continue;
    sends.push_back({k, sum, mine * bytes, nullptr});
    receives.push_back({k, total.address() + begin(k) * bytes, count(k) * bytes, nullptr});
  }
  transport_->exchange(sends, receives, what);
}

STROP_IMPL void Exchange::gather(Span<const std::byte> own, Span<const Index> sizes, Span<std::byte* const> to,
                                 const std::string& what) {
  List<Transport::Message> sends, receives;
  for (int k = 0; k < size(); ++k) {
    if (k == rank()) continue;
    sends.push_back({k, const_cast<std::byte*>(own.data()), own.size(), nullptr});
    receives.push_back({k, to[k], sizes[k], nullptr});
  }
  transport_->exchange(sends, receives, what);
}

STROP_IMPL void Exchange::add_all_packed(Header own, const std::string& what, const NDArray& packed, float threshold,
                                         const NDArray& total) {
  const Index workers = size(), bytes = packed.size() * 4;
  List<Header> all;
  greet(own, what, {}, nullptr, all);
  const NDArray theirs = NDArray::fresh(Shape{std::max<Index>(1, workers * packed.size())}, f32);
  List<std::byte*> to(workers);
  List<const std::byte*> terms(workers);
  for (Index k = 0; k < workers; ++k) terms[k] = to[k] = k == rank() ? packed.address() : theirs.address() + k * bytes;
  gather({packed.address(), bytes}, List<Index>(workers, bytes).span(), to.span(), what);
  dequantize_2bit(terms.span(), threshold, reinterpret_cast<float*>(total.address()), total.size());
}

STROP_IMPL NDArray Exchange::sum(const NDArray& own, const std::string& key, int priority) {
  if (size() == 1) return own;
  ++number_;
  const NDArray total = NDArray::fresh(own.shape(), own.dtype());
  in_turn({&own, 1}, {&total, 1}, priority,
          [this, said = header(add, key, &own, 0), what = cat("push of '", key, "'"), own, total] {
            add_all(said, what, own, total);
          });
  return total;
}

STROP_IMPL NDArray Exchange::sum_packed(const NDArray& packed, const NDArray& like, float threshold,
                                        const std::string& key, int priority) {
  ++number_;
  const NDArray total = NDArray::fresh(like.shape(), f32);
  in_turn({&packed, 1}, {&total, 1}, priority,
          [this, said = header(add_packed, key, &like, 0), what = cat("push of '", key, "'"), packed, threshold,
           total] { add_all_packed(said, what, packed, threshold, total); });
  return total;
}

STROP_IMPL NDArray Exchange::sum_stored_rows(const NDArray& own, const std::string& key) {
  if (size() == 1) return own;
  ++number_;
  const NDArray sorted = with_wide_indices(merged(own));
  NDArray total;
  now([&] {
    const std::string what = cat("push of '", key, "'");
    List<Header> all;
    greet(header(add_rows, key, &own, sorted.nnz()), what, {}, nullptr, all);
    const Index width = own.shape().size(1, own.ndim()) * size_of(own.dtype());
    List<NDArray> terms;
    List<Index> indices(size()), values(size());
    List<std::byte*> to_indices(size()), to_values(size());
    for (Index k = 0; k < size(); ++k) {
      const Index rows = all[k].count;
      if (rows < 0 || rows > own.shape()[0])
        fail("KVStore: ", what, ": worker ", k, " has ", rows, " rows, expected 0 to ", own.shape()[0]);
      if (k == rank()) {
        terms.push_back(sorted);
        continue;
      }
      const NDArray a = NDArray::shell(own.shape(), own.dtype(), cpu(), row_sparse);
      a.allocate_stored(rows);
      indices[k] = rows * 8;
      values[k] = rows * width;
      to_indices[k] = a.indices().address();
      to_values[k] = a.address();
      terms.push_back(a);
    }
    const Index rows = sorted.nnz();
    gather({rows == 0 ? nullptr : sorted.indices().bytes(), rows * 8}, indices.span(), to_indices.span(), what);
    gather({rows == 0 ? nullptr : sorted.bytes(), rows * width}, values.span(), to_values.span(), what);
    total = sum_rows(terms.span());
  });
  return total;
}

STROP_IMPL void Exchange::from_first(std::byte* data, Index bytes, const std::string& what) {
  List<Transport::Message> sends, receives;
  if (rank() != 0)
    receives.push_back({0, data, bytes, nullptr});
  else
    for (int k = 1; k < size(); ++k) sends.push_back({k, data, bytes, nullptr});
  transport_->exchange(sends, receives, what);
}

STROP_IMPL NDArray Exchange::of_first(const NDArray& own, const std::string& key) {
  if (size() == 1) return own.copy();
  ++number_;
  const bool sparse = own.storage() == row_sparse;
  NDArray made = sparse ? with_wide_indices(merged(own)).copy() : own.copy();
  now([&] {
    const std::string what = cat("init of '", key, "'");
    List<Header> all;
    greet(header(first, key, &own, sparse ? made.nnz() : -1), what, {}, nullptr, all);
    for (Index k = 0; k < size(); ++k)
      if ((all[k].count < 0) == sparse) fail("KVStore: ", what, ": the array of worker ", k, " has another storage");
    if (sparse && rank() != 0) {
      made = NDArray::shell(own.shape(), own.dtype(), cpu(), row_sparse);
      made.allocate_stored(std::clamp<Index>(all[0].count, 0, own.shape()[0]));
    }
    if (sparse) from_first(made.indices().bytes(), made.nnz() * 8, what);
    from_first(made.bytes(), made.stored() * size_of(made.dtype()), what);
  });
  return made;
}

STROP_IMPL std::string Exchange::of_first(const std::string& own, const std::string& what) {
  if (size() == 1) return own;
  ++number_;
  std::string made = own;
  now([&] {
    List<Header> all;
    greet(header(first_text, "", nullptr, static_cast<Index>(own.size())), what, {}, nullptr, all);
    made.resize(unsigned_size(std::max<Index>(0, all[0].count)));
    from_first(reinterpret_cast<std::byte*>(made.data()), static_cast<Index>(made.size()), what);
  });
  return made;
}

STROP_IMPL List<std::string> Exchange::to_first(const std::string& own, const std::string& what) {
  ++number_;
  List<std::string> made;
  now([&] {
    List<Header> all;
    if (size() > 1) greet(header(all_texts, "", nullptr, static_cast<Index>(own.size())), what, {}, nullptr, all);
    List<Transport::Message> sends, receives;
    const auto message = [](int worker, const std::string& text) {
      return Transport::Message{worker, reinterpret_cast<std::byte*>(const_cast<char*>(text.data())),
                                static_cast<Index>(text.size()), nullptr};
    };
    if (rank() != 0) {
      sends.push_back(message(0, own));
    } else {
      made.resize(size());
      made[0] = own;
      for (int k = 1; k < size(); ++k) {
        made[k].resize(unsigned_size(std::max<Index>(0, all[k].count)));
        receives.push_back(message(k, made[k]));
      }
    }
    transport_->exchange(sends, receives, what);
  });
  return made;
}

STROP_IMPL void Exchange::barrier() {
  ++number_;
  now([&] {
    List<Header> all;
    if (size() > 1) greet(header(meet, "", nullptr, 0), "barrier", {}, nullptr, all);
  });
}

}  // namespace strop::inline v0::detail
