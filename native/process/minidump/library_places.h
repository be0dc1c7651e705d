// Finds the files of libraries that a dump knows by name and build id alone.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "arch/architecture.h"
#include "process/told_module.h"

namespace whocall {

// Where the dynamic linkers of systems look, below the root; among them folders of the last two
// whose names end like this.
inline constexpr std::array<std::string_view, 9> kLibraryFolders = {
    "lib64", "usr/lib64", "lib",          "usr/lib",    "usr/local/lib",
    "lib32", "usr/lib32", "system/lib64", "system/lib",
};
inline constexpr std::array<std::string_view, 2> kParentFolders = {"lib", "usr/lib"};
inline constexpr std::array<std::string_view, 3> kFolderEnds = {"-linux-gnu", "-linux-gnueabihf",
                                                                "-linux-gnueabi"};

// Crashpad lists libraries by the names that they give themselves (`libc.so.6`). Those of the
// machine itself lie where its dynamic linker looks; the build id tells whether they are the right
// ones. Modules of which a bare name was told get paths as the process would name them: looked for
// below `sysroot`, then on this machine.
void find_library_places(std::vector<ToldModule>& modules, const std::string& sysroot,
                         const Architecture& arch);

}  // namespace whocall
