#include "process/core/shrunk_core.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "base/interrupt.h"
#include "base/long_work.h"
#include "memory/memory_text.h"
#include "process/core/core_notes.h"
#include "process/core/own_notes.h"
#include "process/core/private_words.h"
#include "process/modules/link_map.h"
#include "process/modules/loaded_program.h"

namespace whocall {
namespace {

// A header of a segment takes 56 bytes: what lies between is kept where that costs less.
constexpr std::uint64_t kSmallGap = 64;  // bytes
// gdb and elfutils read the build id of a module where its file's head was mapped, in one piece.
constexpr std::uint64_t kHead = 4096;  // bytes

bool is_of_kernel(const ElfNote& note) {
  return (note.owner == "CORE" || note.owner.empty()) &&
         (note.type == NT_PRSTATUS || note.type == NT_PRPSINFO || note.type == NT_SIGINFO ||
          note.type == NT_AUXV || note.type == NT_FILE);
}

bool is_of_machine(const ElfNote& note, const Architecture& arch) {
  return note.owner == "LINUX" && note.type != 0 &&
         (note.type == arch.os.signatures.type || note.type == arch.os.thread_areas.type);
}

void append_own(ByteSink& out, std::uint32_t type, std::span<const std::byte> contents) {
  append_note(out, kOwnNotes, type, contents);
}

// A note as it may be shown; `blanks` is null where all of it may be.
void append_shown(ByteSink& out, const ElfNote& note, const PrivateWords* blanks) {
  const auto bytes = note.contents.bytes();
  std::vector<std::byte> contents(bytes.begin(), bytes.end());
  std::uint64_t registers = 0;
  if (blanks != nullptr && note.type == NT_PRSTATUS) {
    registers = blanks->blank_registers(contents);
  } else if (blanks != nullptr && note.type == NT_PRPSINFO) {
    PrivateWords::blank_arguments(contents);
  }
  const auto code_alone =
      blanks != nullptr && note.type == NT_SIGINFO ? blanks->blank_signal(contents) : std::nullopt;
  append_note(out, note.owner.empty() ? "CORE" : note.owner, note.type, contents);
  const Endian endian = note.contents.endian();
  if (code_alone) {
    append_own(out, kSignalNote, signal_note({code_alone, {}, {}}, endian));
  }
  if (registers != 0) {
    append_own(out, kBlankRegistersNote, std::move(ByteSink(endian, 8).u64(registers)).take());
  }
}

// What of those of whocall's own may be shown: threads' names may not, and what is blank is told
// once, at the end.
bool is_own_of_frames(const ElfNote& note) {
  return is_own(note, kModuleNote) || is_own(note, kSegmentNote) || is_own(note, kPartialMapNote) ||
         is_own(note, kBlankRegistersNote);
}

void append_own_shown(ByteSink& out, const ElfNote& note, const PrivateWords* blanks) {
  if (blanks == nullptr || is_own_of_frames(note)) {
    append_own(out, note.type, note.contents.bytes());
  } else if (is_own(note, kSignalNote)) {
    SignalInfo info = parse_signal_note(note.contents).value_or(SignalInfo{});
    if (info.address && !blanks->shows(*info.address)) {
      info.address.reset();
    }
    append_own(out, note.type, signal_note(info, note.contents.endian()));
  }
}

ByteSink notes_of(const CoreFile& core, const PrivateWords* blanks) {
  ByteSink out(core.arch->abi.endian, core.arch->abi.pointer_size);
  bool has_segments = false;
  for (const ElfNote& note : core.notes) {
    if (is_of_kernel(note) || is_of_machine(note, *core.arch)) {
      append_shown(out, note, blanks);
    } else if (note.owner == kOwnNotes) {
      append_own_shown(out, note, blanks);
      has_segments = has_segments || is_own(note, kSegmentNote);
    }
  }
  if (!has_segments) {
    append_own(out, kSegmentNote, segment_note(core.file->segments(), core.arch->abi.endian));
  }
  return out;
}

// The parts of `wanted` that the core holds, with where they lie in its file.
class HeldParts {
 public:
  explicit HeldParts(const ElfFile& file) {
    for (const ElfSegment& segment : file.segments()) {
      const std::uint64_t size = std::min(
          {file.bytes().from(segment.offset).size(), segment.file_size, segment.memory_size});
      if (segment.type == PT_LOAD && size != 0 && size <= ~segment.address) {
        held_.push_back({segment.address, size, size, segment.offset, segment.flags});
      }
    }
    std::ranges::sort(held_, {}, &CoreSegment::address);
  }

  void append(AddressRange wanted, std::vector<CoreSegment>& parts) const {
    auto each = std::ranges::upper_bound(held_, wanted.begin, {}, &CoreSegment::address);
    if (each != held_.begin()) {
      --each;
    }
    for (; each != held_.end() && each->address < wanted.end; ++each) {
      const Address begin = std::max(wanted.begin, each->address);
      const Address end = std::min(wanted.end, each->address + each->held);
      if (begin < end) {
        add({begin, end - begin, end - begin, each->place + (begin - each->address), each->flags},
            parts);
      }
    }
  }

 private:
  // One that goes on where the last one ends, or nearly, in memory and file alike, joins it.
  static void add(const CoreSegment& part, std::vector<CoreSegment>& parts) {
    if (!parts.empty()) {
      CoreSegment& last = parts.back();
      const std::uint64_t distance = part.address - last.address;
      if (part.place - last.place == distance && part.flags == last.flags &&
          distance <= last.held + kSmallGap) {
        last.size = last.held = std::max(last.held, distance + part.held);
        return;
      }
    }
    parts.push_back(part);
  }

  std::vector<CoreSegment> held_;
};

// What of the ranges is in none of the others, which are in order.
std::vector<AddressRange> without(const JoinedRanges& ranges,
                                  const std::vector<AddressRange>& others) {
  std::vector<AddressRange> parts;
  for (AddressRange rest : ranges.ranges()) {
    for (const AddressRange& other : others) {
      if (other.begin < rest.end && other.end > rest.begin) {
        parts.push_back({rest.begin, std::max(rest.begin, other.begin)});
        rest.begin = std::min(rest.end, other.end);
      }
    }
    parts.push_back(rest);
  }
  std::erase_if(parts, [](const AddressRange& each) { return each.empty(); });
  return parts;
}

// The dynamic linker's list, of which gdb wants more than names and places: its structures, its
// texts with their ends, and the program's table that leads there. And the program's path, where
// the kernel's list of files does not name it, as in qemu's cores.
std::vector<AddressRange> lists_of(const CoreFile& core, const ProcessImage& image) {
  const CoreNotes notes = read_core_notes(core.notes, *core.arch);
  const AuxiliaryVector& auxiliary = notes.auxiliary;
  const auto program = read_loaded_program(*image.memory, auxiliary, *core.arch);
  if (!program) {
    return {};
  }
  auto places = link_map_places(*image.memory, *program, *core.arch);
  if (const ElfSegment* dynamic = segment_of_type(program->segments, PT_DYNAMIC)) {
    const Address begin = dynamic->address + program->bias;
    places.push_back({begin, begin + std::min(dynamic->memory_size, kHead)});
  }
  const Address path = notes.files.empty() ? auxiliary.program_path.value_or(0) : 0;
  if (const std::string text = read_string(*image.memory, path); !text.empty()) {
    places.push_back({path, path + text.size() + 1});
  }
  for (const AddressRange& place : places) {
    std::vector<std::byte> room(place.size());
    image.memory->read(place.begin, room);
  }
  return places;
}

}  // namespace

ShrinkableCore::ShrinkableCore(const std::string& path) : core_(read_core_file(path)) {}

std::unique_ptr<ProcessImage> ShrinkableCore::open(const FileSearch& search) {
  const LongWork work("Reading", core_.path);
  auto memory = std::make_unique<RecordedMemory>(dumped_memory(core_), words_);
  auto image = open_core(core_, std::move(memory), search);
  lists_ = lists_of(core_, *image);
  const JoinedRanges opening = words_->so_far();
  for (const Module& module : image->modules) {
    Address end = module.range.begin;
    if (module.state == ModuleState::in_memory) {
      continue;
    }
    for (const AddressRange& each : opening.ranges()) {
      const bool in_head = each.begin >= end && each.begin - module.range.begin < kHead;
      end = in_head ? each.end : end;
    }
    heads_.push_back({module.range.begin, end});
  }
  return image;
}

std::vector<AddressRange> ShrinkableCore::left_out(const ProcessImage& image) const {
  std::unordered_set<const Module*> used;
  for (const Address pc : code_) {
    used.insert(image.module_at(pc));
  }
  std::vector<AddressRange> ranges;
  for (const Module& module : image.modules) {
    if (module.state == ModuleState::in_memory && !used.contains(&module)) {
      ranges.push_back(module.range);
    }
  }
  return ranges;  // by address, as modules are
}

std::vector<CoreSegment> ShrinkableCore::pieces(const ProcessImage& image) const {
  JoinedRanges read(frames_);
  const JoinedRanges words = words_->so_far();
  for (const auto* more : {&heads_, &words.ranges()}) {
    for (const AddressRange& each : *more) {
      read.add(each);
    }
  }
  JoinedRanges wanted(without(read, left_out(image)));
  for (const AddressRange& each : lists_) {  // wherever they are: the linker's lie in its own data
    wanted.add(each);
  }
  const HeldParts held(*core_.file);
  std::vector<CoreSegment> parts;
  for (const AddressRange& each : wanted.ranges()) {
    held.append(each, parts);
  }
  return parts;
}

JoinedRanges ShrinkableCore::lists(const ProcessImage& image) const {
  JoinedRanges ranges(lists_);
  const unsigned word = image.arch->abi.pointer_size;
  for (const Address sp : signals_) {
    for (const SignalTrampoline& trampoline : image.arch->os.signal_trampolines) {
      const Address place = sp + static_cast<Address>(std::int64_t{trampoline.context_offset});
      const auto context = trampoline.context_is_pointer
                               ? image.memory->read_unsigned(place, word, image.arch->abi.endian)
                               : std::optional(place);
      for (const ContextMark& mark : trampoline.marks) {
        const Address begin = context.value_or(0) + mark.offset;
        ranges.add({begin - begin % word, begin + mark.size});
      }
    }
  }
  return ranges;
}

int ShrinkableCore::write(int file, const ProcessImage& image, bool is_private) const {
  std::vector<CoreSegment> parts = pieces(image);
  if (!is_private) {
    return write_core(file, *core_.arch, notes_of(core_, nullptr).take(), parts,
                      core_.file->bytes());
  }
  const PrivateWords blanks(image, {JoinedRanges(frames_), code_, lists(image)});
  std::vector<AddressRange> blank_ranges = blanks_of(core_.notes);
  std::vector<std::byte> memory;
  memory.reserve(held_bytes(parts));
  for (CoreSegment& part : parts) {
    check_interrupt();
    const auto bytes = core_.file->bytes().from(part.place).bytes().first(part.held);
    part.place = memory.size();
    memory.insert(memory.end(), bytes.begin(), bytes.end());
    blanks.blank(part.address, std::span(memory).last(part.held), blank_ranges);
  }
  const Endian endian = core_.arch->abi.endian;
  ByteSink notes = notes_of(core_, &blanks);
  const JoinedRanges blank(std::move(blank_ranges));
  append_own(notes, kBlankNote, blank_note(blank.ranges(), endian));
  return write_core(file, *core_.arch, std::move(notes).take(), parts, ByteView(memory, endian));
}

}  // namespace whocall
