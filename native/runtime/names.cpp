#include "runtime/names.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "runtime/machine.h"
#include "runtime/mapped_file.h"
#include "runtime/xz.h"

namespace whocall::runtime {
namespace {

constexpr std::size_t kLongestPath = 4096;
constexpr char kDebugFiles[] = "/usr/lib/debug/.build-id/";

// The tables of symbols of one loaded file, the fullest first.
struct KnownFile {
  const char* path = nullptr;
  std::uintptr_t begin = 0;
  BuildId id;
  SymbolTable own;
  SymbolTable debug;
  SymbolTable dynamic;
  KnownFile* next = nullptr;
};

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

void open_tables(const Module& module, KnownFile& known) {
  const MappedFile file(path_of(module));
  if (file.is_open() && (known.id.size == 0 || file.has(known.id))) {
    known.own = file.symbols(SHT_SYMTAB);
    known.dynamic = file.symbols(SHT_DYNSYM);
    const rules::ByteSpan packed = file.section(".gnu_debugdata");
    if (known.own.count == 0 && packed.size != 0) {
      const Unpacked unpacked = unpack_xz(packed.bytes, packed.size);
      const MappedFile inner(unpacked.bytes, unpacked.size);
      known.own = inner.is_open() ? inner.symbols(SHT_SYMTAB) : SymbolTable{};
    }
  }
  char path[kLongestPath];
  if (known.own.count == 0 && debug_path(known.id, path) != 0) {
    const MappedFile debug(path);
    if (debug.is_open() && debug.has(known.id)) {
      known.debug = debug.symbols(SHT_SYMTAB);
    }
  }
}

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
  open_tables(module, *known);
  known->next = known_files.load(std::memory_order_relaxed);
  while (!known_files.compare_exchange_weak(known->next, known, std::memory_order_release)) {
  }
  return known;
}

// ARM marks what is data, A32 and T32 code by names that begin so.
bool is_mark(const char* name) { return name[0] == '$'; }

bool is_function(const ElfW(Sym) & symbol) {
  const unsigned type = symbol.st_info & 15U;
  return symbol.st_shndx != SHN_UNDEF &&
         (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

// Of several at one place the first global one.
FunctionName look_up(const SymbolTable& table, std::uintptr_t address) {
  const ElfW(Sym)* best = nullptr;
  std::uintptr_t best_begin = 0;
  for (std::size_t i = 0; i < table.count; ++i) {
    const ElfW(Sym)& each = table.symbols[i];
    const std::uintptr_t begin = each.st_value & kCodeMask;
    // One without a size, as assembly has them, says something of its own address only.
    const std::uintptr_t size = each.st_size == 0 ? 1 : each.st_size;
    if (!is_function(each) || address < begin || address - begin >= size ||
        each.st_name >= table.strings_size || is_mark(table.strings + each.st_name)) {
      continue;
    }
    const bool global = best != nullptr && begin == best_begin &&
                        best->st_info >> 4U == STB_LOCAL && each.st_info >> 4U != STB_LOCAL;
    if (best == nullptr || begin > best_begin || global) {
      best = &each;
      best_begin = begin;
    }
  }
  return best == nullptr ? FunctionName{} : FunctionName{table.strings + best->st_name, best_begin};
}

}  // namespace

FunctionName find_name(const Module& module, std::uintptr_t link_address) {
  const KnownFile* const known = known_file(module);
  if (known == nullptr) {
    return {};
  }
  for (const SymbolTable* each : {&known->own, &known->debug, &known->dynamic}) {
    const FunctionName found = look_up(*each, link_address);
    if (found.name != nullptr) {
      return found;
    }
  }
  return {};
}

void open_names(const Module& module) { static_cast<void>(known_file(module)); }

const char* path_of(const Module& module) {
  static char program[kLongestPath];
  if (module.path[0] != '\0') {
    return module.path;
  }
  // Two threads write the same.
  if (program[0] == '\0') {
    char path[kLongestPath];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0) {
      return "/proc/self/exe";
    }
    path[size] = '\0';
    std::memcpy(program + 1, path + 1, static_cast<std::size_t>(size));
    __atomic_store_n(program, path[0], __ATOMIC_RELEASE);
  }
  return program;
}

}  // namespace whocall::runtime
