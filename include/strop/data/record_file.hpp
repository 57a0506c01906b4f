// SPDX-License-Identifier: Apache-2.0
/// \file
/// RecordIO files: byte strings one behind the other, with an index of keys where one is named.
///
/// A record is a magic number, a word, the bytes, and zeros up to a multiple of 4. The upper 3 bits of the word say
/// which part of a record it is, the others how many bytes follow. A magic number at a multiple of 4 within the bytes
/// is left out and divides the record into parts: so wherever it stands, a record or a part begins. The index has a
/// line a record: its key, a tabulator, the byte at which it begins.
#pragma once
#include <strop/core/push_macros.def>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

/// Parameters of RecordReader.
struct RecordParams {
  std::string index = "";       ///< the index file; "": none
  std::int64_t num_parts = 1;   ///< of how many parts, ranges of nearly as many bytes,
  std::int64_t part_index = 0;  ///< this one is read: a record is of the part in which its first byte lies
};

/// The records of a file, one after the other: a range of std::string, each valid until the next is read. Throws Error
/// that names the file and the byte where there is no record, or one ends early. Files that MXNet writes are
/// read, and so are those of several gigabytes. One thread at a time uses it; after a fork both processes go on.
///
/// Example: `for (auto& record : RecordReader("a.rec")) use(record.size());`
class RecordReader {
 public:
  explicit RecordReader(const std::string& path, const RecordParams& params = {});
  /// With an index file. A template, so that braces are parameters: g++ takes them for a string as well.
  template <std::convertible_to<std::string> S>
  RecordReader(const std::string& path, const S& index) : RecordReader(path, RecordParams{.index = index}) {}
  RecordReader(RecordReader&& from) noexcept;
  RecordReader& operator=(RecordReader&& from) noexcept;
  ~RecordReader();

  /// The next record; false behind the last one.
  bool read(std::string& record);
  /// The first record, of the part, is the next one.
  void rewind();
  void reset() { rewind(); }

  /// At which byte of the file the next record begins; seek_byte() goes on there.
  std::int64_t tell() const;
  void seek_byte(std::int64_t byte);

  /// The keys of the index, in its order. Error where the reader has none.
  const std::vector<std::int64_t>& keys() const;
  /// The record of a key is the next one. Error where the index has no such key.
  void seek(std::int64_t key);
  /// The record of a key.
  std::string read_idx(std::int64_t key);

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string;
    using difference_type = std::ptrdiff_t;
    using pointer = std::string*;
    using reference = std::string&;
    explicit iterator(RecordReader* of) : of_(of) {}
    reference operator*() const { return of_->current(); }
    pointer operator->() const { return &of_->current(); }
    iterator& operator++() {
      more_ = of_->read(of_->current());
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) { return !i.more_; }

   private:
    RecordReader* of_;
    bool more_ = true;
  };
  /// The records from the first one on.
  iterator begin();
  std::default_sentinel_t end() const { return {}; }

 private:
  struct State;
  State& state() const;
  std::string& current() const;
  State* state_ = nullptr;
};

/// Writes a file of records, byte for byte as MXNet does, with an index where one is named. The file, and the
/// index, take their places with close(), which the destructor does as well; what an exception interrupts leaves the
/// old ones. One thread and one process at a time uses it.
///
/// Example: `RecordWriter out("b.rec", "b.idx"); out.write("first"); out.write("second");`
class RecordWriter {
 public:
  explicit RecordWriter(const std::string& path, const std::string& index = "");
  RecordWriter(RecordWriter&& from) noexcept;
  RecordWriter& operator=(RecordWriter&& from) noexcept;
  ~RecordWriter();

  /// Adds a record, in the index with the next key: 0, 1, 2, … unless write_idx() said others. Error where a part of it
  /// has 2²⁹ bytes or more, or the file cannot be written.
  void write(std::string_view record);
  void write(const char* record) { write(std::string_view(record)); }
  void write(const std::string& record) { write(std::string_view(record)); }
  /// The same of other lists of bytes.
  template <class Bytes>
    requires requires(const Bytes& bytes) {
      requires sizeof(*bytes.data()) == 1;
      { bytes.size() } -> std::integral;
    }
  void write(const Bytes& bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(bytes.size())));
  }
  /// Adds a record under a key. Error where no index is named.
  void write_idx(std::int64_t key, std::string_view record);
  /// At which byte the next record will begin.
  std::int64_t tell() const;
  /// Puts the file, then the index, into its place. Error where that fails. Later writes are errors.
  void close();

 private:
  struct State;
  State& state() const;
  State* state_ = nullptr;
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/record_file_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
