// How text names files.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "process/process_image.h"

namespace whocall {

// As gdb's `set filename-display`.
enum class FileDisplay : std::uint8_t {
  relative,  // modules by their base names, sources as debug info has them
  basename,  // both by their base names
  absolute   // both by their whole paths
};

std::string_view last_part(std::string_view path);

// A source file's path as gdb's symtab_to_fullname makes it: joined to the directory that it is
// relative to, and without links and ".." where there is such a file.
std::string absolute_source(std::string_view path, std::string_view directory);

class FileNames {
 public:
  // Two of `modules` with one base name are told by their paths.
  FileNames(FileDisplay display, std::span<const Module> modules);

  [[nodiscard]] std::string_view module(const Module& module) const;
  // `directory`: what a relative path is relative to, empty where nothing tells. The result points
  // into the path or into this.
  std::string_view source(std::string_view path, std::string_view directory = {});
  // What stands where there is no room for what one of these told: whole paths stay if they are
  // what is wanted.
  [[nodiscard]] std::string_view narrow(std::string_view told) const;

 private:
  FileDisplay display_;
  std::unordered_set<std::string_view> shared_;  // base names
  // By path and directory: many frames lie in one file.
  std::map<std::pair<std::string, std::string>, std::string> absolute_;
};

}  // namespace whocall
