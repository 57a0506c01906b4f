// SPDX-License-Identifier: Apache-2.0
/// \file
/// Writing that leaves the old file or the whole new one.
#pragma once
#include <sys/stat.h>
#include <unistd.h>
#include <strop/core/error.hpp>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// The path of a temporary file.
struct TemporaryPath {
  std::string text;
  TemporaryPath* next = nullptr;
};

/// Temporary files of this process that are being written. A program's signal handler removes them with
/// remove_temporaries(), which takes neither memory nor locks; those beyond the table's room stay.
inline constinit std::atomic<TemporaryPath*> temporaries[16];
/// The paths that a handler has taken: it may still read them, so they stay.
inline constinit std::atomic<TemporaryPath*> removed_temporaries = nullptr;

inline void remove_temporaries() noexcept {
  for (std::atomic<TemporaryPath*>& slot : temporaries)
    if (const TemporaryPath* const path = slot.exchange(nullptr)) ::unlink(path->text.c_str());
}

/// The path of a temporary file, in the table while the object lives.
class ListedTemporary {
 public:
  explicit ListedTemporary(const std::string& path) : path_(new TemporaryPath{path}) {
    for (std::atomic<TemporaryPath*>& slot : temporaries) {
      TemporaryPath* none = nullptr;
      if (slot.compare_exchange_strong(none, path_)) {
        slot_ = &slot;
        return;
      }
    }
  }
  ListedTemporary(const ListedTemporary&) = delete;
  ListedTemporary& operator=(const ListedTemporary&) = delete;
  ~ListedTemporary() {
    TemporaryPath* own = path_;
    if (slot_ == nullptr || slot_->compare_exchange_strong(own, nullptr)) {
      delete path_;
      return;
    }
    path_->next = removed_temporaries.load();
    while (!removed_temporaries.compare_exchange_weak(path_->next, path_)) {
    }
  }

 private:
  TemporaryPath* path_;
  std::atomic<TemporaryPath*>* slot_ = nullptr;
};

/// Bytes to write: into a string, or into a temporary file that takes the target's place with commit(). What is no
/// regular file, such as a device or a pipe, is written as it is; of a link the file that it names is replaced.
class Output {
 public:
  explicit Output(std::string* text) : text_(text), name_("memory") {}
  /// `function` begins the sentences.
  explicit Output(const std::string& path, std::string_view function = "strop: save")
      : name_(path), function_(function), target_(path) {
    struct stat info{};
    const bool exists = ::stat(path.c_str(), &info) == 0;
    if (!exists && errno != ENOENT) refuse(std::strerror(errno));
    if (exists && !S_ISREG(info.st_mode)) {  // a device or a pipe cannot be replaced
      file_ = std::fopen(path.c_str(), "wb");
    } else {
      char resolved[PATH_MAX];
      if (exists && ::realpath(path.c_str(), resolved) != nullptr) target_ = resolved;  // not the link itself
      if (!exists) follow_links();
      static std::atomic<unsigned> count{0};
      for (int tries = 0; file_ == nullptr && tries < 100; ++tries) {
        const auto now = static_cast<std::uint64_t>(std::clock()) ^ static_cast<std::uint64_t>(std::time(nullptr))
                                                                        << 20;
        temporary_ = cat(target_, ".", now ^ reinterpret_cast<std::uintptr_t>(this), "-", count.fetch_add(1), ".tmp");
        listed_.emplace(temporary_);
        file_ = std::fopen(temporary_.c_str(), "wbx");
        if (file_ == nullptr && errno != EEXIST) break;
      }
    }
    if (file_ == nullptr) {
      const int why = errno;
      listed_.reset();
      temporary_.clear();
      refuse(std::strerror(why));
    }
    if (exists && !temporary_.empty()) ::chmod(temporary_.c_str(), info.st_mode & 07777);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (file_ != nullptr) std::fclose(file_);
    if (!temporary_.empty()) std::remove(temporary_.c_str());
  }

  std::int64_t written() const { return written_; }
  [[noreturn]] void refuse(std::string_view why) const { fail(function_, "(\"", name_, "\"): ", why); }

  void write(const void* from, std::int64_t bytes) {
    written_ += bytes;
    if (text_ != nullptr)
      text_->append(static_cast<const char*>(from), static_cast<std::size_t>(bytes));
    else if (bytes != 0 &&
             std::fwrite(from, 1, static_cast<std::size_t>(bytes), file_) != static_cast<std::size_t>(bytes))
      refuse(std::strerror(errno));
  }
  void write(std::string_view text) { write(text.data(), static_cast<std::int64_t>(text.size())); }
  template <class N>
  void number(N value) {
    write(&value, static_cast<std::int64_t>(sizeof value));
  }

  /// Puts the file in its place; without this call nothing is left of it.
  void commit() {
    if (file_ == nullptr) return;
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (!closed || (!temporary_.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0))
      refuse(std::strerror(errno));
    temporary_.clear();
    listed_.reset();
  }

 private:
  /// A link to a file that is not there yet: that file is written, the link stays.
  void follow_links() {
    char link[PATH_MAX];
    for (ssize_t size; (size = ::readlink(target_.c_str(), link, sizeof link)) > 0;) {
      const std::string_view to(link, static_cast<std::size_t>(size));
      target_ = to.front() == '/' ? std::string(to) : cat(target_.substr(0, target_.rfind('/') + 1), to);
    }
  }

  std::string* text_ = nullptr;
  std::FILE* file_ = nullptr;
  std::int64_t written_ = 0;
  std::string name_, function_ = "strop: save", target_, temporary_;
  std::optional<ListedTemporary> listed_;
};

}  // namespace strop::inline v0::detail
