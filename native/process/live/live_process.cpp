#include "process/live/live_process.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <utility>

#include "arch/signed_pointers.h"
#include "base/error.h"
#include "memory/process_memory.h"
#include "object/elf_architecture.h"
#include "object/elf_header.h"
#include "process/core/core_notes.h"
#include "process/live/stopped_threads.h"
#include "process/local_process.h"
#include "process/modules/find_modules.h"
#include "process/proc_files.h"

namespace whocall {
namespace {

std::string process_directory(std::int64_t pid) { return "/proc/" + std::to_string(pid); }

void require_alive(std::int64_t pid) {
  const std::string name = "process " + std::to_string(pid);
  const auto status = pid > 0 ? read_proc_file(process_directory(pid) + "/status") : std::nullopt;
  if (!status) {
    throw Error(name, "does not exist", "Give the id of a running process");
  }
  const auto state = status_field(*status, "State");
  // A main thread that has ended is a zombie too, but then the process has other threads.
  if (state.starts_with('Z') && thread_ids(pid).size() < 2) {
    throw Error(name, "has ended and only waits for its parent",
                "Write a core when it crashes and give that instead");
  }
  const auto group = status_field(*status, "Tgid");
  if (!group.empty() && group != std::to_string(pid)) {
    throw Error(name, "is a thread of process " + group, "Give that process's id");
  }
}

// Whose files in /proc tell of the process: its main thread's, which has none any more where it has
// ended before the others.
std::int64_t living_thread(std::int64_t pid) {
  const auto status = read_proc_file(process_directory(pid) + "/status").value_or("");
  if (status_field(status, "State").starts_with('Z')) {
    for (const std::int64_t lwp : thread_ids(pid)) {
      if (lwp != pid) {
        return lwp;
      }
    }
  }
  return pid;
}

// By the program's ELF header: a 32-bit program runs on a 64-bit kernel as well.
const Architecture& architecture_of(std::int64_t pid) {
  const std::string path = process_directory(pid) + "/exe";
  std::array<char, sizeof(Elf64_Ehdr)> header{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(header.data(), header.size())) {
    // readlink says ENOENT for a kernel thread, EACCES where we may not look.
    std::array<char, 1> first{};
    const bool kernel = ::readlink(path.c_str(), first.data(), first.size()) < 0 && errno == ENOENT;
    throw Error("process " + std::to_string(pid),
                kernel ? "has no program: it is a kernel thread" : "cannot be examined",
                kernel ? "" : "Run as the process's user or as root");
  }
  const ByteView bytes(std::as_bytes(std::span(header)), Endian::little);
  const std::string name = "process " + std::to_string(pid);
  return require_architecture(name, parse_elf_header(bytes, name).identity);
}

std::string thread_name(std::int64_t pid, std::int64_t lwp) {
  auto name = read_proc_file(process_directory(pid) + "/task/" + std::to_string(lwp) + "/comm")
                  .value_or("");
  name.resize(std::min(name.find('\n'), name.size()));
  return name;
}

void add_threads(const StoppedThreads& stopped, ProcessImage& image) {
  for (const StoppedThread& source : stopped.threads()) {
    const std::string label = "Thread " + std::to_string(source.lwp);
    if (!source.stopped) {
      image.warnings.push_back(label +
                               " did not stop (it waits in the kernel), so its stack is not known. "
                               "Try again later.");
      continue;
    }
    if (source.registers.size() < image.arch->os.prstatus.registers_size) {
      image.warnings.push_back("The registers of thread " + std::to_string(source.lwp) +
                               " cannot be read: " + std::to_string(source.registers.size()) +
                               " bytes instead of " +
                               std::to_string(image.arch->os.prstatus.registers_size) + ".");
      continue;
    }
    Thread thread;
    thread.number = static_cast<unsigned>(image.threads.size() + 1);
    thread.lwp = source.lwp;
    thread.name = thread_name(image.pid, source.lwp);
    thread.registers =
        decode_registers(ByteView(source.registers, image.arch->abi.endian), *image.arch);
    image.threads.push_back(std::move(thread));
  }
}

AuxiliaryVector read_auxiliary_vector(std::int64_t pid, const Architecture& arch) {
  const auto text = read_proc_file(process_directory(pid) + "/auxv").value_or("");
  return parse_auxiliary_vector(ByteView(std::as_bytes(std::span(text)), arch.abi.endian),
                                arch.abi.pointer_size);
}

}  // namespace

std::unique_ptr<ProcessImage> open_process(std::int64_t pid, const FileSearch& search) {
  require_alive(pid);
  auto image = std::make_unique<ProcessImage>();
  image->pid = pid;
  image->attachments().get<LocalProcess>([&] { return LocalProcess{pid}; });
  const std::int64_t living = living_thread(pid);
  image->arch = &architecture_of(living);
  const auto stopped = std::make_shared<const StoppedThreads>(pid, *image->arch);
  image->source = stopped;
  for (const StoppedThread& thread : stopped->threads()) {
    image->arch = &with_signatures_in(*image->arch, thread.signature_bits);
  }
  image->command_line = command_line_of(living);
  add_threads(*stopped, *image);
  if (image->threads.empty()) {
    throw Error("process " + std::to_string(pid), "has no thread that could be stopped",
                image->warnings.empty() ? "It may just have ended" : image->warnings.front());
  }
  image->memory = std::make_unique<ProcessMemory>(living);
  image->mappings = parse_maps(read_proc_file(process_directory(living) + "/maps").value_or(""));
  if (image->mappings.empty()) {
    throw Error("process " + std::to_string(pid), "ended while it was examined");
  }
  const ProcessEvidence evidence{*image->arch,
                                 *image->memory,
                                 image->mappings,
                                 read_auxiliary_vector(living, *image->arch),
                                 proc_link(process_directory(living) + "/exe"),
                                 {}};
  find_modules(*image, evidence, {search, living, process_root(living)});
  return image;
}

}  // namespace whocall
