#include "process/minidump/core_notes_writer.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/byte_sink.h"
#include "process/core/core_writer.h"
#include "process/core/own_notes.h"

namespace whocall {
namespace {

constexpr std::uint64_t kNotePage = 4096;
constexpr std::string_view kKernel = "CORE";

ByteSink sink_of(const Minidump& dump) {
  return {dump.arch->abi.endian, dump.arch->abi.pointer_size};
}

// struct elf_prstatus; what the dump does not tell is zero.
void append_status(ByteSink& out, const Minidump& dump, const DumpedThread& thread) {
  const PrstatusLayout& layout = dump.arch->os.prstatus;
  const auto signal = static_cast<std::uint32_t>(dump.signal ? dump.signal->number : 0);
  const Endian endian = dump.arch->abi.endian;
  std::vector<std::byte> status(layout.size);
  ByteSink::put_at(status.data(), endian, signal);  // si_signo
  ByteSink::put_at(status.data() + layout.signal_offset, endian,
                   static_cast<std::uint16_t>(signal));
  ByteSink::put_at(status.data() + layout.lwp_offset, endian, thread.lwp);
  const std::size_t room = layout.size - layout.registers_offset;
  std::memcpy(status.data() + layout.registers_offset, thread.registers.data(),
              std::min(room, thread.registers.size()));
  append_note(out, kKernel, NT_PRSTATUS, status);
}

std::string_view base_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view program_name(const Minidump& dump) {
  if (!dump.modules.empty()) {
    return base_name_of(dump.modules.front().path);
  }
  const std::string_view command = dump.command;
  return base_name_of(command.substr(0, command.find(' ')));
}

// struct elf_prpsinfo: numbers, then a name of 16 bytes and a command line of 80.
void append_process(ByteSink& out, const Minidump& dump) {
  const bool wide = dump.arch->abi.pointer_size == 8;
  std::vector<std::byte> info(wide ? 136 : 124);
  std::byte* const name_at = info.data() + (wide ? 40 : 28);
  const std::uint32_t pid = dump.pid != 0 ? dump.pid : dump.threads.front().lwp;
  ByteSink::put_at(name_at - 16, dump.arch->abi.endian, pid);
  const auto put_text = [](std::byte* at, std::string_view text, std::size_t most) {
    std::ranges::copy(std::as_bytes(std::span(text.substr(0, most))), at);
  };
  put_text(name_at, program_name(dump), 15);
  const std::string_view path =
      dump.modules.empty() ? std::string_view() : std::string_view(dump.modules.front().path);
  put_text(name_at + 16, dump.command.empty() ? path : std::string_view(dump.command), 79);
  append_note(out, kKernel, NT_PRPSINFO, info);
}

// siginfo_t, where the code is told, with the address of the fault or the sender.
void append_signal(ByteSink& out, const Minidump& dump) {
  const DumpedSignal& signal = *dump.signal;
  if (signal.code) {
    ByteSink info = sink_of(dump);
    info.u32(static_cast<std::uint32_t>(signal.number)).u32(0);
    info.u32(static_cast<std::uint32_t>(*signal.code)).align(dump.arch->abi.pointer_size);
    const std::uint64_t address = signal.address.value_or(0);
    info.word(address != 0 ? address : signal.sender.value_or(0)).align(128);
    append_note(out, kKernel, NT_SIGINFO, info.bytes());
  }
  append_note(out, kOwnNotes, kSignalNote,
              signal_note({signal.code, signal.address, signal.sender}, dump.arch->abi.endian));
}

// NT_FILE of the mappings that name files.
void append_files(ByteSink& out, const Minidump& dump) {
  const Address last = dump.arch->address_mask();
  const auto is_file = [&](const Mapping& each) {
    return !each.path.empty() && !each.path.starts_with('[') && each.range.end <= last &&
           each.offset / kNotePage <= last;
  };
  ByteSink files = sink_of(dump);
  files.word(static_cast<std::uint64_t>(std::ranges::count_if(dump.mappings, is_file)));
  files.word(kNotePage);
  ByteSink names = sink_of(dump);
  for (const Mapping& each : dump.mappings) {
    if (is_file(each)) {
      files.word(each.range.begin).word(each.range.end).word(each.offset / kNotePage);
      names.text(each.path);
    }
  }
  files.append(names.bytes());
  append_note(out, kKernel, NT_FILE, files.bytes());
}

void append_process_notes(ByteSink& out, const Minidump& dump) {
  append_process(out, dump);
  if (dump.signal) {
    append_signal(out, dump);
  }
  if (!dump.auxiliary.empty()) {
    append_note(out, kKernel, NT_AUXV, dump.auxiliary);
  }
  append_files(out, dump);
  const Endian endian = dump.arch->abi.endian;
  append_note(out, kOwnNotes, kModuleNote, module_note(dump.modules, endian));
  if (!dump.is_mapped) {
    append_note(out, kOwnNotes, kPartialMapNote, {});
  }
  std::vector<ToldName> names;
  for (const DumpedThread& thread : dump.threads) {
    if (!thread.name.empty()) {
      names.push_back({thread.lwp, thread.name});
    }
  }
  append_note(out, kOwnNotes, kNameNote, name_note(names, endian));
}

}  // namespace

std::vector<std::byte> core_notes_of(const Minidump& dump) {
  ByteSink out = sink_of(dump);
  for (const DumpedThread& thread : dump.threads) {
    append_status(out, dump, thread);
    if (&thread == &dump.threads.front()) {
      append_process_notes(out, dump);
    }
  }
  return std::move(out).take();
}

}  // namespace whocall
