#include "process/core/core_notes.h"

#include <elf.h>

#include <algorithm>
#include <csignal>
#include <unordered_map>

#include "arch/elf_machine.h"
#include "arch/system_call_abi.h"
#include "base/byte_reader.h"

namespace whocall {
namespace {

bool dumps_core(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
         signal == SIGTRAP || signal == SIGABRT || signal == SIGSYS || signal == SIGQUIT ||
         signal == SIGXCPU || signal == SIGXFSZ;
}

bool is_of_process(const ElfNote& note) { return note.owner == "CORE" || note.owner.empty(); }

// A fixed field of characters, cut at the first NUL or at the field's end.
std::string text_in(ByteView field) {
  std::string text(reinterpret_cast<const char*>(field.bytes().data()), field.size());
  return text.substr(0, text.find('\0'));
}

class NoteReader {
 public:
  explicit NoteReader(const Architecture& arch) : arch_(arch) {}

  CoreNotes read(std::span<const ElfNote> notes) {
    for (const ElfNote& note : notes) {
      if (is_of_process(note)) {
        read_note(note);
      } else if (note.owner == "LINUX") {
        read_of_machine(note);
      } else if (is_own(note, kModuleNote)) {
        result_.modules = parse_module_note(note.contents);
      } else if (is_own(note, kNameNote)) {
        names_ = parse_name_note(note.contents);
      } else if (is_own(note, kSegmentNote)) {
        result_.segments = parse_segment_note(note.contents);
      } else if (is_own(note, kBlankRegistersNote) && !result_.threads.empty()) {
        forget_registers(note.contents.read<std::uint64_t>(0).value_or(0));
      } else if (is_own(note, kPartialMapNote)) {
        result_.partial_map = true;
      } else if (is_own(note, kSignalNote) && !result_.threads.empty()) {
        result_.threads.back().signal_info = parse_signal_note(note.contents);
      }
    }
    decide_who_crashed();
    std::unordered_map<std::int64_t, const std::string*> names;
    for (const ToldName& each : names_) {
      names.try_emplace(each.lwp, &each.name);
    }
    for (Thread& thread : result_.threads) {
      const auto own = names.find(thread.lwp);
      thread.name = own == names.end() ? result_.name : *own->second;  // the kernel tells no other
    }
    return std::move(result_);
  }

 private:
  void read_of_machine(const ElfNote& note) {
    const auto is = [&](std::uint32_t type) { return type != 0 && note.type == type; };
    if (is(arch_.os.signatures.type)) {
      result_.signature_bits =
          note.contents.read<std::uint64_t>(arch_.os.signatures.offset).value_or(0);
    } else if (is(arch_.os.thread_areas.type) && !result_.threads.empty()) {
      read_thread_areas(note.contents);
    }
  }

  // Of the thread whose registers came last: those that were made zero.
  void forget_registers(std::uint64_t blanks) {
    const auto layout = arch_.os.prstatus.registers;
    for (std::size_t at = 0; at < std::min<std::size_t>(layout.size(), 64); ++at) {
      const bool is_place =
          layout[at].number == arch_.registers.pc || layout[at].number == arch_.registers.sp;
      if ((blanks >> at & 1U) != 0 && !is_place) {
        result_.threads.back().registers.forget(layout[at].number);
      }
    }
  }

  // Of the thread whose registers came last. The kernel has three rows.
  void read_thread_areas(ByteView rows) {
    constexpr std::size_t kMost = 16;
    const ThreadAreaNote& form = arch_.os.thread_areas;
    const std::size_t end = std::min(rows.size(), kMost * form.row_size);
    for (std::size_t row = 0; row < end; row += form.row_size) {
      const auto address =
          rows.read_unsigned(row + form.address_offset, arch_.abi.pointer_size).value_or(0);
      if (address != 0) {
        result_.threads.back().registers.set(*arch_.registers.thread_pointer, address);
        return;
      }
    }
  }

  void read_note(const ElfNote& note) {
    switch (note.type) {
      case NT_PRSTATUS:
        add_thread(note.contents);
        break;
      case NT_PRPSINFO:
        read_process_info(note.contents);
        break;
      case NT_SIGINFO:
        read_signal_info(note.contents);
        break;
      case NT_AUXV:
        result_.auxiliary = parse_auxiliary_vector(note.contents, arch_.abi.pointer_size);
        result_.has_auxiliary = true;
        break;
      case NT_FILE:
        read_files(note.contents);
        break;
      default:
        break;
    }
  }

  // Situation: 64-bit kernels of MIPS have written the words of this note 8 bytes wide for 32-bit
  // programs as well. Example: LLDB's cores of o32 and n32, whose page size as a word of 4 bytes is
  // 0. Remedy: what makes no sense in the program's words is read in wide ones.
  void read_files(ByteView contents) {
    constexpr unsigned kWide = 8;
    result_.files = parse_file_note(contents, arch_.abi.pointer_size);
    if (result_.files.empty() && arch_.abi.pointer_size < kWide) {
      result_.files = parse_file_note(contents, kWide);
    }
  }

  void add_thread(ByteView contents) {
    const PrstatusLayout& layout = arch_.os.prstatus;
    const auto lwp = contents.read<std::uint32_t>(layout.lwp_offset);
    const auto registers = contents.slice(layout.registers_offset, layout.registers_size);
    if (!lwp || !registers || layout.registers_size == 0) {
      result_.warnings.push_back("The register note of thread " +
                                 std::to_string(result_.threads.size() + 1) + " has " +
                                 std::to_string(contents.size()) + " bytes instead of " +
                                 std::to_string(layout.size) + ": the thread is left out.");
      return;
    }
    Thread thread;
    thread.number = static_cast<unsigned>(result_.threads.size() + 1);
    thread.lwp = static_cast<std::int32_t>(*lwp);
    thread.signal = contents.read<std::uint16_t>(layout.signal_offset).value_or(0);
    thread.registers = decode_registers(*registers, arch_);
    result_.threads.push_back(std::move(thread));
  }

  // struct elf_prpsinfo: the two fields at its end have the same size everywhere, what stands
  // before differs (16 or 32 bit user ids). gdb is known to write it a few bytes short.
  void read_process_info(ByteView contents) {
    constexpr std::size_t kNameSize = 16;
    constexpr std::size_t kArgumentsSize = 80;
    const bool wide = arch_.abi.pointer_size == 8;
    // 124 bytes with 16-bit ids (i386, ARM), 128 with 32-bit ones, 136 for 64-bit.
    const std::size_t name_offset = wide ? 40 : contents.size() >= 128 ? 32 : 28;
    const std::size_t pid_offset = name_offset - 16;
    result_.pid = contents.read<std::uint32_t>(pid_offset).value_or(0);
    const ByteView rest = contents.from(name_offset);
    result_.name = text_in(rest.slice(0, std::min(kNameSize, rest.size())).value_or(ByteView()));
    const ByteView arguments = rest.from(kNameSize);
    std::string& text = result_.command_line.text;
    text = text_in(
        arguments.slice(0, std::min(kArgumentsSize, arguments.size())).value_or(ByteView()));
    result_.command_line.cut = text.size() + 1 >= kArgumentsSize;
    text.erase(text.find_last_not_of(' ') + 1);
    before_threads_ = result_.threads.empty();
  }

  // Belongs to the thread whose NT_PRSTATUS came last: once in the kernel's cores, for each thread
  // in gdb's.
  void read_signal_info(ByteView contents) {
    const auto number = contents.read<std::uint32_t>(0);
    if (!number || result_.threads.empty()) {
      return;
    }
    Thread& thread = result_.threads.back();
    const int signal = static_cast<int>(*number);
    if (thread.signal == 0 && dumps_core(signal)) {
      thread.signal = signal;
    }
    if (thread.signal == signal) {
      thread.signal_info = signal_info(contents);
    }
  }

  // siginfo_t: three numbers, then a union at the next multiple of a pointer's size.
  [[nodiscard]] std::optional<SignalInfo> signal_info(ByteView contents) const {
    const unsigned word = arch_.abi.pointer_size;
    const std::size_t parts = word == 8 ? 16 : 12;
    const bool code_first = elf_machine(arch_.abi.elf_machine).has_code_first;
    const auto code = contents.read<std::uint32_t>(code_first ? 4 : 8);
    const auto address = contents.read_unsigned(parts, word);
    const auto pid = contents.read<std::uint32_t>(parts);
    if (!code || !address || !pid) {
      return std::nullopt;
    }
    return SignalInfo{static_cast<std::int32_t>(*code), address, pid};
  }

  // The kernel writes the thread that took the signal first, and its signal into every thread.
  // gcore writes NT_PRPSINFO before all threads (the kernel after the first): there a first thread
  // may just have been looked at, stopped by gdb with SIGTRAP or SIGSTOP.
  void decide_who_crashed() {
    if (result_.threads.empty()) {
      return;
    }
    Thread& first = result_.threads.front();
    first.crashed =
        before_threads_ ? dumps_core(first.signal) && first.signal != SIGTRAP : first.signal != 0;
    for (Thread& thread : result_.threads) {
      if (!thread.crashed && (!before_threads_ || !dumps_core(thread.signal))) {
        thread.signal = 0;
        thread.signal_info.reset();
      }
    }
  }

  const Architecture& arch_;
  CoreNotes result_;
  std::vector<ToldName> names_;
  bool before_threads_ = false;  // NT_PRPSINFO came before the first thread
};

}  // namespace

Registers decode_registers(ByteView bytes, const Architecture& arch) {
  Registers registers;
  for (const SavedRegister& saved : arch.os.prstatus.registers) {
    if (const auto value = bytes.read_unsigned(saved.offset, saved.size); value) {
      registers.set(saved.number, *value);
    }
  }
  if (const SystemCallAbi* abi = system_call_abi(arch); abi != nullptr && abi->kept_size != 0) {
    if (const auto value = bytes.read_unsigned(abi->kept_offset, abi->kept_size); value) {
      registers.set(abi->kept, *value);
    }
  }
  return registers;
}

std::size_t register_note_size(std::span<const ElfNote> notes) {
  const auto first = std::ranges::find_if(
      notes, [](const ElfNote& note) { return is_of_process(note) && note.type == NT_PRSTATUS; });
  return first == notes.end() ? 0 : first->contents.size();
}

std::vector<MappedFileNote> parse_file_note(ByteView contents, unsigned pointer_size) {
  ByteReader reader(contents);
  const std::uint64_t count = reader.fixed(pointer_size);
  const std::uint64_t page_size = reader.fixed(pointer_size);
  std::vector<MappedFileNote> files;
  if (!reader.ok() || page_size == 0 || page_size > (1U << 20U) ||
      count > reader.remaining() / (3 * pointer_size)) {
    return files;
  }
  files.reserve(count);
  for (std::uint64_t row = 0; row < count; ++row) {
    MappedFileNote file;
    file.range.begin = reader.fixed(pointer_size);
    file.range.end = reader.fixed(pointer_size);
    file.offset = reader.fixed(pointer_size) * page_size;
    files.push_back(std::move(file));
  }
  for (MappedFileNote& file : files) {
    file.path = reader.c_string();
  }
  std::erase_if(files,
                [](const MappedFileNote& file) { return file.range.empty() || file.path.empty(); });
  return files;
}

CoreNotes read_core_notes(std::span<const ElfNote> notes, const Architecture& arch) {
  return NoteReader(arch).read(notes);
}

}  // namespace whocall
