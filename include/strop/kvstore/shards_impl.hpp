// SPDX-License-Identifier: Apache-2.0
/// \file
/// How workers ask those that own a key, and are answered.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/log.hpp>
#include <strop/kvstore/compression.hpp>
#include <strop/kvstore/reduce.hpp>
#include <strop/kvstore/shards.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/structure.hpp>

#include <exception>

namespace strop::inline v0::detail {

STROP_IMPL Shards::Shards(Exchange& order)
    : order_(order), requests_(order.transport_apart()), replies_(order.transport_apart()) {
  if (order_.size() == 1) return;
  process_ = fork_mark.load(std::memory_order_relaxed);
  const bool started = thread_.start(
      [](void* self) -> void* {
        static_cast<Shards*>(self)->serve();
        return nullptr;
      },
      this);
  if (!started) fail("KVStore::create: the system has no thread left to answer the other workers");
}

STROP_IMPL Shards::~Shards() {
  const bool alone = order_.size() == 1;
  if (!alone && process_ != fork_mark.load(std::memory_order_relaxed)) return;  // a child of a fork has no such thread
  const bool thrown = std::uncaught_exceptions() != 0, told = thrown || order_.has_told();
  const bool waits = !alone && !thrown && !order_.has_failed();
  try {
    waits ? order_.barrier() : order_.now([] {});
  } catch (const std::exception& e) {
    if (!told) log(e.what());  // nobody else would say it: a push has no result that somebody looks at
  } catch (...) {
  }
  if (alone) return;
  stop_ = true;
  thread_.join();
}

STROP_IMPL int owner_of_key(std::string_view key, Index workers) {
  return static_cast<int>(text_hash(key) % static_cast<std::uint64_t>(workers));
}
STROP_IMPL int Shards::owner_of(std::string_view key) const { return owner_of_key(key, order_.size()); }

STROP_IMPL void Shards::put(const std::string& key, const NDArray& value) {
  const Hold hold(owning_);
  owned_[key].value = value;
}
STROP_IMPL void Shards::set_updater(Ref<StoreUpdater> updater) {
  const Hold hold(owning_);
  updater_ = std::move(updater);
}

STROP_IMPL NDArray Shards::brought(Kind kind, const NDArray& like, Index count) {
  switch (kind) {
    case push_packed:
      return NDArray::fresh(Shape{packed_words(like.size())}, f32);
    case pull_listed:
      return NDArray::fresh(Shape{count}, i64);
    default:
      break;
  }
  if (like.storage() == dense) return NDArray::fresh(like.shape(), like.dtype());
  const NDArray made = NDArray::shell(like.shape(), like.dtype(), cpu(), row_sparse);
  made.allocate_stored(count);
  return made;
}

STROP_IMPL List<Span<std::byte>, 2> Shards::parts_of(const NDArray& array) {
  List<Span<std::byte>, 2> parts;
  if (!array.defined()) return parts;
  if (array.storage() == row_sparse) {
    if (array.nnz() == 0) return parts;
    parts.push_back({array.indices().address(), array.nnz() * 8});
  }
  parts.push_back({array.address(), array.stored() * size_of(array.dtype())});
  return parts;
}

inline Index bytes_of(const List<Span<std::byte>, 2>& parts) {
  Index bytes = 0;
  for (const Span<std::byte>& part : parts) bytes += part.size();
  return bytes;
}

STROP_IMPL void Shards::send(Transport& to, int worker, Span<const std::byte> head, const NDArray& array,
                             std::string_view what) {
  const List<Span<std::byte>, 2> parts = parts_of(array);
  const Index bytes = bytes_of(parts);
  const bool together = bytes <= most_together;
  List<std::byte> first(head.size() + (together ? bytes : 0));
  copy_bytes(first.data(), head.data(), head.size());
  List<Transport::Message> sends{{worker, first.data(), first.size(), nullptr}};
  Index at = head.size();
  for (const Span<std::byte>& part : parts) {
    if (!together)
      sends.push_back({worker, part.data(), part.size(), nullptr});
    else if (!part.empty())
      copy_bytes(first.data() + at, part.data(), part.size());
    at += part.size();
  }
  to.exchange(sends, {}, what);
}

STROP_IMPL void Shards::receive(Transport& from, int worker, Span<const std::byte> behind_head, const NDArray& array,
                                std::string_view what) {
  const List<Span<std::byte>, 2> parts = parts_of(array);
  const Index bytes = bytes_of(parts);
  const bool together = bytes <= most_together;
  if (behind_head.size() != (together ? bytes : 0))
    fail("KVStore: ", what, ": worker ", worker, " sent ", behind_head.size(), " bytes, expected ",
         together ? bytes : 0);
  List<Transport::Message> receives;
  Index at = 0;
  for (const Span<std::byte>& part : parts) {
    if (!together)
      receives.push_back({worker, part.data(), part.size(), nullptr});
    else if (!part.empty())
      copy_bytes(part.data(), behind_head.data() + at, part.size());
    at += part.size();
  }
  if (!together) from.exchange({}, receives, what);
}

STROP_IMPL NDArray Shards::ask(Kind kind, const std::string& key, const NDArray& array, const NDArray& like,
                               Index count, float threshold, std::string_view what) {
  Request request;
  request.kind = kind;
  request.key = static_cast<Index>(key.size());
  request.count = count;
  request.shape = text_hash(to_text(like.shape()));
  request.dtype = static_cast<std::int32_t>(like.dtype());
  request.threshold = threshold;
  const int owner = owner_of(key);
  if (owner == order_.rank()) {
    // The caller's array is under way in the engine: an updater gets one that nobody waits for.
    const NDArray own = array.defined() ? brought(kind, like, count) : array;
    const List<Span<std::byte>, 2> from = parts_of(array), to = parts_of(own);
    for (Index k = 0; k < from.size(); ++k)
      if (!from[k].empty()) copy_bytes(to[k].data(), from[k].data(), from[k].size());
    Answer got = answer(request, key, own);
    if (got.reply.refused != 0) fail(got.refusal);
    return got.array;
  }
  List<std::byte> head(Index{sizeof request} + request.key);
  copy_bytes(head.data(), &request, Index{sizeof request});
  copy_bytes(head.data() + sizeof request, key.data(), request.key);
  send(*requests_, owner, head.span(), array, what);

  List<std::byte> first(Index{sizeof(Reply)} + most_together);
  Index received = 0;
  const Transport::Message message{owner, first.data(), first.size(), &received};
  replies_->exchange({}, {&message, 1}, what);
  Reply reply;
  if (received < Index{sizeof reply}) fail("KVStore: ", what, ": worker ", owner, " sent no answer");
  copy_bytes(&reply, first.data(), Index{sizeof reply});
  const Span<const std::byte> rest(first.data() + sizeof reply, received - Index{sizeof reply});
  if (reply.magic != request.magic)
    fail("KVStore: worker ", owner, " runs another version of strop than worker ", order_.rank());
  if (reply.refused != 0)
    fail("KVStore: worker ", owner, ", which owns '", key,
         "', says: ", std::string_view(reinterpret_cast<const char*>(rest.data()), unsigned_size(rest.size())));
  if (kind == push_array || kind == push_packed) return NDArray();
  if (like.storage() != dense && (reply.count < 0 || reply.count > like.shape()[0]))
    fail("KVStore: ", what, ": worker ", owner, " sent ", reply.count, " rows, expected 0 to ", like.shape()[0]);
  const NDArray made = brought(pull_array, like, reply.count);
  receive(*replies_, owner, rest, made, what);
  return made;
}

STROP_IMPL Shards::Answer Shards::answer(const Request& request, const std::string& key, const NDArray& array) {
  Answer made;
  const auto refuse = [&](std::string_view why) {
    made.refusal = why.substr(0, unsigned_size(most_together));
    made.reply.refused = 1;
    made.reply.count = static_cast<Index>(made.refusal.size());
  };
  try {
    made.array = answered(request, key, array);
    if (made.array.defined() && made.array.storage() != dense) made.reply.count = made.array.nnz();
  } catch (const std::exception& e) {
    refuse(e.what());
  } catch (...) {
    refuse(cat("KVStore: the updater threw for '", key, "' what is no std::exception"));
  }
  return made;
}

STROP_IMPL NDArray Shards::answered(const Request& request, const std::string& key, const NDArray& array) {
  const Hold hold(owning_);
  StoredArray& stored = owned_.find(key)->second;
  const NDArray& value = stored.value;
  switch (request.kind) {
    case pull_array:
      stored.shared = true;  // until the answer is sent: the next update writes another array
      return value.storage() == dense ? value : with_wide_indices(merged(value));
    case pull_listed: {
      const NDArray rows = NDArray::shell(value.shape(), value.dtype(), cpu(), row_sparse);
      copy_rows(value, {reinterpret_cast<const std::int64_t*>(array.bytes()), array.size()}, rows);
      return with_wide_indices(rows);
    }
    case push_packed: {
      const NDArray gradient = NDArray::fresh(value.shape(), f32);
      const std::byte* const words = array.bytes();
      dequantize_2bit({&words, 1}, request.threshold, reinterpret_cast<float*>(gradient.address()), gradient.size());
      apply_sum("KVStore::push", key, stored, gradient, updater_.get());
      break;
    }
    default:
      if (array.storage() == row_sparse) check_structure(array);
      apply_sum("KVStore::push", key, stored, array, updater_.get());
  }
  stored.value.wait();  // a push that was answered is applied
  return NDArray();
}

STROP_IMPL void Shards::serve() {
  try {
    List<std::byte> message;
    for (;;) {
      const int worker = requests_->receive_any(message, stop_);
      if (worker < 0) return;
      serve_one(worker, message.span());
    }
  } catch (const std::exception& e) {
    answer_no_more(e.what());
  } catch (...) {
    answer_no_more("KVStore: the thread that answers other workers met what is no std::exception");
  }
}
STROP_IMPL void Shards::answer_no_more(const std::string& why) {
  order_.end(why);
  requests_->give_up(why);
}

STROP_IMPL void Shards::serve_one(int worker, Span<const std::byte> message) {
  Request request;
  const auto refuse = [&](const auto&... why) {
    fail("KVStore: worker ", order_.rank(), " got a request of worker ", worker, " that ", why...);
  };
  if (message.size() < Index{sizeof request}) refuse("has ", message.size(), " bytes");
  copy_bytes(&request, message.data(), Index{sizeof request});
  if (request.magic != Request().magic) refuse("another version of strop sends");
  const Index rest = message.size() - Index{sizeof request};
  if (request.key < 0 || request.key > rest) refuse("is cut off");
  const std::string key(reinterpret_cast<const char*>(message.data() + sizeof request), unsigned_size(request.key));
  NDArray like;
  {
    const Hold hold(owning_);
    const auto at = owned_.find(key);
    if (at == owned_.end()) refuse("is of key '", key, "', which it does not own");
    like = at->second.value;
  }
  if (request.shape != text_hash(to_text(like.shape())) || request.dtype != static_cast<std::int32_t>(like.dtype()))
    refuse("is of key '", key, "' in another shape or type than ", like.shape(), ' ', name_of(like.dtype()));
  const auto kind = static_cast<Kind>(request.kind);
  const std::string what = cat(kind == push_array || kind == push_packed ? "push" : "pull", " of '", key, "'");
  NDArray array;
  if (kind != pull_array) {
    const bool rows = kind == push_array && request.count >= 0;
    if (kind < push_array || kind > pull_listed || (kind == pull_listed && request.count < 0) ||
        (like.ndim() > 0 && request.count > like.shape()[0]))
      refuse("is none");
    const NDArray form = NDArray::shell(like.shape(), like.dtype(), cpu(), rows ? row_sparse : dense);
    array = brought(kind, form, request.count);
    receive(*requests_, worker, {message.data() + sizeof request + request.key, rest - request.key}, array, what);
  } else if (rest != request.key) {
    refuse("is longer than it says");
  }
  const Answer made = answer(request, key, array);
  List<std::byte> head(Index{sizeof(Reply)} + static_cast<Index>(made.refusal.size()));
  copy_bytes(head.data(), &made.reply, Index{sizeof(Reply)});
  copy_bytes(head.data() + sizeof(Reply), made.refusal.data(), static_cast<Index>(made.refusal.size()));
  send(*replies_, worker, head.span(), made.array, what);
}

STROP_IMPL void Shards::push(const std::string& key, const NDArray& gradient, const NDArray& like, float threshold,
                             int priority) {
  const std::string what = cat("push of '", key, "'");
  const auto form = [&](Storage storage) { return NDArray::shell(like.shape(), like.dtype(), cpu(), storage); };
  if (gradient.storage() == row_sparse) {
    const NDArray sorted = with_wide_indices(merged(gradient));
    sorted.wait();
    order_.now([&] { ask(push_array, key, sorted, form(row_sparse), sorted.nnz(), 0, what); });
    return;
  }
  order_.in_turn({&gradient, 1}, {}, priority, [this, key, gradient, like = form(dense), threshold, what] {
    ask(threshold > 0 ? push_packed : push_array, key, gradient, like, -1, threshold, what);
  });
}

STROP_IMPL NDArray Shards::pull(const std::string& key, const NDArray& like, int priority) {
  const std::string what = cat("pull of '", key, "'");
  NDArray made;
  if (like.storage() != dense) {
    order_.now([&] { made = ask(pull_array, key, NDArray(), like, -1, 0, what); });
    return made;
  }
  made = NDArray::fresh(like.shape(), like.dtype());
  order_.in_turn({}, {&made, 1}, priority, [this, key, like, made, what] {
    const NDArray got = ask(pull_array, key, NDArray(), like, -1, 0, what);
    if (made.size() != 0) copy_bytes(made.address(), got.bytes(), made.size() * size_of(made.dtype()));
  });
  return made;
}

STROP_IMPL NDArray Shards::pull_rows(const std::string& key, const NDArray& like, Span<const std::int64_t> ids) {
  NDArray made;
  const NDArray listed = NDArray::fresh(Shape{ids.size()}, i64);
  if (!ids.empty()) copy_bytes(listed.address(), ids.data(), ids.size() * 8);
  order_.now([&] { made = ask(pull_listed, key, listed, like, ids.size(), 0, cat("pull of '", key, "'")); });
  return made;
}

STROP_IMPL List<std::string> Shards::states() {
  const std::string own = outcome_of([this] {
    const Hold hold(owning_);
    return updater_->states();
  });
  return order_.to_first(own, "save_states");
}
STROP_IMPL void Shards::set_states(std::string_view states) {
  const Hold hold(owning_);
  updater_->set_states(states);
}

}  // namespace strop::inline v0::detail
