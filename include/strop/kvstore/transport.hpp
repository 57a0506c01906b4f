// SPDX-License-Identifier: Apache-2.0
/// \file
/// How bytes go from one worker to another: what a distributed KVStore stands on.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/core/ref.hpp>
#include <strop/core/span.hpp>

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

namespace strop::inline v0 {

/// Workers that exchange bytes: processes under MPI, threads in a test.
///
/// Messages from one worker to another arrive in the order in which they are sent. A store calls its transport from one
/// thread at a time, and every worker makes the same calls in the same order. Only a dist_async store asks for
/// transports apart; of these one thread sends while another one receives.
class Transport : public detail::Counted {
 public:
  /// `size` bytes to a worker, or room for as many from one.
  struct Message {
    int worker;
    std::byte* data;
    detail::Index size;
    /// Of a message to receive: it may turn out shorter, and its size is written here.
    detail::Index* received = nullptr;
  };

  virtual ~Transport() = default;
  /// This worker, from 0 on, and how many there are.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Sends and receives at once, and returns when all of it is done. Throws Error where a worker has died or left, or
  /// sends more than there is room for; then nothing more is exchanged. `what` says in the sentence what it was for.
  virtual void exchange(detail::Span<const Message> sends, detail::Span<const Message> receives,
                        std::string_view what) = 0;

  /// Another transport between the same workers, whose messages never meet those of this one. All workers call it
  /// together. Throws Error where there is none, as this one does.
  // (Inline in the class, or g++ would put the whole class into every unit that sees it.)
  STROP_IMPL virtual detail::Ref<Transport> apart();
  /// Waits for the next message of any worker, whatever its size, and says whose it is; −1 once `stop` is set. Throws
  /// Error as exchange() does.
  STROP_IMPL virtual int receive_any(detail::List<std::byte>& message, const std::atomic<bool>& stop);
  /// This worker answers no more: its exchanges, and those of transports apart, throw this sentence from now on, where
  /// they wait already as well. This one does nothing, and who waits goes on waiting.
  STROP_IMPL virtual void give_up(const std::string& why);
};

namespace detail {
/// Processes under mpirun, by OpenMPI's library, which is opened at the first call. Throws Error where it is not there.
Ref<Transport> mpi_transport();
}  // namespace detail

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/kvstore/mpi_impl.hpp>
#endif
