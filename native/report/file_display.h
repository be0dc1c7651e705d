// How text names files.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>

#include "process/process_image.h"

namespace whocall {

// As gdb's `set filename-display`.
enum class FileDisplay : std::uint8_t {
  relative,  // modules by their base names, sources as debug info has them
  basename,  // both by their base names
  absolute   // modules by their whole paths
};

std::string_view last_part(std::string_view path);

class FileNames {
 public:
  // Two of `modules` with one base name are told by their paths.
  FileNames(FileDisplay display, std::span<const Module> modules);

  [[nodiscard]] std::string_view module(const Module& module) const;
  [[nodiscard]] std::string_view source(std::string_view path) const;

 private:
  FileDisplay display_;
  std::unordered_set<std::string_view> shared_;  // base names
};

}  // namespace whocall
