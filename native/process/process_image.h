// The image of a stopped process: threads with registers, memory, mappings, modules. Where it came
// from (a core, /proc, gdb's inferior) is forgotten from here on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "base/attachments.h"
#include "files/file_search.h"
#include "memory/memory.h"
#include "object/elf_file.h"

namespace whocall {

// What the kernel tells of a signal beside its number; a dump by another writer may keep a part.
struct SignalInfo {
  std::optional<int> code;           // si_code; at most 0: a process sent it
  std::optional<Address> address;    // si_addr of a fault, as the union's first word
  std::optional<std::uint32_t> pid;  // si_pid of the sender, from the same place
};

struct Thread {
  unsigned number = 0;                      // from 1, in the order of the source
  std::int64_t lwp = 0;                     // the kernel's thread id
  std::string name;                         // may be empty
  Registers registers;                      // the pc stands under arch->registers.pc
  bool crashed = false;                     // this thread took the signal that made the core
  int signal = 0;                           // 0: none
  std::optional<SignalInfo> signal_info{};  // of that signal
};

struct Mapping {
  AddressRange range;  // runtime addresses
  bool readable = false;
  bool writable = false;
  bool executable = false;
  std::uint64_t offset = 0;  // in the file, bytes
  std::string path;          // empty for anonymous memory
  // False where a core names the mapped file but not the protection, and no file could tell: then
  // the mapping counts as readable and executable.
  bool permissions_known = true;
};

enum class ModuleState : std::uint8_t {
  found,     // the file on disk is the one in memory, or nothing speaks against it
  missing,   // no file was found
  mismatch,  // a file was found, but its build id is another: it lends no names and no rows
  in_memory  // the image was read from the process itself (the vDSO; a file that is not to be had)
};
std::string_view to_string(ModuleState state);  // "found", "missing", "MISMATCH", "in memory"

struct Module {
  std::string path;                // as the process names it ("[vdso]" for the vDSO)
  std::string file_path;           // where the file was found; empty when missing
  AddressRange range;              // runtime, first to last byte
  Address bias = 0;                // runtime address = link address + bias (modulo 2^64)
  std::string build_id_in_memory;  // lower-case hex; empty when it could not be read
  std::string build_id_on_disk;
  ModuleState state = ModuleState::missing;
  std::string remark;          // one sentence on what is wrong and what to do; may be empty
  bool is_executable = false;  // the main program
  std::shared_ptr<const ElfFile> file;  // null unless found or in_memory

  // The build id to show: the one in memory, where it could be read.
  [[nodiscard]] const std::string& build_id() const {
    return build_id_in_memory.empty() ? build_id_on_disk : build_id_in_memory;
  }
  [[nodiscard]] Address link_address(Address runtime) const { return runtime - bias; }
  [[nodiscard]] Address runtime_address(Address link) const { return link + bias; }
};

// How a process was called. It may hold anything, as whoever starts a program gives its arguments.
struct CommandLine {
  std::string text;  // words with a space between them; empty when unknown
  bool cut = false;  // there was more
};

class ProcessImage {
 public:
  const Architecture* arch = nullptr;
  // What the image stands on, released last: the mapped core, the threads that are held still.
  std::shared_ptr<const void> source;
  std::unique_ptr<Memory> memory;
  std::vector<Thread> threads;
  std::vector<Mapping> mappings;  // sorted by range.begin, disjoint
  bool partial_map = false;       // there was more than they tell: what they lack proves nothing
  std::vector<Module> modules;    // sorted by range.begin, disjoint
  std::string core_path;          // empty for a live process
  std::string exe_path;           // empty when unknown
  CommandLine command_line;
  std::int64_t pid = 0;
  FileSearch search;                  // where its files were looked for
  std::vector<std::string> warnings;  // whole sentences: a truncated core, a missing note

  [[nodiscard]] const Module* module_at(Address runtime) const;
  [[nodiscard]] const Mapping* mapping_at(Address runtime) const;
  // Whether a program counter can stand there: in an executable mapping, or, where the source
  // tells no mappings, in an executable segment of a module or else in readable memory.
  [[nodiscard]] bool is_code(Address runtime) const;

  // Whether code at `runtime` may be a JIT compiler's: executable, and no file is behind it.
  [[nodiscard]] bool may_be_jit_code(Address runtime) const;
  // The code that the word at `slot` (runtime) points to; a miss where it cannot be read.
  [[nodiscard]] std::optional<Address> code_pointer_at(Address slot) const;

  // What others found out about the process and keep with it.
  [[nodiscard]] Attachments& attachments() const { return *attachments_; }

 private:
  std::shared_ptr<Attachments> attachments_ = std::make_shared<Attachments>();
};

}  // namespace whocall
