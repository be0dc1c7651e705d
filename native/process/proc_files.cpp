#include "process/proc_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/regular_file.h"
#include "base/text_lines.h"

namespace whocall {
namespace {

// Takes the next word off the front of `line`.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

// The kernel writes a line feed in a path as \012.
std::string unescape(std::string_view path) {
  constexpr std::string_view kLineFeed = "\\012";
  std::string result;
  while (true) {
    const auto found = path.find(kLineFeed);
    result += path.substr(0, found);
    if (found == std::string_view::npos) {
      return result;
    }
    result += '\n';
    path.remove_prefix(found + kLineFeed.size());
  }
}

// "7f00-7f10 r-xp 00001000 fd:00 1234     /path/with spaces"
std::optional<Mapping> parse_row(std::string_view line) {
  const std::string_view range = next_word(line);
  const std::string_view permissions = next_word(line);
  const auto offset = hexadecimal(next_word(line));
  next_word(line);                                 // device
  const std::string_view inode = next_word(line);  // which a copy may have cut off, as the path
  const auto dash = range.find('-');
  if (dash == std::string_view::npos || permissions.size() < 4 || !offset || inode.empty()) {
    return std::nullopt;
  }
  const auto begin = hexadecimal(range.substr(0, dash));
  const auto end = hexadecimal(range.substr(dash + 1));
  if (!begin || !end || *end <= *begin) {
    return std::nullopt;
  }
  Mapping mapping;
  mapping.range = {*begin, *end};
  mapping.readable = permissions[0] == 'r';
  mapping.writable = permissions[1] == 'w';
  mapping.executable = permissions[2] == 'x';
  mapping.offset = *offset;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (line.starts_with('/')) {
    mapping.path = unescape(line);
  }
  return mapping;
}

}  // namespace

std::optional<std::string> read_proc_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 1U << 14U> part;
  while (file.get() >= 0) {
    const ssize_t size = ::read(file.get(), part.data(), part.size());
    if (size == 0) {
      return text;
    }
    if (size < 0 && errno != EINTR) {
      return std::nullopt;  // the process has ended since
    }
    text.append(part.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  return std::nullopt;
}

std::vector<Mapping> parse_maps(std::string_view text, Budget* budget) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (auto mapping = parse_row(line); mapping) {
      if (budget != nullptr && !budget->draw(Cost::mappings, 1)) {
        break;
      }
      mappings.push_back(std::move(*mapping));
    }
  }
  return mappings;
}

std::string status_field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
      line.remove_prefix(name.size() + 1);
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      return std::string(line);
    }
  }
  return {};
}

std::vector<std::int64_t> thread_ids(std::int64_t pid) {
  std::vector<std::int64_t> ids;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/" + std::to_string(pid) + "/task", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::int64_t id = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), id);
    if (parsed.ec == std::errc() && id > 0) {
      ids.push_back(id);
    }
  }
  std::ranges::sort(ids);
  return ids;
}

std::string process_root(std::int64_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  const bool same_mounts = proc_link(process + "/ns/mnt") == proc_link("/proc/self/ns/mnt");
  struct stat theirs = {};
  struct stat ours = {};
  const bool same_root = ::stat((process + "/root").c_str(), &theirs) == 0 &&
                         ::stat("/", &ours) == 0 && theirs.st_dev == ours.st_dev &&
                         theirs.st_ino == ours.st_ino;
  return same_mounts && same_root ? std::string() : process + "/root";
}

CommandLine command_line_of(std::int64_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/cmdline";
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> words{};
  const ssize_t size = file.get() < 0 ? 0 : ::read(file.get(), words.data(), words.size());
  if (size <= 0) {
    return {};
  }
  CommandLine line;
  line.text.assign(words.data(), static_cast<std::size_t>(size));
  line.cut = line.text.size() == words.size();
  std::ranges::replace(line.text, '\0', ' ');
  line.text.erase(line.text.find_last_not_of(' ') + 1);
  return line;
}

std::string proc_link(const std::string& path) {
  std::array<char, 4096> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  return size <= 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace whocall
