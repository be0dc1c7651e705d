// Parts of whocall that hang on a library which may be missing: shared objects beside the module,
// opened when they are first needed.
#pragma once

#include <string>

namespace whocall {

struct PluginDescription {
  const char* file;     // "whocall_bfd.so"
  const char* factory;  // its one function: no parameters, returns the library's interface
  const char* library;  // what it hangs on
  const char* package;  // Debian's, of its development files
  const char* fits;     // which releases of the library the built file fits
};

struct Plugin {
  void* library = nullptr;  // what the factory returned; null when there is none
  std::string failure;      // why not, and what to do
};

// The path of the file that load_plugin() would open; empty when there is none.
std::string plugin_path(const PluginDescription& plugin);

// Looks beside the installed module or, for programs of the build tree, in the folder of the
// package below; WHOCALL_PLUGIN_DIR names another folder. It is never closed.
Plugin load_plugin(const PluginDescription& plugin);

}  // namespace whocall
