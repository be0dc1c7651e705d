#include "unwind/walk/outermost.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "arch/instruction.h"
#include "process/process_decoder.h"
#include "process/program_entry.h"

namespace whocall {
namespace {

// The next function that is known may stand far behind the entry; the longest `_start` of the usual
// C libraries has 46 bytes.
constexpr std::uint64_t kUsualStart = 64;
// As far as the instructions go on one after the other it is one function. Example: the 73 bytes of
// Free Pascal's.
constexpr std::uint64_t kLongestStart = 256;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The program that the kernel started, or that its dynamic linker was told to run; and that linker,
// which programs know by a link to its file.
bool starts_a_stack(const Module& module, const ProcessImage& process) {
  if (module.is_executable || (module.file != nullptr && !module.file->interpreter().empty())) {
    return true;
  }
  return std::ranges::any_of(process.modules, [&](const Module& other) {
    return other.is_executable && other.file != nullptr &&
           file_name(other.file->interpreter()) == file_name(module.path);
  });
}

// The entry point of a module: by its file, by what the kernel told of the program, or by the
// header that the process has of it.
std::optional<Address> entry_of(const Module& module, const ProcessImage& process) {
  if (module.file != nullptr) {
    return module.runtime_address(process.arch->code_address(module.file->entry()));
  }
  if (const auto told = module.is_executable ? program_entry(process) : std::nullopt) {
    return process.arch->code_address(*told);
  }
  constexpr std::array<std::byte, 4> kMagic = {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'},
                                               std::byte{'F'}};
  constexpr Address kType = 16;  // offset of e_type, and of e_entry in either class
  constexpr Address kEntry = 24;
  constexpr std::uint64_t kPositionIndependent = 3;  // ET_DYN
  std::array<std::byte, 4> magic{};
  const Architecture& arch = *process.arch;
  const Address header = module.range.begin;
  const auto type = process.memory->read_unsigned(header + kType, 2, arch.abi.endian);
  const auto entry = process.code_pointer_at(header + kEntry);
  if (process.memory->read(header, magic) != magic.size() || magic != kMagic || !type || !entry) {
    return std::nullopt;
  }
  return *type == kPositionIndependent ? header + *entry : *entry;
}

// Whether nothing between the two addresses ends the flow of instructions.
bool flows_on(Address from, Address to, const ProcessImage& process) {
  using Flow = Instruction::Flow;
  const auto decoder = decoder_for(process);
  std::vector<std::byte> room;
  const std::uint64_t size = to - from + kLongestLook;
  const ByteView code(process.memory->bytes_at(from, size, room), process.arch->abi.endian);
  std::uint64_t offset = 0;
  while (decoder != nullptr && from + offset < to && offset < code.size()) {
    const auto instruction = decoder->decode(code.from(offset), from + offset);
    if (!instruction || instruction->flow == Flow::jump || instruction->flow == Flow::stop ||
        instruction->flow == Flow::indirect_jump) {
      return false;
    }
    offset += instruction->size;
  }
  return from + offset >= to;
}

// Folklore. Situation: a function makes a thread by a system call of its own; in the new thread it
// stands on an empty stack, which it may have aligned, so that no rule leads anywhere. Example:
// clone3 of glibc, whose unwind tables cover that part as if it were another function. Remedy: the
// thread's own function was called there if the code behind that call ends the thread, and code
// a little before it makes one.
bool starts_a_thread(const Activation& activation, const ProcessImage& process) {
  constexpr std::uint64_t kBefore = 80;  // bytes of code: clone of MIPS has 68
  constexpr std::uint64_t kBehind = 16;
  const auto holds = [&](AddressRange range, std::span<const std::uint8_t> pattern) {
    std::vector<std::byte> room;
    const auto bytes = process.memory->bytes_at(range.begin, range.size(), room);
    const auto wanted = std::as_bytes(pattern);
    return std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end()) != bytes.end();
  };
  const Address pc = activation.pc;
  return !activation.interrupted && pc > kBefore &&
         std::ranges::any_of(process.arch->os.thread_starts, [&](const ThreadStart& start) {
           return holds({pc, pc + kBehind}, start.end) && holds({pc - kBefore, pc}, start.make);
         });
}

}  // namespace

std::optional<std::string> outermost_function(const Activation& activation,
                                              const ProcessImage& process, CodeMap& code) {
  if (starts_a_thread(activation, process)) {
    return "a new thread begins there";
  }
  const Module* module = process.module_at(activation.lookup_pc());
  if (module == nullptr || !starts_a_stack(*module, process) ||
      (module->file != nullptr && module->file->entry() == 0)) {
    return std::nullopt;
  }
  const auto entry = entry_of(*module, process);
  if (!entry) {
    return std::nullopt;
  }
  AddressRange function{*entry, *entry + kLongestStart};
  if (const auto known = code.function_at(*entry)) {
    function.end = std::min(function.end, known->end);
  }
  const Address pc = activation.lookup_pc();
  if (!function.contains(pc) || (pc - *entry >= kUsualStart && !flows_on(*entry, pc, process))) {
    return std::nullopt;
  }
  return "the entry point of " + module->path;
}

}  // namespace whocall
