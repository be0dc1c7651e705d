#include "object/bfd_library.h"

#include "object/plugin.h"

namespace whocall {
namespace {

constexpr PluginDescription kPlugin{
    .file = "whocall_bfd.so",
    .factory = "whocall_bfd_library",
    .library = "libbfd",
    .package = "binutils-dev",
    .fits = "one release of binutils",
};

// It stays loaded: names that it made may still be shown when the program ends.
const Plugin& loaded() {
  static const Plugin kLoaded = load_plugin(kPlugin);
  return kLoaded;
}

}  // namespace

BfdLibrary* BfdLibrary::get() { return static_cast<BfdLibrary*>(loaded().library); }

std::string BfdLibrary::load_failure() { return loaded().failure; }

}  // namespace whocall
