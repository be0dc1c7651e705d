#include "report/form/file_display.h"

#include <filesystem>
#include <system_error>

namespace whocall {

std::string_view last_part(std::string_view path) {
  const std::string_view base = path.substr(path.rfind('/') + 1);
  return base.empty() ? path : base;
}

std::string absolute_source(std::string_view path, std::string_view directory) {
  std::string joined(path);
  if (!path.empty() && !path.starts_with('/') && !directory.empty()) {
    joined.insert(0, std::string(directory).append("/"));
  }
  if (!joined.starts_with('/')) {
    return joined;  // not what lies in the directory where whocall happens to run
  }
  std::error_code missing;
  const std::filesystem::path found = std::filesystem::canonical(joined, missing);
  return missing ? joined : found.string();
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

std::string_view FileNames::narrow(std::string_view told) const {
  return display_ == FileDisplay::absolute ? told : last_part(told);
}

std::string_view FileNames::source(std::string_view path, std::string_view directory) {
  if (display_ != FileDisplay::absolute) {
    return display_ == FileDisplay::basename ? last_part(path) : path;
  }
  const auto [known, is_new] =
      absolute_.try_emplace({std::string(path), std::string(directory)}, std::string());
  if (is_new) {
    known->second = absolute_source(path, directory);
  }
  return known->second;
}

}  // namespace whocall
