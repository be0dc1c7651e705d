// The image of a stopped process: threads with registers, memory, mappings, modules. Where it came
// from (a core, /proc, gdb's inferior) is forgotten from here on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "base/attachments.h"
#include "memory/memory.h"
#include "object/elf_file.h"

namespace whocall {

class Debuginfod;

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

// Where to look for files that a process names.
struct FileSearch {
  std::string exe;                       // given by the user; empty: by the core's notes
  std::string sysroot;                   // put before absolute paths; empty: none
  std::vector<std::string> directories;  // searched by file name, then by build id
  // Of separate debug files: searched as DIR/.build-id/xx/yyyy.debug, and by debug link.
  std::vector<std::string> debug_directories;
  // Lists of names for modules, "[MODULE=]FILE[@BASE]" (symbol_files.h).
  std::vector<std::string> symbol_files;
  std::vector<std::string> signature_files;  // of static libraries (signature_names.h)
  std::shared_ptr<Debuginfod> debuginfod;    // null: no server is asked for what is missing
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

// Opens a core file. Throws Error (not a core, unknown architecture, unreadable); what is missing
// of a truncated core becomes a warning.
std::unique_ptr<ProcessImage> open_core(const std::string& path, const FileSearch& search);

// Takes a snapshot of a running process: attaches to every thread, reads registers, and stays
// attached (the process stopped) until the image is destroyed. Throws Error.
std::unique_ptr<ProcessImage> open_process(std::int64_t pid, const FileSearch& search);

// What gdb tells of its inferior; for anything that gdb can debug (live, remote, replayed).
struct InferiorSnapshot {
  std::string arch;  // our name
  std::int64_t pid = 0;
  std::vector<Thread> threads;
  std::vector<Mapping> mappings;  // may be empty when the target tells none
  struct File {
    std::string path;
    Address bias = 0;  // runtime address = link address + bias
    bool is_executable = false;
  };
  std::vector<File> files;           // modules as gdb has loaded them
  std::optional<Address> vdso;       // runtime address of its ELF header (AT_SYSINFO_EHDR)
  std::uint64_t signature_bits = 0;  // of code pointers; 0 where gdb does not tell
  // Whether it runs on this machine, so that /proc/PID is its own.
  bool is_local = false;
  // Reads up to `size` bytes; returns what could be read from the start on. Called with whole
  // pages; results are cached.
  std::function<std::vector<std::byte>(Address address, std::size_t size)> read_memory;
};
std::unique_ptr<ProcessImage> open_inferior(InferiorSnapshot snapshot, const FileSearch& search);

}  // namespace whocall
