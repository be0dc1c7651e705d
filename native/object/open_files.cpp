#include "object/open_files.h"

#include <sys/stat.h>

#include <list>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "object/pe_file.h"

namespace whocall {
namespace {

// What tells a file on disk from another, and from itself before it was changed.
// Times are seconds and nanoseconds: together they would not fit for files of the year 2300.
using Identity = std::tuple<std::string, dev_t, ino_t, off_t, time_t, long, time_t, long>;

std::optional<Identity> identity_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return std::nullopt;
  }
  return Identity(path, status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                  status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

std::shared_ptr<const ElfFile> open_new(const std::string& path, Formats formats) {
  if (formats == Formats::elf) {
    return ElfFile::open(path);
  }
  try {
    return ElfFile::open(path);
  } catch (const Error&) {
    try {
      return open_pe(path);
    } catch (const Error&) {  // neither: the first says what is wanted
    }
    throw;
  }
}

struct OpenFile {
  Identity identity;
  std::shared_ptr<const ElfFile> file;
  std::shared_ptr<Attachments> knowledge;
};

class OpenFiles {
 public:
  std::shared_ptr<const ElfFile> open(const std::string& path, Formats formats) {
    const auto identity = identity_of(path);
    const std::scoped_lock lock(mutex_);
    for (auto each = files_.begin(); identity && each != files_.end(); ++each) {
      const bool wanted = formats == Formats::elf_and_pe || pe_headers_of(*each->file).empty();
      if (each->identity == *identity && wanted) {
        files_.splice(files_.begin(), files_, each);
        return files_.front().file;
      }
    }
    auto file = open_new(path, formats);
    // One that was replaced in between is not taken for what it was.
    if (identity && identity == identity_of(path)) {
      files_.push_front({*identity, file, std::make_shared<Attachments>()});
      bytes_ += file->bytes().size();
      drop_last();
    }
    return file;
  }

  std::shared_ptr<Attachments> knowledge(const ElfFile& file) {
    const std::scoped_lock lock(mutex_);
    for (const OpenFile& each : files_) {
      if (each.file.get() == &file) {
        return each.knowledge;
      }
    }
    return nullptr;
  }

  void close() {
    const std::scoped_lock lock(mutex_);
    files_.clear();
    bytes_ = 0;
  }

 private:
  // The one that was opened just now stays in any case.
  void drop_last() {
    while (files_.size() > 1 && (files_.size() > kMostKeptFiles || bytes_ > kMostKeptBytes)) {
      bytes_ -= files_.back().file->bytes().size();
      files_.pop_back();
    }
  }

  std::mutex mutex_;
  std::list<OpenFile> files_;  // the one that was asked for last comes first
  std::uint64_t bytes_ = 0;
};

OpenFiles& open_files() {
  static OpenFiles files;
  return files;
}

}  // namespace

std::shared_ptr<const ElfFile> open_shared(const std::string& path) {
  return open_shared(path, Formats::elf);
}

std::shared_ptr<const ElfFile> open_shared(const std::string& path, Formats formats) {
  return open_files().open(path, formats);
}

std::shared_ptr<Attachments> knowledge_of(const ElfFile& file) {
  return open_files().knowledge(file);
}

void close_kept_files() { open_files().close(); }

}  // namespace whocall
