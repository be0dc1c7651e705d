#include "process/minidump/library_places.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "files/file_finder.h"

namespace whocall {
namespace {

constexpr std::array<std::string_view, 2> kVdsoNames = {"linux-vdso", "linux-gate"};

bool is_bare(const ToldModule& module) { return module.path.find('/') == std::string::npos; }

std::string below_root(const std::string& root, std::string_view folder) {
  return (root.empty() ? "/" : root + "/") + std::string(folder);
}

// By name.
std::vector<std::string> folders_of_machines(const std::string& parent) {
  std::vector<std::string> found;
  std::error_code error;
  std::filesystem::directory_iterator entry(parent, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string path = entry->path().string();
    if (std::ranges::any_of(kFolderEnds,
                            [&](std::string_view end) { return path.ends_with(end); })) {
      found.push_back(path);
    }
  }
  std::ranges::sort(found);
  return found;
}

void append_folders(std::vector<std::string>& folders, const std::string& root,
                    const std::string& of_program) {
  if (!of_program.empty()) {
    folders.push_back(root + of_program);
  }
  for (const std::string_view folder : kLibraryFolders) {
    folders.push_back(below_root(root, folder));
  }
  for (const std::string_view parent : kParentFolders) {
    const auto more = folders_of_machines(below_root(root, parent));
    folders.insert(folders.end(), more.begin(), more.end());
  }
}

// As the process names it: "/" and what stands behind the sysroot.
std::string as_process_names(const std::string& path, const std::string& sysroot) {
  const bool below = !sysroot.empty() && path.starts_with(sysroot);
  const std::string_view rest = std::string_view(path).substr(below ? sysroot.size() : 0);
  return "/" + std::string(rest.substr(std::min(rest.find_first_not_of('/'), rest.size())));
}

}  // namespace

void find_library_places(std::vector<ToldModule>& modules, const std::string& sysroot,
                         const Architecture& arch) {
  if (std::ranges::none_of(modules, is_bare)) {
    return;
  }
  const auto program = std::ranges::find_if_not(modules, is_bare);
  std::string of_program = program == modules.end() ? std::string() : program->path;
  of_program.erase(std::min(of_program.rfind('/'), of_program.size()));
  std::vector<std::string> folders;
  append_folders(folders, sysroot, of_program);
  if (!sysroot.empty()) {
    append_folders(folders, {}, of_program);
  }
  const FileSearch nowhere;
  FileFinder finder(nowhere, arch, {});
  for (ToldModule& module : modules) {
    const auto is_vdso = [&](std::string_view name) { return module.path.starts_with(name); };
    if (std::ranges::any_of(kVdsoNames, is_vdso)) {
      module.path = "[vdso]";
    } else if (is_bare(module) && !module.build_id.empty()) {
      for (const std::string& folder : folders) {
        const std::string path = folder + "/" + module.path;
        const auto file = finder.open(path);
        if (file != nullptr && file->build_id() == module.build_id) {
          module.path = as_process_names(path, sysroot);
          break;
        }
      }
    }
  }
}

}  // namespace whocall
