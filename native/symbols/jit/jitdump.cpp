#include "symbols/jit/jitdump.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/byte_reader.h"
#include "base/interrupt.h"

namespace whocall {
namespace {

constexpr std::uint32_t kMagic = 0x4a695444;  // "JiTD", in the writer's byte order
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kHeaderSize = 40;
constexpr std::uint32_t kPrefixSize = 16;  // id, size, timestamp
constexpr Address kElfHeaderSize = 0x40;

enum Record : std::uint32_t { load = 0, move = 1, debug_info = 2, close = 3 };

struct Loaded {
  JitFunction function;
  std::span<const std::byte> code;
  Address moved = 0;  // bytes, of its lines: not done before the last move
};

class Reader {
 public:
  Reader(JitFunctions& functions, Budget& budget) : functions_(functions), budget_(budget) {}

  void read(ByteView records) {
    std::size_t turn = 0;
    while (true) {
      check_interrupt_at(turn++, kManyEntries);
      ByteReader prefix(records);
      const std::uint32_t id = prefix.u32();
      const std::uint32_t size = prefix.u32();
      prefix.u64();  // the records stand in the order of their times
      const auto record =
          prefix.ok() && size >= kPrefixSize ? records.slice(0, size) : std::nullopt;
      if (!record || id == Record::close) {
        return;
      }
      add(id, ByteReader(record->from(kPrefixSize)));
      records = records.from(size);
    }
  }

  void finish(const HoldsCode& holds) {
    const Address shift = shift_of_lines();
    std::size_t turn = 0;
    for (auto& [index, loaded] : order_) {
      check_interrupt_at(turn++, kManyEntries);
      JitFunction& function = loaded.function;
      if (!holds(function.range.begin, loaded.code)) {
        continue;
      }
      for (JitLine& line : function.lines) {
        line.address += loaded.moved - shift;
      }
      functions_.add(std::move(function));
    }
  }

 private:
  void add(std::uint32_t id, ByteReader record) {
    if (id == Record::load) {
      add_code(record);
    } else if (id == Record::move) {
      move_code(record);
    } else if (id == Record::debug_info) {
      add_lines(record);
    }
  }

  void add_code(ByteReader record) {
    Loaded loaded;
    record.u32();  // pid
    record.u32();  // tid
    record.u64();  // the address that the code was made for
    const Address address = record.u64();
    const std::uint64_t size = record.u64();
    const std::uint64_t index = record.u64();
    loaded.function.name = record.c_string();
    // Some compilers leave the code out; its size stands all the same.
    loaded.code = record.view().from(record.offset()).bytes();
    loaded.code = loaded.code.first(std::min<std::uint64_t>(size, loaded.code.size()));
    loaded.function.range = {address, address + std::min(size, ~address)};
    loaded.function.source = NameSource::jitdump;
    if (record.ok() && budget_.draw(Cost::jit_functions, 1)) {
      if (const auto lines = lines_.find(address); lines != lines_.end()) {
        loaded.function.lines = std::move(lines->second);
        lines_.erase(lines);
      }
      place_of_[index] = order_.size();
      order_.emplace_back(index, std::move(loaded));
    }
  }

  // The function is loaded anew at its new address; what is said of its old one is overwritten.
  void move_code(ByteReader record) {
    record.u32();  // pid
    record.u32();  // tid
    record.u64();  // the address that the code was made for
    const Address from = record.u64();
    const Address to = record.u64();
    const std::uint64_t size = record.u64();
    const std::uint64_t index = record.u64();
    const auto place = place_of_.find(index);
    if (!record.ok() || place == place_of_.end()) {
      return;
    }
    if (!budget_.draw(Cost::jit_functions, 1)) {
      return;
    }
    Loaded moved = std::move(order_[place->second].second);
    order_[place->second].second = {};
    moved.moved += to - from;
    moved.function.range = {to, to + std::min(size, ~to)};
    place->second = order_.size();
    order_.emplace_back(index, std::move(moved));
  }

  // Comes before the code that it is for.
  void add_lines(ByteReader record) {
    const Address code = record.u64();
    const std::uint64_t count = record.u64();
    std::vector<JitLine> lines;
    for (std::uint64_t i = 0; i < count && record.ok() && !record.at_end(); ++i) {
      check_interrupt_at(i, kManyEntries);
      JitLine line;
      line.address = record.u64();
      line.line = record.u32();
      record.u32();  // discriminator, or column
      const std::string_view file = record.c_string();
      if (!record.ok() || !budget_.draw(Cost::lines, 1)) {
        break;
      }
      line.file = file == "\xff" && !lines.empty() ? lines.back().file : number_of(file);
      lines.push_back(line);
    }
    std::stable_sort(lines.begin(), lines.end(), [](const JitLine& left, const JitLine& right) {
      return left.address < right.address;
    });
    lines_[code] = std::move(lines);
  }

  std::uint32_t number_of(std::string_view file) {
    const auto next = static_cast<std::uint32_t>(functions_.files.size());
    const auto [found, added] = files_.try_emplace(std::string(file), next);
    if (added) {
      functions_.files.emplace_back(file);
    }
    return found->second;
  }

  // Folklore. Situation: V8 adds the size of an ELF header to the addresses of its lines, because
  // `perf inject` puts one before the code. Example: the last line of a function stands behind its
  // end. Remedy: when no function has a line in its first 0x40 bytes and some have one behind their
  // end, all are moved back.
  [[nodiscard]] Address shift_of_lines() const {
    bool behind = false;
    for (const auto& [index, loaded] : order_) {
      const JitFunction& function = loaded.function;
      if (function.lines.empty() || function.range.empty()) {
        continue;
      }
      if (function.lines.front().address + loaded.moved < function.range.begin + kElfHeaderSize) {
        return 0;
      }
      behind = behind || function.lines.back().address + loaded.moved >= function.range.end;
    }
    return behind ? kElfHeaderSize : 0;
  }

  JitFunctions& functions_;
  Budget& budget_;
  std::vector<std::pair<std::uint64_t, Loaded>> order_;
  std::unordered_map<std::uint64_t, std::size_t> place_of_;  // by code index
  std::unordered_map<Address, std::vector<JitLine>> lines_;  // of code to come
  std::unordered_map<std::string, std::uint32_t> files_;
};

}  // namespace

std::optional<JitdumpHeader> read_jitdump_header(std::span<const std::byte> bytes) {
  for (const Endian endian : {Endian::little, Endian::big}) {
    ByteReader reader(ByteView(bytes, endian));
    JitdumpHeader header;
    header.endian = endian;
    const std::uint32_t magic = reader.u32();
    const std::uint32_t version = reader.u32();
    header.size = reader.u32();
    header.machine = reader.u32();
    reader.u32();  // padding
    header.pid = reader.u32();
    if (reader.ok() && magic == kMagic) {
      return version == kVersion && header.size >= kHeaderSize ? std::optional(header)
                                                               : std::nullopt;
    }
  }
  return std::nullopt;
}

void read_jitdump(std::span<const std::byte> bytes, const HoldsCode& holds, JitFunctions& functions,
                  Budget& budget) {
  const auto header = read_jitdump_header(bytes);
  if (!header) {
    return;
  }
  Reader reader(functions, budget);
  reader.read(ByteView(bytes, header->endian).from(header->size));
  reader.finish(holds);
}

}  // namespace whocall
