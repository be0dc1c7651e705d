#include "object/plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace whocall {
namespace {

// The folder of the module or program that holds this code.
std::filesystem::path own_directory() {
  Dl_info info = {};
  static const char kAnchor = 0;
  if (::dladdr(&kAnchor, &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code ignored;
  auto path = std::filesystem::canonical(info.dli_fname, ignored);
  if (ignored) {  // a program's name is as it was typed; the kernel knows where it lies
    path = std::filesystem::canonical("/proc/self/exe", ignored);
  }
  return path.parent_path();
}

std::vector<std::filesystem::path> candidates(const char* file) {
  if (const char* directory = std::getenv("WHOCALL_PLUGIN_DIR")) {
    return {std::filesystem::path(directory) / file};
  }
  const std::filesystem::path directory = own_directory();
  return {directory / file, directory / "whocall" / file};
}

Plugin load_from(const std::filesystem::path& path, const PluginDescription& plugin) {
  void* opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* reason = ::dlerror();
    return {nullptr, std::string(plugin.library) +
                         " cannot be loaded: " + (reason ? reason : path.c_str()) +
                         ". Run `apt-get install " + plugin.package +
                         "` (or your system's like), then reinstall whocall: the plugin fits " +
                         plugin.fits + " only"};
  }
  using Factory = void* (*)();
  const auto factory = reinterpret_cast<Factory>(::dlsym(opened, plugin.factory));
  if (factory == nullptr) {
    return {nullptr, path.string() + ": is not a plugin of this release. Reinstall whocall"};
  }
  return {factory(), {}};
}

}  // namespace

std::string plugin_path(const PluginDescription& plugin) {
  for (const std::filesystem::path& path : candidates(plugin.file)) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      return path.string();
    }
  }
  return {};
}

Plugin load_plugin(const PluginDescription& plugin) {
  std::string searched;
  for (const std::filesystem::path& path : candidates(plugin.file)) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      return load_from(path, plugin);
    }
    searched += (searched.empty() ? "" : ", ") + path.string();
  }
  return {nullptr, std::string(plugin.file) + ": not found (looked for " + searched +
                       "). Reinstall whocall where " + plugin.package +
                       " is installed (`apt-get install " + plugin.package + "`)"};
}

}  // namespace whocall
