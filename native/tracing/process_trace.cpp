#include "tracing/process_trace.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/long_work.h"
#include "runtime/trace/layout.h"
#include "tracing/region_collector.h"

namespace whocall {
namespace {

class MemoryBytes final : public TraceBytes {
 public:
  explicit MemoryBytes(const Memory& memory) : memory_(memory) {}
  std::size_t read(std::uint64_t place, std::span<std::byte> out) const override {
    return memory_.read(place, out);
  }

 private:
  const Memory& memory_;
};

// Bytes from the place to the end of the memory around it, which a damaged region may tell more of
// than anyone could read in a lifetime; the most that the library takes where mappings are not
// told.
std::uint64_t room_at(const ProcessImage& process, Address place) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 39U;
  Address end = place;
  const Mapping* mapping = process.mapping_at(end);
  while (mapping != nullptr && end - place < kMost) {
    end = mapping->range.end;
    mapping = process.mapping_at(end);
  }
  return std::min(end == place ? ~place : end - place, kMost);
}

void follow_list(const ProcessImage& process, const TraceBytes& bytes, RegionCollector& collector,
                 std::uint64_t root, Endian endian) {
  auto place = number_at(bytes, root + offsetof(wct_root, regions), 8, endian).value_or(0);
  while (place != 0 && !collector.is_full()) {
    check_interrupt();
    if (order_of_magic(bytes, place, WCT_REGION_MAGIC) != endian) {
      return;
    }
    place = collector.add(place, endian, room_at(process, place));
  }
}

// Link address of the first byte of a note's contents; a miss where no segment loads it.
std::optional<Address> link_address_of(const ElfFile& file, ByteView contents) {
  const std::byte* begin = file.bytes().bytes().data();
  const auto offset = static_cast<std::uint64_t>(contents.bytes().data() - begin);
  if (contents.bytes().data() < begin || offset >= file.bytes().size()) {
    return std::nullopt;
  }
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type == PT_LOAD && offset - segment.offset < segment.file_size) {
      return segment.address + (offset - segment.offset);
    }
  }
  return std::nullopt;
}

// Runtime addresses of the roots that modules' notes lead to.
std::vector<Address> roots_of(const ProcessImage& process) {
  std::vector<Address> roots;
  for (const Module& module : process.modules) {
    if (module.file == nullptr) {
      continue;
    }
    for (const ElfNote& note : module.file->notes()) {
      if (note.owner != WCT_NOTE_NAME || note.type != WCT_NOTE_TYPE) {
        continue;
      }
      const auto distance = note.contents.read<std::uint32_t>(0);
      const auto link = link_address_of(*module.file, note.contents);
      if (distance && link) {
        const auto signed_distance =
            static_cast<std::int64_t>(static_cast<std::int32_t>(*distance));
        roots.push_back((module.runtime_address(*link) + static_cast<Address>(signed_distance)) &
                        process.arch->address_mask());
      }
    }
  }
  return roots;
}

// Where a program says that its regions lie in a file.
std::string file_of(const TraceBytes& bytes, Address root) {
  std::array<std::byte, sizeof(wct_root::file)> raw{};
  if (bytes.read(root + offsetof(wct_root, file), raw) < raw.size()) {
    return {};
  }
  const auto* begin = reinterpret_cast<const char*>(raw.data());
  return {begin, std::find(begin, begin + raw.size(), '\0')};
}

// Every page that can be written is looked at.
void look_everywhere(const ProcessImage& process, const TraceBytes& bytes,
                     RegionCollector& collector) {
  std::size_t turn = 0;
  for (const Mapping& mapping : process.mappings) {
    if (!mapping.writable && mapping.permissions_known) {
      continue;
    }
    for (Address page = mapping.range.begin;
         page < mapping.range.end && mapping.range.end - page >= WCT_PAGE && !collector.is_full();
         page += WCT_PAGE) {
      check_interrupt_at(++turn, kManyEntries);
      const auto endian = order_of_magic(bytes, page, WCT_REGION_MAGIC);
      if (!endian) {
        continue;
      }
      // Not a copy that lies elsewhere.
      if (number_at(bytes, page + offsetof(wct_region, address), 8, *endian) == page) {
        collector.add(page, *endian, room_at(process, page));
      }
    }
  }
}

// What was left by longjmp or an exception stays in a shadow stack until the next hook: the stack
// pointer tells that its frame is gone.
void drop_left(std::vector<ShadowEntry>& stack, Address sp) {
  constexpr Address kOneStack = Address{8} << 20U;  // bytes
  while (!stack.empty() && stack.back().cfa <= sp && sp - stack.back().cfa < kOneStack) {
    stack.pop_back();
  }
}

// Where nobody sees returns, what has returned is in the shadow stack, too: until another call
// stands where its return address was.
void drop_returned(std::vector<ShadowEntry>& stack, const ProcessImage& process) {
  const unsigned word = process.arch->abi.pointer_size;
  const auto holds = [&](const ShadowEntry& entry) {
    return process.memory->read_unsigned(entry.cfa - word, word, process.arch->abi.endian) ==
           entry.call_site;
  };
  if (process.arch->frame.pushed_by_call != 0) {
    stack.erase(std::ranges::find_if_not(stack, holds), stack.end());
  }
}

// Of two threads of one id the later lives; of others those that the process has.
void judge_lives(TraceSource& source, const ProcessImage& process) {
  std::map<std::int64_t, Address> known;  // stack pointers
  for (const Thread& thread : process.threads) {
    known[thread.lwp] = thread.registers.get(process.arch->registers.sp).value_or(0);
  }
  std::set<std::uint32_t> seen;
  for (auto thread = source.threads.rbegin(); thread != source.threads.rend(); ++thread) {
    const auto now = known.find(thread->tid);
    thread->lives = seen.insert(thread->tid).second && now != known.end();
    if (thread->lives) {
      drop_left(thread->stack, now->second);
      if (thread->sees_no_returns) {
        drop_returned(thread->stack, process);
      }
    }
  }
}

}  // namespace

TraceSource find_trace(const ProcessImage& process) {
  const LongWork work("Looking for call traces in", process.core_path);
  TraceSource source;
  source.path = process.core_path;
  source.bytes = std::make_shared<MemoryBytes>(*process.memory);
  RegionCollector collector(source);
  std::string file;
  for (const Address root : roots_of(process)) {
    if (const auto endian = order_of_magic(*source.bytes, root, WCT_ROOT_MAGIC)) {
      follow_list(process, *source.bytes, collector, root, *endian);
      file = file.empty() ? file_of(*source.bytes, root) : file;
    }
  }
  if (source.threads.empty()) {
    look_everywhere(process, *source.bytes, collector);
  }
  if (source.threads.empty()) {
    const std::string damage = source.remarks.empty() ? "" : " (" + source.remarks.front() + ")";
    const std::string name = process.core_path.empty() ? "the process" : process.core_path;
    throw Error(name, "has no call trace" + damage,
                file.empty() ? "Compile the program with -finstrument-functions and link it with "
                               "libwhocall-trace"
                             : "Its trace lies in a file: give " + file + " instead");
  }
  collector.put_in_order();
  judge_lives(source, process);
  return source;
}

}  // namespace whocall
