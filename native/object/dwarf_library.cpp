#include "object/dwarf_library.h"

#include "object/plugin.h"

namespace whocall {
namespace {

constexpr PluginDescription kPlugin{
    .file = "whocall_dw.so",
    .factory = "whocall_dw_library",
    .library = "libdw",
    .package = "libdw-dev",
    .fits = "elfutils from its own release on",
};

const Plugin& loaded() {
  static const Plugin kLoaded = load_plugin(kPlugin);
  return kLoaded;
}

}  // namespace

DwarfLibrary* DwarfLibrary::get() { return static_cast<DwarfLibrary*>(loaded().library); }

std::string DwarfLibrary::load_failure() { return loaded().failure; }

std::string DwarfLibrary::path() { return plugin_path(kPlugin); }

}  // namespace whocall
