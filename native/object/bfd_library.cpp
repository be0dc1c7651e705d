#include "object/bfd_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace whocall {
namespace {

constexpr const char* kPlugin = "whocall_bfd.so";
constexpr const char* kFactory = "whocall_bfd_library";

struct Loaded {
  BfdLibrary* library = nullptr;
  std::string failure;
};

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

std::vector<std::filesystem::path> candidates() {
  if (const char* directory = std::getenv("WHOCALL_PLUGIN_DIR")) {
    return {std::filesystem::path(directory) / kPlugin};
  }
  // Beside the installed module; for programs of the build tree in the package's folder below.
  const std::filesystem::path directory = own_directory();
  return {directory / kPlugin, directory / "whocall" / kPlugin};
}

Loaded load_from(const std::filesystem::path& path) {
  void* plugin = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    const char* reason = ::dlerror();
    return {nullptr, std::string("libbfd cannot be loaded: ") + (reason ? reason : path.c_str()) +
                         ". Run `apt-get install binutils-dev` (or your system's like), then "
                         "reinstall whocall: the plugin fits one release of binutils only"};
  }
  using Factory = BfdLibrary* (*)();
  const auto factory = reinterpret_cast<Factory>(::dlsym(plugin, kFactory));
  if (factory == nullptr) {
    return {nullptr, path.string() + ": is not a plugin of this release. Reinstall whocall"};
  }
  return {factory(), {}};
}

Loaded load() {
  std::string searched;
  for (const std::filesystem::path& path : candidates()) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      return load_from(path);
    }
    searched += (searched.empty() ? "" : ", ") + path.string();
  }
  return {nullptr, std::string(kPlugin) + ": not found (looked for " + searched +
                       "). Reinstall whocall where binutils-dev is installed "
                       "(`apt-get install binutils-dev`)"};
}

// The plugin stays loaded: names that it made may still be shown when the program ends.
const Loaded& loaded() {
  static const Loaded kLoaded = load();
  return kLoaded;
}

}  // namespace

BfdLibrary* BfdLibrary::get() { return loaded().library; }

std::string BfdLibrary::load_failure() { return loaded().failure; }

}  // namespace whocall
