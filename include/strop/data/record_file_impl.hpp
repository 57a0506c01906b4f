// SPDX-License-Identifier: Apache-2.0
/// \file
/// How files of records are read and written.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/core/log.hpp>
#include <strop/core/output.hpp>
#include <strop/core/printable.hpp>
#include <strop/core/text.hpp>
#include <strop/data/data_part.hpp>
#include <strop/data/record_file.hpp>
#include <strop/data/record_text.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

inline constexpr std::uint32_t record_magic = 0xced7230a;
inline constexpr std::int64_t longest_record_part = (std::int64_t{1} << 29) - 1;
/// Which part of a record the bytes behind a magic number are.
enum RecordPart : std::uint32_t { whole_record, first_part, middle_part, last_part };

/// The bytes of a file from any place on, a block at a time.
class FileBytes {
 public:
  FileBytes(std::string_view function, const std::string& path) : function_(function), path_(path) {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info{};
    if (file_ < 0) refuse(std::strerror(errno));
    const bool known = ::fstat(file_, &info) == 0;
    const int why = errno;
    if (known && S_ISREG(info.st_mode)) {
      size_ = info.st_size;
      return;
    }
    ::close(file_);
    refuse(!known ? std::strerror(why) : S_ISDIR(info.st_mode) ? std::strerror(EISDIR) : "this is no regular file");
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes() { ::close(file_); }

  std::int64_t size() const { return size_; }
  [[noreturn]] void refuse(std::string_view why) const { fail(function_, ": \"", path_, "\": ", why); }
  [[noreturn]] void refuse(std::int64_t byte, std::string_view why) const {
    fail(function_, ": \"", path_, "\", byte ", byte, ": ", why);
  }

  /// Bytes that the file has. Few of them come from a block that was read, many straight from the file.
  void read(void* to, std::int64_t bytes, std::int64_t from) {
    auto* out = static_cast<char*>(to);
    while (bytes > 0) {
      const std::int64_t there = from >= block_at_ ? block_at_ + block_.size() - from : 0;
      if (there > 0) {
        const std::int64_t some = std::min(there, bytes);
        copy_bytes(out, block_.data() + (from - block_at_), some);
        out += some, from += some, bytes -= some;
      } else if (bytes >= block_bytes) {
        read_file(out, bytes, from);
        return;
      } else {
        block_.resize(std::min(block_bytes, size_ - from));
        block_at_ = from;
        read_file(block_.data(), block_.size(), from);
      }
    }
  }

 private:
  static constexpr std::int64_t block_bytes = std::int64_t{1} << 18;

  void read_file(char* to, std::int64_t bytes, std::int64_t from) {
    while (bytes > 0) {
      const ssize_t got = ::pread(file_, to, unsigned_size(bytes), static_cast<off_t>(from));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        block_.clear();
        refuse(got < 0 ? std::strerror(errno) : "the file has become shorter while it was read");
      }
      to += got, from += got, bytes -= got;
    }
  }

  std::string function_, path_;
  int file_ = -1;
  std::int64_t size_ = 0, block_at_ = 0;
  List<char> block_;
};

/// The keys of an index file, in its order, and where their records begin.
struct RecordIndex {
  std::vector<std::int64_t> keys;
  struct Place {
    std::int64_t key, byte, line;
  };
  std::vector<Place> places;  // by key, those of one key in their order

  RecordIndex(std::string_view function, const std::string& path) {
    FileBytes file(function, path);
    std::string text(unsigned_size(file.size()), '\0');
    file.read(text.data(), file.size(), 0);
    std::string_view left = text;
    if (left.starts_with("\xEF\xBB\xBF")) left.remove_prefix(3);
    for (std::int64_t number = 1; !left.empty(); ++number) {
      std::string_view line = left.substr(0, left.find('\n'));
      left.remove_prefix(std::min(line.size() + 1, left.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      const std::size_t tab = line.find('\t');
      std::int64_t key = 0, place = 0;
      if (tab == std::string_view::npos || !parse_integer(line.substr(0, tab), key) ||
          !parse_integer(line.substr(tab + 1), place) || place < 0)
        fail(function, ": \"", path, "\", line ", number, ": '", printable(line, 40),
             "' is no key, tabulator and byte");
      keys.push_back(key);
      places.push_back({key, place, number});
    }
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.key != b.key ? a.key < b.key : a.line < b.line; });
  }
  /// Where the record of a key begins, of several the last one, as MXNet's; -1: there is no such key.
  std::int64_t find(std::int64_t key) const {
    const auto behind = std::upper_bound(places.begin(), places.end(), key,
                                         [](std::int64_t wanted, const Place& place) { return wanted < place.key; });
    return behind != places.begin() && (behind - 1)->key == key ? (behind - 1)->byte : -1;
  }
};

}  // namespace detail

struct RecordReader::State {
  State(const std::string& named, const RecordParams& params) : path(named), file("RecordReader", named) {
    detail::check_part("RecordReader", params.num_parts, params.part_index);
    if (!params.index.empty()) index.emplace("RecordReader", params.index), index_path = params.index;
    begin = next_record(detail::part_begin(file.size(), params.num_parts, params.part_index));
    end = detail::part_begin(file.size(), params.num_parts, params.part_index + 1);
    at = begin;
  }

  struct Head {
    std::uint32_t part;
    std::int64_t bytes;  // that follow, without the zeros behind them
  };
  /// The head at a byte; none where there is no magic number.
  std::optional<Head> head(std::int64_t byte) {
    std::uint32_t words[2];
    if (file.size() - byte < 8) return std::nullopt;
    file.read(words, 8, byte);
    if (words[0] != detail::record_magic) return std::nullopt;
    return Head{words[1] >> 29, static_cast<std::int64_t>(words[1] & detail::longest_record_part)};
  }
  /// Where the first record begins at a byte or behind it.
  std::int64_t next_record(std::int64_t byte) {
    if (byte == 0) return 0;
    for (byte += -byte & 3; byte < file.size(); byte += 4)
      if (const auto found = head(byte); found && found->part <= detail::first_part) return byte;
    return file.size();
  }

  bool read(std::string& record, std::int64_t stop) {
    if (at >= stop) return false;
    const std::int64_t first = at;
    record.clear();
    for (std::int64_t byte = at;;) {
      const bool begins = byte == first;
      const auto found = head(byte);
      if (!found && byte < file.size() && file.size() - byte < 8) refuse_end(first);
      if (!found && !begins) file.refuse(byte, cat("a part of the record at byte ", first, " is missing"));
      if (!found) file.refuse(byte, "there is no record, which begins with the bytes 0a 23 d7 ce");
      const bool may_begin = found->part <= detail::first_part;
      if (found->part > detail::last_part || begins != may_begin)
        file.refuse(byte, begins ? "this is a part of a record whose first part is missing"
                                 : cat("a part of the record at byte ", first, " is missing"));
      if (found->bytes > file.size() - byte - 8) refuse_end(first);
      std::size_t size = record.size();
      if (!begins) {
        const std::uint32_t magic = detail::record_magic;
        record.append(reinterpret_cast<const char*>(&magic), sizeof magic);
        size += sizeof magic;
      }
      record.resize(size + detail::unsigned_size(found->bytes));
      file.read(record.data() + size, found->bytes, byte + 8);
      byte += 8 + found->bytes + (-found->bytes & 3);
      if (byte > file.size()) refuse_end(first);
      if (found->part == detail::whole_record || found->part == detail::last_part) {
        at = byte;
        return true;
      }
      if (byte == file.size()) refuse_end(first);
    }
  }
  [[noreturn]] void refuse_end(std::int64_t first) const {
    file.refuse(first, cat("the file ends within the record that begins there, at byte ", file.size()));
  }

  const detail::RecordIndex& keys() const {
    if (!index) file.refuse("no index was named, which has the keys");
    return *index;
  }
  std::int64_t place_of(std::int64_t key) const {
    const std::int64_t byte = keys().find(key);
    if (byte < 0) fail("RecordReader: \"", index_path, "\" has no key ", key);
    return byte;
  }

  std::string path, index_path;
  detail::FileBytes file;
  std::optional<detail::RecordIndex> index;
  std::int64_t begin = 0, end = 0;  // of the part
  std::int64_t at = 0;              // where the next record begins
  std::string current;
};

STROP_IMPL RecordReader::RecordReader(const std::string& path, const RecordParams& params)
    : state_(new State(path, params)) {}
STROP_IMPL RecordReader::RecordReader(RecordReader&& from) noexcept : state_(std::exchange(from.state_, nullptr)) {}
STROP_IMPL RecordReader& RecordReader::operator=(RecordReader&& from) noexcept {
  std::swap(state_, from.state_);
  return *this;
}
STROP_IMPL RecordReader::~RecordReader() { delete state_; }

STROP_IMPL RecordReader::State& RecordReader::state() const {
  if (state_ == nullptr) fail("RecordReader: this reader was moved to another one");
  return *state_;
}
STROP_IMPL std::string& RecordReader::current() const { return state().current; }

STROP_IMPL bool RecordReader::read(std::string& record) { return state().read(record, state_->end); }
STROP_IMPL void RecordReader::rewind() { state().at = state_->begin; }
STROP_IMPL std::int64_t RecordReader::tell() const { return state().at; }
STROP_IMPL void RecordReader::seek_byte(std::int64_t byte) {
  if (byte < 0 || byte > state().file.size() || byte % 4 != 0)
    state_->file.refuse(cat("no record begins at byte ", byte));
  state_->at = byte;
}

STROP_IMPL const std::vector<std::int64_t>& RecordReader::keys() const { return state().keys().keys; }
STROP_IMPL void RecordReader::seek(std::int64_t key) {
  const std::int64_t byte = state().place_of(key);
  if (byte < state_->begin || byte >= state_->end)
    fail("RecordReader: \"", state_->index_path, "\": the record of key ", key, ", at byte ", byte,
         ", is not in the part that is read");
  seek_byte(byte);
}
STROP_IMPL std::string RecordReader::read_idx(std::int64_t key) {
  seek_byte(state().place_of(key));
  std::string record;
  if (!state_->read(record, state_->file.size()))
    fail("RecordReader: \"", state_->index_path, "\": key ", key, " begins at the end of \"", state_->path, "\"");
  return record;
}

STROP_IMPL RecordReader::iterator RecordReader::begin() {
  rewind();
  iterator first(this);
  return ++first;
}

namespace detail {

/// A record as it stands in a file: where the magic number is in it, at a multiple of four bytes, it is cut there.
class RecordPieces {
 public:
  /// Refuses a record that has a longer part than a file can hold; `out` says so.
  RecordPieces(const Output& out, std::string_view record) : record_(record) {
    const auto fits = [&](std::size_t bytes) {
      if (bytes > unsigned_size(longest_record_part))
        out.refuse(cat("a record of ", record.size(), " bytes, of which ", bytes,
                       " stand without a magic number, expected at most ", longest_record_part));
    };
    const std::uint32_t magic = record_magic;
    const std::string_view mark(reinterpret_cast<const char*>(&magic), sizeof magic);
    for (std::size_t at = record.find(mark); at != std::string_view::npos; at = record.find(mark, at + 1))
      if (at % 4 == 0) cuts_.push_back(at);
    std::size_t from = 0;
    for (const std::size_t cut : cuts_) fits(cut - from), from = cut + 4;
    fits(record.size() - from);
  }
  void write(Output& out) const {
    std::size_t from = 0;
    for (Index k = 0; k < cuts_.size(); from = cuts_[k] + 4, ++k)
      write_part(out, k == 0 ? first_part : middle_part, record_.substr(from, cuts_[k] - from));
    write_part(out, cuts_.empty() ? whole_record : last_part, record_.substr(from));
  }

 private:
  static void write_part(Output& out, RecordPart part, std::string_view bytes) {
    out.number(record_magic);
    out.number(static_cast<std::uint32_t>(part) << 29 | static_cast<std::uint32_t>(bytes.size()));
    out.write(bytes);
    out.write(std::string_view("\0\0\0", -bytes.size() & 3));
  }

  std::string_view record_;
  List<std::size_t> cuts_;
};

STROP_IMPL void append_record(std::string& to, std::string_view record) {
  Output out(&to);
  RecordPieces(out, record).write(out);
}

}  // namespace detail

struct RecordWriter::State {
  State(const std::string& path, const std::string& index)
      : out(new detail::Output(path, "RecordWriter")), process(::getpid()), exceptions(std::uncaught_exceptions()) {
    if (!index.empty()) index_out.reset(new detail::Output(index, "RecordWriter"));
  }
  ~State() {
    if (process == ::getpid()) return;
    // A copy that a fork made: the temporary files are those of the other process.
    (void)out.release();        // NOLINT(bugprone-unused-return-value)
    (void)index_out.release();  // NOLINT(bugprone-unused-return-value)
  }

  void write(std::string_view record, std::int64_t key) {
    check();
    const detail::RecordPieces pieces(*out, record);
    const std::int64_t begin = out->written();
    broken = true;  // until all of it is written
    pieces.write(*out);
    if (index_out) index_out->write(cat(key, '\t', begin, '\n'));
    next_key = key + 1;
    broken = false;
  }
  void check() const {
    if (closed) out->refuse("it is closed");
    if (broken) out->refuse("an earlier record could not be written");
    if (process != ::getpid()) out->refuse("it is written by another process, of which this one is a fork");
  }
  void close() {
    check();
    closed = true;
    out->commit();
    if (index_out) index_out->commit();
  }

  std::unique_ptr<detail::Output> out, index_out;
  pid_t process;
  int exceptions;
  std::int64_t next_key = 0;
  bool closed = false, broken = false;
};

STROP_IMPL RecordWriter::RecordWriter(const std::string& path, const std::string& index)
    : state_(new State(path, index)) {}
STROP_IMPL RecordWriter::RecordWriter(RecordWriter&& from) noexcept : state_(std::exchange(from.state_, nullptr)) {}
STROP_IMPL RecordWriter& RecordWriter::operator=(RecordWriter&& from) noexcept {
  std::swap(state_, from.state_);
  return *this;
}
STROP_IMPL RecordWriter::~RecordWriter() {
  const std::unique_ptr<State> last(state_);
  if (!last || last->closed || last->broken || last->process != ::getpid() ||
      std::uncaught_exceptions() > last->exceptions)
    return;
  try {
    last->close();
  } catch (const std::exception& error) {
    detail::log(error.what());
  }
}

STROP_IMPL RecordWriter::State& RecordWriter::state() const {
  if (state_ == nullptr) fail("RecordWriter: this writer was moved to another one");
  return *state_;
}

STROP_IMPL void RecordWriter::write(std::string_view record) { state().write(record, state_->next_key); }
STROP_IMPL void RecordWriter::write_idx(std::int64_t key, std::string_view record) {
  if (!state().index_out) state_->out->refuse("no index was named, to which the key would go");
  state_->write(record, key);
}
STROP_IMPL std::int64_t RecordWriter::tell() const { return state().out->written(); }
STROP_IMPL void RecordWriter::close() { state().close(); }

}  // namespace strop::inline v0
