#include "runtime/debug_files.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "runtime/privilege.h"
#include "runtime/trusted_file.h"
#include "runtime/xz.h"

namespace whocall::runtime {
namespace {

constexpr char kDebugFiles[] = "/usr/lib/debug/.build-id/";
constexpr char kBeside[] = ".whocall";
constexpr char kWriter[] = "whocall ";  // begins what whocall's own files have in .comment

std::atomic<KnownFile*> known_files{nullptr};

std::size_t debug_path(const BuildId& id, char (&path)[kLongestPath]) {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr char kEnd[] = ".debug";
  if (id.size < 2 || sizeof kDebugFiles + 2 * id.size + sizeof kEnd > kLongestPath) {
    return 0;
  }
  std::size_t size = sizeof kDebugFiles - 1;
  std::memcpy(path, kDebugFiles, size);
  for (std::size_t i = 0; i < id.size; ++i) {
    path[size++] = kDigits[id.bytes[i] >> 4U];
    path[size++] = kDigits[id.bytes[i] & 15U];
    if (i == 0) {
      path[size++] = '/';
    }
  }
  std::memcpy(path + size, kEnd, sizeof kEnd);
  return size;
}

// The path of the file beside a module; false where it is too long.
bool path_beside(const Module& module, char (&path)[kLongestPath]) {
  const char* const file = path_of(module);
  const std::size_t size = std::strlen(file);
  if (size + sizeof kBeside > kLongestPath) {
    return false;
  }
  std::memcpy(path, file, size);
  std::memcpy(path + size, kBeside, sizeof kBeside);
  return true;
}

// Empty where there are none, or no memory is left.
rules::DebugFrame indexed(const rules::FrameEntries& entries) {
  rules::DebugFrame frames{.entries = entries};
  const std::size_t room = rules::count_entries(entries);
  void* const memory = room == 0 ? MAP_FAILED
                                 : mmap(nullptr, room * sizeof(rules::IndexedDescription),
                                        PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    auto* const index = static_cast<rules::IndexedDescription*>(memory);
    frames.count = rules::make_index(entries, index, room);
    frames.index = index;
  }
  return frames;
}

void take_rules(const MappedFile& file, KnownFile& known) {
  if (known.frames.count != 0) {
    return;
  }
  rules::FrameEntries entries{
      .bytes = file.section(".debug_frame"), .word_size = sizeof(void*), .debug = true};
  entries.bytes.begin = 0;
  known.frames = indexed(entries);
  const rules::ByteSpan writer = file.section(".comment");
  known.analysed =
      writer.size >= sizeof kWriter && std::memcmp(writer.bytes, kWriter, sizeof kWriter - 1) == 0;
}

// Linkers make an index of a static program's table only where they are asked to.
void take_loaded_rules(const Module& module, const MappedFile& file, KnownFile& known) {
  if (module.tables.header == 0) {
    known.loaded = indexed({.bytes = file.loaded_section(".eh_frame"), .word_size = sizeof(void*)});
  }
}

void open_own(const Module& module, const struct stat* program, KnownFile& known) {
  const char* const path = path_of(module);
  // One that is not told from the root on, nor known by its build id, may be any file by now.
  if (path[0] != '/' && known.id.size == 0) {
    return;
  }
  const MappedFile file(path, program);
  if (!file.is_open() || (known.id.size != 0 && !file.has(known.id))) {
    return;
  }
  known.own = function_table(file.symbols(SHT_SYMTAB));
  known.dynamic = function_table(file.symbols(SHT_DYNSYM));
  take_loaded_rules(module, file, known);
  take_rules(file, known);
  const rules::ByteSpan packed = file.section(".gnu_debugdata");
  if (known.own.count == 0 && packed.size != 0) {
    const Unpacked unpacked = unpack_xz(packed.bytes, packed.size);
    const MappedFile inner(unpacked.bytes, unpacked.size);
    if (inner.is_open()) {
      known.own = function_table(inner.symbols(SHT_SYMTAB));
      take_rules(inner, known);
    }
  }
}

void open_debug(const char* path, const struct stat* program, KnownFile& known) {
  const MappedFile file(path, program);
  if (file.is_open() && file.has(known.id)) {
    if (known.own.count == 0 && known.debug.count == 0) {
      known.debug = function_table(file.symbols(SHT_SYMTAB));
    }
    take_rules(file, known);
  }
}

// Who started a privileged program chose the paths: what lies at them has to be root's or the
// program's owner's, and what lies beside them is not asked.
void open_as_privileged(const Module& module, KnownFile& known) {
  const struct stat program = own_program();
  open_own(module, &program, known);
  if (debug_path(known.id, known.searched) != 0) {
    open_debug(known.searched, &program, known);
  }
}

void open_files(const Module& module, KnownFile& known) {
  if (whocall_is_privileged()) {
    open_as_privileged(module, known);
    return;
  }
  open_own(module, nullptr, known);
  if (debug_path(known.id, known.searched) != 0) {
    open_debug(known.searched, nullptr, known);
  }
  struct stat own {};
  if (known.id.size != 0 && path_beside(module, known.searched) &&
      stat(path_of(module), &own) == 0) {
    open_debug(known.searched, &own, known);
  }
}

// Some C libraries (musl's) name the program as who started it did, from a folder that may not be
// the current one any more.
bool is_program(const Module& module) {
  const unsigned long headers = getauxval(AT_PHDR);
  return headers >= module.begin && headers < module.end;
}

// Without /proc: as who started the program wrote it.
const char* path_of_start() {
  const unsigned long path = getauxval(AT_EXECFN);
  return path == 0 ? "?" : reinterpret_cast<const char*>(path);
}

}  // namespace

// Two threads may open a file at the same time: both then know it.
const KnownFile* known_file(const Module& module) {
  const BuildId id = build_id(module);
  for (const KnownFile* each = known_files.load(std::memory_order_acquire); each != nullptr;
       each = each->next) {
    const bool same_id = each->id.size == id.size &&
                         (id.size == 0 || std::memcmp(each->id.bytes, id.bytes, id.size) == 0);
    // The path that is kept may have gone with its library: it is not read.
    const bool same_path = id.size != 0 || each->path == module.path;
    if (each->begin == module.begin && same_id && same_path) {
      return each;
    }
  }
  void* const memory =
      mmap(nullptr, sizeof(KnownFile), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  auto* const known = new (memory) KnownFile;
  known->path = module.path;
  known->begin = module.begin;
  known->id = id;
  open_files(module, *known);
  known->next = known_files.load(std::memory_order_relaxed);
  while (!known_files.compare_exchange_weak(known->next, known, std::memory_order_release)) {
  }
  return known;
}

const char* path_of(const Module& module) {
  static char program[kLongestPath];
  static std::atomic<bool> known{false};
  if (module.path[0] == '/' || (module.path[0] != '\0' && !is_program(module))) {
    return module.path;
  }
  if (!known.load(std::memory_order_acquire)) {
    // Two threads write the same; behind it all is 0.
    if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0) {
      return path_of_start();
    }
    known.store(true, std::memory_order_release);
  }
  return program;
}

}  // namespace whocall::runtime
