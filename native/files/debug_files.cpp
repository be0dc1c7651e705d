#include "files/debug_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hex.h"
#include "files/debuginfod.h"
#include "object/debug_link.h"
#include "object/open_files.h"

namespace whocall {
namespace {

std::string join(const std::string& directory, const std::string& name) {
  const bool has_slash = directory.ends_with('/') || name.starts_with('/');
  return has_slash ? directory + name : directory + "/" + name;
}

std::shared_ptr<const ElfFile> try_open(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {  // a pipe would wait for its writer
    return nullptr;
  }
  try {
    return open_shared(path);
  } catch (const Error&) {
    return nullptr;  // not readable or not ELF: as if it were not there
  }
}

std::string id_or_none(const std::string& build_id) {
  return build_id.empty() ? "no build id" : "build id " + build_id;
}

// Where the file itself lies, symbolic links resolved: the debug file lies where the real one does.
std::vector<std::string> directories_of(const std::string& path) {
  std::error_code error;
  const auto canonical = std::filesystem::canonical(path, error);
  const std::string own = std::filesystem::path(path).parent_path().string();
  std::vector<std::string> directories = {own.empty() ? "." : own};
  if (!error && canonical.parent_path().string() != directories.front()) {
    directories.push_back(canonical.parent_path().string());
  }
  return directories;
}

class DebugFileSearch {
 public:
  DebugFileSearch(const ElfFile& file, const FileSearch& search) : file_(file), search_(search) {
    for (const std::string& directory : search.debug_directories) {
      if (!search.sysroot.empty()) {
        roots_.push_back(join(search.sysroot, directory));
      }
      roots_.push_back(directory);
    }
  }

  DebugFile run() {
    if (by_build_id() || by_link() || by_debuginfod()) {
      result_.remark.clear();
    }
    return std::move(result_);
  }

 private:
  bool by_build_id() {
    const std::string& id = file_.build_id();
    if (id.size() <= 2) {
      return false;
    }
    const std::string hashed = ".build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
    const auto is_there = [&](const std::string& root) {
      return accept(join(root, hashed), std::nullopt);
    };
    return std::ranges::any_of(roots_, is_there) ||
           std::ranges::any_of(search_.directories, is_there);
  }

  bool by_link() {
    const auto link = debug_link_of(file_);
    if (!link) {
      return false;
    }
    for (const std::string& directory : directories_of(file_.path())) {
      if (accept(join(directory, link->name), link->crc) ||
          accept(join(join(directory, ".debug"), link->name), link->crc)) {
        return true;
      }
      for (const std::string& root : roots_) {
        if (directory.starts_with('/') &&
            accept(join(join(root, directory), link->name), link->crc)) {
          return true;
        }
      }
    }
    return std::ranges::any_of(search_.directories, [&](const std::string& directory) {
      return accept(join(directory, link->name), link->crc);
    });
  }

  bool by_debuginfod() {
    const bool is_kernels =
        file_.path().starts_with('[');  // the vDSO: no server has the running one
    if (search_.debuginfod == nullptr || file_.build_id().empty() || is_kernels ||
        file_.section(".debug_info") != nullptr) {
      return false;
    }
    FetchedFile fetched = search_.debuginfod->debug_info(file_.build_id(), file_.path());
    result_.file = std::move(fetched.file);
    if (!fetched.remark.empty()) {
      result_.remark += (result_.remark.empty() ? "" : " ") + fetched.remark;
    }
    return result_.file != nullptr;
  }

  bool accept(const std::string& path, std::optional<std::uint32_t> crc) {
    auto found = try_open(path);
    std::error_code error;
    if (found == nullptr || std::filesystem::equivalent(path, file_.path(), error)) {
      return false;
    }
    const std::string objection = object_to(*found, crc);
    if (objection.empty()) {
      result_.file = std::move(found);
      return true;
    }
    if (result_.remark.empty()) {
      result_.remark = "The debug file " + path + " " + objection +
                       ": it lends no names. Install the debug file of the very build that ran.";
    }
    return false;
  }

  // What speaks against a file that is there; empty when nothing does.
  [[nodiscard]] std::string object_to(const ElfFile& found,
                                      std::optional<std::uint32_t> crc) const {
    if (found.machine() != file_.machine() || found.pointer_size() != file_.pointer_size() ||
        found.endian() != file_.endian()) {
      return "is for another machine";
    }
    if (found.build_id() != file_.build_id() && (!crc || !found.build_id().empty())) {
      return "has " + id_or_none(found.build_id()) + ", but " + file_.path() + " has " +
             id_or_none(file_.build_id());
    }
    if (crc) {
      const std::uint32_t own = debug_link_crc(found.bytes());
      if (own != *crc) {
        return "has check sum " + hex(own) + ", but " + file_.path() + " asks for " + hex(*crc);
      }
    }
    return {};
  }

  const ElfFile& file_;
  const FileSearch& search_;
  std::vector<std::string> roots_;
  DebugFile result_;
};

}  // namespace

DebugFile find_debug_file(const ElfFile& file, const FileSearch& search) {
  return DebugFileSearch(file, search).run();
}

}  // namespace whocall
