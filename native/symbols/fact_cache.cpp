#include "symbols/fact_cache.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/checksum.h"
#include "base/hex.h"
#include "base/mapping_guard.h"
#include "base/regular_file.h"

namespace whocall {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "whofacts";
constexpr std::string_view kSuffix = ".facts";
constexpr std::string_view kNew = ".new-";
constexpr std::chrono::minutes kLongestWrite{1};

struct Header {
  std::array<char, 8> magic;
  std::uint64_t size;      // of what follows, bytes
  std::uint64_t checksum;  // of it
};

bool is_ours(const struct stat& status) {
  return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Empty when there is none that is the user's alone.
std::string folder() {
  const char* off = std::getenv("WHOCALL_CACHE");
  const char* named = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::string base;
  const bool told = named != nullptr && *named == '/';
  if (told) {
    base = named;
  } else if (home != nullptr && *home == '/') {
    base = std::string(home) + "/.cache";
  }
  if (base.empty() || (off != nullptr && std::string_view(off) == "off")) {
    return {};
  }
  const std::string cache = base + "/whocall";
  std::error_code error;
  if (told) {
    fs::create_directories(base, error);
  } else {
    mkdir(base.c_str(), S_IRWXU);  // a home directory is never made: who has none wants none
  }
  std::string path = cache + "/facts";  // a sandbox lets be written there and nowhere else
  for (const std::string& each : {cache, path}) {
    mkdir(each.c_str(), S_IRWXU);  // may be there
    struct stat status {};
    if (lstat(each.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || !is_ours(status)) {
      return {};
    }
  }
  return path;
}

void add(std::uint64_t& sum, const void* data, std::size_t size) {
  sum = checksum({static_cast<const std::byte*>(data), size}, sum);
}

bool add_file(std::uint64_t& sum, const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return false;
  }
  const std::array<std::uint64_t, 7> told = {static_cast<std::uint64_t>(status.st_dev),
                                             static_cast<std::uint64_t>(status.st_ino),
                                             static_cast<std::uint64_t>(status.st_size),
                                             static_cast<std::uint64_t>(status.st_mtim.tv_sec),
                                             static_cast<std::uint64_t>(status.st_mtim.tv_nsec),
                                             static_cast<std::uint64_t>(status.st_ctim.tv_sec),
                                             static_cast<std::uint64_t>(status.st_ctim.tv_nsec)};
  add(sum, told.data(), sizeof told);
  add(sum, path.data(), path.size());
  return true;
}

std::string path_of(const std::string& key, const std::string& kind) {
  const std::string where = folder();
  return where.empty() ? where : where + "/" + key + "-" + kind + std::string(kSuffix);
}

bool read_all(int descriptor, void* data, std::size_t size) {
  auto* at = static_cast<char*>(data);
  while (size != 0) {
    const ssize_t count = read(descriptor, at, size);
    if (count <= 0) {
      return false;
    }
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool write_all(int descriptor, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size != 0) {
    const ssize_t count = write(descriptor, at, size);
    if (count <= 0) {
      return false;
    }
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// A file on its way to its name, whose writer was killed: none is so for long. Where one is taken
// from a writer that still lives, what that found out is found out anew.
void drop_left_behind(const fs::directory_entry& file) {
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(file.path(), error);
  if (!error && fs::file_time_type::clock::now() - written > kLongestWrite) {
    fs::remove(file.path(), error);
  }
}

void drop_oldest(const std::string& where) {
  struct Kept {
    fs::file_time_type time;
    std::uint64_t size;
    fs::path path;
  };
  std::vector<Kept> all;
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator each(where, error), end; !error && each != end;
       each.increment(error)) {
    if (each->path().filename().string().starts_with(kNew)) {
      drop_left_behind(*each);
    } else if (each->path().extension() == kSuffix) {
      std::error_code gone;
      all.push_back({each->last_write_time(gone), each->file_size(gone), each->path()});
      bytes += gone ? 0 : all.back().size;
    }
  }
  std::ranges::sort(all, {}, &Kept::time);
  for (const Kept& oldest : all) {
    if (bytes <= kMostKeptFacts) {
      return;
    }
    fs::remove(oldest.path, error);
    bytes -= std::min(bytes, oldest.size);
  }
}

}  // namespace

std::optional<std::string> facts_key(const ElfFile& file, const ElfFile* debug_file,
                                     const std::string& plugin) {
  std::uint64_t sum = 0;
  Dl_info self{};
  const bool told = dladdr(reinterpret_cast<const void*>(&facts_key), &self) != 0 &&
                    self.dli_fname != nullptr && add_file(sum, self.dli_fname);
  if (!told || !add_file(sum, file.path()) ||
      (debug_file != nullptr && !add_file(sum, debug_file->path())) ||
      (!plugin.empty() && !add_file(sum, plugin))) {
    return std::nullopt;
  }
  const std::string name = file.build_id().empty() ? "none" : file.build_id();
  return name + "-" + hex(sum).substr(2);
}

std::optional<std::vector<std::byte>> find_facts(const std::string& key, const std::string& kind) {
  const std::string path = path_of(key, kind);
  if (path.empty()) {
    return std::nullopt;
  }
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  Header header{};
  if (file.get() < 0 || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !is_ours(status) || !read_all(file.get(), &header, sizeof header) ||
      std::string_view(header.magic.data(), header.magic.size()) != kMagic ||
      static_cast<std::uint64_t>(status.st_size) - sizeof header != header.size ||
      header.size > kMostKeptFacts) {
    return std::nullopt;
  }
  std::vector<std::byte> facts(header.size);
  const bool whole = read_all(file.get(), facts.data(), facts.size());
  return whole && checksum(facts) == header.checksum ? std::optional(std::move(facts))
                                                     : std::nullopt;
}

void keep_facts(const std::string& key, const std::string& kind, std::span<const std::byte> facts) {
  const std::string path = path_of(key, kind);
  if (path.empty() || facts.size() > kMostKeptFacts / 4 || cut_files().count != 0) {
    return;
  }
  std::string fresh = fs::path(path).parent_path().string() + "/" + std::string(kNew) + "XXXXXX";
  Header header{.magic = {}, .size = facts.size(), .checksum = checksum(facts)};
  kMagic.copy(header.magic.data(), kMagic.size());
  bool whole = false;
  {
    const Descriptor file(mkostemp(fresh.data(), O_CLOEXEC));
    whole = file.get() >= 0 && write_all(file.get(), &header, sizeof header) &&
            write_all(file.get(), facts.data(), facts.size());
    if (file.get() < 0) {
      return;
    }
  }
  if (!whole || std::rename(fresh.c_str(), path.c_str()) != 0) {
    unlink(fresh.c_str());
    return;
  }
  drop_oldest(fs::path(path).parent_path().string());
}

}  // namespace whocall
