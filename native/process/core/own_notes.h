// The notes of whocall's own in a core that is made of another dump: what the kernel's notes have
// no place for, such as modules whose headers are not there. Written here, and read here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/byte_view.h"
#include "object/elf_file.h"
#include "process/process_image.h"
#include "process/told_module.h"

namespace whocall {

// The name of a thread that the process gave it.
struct ToldName {
  std::int64_t lwp = 0;
  std::string name;
};

// Who is said to own them, and their types.
inline constexpr std::string_view kOwnNotes = "WHOCALL";
inline constexpr std::uint32_t kModuleNote = 0x574d4f44;
inline constexpr std::uint32_t kNameNote = 0x574e414d;
inline constexpr std::uint32_t kSignalNote = 0x57534947;
// Empty. Where the dump tells no mappings: what memory is held is all that is known.
inline constexpr std::uint32_t kPartialMapNote = 0x574d4150;
inline constexpr std::uint32_t kSegmentNote = 0x57534547;
inline constexpr std::uint32_t kBlankNote = 0x57424c4b;
// Behind a thread, what of its registers was made zero: a word of 64 bits, of which bit N is of the
// register number N in the core's layout.
inline constexpr std::uint32_t kBlankRegistersNote = 0x57424c52;

// Whether it is whocall's own, and of that type.
bool is_own(const ElfNote& note, std::uint32_t type);

// The note of modules: words of 64 bits in the core's byte order, namely a version (1), a count,
// and for each module its begin and end (runtime addresses), 1 for the program or else 0, the sizes
// of its build id and of its path in bytes; behind all rows the build ids and paths. Rows that are
// cut off are left out.
std::vector<ToldModule> parse_module_note(ByteView contents);
std::vector<std::byte> module_note(std::span<const ToldModule> modules, Endian endian);

// Beside it lies, behind the thread that crashed, the note of its signal: words of 64 bits, namely
// what is told (1: the code, 2: the address, 4: the sender), and then those three. It holds where a
// dump keeps less than the kernel's note does.
std::optional<SignalInfo> parse_signal_note(ByteView contents);
std::vector<std::byte> signal_note(const SignalInfo& info, Endian endian);

// The segments of the core that a smaller one was made of, where mappings and protections are told:
// words of 64 bits, namely a version (1), and for each its begin and end (runtime addresses) and
// its flags, PF_* and 256 where the core held memory of it.
std::vector<ElfSegment> parse_segment_note(ByteView contents);
std::vector<std::byte> segment_note(std::span<const ElfSegment> segments, Endian endian);

// What of its memory was made zero before the core went to strangers, and is not known: ascending,
// the distance from the end of the range before and the size, in bytes, each as ULEB128.
std::vector<AddressRange> parse_blank_note(ByteView contents);
// Of all such notes, joined.
std::vector<AddressRange> blanks_of(std::span<const ElfNote> notes);
std::vector<std::byte> blank_note(std::span<const AddressRange> ranges, Endian endian);

// And the note of names: for each thread that has one a word of 64 bits with its id, and
// the name with a NUL behind it.
std::vector<ToldName> parse_name_note(ByteView contents);
std::vector<std::byte> name_note(std::span<const ToldName> names, Endian endian);

}  // namespace whocall
