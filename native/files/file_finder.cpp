#include "files/file_finder.h"

#include <elf.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/hex.h"
#include "base/mapped_file.h"
#include "files/debuginfod.h"
#include "object/embedded_file.h"
#include "object/open_files.h"

namespace whocall {
namespace {

// Of files looked at in one directory for their build ids: a home directory must not cost minutes.
constexpr std::size_t kDirectoryLimit = 20000;

std::string join(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.ends_with('/')) {
    path += '/';
  }
  return path.append(name.starts_with('/') ? name.substr(1) : name);
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Whether there is a file at `path` that can be read and is none of ours. Example: the image with
// the compiled code of a Lisp, which its runtime maps by itself.
bool is_other_format(const std::string& path) {
  try {
    const auto file = MappedFile::open(path);
    const auto begin = file->bytes().first(std::min<std::size_t>(file->bytes().size(), SELFMAG));
    return !std::ranges::equal(begin, std::string_view(ELFMAG), {},
                               [](std::byte byte) { return std::to_integer<char>(byte); });
  } catch (const Error&) {
    return false;
  }
}

// Situation: older versions of Breakpad keep 16 bytes of a build id, whatever its size. Example:
// the minidumps of programs built a decade ago. Remedy: a file's longer id may begin with those.
bool is_same_build(const std::string& wanted, const std::string& found) {
  constexpr std::size_t kKept = 32;  // digits
  return wanted == found || (wanted.size() == kKept && found.starts_with(wanted));
}

bool is_loadable(const ElfFile& file) { return file.type() == ET_EXEC || file.type() == ET_DYN; }

}  // namespace

bool is_debug_only(const ElfFile& file) {
  return std::ranges::any_of(file.sections(), [](const ElfSection& section) {
    return (section.flags & SHF_ALLOC) != 0 && (section.flags & SHF_EXECINSTR) != 0 &&
           section.type == SHT_NOBITS;
  });
}

FileFinder::FileFinder(const FileSearch& search, const Architecture& arch, std::string process_root)
    : search_(search), arch_(arch), process_root_(std::move(process_root)) {}

std::shared_ptr<const ElfFile> FileFinder::open(const std::string& path) {
  const auto [entry, is_new] = opened_.try_emplace(path);
  if (is_new) {
    try {
      entry->second = open_shared(path, Formats::elf_and_pe);
    } catch (const Error&) {
      // Not there, not readable or of no format: the next candidate's turn.
    }
  }
  return entry->second;
}

FileFinder::Verdict FileFinder::judge(const FileQuery& query, const ElfFile* file) const {
  if (file == nullptr || !is_loadable(*file) || !arch_.abi.is_of(file->identity())) {
    return Verdict::absent;
  }
  const bool both_have_ids = !query.build_id.empty() && !file->build_id().empty();
  if (both_have_ids && !is_same_build(query.build_id, file->build_id())) {
    return Verdict::rejected;
  }
  if (!both_have_ids && query.fits && !query.fits(*file)) {
    return Verdict::rejected;
  }
  return is_debug_only(*file) ? Verdict::debug_only : Verdict::good;
}

// Those that need no build id.
std::vector<std::string> FileFinder::candidates(const FileQuery& query) const {
  std::vector<std::string> paths = query.first;
  const bool absolute = query.path.starts_with('/');
  if (!search_.sysroot.empty() && absolute) {
    paths.push_back(join(search_.sysroot, query.path));
  }
  const bool elsewhere = !process_root_.empty() && absolute;
  if (elsewhere) {
    paths.push_back(join(process_root_, query.path));
  }
  // The kernel names the files of a chroot by our root directory, of other roots by theirs. Only a
  // build id can tell a file of theirs from one of ours at the same path.
  if (!query.path.empty() && !query.path.starts_with('[') &&
      !(elsewhere && query.build_id.empty())) {
    paths.push_back(query.path);
  }
  const std::string name = base_name(query.path);
  for (const std::string& directory : search_.directories) {
    if (!name.empty()) {
      paths.push_back(join(directory, name));
    }
    if (absolute) {
      paths.push_back(join(directory, query.path));  // it may be a copy of a root directory
    }
  }
  return paths;
}

std::shared_ptr<const ElfFile> FileFinder::embedded(const std::string& path,
                                                    const FileQuery& query) {
  if (query.offset == 0 || query.budget == nullptr || !is_other_format(path)) {
    return nullptr;
  }
  const auto [entry, is_new] = opened_.try_emplace(path + "@" + hex(query.offset));
  if (is_new) {
    entry->second = open_embedded(path, query.offset, *query.budget);
  }
  return entry->second;
}

// True when the search is over.
bool FileFinder::try_path(const FileQuery& query, const std::string& path, FoundFile& result) {
  auto file = open(path);
  if (file == nullptr) {
    file = embedded(path, query);
  }
  if (file == nullptr && result.other_format.empty() && is_other_format(path)) {
    result.other_format = path;
  }
  switch (judge(query, file.get())) {
    case Verdict::absent:
      return false;
    case Verdict::rejected:
      result.rejected.push_back({path, file->build_id()});
      return false;
    case Verdict::debug_only:
      if (result.file == nullptr) {
        result.file = std::move(file);
        result.path = path;
        result.debug_only = true;
      }
      return false;
    case Verdict::good:
      result.file = std::move(file);
      result.path = path;
      result.debug_only = false;
      return true;
  }
  return false;
}

FoundFile FileFinder::find(const FileQuery& query) {
  FoundFile result;
  const auto good = [&](const std::string& path) { return try_path(query, path, result); };
  if (std::ranges::any_of(candidates(query), good) || try_by_build_id(query, result) ||
      std::ranges::any_of(query.last, good)) {
    return result;
  }
  fetch(query, result);
  return result;
}

bool FileFinder::try_by_build_id(const FileQuery& query, FoundFile& result) {
  if (query.build_id.size() <= 2) {
    return false;
  }
  const std::string by_id = path_by_build_id(query.build_id);
  if (!by_id.empty() && try_path(query, by_id, result)) {
    return true;
  }
  const std::string hashed =
      ".build-id/" + query.build_id.substr(0, 2) + "/" + query.build_id.substr(2);
  for (const auto* directories : {&search_.directories, &search_.debug_directories}) {
    for (const std::string& directory : *directories) {
      if (try_path(query, join(directory, hashed), result) ||
          try_path(query, join(directory, hashed + ".debug"), result)) {
        return true;
      }
    }
  }
  return false;
}

// A debug file is the second choice here as well.
void FileFinder::fetch(const FileQuery& query, FoundFile& result) {
  if (search_.debuginfod == nullptr || query.build_id.empty()) {
    return;
  }
  const auto take = [&](FetchedFile fetched) {
    if (fetched.file == nullptr) {
      result.remark = std::move(fetched.remark);
      return false;
    }
    const std::string path = fetched.file->path();
    opened_[path] = std::move(fetched.file);
    return try_path(query, path, result);
  };
  if (!take(search_.debuginfod->executable(query.build_id, query.path)) && result.file == nullptr) {
    const std::string remark = result.remark;  // the file itself is what is missed
    take(search_.debuginfod->debug_info(query.build_id, query.path));
    result.remark = remark;
  }
}

// The file in the user's directories that has the build id, whatever its name; empty when none.
std::string FileFinder::path_by_build_id(const std::string& build_id) {
  if (!indexed_) {
    indexed_ = true;
    for (const std::string& directory : search_.directories) {
      std::error_code error;
      std::filesystem::directory_iterator entry(directory, error);
      std::size_t count = 0;
      for (; !error && entry != std::filesystem::directory_iterator() && count < kDirectoryLimit;
           entry.increment(error), ++count) {
        std::error_code unreadable;
        if (!entry->is_regular_file(unreadable)) {
          continue;
        }
        const std::string path = entry->path().string();
        const auto file = open(path);
        if (file == nullptr || file->build_id().empty() || !is_loadable(*file)) {
          opened_.erase(path);  // thousands of mappings of files that nobody wants
          continue;
        }
        // A debug file beside its program has the same id: the program goes first.
        auto& slot = path_by_build_id_[file->build_id()];
        if (slot.empty() || !is_debug_only(*file)) {
          slot = path;
        }
      }
    }
  }
  const auto found = path_by_build_id_.find(build_id);
  return found == path_by_build_id_.end() ? std::string() : found->second;
}

}  // namespace whocall
