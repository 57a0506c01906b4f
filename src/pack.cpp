// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop pack`: a folder or a list of pictures as a file of records, with an index and the list beside it. What is
/// interrupted goes on where it stopped.
#include "card.hpp"
#include "command.hpp"
#include "progress.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <strop/core/output.hpp>
#include <strop/core/text.hpp>
#include <strop/data/image_codec.hpp>
#include <strop/data/image_list.hpp>
#include <strop/data/input_files.hpp>
#include <strop/data/record_text.hpp>
#include <strop/data/system_library.hpp>
#include <strop/engine/pool.hpp>
#include <strop/memory/random.hpp>
#include <strop/strop.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace strop::command {
namespace {

struct PackOptions {
  std::string from, to, root, encoding;
  std::int64_t resize = 0, threads = 0;
  int quality = 95;
  bool shuffle = false, skip = false;
  std::uint64_t seed = 0;

  bool encodes() const { return resize > 0 || !encoding.empty(); }
};

/// The pictures, in the order in which they are packed, and the folder that their paths are below.
struct Pictures {
  ImageList list;
  std::string root;
  bool listed = false;  // by a file

  explicit Pictures(const PackOptions& options) : root(options.root) {
    struct stat info{};
    if (::stat(options.from.c_str(), &info) != 0) fail("pack: \"", options.from, "\": ", std::strerror(errno));
    if (S_ISDIR(info.st_mode)) {
      if (!options.root.empty()) throw WrongCall("pack: --root is of a list, and a folder is packed");
      root = options.from;
      list = list_images(options.from);
    } else {
      if (root.empty()) root = ".";
      listed = true;
      list = read_image_list(options.from);
    }
    if (!options.shuffle) return;
    const random::Stream stream{.seed = options.seed};
    for (std::size_t end = list.items.size(); end > 1; --end) {  // Fisher and Yates, from the end
      const auto drawn =
          static_cast<std::size_t>(static_cast<std::uint64_t>(end) * stream.bits(static_cast<std::int64_t>(end)) >> 32);
      std::swap(list.items[end - 1], list.items[drawn]);
    }
  }
  std::string path(const ImageList::Item& item) const {
    return item.path.starts_with('/') ? item.path : cat(root, '/', item.path);
  }
};

/// Whether the next picture would meet the same: a fault of the machine, not of the picture.
bool is_of_machine(const std::exception& error) {
  if (const auto* const file = dynamic_cast<const detail::FileError*>(&error)) {
    constexpr int of_path[] = {ENOENT, ENOTDIR, EACCES, EISDIR, ELOOP};
    return std::find(std::begin(of_path), std::end(of_path), file->number) == std::end(of_path);
  }
  return dynamic_cast<const detail::NoLibrary*>(&error) != nullptr ||
         dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
}

/// The record of a picture, as it will stand in the file; `why` where there is none.
struct Packed {
  std::string text, why;
  bool of_machine = false;  // not of the picture
};
Packed packed(const PackOptions& options, const Pictures& pictures, const ImageList::Item& item) {
  try {
    std::string bytes = detail::bytes_of_file(pictures.path(item));
    if (options.encodes()) {
      NDArray picture = image::decode(bytes);
      if (options.resize > 0) picture = image::resize_short(picture, options.resize, 3);
      bytes = image::encode(picture, options.encoding.empty() ? ".jpg" : options.encoding, options.quality);
    } else {
      const detail::ImageCodec known(bytes);  // refuses what is no picture
    }
    const auto id = static_cast<std::uint64_t>(item.id);
    Packed made;
    detail::append_record(made.text, item.label.size() == 1 ? pack({.label = item.label[0], .id = id}, bytes)
                                                            : pack({.label = item.label, .id = id}, bytes));
    return made;
  } catch (const std::exception& error) {
    return {{}, cat("\"", pictures.path(item), "\": ", error.what()), is_of_machine(error)};
  }
}

/// What is packed, and how, as a number: another one for every other list and option.
std::uint64_t number_of(const PackOptions& options, const Pictures& pictures) {
  std::uint64_t number = 0xcbf29ce484222325;
  const auto mix = [&](std::string_view text) {
    for (const char c : text) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    number = (number ^ 0xff) * 0x100000001b3;
  };
  for (const ImageList::Item& item : pictures.list.items) {
    mix(cat(item.id, ' ', pictures.path(item)));
    for (const float label : item.label) mix(cat(label));
  }
  mix(cat(options.resize, ' ', options.quality, ' ', options.encoding, ' ', options.encodes() ? 1 : 0));
  return number;
}

/// The file that is written until all records are in it; what an earlier call wrote of it stays.
class Part {
 public:
  Part(std::string path, const Pictures& pictures) : path_(std::move(path)) {
    struct stat own{}, named{};
    while (true) {
      file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      if (file_ < 0) refuse();
      if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        fail("pack: \"", path_, "\": another call is writing this file");
      if (::fstat(file_, &own) != 0) refuse();
      if (::stat(path_.c_str(), &named) == 0 && own.st_ino == named.st_ino && own.st_dev == named.st_dev) break;
      ::close(file_);  // another call has just finished it
    }
    if (own.st_size > 0) continue_from(pictures, own.st_mtim);
    if (::ftruncate(file_, size_) != 0 || ::lseek(file_, size_, SEEK_SET) < 0) refuse();
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() {
    if (file_ >= 0) ::close(file_);
  }

  std::size_t next() const { return next_; }  // item of the list
  std::int64_t records() const { return records_; }
  std::int64_t size() const { return size_; }
  const std::string& index() const { return index_; }

  void add(std::int64_t id, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t wrote = ::write(file_, text.data() + done, text.size() - done);
      if (wrote < 0 && errno != EINTR) refuse();
      if (wrote > 0) done += static_cast<std::size_t>(wrote);
    }
    count(id, size_ + std::ssize(text));
  }
  void finish(const std::string& to) {
    // The lock ends with close(): nobody takes the file up in between.
    if (::fsync(file_) != 0 || std::rename(path_.c_str(), to.c_str()) != 0 || ::close(std::exchange(file_, -1)) != 0)
      refuse();
  }

 private:
  [[noreturn]] void refuse() const { fail("pack: \"", path_, "\": ", std::strerror(errno)); }
  void count(std::int64_t id, std::int64_t end) {
    index_ += cat(id, '\t', size_, '\n');
    size_ = end;
    ++records_;
  }
  /// Takes whole records over, as long as they are those of the list, and of pictures that did not change since they
  /// were written; pictures without one were left out.
  void continue_from(const Pictures& pictures, const ::timespec& written) {
    const ImageList& list = pictures.list;
    const auto later = [](const ::timespec& a, const ::timespec& b) {
      return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
    };
    try {
      RecordReader reader(path_);
      for (std::string record; reader.read(record);) {
        const std::uint64_t id = unpack(record).first.id;
        std::size_t at = next_;
        while (at < list.items.size() && static_cast<std::uint64_t>(list.items[at].id) != id) ++at;
        if (at == list.items.size()) return;
        struct stat picture{};
        if (::stat(pictures.path(list.items[at]).c_str(), &picture) != 0 || later(picture.st_ctim, written)) return;
        next_ = at + 1;
        count(list.items[at].id, reader.tell());
      }
    } catch (const Error&) {  // the last one was cut
    }
  }

  std::string path_, index_;
  int file_ = -1;
  std::int64_t size_ = 0, records_ = 0;
  std::size_t next_ = 0;
};

int pack_pictures(const PackOptions& options) {
  if (!options.to.ends_with(".rec"))
    throw WrongCall(cat("pack: the file is '", options.to, "', expected a name that ends in .rec"));
  if (!options.encoding.empty() && options.encoding != ".jpg" && options.encoding != ".png")
    throw WrongCall(cat("pack: --encoding is '", options.encoding, "', expected .jpg or .png"));
  const Pictures pictures(options);
  const std::vector<ImageList::Item>& items = pictures.list.items;
  const std::string base = options.to.substr(0, options.to.size() - 4);
  char mark[17];
  std::snprintf(mark, sizeof mark, "%016llx", static_cast<unsigned long long>(number_of(options, pictures)));
  Part part(cat(options.to, ".", mark, ".part"), pictures);
  if (part.records() > 0)
    std::fprintf(stderr, "%s: pack: %lld records are there, of a call that was interrupted\n", program().c_str(),
                 static_cast<long long>(part.records()));
  Progress progress(options.to, std::ssize(items));
  for (std::size_t k = 0; k < part.next(); ++k) progress.step();

  std::int64_t skipped = 0;
  constexpr std::size_t some = 64;  // pictures that wait in memory
  for (std::size_t begin = part.next(); begin < items.size(); begin += some) {
    const auto count = static_cast<std::int64_t>(std::min(some, items.size() - begin));
    std::vector<Packed> made(static_cast<std::size_t>(count));
    const std::int64_t threads = std::min(options.threads, count);
    parallel_for(count, threads == 0 ? 1 : (count + threads - 1) / threads, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t k = from; k < to; ++k)
        made[static_cast<std::size_t>(k)] = packed(options, pictures, items[begin + static_cast<std::size_t>(k)]);
    });
    for (std::size_t k = 0; k < made.size(); ++k) {
      progress.step();
      if (made[k].why.empty()) {
        part.add(items[begin + k].id, made[k].text);
      } else if (options.skip && !made[k].of_machine) {
        ++skipped;
        std::fprintf(stderr, "%s: pack: left out: %s\n", program().c_str(), made[k].why.c_str());
      } else {
        fail("pack: ", made[k].why, made[k].of_machine ? "" : "; --skip leaves such pictures out");
      }
    }
  }
  if (part.records() == 0) fail("pack: no picture of ", items.size(), " can be packed");
  {
    detail::Output index(cat(base, ".idx"), "pack");
    index.write(part.index());
    index.commit();
  }
  if (!pictures.listed) write_image_list(cat(base, ".lst"), pictures.list);
  part.finish(options.to);
  std::string result = cat(part.records(), part.records() == 1 ? " record, " : " records, ", part.size(), " bytes");
  if (skipped > 0) result += cat(", ", skipped, " left out");
  if (!pictures.list.classes.empty()) result += cat("; classes: ", joined(pictures.list.classes));
  progress.finish(result);
  return 0;
}

}  // namespace

void add_pack(CLI::App& app, int& status) {
  static PackOptions options;
  CLI::App* pack = app.add_subcommand("pack", "Pictures as a file of records, for ImageRecordIter");
  pack->footer(
      "From a folder whose folders are classes, or a list (number, labels, path, with tabs between). a.idx and, of a\n"
      "folder, a.lst stand beside a.rec. Files are packed as they are unless --resize or --encoding is given. What "
      "was\n"
      "interrupted goes on where it stopped when the same call is made again.");
  pack->add_option("from", options.from, "A folder or a list")->required();
  pack->add_option("to", options.to, "The file, a.rec")->required();
  pack->add_option("--root", options.root, "The folder that the paths of a list are below; this one without it");
  pack->add_option("--resize", options.resize, "Pixels of the shorter edge")->check(CLI::Range(1, 65536));
  pack->add_option("--encoding", options.encoding, ".jpg or .png");
  pack->add_option("--quality", options.quality, "Of JPEG")->check(CLI::Range(1, 100))->capture_default_str();
  pack->add_flag("--shuffle", options.shuffle, "In an order that follows from the seed");
  pack->add_option("--seed", options.seed)->capture_default_str();
  pack->add_option("--threads", options.threads, "At most so many; 0: all")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  pack->add_flag("--skip", options.skip, "Leave out what cannot be read as a picture, and say so");
  pack->callback([&status] { status = pack_pictures(options); });
}

}  // namespace strop::command
