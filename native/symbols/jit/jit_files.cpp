#include "symbols/jit/jit_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/regular_file.h"
#include "process/proc_files.h"
#include "symbols/jit/jitdump.h"

namespace whocall {
namespace {

constexpr std::size_t kLargestPerfMap = std::size_t{256} << 20;  // bytes; some million functions
constexpr std::string_view kDeleted = " (deleted)";

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

std::string join(std::string directory, const std::string& name) {
  directory += '/';
  directory += name;
  return directory;
}

std::string proc_directory(std::int64_t pid) { return "/proc/" + std::to_string(pid); }

// The id that the process has in its own namespace, by which it calls its files.
std::int64_t own_pid(const ProcessImage& process) {
  const auto status = read_proc_file(proc_directory(process.pid) + "/status");
  const std::string ids = status_field(status.value_or(""), "NSpid");
  const std::string last = ids.substr(ids.find_last_of(" \t") + 1);
  std::int64_t pid = process.pid;
  std::from_chars(last.data(), last.data() + last.size(), pid);
  return pid;
}

// Whether /proc/PID is this very process: gdb may tell of one on another machine.
bool is_here(const ProcessImage& process) {
  if (!process.core_path.empty() || process.pid <= 0) {
    return false;
  }
  const auto mappings =
      parse_maps(read_proc_file(proc_directory(process.pid) + "/maps").value_or(""));
  const auto is_mapped = [&](const Mapping& wanted) {
    return std::ranges::any_of(
        mappings, [&](const Mapping& mapping) { return mapping.range == wanted.range; });
  };
  return !mappings.empty() && !process.mappings.empty() &&
         std::ranges::all_of(process.mappings, [&](const Mapping& mapping) {
           return !mapping.executable || is_mapped(mapping);
         });
}

// Copied and not mapped: it may lie where everybody writes, and be cut off while we read.
std::optional<std::string> read_text(int file) {
  std::string text;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  while (text.size() < kLargestPerfMap) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = ::read(file, text.data() + before, kPiece);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) {
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
  }
  return text;
}

class Finder {
 public:
  explicit Finder(const ProcessImage& process)
      : process_(process), here_(is_here(process)), pid_(here_ ? own_pid(process) : process.pid) {}

  JitFiles run() {
    for (const Mapping& mapping : process_.mappings) {
      add_mapped_dump(mapping.path);
    }
    const std::string dump = "jit-" + std::to_string(pid_) + ".dump";
    const std::string map = "perf-" + std::to_string(pid_) + ".map";
    for (const std::string& directory : named_directories()) {
      add_dump(join(directory, dump));
      add_perf_map(join(directory, map), Trust::named);
    }
    if (here_) {
      add_perf_map(proc_directory(process_.pid) + "/root/tmp/" + map, Trust::owner);
    } else if (!process_.core_path.empty()) {
      add_perf_map("/tmp/" + map, Trust::age);
    }
    return std::move(files_);
  }

 private:
  // What makes a perf map believable: the user named its directory, its owner, its age.
  enum class Trust { named, owner, age };

  [[nodiscard]] std::vector<std::string> named_directories() const {
    std::vector<std::string> directories = process_.search.directories;
    if (!process_.search.sysroot.empty()) {
      directories.push_back(process_.search.sysroot + "/tmp");
    }
    if (!process_.core_path.empty()) {
      directories.push_back(directory_of(process_.core_path));
    }
    return directories;
  }

  void add_mapped_dump(std::string path) {
    const std::string name = base_name(path);
    if (!name.starts_with("jit-") || path.ends_with(kDeleted) || !name.ends_with(".dump")) {
      return;
    }
    if (here_) {
      path = proc_directory(process_.pid) + "/root" + path;
    }
    add_dump(path);
  }

  void add_dump(const std::string& path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || !is_new(status)) {
      return;
    }
    try {
      auto file = MappedFile::open(path);
      const auto header = read_jitdump_header(file->bytes());
      if (!header || header->machine != process_.arch->abi.elf_machine || header->pid != pid_) {
        files_.remarks.push_back(path + " is not the jitdump of process " + std::to_string(pid_) +
                                 ": it lends no names.");
        return;
      }
      files_.jitdumps.push_back(std::move(file));
    } catch (const Error& error) {
      files_.remarks.push_back(std::string(error.what()) + ".");
    }
  }

  void add_perf_map(const std::string& path, Trust trust) {
    const RegularFile found = try_regular(path);
    const Descriptor file(found.number);
    if (file.get() >= 0 && is_new(found.status) && is_trusted(path, found.status, trust)) {
      if (auto text = read_text(file.get())) {
        files_.perf_maps.push_back({path, std::move(*text), trust == Trust::age});
      }
    }
  }

  bool is_trusted(const std::string& path, const struct stat& status, Trust trust) {
    struct stat other = {};
    if (trust == Trust::owner && ::stat(proc_directory(process_.pid).c_str(), &other) == 0 &&
        status.st_uid != 0 && status.st_uid != other.st_uid) {
      files_.remarks.push_back(path + " belongs to user " + std::to_string(status.st_uid) +
                               " and not to the process's: it lends no names.");
      return false;
    }
    // A later process may have had the same id.
    return trust != Trust::age ||
           (::stat(process_.core_path.c_str(), &other) == 0 && status.st_mtime <= other.st_mtime);
  }

  // Whether the file was not found before under another name.
  bool is_new(const struct stat& status) {
    const std::pair<dev_t, ino_t> identity(status.st_dev, status.st_ino);
    const bool known = std::ranges::find(seen_, identity) != seen_.end();
    if (!known) {
      seen_.push_back(identity);
    }
    return !known;
  }

  const ProcessImage& process_;
  bool here_;
  std::int64_t pid_;
  std::vector<std::pair<dev_t, ino_t>> seen_;
  JitFiles files_;
};

}  // namespace

JitFiles find_jit_files(const ProcessImage& process) { return Finder(process).run(); }

}  // namespace whocall
