#include "report/file_display.h"

#include <map>

namespace whocall {

std::string_view last_part(std::string_view path) {
  const std::string_view base = path.substr(path.rfind('/') + 1);
  return base.empty() ? path : base;
}

FileNames::FileNames(FileDisplay display, std::span<const Module> modules) : display_(display) {
  std::map<std::string_view, std::string_view> paths;  // by base name
  for (const Module& module : modules) {
    const auto [known, is_new] = paths.emplace(last_part(module.path), module.path);
    if (!is_new && known->second != module.path) {
      shared_.insert(known->first);
    }
  }
}

std::string_view FileNames::module(const Module& module) const {
  const std::string_view base = last_part(module.path);
  const bool whole =
      display_ == FileDisplay::absolute || (!shared_.empty() && shared_.contains(base));
  return whole ? std::string_view(module.path) : base;
}

std::string_view FileNames::source(std::string_view path) const {
  return display_ == FileDisplay::basename ? last_part(path) : path;
}

}  // namespace whocall
