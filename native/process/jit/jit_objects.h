// The ELF files that JIT compilers keep in memory to tell debuggers of their code.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "object/elf_file.h"
#include "object/range_index.h"
#include "process/process_image.h"

namespace whocall {

// Where a list begins.
struct JitDescriptor {
  Address address = 0;  // runtime
  std::string owner;    // the path of the module
};

// Of every module whose file has a symbol __jit_debug_descriptor.
std::vector<JitDescriptor> find_jit_descriptors(const ProcessImage& process);

struct JitObject {
  std::shared_ptr<const ElfFile> file;  // its sections stand at runtime addresses
  std::vector<AddressRange> code;       // runtime, sorted: the loaded executable sections

  // The one among `code` that starts nearest below `runtime`, when it holds it; null otherwise.
  [[nodiscard]] const AddressRange* code_at(Address runtime) const;
};

// Folklore. Situation: a translator registers all of its code as one function. Example: qemu's
// "code_gen_buffer", of 1 MiB at the least. Remedy: what is so large names only what nobody else
// names, its rows hold, and its bounds are no function's.
constexpr bool is_code_buffer(const AddressRange& function) {
  return function.size() >= std::uint64_t{1} << 20U;
}

class JitObjects {
 public:
  // Follows the lists. What lies there is the program's to overwrite: files that cannot be read
  // whole, that are larger than 64 MiB (256 MiB together), or that tell of no code of this
  // architecture are left out. Never throws.
  JitObjects(const ProcessImage& process, const std::vector<JitDescriptor>& descriptors);

  // As listed: of several at one address the first is the newest.
  [[nodiscard]] std::span<const JitObject> all() const { return objects_; }
  // The object whose code `runtime` is part of; null when there is none.
  [[nodiscard]] const JitObject* at(Address runtime) const;
  // On what was left out, sentences.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  std::vector<JitObject> objects_;
  std::vector<RangePiece> pieces_;     // over the ranges of all code
  std::vector<std::uint32_t> owners_;  // by owner of a piece: index in objects_
  std::vector<std::string> remarks_;
};

// What JIT compilers tell debuggers of their code; looked for when first asked for, which is to be
// after all of the image is in place, and kept with it.
const JitObjects& jit_objects_of(const ProcessImage& process);

}  // namespace whocall
