#include "object/dw/file_names.h"

#include <algorithm>

namespace whocall {
namespace {

// Whether `path` is `directory`, a slash, and a name without one.
bool lies_in(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() + 1 && path.starts_with(directory) &&
         path[directory.size()] == '/' &&
         path.find('/', directory.size() + 1) == std::string_view::npos;
}

}  // namespace

FileNames::FileNames(Dwarf_Die& unit, Dwarf_Half version, Dwarf_Files* files, std::size_t count)
    : files_(files), count_(count), version_(version) {
  const char* name = string_of(unit, DW_AT_name);
  const char* directory = string_of(unit, DW_AT_comp_dir);
  main_ = name != nullptr ? name : "";
  directory_ = directory != nullptr && *directory != '\0' ? std::string(directory) + "/" : "";
  const char* const* directories = nullptr;
  std::size_t directory_count = 0;
  if (files == nullptr || dwarf_getsrcdirs(files, &directories, &directory_count) != 0) {
    return;
  }
  for (std::size_t i = 1; i < directory_count; ++i) {
    if (directories[i] != nullptr) {
      directories_.emplace_back(directories[i]);
    }
  }
}

std::string FileNames::shown(std::size_t index) const {
  const bool present = files_ != nullptr && index < count_;
  return shown(present ? dwarf_filesrc(files_, index, nullptr, nullptr) : nullptr);
}

std::string FileNames::shown(const char* joined) const {
  if (joined == nullptr) {
    return {};
  }
  const std::string_view file = in_table(joined);
  return std::string(is_main(file) ? main_ : file);
}

std::string FileNames::directory_of(std::string_view shown) const {
  const bool is_relative = !shown.empty() && !shown.starts_with('/') && !directory_.empty();
  return is_relative ? directory_.substr(0, directory_.size() - 1) : std::string();
}

// What libdw has joined, without what gdb does not join: before DWARF 5 the compilation directory.
// A file that lies in one of the table's other directories has it from there.
std::string_view FileNames::in_table(std::string_view joined) const {
  const bool is_below = version_ < 5 && !directory_.empty() && joined.starts_with(directory_);
  const bool listed = is_below && std::ranges::any_of(directories_, [&](std::string_view each) {
                        return lies_in(joined, each);
                      });
  return is_below && !listed ? joined.substr(directory_.size()) : joined;
}

bool FileNames::is_main(std::string_view file) const {
  if (file == main_ || !directory_.starts_with('/') || main_.empty()) {
    return file == main_;
  }
  // One of them is absolute, or they would have been the same.
  const bool longer = file.starts_with('/');
  const std::string_view whole = longer ? file : main_;
  const std::string_view part = longer ? main_ : file;
  return whole.size() == directory_.size() + part.size() && whole.starts_with(directory_) &&
         whole.ends_with(part);
}

}  // namespace whocall
