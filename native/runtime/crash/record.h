// The compact record of a crash: what another machine needs to name the frames. A few KiB, written
// in a signal handler, into a file, a region of memory or a ring of slots.
//
// All numbers are in the byte order of the machine that crashed. Addresses are runtime addresses,
// 8 bytes wide on every machine. A record is a header of 64 bytes and sections behind it:
//
//   offset size  header
//        0    8  "WHOCRASH"
//        8    1  byte order: 1 little, 2 big (as EI_DATA of ELF)
//        9    1  bytes of an address of the program: 4 or 8
//       10    2  version: 1. A reader refuses a larger one; a smaller one does not exist
//       12    2  machine (e_machine of ELF: 62 x86-64, 3 i386, 40 ARM, 183 AArch64, 8 MIPS,
//                243 RISC-V, 258 LoongArch)
//       14    2  flags: 1 there was not room for all; 2 the reporter crashed itself, and this is
//                what it had; 4 nothing crashed: a signal asked where the process stands
//       16    4  size of the record in bytes, header and sections; a multiple of 8
//       20    4  CRC-32 (that of zlib and Ethernet: polynomial 0xedb88320, reflected, begun with
//                and at the end inverted) over the whole record, these four bytes being 0 in it
//       24    8  sequence number: in a ring one more than that of any record there, 1 for the
//                first, and the same for processes that crash at once; elsewhere the how manyth
//                record of its process it is
//       32    8  time of the crash, nanoseconds since 1970 (UTC)
//       40    4  process
//       44    4  thread that crashed
//       48    4  signal
//       52    4  its code (si_code), signed
//       56    8  address of the fault (si_addr); 0 for signals that somebody sent
//
// A section begins at a multiple of 8 from the record's beginning:
//
//        0    4  kind
//        4    4  size of its body in bytes; zeros fill up to the next multiple of 8
//        8       body
//
// A reader skips kinds that it does not know. Kinds:
//
//   1 program   the path of the program's file (no zero behind it)
//   2 module    one loaded file that frames lie in; modules are numbered from 0 in their order
//        0    8  address of its first byte
//        8    8  address behind its last byte
//       16    8  load bias: runtime address minus the address in the file (link address)
//       24    2  size of its build id in bytes; 0: it has none
//       26    2  size of its path in bytes
//       28    4  0
//       32       the build id, and directly behind it the path
//   3 thread    the thread that crashed first; others, when asked for
//        0    4  thread
//        4    4  flags: 1 this is the one that crashed; 2 it gave no answer (neither registers nor
//                frames follow)
//        8   16  its name, padded with zeros
//       24    4  count of registers
//       28    4  count of frames that follow
//       32    4  count of frames that the stack has; more than follow: the middle is left out
//       36    4  how many of those that follow are the outermost ones, behind the gap; else 0
//       40    4  why the walk ended: 1 at the outermost frame; 2 nothing leads on; 3 the stack
//                could not be read; 4 too many frames
//       44    4  0
//       48       registers, 8 bytes each, in the order of `kRegisterNames` (machine_*.h), which is
//                that of DWARF's numbers, the pc behind them where it has none:
//                  x86-64   rax rdx rcx rbx rsi rdi rbp rsp r8-r15 rip
//                  i386     eax ecx edx ebx esp ebp esi edi eip
//                  ARM      r0-r15          AArch64  x0-x30 sp pc          MIPS  $0-$31 pc
//                  RISC-V   x0-x31 pc          LoongArch  r0-r31 pc
//                frames, the innermost first, 16 bytes each:
//                  0    8  address; of a caller the return address
//                  8    2  number of its module; 0xffff: it lies in no file
//                 10    1  trust: 0 context, 1 cfi, 2 analysis, 3 frame-pointer
//                 11    1  flags: 1 look names up at the address itself (an instruction that a
//                          signal interrupted, or the first of a signal's trampoline); without
//                          it at address - 1
//                 12    4  0
//   4 stack     bytes of the stack of the thread that crashed, as they were
//        0    8  address of the first
//        8       the bytes
//   5 annotation  what the program said of itself (whocall_annotate): a key, a zero byte, a value
//   6 sender    who sent the signal, where somebody did
//        0    4  process
//        4    4  user
//
// A ring (a file, or a region of memory that survives a restart) has no header of its own: it is a
// row of slots of one size, a multiple of 512 bytes. A record begins at a slot's beginning; slots
// that were never written are zeros, and one that is being written begins with the number of the
// process that does it (4 bytes), in the place of the first letters. A reader tries every multiple
// of 512, takes those whose checksum is right, and orders them by sequence number. A file that
// records are appended to holds them one behind the other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace whocall::runtime {

inline constexpr std::uint16_t kRecordVersion = 1;
inline constexpr std::size_t kSlotUnit = 512;  // bytes

enum class SectionKind : std::uint32_t {
  program = 1,
  module = 2,
  thread = 3,
  stack = 4,
  annotation = 5,
  sender = 6
};

enum RecordFlags : std::uint16_t { record_cut = 1, record_interrupted = 2, record_question = 4 };
enum ThreadFlags : std::uint32_t { thread_crashed = 1, thread_silent = 2 };
enum FrameFlags : std::uint8_t { frame_exact = 1 };
constexpr std::uint16_t kNoModule = 0xffff;

struct RecordHeader {
  char magic[8];
  std::uint8_t byte_order;
  std::uint8_t address_size;
  std::uint16_t version;
  std::uint16_t machine;
  std::uint16_t flags;
  std::uint32_t size;
  std::uint32_t checksum;
  std::uint64_t sequence;
  std::uint64_t time;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t signal;
  std::int32_t code;
  std::uint64_t fault_address;
};
static_assert(sizeof(RecordHeader) == 64);

struct SectionHeader {
  std::uint32_t kind;
  std::uint32_t size;
};
static_assert(sizeof(SectionHeader) == 8);

struct ModuleBody {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bias;
  std::uint16_t build_id_size;
  std::uint16_t path_size;
  std::uint32_t zero;
};
static_assert(sizeof(ModuleBody) == 32);

struct ThreadBody {
  std::uint32_t thread;
  std::uint32_t flags;
  char name[16];
  std::uint32_t registers;
  std::uint32_t frames;
  std::uint32_t all_frames;
  std::uint32_t outermost;
  std::uint32_t end;
  std::uint32_t zero;
};
static_assert(sizeof(ThreadBody) == 48);

struct FrameBody {
  std::uint64_t address;
  std::uint16_t module;
  std::uint8_t trust;
  std::uint8_t flags;
  std::uint32_t zero;
};
static_assert(sizeof(FrameBody) == 16);

struct SenderBody {
  std::uint32_t process;
  std::uint32_t user;
};
static_assert(sizeof(SenderBody) == 8);

// Of a record whose field `checksum` is 0.
std::uint32_t checksum(const void* bytes, std::size_t size);

// The sequence number of the record that begins at `bytes`; 0 where none does that is whole.
std::uint64_t sequence_of(const void* bytes, std::size_t room);

// Puts a record together in a piece of memory.
class RecordWriter {
 public:
  // Begins a record in `place`, aligned to 8 bytes; `room` is at least the header.
  void begin(void* place, std::size_t room);
  [[nodiscard]] RecordHeader& header() { return *header_; }
  [[nodiscard]] std::size_t room() const { return room_ - size_; }  // bytes

  // A section with a body of so many bytes, zeros at first. Null where there is no room: then the
  // record says that it was cut.
  void* add(SectionKind kind, std::size_t size);

  // Fills in size and checksum, and returns the size.
  std::size_t finish();

 private:
  RecordHeader* header_ = nullptr;
  std::size_t room_ = 0;
  std::size_t size_ = 0;
};

}  // namespace whocall::runtime
