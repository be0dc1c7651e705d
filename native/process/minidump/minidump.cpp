#include "process/minidump/minidump.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/byte_reader.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/text_lines.h"
#include "process/minidump/minidump_streams.h"
#include "process/proc_files.h"

namespace whocall {
namespace {

constexpr std::uint32_t kLinux = 0x8201;
constexpr std::uint32_t kAndroid = 0x8203;
constexpr std::uint32_t kRequested = 0xffffffff;  // exception code where nobody crashed
constexpr std::uint64_t kLongestContext = 1U << 13U;
constexpr std::uint64_t kLongestIdentity = 1U << 12U;
constexpr std::uint64_t kLongestPlain = 1U << 21U;  // bytes of a command line, or a vector
constexpr Address kLastAddress = std::numeric_limits<Address>::max();

std::string system_name(std::uint32_t number) {
  switch (number) {
    case 2:
      return "Windows";
    case 0x8101:
      return "macOS";
    case 0x8102:
      return "iOS";
    case 0x8204:
      return "PlayStation 3";
    default:
      return "system " + hex(number);
  }
}

// Of a CodeView record: an ELF build id, or what older Breakpads keep of one in 16 bytes.
std::string identity_in(ByteView record) {
  constexpr std::uint32_t kElf = 0x4270454c;  // "LEpB"
  constexpr std::uint32_t kPdb = 0x53445352;  // "RSDS"
  const auto mark = record.read<std::uint32_t>(0);
  ByteView identity;
  if (mark == kElf) {
    identity = record.from(4);
  } else if (mark == kPdb) {
    identity = record.from(4);
    identity = identity.slice(0, std::min<std::size_t>(identity.size(), 16)).value_or(identity);
  }
  const bool told =
      std::ranges::any_of(identity.bytes(), [](std::byte byte) { return byte != std::byte{0}; });
  return told ? hex_digits(identity.bytes()) : std::string();
}

class MinidumpParser {
 public:
  MinidumpParser(ByteView file, const std::string& name, Budget& budget)
      : streams_(file, name, budget), name_(name), budget_(budget) {}

  Minidump read() {
    dump_.time = streams_.time();
    read_system();
    read_writer();
    read_pid();
    read_threads();
    read_exception();
    if (dump_.threads.empty()) {
      streams_.fail("it has no thread whose registers can be read");
    }
    read_modules();
    read_memory();
    dump_.mappings = parse_maps(as_text(streams_.get(DumpStream::maps).bytes()), &budget_);
    dump_.is_mapped = !dump_.mappings.empty();
    read_plain();
    return std::move(dump_);
  }

 private:
  // A piece of memory as rows have it: address, size and place.
  static DumpedMemory memory_in(ByteReader& row) {
    const std::uint64_t address = row.u64();
    const std::uint32_t size = row.u32();
    return {address, size, row.u32()};
  }

  MinidumpStreams::Rows listed(DumpStream kind, std::uint64_t size) {
    auto rows = streams_.rows(kind, size);
    if (rows.count < rows.told) {
      dump_.remark("it has " + std::to_string(rows.count) + " of " + std::to_string(rows.told) +
                   " rows of a list (stream " + std::to_string(static_cast<std::uint32_t>(kind)) +
                   ")");
    }
    return rows;
  }

  void read_system() {
    const ByteView info = streams_.get(DumpStream::system);
    if (info.size() < 32) {
      streams_.fail("it does not tell the processor (no system info stream)");
    }
    const auto processor = info.read<std::uint16_t>(0).value_or(0);
    const auto system = info.read<std::uint32_t>(20).value_or(0);
    if (system != kLinux && system != kAndroid) {
      throw Error(name_, "is a minidump of " + system_name(system) +
                             ": only those of Linux and Android can be read");
    }
    dump_.system = system == kLinux ? "Linux" : "Android";
    for (const Architecture* arch : architectures()) {
      if (std::ranges::find(arch->minidump.processors, processor) !=
          arch->minidump.processors.end()) {
        dump_.arch = arch;
        return;
      }
    }
    throw Error(name_, "is a minidump of a processor that is not supported (" + hex(processor) +
                           "): " + kReadableDumps);
  }

  void read_writer() {
    if (streams_.has(DumpStream::crashpad)) {
      dump_.writer = "Crashpad";
    } else if (streams_.has(DumpStream::processors) || streams_.has(DumpStream::command)) {
      dump_.writer = "Breakpad";
    }
  }

  void read_pid() {
    const ByteView misc = streams_.get(DumpStream::misc);
    if (misc.size() >= 12 && (misc.read<std::uint8_t>(4).value_or(0) & 1U) != 0) {
      dump_.pid = misc.read<std::uint32_t>(8).value_or(0);
      return;
    }
    const std::string told = status_field(as_text(streams_.get(DumpStream::status).bytes()), "Pid");
    const std::uint64_t pid = number(trimmed(told), 10).value_or(0);
    dump_.pid =
        pid <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(pid) : 0;
  }

  // Where the names of threads stand, by thread.
  std::unordered_map<std::uint32_t, std::uint64_t> places_of_names() {
    constexpr std::uint64_t kRow = 12;
    const auto rows = listed(DumpStream::thread_names, kRow);
    std::unordered_map<std::uint32_t, std::uint64_t> places;
    const std::uint64_t count = budget_.cut(Cost::threads, rows.count);
    for (std::uint64_t at = 0; at < count; ++at) {
      const auto low = rows.bytes.read<std::uint32_t>(at * kRow + 4).value_or(0);
      const auto high = rows.bytes.read<std::uint32_t>(at * kRow + 8).value_or(0);
      places[rows.bytes.read<std::uint32_t>(at * kRow).value_or(0)] = low | std::uint64_t{high}
                                                                                << 32U;
    }
    return places;
  }

  [[nodiscard]] std::optional<std::vector<std::byte>> registers_at(std::uint64_t place,
                                                                   std::uint64_t size) const {
    return registers_of_context(streams_.part(place, std::min(size, kLongestContext)), *dump_.arch);
  }

  void read_threads() {
    constexpr std::uint64_t kRow = 48;
    const auto names = places_of_names();
    const auto rows = listed(DumpStream::threads, kRow);
    for (std::uint64_t at = 0; at < rows.count && budget_.draw(Cost::threads, 1); ++at) {
      ByteReader row(rows.bytes, at * kRow);
      const std::uint32_t lwp = row.u32();
      row.skip(12);
      const std::uint64_t teb = row.u64();
      stacks_.push_back(memory_in(row));
      const std::uint32_t size = row.u32();
      auto registers = registers_at(row.u32(), size);
      if (!registers) {
        dump_.remark("the registers of thread " + std::to_string(lwp) +
                     " are not there: it is left out");
        continue;
      }
      put_thread_pointer(*registers, teb);
      const auto name = names.find(lwp);
      dump_.threads.push_back({lwp,
                               name == names.end() ? std::string() : streams_.text(name->second),
                               std::move(*registers)});
    }
  }

  void put_thread_pointer(std::vector<std::byte>& registers, std::uint64_t value) const {
    const auto place = dump_.arch->minidump.thread_pointer;
    if (place && *place + sizeof value <= registers.size()) {
      std::memcpy(registers.data() + *place, &value, sizeof value);
    }
  }

  // The thread that crashed is put first, with the registers of the moment of its crash.
  void read_exception() {
    constexpr std::uint64_t kSize = 168;
    constexpr std::uint64_t kContext = 160;
    const ByteView told = streams_.get(DumpStream::exception);
    if (told.size() < kSize) {
      return;
    }
    const auto lwp = told.read<std::uint32_t>(0).value_or(0);
    const auto size = told.read<std::uint32_t>(kContext).value_or(0);
    put_first(lwp, registers_at(told.read<std::uint32_t>(kContext + 4).value_or(0), size));
    const auto code = told.read<std::uint32_t>(8).value_or(0);
    if (code == kRequested || code == 0 || code >= 128) {
      return;
    }
    const auto flags = told.read<std::uint32_t>(12).value_or(0);
    const auto address = told.read<std::uint64_t>(24).value_or(0);
    // Crashpad keeps a sender's number apart, but where it keeps siginfo's address.
    const bool apart =
        told.read<std::uint32_t>(32).value_or(0) != 0 && dump_.writer == "Crashpad" && address == 0;
    const std::uint64_t sender =
        apart ? told.read<std::uint64_t>(40).value_or(0) : address & 0xffffffffU;
    dump_.signal = told_signal(static_cast<int>(code), flags, address, sender, dump_.pid);
  }

  void put_first(std::uint32_t lwp, std::optional<std::vector<std::byte>> registers) {
    auto crashed = std::ranges::find(dump_.threads, lwp, &DumpedThread::lwp);
    if (crashed == dump_.threads.end()) {
      if (!registers) {
        return;
      }
      dump_.threads.insert(dump_.threads.begin(), DumpedThread{lwp, {}, std::move(*registers)});
      return;
    }
    std::rotate(dump_.threads.begin(), crashed, crashed + 1);
    if (registers) {
      DumpedThread& first = dump_.threads.front();
      if (const auto place = dump_.arch->minidump.thread_pointer; place) {
        std::copy_n(first.registers.begin() + *place, sizeof(std::uint64_t),
                    registers->begin() + *place);
      }
      first.registers = std::move(*registers);
    }
  }

  void read_modules() {
    constexpr std::uint64_t kRow = 108;
    const auto rows = listed(DumpStream::modules, kRow);
    for (std::uint64_t at = 0; at < rows.count && budget_.draw(Cost::modules, 1); ++at) {
      const ByteView row = rows.bytes.slice(at * kRow, kRow).value_or(ByteView());
      const Address begin = row.read<std::uint64_t>(0).value_or(0);
      const std::uint64_t size = row.read<std::uint32_t>(8).value_or(0);
      if (size == 0 || size > kLastAddress - begin) {
        continue;
      }
      ToldModule module;
      module.range = {begin, begin + size};
      module.is_executable = dump_.modules.empty();
      module.path = streams_.text(row.read<std::uint32_t>(20).value_or(0));
      const std::uint64_t record = row.read<std::uint32_t>(76).value_or(0);
      const ByteView identity = streams_.part(row.read<std::uint32_t>(80).value_or(0),
                                              std::min(record, kLongestIdentity));
      if (budget_.draw(Cost::names, identity.size())) {
        module.build_id = identity_in(identity);
      }
      dump_.modules.push_back(std::move(module));
    }
  }

  void read_memory() {
    const auto rows = listed(DumpStream::memory, 16);
    ByteReader row(rows.bytes);
    for (std::uint64_t at = 0; at < rows.count && add_memory(memory_in(row)); ++at) {
    }
    for (const DumpedMemory& stack : std::exchange(stacks_, {})) {
      add_memory(stack);
    }
    const ByteView list = streams_.from(DumpStream::memory64);
    const std::uint64_t count = list.read<std::uint64_t>(0).value_or(0);
    std::uint64_t place = list.read<std::uint64_t>(8).value_or(0);
    ByteReader pairs(list.from(16));
    for (std::uint64_t at = 0; at < count && pairs.remaining() >= 16; ++at) {
      const Address address = pairs.u64();
      const std::uint64_t size = pairs.u64();
      if (!add_memory({address, size, place})) {
        break;
      }
      place = size > kLastAddress - place ? kLastAddress : place + size;
    }
  }

  // False where there is no room for more.
  bool add_memory(DumpedMemory piece) {
    const std::uint64_t room =
        streams_.file().size() - std::min<std::uint64_t>(piece.place, streams_.file().size());
    if (piece.size > room) {
      dump_.remark("the memory at " + hex(piece.address) + " is cut off: " + std::to_string(room) +
                   " of " + std::to_string(piece.size) + " bytes");
      piece.size = room;
    }
    if (piece.size == 0 || piece.size > kLastAddress - piece.address) {
      return true;
    }
    const bool fits = budget_.draw(Cost::pieces, 1);
    if (fits) {
      dump_.memory.push_back(piece);
    }
    return fits;
  }

  // What is taken as it stands.
  void read_plain() {
    const ByteView vector = streams_.get(DumpStream::auxiliary);
    const auto part = vector.bytes().first(std::min<std::size_t>(vector.size(), kLongestPlain));
    dump_.auxiliary.assign(part.begin(), part.end());
    std::string_view words = as_text(streams_.get(DumpStream::command).bytes());
    words = words.substr(0, kLongestPlain);
    dump_.command = words.substr(0, words.find_last_not_of('\0') + 1);
    std::ranges::replace(dump_.command, '\0', ' ');
  }

  MinidumpStreams streams_;
  const std::string& name_;
  Budget& budget_;
  std::vector<DumpedMemory> stacks_;
  Minidump dump_;
};

}  // namespace

void Minidump::remark(std::string what) {
  if (remarks.size() < kMostRemarks) {
    remarks.push_back(std::move(what));
  }
}

Minidump read_minidump(ByteView file, const std::string& name, Budget& budget) {
  return MinidumpParser(file, name, budget).read();
}

}  // namespace whocall
