// Asks debuginfod servers for files by their build ids, through elfutils' libdebuginfod.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "files/debuginfod_client.h"
#include "object/elf_file.h"

namespace whocall {

struct FetchedFile {
  std::shared_ptr<const ElfFile> file;  // null when it is not to be had; else of the build id
  std::string remark;                   // why it is not to be had, a sentence; else empty
};

// The servers are those of the environment variable DEBUGINFOD_URLS, which gdb's `set debuginfod
// urls` writes as well; DEBUGINFOD_CACHE_PATH and DEBUGINFOD_TIMEOUT count too (debuginfod(7)). The
// library is opened when something is first asked for: who never asks does not need it. What was
// asked for once is remembered.
class Debuginfod {
 public:
  explicit Debuginfod(FetchWatch watch) : watch_(std::move(watch)) {}

  // `build_id` in lower-case hex; `name` is the module's path, to speak of it. Nothing but the
  // watch throws.
  FetchedFile debug_info(const std::string& build_id, const std::string& name);
  FetchedFile executable(const std::string& build_id, const std::string& name);

 private:
  enum class Kind { debug_info, executable };
  FetchedFile ask(Kind kind, const std::string& build_id, const std::string& name);
  FetchedFile fetch(Kind kind, const std::string& build_id, const std::string& name);

  FetchWatch watch_;
  // Servers that have let us wait in vain are not waited for again: a process has many modules.
  std::map<std::pair<Kind, std::string>, FetchedFile> answers_;  // by kind and build id
  std::string given_up_;  // why, a sentence; empty as long as they are asked
};

}  // namespace whocall
